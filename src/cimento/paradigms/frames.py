"""Suites of ratings, blanks and stories from rows in Python, as `cimento.pairs` makes pairs.

Rows become a file that goes through the reader of files of their kind, so that the same names of
columns are understood and the same is checked.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from cimento.errors import InputError, SuiteError, UsageError
from cimento.kinds.registry import load_suite
from cimento.suites.derived import RowsLike, rows_of
from cimento.suites.story_rows import is_story_row, story_record

if TYPE_CHECKING:
    from cimento.suites import Suite
    from cimento.suites.cloze import ClozeSuite
    from cimento.suites.stories import StorySuite

_Row = Mapping[str, object]


def ratings(rows: RowsLike, *, name: str = "ratings", language: str = "") -> Suite:
    """Make a suite of sentences that people rated, to compare measures of models with.

    Args:
        rows: tuples of a sentence and its rating; or dictionaries, a dictionary of columns, or a
            data frame with the columns of a table of ratings (``sentence`` and ``rating``; a name
            such as ``rating (1-7)`` gives the scale).
        name: name of the suite.
        language: ISO 639-1 code.

    Returns:
        The suite, with one item per row.

    Raises:
        UsageError: there are no rows, or they are not of this kind.
        SuiteError: a row has a fault; the header is row 1, as in a table.

    Example:
        >>> suite = ratings([("The keys are here.", 6.5), ("The keys is here.", 2.0)])
        >>> len(suite.items)
        2
    """
    records = _records(rows, ("sentence", "rating"), "ratings")
    return cast("Suite", _read(records, "ratings", name, language, _as_table))


def cloze(rows: RowsLike, *, name: str = "cloze", language: str = "") -> ClozeSuite:
    """Make a suite of sentences with a blank each, and the words that are due there.

    Args:
        rows: tuples of a text with a blank (``___``) and the word due there; or dictionaries, a
            dictionary of columns, or a data frame with the columns of a table of blanks (``text``,
            ``target``, ``distractor`` ...). Separate several words by bars, or give a list.
        name: name of the suite.
        language: ISO 639-1 code.

    Returns:
        The suite, with one item per row.

    Raises:
        UsageError: there are no rows, or they are not of this kind.
        SuiteError: a row has a fault; the header is row 1, as in a table.

    Example:
        >>> suite = cloze([("She is ___ tired to run.", "too")])
        >>> suite.items[0].options[0].text
        'too'
    """
    records = [
        {key: _joined(value) for key, value in record.items()}
        for record in _records(rows, ("text", "target"), "cloze")
    ]
    return cast("ClozeSuite", _read(records, "cloze", name, language, _as_table))


def stories(rows: RowsLike, *, name: str = "stories", language: str = "") -> StorySuite:
    """Make a suite of stories, plausible ones and variants with a conflict.

    Args:
        rows: dictionaries, a dictionary of columns, or a data frame: either with the columns of the
            workbook of stories (``story``, ``version``, ``sentence 1`` ...), or with the fields of
            a line of GITA4CALAMITA (``story_id``, ``sentences`` as a list ...).
        name: name of the suite.
        language: ISO 639-1 code.

    Returns:
        The suite, with one story per row.

    Raises:
        UsageError: there are no rows, or they are not of this kind.
        InputError: a cell is not what its column needs.
        SuiteError: a record lacks a field, or has one of the wrong kind.

    Example:
        >>> row = {"story": 1, "version": "plausible", "sentence 1": "Ann lit the lamp."}
        >>> stories([row], language="en").stories[0].sentences
        ('Ann lit the lamp.',)
    """
    records = _records(rows, (), "stories")
    lines: list[_Row] = [
        story_record({key: _text(value) for key, value in record.items()}, where=f"story {number}")
        if is_story_row(dict.fromkeys(record, ""))
        else record
        for number, record in enumerate(records, start=1)
    ]
    return cast("StorySuite", _read(lines, "stories", name, language, _as_lines))


def _records(rows: RowsLike, columns: Sequence[str], what: str) -> list[_Row]:
    """Rows as records; tuples get the names of columns.

    Raises:
        UsageError: there are none, or a row is neither a record nor a tuple of that length.
    """
    records: list[_Row] = []
    for number, row in enumerate(rows_of(rows, what), start=1):
        if isinstance(row, Mapping):
            records.append({str(key): value for key, value in row.items()})
        elif (
            columns
            and isinstance(row, Sequence)
            and not isinstance(row, str)
            and len(row) == len(columns)
        ):
            records.append(dict(zip(columns, row, strict=True)))
        else:
            forms = f"A tuple has {' and '.join(columns)}; a" if columns else "A"
            raise UsageError(
                where=f"{what}, row {number}",
                seen=f"got {row!r}",
                todo=f"{forms} dictionary has the names of columns.",
            )
    if not records:
        raise UsageError(where=what, seen="there are none", todo="Give a row for each.")
    return records


def _read(
    records: Sequence[_Row],
    kind: str,
    name: str,
    language: str,
    written: Callable[[Sequence[_Row], Path], Path],
) -> object:
    """The suite that the reader of files makes of rows.

    Raises:
        CimentoError: it makes none, or one of another kind.
    """
    try:
        with TemporaryDirectory(prefix="cimento-") as folder:
            loaded = load_suite(written(records, Path(folder) / kind), language=language)
    except SuiteError as error:
        raise SuiteError(where=f"cimento.{kind}", faults=error.faults) from error
    except InputError as error:
        # The file is ours, and gone.
        raise InputError(where=f"cimento.{kind}", seen=error.seen, todo=error.todo) from error
    if loaded.paradigm.name != kind:
        columns = dict.fromkeys(column for record in records for column in record)
        raise UsageError(
            where=kind,
            seen=f"rows with the columns {', '.join(columns)} are read as a suite of the kind"
            f" {loaded.paradigm.name!r}",
            todo="cimento.pairs, ratings, cloze and stories make suites of rows.",
        )
    suite: Any = loaded.suite
    return replace(suite, meta=replace(suite.meta, name=name))


def _as_table(records: Sequence[_Row], stem: Path) -> Path:
    """Records as a table in a file."""
    path = stem.with_suffix(".csv")
    columns = dict.fromkeys(column for record in records for column in record)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, quoting=csv.QUOTE_ALL)
        table.writerow(columns)
        table.writerows([_text(record.get(column)) for column in columns] for record in records)
    return path


def _as_lines(records: Sequence[_Row], stem: Path) -> Path:
    """Records as lines of JSON in a file, without empty cells.

    Raises:
        UsageError: a value has no form in JSON.
    """
    path = stem.with_suffix(".jsonl")
    try:
        lines = [json.dumps(dict(record), ensure_ascii=False, default=_plain) for record in records]
    except (TypeError, ValueError) as error:
        raise UsageError(where="stories", seen=str(error), todo="Give texts and numbers.") from None
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _plain(value: object) -> object:
    """A value of numpy, polars or pandas as one of Python.

    Raises:
        TypeError: it is not one.
    """
    for method in ("to_list", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise TypeError(f"a value is a {type(value).__name__}: {value!r}")


def _joined(value: object) -> object:
    """Several words as one cell with bars."""
    is_several = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
    return " | ".join(map(_text, cast("Iterable[object]", value))) if is_several else value


def _text(value: object) -> str:
    """A cell as text; empty for None and for pandas' NaN, the only number unequal to itself."""
    is_empty = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if is_empty else str(value)
