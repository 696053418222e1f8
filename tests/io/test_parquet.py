"""Parquet files that grow or are damaged: told by the headers of their pages, unread."""

from __future__ import annotations

import errno
import io
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from cimento import TableError
from cimento.io.panics import without_panics
from cimento.io.parquet import parse_parquet, read_parquet, refuse_growth, write_parquet
from cimento.io.tables import REQUESTS, TOKENS
from tests.fuzzing.seeds_more import run_files


def written(frame, **options):
    file = io.BytesIO()
    frame.write_parquet(file, **options)
    return file.getvalue()


def repeated(value, rows):
    return pl.select(pl.repeat(value, rows).alias("a"))


@pytest.mark.parametrize("compression", ["zstd", "lz4", "snappy", "gzip", "uncompressed"])
@pytest.mark.parametrize("rows", [0, 1, 5_000])
def test_tables_are_read(tmp_path, compression, rows):
    generator = random.Random(rows)  # noqa: S311  # numbers of a test
    frame = pl.DataFrame(
        {
            "text": [f"parola {n}" for n in range(rows)],
            "number": [generator.random() for _ in range(rows)],
            "flag": [n % 2 == 0 for n in range(rows)],
            "nothing": [None] * rows,
        },
        schema={"text": pl.String, "number": pl.Float64, "flag": pl.Boolean, "nothing": pl.Int32},
    )
    content = written(frame, compression=compression)
    path = tmp_path / "a.parquet"
    path.write_bytes(content)

    assert parse_parquet(content, where="a").equals(frame)
    assert read_parquet(path).equals(frame)


def test_tables_of_runs_are_far_from_the_bounds(tmp_path):
    for schema in (TOKENS, REQUESTS):
        path = tmp_path / f"{schema.name}.parquet"
        path.write_bytes(run_files()[path.name])
        refuse_growth(path)


@pytest.mark.parametrize(
    "frame",
    [repeated(1, 3_000_000), repeated("a" * 100, 3_000_000), repeated(None, 3_000_000)],
    ids=["numbers", "texts", "nothing"],
)
def test_a_value_that_comes_very_often_is_refused_unread(frame):
    content = written(frame)

    assert len(content) < 1_000_000
    with pytest.raises(TableError, match="values"):
        parse_parquet(content, where="a")


def test_texts_that_unpack_to_very_much_are_refused_unread():
    texts = pl.select((pl.lit("a" * 5_000) + pl.int_range(0, 20_000).cast(pl.String)).alias("a"))
    content = written(texts, compression="zstd")

    assert len(content) < 1_000_000
    with pytest.raises(TableError, match="bytes grow"):
        parse_parquet(content, where="a")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 3, b"PAR1" + b"\xff" * 40 + b"PAR1"])
def test_what_is_no_parquet(tmp_path, content):
    path = tmp_path / "a.parquet"
    path.write_bytes(content)

    for read in (lambda: read_parquet(path), lambda: parse_parquet(content, where="a")):
        with pytest.raises(TableError, match="cannot be read as Parquet"):
            read()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_parquet(tmp_path / "a.parquet")


def test_lists_in_lists_without_end():
    """Found by the fuzzer: a footer whose lists nest deeper than the stack."""
    footer = b"\x49" + b"\x19" * 20_000
    content = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"

    with pytest.raises(TableError, match="cannot be read as Parquet"):
        parse_parquet(content, where="a")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_full_disk_is_an_error_of_the_system():
    with pytest.raises(OSError, match="No space left") as caught:
        write_parquet(pl.DataFrame({"number": range(1000)}), Path("/dev/full"))
    assert caught.value.errno == errno.ENOSPC


_DAMAGED = """
import io
import polars as pl
from cimento import TableError
from cimento.io.parquet import parse_parquet

file = io.BytesIO()
frame = pl.DataFrame({"a": [True, None, False, True] * 50})
frame.write_parquet(file, compression="uncompressed")
whole, panicked = file.getvalue(), 0
for at in range(4, len(whole) - 8):
    for byte in (0, 1, 255):
        try:
            parse_parquet(whole[:at] + bytes([byte]) + whole[at + 1 :], where="x")
        except TableError as error:
            panicked += isinstance(error.__cause__, pl.exceptions.PanicException)
print(panicked)
"""


def test_a_damaged_file_that_makes_polars_panic_prints_nothing():
    """A Boolean column whose page is garbage; polars prints its panic itself.

    In a process of its own: nothing is held back where other threads run, and other tests may have
    left some.
    """
    done = subprocess.run(  # noqa: S603  # this interpreter
        [sys.executable, "-c", _DAMAGED], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 0
    assert done.stderr == ""


def test_what_others_print_while_a_file_is_read_comes_after_it(capfd):
    with without_panics():
        os.write(2, b"a warning\n")
    assert capfd.readouterr().err == "a warning\n"


@without_panics()
def panic():
    os.write(2, b"a thread panicked at a line")
    raise pl.exceptions.ComputeError("damaged")


def test_what_others_printed_before_a_panic_is_not_lost_with_it(capfd, monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # other tests may have left some
    with os.fdopen(2, "w", closefd=False) as buffered:
        monkeypatch.setattr(sys, "stderr", buffered)
        buffered.write("a warning")
        with pytest.raises(pl.exceptions.ComputeError):
            panic()
        monkeypatch.undo()
    assert capfd.readouterr().err == "a warning"


def test_nothing_is_held_back_where_other_threads_run(capfd):
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    with without_panics():
        os.write(2, b"now")
        assert capfd.readouterr().err == "now"
    done.set()
    other.join()


def test_pages_that_do_not_add_up_to_their_column_are_refused_before_polars_sees_them():
    data = written(pl.DataFrame({"a": [1, 2, 3]}))
    # The header of a data page (field 5, a struct), and in it the number of values (field 1): 3.
    three, two = b"\x2c\x15\x06", b"\x2c\x15\x04"
    assert data.count(three) == 1
    with pytest.raises(TableError, match="cannot be read as Parquet") as told:
        parse_parquet(data.replace(three, two), where="x")
    assert not isinstance(told.value.__cause__, pl.exceptions.PolarsError)
