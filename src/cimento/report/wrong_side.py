"""Results that are surely on the wrong side: the interval lies wholly where nobody expects it.

Columns that were exchanged, scales that were turned round and conditions in the wrong order give
such results, which look as sure as good ones.
"""

from __future__ import annotations

from cimento.measures import find_measure
from cimento.runs.outcomes import STATISTICS, Estimate

DD = "DD"


def below_chance(estimate: Estimate) -> str:
    """What is said of a share that is surely below chance; empty of all others."""
    chance, high = estimate.chance, estimate.high
    if not estimate.is_share or chance is None or high is None or high >= chance:
        return ""
    asked = "good and bad" if estimate.is_of_predictions else "right and wrong answers"
    return f"Below chance, surely: are {asked} the right way round?"


def against_ratings(estimate: Estimate) -> str:
    """What is said of a correlation with ratings that surely has the other sign; else empty.

    Args:
        estimate: a correlation whose question is a measure.
    """
    if estimate.low is None or estimate.high is None:
        return ""
    positive = find_measure(estimate.question).higher_is_better
    if not (estimate.high < 0 if positive else estimate.low > 0):
        return ""
    name = STATISTICS.get(estimate.statistic, estimate.statistic)
    return (
        f"{name} of {estimate.question} surely has the sign that is not expected: do higher ratings"
        " mean better sentences?"
    )


def below_zero(estimate: Estimate) -> str:
    """What is said of a DD of whole sentences that is surely below 0; empty of all others."""
    if (estimate.question, estimate.statistic) != (DD, DD):
        return ""
    if estimate.high is None or estimate.high >= 0:
        return ""
    measure = f" ({estimate.method})" if estimate.method else ""
    return (
        f"{estimate.level}: DD{measure} is surely below 0, where both changes together should cost"
        " more: is the condition with both of them the right one?"
    )
