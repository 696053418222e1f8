"""The scale to assume for ratings in tables that name none, and the ratings that may be slips."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from cimento.errors import Fault, counted
from cimento.faults import fault
from cimento.paradigms.ratings.model_values import faults_of_model_values
from cimento.suites.ratings import RatedSentence

_USUAL_HIGHEST = 10
"""The upper end of the longest scale that usually begins at 1."""
_HIGHEST_OF_POINTS = 20
"""The end of the longest scale of points; longer ones are percentages and sliders up to 100."""
_PERCENT = (0, 100)


def assumed_scale(given: Sequence[float]) -> tuple[int, int]:
    """The ends of the scale to assume: the whole numbers around the ratings.

    The lower end is 1 where all ratings are above 1 and at most 10, as means of a scale from 1
    seldom reach it; ratings above 20 and up to 100 are on a scale from 0 to 100.

    Args:
        given: the ratings.
    """
    low, high = math.floor(min(given)), math.ceil(max(given))
    if low >= 0 and _HIGHEST_OF_POINTS < high <= _PERCENT[1]:
        return _PERCENT
    return (1 if low > 1 and high <= _USUAL_HIGHEST else low), high


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
_SOME = 0.25
"""Largest proportion of ratings outside such a scale that are named, be they slips or not."""
_FEWEST_RATINGS = 8
"""Number of ratings below which none is unlike the others."""
_LEAST_HIGH = 4.0
"""The least that the highest rating within such a scale is, if its ratings are not on a shorter."""


def off_points(rated: Mapping[str, RatedSentence], scale: tuple[int, int]) -> list[Fault]:
    """The warnings of the few ratings outside 1 to 7, and between points, if nearly all are within.

    Where nearly all are whole numbers, one outside may be a slip. Means are not whole numbers,
    and a few outside say that another scale was used, or that they are wrong.

    Args:
        rated: the sentences by their places.
        scale: the scale that is assumed for them.
    """
    low, high = _POINTS
    given = [(place, value) for place, one in rated.items() for value in one.given]
    off = {place: value for place, value in given if not low <= value <= high}
    n_off = sum(not low <= value <= high for _, value in given)
    inside = [value for _, value in given if low <= value <= high]
    n_whole = sum(value.is_integer() for value in inside)
    said = _between_points(rated)
    if not off or len(given) < _FEWEST_RATINGS or n_off > max(1, _SOME * len(given)):
        return said
    first, *_ = off
    todo = "Correct the cell, or the scale in the name of the column."
    if 2 * n_whole > len(given) and n_off <= max(1, _FEW * len(given)):
        seen = (
            f"Most ratings are whole numbers from {low} to {high}; {off[first]:g} is not,"
            " and may be a slip."
        )
    elif 2 * n_whole <= len(given) and _is_odd(scale) and max(inside) >= _LEAST_HIGH:
        seen = (
            f"Most ratings are from {low} to {high}; {off[first]:g} is outside,"
            f" as are the ratings in {counted(len(off), 'row')} in all: another scale, or mistakes."
        )
    else:
        return said
    return [*said, fault("CIM-S036", where=first, seen=seen, todo=todo, places=off)]


def _is_odd(scale: tuple[int, int]) -> bool:
    """Whether hardly anybody asks for ratings on a scale with such ends."""
    low, high = scale
    ends = {_USUAL_HIGHEST - 1, _USUAL_HIGHEST, _PERCENT[1]}
    return low not in (0, 1) or (high > _POINTS[1] and high not in ends) or scale == (0, _POINTS[1])


def _between_points(rated: Mapping[str, RatedSentence]) -> list[Fault]:
    """The warning of the few ratings of one person that are not whole numbers as all others."""
    given = [(place, one.value) for place, text in rated.items() for one in text.ratings]
    between = {place: value for place, value in given if not value.is_integer()}
    n_between = sum(not value.is_integer() for _, value in given)
    if not between or n_between > max(1, _FEW * len(given)) or len(given) <= _FEWEST_GAPS:
        return []
    first, *_ = between
    seen = (
        f"Nearly all ratings of one person are whole numbers; {between[first]:g} is not, and may be"
        " a mean or a slip."
    )
    todo = "Correct the cell; means are in a column rating of their own."
    return [fault("CIM-S036", where=first, seen=seen, todo=todo, places=between)]


def off_named(rated: Mapping[str, RatedSentence], named: tuple[int, int] | None) -> list[Fault]:
    """The fault of ratings off the scale that the header names; it has the place of each."""
    low, high = named or (-math.inf, math.inf)
    wrong = {
        place: value
        for place, sentence in rated.items()
        for value in sentence.given
        if not low <= value <= high
    }
    if not wrong:
        return []
    first, *_ = wrong
    seen = (
        f"The rating {wrong[first]:g} is off the scale from {low} to {high} that the name of the"
        f" column states; such ratings are in {counted(len(wrong), 'row')}."
    )
    todo = "Correct the cell, or the scale in the name of the column."
    return [fault("CIM-S037", where=first, seen=seen, todo=todo, places=wrong)]


def assumed_faults(
    rated: Mapping[str, RatedSentence], scale: tuple[int, int], column: str, name: str
) -> list[Fault]:
    """What is to be said of ratings whose scale the table does not name.

    Args:
        rated: the sentences by their places.
        scale: the ends that are assumed.
        column: the column of ratings; empty where the answers of people were put together.
        name: name of the table.
    """
    given = [value for sentence in rated.values() for value in sentence.given]
    if strange := faults_of_model_values(given, column or "rating", name):
        return strange
    low, high = scale
    seen = f"The table does not name the scale of the ratings; assumed: {low} to {high}."
    slip = off_points(rated, scale)
    far = "" if slip else far_off(rated, sorted({*given}))
    return [*slip, fault("CIM-S036", where=name, seen=seen + far)]


def unrated_faults(rated: Mapping[str, RatedSentence], name: str) -> list[Fault]:
    """A fault that counts sentences without a rating, and says where the first stands."""
    without = [place for place, sentence in rated.items() if not sentence.given]
    if not without:
        return []
    seen = (
        f"Of {len(rated)} sentences, {counted(len(without), 'has', 'have')} no rating;"
        f" the first: {without[0]}."
    )
    return [fault("CIM-S038", where=name, seen=seen)]
