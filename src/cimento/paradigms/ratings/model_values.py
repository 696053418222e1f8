"""Numbers under the name of ratings that look like values of a model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cimento.errors import Fault
from cimento.faults import fault

_HIGHEST = 20
"""The end of the longest scale of points; sentences have more bits, and sliders go to 100."""
_LOWEST = 1e-4
"""No mean of fewer than ten thousand answers of 0 or 1 is lower, unless it is 0."""


def faults_of_model_values(given: Sequence[float], column: str, where: str) -> list[Fault]:
    """The fault of ratings that look like log-probabilities, surprisals or probabilities.

    Log-probabilities are all below 0, as no scale of ratings is, whole sentences have surprisals
    and perplexities beyond any scale of points, and probabilities of sentences are minute. Means
    of a slider from 0 to 100 look the same, so that only who made the table can tell: a scale in
    the name of the column settles it. Values per token may lie within a scale, and are not found.

    Args:
        given: the ratings of a table that does not name their scale.
        column: the column of ratings.
        where: name of the table.
    """
    low, high = min(given), max(given)
    is_real = 2 * sum(not value.is_integer() for value in given) > len(given)
    numbers = f"The numbers in {column!r}, from {low:g} to {high:g}, look like"
    if is_real and high < 0:
        seen = f"{numbers} log-probabilities of a model, and not like ratings."
    elif is_real and low >= 0 and high > _HIGHEST:
        seen = f"{numbers} surprisals or perplexities of a model, and not like ratings."
    elif 0 < low < _LOWEST and high <= 1:
        seen = f"{numbers} probabilities of a model, and not like ratings."
    else:
        return []
    ends = f"{min(0, math.floor(low))} to {max(0, math.ceil(high))}"
    todo = (
        "A run would compare one model with another. If people gave these ratings, name the scale"
        f" in the heading, as in {column} ({ends})."
    )
    return [fault("CIM-S075", where=where, seen=seen, todo=todo)]
