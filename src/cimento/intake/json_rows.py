"""JSON as the rows of a table: one object a line, a list of objects, or a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cimento.io.parsing import RepeatedKeyError, each_line, parse_json

_LISTS = ("data", "rows", "records")
"""The keys under which programs write the rows of a table."""


def records_of(text: str, *, name: str) -> Iterator[tuple[str, Any]]:
    """The rows in a text of JSON or JSON Lines, each with its place.

    What is not JSON has the error in the place of its value, and a row may be any other value.

    Args:
        text: the text.
        name: name of the file.
    """
    values = _values(text, name=name)
    where, first = next(values, (name, []))
    second = next(values, None)
    rows: Iterable[object] = [first]
    if second is None:
        rows = first if isinstance(first, list) else rows_of(first) or rows
    yield from ((where, row) for row in rows)
    if second is not None:
        yield second
        yield from values


def _values(text: str, *, name: str) -> Iterator[tuple[str, Any]]:
    """The values of a text, each with its place; an error where one cannot be read."""
    if not _is_lines(text):
        yield name, _value(text)
        return
    for number, line in enumerate(each_line(text), start=1):
        if line.strip():
            yield f"{name} line {number}", _value(line)


def _is_lines(text: str) -> bool:
    """Whether a text has a value in each line, and is not one document over several lines."""
    first, *more = text.lstrip().split("\n", 1)
    if not any(map(str.strip, more)):
        return True
    try:
        parse_json(first)
    except RepeatedKeyError:
        return True
    except ValueError:
        return not _is_document(text)
    return True


def _is_document(text: str) -> bool:
    """Whether a text begins as one document that is written over several lines."""
    first = text.lstrip().partition("\n")[0].rstrip()
    return first.startswith("[") or first == "{" or first.endswith((",", "{", "["))


def _value(text: str) -> Any:  # noqa: ANN401  # anything JSON has
    try:
        return parse_json(text)
    except ValueError as error:
        return error


def rows_of(value: object) -> list[Mapping[str, object]]:
    """The rows of a data frame as pandas writes it; empty for any other value.

    These are the forms of ``DataFrame.to_json``: an object for each column, from the number of a
    row to its cell, which is the default; an object for each row, under its number; the names of
    the columns and a list for each row; and the rows as objects, under ``data``.

    >>> rows_of({"good": {"0": "She runs.", "1": "He runs."}, "bad": {"0": "She run.", "1": ""}})
    [{'good': 'She runs.', 'bad': 'She run.'}, {'good': 'He runs.', 'bad': ''}]
    """
    if not isinstance(value, dict) or not value:
        return []
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list):
        fit = all(isinstance(row, list) and len(row) == len(names) for row in data)
        return [dict(zip(map(str, names), row, strict=True)) for row in data] if fit else []
    listed = (value.get(key) for key in _LISTS)
    return next(filter(_are_rows, listed), None) or _numbered(value)


def _are_rows(value: object) -> bool:
    return isinstance(value, list) and value != [] and all(isinstance(row, dict) for row in value)


def _numbered(value: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The rows of objects of one form: one for each column, or for each row under its number."""
    children = [child for child in value.values() if isinstance(child, dict) and child]
    keys = list(children[0]) if children else []
    if len(children) < len(value) or any(list(child) != keys for child in children):
        return []
    if any(isinstance(cell, dict) for child in children for cell in child.values()):
        return []
    if all(map(str.isdecimal, value)):
        return list(children)
    if not all(map(str.isdecimal, keys)):
        return []
    columns = dict(zip(value, children, strict=True))
    return [{name: column[key] for name, column in columns.items()} for key in keys]


def has_rows(data: bytes) -> bool:
    """Whether the content of a file has rows: lines, a list of objects, or a data frame."""
    text = data.decode("utf-8-sig", "ignore")
    if _is_lines(text) and "\n" in text.strip():
        return True
    value = _value(text)
    return _are_rows(value) or bool(rows_of(value))
