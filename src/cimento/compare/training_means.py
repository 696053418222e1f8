"""Means over suites at each step of a training, with their table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.io.values import grouped
from cimento.report.formatting import ends_of, some
from cimento.report.grid import BLANK, Grid
from cimento.statistics.suite_means import SuitesMean, SuiteValue, mean_over_suites

if TYPE_CHECKING:
    from cimento.compare.over_suites import SuiteFacts
    from cimento.compare.ranking_records import RankedModel, Ranking

_FEWEST_SUITES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanAtStep:
    """The mean over suites of one level of chance at a step of training.

    Attributes:
        step: the step.
        model: label of the model.
        value: unweighted mean proportion of correct items.
        low: lower end of its 95% interval; None where there is none.
        high: upper end.
        about: what the interval is for other ones of: ``phenomena``, ``suites`` or ``items``.
        suites: their names.
        units: their names without twins: of suites made of the same items, which count once, the
            first.
        chance: their level of chance; None where it is not known.
        part: ``starter`` or ``generated`` if they are suites of cimento itself, else empty.
        reason: why there is no interval; empty where there is one.
    """

    step: int
    model: str
    value: float | None
    low: float | None
    high: float | None
    about: str
    suites: tuple[str, ...]
    units: tuple[str, ...]
    chance: float | None
    part: str
    reason: str


def means_over_training(
    rankings: Sequence[Ranking], facts: Mapping[str, SuiteFacts]
) -> Iterator[MeanAtStep]:
    """The means over suites of one level of chance, step by step; twins are one suite, their mean.

    Starter suites and generated drafts have means of their own. A step is there only if all suites
    of its mean have it. The interval is that for other phenomena; where it is undefined at a step,
    it is that for other items of these suites at all steps. Factorial designs are left out, which
    are summed up by DD.

    Args:
        rankings: one for each suite.
        facts: of the suites.
    """
    by_level = grouped(
        ((checkpoints[0].family, about.chance, about.part), (ranking.suite, checkpoints))
        for ranking in rankings
        if (checkpoints := ranking.checkpoints) and not (about := facts[ranking.suite]).is_design
    )
    for (_, chance, part), of_suites in by_level.items():
        if len(of_suites) < _FEWEST_SUITES:
            continue
        means = _means_by_step(of_suites, facts)
        known = all(over.mean.low is not None for _, over in means.values())
        for step, (model, over) in means.items():
            ends = over.mean if known else over.items
            yield MeanAtStep(
                step=step, model=model, value=over.mean.value,
                low=None if ends.low is None else max(0.0, ends.low),
                high=None if ends.high is None else min(1.0, ends.high),
                about=over.target if known else "items",
                suites=tuple(suite for suite, _ in of_suites),
                units=tuple(dict.fromkeys(facts[suite].unit for suite, _ in of_suites)),
                chance=chance, part=part, reason=ends.reason or "",
            )  # fmt: skip


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


def training_grids(
    rankings: Sequence[Ranking],
    facts: Mapping[str, SuiteFacts],
    *,
    headlines: Collection[tuple[str, str]],
) -> dict[str, Grid]:
    """The table of means over suites in the order of training, by name; none without such means.

    Args:
        rankings: of any suites and questions.
        facts: of the suites.
        headlines: suite and question of the rankings that may be averaged.
    """
    heads = [one for one in rankings if (one.suite, one.question) in headlines]
    means = [*means_over_training(heads, facts)]
    if not means:
        return {}
    about = dict.fromkeys(one.about for one in means)
    reasons = dict.fromkeys(one.reason for one in means if one.reason)
    what = (
        f"Intervals generalize to other {' or '.join(about)}. Suites made of the same items, such"
        " as a suite and its twin, count as one."
    )
    levels = dict.fromkeys((one.chance, one.part, one.units) for one in means)
    members = (
        f"{suites}{level and f', chance {level}'}: {some(units)}."
        for chance, part, units in levels
        for suites in [counted(len(units), f"{part} suite".strip())]
        for level in ["" if chance is None else f"{chance:.2f}"]
    )
    grid = Grid.of(
        means,
        {
            "suites": lambda one: f"{len(one.units)} {one.part}" if one.part else len(one.units),
            "chance": lambda one: BLANK if one.chance is None else f"{one.chance:.2f}",
            "step": lambda one: one.step,
            "accuracy": lambda one: BLANK if one.value is None else f"{one.value:.3f}",
            "95%": ends_of,
            "model": lambda one: one.model,
        },
        title="Mean accuracy over training, of suites with the same level of chance.",
        remarks=1,
        notes=(what, *members, *(f"No interval: {reason}." for reason in reasons)),
    )
    return {"training": grid}
