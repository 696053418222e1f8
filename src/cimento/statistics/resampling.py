"""The bootstrap: intervals of any statistic, by drawing rows or whole clusters again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.statistics.design import Design
from cimento.statistics.values import Estimate, floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats, Integers

Statistic = Callable[["Floats"], float | None]

METHODS: Mapping[str, str] = MappingProxyType(
    {"percentile": "bootstrap, percentile", "bca": "bootstrap, BCa"}
)
DRAWS = 10_000
_MOST_UNDEFINED = 0.05


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A statistic with its bootstrap interval.

    Attributes:
        estimate: of the sample; None where it is undefined.
        low: lower end; None where there is no interval.
        high: upper end.
        se: standard deviation of the draws (n - 1 below).
        method: what was drawn and how the ends were chosen.
        draws: how many draws the interval rests on.
        undefined: how many more draws gave no value and were left out.
        reason: why there is no interval.
    """

    estimate: float | None
    low: float | None
    high: float | None
    se: float | None
    method: str
    draws: int = 0
    undefined: int = 0
    reason: str | None = None


def bootstrap(
    rows: ArrayLike,
    statistic: Statistic,
    design: Design,
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = 0.95,
    method: str = "bca",
) -> Bootstrap:
    """The bootstrap interval of any statistic of the rows (Efron and Tibshirani 1993).

    Rows, or whole clusters, are drawn with replacement. ``percentile`` takes quantiles of the draws
    (chapter 13); ``bca`` corrects them for bias and acceleration (chapter 14; Efron 1987,
    doi:10.1080/01621459.1987.10478410). Shares, means and coefficients between -1 and 1 have
    intervals that cover better in small samples: `share_interval`, `mean_of`, `jackknife`.

    Args:
        rows: one an observation; for tables that are no arrays give their row numbers.
        statistic: of an array of rows, NaN or None where it is undefined.
        design: of the rows.
        seed: of the draws.
        draws: how many.
        level: confidence level.
        method: ``percentile`` or ``bca``.

    Returns:
        A reason in place of ends where the sample is too small, all draws are equal, or the
        statistic is undefined in the sample or in more than one draw of twenty.

    Raises:
        UsageError: an unknown method, no draws, or columns of different lengths.
    """
    import numpy as np

    array = floats(rows, name="rows")
    name = _name(method, design.clustered, draws, level)
    groups, m = design.codes()
    same_length(rows=array, units=design.units)
    estimate = _value(statistic(array)) if len(array) else None
    reason = design.shortage or (None if estimate is not None else "undefined in the sample")
    if reason or estimate is None:
        return Bootstrap(estimate, None, None, None, name, reason=reason)
    members = [np.flatnonzero(groups == each) for each in range(m)]

    def left_out() -> Floats:
        return _values(statistic(np.delete(array, each, axis=0)) for each in members)

    values = _drawn(array, statistic, members, draws, seed)
    return _interval(estimate, values, draws, level, name, method, left_out)


def _drawn(
    array: Floats, statistic: Statistic, members: Sequence[Integers], draws: int, seed: int
) -> Floats:
    """The statistic of each draw, without those in which it is undefined."""
    import numpy as np

    generator, m = np.random.default_rng(seed), len(members)
    picks = (generator.integers(0, m, m) for _ in range(draws))
    rows = (array[np.concatenate([members[each] for each in picked])] for picked in picks)
    return _values(statistic(each) for each in rows)


def _name(method: str, clustered: bool, draws: int, level: float) -> str:  # noqa: FBT001  # private
    if method not in METHODS:
        raise UsageError(
            where="bootstrap",
            seen=f"no method is called {method!r}",
            todo=did_you_mean(method, METHODS),
        )
    if draws < 1 or not 0 < level < 1:
        raise UsageError(
            where="bootstrap",
            seen=f"{draws} draws at level {level}",
            todo="Ask for 1,000 draws or more and a level between 0 and 1.",
        )
    return ("cluster " if clustered else "") + METHODS[method]


def _values(found: Iterable[float | None]) -> Floats:
    """Those that are defined."""
    import numpy as np

    return np.array([value for value in map(_value, found) if value is not None])


def _value(found: float | None) -> float | None:
    """The statistic as a number, None where it is NaN."""
    return None if found is None or found != found else float(found)  # noqa: PLR0124  # NaN only


def _interval(
    estimate: float,
    values: Floats,
    draws: int,
    level: float,
    name: str,
    method: str,
    left_out: Callable[[], Floats],
) -> Bootstrap:
    """The interval from the draws that gave a value."""
    import numpy as np

    undefined = draws - values.size
    nothing = Bootstrap(estimate, None, None, None, name, values.size, undefined)
    if undefined > _MOST_UNDEFINED * draws:
        return _because(nothing, f"undefined in {undefined} of {draws} draws")
    if (values == values[0]).all():
        return _because(nothing, "all draws are equal")
    tails = ((1 - level) / 2, (1 + level) / 2)
    if method == "bca":
        corrected = _bca(estimate, values, left_out(), tails)
        if isinstance(corrected, Estimate):
            return _because(nothing, str(corrected.reason))
        tails = corrected
    low, high = np.quantile(values, tails)
    if low == high:
        return _because(nothing, "all draws between the two ends are equal")
    se = float(values.std(ddof=1))
    return Bootstrap(estimate, float(low), float(high), se, name, values.size, undefined)


def _because(nothing: Bootstrap, reason: str) -> Bootstrap:
    import dataclasses

    return dataclasses.replace(nothing, reason=reason)


def _bca(
    estimate: float, values: Floats, left_out: Floats, tails: tuple[float, float]
) -> tuple[float, float] | Estimate:
    """The two quantiles that BCa takes instead, or why there are none."""
    from scipy import special

    # Draws equal to the estimate count as half: discrete statistics have many.
    below = float(((values < estimate).mean() + (values <= estimate).mean()) / 2)
    if not 0 < below < 1:
        return Estimate(None, "all draws lie on one side of the estimate")
    deviations = left_out.mean() - left_out
    squares = float((deviations**2).sum())
    if squares == 0:
        return Estimate(None, "no row or cluster matters to the statistic")
    acceleration = float((deviations**3).sum()) / (6 * squares**1.5)
    bias = float(special.ndtri(below))
    z = [bias + float(special.ndtri(tail)) for tail in tails]
    low, high = (float(special.ndtr(bias + each / (1 - acceleration * each))) for each in z)
    return low, high
