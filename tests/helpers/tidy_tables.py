"""What holds of every table for programs, checked on its text as CSV and as JSON."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import polars as pl

_NUMBER = re.compile(r"[<>]? *[+-]?[\d,]*\.?\d+(e[+-]?\d+)?%?|[-–]|\[.*\d\]|[\d.]+ to [\d.]+")
_DTYPES = {"number": pl.Float64, "integer": pl.Int64, "boolean": pl.Boolean}
_SIZES = re.compile(r"n|n_.*|.*_n|items|pairs|models|suites|scores|sentences|clusters|clusters.*")
_SETTINGS = {"p", "k"}


def check_table(text_csv: str, text_json: str, *, labels: int) -> None:
    """Assert what holds of every table.

    Args:
        text_csv: the table as CSV.
        text_json: the same table as JSON.
        labels: how many columns on the left are labels, which may be digits.
    """
    import jsonschema

    table = json.loads(text_json)
    schema, rows = table["schema"], table["rows"]
    for row in rows:
        jsonschema.validate(row, schema)
    frame = pl.read_csv(io.StringIO(text_csv), infer_schema_length=None)
    # CSV of digits in a column of texts, such as ids, is read as numbers: the schema tells.
    texts = {name for name in table["columns"] if "string" in schema["properties"][name]["type"]}
    read = pl.read_csv(io.StringIO(text_csv), schema_overrides=dict.fromkeys(texts, pl.String))
    assert frame.columns == table["columns"] == list(schema["properties"])
    assert len(set(frame.columns)) == len(frame.columns), frame.columns
    assert read.to_dicts() == rows
    for name in set(frame.columns) - texts:
        kind = schema["properties"][name]["type"][0]
        if frame[name].drop_nulls().len():
            assert frame[name].dtype == _DTYPES[kind], (name, kind, frame[name].dtype)
    _check_labels(table, labels, texts)
    _check_intervals(table["columns"], rows)


def check_folder(folder: Path, *, labels: int) -> int:
    """Check every table that a study wrote; how many there are.

    Args:
        folder: of the study.
        labels: how many columns on the left may be labels.
    """
    paths = sorted(folder.glob("*.csv"))
    for path in paths:
        text_json = path.with_suffix(".json").read_text(encoding="utf-8")
        check_table(path.read_text(encoding="utf-8"), text_json, labels=labels)
    return len(paths)


def _check_labels(table: dict[str, Any], labels: int, texts: set[str]) -> None:
    if labels:
        first = table["columns"][0]
        assert all(row[first] is not None for row in table["rows"]), first
    for name in table["columns"][labels:]:
        if name in texts and not name.endswith(("_text", "_items")):
            numbers = [v for row in table["rows"] if (v := row[name]) and _NUMBER.fullmatch(v)]
            assert not numbers, (table["title"], name, numbers[:3])


def _check_intervals(columns: list[str], rows: list[dict[str, Any]]) -> None:
    for low in (name for name in columns if name.endswith("_low")):
        name, high = low.removesuffix("_low"), f"{low.removesuffix('low')}high"
        assert any(map(_SIZES.fullmatch, columns)), (name, columns)
        for row in rows:
            ends = [row[low], row.get(name), row[high]]
            known = [value for value in ends if value is not None]
            assert known == sorted(known), (name, ends)
