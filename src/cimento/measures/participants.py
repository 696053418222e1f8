"""Ratings of people on one scale: z-scores within participants.

People use a scale differently, so that each rating is its distance from its participant's mean, in
standard deviations (n - 1) of all that this participant rated (Schütze and Sprouse 2014,
doi:10.1017/CBO9781139013734.004).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from cimento.io.values import NoValue
from cimento.measures.normalizing import standard_scores
from cimento.suites.ratings import Rating

KeyT = TypeVar("KeyT", bound=Hashable)

_SAME = "their participants rated everything alike"


def z_by_participant(
    ratings: Mapping[KeyT, Sequence[Rating]],
) -> tuple[dict[KeyT, list[Rating]], dict[str, int], int]:
    """The ratings as z-scores within participants, with n - 1.

    Args:
        ratings: of each sentence, by what it is called, such as item and condition.

    Returns:
        The z-scores of each sentence, with who gave them; the number of ratings without one, by
        reason; and the number of participants.
    """
    by_person: dict[str, list[tuple[KeyT, float]]] = {}
    for place, given in ratings.items():
        for rating in given:
            by_person.setdefault(rating.participant, []).append((place, rating.value))
    scaled: dict[KeyT, list[Rating]] = {}
    left_out: dict[str, int] = {}
    people = 0
    for name, answers in by_person.items():
        scores = standard_scores([value for _, value in answers], ddof=1)
        if not name or isinstance(scores, NoValue):
            why = _SAME if name else "their participant is not named"
            left_out[why] = left_out.get(why, 0) + len(answers)
            continue
        people += 1
        for (place, _), score in zip(answers, scores, strict=True):
            scaled.setdefault(place, []).append(Rating(score, name))
    return scaled, left_out, people
