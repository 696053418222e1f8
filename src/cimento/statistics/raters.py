"""Intervals for other people like these: of agreement, and of correlations with mean ratings.

Items and people are both drawn from more of their kind, so that the variance of a number is that
over items, and that over people, less what is in both (`design.crossed_variance`; Cameron, Gelbach
and Miller 2011, doi:10.1198/jbes.2010.07136). Each is the jackknife's, which leaves out all ratings
of one item, all of one person, or single ones.

That sum may fall below one of its parts by chance, or by rules for few clusters. The variance for
other items and other people is that for these people and that between people (law of total
variance), so that no interval for others is narrower than that over items, or over people, alone
(`for_others`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np

from cimento.errors import UsageError, counted
from cimento.io.clusters import Crossing
from cimento.statistics.correlation import statistic_of
from cimento.statistics.design import (
    FEWEST_CLUSTERS,
    ArrayLike,
    Design,
    Floats,
    Integers,
    codes,
    floats,
)
from cimento.statistics.draws import Weighted, jackknife
from cimento.statistics.intervals import Interval
from cimento.statistics.means import Mean, mean_of

UNKNOWN_PEOPLE = "it is not known who gave which rating"
FOR_OTHERS = "jackknife over items and people on Fisher's z"

Ends = TypeVar("Ends", Interval, Mean)


def for_others(
    over: Callable[[Design], Ends], items: Design, people: Sequence[Hashable | None]
) -> Ends:
    """The interval of a number for other items and other people.

    The widest of three: over items and people crossed, over items, and over people. A crossed
    variance below that of one factor is chance, and the largest of the errors is taken (as by
    MacKinnon, Nielsen and Webb 2024, doi:10.48550/arXiv.2406.08880).

    Args:
        over: from a design of the answers to the interval over it, around the same number.
        items: the design of the answers with what their items belong to.
        people: who gave each answer.

    Returns:
        The interval; a reason where people are not known, or people or items are fewer than five.
    """
    made = over(_crossed(items, people))
    unknown = not people or None in people
    if reason := UNKNOWN_PEOPLE if unknown else _few(len(set(people))):
        return replace(made, low=None, high=None, reason=reason)
    if made.low is None:
        return made
    three: list[Ends] = [made, over(items), over(Design(items.units, tuple(people)))]
    widest = max(three, key=lambda one: (one.high or 0.0) - (one.low or 0.0))
    return replace(widest, method=made.method)


def _crossed(items: Design, people: Sequence[Hashable | None]) -> Design:
    both: list[Hashable] = []
    for item, person in zip(items.clusters, people, strict=True):
        labels = item.labels if isinstance(item, Crossing) else (item,)
        both.append(Crossing((*labels, ("person", person))))
    return Design(items.units, tuple(both))


@dataclass(frozen=True, slots=True)
class PeoplesRatings:
    """Single ratings, one a row, with the items and people that they belong to.

    Attributes:
        item: the number of the item, ascending.
        people: who gave each; None where that is not known.
        values: the ratings.
        design: of the items.
    """

    item: Integers
    people: tuple[Hashable | None, ...]
    values: tuple[Hashable, ...]
    design: Design

    @classmethod
    def of(
        cls,
        ratings: Sequence[Sequence[Hashable | None]],
        people: Sequence[Sequence[Hashable | None]],
        design: Design,
        *,
        fewest: int = 1,
    ) -> PeoplesRatings:
        """The ratings of some items.

        Args:
            ratings: of each item; None for a missing one.
            people: who gave each.
            design: of the items.
            fewest: items with fewer ratings are left out.
        """
        given = [len(values) - list(values).count(None) for values in ratings]
        kept = [place for place, n in enumerate(given) if n >= fewest]
        ratings, people = ([rows[place] for place in kept] for rows in (ratings, people))
        rows = [
            (item, who, value)
            for item, (values, names) in enumerate(zip(ratings, people, strict=True))
            for value, who in zip(values, names, strict=True)
            if value is not None
        ]
        return cls(
            np.array([item for item, _, _ in rows], dtype=np.int64),
            tuple(who for _, who, _ in rows),
            tuple(value for _, _, value in rows),
            design.take(kept),
        )

    @property
    def by_item(self) -> Design:
        """The design of the ratings, with what their items belong to."""
        clusters = [self.design.clusters[item] for item in self.item.tolist()]
        return Design(tuple(range(len(clusters))), tuple(clusters))

    @property
    def of_each(self) -> float:
        """The mean number of ratings of an item, at least two."""
        return max(len(self.people) / max(len(set(self.item.tolist())), 1), 2.0)

    def interval(
        self,
        statistic: Weighted,
        estimate: float,
        *,
        level: float,
        ratings: float = 2.0,
        curved: bool = False,
    ) -> Interval:
        """The interval of a coefficient for other items and other people.

        Args:
            statistic: from weights of 0 and 1, one a rating, to coefficients.
            estimate: the coefficient of all ratings.
            level: confidence level.
            ratings: of each item, for agreement (`jackknife`).
            curved: whether the variance has a term for curvature, likewise.
        """

        def over(design: Design) -> Interval:
            return jackknife(
                statistic, estimate, design, level=level, ratings=ratings, curved=curved
            ).interval

        interval = for_others(over, self.by_item, self.people)
        why = interval.reason
        if why is not None:
            why = why.replace("item or cluster", "item or person")
            why = why.replace("items or clusters", "items or people")
        return replace(interval, method=FOR_OTHERS, reason=why)

    def sums(self, weighted: Floats) -> Floats:
        """The sum of each item, of each draw: shape (draws, items)."""
        starts = np.flatnonzero(np.diff(self.item, prepend=-1))
        totals: Floats = np.add.reduceat(weighted, starts, axis=1)
        return totals


def alpha_of_ratings(ratings: PeoplesRatings, *, scale: str) -> Weighted:
    """Krippendorff's alpha as a function of which ratings are there (`krippendorff_alpha`).

    Args:
        ratings: those of all items.
        scale: ``nominal``, ``ordinal`` or ``interval``.
    """
    if scale == "interval":
        return _interval_alpha(ratings)
    return _alpha_of_categories(ratings, ordered=scale == "ordinal")


def _interval_alpha(ratings: PeoplesRatings) -> Weighted:
    x = floats(ratings.values, name="ratings")
    x = x - x.mean()

    def statistic(weights: Floats) -> Floats:
        n, s, squares = (ratings.sums(weights * x**power) for power in range(3))
        kept = n > 1
        observed = (np.where(kept, n * squares - s**2, 0) / np.where(kept, n - 1, 1)).sum(axis=1)
        total, sums, whole = ((kept * one).sum(axis=1) for one in (n, s, squares))
        return _alpha(observed, total * whole - sums**2, total)

    return statistic


def _alpha_of_categories(ratings: PeoplesRatings, *, ordered: bool) -> Weighted:
    if ordered:
        values, category = np.unique(floats(ratings.values, name="ratings"), return_inverse=True)
        size = values.size
    else:
        category, size = codes(ratings.values)

    def statistic(weights: Floats) -> Floats:
        counts = np.stack(
            [ratings.sums(weights * (category == one)) for one in range(size)], axis=2
        )
        n = counts.sum(axis=2)
        kept = n > 1
        counts = counts * kept[:, :, None]
        totals = counts.sum(axis=1)
        whole = totals.sum(axis=1)
        below = np.where(kept, n - 1, 1)
        if ordered:
            ranks = totals.cumsum(axis=1) - totals / 2
            sums = np.einsum("dik,dk->di", counts, ranks)
            squares = np.einsum("dik,dk->di", counts, ranks**2)
            observed = ((n * squares - sums**2) * kept / below).sum(axis=1)
            expected = whole * (totals * ranks**2).sum(axis=1) - (totals * ranks).sum(axis=1) ** 2
        else:
            observed = ((n**2 - (counts**2).sum(axis=2)) * kept / below).sum(axis=1)
            expected = whole**2 - (totals**2).sum(axis=1)
        return _alpha(observed, expected, whole)

    return statistic


def fleiss_of_ratings(ratings: PeoplesRatings) -> Weighted:
    """Fleiss's kappa as a function of which ratings are there (`fleiss_kappa`).

    Where items then differ in their number of ratings, the agreement of each is that of its own
    pairs, and each item with two ratings or more counts once.

    Args:
        ratings: those of all items.
    """
    category, size = codes(ratings.values)

    def statistic(weights: Floats) -> Floats:
        counts = np.stack(
            [ratings.sums(weights * (category == one)) for one in range(size)], axis=2
        )
        n = counts.sum(axis=2)
        kept = n > 1
        agreeing = ((counts**2).sum(axis=2) - n) / np.where(kept, n * (n - 1), 1)
        observed = (agreeing * kept).sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
        totals = (counts * kept[:, :, None]).sum(axis=1)
        shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1)
        expected = (shares**2).sum(axis=1)
        defined = kept.any(axis=1) & (expected < 1 - _ROUNDING)
        below = np.where(defined, 1 - expected, 1)
        return np.where(defined, (observed - expected) / below, np.nan)

    return statistic


def _alpha(observed: Floats, expected: Floats, n: Floats) -> Floats:
    """``1 - D_o / D_e`` from sums over pairs; NaN where nothing can differ."""
    defined = expected > _ROUNDING * np.maximum(n, 1)
    return np.where(defined, 1 - (n - 1) * observed / np.where(defined, expected, 1), np.nan)


_ROUNDING = 1e-10


def correlation_for_others(
    values: Sequence[float],
    ratings: Sequence[Sequence[float]],
    people: Sequence[Sequence[Hashable | None]],
    *,
    design: Design,
    covariates: ArrayLike | None = None,
    kind: str = "spearman",
    level: float = 0.95,
) -> Interval:
    """Compute the interval of a correlation with mean ratings for other people and other items.

    ``z ± t[m-1] sqrt(V_items + V_people - V_ratings)`` on Fisher's scale, with m of the factor
    that has fewer levels; mean ratings are taken again whenever ratings are left out (jackknife:
    Efron and Tibshirani 1993, chapter 11; variances: Cameron, Gelbach and Miller 2011,
    doi:10.1198/jbes.2010.07136). `correlate` has the interval for these people alone.

    Args:
        values: shape (items,), such as a measure of each sentence.
        ratings: ratings of each item, one or more.
        people: who gave each rating.
        design: which of the items belong together.
        covariates: shape (items, covariates), held constant as by `partial_correlation`.
        kind: ``pearson``, ``spearman`` or ``kendall``, which has no covariates.
        level: confidence level.

    Returns:
        The interval, both ends from -1 to 1, or the reason why there is none: people who are not
        known, or fewer than five people or independent items.

    Raises:
        UsageError: an unknown kind, columns of different lengths, or Kendall's with covariates.

    Example:
        >>> ratings = [[1, 2, 1, 2, 1], [3, 3, 2, 4, 2], [2, 3, 4, 3, 5], [5, 4, 5, 4, 3],
        ...            [1, 1, 2, 3, 2], [4, 5, 4, 3, 5], [2, 2, 3, 1, 1], [3, 5, 4, 5, 5]]
        >>> people, values = [list("abcde")] * 8, [1, 5, 3, 6, 4, 8, 2, 7]
        >>> items = Design.independent(8)
        >>> one = correlation_for_others(values, ratings, people, design=items, kind="pearson")
        >>> round(one.low, 2), round(one.high, 2)
        (0.23, 0.98)
    """
    each = PeoplesRatings.of(ratings, people, design)
    scores = floats(values, name="values")
    coefficients = _of_means(scores, each, kind, _held(covariates, scores.size, kind))
    estimate = float(coefficients(np.ones((1, len(each.values))))[0])
    if np.isnan(estimate):
        return Interval(None, None, FOR_OTHERS, "the coefficient is undefined")
    return each.interval(coefficients, estimate, level=level)


def contrast_for_others(
    ratings: Sequence[Sequence[Sequence[float]]],
    people: Sequence[Sequence[Sequence[Hashable | None]]],
    signs: Sequence[float],
    *,
    design: Design,
    seed: int,
    level: float = 0.95,
) -> Mean:
    """Estimate a contrast of mean ratings, such as DD, for other people and other items.

    The mean over I items of ``Σ_c s_c y_ic``, with the mean y_ic of an item's ratings in condition
    c. A rating's part in its error is ``s_c (y - y_c) / (I n_ic)``, with the mean y_c over items;
    its variance is that of these parts' sums over items and over people, less that over what is in
    both (CR2; Cameron, Gelbach and Miller 2011), and *t* has the degrees of freedom of the factor
    that has fewer levels. A person need not have rated every condition of an item. The interval
    is never narrower than that for these people (`mean_of`), nor over one factor (`for_others`).

    Args:
        ratings: of each item, of each condition, one or more.
        people: who gave each.
        signs: of each condition, such as -1, 1, 1 and -1, which add up to 0; 1 alone for a mean.
        design: of the items.
        seed: of the draws for these people.
        level: confidence level.

    Returns:
        The contrast with interval and test, or why it has none: unknown or too few people or items.

    Example:
        >>> ratings = [[[3, 4, 4, 5, 3], [1, 2, 1, 3, 2]], [[4, 4, 5, 4, 3], [2, 2, 3, 1, 1]]] * 3
        >>> people = [[list("abcde")] * 2] * 6
        >>> of = Design.independent(6)
        >>> made = contrast_for_others(ratings, people, (1, -1), design=of, seed=1)
        >>> made.value, round(made.low, 2), round(made.high, 2)
        (2.1, 1.58, 2.62)
    """
    if not ratings:
        return mean_of([], design, seed=seed, level=level)
    of_items, each, parts = _parts_of_contrast(ratings, people, signs, design)
    these = mean_of(of_items, design, seed=seed, level=level)
    value = these.value or 0.0

    def over(one: Design) -> Mean:
        return replace(mean_of(value + parts, one, seed=seed, level=level, draws=0), value=value)

    made = for_others(over, each.by_item, each.people)
    if made.low is None or these.low is None or made.low <= these.low:
        return made if made.low is not None else replace(made, statistic=None, p=None)
    return replace(these, method=made.method)


def _parts_of_contrast(
    ratings: Sequence[Sequence[Sequence[float]]],
    people: Sequence[Sequence[Sequence[Hashable | None]]],
    signs: Sequence[float],
    design: Design,
) -> tuple[Floats, PeoplesRatings, Floats]:
    """The contrast of each item, all single ratings, and the part of each rating in its error."""
    n_each = np.array([[len(given) for given in item] for item in ratings])
    means = np.array([[np.mean(given) for given in item] for item in ratings])
    cell = np.array([k for item in ratings for k, some in enumerate(item) for _ in some])
    by_item, who = ([[*chain(*cells)] for cells in some] for some in (ratings, people))
    each = PeoplesRatings.of(by_item, who, design)
    weights = np.array(signs)[cell] * cell.size / (len(ratings) * n_each[each.item, cell])
    parts: Floats = weights * (floats(each.values, name="ratings") - means.mean(axis=0)[cell])
    return means @ np.array(signs), each, parts


def _few(people: int) -> str | None:
    """The reason why people are too few for an interval for others; None if they are enough."""
    if people >= FEWEST_CLUSTERS:
        return None
    given = counted(people, "person", "people")
    return f"{given}: an interval for others needs {FEWEST_CLUSTERS} or more"


def _held(covariates: ArrayLike | None, items: int, kind: str) -> Floats:
    """The covariates as columns; none where there are none."""
    if covariates is None:
        return np.zeros((items, 0))
    if kind == "kendall":
        todo = "Ask for 'pearson' or 'spearman'."
        raise UsageError(where="partial correlation", seen=f"kind {kind!r}", todo=todo)
    return floats(covariates, name="covariates").reshape(items, -1)


def _of_means(scores: Floats, each: PeoplesRatings, kind: str, held: Floats) -> Weighted:
    """The correlation of scores with mean ratings, as a function of which ratings are there."""
    one, x = statistic_of(kind), floats(each.values, name="ratings")
    fewest = _FEWEST + held.shape[1]

    def coefficients(weights: Floats) -> Floats:
        n = each.sums(weights)
        # Equal means must be exactly equal: sums of different ratings round apart.
        means = np.round(each.sums(weights * x) / np.where(n > 0, n, 1), 12)
        kept = n > 0
        whole = kept.all(axis=1) & (kind != "kendall")
        results = np.full(len(n), np.nan)
        results[whole] = _of_whole(scores, means[whole], held, ranked=kind == "spearman")
        for place in np.flatnonzero(~whole & (kept.sum(axis=1) > fewest)):
            here = kept[place]
            if held.size:
                part = means[place, here][None, :]
                ranked = kind == "spearman"
                results[place] = _of_whole(scores[here], part, held[here], ranked=ranked)[0]
            else:
                results[place] = one(scores[here], means[place, here])
        return results

    return coefficients


_FEWEST = 2


def _of_whole(scores: Floats, means: Floats, held: Floats, *, ranked: bool) -> Floats:
    """The correlation of the scores with each row of means, in which no item is missing.

    What covariates explain of both is taken away.
    """
    from scipy import stats

    if ranked:
        scores, means = stats.rankdata(scores), stats.rankdata(means, axis=1)
        held = stats.rankdata(held, axis=0) if held.size else held
    a, b = scores - scores.mean(), means - means.mean(axis=1, keepdims=True)
    of_both = (a @ a) * (b**2).sum(axis=1)
    if held.size:
        centered = held - held.mean(axis=0)
        onto = np.linalg.pinv(centered)
        a, b = a - centered @ (onto @ a), b - (b @ onto.T) @ centered.T
    below = np.sqrt((a @ a) * (b**2).sum(axis=1))
    defined = below > _ROUNDING * np.maximum(1.0, np.sqrt(of_both))
    ratios = np.where(defined, b @ a / np.where(defined, below, 1), np.nan)
    return np.clip(ratios, -1, 1)
