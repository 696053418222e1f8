"""Pairs on two lines, one after the other: CLAMS, Zorro, CLiMP.

CLAMS (Mueller et al. 2020, doi:10.18653/v1/2020.acl-main.490) begins each line with ``True`` or
``False``. Zorro (Huebner et al. 2021, doi:10.18653/v1/2021.conll-1.49) has no labels and the
ungrammatical sentence first; such files are read only where their format is named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cimento.errors import Fault
from cimento.files import read_bytes
from cimento.suites.faults import fault
from cimento.suites.model import Condition, Item, Meta, Region, Suite
from cimento.suites.readers.items import PAIR_PREDICTION
from cimento.suites.reading import Reading, decode, sha256_of, unusable

SUFFIX = ".txt"
GOOD, BAD = "good", "bad"
_LABELS = {"True": GOOD, "False": BAD}
_LABELLED = re.compile(rb"\s*(?:\xef\xbb\xbf)?(?:True|False)\t")


class _Line(NamedTuple):
    number: int
    label: str
    text: str


def is_clams(data: bytes) -> bool:
    """Whether the first line begins with a label and a tab."""
    return _LABELLED.match(data) is not None


def read_clams(path: Path) -> Reading:
    """Read CLAMS: each line ``True`` or ``False``, a tab and a sentence; two lines make a pair.

    Raises:
        InputError: the file may not be read.
        SuiteError: a line has no label, or the labels do not alternate.
    """
    return _read(path, labels=None)


def read_zorro(path: Path) -> Reading:
    """Read Zorro: two lines make a pair, the ungrammatical sentence first.

    Raises:
        InputError: the file may not be read.
        SuiteError: the number of lines is odd.
    """
    return _read(path, labels=(BAD, GOOD))


def read_good_first(path: Path) -> Reading:
    """Read two lines as a pair, the grammatical sentence first (CLiMP).

    Raises:
        InputError: the file may not be read.
        SuiteError: the number of lines is odd.
    """
    return _read(path, labels=(GOOD, BAD))


def _read(path: Path, *, labels: tuple[str, str] | None) -> Reading:
    data = read_bytes(path)
    text, faults = decode(data, name=path.name)
    if text is None:
        raise unusable(path, faults)
    lines = _lines(text, path.name, labels, faults)
    pairs = [lines[start : start + 2] for start in range(0, len(lines), 2)]
    for pair in pairs:
        if sorted(line.label for line in pair) != [BAD, GOOD]:
            seen = "This line and the next are not one grammatical and one ungrammatical sentence."
            where = f"{path.name} line {pair[0].number}"
            faults.append(fault("CIM-S002", where=where, seen=seen))
            break
    if any(each.severity == "error" for each in faults):
        raise unusable(path, faults)
    suite = Suite(
        meta=Meta(name=path.stem),
        region_names=("sentence",),
        predictions=(PAIR_PREDICTION,),
        items=tuple(_item(number, pair) for number, pair in enumerate(pairs, start=1)),
    )
    places = tuple(f"{path.name} line {line.number}" for pair in pairs for line in pair)
    return Reading(suite, sha256_of(data), places, tuple(faults))


def _lines(
    text: str, name: str, labels: tuple[str, str] | None, faults: list[Fault]
) -> list[_Line]:
    found: list[_Line] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if labels is not None:
            found.append(_Line(number, labels[len(found) % 2], line.strip()))
            continue
        label, tab, sentence = line.strip().partition("\t")
        if label not in _LABELS or not tab:
            seen = f"The line does not begin with True or False and a tab: {line[:40]!r}."
            faults.append(fault("CIM-S002", where=f"{name} line {number}", seen=seen))
            break
        found.append(_Line(number, _LABELS[label], sentence.strip()))
    return found


def _item(number: int, pair: Sequence[_Line]) -> Item:
    return Item(str(number), tuple(Condition(line.label, (Region(line.text),)) for line in pair))
