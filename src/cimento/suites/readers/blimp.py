"""BLiMP JSONL: a minimal pair on each line (Warstadt et al. 2020, doi:10.1162/tacl_a_00321)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from cimento.errors import Fault
from cimento.files import read_bytes
from cimento.parsing import line_parser
from cimento.suites.faults import errors, fault
from cimento.suites.model import NOTHING, Condition, Item, JsonValue, Meta, Region, Suite
from cimento.suites.readers.items import PAIR_PREDICTION
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
