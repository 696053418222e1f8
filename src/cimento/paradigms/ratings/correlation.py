"""Correlations of values of sentences with people's ratings.

The sentences of a pair, or of a cluster that the suite declares, are not independent. They are left
out together in the jackknife; the permutation test exchanges whole pairs, and the two sentences
within a pair.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.measures import Missing, Value, total
from cimento.measures.scores import ScoredSentence
from cimento.paradigms.ratings.suite import RatedSentence
from cimento.statistics.design import Design

if TYPE_CHECKING:
    from cimento.statistics.correlation import Correlation
    from cimento.statistics.values import Floats, Significance


KINDS = ("spearman", "pearson", "kendall")
DRAWS = 1000
MISSES = 5

NO_RATINGS = "no sentence has both a rating and a score"

WORDS = "length in words"
FREQUENCY = "mean log frequency"
"""The covariates of partial correlations."""


@dataclass(frozen=True, slots=True)
class RatedValue:
    """A sentence with a rating and a value.

    Attributes:
        sentence: the sentence, with its label, pair and cluster.
        rating: mean rating of the sentence, or its mean z-score.
        value: value of a measure.
        covariates: values that are held constant in a partial correlation.
    """

    sentence: RatedSentence
    rating: float
    value: float
    covariates: tuple[float, ...] = ()


def design_of(sentences: Sequence[RatedSentence]) -> Design:
    """The design of sentences: clusters are the suite's clusters, or else its pairs."""
    return Design.of(
        (sentence.id for sentence in sentences),
        {sentence.id: belongs_to(sentence) for sentence in sentences},
    )


def belongs_to(sentence: RatedSentence) -> tuple[str, str]:
    """The unit that a sentence belongs to: its cluster, its pair, or itself."""
    if sentence.cluster:
        return "cluster", sentence.cluster
    return ("pair", sentence.pair) if sentence.pair else ("id", sentence.id)


def correlation(rows: Sequence[RatedValue], kind: str, design: Design) -> Correlation:
    """A coefficient of values and ratings, with a jackknife interval over the design.

    Args:
        rows: sentences with a rating and a value.
        kind: ``spearman``, ``pearson`` or ``kendall``.
        design: design of the sentences.
    """
    from cimento.statistics.correlation import correlate

    ratings, values = [row.rating for row in rows], [row.value for row in rows]
    return _in_words(correlate(ratings, values, kind=kind, design=design, seed=0, draws=0), rows)


def partial_correlation(rows: Sequence[RatedValue], design: Design) -> Correlation:
    """Spearman's coefficient, with the covariates of the rows held constant.

    Args:
        rows: sentences with a rating and a value.
        design: design of the sentences.
    """
    from cimento.statistics import correlation as statistics

    if not rows:
        return statistics.Correlation(kind="spearman", r=None, n=0, reason=NO_RATINGS)
    correlation = statistics.partial_correlation(
        [row.rating for row in rows],
        [row.value for row in rows],
        [row.covariates for row in rows],
        design=design,
    )
    return _in_words(correlation, rows)


def permutation_test(
    rows: Sequence[RatedValue], design: Design, *, seed: int, draws: int
) -> Significance:
    """The permutation test of Spearman's coefficient, computed as Pearson's of mid-ranks.

    Args:
        rows: sentences with a rating and a value.
        design: design of the sentences.
        seed: seed of the permutations.
        draws: number of permutations; 0 for no test.
    """
    import numpy as np

    from cimento.statistics.classification import mid_ranks
    from cimento.statistics.resampling import PERMUTED_CLUSTERS, permute_clusters, permute_products
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


def gaps(rows: Sequence[RatedValue], *, higher_is_better: bool) -> list[tuple[RatedValue, float]]:
    """Each sentence with its rank by the model minus its rank by people.

    The best rank is 1 and the worst 0, so that the gap is above 0 if the model ranks the sentence
    higher. A single sentence has no rank.

    Args:
        rows: sentences with a rating and a value.
        higher_is_better: whether the better sentence has the higher value.
    """
    if len(rows) < 2:  # noqa: PLR2004  # one sentence has no rank
        return []
    people = _relative_ranks([row.rating for row in rows])
    model = _relative_ranks([row.value if higher_is_better else -row.value for row in rows])
    return [(row, m - p) for row, m, p in zip(rows, model, people, strict=True)]


def farthest_apart(
    rows: Sequence[RatedValue], *, higher_is_better: bool
) -> list[tuple[RatedValue, float]]:
    """The sentences whose ranks by rating and by value differ most, with their gaps, see `gaps`.

    There are none if all ratings or all values are equal, since nothing is ranked then.

    Args:
        rows: sentences with a rating and a value.
        higher_is_better: whether the better sentence has the higher value.
    """
    if len({row.rating for row in rows}) < 2 or len({row.value for row in rows}) < 2:  # noqa: PLR2004  # two make an order
        return []
    misses = gaps(rows, higher_is_better=higher_is_better)
    return sorted(misses, key=lambda miss: (-abs(miss[1]), miss[0].sentence.id))[:MISSES]


def _relative_ranks(values: Sequence[float]) -> list[float]:
    """Mid-ranks, from 0 for the smallest to 1 for the largest."""
    import numpy as np

    from cimento.statistics.classification import mid_ranks

    ranks = mid_ranks(np.asarray(values, dtype=np.float64))
    return [float(rank) for rank in (ranks - 1) / (len(values) - 1)]


def _in_words(correlation: Correlation, rows: Sequence[RatedValue]) -> Correlation:
    """The coefficient, with a reason worded for ratings and scores."""
    if correlation.reason is None:
        return correlation
    reason = correlation.reason.replace("values of x", "ratings").replace("values of y", "scores")
    return dataclasses.replace(correlation, reason=reason if rows else NO_RATINGS)


def mean_log_frequency(scored: ScoredSentence) -> Value:
    """The mean log relative frequency of a sentence's words or tokens, or the reason for none."""
    if isinstance(scored.sentence, Missing):
        return scored.sentence
    unigrams = scored.sentence.unigram_logprobs_nats
    if isinstance(unigrams, Missing):
        return unigrams
    return total(unigrams) / len(unigrams) if unigrams else Missing("it has no words")
