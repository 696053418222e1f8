"""JSON of prefixes and endings, as the two arguments of minicons' ``partial_score``.

A file is one list; each pair in it is ``[[prefix, prefix], [right ending, wrong ending]]``. BHS is
in this form (Kryvosheieva and Levy 2025, aclanthology.org/2025.loreslm-1.30).
"""

from __future__ import annotations

import re
from pathlib import Path

from cimento.errors import Fault
from cimento.faults import errors, fault
from cimento.intake.decoding import decoded, unusable
from cimento.io.parsing import parse_json
from cimento.suites import BAD, GOOD, Condition, Prediction, Region
from cimento.suites.formats.gathered import Gathered
from cimento.suites.reading import Reading

_BEGIN = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\[\s*\[\s*"')
_PREDICTION = Prediction(
    "(2;%good%) < (2;%bad%)",
    comment="The right ending is less surprising after its prefix.",
    name=GOOD,
)
_TWO = 2


def is_endings(data: bytes) -> bool:
    """Whether a file begins as a list of pairs in this form does: three brackets, then a text.

    Args:
        data: its content.
    """
    return _BEGIN.match(data) is not None


def read_endings(path: Path) -> Reading:
    """Read pairs of prefixes and endings; the file's name becomes the suite's.

    The regions are the prefix and the ending, and the prediction is about the ending.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not JSON, or a pair is not two prefixes and two endings.
    """
    data, text, faults = decoded(path)
    try:
        parsed = parse_json(text)
    except ValueError as error:
        seen = f"Not JSON: {error}."
        raise unusable(path, [*faults, fault("CIM-S002", where=path.name, seen=seen)]) from error
    gathered = Gathered()
    for number, pair in enumerate(parsed if isinstance(parsed, list) else [parsed], start=1):
        where = f"{path.name}, pair {number}"
        if (parts := _parts(pair)) is None:
            faults.append(_no_pair(where))
            continue
        prefixes, endings = parts
        for side, prefix, ending in zip((GOOD, BAD), prefixes, endings, strict=True):
            regions = (Region(prefix.strip()), Region(ending.strip()))
            gathered.add(str(number), Condition(side, regions), where)
    if errors(faults):
        raise unusable(path, faults)
    return gathered.reading(
        path, data, faults, region_names=("prefix", "ending"), predictions=(_PREDICTION,)
    )


def _parts(pair: object) -> tuple[list[str], list[str]] | None:
    """The prefixes and the endings of a pair; None where it is not two of each."""
    if not isinstance(pair, list) or len(pair) != _TWO:
        return None
    if not all(
        isinstance(both, list) and len(both) == _TWO and all(isinstance(t, str) for t in both)
        for both in pair
    ):
        return None
    return pair[0], pair[1]


def _no_pair(where: str) -> Fault:
    return fault(
        "CIM-S003",
        where=where,
        seen="It is not a pair of prefixes and a pair of endings.",
        todo='Write each pair as [["prefix", "prefix"], ["right ending", "wrong ending"]].',
    )
