"""The figure of checkpoints of one model over its training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from cimento.report.figures import (
    Figure,
    require_rows,
)
from cimento.report.figures_rates import steps_frame, training_figure

if TYPE_CHECKING:
    import polars as pl

    from cimento.compare.ranking_records import Ranking


def checkpoints_figure(
    rankings: Sequence[Ranking], *, chances: Mapping[tuple[str, str], float]
) -> Figure:
    """Accuracy by training step, with 95% intervals; one panel for each suite and question.

    Args:
        rankings: rankings; those whose models are not revisions of one model are left out.
        chances: suite and question to the level of chance, where it is known.

    Raises:
        UsageError: no ranking is of revisions of one model.
    """
    frame = checkpoints_frame(rankings, chances=chances)
    twice = next(filter(None, map(_steps_twice, rankings)), "")
    require_rows(
        frame,
        where="--figure",
        seen=twice or "the models are not revisions of one model at different steps of training",
        todo="Give the runs of one training; a name= of its own keeps the next one apart."
        if twice
        else "Name them as org/name@step1000 or as folders checkpoint-1000.",
    )
    return training_figure(frame)


def _steps_twice(ranking: Ranking) -> str:
    """What is said of revisions of one model two of which are of one step; empty if none are."""
    by_step: dict[int | None, list[str]] = {}
    for model in ranking.models:
        by_step.setdefault(model.step, []).append(model.model)
    several = {model.family for model in ranking.models}
    twice = sorted((step, names) for step, names in by_step.items() if step and len(names) > 1)
    if len(several) > 1 or None in by_step or not twice:
        return ""
    (step, names), *others = twice
    more = f", and so with {len(others)} other steps" if others else ""
    return f"several models are of step {step} ({', '.join(sorted(names))}){more}"


def checkpoints_frame(
    rankings: Sequence[Ranking], *, chances: Mapping[tuple[str, str], float]
) -> pl.DataFrame:
    """The numbers of the curve: panel, step, model, accuracy, low, high, n, chance."""
    parts = attrgetter("step", "model", "accuracy", "interval.low", "interval.high", "n")
    return steps_frame(
        (
            f"{ranking.suite}, {ranking.question}",
            *parts(checkpoint),
            chances.get((ranking.suite, ranking.question)),
        )
        for ranking in rankings
        for checkpoint in ranking.checkpoints
    )
