"""What the name of a column of ratings says of their scale: which of its ends is good."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.names import meaning
from cimento.intake.scale_ends import LEGEND
from cimento.intake.table import Table

_BEST = (
    "perfe", "excel", "eccell", "ottim", "óptim", "ótim", "best", "miglior", "mejor", "melhor",
    "natural", "normal", "fine", "possib", "posib", "лучш", "отличн", "естествен", "нормальн",
)  # fmt: skip
_WORST = (
    "terrib", "orrib", "horr", "awful", "worst", "peggior", "pessim", "pésim", "péssim", "peor",
    "pior", "unnatural", "innatural", "antinatural", "imposs", "impos", "odd", "weird", "stran",
    "extrañ", "estranh", "ужасн", "худш", "неестествен", "невозможн", "странн",
)  # fmt: skip
_NOT = {
    "non", "not", "no", "não", "не", "niente", "nulla", "poco", "nada", "pouco", "least", "less",
    "meno", "menos", "наименее", "мало",
}  # fmt: skip
_N_LETTERS = len(ascii_uppercase)


def order_faults(table: Table, column: str, given: Sequence[float]) -> list[Fault]:
    """The fault of a column whose name says that lower ratings are better, or is not understood.

    Args:
        table: the table as it is in the file.
        column: the column of ratings.
        given: the ratings.
    """
    legend = _legend(column)
    if not legend:
        return []
    low = min(*legend, math.floor(min(given)))
    high = max(*legend, math.ceil(max(given)))
    rises = {
        (side == "good") is (number > (low + high) / 2) for number, side in legend.items() if side
    }
    if rises == {True}:
        return []
    if rises == {False}:
        place = table.columns.index(column)
        letter = ascii_uppercase[place] if place < _N_LETTERS else "X"
        seen = (
            f"By its name, lower ratings are better in {column!r}; higher ones are read as better."
        )
        todo = (
            f"Turn them around in another column, and call that rating: {low + high} minus each"
            f" (in Excel, ={low + high}-{letter}{table.numbers[0]})."
        )
        return [fault("CIM-S037", where=table.name, seen=seen, todo=todo)]
    seen = f"Higher ratings are read as better: the name {column!r} does not say it clearly."
    todo = "If lower ones are better, turn them around in another column, and call that rating."
    return [fault("CIM-S036", where=table.name, seen=seen, todo=todo)]


def _legend(header: str) -> Mapping[int, str]:
    """The numbers that the name of a column explains, each with ``good``, ``bad`` or nothing."""
    return {int(number): _side(words) for number, words in LEGEND.findall(header)}


def _side(text: str) -> str:
    words = re.findall(r"[^\W\d_]+", text.casefold())
    sides = {meaning(word) for word in words if word not in _NOT} & {"good", "bad"}
    for side, stems in (("bad", _WORST), ("good", _BEST)):
        if not sides and any(word.startswith(stems) for word in words):
            sides = {side}
    if len(sides) != 1:
        return ""
    [side] = sides
    return "bad" if {*words} & _NOT and side == "good" else side
