"""Agreement among people: alpha, kappas, intraclass correlations, and each person with the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from cimento.errors import UsageError, need_known
from cimento.statistics.correlation import Correlation, coefficient
from cimento.statistics.design import (
    ArrayLike,
    Design,
    Floats,
    Statistic,
    codes,
    floats,
    same_length,
)
from cimento.statistics.draws import (
    Weighted,
    cohen,
    fleiss,
    interval_alpha,
    jackknife,
    nominal_alpha,
    ordinal_alpha,
)
from cimento.statistics.intervals import Interval
from cimento.statistics.raters import (
    FOR_OTHERS,
    PeoplesRatings,
    alpha_of_ratings,
    fleiss_of_ratings,
)

Label: TypeAlias = "Hashable"
"""An annotator's label of a unit."""
MEASUREMENT_SCALES = ("nominal", "ordinal", "interval")
WEIGHTS: Mapping[str, int] = MappingProxyType({"none": 0, "linear": 1, "quadratic": 2})
NO_PAIR = "no item has two ratings"
NO_VARIATION = "all ratings are equal"
SINGLE_ITEM = "one item says nothing of agreement by chance"


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient of agreement, with an interval where a design was given.

    Attributes:
        value: 1 where all agree, 0 for agreement by chance; None where undefined.
        items: number of items that have two ratings or more.
        ratings: number of ratings of those items.
        coefficient: name of the coefficient.
        low: lower end of the interval; None where there is none.
        high: upper end of the interval.
        method: method of the interval.
        reason: why the coefficient or its interval is missing.
    """

    value: float | None
    items: int
    ratings: int
    coefficient: str
    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: str | None = None


def krippendorff_alpha(
    ratings: Sequence[Sequence[Label | None]],
    *,
    scale: str = "nominal",
    design: Design | None = None,
    level: float = 0.95,
) -> Agreement:
    """Compute Krippendorff's alpha, for any number of raters and with ratings missing.

    ``1 - D_o / D_e``: the mean squared difference of two ratings of one item over that of any two
    ratings (Krippendorff 2019, Content Analysis, 4th ed., chapter 12). Differences are 0 and 1
    (nominal), of the numbers (interval), or of the ranks that the ratings themselves give to the
    values (ordinal). The interval is the jackknife's on Fisher's z, leaving out one item or
    cluster at a time: for other items and these people; that of `alpha_for_others` is for others.

    Args:
        ratings: ratings of each item, in any order; None for a missing one. Items with fewer than
            two count for nothing. Numbers, unless the scale is nominal.
        scale: ``nominal``, ``ordinal`` or ``interval``.
        design: which of the items belong together; no interval without it.
        level: confidence level.

    Returns:
        The coefficient, at most 1, and its interval if a design is given. Without a value, and with
        a reason, where fewer than two items have two ratings or all ratings are equal.

    Raises:
        UsageError: an unknown scale, or ratings that are not numbers where numbers are needed.

    Example:
        >>> round(krippendorff_alpha([list("aa"), list("bb"), list("ab"), list("bb")]).value, 3)
        0.533
    """
    need_known(
        scale,
        MEASUREMENT_SCALES,
        where="Krippendorff's alpha",
        seen=f"no scale is called {scale!r}",
    )
    name = f"Krippendorff's alpha, {scale}"
    paired = _pairable(ratings)
    if scale == "interval":
        statistic = interval_alpha(_moments(paired))
    elif scale == "ordinal":
        statistic = ordinal_alpha(_counts(paired, ordered=True))
    else:
        statistic = nominal_alpha(_counts(paired, ordered=False))
    return _agreement(name, ratings, statistic, design, level, curved=True)


def alpha_for_others(
    ratings: Sequence[Sequence[Label | None]],
    people: Sequence[Sequence[Hashable | None]],
    *,
    design: Design,
    scale: str = "nominal",
    level: float = 0.95,
) -> Interval:
    """Compute the interval of Krippendorff's alpha for other people and other items like these.

    The variance is that over items, and that over people, less that over single ratings, each by
    the jackknife on Fisher's scale; degrees of freedom are those of the smaller factor (Cameron,
    Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136).

    Args:
        ratings: ratings of each item, in any order; None for a missing one.
        people: who gave each rating, in the same form.
        design: which of the items belong together.
        scale: ``nominal``, ``ordinal`` or ``interval``.
        level: confidence level.

    Returns:
        The interval, both ends at most 1, or the reason why there is none: people who are not
        known, fewer than five people or items, or alpha or its interval for them is undefined.

    Raises:
        UsageError: as of `krippendorff_alpha`.

    Example:
        >>> ratings = [[1, 2, 1, 2, 1], [3, 3, 2, 4, 2], [2, 3, 4, 3, 5], [5, 4, 5, 4, 3],
        ...            [1, 1, 2, 3, 2], [4, 5, 4, 3, 5]]
        >>> people, items = [list("uvwxy")] * 6, Design.independent(6)
        >>> one = alpha_for_others(ratings, people, scale="interval", design=items)
        >>> round(one.low, 2), round(one.high, 2)
        (0.06, 0.91)
    """
    alpha = krippendorff_alpha(ratings, scale=scale)
    if alpha.value is None or (rare := _rare(_pairable(ratings), "ratings")):
        return Interval(None, None, FOR_OTHERS, alpha.reason if alpha.value is None else rare)
    each = PeoplesRatings.of(ratings, people, design, fewest=2)
    statistic = alpha_of_ratings(each, scale=scale)
    return each.interval(statistic, alpha.value, level=level, ratings=each.of_each, curved=True)


def fleiss_kappa(
    ratings: Sequence[Sequence[Label]],
    *,
    design: Design | None = None,
    level: float = 0.95,
) -> Agreement:
    """Compute Fleiss's kappa of items that were all rated equally often.

    ``(P - P_e) / (1 - P_e)``: P is the proportion of agreeing pairs of ratings of one item,
    averaged over items, and P_e the sum of squared proportions of the categories (Fleiss 1971,
    doi:10.1037/h0031619).

    Args:
        ratings: ratings of each item, in any order.
        design: which of the items belong together; no interval without it.
        level: confidence level.

    Returns:
        The coefficient, at most 1, and its interval if a design is given. Without a value, and with
        a reason, where items differ in their number of ratings or all ratings are equal.

    Example:
        >>> round(fleiss_kappa([list("aab"), list("aaa"), list("bbb")]).value, 3)
        0.55
    """
    name = "Fleiss's kappa"
    paired = _pairable(ratings)
    if len({len(item) for item in ratings}) > 1:
        reason = "items differ in their number of ratings: use Krippendorff's alpha"
        return Agreement(None, len(paired), sum(map(len, paired)), name, reason=reason)
    statistic = fleiss(_counts(paired, ordered=False))
    return _agreement(name, ratings, statistic, design, level)


def fleiss_for_others(
    ratings: Sequence[Sequence[Label]],
    people: Sequence[Sequence[Hashable | None]],
    *,
    design: Design,
    level: float = 0.95,
) -> Interval:
    """Compute the interval of Fleiss's kappa for other people and other items like these.

    It is found as by `alpha_for_others` (with doi:10.1198/jbes.2010.07136).

    Args:
        ratings: ratings of each item, as many of each.
        people: who gave each rating, in the same form.
        design: which of the items belong together.
        level: confidence level.

    Returns:
        The interval, both ends at most 1, or the reason why there is none.

    Example:
        >>> rows = ["aaaba", "bbbab", "aabab", "bbabb", "aaaab", "babbb", "aabaa", "bbaba"]
        >>> ratings, people = [list(row) for row in rows], [list("uvwxy")] * 8
        >>> one = fleiss_for_others(ratings, people, design=Design.independent(8))
        >>> round(one.low, 2), round(one.high, 2)
        (-0.22, 0.85)
    """
    kappa = fleiss_kappa(ratings)
    if kappa.value is None or (rare := _rare(_pairable(ratings), "ratings")):
        return Interval(None, None, FOR_OTHERS, kappa.reason if kappa.value is None else rare)
    each = PeoplesRatings.of(ratings, people, design, fewest=2)
    statistic = fleiss_of_ratings(each)
    return each.interval(statistic, kappa.value, level=level, ratings=each.of_each)


def cohen_kappa(
    first: Sequence[Label],
    second: Sequence[Label],
    *,
    weights: str = "none",
    categories: Sequence[Label] | None = None,
    design: Design | None = None,
    level: float = 0.95,
    what: str = "ratings",
) -> Agreement:
    """Compute Cohen's kappa of two raters, with or without weights.

    ``1 - Σ w o / Σ w e`` over the cells of the table of both raters, o observed and e expected from
    the margins, w the distance of the two categories in their order: 0 or 1 (``none``; Cohen 1960,
    doi:10.1177/001316446002000104), the number of steps (``linear``) or its square
    (``quadratic``; Cohen 1968, doi:10.1037/h0026256).

    Args:
        first: the first rater's label of each item.
        second: the second rater's label of each item.
        weights: ``none``, ``linear`` or ``quadratic``.
        categories: categories in order; weights need them, unless labels are numbers.
        design: which of the items belong together; no interval without it.
        level: confidence level.
        what: the word for labels, where there is no interval and it says why.

    Returns:
        The coefficient, at most 1, and its interval if a design is given. Without a value, and with
        a reason, for fewer than two items or where all labels are equal.

    Raises:
        UsageError: an unknown weighting, columns of different lengths, a label that is not
            a category, or weights without an order.

    Example:
        >>> cohen_kappa(list("aabb"), list("abbb")).value
        0.5
    """
    need_known(weights, WEIGHTS, where="Cohen's kappa", seen=f"no weights are called {weights!r}")
    same_length(first=first, second=second)
    order = _order([*first, *second], categories, needed=weights != "none")
    pairs = [[first[i], second[i]] for i in range(len(first))]
    numbers = np.array([[order[a], order[b]] for a, b in pairs], dtype=np.int64).reshape(-1, 2)
    power = WEIGHTS[weights]
    statistic = cohen(*numbers.T, categories=len(order), power=power)
    name = "Cohen's kappa" + (f", {weights} weights" if power else "")
    return _agreement(name, pairs, statistic, design, level, what)


def correlation_with_rest(
    ratings: Sequence[Sequence[float | None]], *, kind: str = "pearson"
) -> tuple[Correlation, ...]:
    """Correlate each rater's ratings with the mean of all others'.

    Over the items that the rater and at least one other person rated (the corrected item-total
    correlation with raters in place of items: Nunnally and Bernstein 1994, Psychometric Theory,
    3rd ed.).

    Args:
        ratings: one row per item, one column a rater; None for a missing rating.
        kind: ``pearson``, ``spearman`` or ``kendall``.

    Returns:
        One correlation per rater, undefined where they share fewer than three items with others or
        gave one rating only.

    Raises:
        UsageError: rows of different lengths, an unknown kind, or ratings that are not numbers.

    Example:
        >>> [round(one.r, 3) for one in correlation_with_rest([[1, 2, 1], [2, 3, 3], [4, 4, 5]])]
        [0.982, 0.997, 0.993]
    """
    widths = {len(row) for row in ratings}
    if len(widths) > 1:
        raise UsageError(
            where="ratings",
            seen=f"rows of {min(widths)} to {max(widths)} values",
            todo="Give each item one value, or None, for each rater.",
        )
    given = np.array([[rating is not None for rating in row] for row in ratings], dtype=bool)
    numbers = floats([[rating or 0 for rating in row] for row in ratings], name="ratings")
    correlations = []
    for rater in range(next(iter(widths), 0)):
        others = given.sum(axis=1) - given[:, rater]
        shared = given[:, rater] & (others > 0)
        rest = (numbers.sum(axis=1) - numbers[:, rater])[shared] / others[shared]
        correlations.append(coefficient(numbers[shared, rater], rest, kind=kind))
    return tuple(correlations)


def _pairable(ratings: Sequence[Sequence[Label | None]]) -> list[list[Label]]:
    return [item for item in map(_given, ratings) if len(item) > 1]


def _agreement(
    name: str,
    ratings: Sequence[Sequence[Label | None]],
    statistic: Weighted,
    design: Design | None,
    level: float,
    what: str = "ratings",
    *,
    curved: bool = False,
) -> Agreement:
    """The coefficient of some items, and its interval."""
    kept = [place for place, item in enumerate(ratings) if len(_given(item)) > 1]
    given = _pairable(ratings)
    size = (len(given), sum(map(len, given)))
    if not kept:
        return Agreement(None, *size, name, reason=NO_PAIR)
    value = float(statistic(np.ones((1, len(kept))))[0])
    if math.isnan(value):
        return Agreement(None, *size, name, reason=NO_VARIATION.replace("ratings", what))
    if len(kept) == 1:
        return Agreement(None, *size, name, reason=SINGLE_ITEM)
    if design is None:
        return Agreement(value, *size, name)
    same_length(ratings=ratings, units=design.units)
    rare = _rare(given, what)
    if rare:
        return Agreement(value, *size, name, reason=rare)
    k, taken = size[1] / size[0], design.take(kept)
    interval = jackknife(statistic, value, taken, level=level, ratings=k, curved=curved).interval
    return Agreement(
        value, *size, name, interval.low, interval.high, interval.method, interval.reason
    )


def _given(item: Sequence[Label | None]) -> list[Label]:
    return [rating for rating in item if rating is not None]


def _rare(ratings: Sequence[Sequence[Label]], what: str) -> str | None:
    """Why there is no interval where there are too few labels but the first; else None.

    Where fewer than two items are expected to have two such labels by chance, agreement on them
    is hardly ever seen, and no interval holds what it says (docs/statistics.md).
    """
    counts = Counter(label for item in ratings for label in item)
    (_, most), total = counts.most_common(1)[0], counts.total()
    if len(ratings) * (1 - most / total) ** 2 >= _EXPECTED:
        return None
    others = total - most
    differ = "differs" if others == 1 else "differ"
    seen = f"only {others} of {total:,} {what} {differ} from the most frequent one"
    return f"{seen}: too few for an interval"


_EXPECTED = 2.0


def _counts(paired: Sequence[Sequence[Label]], *, ordered: bool) -> Floats:
    """The number of times each item (a row) got each value (a column, ascending where ordered)."""
    items = np.repeat(np.arange(len(paired)), [len(item) for item in paired])
    ratings = [rating for item in paired for rating in item]
    if ordered:
        values, numbers = np.unique(floats(ratings, name="ratings"), return_inverse=True)
        size = values.size
    else:
        numbers, size = codes(ratings)
    table = np.zeros((len(paired), size))
    np.add.at(table, (items, numbers), 1)
    return table


def _moments(paired: Sequence[Sequence[Label]]) -> Floats:
    """The number, sum and sum of squares of each item's ratings, measured from the overall mean."""
    items = [floats(item, name="ratings") for item in paired]
    if not items:
        return np.zeros((0, 3))
    every = np.concatenate(items)
    # Equal values must give exactly no variation: the middle is one of the values then.
    middle = float(every[0]) if (every == every[0]).all() else float(every.mean())
    return np.array([[x.size, (x - middle).sum(), ((x - middle) ** 2).sum()] for x in items])


