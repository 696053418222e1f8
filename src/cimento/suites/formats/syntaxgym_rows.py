"""The rows of SyntaxGym suites on the Hugging Face hub: JSON Lines with one item a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cimento.errors import Fault
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.suites.faults import errors, fault
from cimento.suites.formats.syntaxgym import suite_of
from cimento.suites.model import JsonValue
from cimento.suites.reading import Reading, decode, first_line, sha256_of, unusable

NAME, PREDICTIONS = "suite_name", "predictions"


def is_rows(data: bytes) -> bool:
    """Whether the first line is a row with its suite's name and conditions."""
    first = first_line(data)
    return b'"suite_name"' in first and b'"conditions"' in first


def read_syntaxgym_rows(path: Path) -> Reading:
    """Read the rows of one suite: suite_name, item_number, conditions, predictions.

    The predictions are those of the first row; the metric is the sum.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file does not hold such rows, or holds the rows of several suites.
    """
    data = read_bytes(path)
    text, faults = decode(data, name=path.name)
    if text is None:
        raise unusable(path, faults)
    rows = _rows(text, path.name, faults)
    names = list(dict.fromkeys(str(row.get(NAME, path.stem)) for row in rows))
    if len(names) > 1:
        seen = f"The rows are of {len(names)} suites: {', '.join(names[:8])}."
        todo = "Write the rows of each suite to a file of its own."
        faults.append(fault("CIM-S002", where=path.name, seen=seen, todo=todo))
    if errors(faults) or not rows:
        raise unusable(path, faults)
    suite, more = suite_of(_document_of_rows(names[0], rows), name=path.name)
    faults += more
    if suite is None:
        raise unusable(path, faults)
    places = (path.name,) * len(suite.columns.names)
    return Reading(suite, sha256_of(data), places, tuple(faults))


def _rows(text: str, name: str, faults: list[Fault]) -> list[dict[str, JsonValue]]:
    rows: list[dict[str, JsonValue]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except ValueError as error:
            where = f"{name} line {number}"
            faults.append(fault("CIM-S002", where=where, seen=f"Not JSON: {error}."))
            break
        if not isinstance(row, dict):
            where = f"{name} line {number}"
            faults.append(fault("CIM-S003", where=where, seen="The line is no JSON object."))
            break
        rows.append(row)
    return rows


def _document_of_rows(name: str, rows: Sequence[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    """Rows converted to a SyntaxGym document."""
    formulas = rows[0].get(PREDICTIONS)
    items: list[JsonValue] = [
        {key: value for key, value in row.items() if key not in (NAME, PREDICTIONS)} for row in rows
    ]
    return {
        "meta": {"name": name, "metric": "sum"},
        "region_meta": _region_meta(rows[0]),
        "predictions": [
            {"type": "formula", "formula": formula}
            for formula in (formulas if isinstance(formulas, list) else [])
        ],
        "items": items,
    }


def _region_meta(row: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The metadata of regions, which are numbered here and have no names."""
    conditions = row.get("conditions")
    first = conditions[0] if isinstance(conditions, list) and conditions else None
    regions = first.get("regions") if isinstance(first, dict) else None
    count = len(regions) if isinstance(regions, list) else 0
    return {str(number): str(number) for number in range(1, count + 1)}
