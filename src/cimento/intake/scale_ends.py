"""What the name of a column, or a question, says of the ends of a rating scale."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_TO = r"(?:[-–—/…]|\.\.\.?|\ba\b|\bal\b|\bto\b|\bдо\b)"
_BRACKETED = re.compile(rf"\s*[(\[]\s*(-?\d+)\s*{_TO}\s*(\d+)\s*[)\]]\s*$")
_IN_WORDS = re.compile(
    r"\b(?:(?:from|da|de|del|desde|от)\s+|dall['’])(-?\d+)"
    r"\s+(?:(?:to|a|al|à|até|hasta|до)\s+|all['’])(\d+)\b",
    re.IGNORECASE,
)
LEGEND = re.compile(r"(-?\d+)\s*(?:[=:]\s*|\(\s*)([^\W\d][^\d,;)=]*)")
"""A number of a scale and what it stands for, as in *1 = bad, 5 = good*."""


def ends_named(name: str) -> tuple[int, int] | None:
    """The ends of the scale in the name of a column or in a question, the lower one first.

    >>> ends_named("Juicio medio (1-7)"), ends_named("Giudizio (1 = pessima, 5 = ottima)")
    ((1, 7), (1, 5))
    >>> ends_named("Quanto è accettabile, da 1 a 5?"), ends_named("Dall'1 al 7"), ends_named("Nota")
    ((1, 5), (1, 7), None)
    """
    match = _BRACKETED.search(name) or _IN_WORDS.search(name)
    found = match.groups() if match else (number for number, _ in LEGEND.findall(name))
    numbers = [*map(int, found)]
    low, high = (min(numbers), max(numbers)) if numbers else (0, 0)
    return (low, high) if low < high else None


def ends_of_all(names: Iterable[str]) -> tuple[int, int] | None:
    """The only ends that some names say; None where they say none, or several.

    >>> ends_of_all(["Frase 1 (1-7)", "Frase 2 (1-7)"]), ends_of_all(["A (1-7)", "B (1-5)"])
    ((1, 7), None)
    """
    ends = {found for name in names if (found := ends_named(name))}
    return ends.pop() if len(ends) == 1 else None


def without_scale(name: str) -> str:
    """A text without the scale in brackets behind it; the same text if there is none.

    >>> without_scale("Il treno parte. (1-7)"), without_scale("(1-7)")
    ('Il treno parte.', '(1-7)')
    """
    return _BRACKETED.sub("", name) or name


def scales_behind(names: Sequence[str]) -> Mapping[str, str]:
    """The texts of questions that all have the same scale behind them, each without it.

    Args:
        names: the texts of the questions of one table.

    Returns:
        Nothing where one of them has none or another one, or the texts are alike without it.

    >>> scales_behind(["Il treno parte. (1-7)", "Parte il treno. (1-7)"])
    {'Il treno parte. (1-7)': 'Il treno parte.', 'Parte il treno. (1-7)': 'Parte il treno.'}
    """
    ends = {match.groups() if (match := _BRACKETED.search(name)) else None for name in names}
    plain = {name: without_scale(name) for name in names}
    are_alike = len(names) > 1 and len(ends) == 1 and None not in ends
    return plain if are_alike and len({*plain.values()}) == len(names) else {}
