"""Results that are surely on the wrong side: the interval lies wholly where nobody expects it.

Columns that were exchanged, scales that were turned round and conditions in the wrong order give
such results, which look as sure as good ones. What is said here is among the warnings of every run,
and so in every form in which a run is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cimento.errors import UsageError
from cimento.io.values import grouped
from cimento.measures import Measure, find_measure
from cimento.records.outcomes import BASELINE, STATISTICS, Estimate
from cimento.records.standing import standing_of

DD = "DD"
_SPEARMAN = "spearman"
_AUC = "AUC"
_SHARE_BY_LOT = 0.5


def wrong_sides(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    """What is said of the results of a run that are surely on the wrong side, kind by kind.

    Args:
        estimates: all estimates of the run. Of shares, those that are in its first table are
            looked at: details repeat them in parts.
    """
    shares = [one for one in estimates if one.role != "detail" and not one.group]
    correlations = [one for one in shares if _measure_of(one) is not None]
    return (
        *_below_chance(shares),
        *filter(None, (against_ratings(correlations), _below_half(shares))),
        *_below_zero(estimates),
    )


def _below_chance(estimates: Sequence[Estimate]) -> Iterator[str]:
    """One sentence on the shares that are surely below chance, which names them among others."""
    shares = [one for one in estimates if one.is_share and not one.method.startswith(BASELINE)]
    below = (one for one in shares if standing_of(one, one.chance) == "below")
    asked = grouped((one.is_of_predictions, one) for one in below)
    for of_predictions, wrong in asked.items():
        sides = "good and bad" if of_predictions else "right and wrong answers"
        names = f" ({_names(wrong)})" if len(shares) > 1 else ""
        yield f"Below chance, surely{names}: are {sides} the right way round?"


def against_ratings(correlations: Iterable[Estimate], *, positive: bool | None = None) -> str:
    """One sentence on correlations with ratings that surely have the other sign; else empty.

    Args:
        correlations: correlations with ratings.
        positive: whether all of them are expected to be positive; None where their questions are
            measures, which say themselves whether higher values are better.
    """
    wrong = [one for one in correlations if _has_other_sign(one, positive=positive)]
    if not wrong:
        return ""
    name = STATISTICS.get(wrong[0].statistic, wrong[0].statistic)
    return (
        f"{name} of {_names(wrong)} surely has the sign opposite to the one expected: do higher"
        " ratings mean better sentences?"
    )


def _has_other_sign(correlation: Estimate, *, positive: bool | None) -> bool:
    if correlation.low is None or correlation.high is None:
        return False
    if positive is None:
        positive = find_measure(correlation.question).higher_is_better
    return correlation.high < 0 if positive else correlation.low > 0


def _measure_of(estimate: Estimate) -> Measure | None:
    """The measure of a correlation with ratings; None of all other estimates."""
    if estimate.statistic != _SPEARMAN:
        return None
    try:
        return find_measure(estimate.question)
    except UsageError:  # a paradigm's own question, which says no sign
        return None


def _below_half(estimates: Iterable[Estimate]) -> str:
    """One sentence on labels that measures surely tell apart the other way round; else empty."""
    areas = (one for one in estimates if one.statistic == _AUC and one.high is not None)
    wrong = [one for one in areas if one.high is not None and one.high < _SHARE_BY_LOT]
    if not wrong:
        return ""
    return (
        f"AUC of {_names(wrong)} is surely below 0.5: are the labels of acceptable and unacceptable"
        " sentences the right way round?"
    )


def _below_zero(estimates: Iterable[Estimate]) -> Iterator[str]:
    """A sentence for each measure on DDs of whole sentences that are surely below 0."""
    wrong = grouped(
        (one.method, one.level)
        for one in estimates
        if (one.question, one.statistic) == (DD, DD) and one.high is not None and one.high < 0
    )
    for method, levels in wrong.items():
        measure = f" ({method})" if method else ""
        among = f"{_listed(levels)}: " if any(levels) else ""
        yield (
            f"{among}DD{measure} is surely below 0, where both changes together"
            " should cost more: is the condition with both of them the correct one?"
        )


def _names(estimates: Iterable[Estimate]) -> str:
    """The questions of some estimates in a sentence, with the method where there are several."""
    named = [" ".join(filter(None, (one.question, one.method))) for one in estimates]
    return _listed(list(dict.fromkeys(named)))


def _listed(names: Sequence[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
