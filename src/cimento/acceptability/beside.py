"""A model's measure beside the ratings of people, or beside what an author expects."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.acceptability.records import RatedSentence
from cimento.measures import Measure, Missing
from cimento.measures.scores import ScoredSentence
from cimento.measures.values import Value

if TYPE_CHECKING:
    from cimento.statistics.correlation import Correlation
    from cimento.statistics.design import Design
    from cimento.statistics.split_half import SplitHalf
    from cimento.statistics.values import Estimate, Floats, Significance

KINDS = ("spearman", "pearson", "kendall")
DRAWS = 1000
MISSES = 5

Sign: TypeAlias = Literal["positive", "negative"]

NO_RATINGS = "no sentence has a rating"
NO_COVARIATE = "nothing to control"


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A sentence that the model and the people place far apart.

    Attributes:
        id: of the sentence.
        text: the sentence.
        rating: its mean rating.
        score: what the model gives it.
        gap: its rank by the model minus its rank by the people, the best having rank 1 and the
            worst 0; above 0 where the model likes it better.
    """

    id: str
    text: str
    rating: float
    score: float
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """One coefficient of a measure and the ratings, with its interval.

    Attributes:
        kind: ``spearman``, ``pearson`` or ``kendall``.
        r: the coefficient; None where it is undefined.
        n: sentences.
        low: lower end of the interval, 95 %; None where there is none.
        high: upper end.
        method: of the interval.
        reason: why the coefficient or its interval is missing.
    """

    kind: str
    r: float | None
    n: int
    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """One measure beside the ratings.

    Attributes:
        measure: its name.
        unit: of its values; empty for a pure number.
        expected: the sign that a correlation should have.
        n: sentences with a rating and a value.
        without: why others have no value, and how many.
        correlations: Spearman's, Pearson's and Kendall's.
        test: of Spearman's coefficient being zero, by permutation: the one test of a measure.
        p_holm: its p, corrected over all measures; None where there is one.
        partial: Spearman's with the covariates held constant.
        covariates: what was held constant.
        misses: the sentences placed farthest apart, the farthest first.
    """

    measure: str
    unit: str
    expected: Sign
    n: int
    without: Mapping[str, int]
    correlations: tuple[Coefficient, ...]
    test: Significance
    p_holm: float | None = None
    partial: Coefficient
    covariates: tuple[str, ...]
    misses: tuple[Miss, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """A sentence that has a rating and a value."""

    sentence: RatedSentence
    rating: float
    value: float
    covariates: tuple[float, ...]


def beside(
    sentences: Sequence[RatedSentence],
    scored: Sequence[ScoredSentence],
    measure: Measure,
    *,
    seed: int,
    draws: int = DRAWS,
) -> Beside:
    """A measure beside the mean ratings of the same sentences.

    Where sentences come in pairs, intervals are the jackknife's over pairs, and in the permutation
    test whole pairs change places and so do the two of a pair, since they are not independent.
    Length in words is held constant in the partial correlation, and the mean log frequency of the
    words (or tokens) where unigram frequencies are known.

    Args:
        sentences: with their ratings.
        scored: what the model said of each, in the same order.
        measure: what is compared.
        seed: of permutations.
        draws: how many permutations; 0 for no test.
    """
    values = [measure.of(each.sentence) for each in scored]
    names, covariates = _covariates(scored)
    rows = _rows(sentences, values, covariates)
    design = design_of([row.sentence for row in rows])
    return Beside(
        measure=measure.name,
        unit=measure.unit,
        expected="positive" if measure.higher_is_better else "negative",
        n=len(rows),
        without=_reasons(values),
        correlations=tuple(_correlate(rows, kind, design) for kind in KINDS),
        test=_test(rows, design, seed=seed, draws=draws),
        partial=_partial(rows, design),
        covariates=names,
        misses=_worst(rows, higher_is_better=measure.higher_is_better),
    )


def corrected(measures: Sequence[Beside]) -> tuple[Beside, ...]:
    """The same measures, their p-values corrected over all of them by Holm."""
    from cimento.statistics.multiple import holm

    if len(measures) < 2:  # noqa: PLR2004  # one test is no family
        return tuple(measures)
    values = holm([measure.test.p for measure in measures])
    return tuple(
        dataclasses.replace(measure, p_holm=p) for measure, p in zip(measures, values, strict=True)
    )


def design_of(sentences: Sequence[RatedSentence]) -> Design:
    """The design of sentences: those of a cluster of the suite belong together, else of a pair."""
    from cimento.statistics.design import Design

    return Design.of(
        (sentence.id for sentence in sentences),
        {sentence.id: belongs_to(sentence) for sentence in sentences},
    )


def belongs_to(sentence: RatedSentence) -> tuple[str, str]:
    """What a sentence shares with those that depend on it: its cluster, its pair, or nothing."""
    if sentence.cluster:
        return "cluster", sentence.cluster
    return ("pair", sentence.pair) if sentence.pair else ("id", sentence.id)


def ceiling_from_errors(sentences: Sequence[RatedSentence]) -> Estimate:
    """The noise ceiling from the standard deviations and numbers of ratings that are known."""
    from cimento.statistics.reliability import ceiling_of_means

    known = [
        (each.mean, each.sd / math.sqrt(each.n))
        for each in sentences
        if each.mean is not None and each.sd is not None and each.n
    ]
    return ceiling_of_means([mean for mean, _ in known], [error for _, error in known])


def ceiling(sentences: Sequence[RatedSentence], *, seed: int, draws: int = DRAWS) -> SplitHalf:
    """How well the people agree with themselves: see `statistics.split_half`."""
    from cimento.statistics.split_half import split_half

    ratings = [[rating.value for rating in each.ratings] for each in sentences]
    return split_half(ratings, seed=seed, draws=max(draws, 1), kind="spearman")


def gaps(
    sentences: Sequence[RatedSentence], scored: Sequence[ScoredSentence], measure: Measure
) -> tuple[Miss, ...]:
    """How far apart the model and the people place each sentence that has a rating and a value.

    Args:
        sentences: with their ratings.
        scored: what the model said of each, in the same order.
        measure: by which the model places them.
    """
    values = [measure.of(each.sentence) for each in scored]
    rows = _rows(sentences, values, [()] * len(values))
    return _gaps(rows, higher_is_better=measure.higher_is_better)


def _rows(
    sentences: Sequence[RatedSentence],
    values: Sequence[Value],
    covariates: Sequence[tuple[float, ...]],
) -> list[_Row]:
    return [
        _Row(sentence, sentence.mean, value, held)
        for sentence, value, held in zip(sentences, values, covariates, strict=True)
        if sentence.mean is not None and not isinstance(value, Missing)
    ]


def _worst(rows: Sequence[_Row], *, higher_is_better: bool) -> tuple[Miss, ...]:
    """The sentences whose ranks by rating and by score are farthest apart.

    None where all ratings or all scores are equal, and so nothing is ranked.
    """
    if len({row.rating for row in rows}) < 2 or len({row.value for row in rows}) < 2:  # noqa: PLR2004  # two make an order
        return ()
    found = _gaps(rows, higher_is_better=higher_is_better)
    return tuple(sorted(found, key=lambda miss: (-abs(miss.gap), miss.id))[:MISSES])


def _gaps(rows: Sequence[_Row], *, higher_is_better: bool) -> tuple[Miss, ...]:
    if len(rows) < 2:  # noqa: PLR2004  # one sentence has no rank
        return ()
    people = _relative_ranks([row.rating for row in rows])
    model = _relative_ranks([row.value if higher_is_better else -row.value for row in rows])
    return tuple(
        Miss(
            id=row.sentence.id,
            text=row.sentence.text,
            rating=row.rating,
            score=row.value,
            gap=by_model - by_people,
        )
        for row, by_model, by_people in zip(rows, model, people, strict=True)
    )


def _relative_ranks(values: Sequence[float]) -> list[float]:
    """Mid-ranks between 0 for the smallest and 1 for the largest."""
    import numpy as np

    from cimento.statistics.classification import mid_ranks

    ranks = mid_ranks(np.asarray(values, dtype=np.float64))
    return [float(rank) for rank in (ranks - 1) / (len(values) - 1)]


def _correlate(rows: Sequence[_Row], kind: str, design: Design) -> Coefficient:
    from cimento.statistics.correlation import correlate

    ratings, values = [row.rating for row in rows], [row.value for row in rows]
    found = correlate(ratings, values, kind=kind, design=design, seed=0, draws=0)
    return _coefficient(found, rows)


def _coefficient(found: Correlation, rows: Sequence[_Row]) -> Coefficient:
    return Coefficient(
        kind=found.kind,
        r=found.r,
        n=found.n,
        low=found.low,
        high=found.high,
        method=found.method,
        reason=_in_words(found.reason, rows),
    )


def _test(rows: Sequence[_Row], design: Design, *, seed: int, draws: int) -> Significance:
    """The permutation test of Spearman's coefficient: Pearson's of mid-ranks."""
    import numpy as np

    from cimento.statistics.classification import mid_ranks
    from cimento.statistics.clustered import PERMUTED_CLUSTERS, permute_clusters
    from cimento.statistics.permutation import permute_products
    from cimento.statistics.values import Significance

    columns = [
        np.array([row.rating for row in rows], dtype=np.float64),
        np.array([row.value for row in rows], dtype=np.float64),
    ]
    reason = design.shortage or (None if draws else "no permutations were asked for")
    if any((column == column[:1]).all() for column in columns):
        reason = reason or "all ratings or all scores are equal"
    if reason:
        return Significance(None, None, PERMUTED_CLUSTERS, reason=reason)
    x, y = map(mid_ranks, columns)
    if not design.clustered:
        return permute_products(x, y, seed=seed, draws=draws)

    x, y = ((ranks - ranks.mean()) / ranks.std() for ranks in (x, y))

    def spearman(a: Floats, b: Floats) -> float:
        return float(a @ b) / a.size

    return permute_clusters(x, y, spearman, design, seed=seed, draws=draws)


def _partial(rows: Sequence[_Row], design: Design) -> Coefficient:
    from cimento.statistics.correlation import partial_correlation

    if not rows or not rows[0].covariates:
        reason = NO_COVARIATE if rows else NO_RATINGS
        return Coefficient(kind="spearman", r=None, n=len(rows), reason=reason)
    found = partial_correlation(
        [row.rating for row in rows],
        [row.value for row in rows],
        [row.covariates for row in rows],
        design=design,
    )
    return _coefficient(found, rows)


def _in_words(reason: str | None, rows: Sequence[_Row]) -> str | None:
    if reason is None or not rows:
        return NO_RATINGS if reason else None
    return reason.replace("values of x", "ratings").replace("values of y", "scores")


def _covariates(
    scored: Sequence[ScoredSentence],
) -> tuple[tuple[str, ...], list[tuple[float, ...]]]:
    """What is held constant, and its values; frequency only where every sentence has one."""
    lengths = [float(len(each.stimulus.text.split())) for each in scored]
    frequencies = [_mean_log_frequency(each) for each in scored]
    known = [each for each in frequencies if each is not None]
    if len(known) < len(scored):
        return ("length in words",), [(length,) for length in lengths]
    names = ("length in words", "mean log frequency")
    return names, list(zip(lengths, known, strict=True))


def _mean_log_frequency(each: ScoredSentence) -> float | None:
    if isinstance(each.sentence, Missing):
        return None
    unigrams = each.sentence.unigram_logprobs_nats
    if isinstance(unigrams, Missing) or not unigrams:
        return None
    return sum(unigrams) / len(unigrams)


def _reasons(values: Sequence[Value]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for value in values:
        if isinstance(value, Missing):
            counts[value.reason] = counts.get(value.reason, 0) + 1
    return counts
