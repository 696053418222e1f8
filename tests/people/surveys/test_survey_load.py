"""Many participants at once: nothing is lost or doubled, also where the server is killed."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from cimento.errors import StorageError
from cimento.people.surveys import storage
from cimento.people.surveys.writer import Writer
from tests.helpers.survey_help import small

load = pytest.importorskip("benchmarks.survey_load")
pytest.importorskip("uvicorn")


def run(coroutine):
    """Run a coroutine in a thread: in this one, tests that open pages may have left a loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def design_of_many():
    return small("it-acceptability", limit=None, checks=0)


@pytest.mark.slow
def test_answers_of_many_at_once_are_all_there_once(tmp_path):
    design, port = design_of_many(), load.free_port()
    people = load.make_people(tmp_path, design, 50)
    process = load.start_server(tmp_path, port)
    try:
        run(load.load_run(people, port, load.Load(people=50, seconds=5)))
    finally:
        process.terminate()
        process.wait()
    assert all(len(person.acknowledged) >= 3 for person in people)
    assert load.faults(tmp_path / "answers.sqlite", people) == []


@pytest.mark.slow
def test_a_killed_server_has_lost_no_answer_it_acknowledged(tmp_path):
    design, port = design_of_many(), load.free_port()
    people = load.make_people(tmp_path, design, 40)
    process = load.start_server(tmp_path, port)
    run(load.killed_run(people, port, load.Load(people=40, seconds=60), process, 2.5))
    assert process.wait() == -9
    assert sum(len(person.acknowledged) for person in people) >= 40
    assert load.faults(tmp_path / "answers.sqlite", people) == []
    # The next server takes the file as it is.
    again = load.start_server(tmp_path, port)
    again.terminate()
    again.wait()


def test_the_comparison_sees_what_is_lost_and_what_was_never_sent(tmp_path):
    design = design_of_many()
    (person,) = load.make_people(tmp_path, design, 1)
    person.acknowledged[1], person.sent[1] = "3", ["3"]
    (lost,) = load.faults(tmp_path / "answers.sqlite", [person])
    assert "acknowledged, None stored" in lost


@pytest.fixture
def table(tmp_path):
    """A file with a table that refuses a value that is there already."""
    path = tmp_path / "table.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (value INTEGER PRIMARY KEY)")
    return path


def insert(value):
    return lambda connection: connection.execute("INSERT INTO t VALUES (?)", (value,)).lastrowid


def test_a_write_that_fails_takes_no_other_with_it(table):
    writer = Writer(lambda: storage.open_database(table))

    async def write():
        jobs = [writer.write(insert(value)) for value in (1, 2, 2, 3, 1, 4)]
        return await asyncio.gather(*jobs, return_exceptions=True)

    results = run(write())
    writer.close()
    assert [isinstance(result, sqlite3.IntegrityError) for result in results] == [
        False, False, True, False, True, False,
    ]  # fmt: skip
    with closing(sqlite3.connect(table)) as connection, connection:
        assert connection.execute("SELECT value FROM t").fetchall() == [(1,), (2,), (3,), (4,)]


def test_a_write_is_acknowledged_after_it_is_committed(table):
    """While another process holds the lock nothing is acknowledged."""
    writer = Writer(lambda: storage.open_database(table))
    other = storage.open_database(table)
    other.execute("BEGIN IMMEDIATE")

    async def write():
        waiting = asyncio.ensure_future(writer.write(insert(1)))
        await asyncio.sleep(0.2)
        before = waiting.done()
        other.execute("ROLLBACK")
        await waiting
        seen = other.execute("SELECT value FROM t").fetchall()
        return before, seen

    assert run(write()) == (False, [(1,)])
    writer.close()
    other.close()


def test_a_file_that_cannot_be_opened_is_said_at_once(tmp_path):
    with pytest.raises(StorageError):
        Writer(lambda: storage.open_database(tmp_path / "no" / "table.sqlite"))


def test_closing_writes_what_waits(table):
    others = {*threading.enumerate()}  # of surveys that are open in other tests
    writer = Writer(lambda: storage.open_database(table))
    [own] = [thread for thread in threading.enumerate() if thread not in others]
    assert own.name == "survey writer"

    async def write():
        waiting = [asyncio.ensure_future(writer.write(insert(value))) for value in range(20)]
        await asyncio.sleep(0)
        await asyncio.to_thread(writer.close)
        return await asyncio.gather(*waiting)

    assert len(run(write())) == 20
    assert not own.is_alive()
