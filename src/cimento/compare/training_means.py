"""Means over suites at each step of a training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.io.values import grouped
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

    @property
    def label(self) -> str:
        """How many suites it is the mean of, or which suite that has a twin."""
        if len(self.units) == 1:
            return f"{self.units[0]} and its twin"
        return f"mean of {len(self.units)} {f'{self.part} suites'.strip()}"


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
