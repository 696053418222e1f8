"""The figure of checkpoints of one model over its training, by suite and as a mean over suites."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.report.figures import (
    Figure,
    require_rows,
)
from cimento.report.figures_rates import steps_frame, training_figure
from cimento.statistics.suite_means import SuitesMean, SuiteValue, mean_over_suites

if TYPE_CHECKING:
    from cimento.compare.over_suites import SuiteFacts
    from cimento.compare.ranking_records import RankedModel, Ranking

_FEWEST_SUITES = 2


def checkpoints_figure(
    rankings: Sequence[Ranking],
    *,
    chances: Mapping[tuple[str, str], float],
    facts: Mapping[str, SuiteFacts] | None = None,
    headlines: Collection[tuple[str, str]] = (),
) -> Figure:
    """Accuracy by training step, with 95% intervals: means over suites, then suite by suite.

    Args:
        rankings: rankings; those whose models are not revisions of one model are left out.
        chances: suite and question to the level of chance, where it is known.
        facts: of suites that may be averaged, by name.
        headlines: suite and question of the rankings that may be averaged.

    Raises:
        UsageError: no ranking is of revisions of one model.
    """
    means = mean_rows(
        [one for one in rankings if (one.suite, one.question) in headlines], facts or {}
    )
    frame = steps_frame([*means, *suite_rows(rankings, chances)])
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


def mean_rows(
    rankings: Sequence[Ranking], facts: Mapping[str, SuiteFacts]
) -> Iterator[tuple[object, ...]]:
    """The numbers of the curves of means over suites of one level of chance.

    A step is there only if all of these suites have it. The interval is that for other phenomena;
    where it is undefined at a step, it is that for other items of these suites at all steps.
    Factorial designs are left out, which are summed up by DD.

    Args:
        rankings: one for each suite.
        facts: of the suites.

    Yields:
        Panel, step, model, mean, low, high, number of suites, chance.
    """
    by_level = grouped(
        ((checkpoints[0].family, facts[ranking.suite].chance), (ranking.suite, checkpoints))
        for ranking in rankings
        if (checkpoints := ranking.checkpoints) and not facts[ranking.suite].is_design
    )
    for (_, chance), of_suites in by_level.items():
        means = _means_by_step(of_suites, facts)
        if len(of_suites) < _FEWEST_SUITES or not means:
            continue
        known = all(over.mean.low is not None for _, over in means.values())
        whose = f"other {next(iter(means.values()))[1].target}" if known else "other items"
        of_level = "" if chance is None else f" of chance {chance:g}"
        panel = f"mean of {len(of_suites)} suites{of_level}, 95% for {whose}"
        for step, (model, over) in means.items():
            ends = over.mean if known else over.items
            low = None if ends.low is None else max(0.0, ends.low)
            high = None if ends.high is None else min(1.0, ends.high)
            yield panel, step, model, over.mean.value, low, high, over.mean.n, chance


def _means_by_step(
    of_suites: Sequence[tuple[str, Sequence[RankedModel]]], facts: Mapping[str, SuiteFacts]
) -> dict[int, tuple[str, SuitesMean]]:
    """Each step that all suites have, with its model and the mean over the suites."""
    by_step = grouped(
        (checkpoint.step, (checkpoint, suite))
        for suite, checkpoints in of_suites
        for checkpoint in checkpoints
        if checkpoint.accuracy is not None
    )
    return {
        step: (models[0][0].model, mean_over_suites([_value(*one, facts) for one in models]))
        for step, models in by_step.items()
        if step is not None and len(models) == len(of_suites)
    }


def _value(checkpoint: RankedModel, suite: str, facts: Mapping[str, SuiteFacts]) -> SuiteValue:
    about, interval = facts[suite], checkpoint.interval
    value = checkpoint.accuracy or 0.0
    return SuiteValue(suite, about.unit, about.phenomena, value, interval.low, interval.high)
