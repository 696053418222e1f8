"""Proportions of the same items compared: exact and clustered tests, intervals, sizes of effects.

McNemar's test and Cochran's Q for models on the same items; Bonett and Price's interval of a paired
difference, Newcombe's of an unpaired one; Cohen's d and h.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import gt, lt
from types import MappingProxyType

from cimento.errors import UsageError, need_known
from cimento.statistics.design import (
    ALL_EQUAL,
    FEWEST_CLUSTERS,
    TOO_FEW,
    Design,
    Significance,
    Statistic,
    floats,
    same_length,
)
from cimento.statistics.intervals import (
    NOTHING_SCORED,
    Effective,
    effective,
    wilson,
    z_quantile,
)

MCNEMAR: Mapping[str, str] = MappingProxyType(
    {
        "exact": "McNemar, exact binomial",
        "mid-p": "McNemar, mid-p",
        "chi-square": "McNemar, chi-square",
        "chi-square-corrected": "McNemar, chi-square with continuity correction",
    }
)
COCHRAN = "Cochran's Q"
COCHRAN_CLUSTERED = "Cochran's Q, models exchanged within clusters"
NO_DISCORDANT = "no item on which the two differ"


def discordant(first: Sequence[bool], second: Sequence[bool]) -> tuple[int, int]:
    """The numbers of items that only the first gets right, and only the second.

    Raises:
        UsageError: the two are not equally long.
    """
    same_length(first=first, second=second)
    return sum(map(gt, first, second)), sum(map(lt, first, second))


def mcnemar(b: int, c: int, *, variant: str = "exact") -> Significance:
    """Test two proportions of the same items by McNemar's test.

    With n = b + c discordant items (McNemar 1947, doi:10.1007/BF02295996): ``exact`` is the
    two-sided binomial test of b in n at 1/2, ``mid-p`` takes from it the probability of b itself
    (Fagerland, Lydersen and Laake 2013, doi:10.1186/1471-2288-13-91), ``chi-square`` is ``(b - c)²
    / n``, and ``chi-square-corrected`` ``max(0, |b - c| - 1)² / n`` (Edwards 1948,
    doi:10.1007/BF02289261), both with one degree of freedom.

    Args:
        b: items that only the first gets right.
        c: items that only the second gets right.
        variant: ``exact``, ``mid-p``, ``chi-square`` or ``chi-square-corrected``.

    Returns:
        The smaller count or the chi-square, and p. Without discordant items p is 1 in the two
        binomial variants and undefined in the others.

    Raises:
        UsageError: an unknown variant or a negative count.

    Example:
        >>> round(mcnemar(9, 3).p, 3)
        0.146
    """
    need_known(variant, MCNEMAR, where="McNemar's test", seen=f"no variant is called {variant!r}")
    if min(b, c) < 0:
        raise UsageError(where="McNemar's test", seen=f"a negative count: {min(b, c)}")
    if variant in {"exact", "mid-p"}:
        return _binomial(b, c, variant)
    if b + c == 0:
        return Significance(None, None, MCNEMAR[variant], 1, NO_DISCORDANT)
    gap = abs(b - c) if variant == "chi-square" else max(0, abs(b - c) - 1)
    square = gap**2 / (b + c)
    # The upper tail of chi-square with one degree of freedom is that of a squared normal.
    return Significance(square, math.erfc(math.sqrt(square / 2)), MCNEMAR[variant], 1)


def _binomial(b: int, c: int, variant: str) -> Significance:
    from scipy import special

    least, n = min(b, c), b + c
    tail = float(special.bdtr(least, n, 0.5))
    if variant == "exact":
        p = min(1.0, 2 * tail)
    else:
        p = tail + (float(special.bdtr(least - 1, n, 0.5)) if least else 0.0)
    return Significance(float(least), p, MCNEMAR[variant])


def share_test(first: Sequence[bool], second: Sequence[bool], design: Design) -> Significance:
    """Test whether two proportions of the same items differ, such as the accuracies of two models.

    McNemar's exact test where items stand alone (McNemar 1947, doi:10.1007/BF02295996). Where they
    come in clusters, the test that the interval of `share_difference` inverts: the adjusted
    difference of Bonett and Price (2012, doi:10.3102/1076998611411915) at the effective number of
    items over its standard error, against the quantile that goes with that number; where every item
    differs the same way, p is at least that of the sign test over clusters. Either way p is 0.05 or
    less exactly where the 95% interval leaves out 0. docs/statistics.md has its level.

    Args:
        first: whether each item is right.
        second: verdicts of the second model on the same items.
        design: which of the items belong together.

    Returns:
        The test, two-sided; without p where there are fewer than five independent items, and with a
        p of 1 where no item differs.

    Raises:
        UsageError: columns of different lengths.

    Example:
        >>> first, second = [True] * 18 + [False] * 2, [True] * 12 + [False] * 8
        >>> round(share_test(first, second, Design.independent(20)).p, 4)
        0.0312
    """
    same_length(first=first, second=second, units=design.units)
    if design.shortage:
        method = shares_method(design) if design.clustered else MCNEMAR["exact"]
        return Significance(None, None, method, reason=design.shortage)
    if not design.clustered:
        return mcnemar(*discordant(first, second))
    adjusted = adjusted_difference(first, second, design)
    is_one_way = max(discordant(first, second)) == len(first)
    # No test of m clusters can find less than that all of them differ the same way by chance.
    least = (mcnemar(design.m, 0).p or 0.0) if is_one_way else 0.0
    return Significance(adjusted.statistic, max(adjusted.p, least), shares_method(design))


def cochran_q(
    table: Sequence[Sequence[bool]], design: Design, *, seed: int, draws: int = 9_999
) -> Significance:
    """Test by Cochran's Q whether k models are correct on equal proportions of the same items.

    ``Q = (k - 1) (k Σ C_j² - N²) / (k N - Σ R_i²)`` with column sums C, row sums R and total N,
    against chi-square with k - 1 degrees of freedom (Cochran 1950, doi:10.1093/biomet/37.3-4.256).
    Where items come in clusters, against the Q of tables whose models were exchanged at random
    within each cluster as a whole (permutation of exchangeable blocks: Winkler et al. 2015,
    doi:10.1016/j.neuroimage.2015.05.092). Over crossed clusters, within which no models can be
    exchanged, it is a Wald test with a cluster-robust covariance instead.

    Args:
        table: one row per item, one truth value a model.
        design: which of the items belong together.
        seed: seed of the permutations.
        draws: number of draws.

    Returns:
        Q and p, over crossed clusters F and p; no p if there are fewer than five independent items,
        or no models differ.

    Raises:
        UsageError: rows of different lengths, or fewer than two models.

    Example:
        >>> table = [[True, True, False]] * 6 + [[True, False, False]] * 4
        >>> round(cochran_q(table, Design.independent(10), seed=1).statistic, 3)
        15.2
    """
    from scipy import special

    same_length(table=table, units=design.units)
    if not table:
        return Significance(None, None, COCHRAN, reason="no items")
    k = _number_of_models(table)
    q = _q(table, k)
    if q is None:
        return Significance(None, None, COCHRAN, k - 1, "no item on which the models differ")
    method = COCHRAN_CLUSTERED if design.clustered else COCHRAN
    if design.shortage:
        return Significance(q, None, method, reason=design.shortage)
    if design.crossed:
        from cimento.statistics.equal_means import equal_means

        return equal_means(floats(table, name=COCHRAN), design)
    if not design.clustered:
        return Significance(q, float(special.chdtrc(k - 1, q)), method, k - 1)
    return Significance(q, _exchanged(table, design, seed, draws), method)


def _q(table: Sequence[Sequence[bool]], k: int) -> float | None:
    """Cochran's Q of k models; None if all rows are equal in all columns."""
    rows = [sum(map(bool, row)) for row in table]
    columns = [sum(map(bool, column)) for column in zip(*table, strict=True)]
    total = sum(rows)
    below = k * total - sum(row**2 for row in rows)
    squares = k * sum(column**2 for column in columns) - total**2
    return (k - 1) * squares / below if below else None


