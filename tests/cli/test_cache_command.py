"""``cimento models cache``: what is kept, forgotten and checked, as a user sees it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from cimento.cli.main import invoke
from cimento.engine.cache import FileCache, get_scores, put_scores

KEY = bytes(32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(path))
    return path


@pytest.fixture
def filled(folder, tmp_path, capsys):
    """A cache after a run of two sentences, given twice."""
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(
        "item\tgood\tbad\n1\tLei dorme.\tLei dormono.\n2\tLei dorme.\tLei dormono.\n", "utf-8"
    )
    run = ["run", str(pairs), "-m", "demo-causal", "--device", "cpu"]
    assert invoke([*run, "-o", str(tmp_path / "runs")]) == 0
    capsys.readouterr()
    return folder / "answers.sqlite3"


def test_info_says_where_it_is_and_how_many_texts_it_knows(filled, capsys):
    assert invoke(["models", "cache", "info"]) == 0

    where, known = capsys.readouterr().out.splitlines()
    assert where == str(filled)
    assert known.startswith("2 texts scored, ")


def test_clear_forgets_everything(filled, capsys):
    assert filled.exists()
    assert invoke(["models", "cache", "clear"]) == 0
    assert capsys.readouterr().out == "2 texts forgotten\n"
    assert invoke(["models", "cache", "info"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("0 texts scored")


def test_verify_finds_what_is_damaged(filled, capsys):
    assert invoke(["models", "cache", "verify"]) == 0
    assert capsys.readouterr().out == "Nothing is damaged.\n"

    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("UPDATE sealed SET scores = zeroblob(length(scores))")
    connection.close()

    assert invoke(["models", "cache", "verify"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("2 entries are damaged.")
    assert "cimento models cache clear" in said


def test_a_file_that_is_no_cache_ends_in_one_message(folder, capsys):
    folder.mkdir()
    (folder / "answers.sqlite3").write_text("no database " * 200)

    for command in ("info", "clear", "verify"):
        assert invoke(["models", "cache", command]) == 1
        assert "the cache of answers cannot be used" in capsys.readouterr().err


def test_two_commands_may_be_at_work_at_once(folder, capsys):
    first = FileCache(folder)
    put_scores(first, {KEY: {0: -1.0}})

    assert invoke(["models", "cache", "info"]) == 0
    assert "1 text scored" in capsys.readouterr().out
    put_scores(first, {KEY: {0: -2.0}})
    assert get_scores(first, [KEY]) == {KEY: {0: -2.0}}
    first.close()
