"""Runs compared on the same items: two models, one before and after, or all of each suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from cimento.compare.analysis import Analysis, ModelChoice
from cimento.compare.answer_table import TieRule
from cimento.compare.before_after import BeforeAfter, compare_before_after
from cimento.compare.levels import AnalysisSettings, analyze_runs
from cimento.compare.ranking import Rankings, rank_models
from cimento.kinds.run import RunsLike, runs_of
from cimento.paired.item_outcomes import item_outcomes, judged_on_measure
from cimento.paired.pairwise import Correction

__all__ = [
    "Analysis",
    "BeforeAfter",
    "Rankings",
    "analyze",
    "compare",
    "rank_models",
]


@overload
def compare(
    first: RunsLike,
    second: None = None,
    *,
    measure: str = "",
    correction: Correction = "holm",
    seed: int = 0,
) -> Rankings: ...


@overload
def compare(
    first: RunsLike,
    second: RunsLike,
    *,
    measure: str = "",
    correction: Correction = "holm",
    seed: int = 0,
) -> BeforeAfter: ...


def compare(
    first: RunsLike,
    second: RunsLike | None = None,
    *,
    measure: str = "",
    correction: Correction = "holm",
    seed: int = 0,
) -> BeforeAfter | Rankings:
    """Compare runs item by item: two models, one before and after, or all of each suite.

    Args:
        first: before; or all runs, where there is no second.
        second: after; None to rank all models.
        measure: measure for scores and verdicts, for runs that can be judged on another one; empty
            keeps each run's own.
        correction: how p-values are corrected: ``holm``, or ``bh`` for the false discovery rate.
        seed: seed of resampling.

    Returns:
        Before and after: the changes of every rate, score and correlation. Else the rank intervals
        of the models on each suite, and every pair of them.

    Raises:
        UsageError: no runs belong together, or two share no item.
        TableError: a run cannot be read.

    Example:
        >>> runs = list(evaluate_all("it-subject-verb", ["demo-causal", "demo-masked"]))
        >>> [rate.question for rate in compare(*runs).rates]
        ['number', 'person', 'all predictions']
    """
    if second is not None:
        return compare_before_after(
            runs_of(first), runs_of(second), measure=measure, correction=correction, seed=seed
        )
    outcomes = item_outcomes(judged_on_measure(runs_of(first), measure))
    return rank_models(outcomes, correction=correction, seed=seed)


def analyze(
    runs: RunsLike,
    *,
    kind: ModelChoice = "auto",
    phenomenon: str = "",
    covariates: Sequence[str] = (),
    ties: TieRule = "judged",
    measure: str = "",
    precision: float | None = None,
    seed: int = 0,
) -> Analysis:
    """Analyze items x models x phenomena by an item-response model.

    Suites with different levels of chance are different scales: the analysis is that of the level
    with the most items, and `Analysis.others` has the rest. The models are Rasch's with random
    items (De Boeck 2008, doi:10.1007/s11336-008-9092-x) and the two-parameter model.

    Args:
        runs: runs of two models or more, on any suites.
        kind: ``rasch``, ``2pl``, or ``auto``: ``2pl`` if it fits significantly better, else
            ``rasch``.
        phenomenon: column of suites that names the phenomenon of an item; empty for that of the
            suite.
        covariates: ``length`` in words, ``frequency`` (mean Zipf), or columns of numbers.
        ties: whether a tie counts as it was judged, or ``half``.
        measure: to judge on, where there is a choice; empty for that of each run.
        precision: if given, also find the fewest items that estimate every model's accuracy to
            within this margin: 0.05 for five points.
        seed: seed of draws.

    Returns:
        Difficulties of items and abilities of models, in logits with 95% intervals, and ranks; a
        reason where no model can be fitted.

    Raises:
        UsageError: nothing was judged in the runs, or there is no such column or covariate.
        TableError: a run cannot be read.

    Example:
        >>> runs = list(evaluate_all("it-subject-verb", ["demo-causal", "demo-masked"]))
        >>> [(model.rank_low, model.rank_high) for model in analyze(runs).models]
        [(1, 2), (1, 2)]
    """
    settings = AnalysisSettings(
        kind=kind, phenomenon=phenomenon, covariates=covariates, ties=ties, measure=measure,
        precision=precision, seed=seed,
    )  # fmt: skip
    return analyze_runs(runs_of(runs), settings)
