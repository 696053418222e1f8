"""What a suite of this size can show: equivalence, power, smallest effects."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeVar

from cimento.errors import UsageError
from cimento.statistics.intervals import wilson
from cimento.statistics.paired import mcnemar
from cimento.statistics.values import ALL_EQUAL, NO_OBSERVATIONS, TOO_FEW, floats

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

Data = TypeVar("Data")

TOST_T = "two one-sided t tests"
TOST_SHARES = "two one-sided tests, Bonett-Price"


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether a difference is too small to matter.

    Attributes:
        estimate: the difference; None where it is undefined.
        p: the larger of the two one-sided p-values; below alpha, the difference is between the
            margins.
        low: lower end of the interval of level 1 - 2 alpha.
        high: upper end; p is below alpha exactly where the interval is within the margins.
        equivalent: p is below alpha; None where undefined.
        method: the test.
        reason: why there is none.
    """

    estimate: float | None
    p: float | None
    low: float | None
    high: float | None
    equivalent: bool | None
    method: str
    reason: str | None = None


def tost(differences: ArrayLike, *, margin: float, alpha: float = 0.05) -> Equivalence:
    """Whether a mean difference lies between -margin and margin, by two one-sided t tests.

    Schuirmann (1987, doi:10.1007/BF01068419): ``t = (m ± margin) / (sd / sqrt(n))``.

    Args:
        differences: of paired values, one an item.
        margin: the smallest difference that would matter, in the unit of the differences.
        alpha: the level.

    Raises:
        UsageError: a margin that is not above 0, or an alpha that is none.
    """
    from scipy import special

    _check(margin, alpha)
    values = floats(differences, name="differences")
    n = values.size
    spread = float(values.std(ddof=1)) if n > 1 and (values != values[0]).any() else 0.0
    if spread == 0:
        estimate = float(values.mean()) if n else None
        reason = ALL_EQUAL if n > 1 else TOO_FEW
        return Equivalence(estimate, None, None, None, None, TOST_T, reason)
    mean, se = float(values.mean()), spread / math.sqrt(n)
    # The larger p belongs to the margin that is nearer.
    p = float(special.stdtr(n - 1, (abs(mean) - margin) / se))
    half = float(special.stdtrit(n - 1, 1 - alpha)) * se
    return Equivalence(mean, p, mean - half, mean + half, p < alpha, TOST_T)


def tost_shares(b: int, c: int, n: int, *, margin: float, alpha: float = 0.05) -> Equivalence:
    """Whether two shares of the same items differ by less than a margin.

    Two one-sided normal tests with the adjusted shares and standard error of Bonett and Price
    (2012, doi:10.3102/1076998611411915), so that the test agrees with
    `differences.share_difference` at the level 1 - 2 alpha.

    Args:
        b: items that only the first gets right.
        c: items that only the second gets right.
        n: all items.
        margin: the smallest difference of shares that would matter.
        alpha: the level.

    Raises:
        UsageError: a margin that is not above 0, an alpha that is none, or impossible counts.
    """
    _check(margin, alpha)
    if min(b, c) < 0 or b + c > n:
        raise UsageError(where=TOST_SHARES, seen=f"{b} and {c} discordant items of {n}")
    if n == 0:
        return Equivalence(None, None, None, None, None, TOST_SHARES, NO_OBSERVATIONS)
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    se = math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    larger = NormalDist().cdf((abs(p - q) - margin) / se)
    half = NormalDist().inv_cdf(1 - alpha) * se
    return Equivalence((b - c) / n, larger, p - q - half, p - q + half, larger < alpha, TOST_SHARES)


def _check(margin: float, alpha: float) -> None:
    if not margin > 0 or not 0 < alpha < 0.5:  # noqa: PLR2004  # both tails together are under 1
        raise UsageError(
            where="equivalence test",
            seen=f"margin {margin}, alpha {alpha}",
            todo="The margin is above 0, alpha mostly 0.05.",
        )


