"""The bootstrap of any statistic: rows are drawn, and whole clusters where rows belong together.

Of crossed clusters the levels of each factor are drawn, and a row comes as often as the product of
their numbers says: the pigeonhole bootstrap (Owen 2007, doi:10.1214/07-AOAS122; with other weights
Owen and Eckles 2012, doi:10.1214/12-AOAS547). It overstates the variance of what no factor explains
up to threefold, so that intervals are too wide where neither factor matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from cimento.errors import UsageError, need_known
from cimento.statistics.design import (
    ArrayLike,
    Design,
    Floats,
    Integers,
    Statistic,
    draws_at_once,
    floats,
    same_length,
)

RowStatistic: TypeAlias = "Callable[[Floats], float | None]"
"""A function from rows of numbers to one number; None where it is undefined."""

METHODS: Mapping[str, str] = MappingProxyType(
    {"percentile": "bootstrap, percentile", "bca": "bootstrap, BCa"}
)
DRAWS = 10_000
_MOST_UNDEFINED = 0.05
_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A statistic with its bootstrap interval.

    Attributes:
        estimate: estimate of the sample; None where it is undefined.
        low: lower end of the interval; None where there is no interval.
        high: upper end of the interval.
        se: standard deviation of the draws (n - 1 below).
        method: what was drawn and how the ends were chosen.
        draws: number of draws that the interval rests on.
        undefined: number of further draws without a value, which were left out.
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


PIGEONHOLE = "pigeonhole bootstrap of crossed clusters, percentile"


def bootstrap(
    rows: ArrayLike,
    statistic: RowStatistic,
    design: Design,
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = 0.95,
    method: str = "bca",
    several: Callable[[Floats], Floats] | None = None,
) -> Bootstrap:
    """Compute the bootstrap interval of any statistic of the rows.

    Rows, or whole clusters, are drawn with replacement. ``percentile`` takes quantiles of the draws
    (Efron and Tibshirani 1993, chapter 13); ``bca`` corrects them for bias and acceleration (Efron
    1987, doi:10.1080/01621459.1987.10478410). `share_interval` and `mean_of` suit small samples.
    Crossed clusters: quantiles of the pigeonhole bootstrap (Owen 2007, doi:10.1214/07-AOAS122).

    Args:
        rows: one per observation; of a table that is not an array, its row numbers.
        statistic: function of an array of rows, NaN or None where it is undefined.
        design: which of the rows belong together.
        seed: seed of the draws.
        draws: number of draws.
        level: confidence level.
        method: ``percentile`` or ``bca``.
        several: `statistic` for an array of draws, one per line, of equally many rows; faster.

    Returns:
        The statistic and its interval, or a reason: too small a sample, equal draws, or undefined
        in the sample or in more than one draw of twenty.

    Raises:
        UsageError: an unknown method, no draws, or columns of different lengths.

    Example:
        >>> made = bootstrap(range(1, 9), lambda x: x.mean(), Design.independent(8), seed=1)
        >>> made.estimate, made.low < 4.5 < made.high
        (4.5, True)
    """
    array, name = floats(rows, name="rows"), _name(method, design, draws, level)
    same_length(rows=array, units=design.units)
    estimate = _value(statistic(array)) if len(array) else None
    reason = design.shortage or _if_none(estimate)
    if reason or estimate is None:
        return Bootstrap(estimate, None, None, None, name, reason=reason)
    drawn = (_drawn_crossed if design.crossed else _drawn_by_cluster)(array, design, draws, seed)
    values = _of_draws(drawn, statistic, several)
    left_out = partial(_left_out, array, design, statistic) if name.endswith("BCa") else None
    return _interval(estimate, values, draws, level, name, left_out)


def _members(design: Design) -> list[Integers]:
    """The rows of each cluster."""
    groups, m = design.codes()
    return [np.flatnonzero(groups == group) for group in range(m)]


def _left_out(array: Floats, design: Design, statistic: RowStatistic) -> Floats:
    """The statistic without each cluster."""
    return _values(statistic(np.delete(array, rows, axis=0)) for rows in _members(design))


def _if_none(estimate: float | None) -> str | None:
    return "undefined in the sample" if estimate is None else None


def _drawn_by_cluster(
    array: Floats, design: Design, draws: int, seed: int
) -> Iterator[list[Floats]]:
    """The rows of each draw of whole clusters, some draws at a time."""
    members = _members(design)
    generator, m = np.random.default_rng(seed), len(members)
    step = draws_at_once(len(array), most=_CHUNK)
    for done in range(0, draws, step):
        yield _drawn(array, members, generator.integers(0, m, (min(step, draws - done), m)))


def _drawn_crossed(array: Floats, design: Design, draws: int, seed: int) -> Iterator[list[Floats]]:
    """The rows of each draw of the levels of crossed factors; a draw may be without rows."""
    generator = np.random.default_rng(seed)
    factors = [factor.codes() for factor in design.factors()]
    for _ in range(draws):
        times = np.ones(len(array), dtype=np.int64)
        for groups, m in factors:
            times *= np.bincount(generator.integers(0, m, m), minlength=m)[groups]
        yield [np.repeat(array, times, axis=0)]


def _of_draws(
    parts: Iterable[list[Floats]],
    statistic: RowStatistic,
    several: Callable[[Floats], Floats] | None,
) -> Floats:
    """The statistic of each draw, without those in which it is undefined."""
    if several is None:
        return _values(statistic(draw) for part in parts for draw in part if len(draw))
    values: Floats = np.concatenate([_at_once(part, several) for part in parts])
    defined: Floats = values[~np.isnan(values)]
    return defined


def _drawn(array: Floats, members: Sequence[Integers], picks: Integers) -> list[Floats]:
    """The rows of each draw.

    Args:
        array: the rows of the sample.
        members: of each cluster, the numbers of its rows.
        picks: the clusters of each draw, one draw a line.
    """
    sizes = np.array([rows.size for rows in members])
    starts = sizes.cumsum() - sizes
    drawn = sizes[picks]
    ends = drawn.cumsum()
    # The rows of the sample by cluster; from the place in the draws to that in them.
    moves = np.repeat(starts[picks].ravel() - ends + drawn.ravel(), drawn.ravel())
    rows = array[np.concatenate(members)[np.arange(ends[-1]) + moves]]
    return np.split(rows, drawn.sum(axis=1).cumsum()[:-1])


def _at_once(draws: Sequence[Floats], several: Callable[[Floats], Floats]) -> Floats:
    """The statistic of each draw, computed for all draws of one length together."""
    lengths, values = np.array([len(draw) for draw in draws]), np.full(len(draws), np.nan)
    for length in np.unique(lengths[lengths > 0]):
        places = np.flatnonzero(lengths == length).tolist()
        values[places] = several(np.stack([draws[place] for place in places]))
    return values


def _name(method: str, design: Design, draws: int, level: float) -> str:
    need_known(method, METHODS, where="bootstrap", seen=f"no method is called {method!r}")
    if draws < 1 or not 0 < level < 1:
        raise UsageError(
            where="bootstrap",
            seen=f"{draws} draws at level {level}",
            todo="Ask for 1,000 draws or more and a level between 0 and 1.",
        )
    if design.crossed:
        return PIGEONHOLE
    return ("cluster " if design.clustered else "") + METHODS[method]


def _values(statistics: Iterable[float | None]) -> Floats:
    """The statistics that are defined."""
    return np.array([value for value in map(_value, statistics) if value is not None])


def _value(statistic: float | None) -> float | None:
    """The statistic as a number, None where it is NaN."""
    return None if statistic is None or math.isnan(statistic) else float(statistic)


def _interval(
    estimate: float,
    values: Floats,
    draws: int,
    level: float,
    name: str,
    left_out: Callable[[], Floats] | None,
) -> Bootstrap:
    """The interval from the draws that gave a value, corrected if `left_out` is there."""
    undefined = draws - values.size
    nothing = Bootstrap(estimate, None, None, None, name, values.size, undefined)
    if undefined > _MOST_UNDEFINED * draws:
        return replace(nothing, reason=f"undefined in {undefined} of {draws} draws")
    if (values == values[0]).all():
        return replace(nothing, reason="all draws are equal")
    tails = ((1 - level) / 2, (1 + level) / 2)
    if left_out is not None:
        corrected = _bca(estimate, values, left_out(), tails)
        if isinstance(corrected, Statistic):
            return replace(nothing, reason=corrected.reason)
        tails = corrected
    low, high = np.quantile(values, tails)
    if low == high:
        return replace(nothing, reason="all draws between the two ends are equal")
    se = float(values.std(ddof=1))
    return Bootstrap(estimate, float(low), float(high), se, name, values.size, undefined)


def _bca(
    estimate: float, values: Floats, left_out: Floats, tails: tuple[float, float]
) -> tuple[float, float] | Statistic:
    """The two corrected quantiles of BCa, or the reason why there are none."""
    from scipy import special

    # Draws equal to the estimate count as half: discrete statistics have many.
    below = float(((values < estimate).mean() + (values <= estimate).mean()) / 2)
    if not 0 < below < 1:
        return Statistic(None, "all draws lie on one side of the estimate")
    if not left_out.size:
        return Statistic(None, "undefined without any one row or cluster")
    deviations = left_out.mean() - left_out
    squares = float((deviations**2).sum())
    if squares == 0:
        return Statistic(None, "no row or cluster matters to the statistic")
    acceleration = float((deviations**3).sum()) / (6 * squares**1.5)
    bias = float(special.ndtri(below))
    z = [bias + float(special.ndtri(tail)) for tail in tails]
    low, high = (float(special.ndtr(bias + end / (1 - acceleration * end))) for end in z)
    return low, high
