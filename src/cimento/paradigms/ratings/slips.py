"""Ratings that may be slips, in tables that do not name their scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from cimento.errors import Fault
from cimento.faults import fault
from cimento.suites.ratings import RatedSentence

_FEWEST_GAPS = 3
"""Number of other steps between ratings without which none is out of the ordinary."""


def far_off(rated: Mapping[str, RatedSentence], values: Sequence[float]) -> str:
    """Where a lowest or highest rating stands that is far from all others: it may be a slip.

    Args:
        rated: the sentences by their places.
        values: the distinct ratings, ascending.
    """
    gaps = [higher - lower for lower, higher in pairwise(values)]
    said = ""
    for name, end, gap, others in (
        ("lowest", values[0], gaps[0], gaps[1:]),
        ("highest", values[-1], gaps[-1], gaps[:-1]),
    ):
        where = [place for place, sentence in rated.items() if end in sentence.given]
        if len(others) >= _FEWEST_GAPS and len(where) == 1 and gap > max(1.0, *others):
            said += f" The {name}, {end:g}, is only in {where[0]}."
    return said


_POINTS = (1, 7)
"""The ends of the scale of points that is used most."""
_FEW = 0.1
"""Largest proportion of the ratings of such a scale that may be slips."""
_FEWEST_RATINGS = 8
"""Number of ratings below which they do not show where most of them are."""


def beyond_points(rated: Mapping[str, RatedSentence]) -> list[Fault]:
    """The warning of the few ratings outside 1 to 7 where nearly all are whole numbers within."""
    low, high = _POINTS
    given = [(place, value) for place, one in rated.items() for value in one.given]
    off = {place: value for place, value in given if not low <= value <= high}
    n_off = sum(not low <= value <= high for _, value in given)
    inside = [value for _, value in given if low <= value <= high]
    n_whole = sum(value.is_integer() for value in inside)
    if (
        not off
        or len(given) < _FEWEST_RATINGS
        or n_off > max(1, _FEW * len(given))
        or 2 * n_whole <= len(given)
    ):
        return []
    first, *_ = off
    seen = (
        f"Most ratings are whole numbers from {low} to {high}; {off[first]:g} is not,"
        " and may be a slip."
    )
    todo = "Correct the cell, or the scale in the name of the column."
    return [fault("CIM-S036", where=first, seen=seen, todo=todo, places=off)]