def _number_of_models(table: Sequence[Sequence[bool]]) -> int:
    """How many models every row has a value for; two or more.

    Raises:
        UsageError: rows of different lengths, or fewer than two models.
    """
    widths = {len(row) for row in table}
    if len(widths) > 1 or widths <= {0, 1}:
        raise UsageError(
            where=COCHRAN,
            seen=f"rows of {', '.join(map(str, sorted(widths)))} values",
            todo="Give each item one value for each of two or more models.",
        )
    return widths.pop()


def _exchanged(table: Sequence[Sequence[bool]], design: Design, seed: int, draws: int) -> float:
    """The proportion of tables, models exchanged within clusters, whose columns differ as much."""
    import numpy as np

    groups, m = design.codes()
    sums = np.zeros((m, len(table[0])))
    np.add.at(sums, groups, np.asarray(table, dtype=np.float64))
    # Q grows with the squares of the column sums alone: all else stays when models are exchanged.
    observed = float((sums.sum(axis=0) ** 2).sum())
    generator = np.random.default_rng(seed)
    extreme = sum(
        float((generator.permuted(sums, axis=1).sum(axis=0) ** 2).sum()) >= observed
        for _ in range(draws)
    )
    return (1 + extreme) / (1 + draws)


BONETT_PRICE = "Bonett-Price"
BONETT_PRICE_CLUSTERED = "Bonett-Price at the effective number of items"
BONETT_PRICE_CROSSED = "Bonett-Price at the effective number of items, crossed clusters"
NEWCOMBE = "Newcombe, hybrid score"
FEW_OBSERVATIONS = f"fewer than {FEWEST_CLUSTERS} observations on one side"


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two shares or means, first minus second, with its interval.

    Attributes:
        estimate: None where nothing was observed.
        low: lower end of the interval.
        high: upper end of the interval.
        method: method of the interval.
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
    """Compute the difference of two proportions of the same items, such as two accuracies.

    Bonett and Price (2012, doi:10.3102/1076998611411915): with b and c discordant items of n,
    ``p = (b + 1) / (n + 2)``, ``q = (c + 1) / (n + 2)``, ``p - q ± z sqrt((p + q - (p - q)²) /
    (n + 2))``; 0 is in it too where McNemar's exact test does not reject it, so that interval and
    test agree. Where items come in clusters, n, b and c are brought to the effective number of
    items of the differences, z to the quantile that goes with it, and `share_test` inverts
    this interval.

    Args:
        first: whether each item is right.
        second: verdicts of the second model on the same items.
        design: which of the items belong together.
        level: confidence level.

    Returns:
        The difference, first minus second, and its interval; a reason in place of the ends where
        there are fewer than five independent items or clusters.

    Raises:
        UsageError: columns of different lengths, or an invalid level.

    Example:
        >>> first, second = [True] * 18 + [False] * 2, [True] * 12 + [False] * 8
        >>> difference = share_difference(first, second, Design.independent(20))
        >>> round(difference.estimate, 3), round(difference.low, 3), round(difference.high, 3)
        (0.3, 0.048, 0.497)
    """
    n = same_length(first=first, second=second, units=design.units)
    z_quantile(level)  # refuses an invalid level
    method = shares_method(design)
    b, c = discordant(first, second)
    if n == 0 or design.shortage:
        return Difference((b - c) / n if n else None, None, None, method, design.shortage)
    adjusted = adjusted_difference(first, second, design)
    half = adjusted.effective.quantile(level) * adjusted.error
    # Where nearly all items are discordant the adjusted center may leave the estimate outside;
    # and of single items, McNemar's exact test decides on 0.
    keeps_0 = not design.clustered and (mcnemar(b, c).p or 0) > 1 - level
    within = ((b - c) / n, *([0.0] if keeps_0 else []))
    low = max(-1.0, min(*within, adjusted.center - half))
    high = min(1.0, max(*within, adjusted.center + half))
    return Difference((b - c) / n, low, high, method)


