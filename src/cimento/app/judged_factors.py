"""Designs with a factor that says which sentences are good, as in studies of attraction."""

from __future__ import annotations

from collections.abc import Mapping

from cimento.app.conditions import cells_in
from cimento.app.words import Words
from cimento.intake.marks import sides_of
from cimento.suites import BAD, GOOD
from cimento.suites.design import Differing


def differing_in(
    factors: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[Differing, dict[str, tuple[str, str]]]]:
    """The two designs of two factors, one of which says which sentences are good.

    Args:
        factors: the levels of each factor, see `cimento.app.conditions.factors_of`.

    Returns:
        By the level of the other factor where good and bad sentences should differ more, what DD is
        then the difference of, and the plain and the other level of each factor; else empty.
    """
    judged = [name for name, levels in factors.items() if sides_of(name, levels)]
    if len(judged) != 1:
        return {}
    (name,) = judged
    by_side = {side: level for level, side in sides_of(name, factors[name]).items()}
    good, bad = by_side[GOOD], by_side[BAD]
    made = {}
    for cell in cells_in(factors).values():
        less, more = next(two for other, two in cell.items() if other != name)
        if cell[name] == (good, bad):
            made[more] = (Differing(good, bad, more, less), cell)
    return made


def differ_more(one: Differing, say: Words) -> str:
    """With what good and bad sentences should differ more, in the words of a page."""
    return say("edit.judged-do", **quoted_levels(one, say))


def quoted_levels(one: Differing, say: Words) -> dict[str, str]:
    """What a DD is the difference of, each level between quotation marks."""
    return {name: say.quoted(level) for name, level in one._asdict().items()}
