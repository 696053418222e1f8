"""JSONL with two sentences and which of them is grammatical (the release form of QFrBLiMP)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from cimento.errors import Fault
from cimento.files import read_bytes
from cimento.parsing import parse_json
from cimento.suites.faults import errors, fault
from cimento.suites.model import Condition, Item, JsonValue, Meta, Region, Suite
from cimento.suites.readers.items import PAIR_PREDICTION
from cimento.suites.reading import (
    Reading,
    decode,
    first_line,
    sha256_of,
    strip_blanks,
    unusable,
)

FIRST, SECOND, LABEL = "sentence_a", "sentence_b", "label"
ID_KEYS = ("id", "pairID")
PHENOMENON_KEYS = ("phenomenon", "type", "category")


def is_choices(data: bytes) -> bool:
    """Whether the first line has two sentences and a label."""
    first = first_line(data)
    return all(f'"{key}"'.encode() in first for key in (FIRST, SECOND, LABEL))


def read_choices(path: Path) -> Reading:
    """Read pairs whose ``label`` is 0 where ``sentence_a`` is the grammatical one, 1 where b is.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is no such file.
    """
    data = read_bytes(path)
    text, faults = decode(data, name=path.name)
    if text is None:
        raise unusable(path, faults)
    items: list[Item] = []
    places: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path.name} line {number}"
            item = _item(line, where=where, number=len(items) + 1, faults=faults)
            if item is not None:
                items.append(item)
                places += [where, where]
    if errors(faults):
        raise unusable(path, faults)
    suite = Suite(
        meta=Meta(name=path.stem),
        region_names=("sentence",),
        predictions=(PAIR_PREDICTION,),
        items=tuple(items),
    )
    return Reading(suite, sha256_of(data), tuple(places), tuple(faults))


def _item(line: str, *, where: str, number: int, faults: list[Fault]) -> Item | None:
    try:
        row = parse_json(line)
    except ValueError as error:
        faults.append(fault("CIM-S002", where=where, seen=f"Not JSON: {error}."))
        return None
    if not isinstance(row, dict) or not all(isinstance(row.get(k), str) for k in (FIRST, SECOND)):
        seen = f"{FIRST} and {SECOND} are not both texts."
        faults.append(fault("CIM-S003", where=where, seen=seen))
        return None
    label = row.get(LABEL)
    # Tables of numbers write 0.0 and 1.0 for what is a choice.
    if isinstance(label, bool) or label not in (0, 1):
        seen = f"{LABEL} is {label!r}; 0 says that {FIRST} is grammatical, 1 that {SECOND} is."
        faults.append(fault("CIM-S003", where=where, seen=seen))
        return None
    good, bad = (FIRST, SECOND) if label == 0 else (SECOND, FIRST)
    columns = _columns(row)
    conditions = tuple(
        Condition(
            name, (Region(strip_blanks(row[key], what=key, where=where, faults=faults)),), columns
        )
        for name, key in (("good", good), ("bad", bad))
    )
    id_ = next((str(row[key]) for key in ID_KEYS if row.get(key) is not None), str(number))
    return Item(id_, conditions)


def _columns(row: Mapping[str, JsonValue]) -> dict[str, str]:
    """All other keys, as text; the phenomenon also under that name."""
    taken = {FIRST, SECOND, LABEL, *ID_KEYS}
    columns = {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in row.items()
        if key not in taken and value is not None
    }
    named = next((columns[key] for key in PHENOMENON_KEYS if key in columns), None)
    if named is not None:
        columns.setdefault("phenomenon", named)
    return columns
