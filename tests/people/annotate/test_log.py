"""The append-only log: what is written is read again, whatever the last line came to."""

from __future__ import annotations

import pytest

from cimento import InputError
from cimento.errors import StorageError
from cimento.people.annotate import Log


def read(log):
    return log.read(lambda value: value, name="note", todo="Remove the line.")


def test_values_are_read_in_the_order_in_which_they_were_written(tmp_path):
    log = Log(tmp_path / "new" / "notes.jsonl")
    assert read(log) == []
    for value in ({"a": "è"}, ["b", 1.5], None):
        log.append(value)
    assert read(Log(log.path)) == [{"a": "è"}, ["b", 1.5], None]
    assert log.path.read_text("utf-8").splitlines()[0] == '{"a": "è"}'


def test_a_line_that_was_cut_off_is_passed_over_and_then_overwritten(tmp_path):
    log = Log(tmp_path / "notes.jsonl")
    log.append("first")
    with log.path.open("ab") as file:
        file.write(b'"sec')
    assert read(log) == ["first"]
    log.append("third")
    assert log.path.read_bytes() == b'"first"\n"third"\n'


@pytest.mark.parametrize(
    ("line", "seen"), [("{", "is not a note"), ("[1", "is not a note"), ('"x"', "is not a note")]
)
def test_a_line_that_is_no_record_is_named(tmp_path, line, seen):
    path = tmp_path / "notes.jsonl"
    path.write_text(f"1\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"line 2.*{seen}.*Remove the line"):
        Log(path).read(int, name="note", todo="Remove the line.")


def test_a_log_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "notes").write_text("a file", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot be written"):
        Log(tmp_path / "notes" / "log.jsonl").append(1)
