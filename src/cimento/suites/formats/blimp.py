"""BLiMP JSONL: a minimal pair on each line (Warstadt et al. 2020, doi:10.1162/tacl_a_00321)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from cimento.errors import Fault, FormulaError, InputError
from cimento.io.files import read_bytes, write_text
from cimento.io.parsing import line_parser
from cimento.suites.faults import errors, fault
from cimento.suites.formats.items import PAIR_PREDICTION
from cimento.suites.formula import Comparison, Reference, parse
from cimento.suites.model import (
    NOTHING,
    Condition,
    Item,
    JsonValue,
    Meta,
    Prediction,
    Region,
    Suite,
    sentence,
)
from cimento.suites.reading import Reading, decode, sha256_of, strip_blanks, unusable

PHENOMENON_KEY = "linguistics_term"
PARADIGM_KEY = "UID"
ID_KEY = "pairID"
SENTENCES = {"good": "sentence_good", "bad": "sentence_bad"}
_KEYS = frozenset(SENTENCES.values())
_Row: TypeAlias = dict[str, JsonValue]


def read_blimp(path: Path) -> Reading:
    """Read BLiMP JSONL: conditions ``good`` and ``bad``, one region, one prediction.

    All other keys become free columns, as text, and ``linguistics_term`` also the column
    ``phenomenon``; lists and objects are kept as extra keys of the item. The suite is named after
    the paradigm where there is one, else after the file.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is no such file.
    """
    data = read_bytes(path)
    text, faults = decode(data, name=path.name)
    if text is None:
        raise unusable(path, faults)
    rows, places, faults = _rows(text, name=path.name)
    if errors(faults):
        raise unusable(path, faults)
    items = tuple(
        _item(row, id_=id_, where=where, faults=faults)
        for row, id_, where in zip(rows, _ids(rows), places, strict=True)
    )
    suite = Suite(
        meta=Meta(
            name=_only(rows, PARADIGM_KEY) or path.stem, phenomenon=_only(rows, PHENOMENON_KEY)
        ),
        region_names=("sentence",),
        predictions=(PAIR_PREDICTION,),
        items=items,
    )
    twice = tuple(place for place in places for _ in SENTENCES)
    return Reading(suite, sha256_of(data), twice, tuple(faults))


def _rows(text: str, *, name: str) -> tuple[list[_Row], list[str], list[Fault]]:
    from cimento.suites.schema import BlimpRow, validate

    parse = line_parser(text)
    rows: list[_Row] = []
    places: list[str] = []
    faults: list[Fault] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name} line {number}"
        try:
            row = parse(line)
        except ValueError as error:
            todo = "Each line must be one JSON object; was the file cut short?"
            faults.append(fault("CIM-S002", where=where, seen=f"Not JSON: {error}.", todo=todo))
            if not rows:
                break  # not JSON Lines at all; every further line would say the same
            continue
        if type(row) is dict and all(type(row.get(key)) is str for key in SENTENCES.values()):
            rows.append(row)
            places.append(where)
        else:
            faults += validate(BlimpRow, row, where=where)[1]
    return rows, places, faults


def _ids(rows: Sequence[_Row]) -> list[str]:
    """The pair's id; with the paradigm before it where pairs of several share ids; else a number.

    Ids that stay ambiguous are left so, for the checks to report.
    """
    keys = [row.get(ID_KEY) for row in rows]
    if any(key is None for key in keys):
        return [str(number) for number in range(1, len(rows) + 1)]
    ids = [_as_text(key).strip() for key in keys]
    if max(Counter(ids).values(), default=1) == 1:
        return ids
    paradigms = [_as_text(row.get(PARADIGM_KEY) or "") for row in rows]
    return [
        f"{paradigm}/{id_}" if paradigm else id_
        for paradigm, id_ in zip(paradigms, ids, strict=True)
    ]


def _only(rows: Sequence[_Row], key: str) -> str:
    """The value of a key, where all rows agree on it; else empty."""
    values = {value for row in rows if isinstance(value := row.get(key), str)}
    return values.pop().strip() if len(values) == 1 else ""


def _item(row: _Row, *, id_: str, where: str, faults: list[Fault]) -> Item:
    columns: dict[str, str] = {}
    nested: dict[str, JsonValue] = {}
    for key, value in row.items():
        if isinstance(value, list | dict):
            nested[key] = value
        elif value is not None and key not in _KEYS:
            columns[key] = _as_text(value)
    if PHENOMENON_KEY in columns:
        columns.setdefault("phenomenon", columns[PHENOMENON_KEY])
    conditions = tuple(
        [
            Condition(
                name,
                (Region(strip_blanks(str(row[key]), what=key, where=where, faults=faults)),),
                columns or NOTHING,
            )
            for name, key in SENTENCES.items()
        ]
    )
    return Item(id_, conditions, extra=nested or NOTHING)


def _as_text(value: JsonValue) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
    return json.dumps(value)


_CONDITIONS = {"good", "bad"}
_SENTENCE_KEYS = ("sentence_good", "sentence_bad")
_TEXT_COLUMNS = (ID_KEY, PARADIGM_KEY, PHENOMENON_KEY)
_META_KEYS = (
    "version", "language", "licence", "citation", "status", "author", "reference", "comment",
    "tags", "extra",
)  # fmt: skip


def write_blimp(suite: Suite, path: Path) -> Path:
    """Write the pairs of a suite as BLiMP JSONL; `blimp_losses` says what is left out.

    Each prediction that compares one condition with one other makes a pair of each item: the
    condition that should be less surprising is the good one.

    Raises:
        InputError: no prediction makes pairs.
        StorageError: the file cannot be written.
    """
    pairs = [pair for each in suite.predictions if (pair := _pair(each)) is not None]
    if not pairs:
        raise InputError(
            where=suite.name,
            seen="no prediction compares one condition with one other, so there are no pairs",
            todo="Write another format, or add a prediction such as (*;%good%) < (*;%bad%).",
        )
    numeric = _numeric_columns(suite)
    lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in _lines(suite, pairs, numeric)]
    return write_text("".join(lines), path)


def blimp_losses(suite: Suite) -> list[str]:
    """What BLiMP JSONL cannot hold of a suite, as phrases; empty where nothing is lost."""
    losses = [f"{key}, in the metadata" for key in _META_KEYS if getattr(suite.meta, key)]
    if len(suite.region_names) > 1:
        losses.append(f"the division into {len(suite.region_names)} regions")
    if set(suite.condition_names) != _CONDITIONS:
        losses.append(f"the conditions {', '.join(suite.condition_names)}")
    if [each.formula for each in suite.predictions] != [PAIR_PREDICTION.formula]:
        losses.append(f"the {len(suite.predictions)} predictions as they are")
    losses += [f"the {name}" for name in ("cluster", "factors", "extra") if getattr(suite, name)]
    if suite.metric != "sum":
        losses.append(f"the metric {suite.metric}")
    if suite.join != "blank":
        losses.append(f"the rule {suite.join} for joining regions")
    if suite.meta.name not in (_values(suite, PARADIGM_KEY) or {suite.meta.name}):
        losses.append("the name of the suite")
    columns = sorted(name for name in suite.column_names if _differs(suite, name))
    losses += [f"the column {name}, which differs between conditions" for name in columns]
    if any(c.extra or any(r.extra for r in c.regions) for _, c in suite.stimuli()):
        losses.append("what another format said about conditions and regions")
    return losses


def _pair(prediction: Prediction) -> tuple[str, str] | None:
    """The condition that should be less surprising, and the other."""
    try:
        formula = parse(prediction.formula)
    except FormulaError:
        return None
    match formula:
        case Comparison("<", Reference(_, good), Reference(_, bad)):
            return good, bad
        case Comparison(">", Reference(_, bad), Reference(_, good)):
            return good, bad
    return None


def _lines(
    suite: Suite, pairs: list[tuple[str, str]], numeric: frozenset[str]
) -> Iterator[dict[str, JsonValue]]:
    for item in suite.items:
        for number, (good, bad) in enumerate(pairs):
            sides = (item.condition(good), item.condition(bad))
            texts = [sentence(side, rule=suite.join) for side in sides]
            line: dict[str, JsonValue] = dict(zip(_SENTENCE_KEYS, texts, strict=True))
            line.update(_fields(suite, item, sides[0], numeric))
            line.update({key: value for key, value in item.extra.items() if key not in line})
            if len(pairs) > 1:
                line["prediction"] = number
                line[ID_KEY] = f"{line[ID_KEY]}-{number}"
            yield line


def _fields(
    suite: Suite, item: Item, condition: Condition, numeric: frozenset[str]
) -> dict[str, JsonValue]:
    columns = {
        name: value for name, value in condition.columns.items() if name not in _SENTENCE_KEYS
    }
    phenomenon = columns.get("phenomenon", suite.meta.phenomenon)
    if columns.get(PHENOMENON_KEY, phenomenon) == phenomenon:
        columns.pop("phenomenon", None)
        if phenomenon:
            columns.setdefault(PHENOMENON_KEY, phenomenon)
    columns.setdefault(PARADIGM_KEY, suite.name)
    columns.setdefault(ID_KEY, item.id)
    return {
        name: json.loads(value) if name in numeric else value for name, value in columns.items()
    }


def _numeric_columns(suite: Suite) -> frozenset[str]:
    """Columns whose every value is a number or a truth value as JSON writes it."""
    return frozenset(
        name
        for name in suite.column_names
        if name not in _TEXT_COLUMNS and all(map(_is_scalar, _values(suite, name)))
    )


def _is_scalar(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, bool | int | float) and json.dumps(value) == text


def _values(suite: Suite, column: str) -> set[str]:
    found = (condition.columns.get(column) for _, condition in suite.stimuli())
    return {value for value in found if value is not None}


def _differs(suite: Suite, column: str) -> bool:
    return any(
        len({condition.columns.get(column) for condition in item.conditions}) > 1
        for item in suite.items
    )
