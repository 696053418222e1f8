"""What the name of a column of ratings says of their scale: its ends, and which of them is good."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.names import meaning
from cimento.intake.table import Table

_ENDS = re.compile(r"\(\s*(-?\d+)\s*(?:[-–—/…]|\.\.\.?|a|al|to|до)\s*(\d+)\s*\)\s*$")
_LEGEND = re.compile(r"(-?\d+)\s*(?:[=:]\s*|\(\s*)([^\W\d][^\d,;)=]*)")
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


def ends_named(header: str) -> tuple[int, int] | None:
    """The ends of the scale in the name of a column.

    >>> ends_named("Juicio medio (1-7)"), ends_named("Giudizio (1 = pessima, 5 = ottima)")
    ((1, 7), (1, 5))
    """
    match = _ENDS.search(header)
    numbers = [*map(int, match.groups())] if match else [*_legend(header)]
    low, high = (min(numbers), max(numbers)) if numbers else (0, 0)
    return (low, high) if low < high else None


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
    return {int(number): _side(words) for number, words in _LEGEND.findall(header)}


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