def shares_method(design: Design) -> str:
    """The name of the interval of a difference of two shares over a design."""
    if design.crossed:
        return BONETT_PRICE_CROSSED
    return BONETT_PRICE_CLUSTERED if design.clustered else BONETT_PRICE


@dataclass(frozen=True, slots=True)
class AdjustedDifference:
    """The difference of two shares as Bonett and Price adjust it.

    Attributes:
        center: the adjusted difference.
        error: its standard error.
        effective: how much the items tell.
    """

    center: float
    error: float
    effective: Effective

    @property
    def statistic(self) -> float:
        """The difference in standard errors."""
        return self.center / self.error

    @property
    def p(self) -> float:
        """Two-sided, of equal shares."""
        return self.effective.p(self.statistic)


def adjusted_difference(
    first: Sequence[bool], second: Sequence[bool], design: Design
) -> AdjustedDifference:
    """The difference of two shares as Bonett and Price adjust it, at the effective number of items.

    Args:
        first: whether each item is right; one or more.
        second: of the same items.
        design: of the items.
    """
    gaps = [float(a) - float(z) for a, z in zip(first, second, strict=True)]
    b, c = discordant(first, second)
    told = effective(gaps, design, of_differences=True)
    return AdjustedDifference(*bonett_price(b / len(gaps), c / len(gaps), told.number), told)


