"""BLiMP JSONL: a minimal pair on each line (Warstadt et al. 2020, doi:10.1162/tacl_a_00321)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import Fault
from cimento.files import read_bytes
from cimento.parsing import parse_json
from cimento.suites.faults import errors, fault
from cimento.suites.model import NOTHING, Condition, Item, JsonValue, Meta, Region, Suite
from cimento.suites.readers.items import PAIR_PREDICTION
from cimento.suites.reading import Reading, decode, sha256_of, strip_blanks, unusable

if TYPE_CHECKING:
    from cimento.suites.schema import BlimpRow

PHENOMENON_KEY = "linguistics_term"
PARADIGM_KEY = "UID"
ID_KEY = "pairID"


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
    twice = tuple(place for place in places for _ in ("good", "bad"))
    return Reading(suite, sha256_of(data), twice, tuple(faults))


def _rows(text: str, *, name: str) -> tuple[list[BlimpRow], list[str], list[Fault]]:
    from cimento.suites.schema import BlimpRow, validate

    rows: list[BlimpRow] = []
    places: list[str] = []
    faults: list[Fault] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name} line {number}"
        try:
            parsed = parse_json(line)
        except ValueError as error:
            todo = "Each line must be one JSON object; was the file cut short?"
            faults.append(fault("CIM-S002", where=where, seen=f"Not JSON: {error}.", todo=todo))
            if not rows:
                break  # not JSON Lines at all; every further line would say the same
            continue
        row, more = validate(BlimpRow, parsed, where=where)
        faults += more
        if row is not None:
            rows.append(row)
            places.append(where)
    return rows, places, faults


def _ids(rows: Sequence[BlimpRow]) -> list[str]:
    """The pair's id; with the paradigm before it where pairs of several share ids; else a number.

    Ids that stay ambiguous are left so, for the checks to report.
    """
    keys = [row.rest().get(ID_KEY) for row in rows]
    if any(key is None for key in keys):
        return [str(number) for number in range(1, len(rows) + 1)]
    ids = [_as_text(key).strip() for key in keys]
    if max(Counter(ids).values(), default=1) == 1:
        return ids
    paradigms = [_as_text(row.rest().get(PARADIGM_KEY) or "") for row in rows]
    return [
        f"{paradigm}/{id_}" if paradigm else id_
        for paradigm, id_ in zip(paradigms, ids, strict=True)
    ]


def _only(rows: Sequence[BlimpRow], key: str) -> str:
    """The value of a key, where all rows agree on it; else empty."""
    values = {value for row in rows if isinstance(value := row.rest().get(key), str)}
    return values.pop().strip() if len(values) == 1 else ""


def _item(row: BlimpRow, *, id_: str, where: str, faults: list[Fault]) -> Item:
    rest = row.rest()
    nested = {key: value for key, value in rest.items() if isinstance(value, list | dict)}
    columns = {
        key: _as_text(value)
        for key, value in rest.items()
        if key not in nested and value is not None
    }
    if PHENOMENON_KEY in columns:
        columns.setdefault("phenomenon", columns[PHENOMENON_KEY])
    sentences = {"good": row.sentence_good, "bad": row.sentence_bad}
    conditions = tuple(
        Condition(
            name,
            (Region(strip_blanks(text, what=f"sentence_{name}", where=where, faults=faults)),),
            columns or NOTHING,
        )
        for name, text in sentences.items()
    )
    return Item(id_, conditions, extra=nested or NOTHING)


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)
