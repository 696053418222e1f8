"""The difference of two shares with an interval, and how large an effect is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cimento.statistics.design import FEWEST_CLUSTERS, Design
from cimento.statistics.intervals import NOTHING_SCORED, effective_number, wilson, z_quantile
from cimento.statistics.paired import discordant
from cimento.statistics.values import ALL_EQUAL, TOO_FEW, Estimate, same_length

BONETT_PRICE = "Bonett-Price"
BONETT_PRICE_CLUSTERED = "Bonett-Price at the effective number of items"
NEWCOMBE = "Newcombe, hybrid score"
FEW_OBSERVATIONS = f"fewer than {FEWEST_CLUSTERS} observations on one side"


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two shares or means, first minus second, with its interval.

    Attributes:
        estimate: None where nothing was observed.
        low: lower end.
        high: upper end.
        method: of the interval.
        reason: why there is none.
    """

    estimate: float | None
    low: float | None
    high: float | None
    method: str
    reason: str | None = None


def share_difference(
    first: Sequence[bool],
    second: Sequence[bool],
    design: Design,
    *,
    level: float = 0.95,
) -> Difference:
    """The difference of two shares of the same items, such as the accuracies of two models.

    Bonett and Price (2012, doi:10.3102/1076998611411915): with b and c discordant items of n,
    ``p = (b + 1) / (n + 2)``, ``q = (c + 1) / (n + 2)``, ``p - q ± z sqrt((p + q - (p - q)²) /
    (n + 2))``. Where items come in clusters, n, b and c are brought to the effective number of
    items (`intervals.effective_number` of the differences).

    Args:
        first: whether each item is right.
        second: of the same items.
        design: of the items.
        level: confidence level.

    Raises:
        UsageError: columns of different lengths, or a level that is none.
    """
    n = same_length(first=first, second=second, units=design.units)
    method = BONETT_PRICE_CLUSTERED if design.clustered else BONETT_PRICE
    b, c = discordant(first, second)
    if n == 0 or design.shortage:
        return Difference((b - c) / n if n else None, None, None, method, design.shortage)
    gaps = [float(a) - float(z) for a, z in zip(first, second, strict=True)]
    effective = effective_number(gaps, design, level=level)
    centre, error = bonett_price(b / n, c / n, effective)
    half = z_quantile(level) * error
    estimate = (b - c) / n
    # Where nearly all items are discordant the adjusted centre may leave the estimate outside.
    low, high = max(-1.0, min(estimate, centre - half)), min(1.0, max(estimate, centre + half))
    return Difference(estimate, low, high, method)


def bonett_price(b: float, c: float, n: float) -> tuple[float, float]:
    """The adjusted difference of two shares of the same items, and its standard error.

    Args:
        b: share of the items that only the first gets right.
        c: share of those that only the second does.
        n: items; of clustered ones the effective number.
    """
    p, q = (b * n + 1) / (n + 2), (c * n + 1) / (n + 2)
    return p - q, math.sqrt((p + q - (p - q) ** 2) / (n + 2))


def unpaired_share_difference(
    first: float, n: float, second: float, m: float, *, level: float = 0.95
) -> Difference:
    """The difference of two shares of different items, by Newcombe's hybrid of Wilson's intervals.

    Method 10 of Newcombe (1998, Statistics in Medicine 17, 873-890).

    Args:
        first: a share.
        n: observations behind it; of clustered ones give the effective number.
        second: the other share.
        m: observations behind that.
        level: confidence level.

    Returns:
        Without interval where one of the two has fewer than five observations.

    Raises:
        UsageError: a level that is none.
    """
    if n <= 0 or m <= 0:
        return Difference(None, None, None, NEWCOMBE, NOTHING_SCORED)
    if min(n, m) < FEWEST_CLUSTERS:
        return Difference(first - second, None, None, NEWCOMBE, FEW_OBSERVATIONS)
    a, b = wilson(first, n, level=level), wilson(second, m, level=level)
    below = math.hypot(first - a[0], b[1] - second)
    above = math.hypot(a[1] - first, second - b[0])
    return Difference(first - second, first - second - below, first - second + above, NEWCOMBE)


def cohen_dz(differences: Sequence[float]) -> Estimate:
    """Cohen's d of paired values: the mean difference in its own standard deviations (n - 1 below).

    Cohen (1988, Statistical Power Analysis, 2nd ed., section 2.3.5); it grows with the correlation
    of the two, so it does not compare with d of independent groups (Lakens 2013,
    doi:10.3389/fpsyg.2013.00863).
    """
    n = len(differences)
    if n < 2:  # noqa: PLR2004  # a spread needs two values
        return Estimate(None, TOO_FEW)
    mean = math.fsum(differences) / n
    spread = math.sqrt(math.fsum((x - mean) ** 2 for x in differences) / (n - 1))
    if len(set(differences)) == 1 or spread == 0:
        return Estimate(None, ALL_EQUAL)
    return Estimate(mean / spread)


def hedges_correction(freedom: float) -> float:
    """What to multiply d by, so that small samples do not overstate it.

    ``gamma(f/2) / (sqrt(f/2) gamma((f - 1)/2))`` (Hedges 1981, doi:10.3102/10769986006002107).

    Args:
        freedom: n - 1 for paired values; 2 or more.
    """
    return math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2)) / math.sqrt(
        freedom / 2
    )


def cohen_h(first: float, second: float) -> float:
    """Cohen's h of two shares, ``2 asin(sqrt(p)) - 2 asin(sqrt(q))`` (1988, section 6.2).

    Equal steps of h are about equally hard to see, near 0.5 or near 1.
    """
    return 2 * math.asin(math.sqrt(first)) - 2 * math.asin(math.sqrt(second))


def discordant_odds(b: int, c: int) -> Estimate:
    """How many items only the first gets right for each that only the second does, ``b / c``.

    The conditional odds ratio of paired shares (Breslow and Day 1980, Statistical Methods in
    Cancer Research 1, section 5.2).
    """
    if c == 0:
        return Estimate(None, "no item that only the second gets right")
    return Estimate(b / c)
