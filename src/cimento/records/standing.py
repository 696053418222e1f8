"""On which side of what no knowledge reaches a proportion surely is.

A proportion of few items can have a whole interval above chance that an exact test does not bear
out: 7 of 8 has the Wilson interval [0.529, 0.978] and p = .070 against 0.5. So of independent items
both are asked, and nothing is said to be above or below chance unless both agree.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.statistics.unequal_chances import UNEQUAL_CHANCES

if TYPE_CHECKING:
    from cimento.records.outcomes import Estimate

Standing: TypeAlias = Literal["above", "below", "open", "no baseline", "undefined"]
"""``open``: the interval holds the baseline, or the exact test does not tell the two apart."""

LEVEL = 0.05


def standing_of(estimate: Estimate, baseline: float | None) -> Standing:
    """Tell on which side of a baseline an estimate surely is.

    Args:
        estimate: a proportion, or another number with an interval.
        baseline: what no knowledge reaches; None where that is not known.
    """
    low, high = estimate.low, estimate.high
    if estimate.value is None or low is None or high is None:
        return "undefined"
    if baseline is None:
        return "no baseline"
    if not (low > baseline or high < baseline):
        return "open"
    p = exact_p(estimate, baseline)
    if p is not None and p > LEVEL:
        return "open"
    return "above" if low > baseline else "below"


def doubt_of(estimate: Estimate, baseline: float | None) -> float | None:
    """The p-value of the exact test where the interval alone would say above or below.

    Args:
        estimate: the estimate.
        baseline: what no knowledge reaches.
    """
    low, high = estimate.low, estimate.high
    if baseline is None or low is None or high is None or low <= baseline <= high:
        return None
    return exact_p(estimate, baseline) if standing_of(estimate, baseline) == "open" else None


def exact_p(estimate: Estimate, baseline: float | None) -> float | None:
    """Compute the two-sided p-value of the exact binomial test against a baseline.

    Where items differ in their chance, and this is the baseline, it is that of the exact test by
    the chance of each item, which the estimate has.

    Args:
        estimate: the estimate.
        baseline: the proportion expected under the null hypothesis.

    Returns:
        The p-value; None where the number is not a proportion, where some items belong together,
        or where there is nothing to test.
    """
    right, n = estimate.right, estimate.n
    if right is None or baseline is None or estimate.clustered or not n or not 0 <= baseline <= 1:
        return None
    if estimate.p_method == UNEQUAL_CHANCES and baseline == estimate.chance:
        return estimate.p
    return _binomial_p(right, n, baseline)


@functools.lru_cache(maxsize=4096)
def _binomial_p(right: int, n: int, expected: float) -> float:
    from scipy.stats import binomtest

    return float(binomtest(right, n, expected).pvalue)
