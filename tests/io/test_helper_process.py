"""A helper process does calls elsewhere, and what it cannot do is done here."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from cimento.errors import StorageError
from cimento.io.helper_process import HelperProcess


@pytest.fixture
def helper():
    with contextlib.closing(HelperProcess()) as helper:
        yield helper


def doubled(table: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    sys.stdout.write("what functions print does not get among the answers")
    return table.select(pl.all() * 2), os.getpid()


def failing() -> int:
    raise StorageError(where=str(os.getpid()), seen="the disk is full", todo="Make room.")


def using(_lock: object) -> int:
    return os.getpid()


def ending(here: int) -> int:
    if os.getpid() != here:
        os._exit(3)
    return here


def test_calls_are_done_by_one_other_process_with_tables_as_they_are(helper):
    table = pl.DataFrame({"a": [1, None, 3], "b": [0.5, -0.0, 2.0]})
    results = [helper.call(doubled, table) for _ in range(2)]
    for doubles, _ in results:
        assert_frame_equal(doubles, pl.DataFrame({"a": [2, None, 6], "b": [1.0, -0.0, 4.0]}))
    [process] = {process for _, process in results}
    assert process != os.getpid()


def test_an_error_is_that_of_this_process_and_later_calls_go_on_elsewhere(helper):
    with pytest.raises(StorageError, match=f"{os.getpid()}: the disk is full"):
        helper.call(failing)
    assert helper.call(os.getpid) != os.getpid()


def test_what_cannot_be_sent_is_done_here(helper):
    assert helper.call(using, threading.Lock()) == os.getpid()
    assert helper.call(os.getpid) != os.getpid()


def test_calls_of_a_process_that_dies_are_done_here(helper):
    assert helper.call(ending, os.getpid()) == os.getpid()
    assert helper.call(os.getpid) == os.getpid()


def test_closing_ends_the_process(helper):
    process = helper.call(os.getpid)
    helper.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert helper.call(os.getpid) == os.getpid()