def _order(
    labels: Sequence[Label], categories: Sequence[Label] | None, *, needed: bool
) -> dict[Label, int]:
    if categories is None:
        if needed and not all(isinstance(label, int | float) for label in labels):
            raise UsageError(
                where="Cohen's kappa",
                seen="weights, but labels that are not numbers",
                todo="Give the categories in their order.",
            )
        known: Sequence[Label] = sorted(set(labels)) if needed else list(dict.fromkeys(labels))  # type: ignore[type-var]  # numbers, seen above
    else:
        known = categories
    missing = sorted({str(label) for label in labels if label not in set(known)})
    if missing:
        raise UsageError(
            where="Cohen's kappa",
            seen=f"labels that are not categories: {', '.join(missing[:5])}",
            todo=f"Categories: {', '.join(map(str, known))}.",
        )
    return {category: place for place, category in enumerate(known)}


INTRACLASS_KINDS: Sequence[str] = ("one-way", "agreement", "consistency")


def intraclass(ratings: ArrayLike, *, kind: str = "agreement", mean: bool = False) -> Statistic:
    """Compute an intraclass correlation of raters who all rated every item.

    Of Shrout and Fleiss (1979, doi:10.1037/0033-2909.86.2.420), from the mean squares of items B,
    raters J, error E, and within items W, n items, k raters:
    ``one-way`` (each item had raters of its own; ICC(1)) ``(B - W) / (B + (k - 1) W)``;
    ``agreement`` (raters are a sample; ICC(2)) ``(B - E) / (B + (k - 1) E + k (J - E) / n)``;
    ``consistency`` (rater means do not matter; ICC(3)) ``(B - E) / (B + (k - 1) E)``.

    Args:
        ratings: one row per item, one column a rater, no rating missing.
        kind: ``one-way``, ``agreement`` or ``consistency``.
        mean: whether it is of the mean of all k ratings of an item, rather than of one rating.

    Returns:
        The coefficient, at most 1; a reason in its place where there are fewer than two items or
        nothing varies.

    Raises:
        UsageError: an unknown kind, or an invalid table.

    Example:
        >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9]]
        >>> table += [[6, 2, 4, 7]]  # Table 2 of Shrout and Fleiss; their Table 4 has .29
        >>> round(intraclass(table).value, 2)
        0.29
    """
    table = floats(ratings, name="ratings")
    need_known(
        kind, INTRACLASS_KINDS, where="intraclass correlation", seen=f"no kind is called {kind!r}"
    )
    if table.ndim != 2 or table.shape[1] < 2:  # noqa: PLR2004  # two raters
        raise UsageError(
            where="intraclass correlation",
            seen=f"a table of shape {table.shape}",
            todo="Give one row per item and one column for each of two or more raters.",
        )
    if len(table) < 2:  # noqa: PLR2004  # a spread needs two
        return Statistic(None, "fewer than two items")
    if (table == table[0, 0]).all():
        return Statistic(None, "all ratings are equal")
    between, noise, raters = _mean_squares(table, kind)
    k = table.shape[1]
    extra = (raters - noise) / len(table) if kind == "agreement" else 0.0
    below = between + extra if mean else between + (k - 1) * noise + k * extra
    return Statistic((between - noise) / below) if below else Statistic(None, "nothing varies")


def _mean_squares(table: Floats, kind: str) -> tuple[float, float, float]:
    """The mean squares of items, of error, and of raters."""
    n, k = table.shape
    items = table.mean(axis=1, keepdims=True)
    raters = table.mean(axis=0, keepdims=True)
    between = k * float(((items - table.mean()) ** 2).sum()) / (n - 1)
    across = n * float(((raters - table.mean()) ** 2).sum()) / (k - 1)
    if kind == "one-way":
        return between, float(((table - items) ** 2).sum()) / (n * (k - 1)), across
    left = table - items - raters + table.mean()
    return between, float((left**2).sum()) / ((n - 1) * (k - 1)), across