def detectable_difference(
    n: float, *, discordant: float, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """The smallest difference of two shares of the same items that a test would find.

    The difference at which McNemar's chi-square test has the power asked for:
    ``n d² = (z[1-alpha/2] sqrt(f) + z[power] sqrt(f - d²))²`` with f the share of discordant items
    (Connor 1987, doi:10.2307/2531961), solved for d.

    Args:
        n: items; of clustered ones their effective number.
        discordant: the share of items on which the two models are expected to differ.
        power: the chance to find the difference.
        alpha: level of the two-sided test.

    Returns:
        The difference; None where even the largest possible one, `discordant`, is not found.

    Raises:
        UsageError: numbers out of their ranges.
    """
    z, y = _quantiles(n, power, alpha)
    if not 0 < discordant <= 1:
        raise UsageError(
            where="smallest difference",
            seen=f"a share of discordant items of {discordant}",
            todo="Give a share above 0 and up to 1.",
        )

    def missing(d: float) -> float:
        return z * math.sqrt(discordant) + y * math.sqrt(discordant - d * d) - d * math.sqrt(n)

    # A difference cannot exceed the share of discordant items.
    return _bisect(missing, discordant) if missing(discordant) < 0 else None


def detectable_mean(n: int, *, sd: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest mean difference that the paired t test would find, from the noncentral t.

    Args:
        n: items.
        sd: standard deviation of the differences.
        power: the chance to find the difference.
        alpha: level of the two-sided test.

    Raises:
        UsageError: numbers out of their ranges.
    """
    from scipy import stats

    _quantiles(n, power, alpha)
    if not sd > 0 or n < 2:  # noqa: PLR2004  # a t test needs two values
        raise UsageError(where="smallest difference", seen=f"sd {sd}, {n} items")
    limit = float(stats.t.ppf(1 - alpha / 2, n - 1))

    def missing(d: float) -> float:
        # The other tail adds to the power what no one would call a finding; it is next to nothing.
        return power - float(stats.nct.sf(limit, n - 1, d * math.sqrt(n)))

    return _bisect(missing, 100.0) * sd


def _quantiles(n: float, power: float, alpha: float) -> tuple[float, float]:
    if n < 1 or not 0 < alpha < 1 or not alpha < power < 1:
        raise UsageError(
            where="power",
            seen=f"{n} items, power {power}, alpha {alpha}",
            todo="Power lies between alpha and 1; 0.8 is usual.",
        )
    return NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)


def _bisect(missing: Callable[[float], float], high: float) -> float:
    """Where a falling function crosses zero between 0 and `high`."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if missing(middle) > 0 else (low, middle)
    return high


def mcnemar_power(
    n: int, *, only_first: float, only_second: float, alpha: float = 0.05, variant: str = "exact"
) -> float:
    """The power of McNemar's test, by adding up all outcomes.

    Args:
        n: items.
        only_first: the chance that only the first model gets an item right.
        only_second: the chance that only the second does.
        alpha: level.
        variant: of the test, as in `paired.mcnemar`.

    Raises:
        UsageError: chances that are none.
    """
    from scipy import stats

    share = only_first + only_second
    if min(only_first, only_second) < 0 or not 0 < share <= 1:
        raise UsageError(
            where="power of McNemar's test",
            seen=f"chances {only_first} and {only_second}",
            todo="Give two chances whose sum is above 0 and up to 1.",
        )
    found = 0.0
    for discordant, chance in enumerate(stats.binom.pmf(range(n + 1), n, share)):
        if chance < _NEGLIGIBLE:
            continue
        # The test rejects from some smaller count downwards, on either side.
        rejected = _rejected(discordant, alpha, variant)
        tails = stats.binom.cdf(rejected, discordant, only_first / share)
        tails += stats.binom.sf(discordant - rejected - 1, discordant, only_first / share)
        found += float(chance * tails)
    return found


_NEGLIGIBLE = 1e-12


def _rejected(discordant: int, alpha: float, variant: str) -> int:
    """The largest smaller count at which McNemar's test rejects; -1 where it never does."""
    low, high = -1, discordant // 2
    while low < high:
        middle = (low + high + 1) // 2
        p = mcnemar(middle, discordant - middle, variant=variant).p
        low, high = (middle, high) if p is not None and p <= alpha else (low, middle - 1)
    return low


@dataclass(frozen=True, slots=True)
class Power:
    """The share of simulated data sets in which a test was significant.

    Attributes:
        power: that share; under the null hypothesis, the test's true level.
        low: lower end of its 95 % Wilson interval.
        high: upper end.
        trials: simulated data sets.
        undefined: of those, how many gave no p, which count as not significant.
    """

    power: float
    low: float
    high: float
    trials: int
    undefined: int


def simulated_power(
    draw: Callable[[np.random.Generator], Data],
    test: Callable[[Data], float | None],
    *,
    seed: int,
    trials: int = 1000,
    alpha: float = 0.05,
) -> Power:
    """How often a test finds what is put into simulated data.

    Args:
        draw: makes one data set from a generator of random numbers.
        test: gives p of a data set, or None.
        seed: of the generator.
        trials: how many data sets.
        alpha: level.

    Raises:
        UsageError: no trials.
    """
    import numpy as np

    if trials < 1:
        raise UsageError(where="simulated power", seen=f"{trials} trials", todo="Ask for 1,000.")
    generator = np.random.default_rng(seed)
    found = [test(draw(generator)) for _ in range(trials)]
    share = sum(p is not None and p <= alpha for p in found) / trials
    return Power(share, *wilson(share, trials), trials, sum(p is None for p in found))
