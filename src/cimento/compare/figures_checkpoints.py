"""The figure of checkpoints of one model over its training, by suite and as a mean over suites."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from cimento.compare.training_means import MeanAtStep, means_over_training
from cimento.report.figures import (
    Figure,
    require_rows,
)
from cimento.report.figures_rates import steps_frame, training_figure
from cimento.report.formatting import MOST_NAMED

if TYPE_CHECKING:
    from cimento.compare.over_suites import SuiteFacts
    from cimento.compare.ranking_records import Ranking


def checkpoints_figure(
    rankings: Sequence[Ranking],
    *,
    chances: Mapping[tuple[str, str], float],
    facts: Mapping[str, SuiteFacts] | None = None,
    headlines: Collection[tuple[str, str]] = (),
    each: bool = False,
) -> Figure:
    """Accuracy by training step, with 95% intervals: means over suites, then the other suites.

    Args:
        rankings: rankings; those whose models are not revisions of one model are left out.
        chances: suite and question to the level of chance, where it is known.
        facts: of suites that may be averaged, by name.
        headlines: suite and question of the rankings that may be averaged.
        each: whether suites that are in a mean, and their single questions, have curves too.

    Raises:
        UsageError: no ranking is of revisions of one model.
    """
    heads = [one for one in rankings if (one.suite, one.question) in headlines]
    means = [*means_over_training(heads, facts or {})]
    averaged = set() if each else {suite for one in means for suite in one.suites}
    alone = [one for one in rankings if one.suite not in averaged]
    frame = steps_frame([*mean_rows(means), *suite_rows(alone, chances)])
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


def suite_rows(
    rankings: Sequence[Ranking], chances: Mapping[tuple[str, str], float]
) -> Iterator[tuple[object, ...]]:
    """The numbers of the curves of suites.

    Args:
        rankings: those whose models are not revisions of one model have none.
        chances: suite and question to the level of chance, where it is known.

    Yields:
        Panel, step, model, accuracy, low, high, number of items, chance.
    """
    parts = attrgetter("step", "model", "accuracy", "interval.low", "interval.high", "n")
    for ranking in rankings:
        chance = chances.get((ranking.suite, ranking.question))
        for checkpoint in ranking.checkpoints:
            yield f"{ranking.suite}, {ranking.question}", *parts(checkpoint), chance


def mean_rows(means: Iterable[MeanAtStep]) -> Iterator[tuple[object, ...]]:
    """The numbers of the curves of means over suites; panels name chance and, of few, the suites.

    Args:
        means: those of `means_over_training`.

    Yields:
        Panel, step, model, mean, low, high, number of suites, chance.
    """
    for one in means:
        n_suites = len(one.units)
        twins = " and twins" * (1 < n_suites < len(one.suites))
        level = "" if one.chance is None else f", chance {one.chance:g}"
        names = f": {', '.join(one.units)}" * (1 < n_suites <= MOST_NAMED)
        panel = f"{one.label}{twins}{level} (95% over {one.about}){names}"
        yield panel, one.step, one.model, one.value, one.low, one.high, n_suites, one.chance