def bonett_price(b: float, c: float, n: float) -> tuple[float, float]:
    """The adjusted difference of two proportions of the same items, and its standard error.

    Args:
        b: proportion of the items that only the first gets right.
        c: proportion of those that only the second does.
        n: items; of clustered ones the effective number.
    """
    p, q = (b * n + 1) / (n + 2), (c * n + 1) / (n + 2)
    return p - q, math.sqrt((p + q - (p - q) ** 2) / (n + 2))


def unpaired_share_difference(
    first: float, n: float, second: float, m: float, *, level: float = 0.95
) -> Difference:
    """Compute the difference of two proportions of different items, with Newcombe's interval.

    Newcombe's hybrid of two Wilson intervals: method 10 of Newcombe (1998, Statistics in Medicine
    17, 873-890).

    Args:
        first: first share, from 0 to 1.
        n: number of observations of the first share; for clustered ones give the effective number.
        second: the other share.
        m: number of observations of the second share.
        level: confidence level.

    Returns:
        The difference, first minus second, from -1 to 1, and its interval; without interval where
        one of the two has fewer than five observations.

    Raises:
        UsageError: an invalid level.

    Example:
        >>> difference = unpaired_share_difference(56 / 70, 70, 48 / 80, 80)
        >>> round(difference.low, 4), round(difference.high, 4)
        (0.0524, 0.3339)
    """
    if n <= 0 or m <= 0:
        return Difference(None, None, None, NEWCOMBE, NOTHING_SCORED)
    if min(n, m) < FEWEST_CLUSTERS:
        return Difference(first - second, None, None, NEWCOMBE, FEW_OBSERVATIONS)
    a, b = wilson(first, n, level=level), wilson(second, m, level=level)
    below = math.hypot(first - a[0], b[1] - second)
    above = math.hypot(a[1] - first, second - b[0])
    return Difference(first - second, first - second - below, first - second + above, NEWCOMBE)


def cohen_dz(differences: Sequence[float]) -> Statistic:
    """Cohen's d of paired values: the mean difference in its own standard deviations (n - 1 below).

    Cohen (1988, Statistical Power Analysis, 2nd ed., section 2.3.5); it grows with the correlation
    of the two, so it does not compare with d of independent groups (Lakens 2013,
    doi:10.3389/fpsyg.2013.00863).
    """
    n = len(differences)
    if n < 2:  # noqa: PLR2004  # a spread needs two values
        return Statistic(None, TOO_FEW)
    mean = math.fsum(differences) / n
    spread = math.sqrt(math.fsum((x - mean) ** 2 for x in differences) / (n - 1))
    if len(set(differences)) == 1 or spread == 0:
        return Statistic(None, ALL_EQUAL)
    return Statistic(mean / spread)


def hedges_correction(freedom: float) -> float:
    """The factor for d that corrects its bias in small samples.

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


def discordant_odds(b: int, c: int) -> Statistic:
    """The odds of discordant items, ``b / c``: those only the first gets right over the others.

    The conditional odds ratio of paired shares (Breslow and Day 1980, Statistical Methods in
    Cancer Research 1, section 5.2).
    """
    if c == 0:
        return Statistic(None, "no item that only the second gets right")
    return Statistic(b / c)
