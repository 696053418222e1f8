"""The course of a training: where accuracy rises, and from which step on nothing changes surely.

Each step is compared with the first one and with the last one, item by item. All intervals of a
training are widened together (Bonferroni), so that they hold simultaneously. They are about other
items of these suites, not about other training seeds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from cimento.compare.gate import mean_change
from cimento.compare.training_means import means_over_training
from cimento.io.parsing import value_at
from cimento.paired.item_outcomes import built_as, step_of, steps_of
from cimento.statistics.differences import Difference, share_difference
from cimento.statistics.suite_means import SuiteValue

if TYPE_CHECKING:
    from cimento.compare.over_suites import SuiteFacts
    from cimento.compare.ranking_records import Ranking
    from cimento.kinds.run import Run
    from cimento.paired.item_outcomes import ItemOutcomes

_FEWEST_STEPS = 3
"""Steps that make a course; two checkpoints are a before and an after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """What says that some runs are of checkpoints of one model.

    Attributes:
        family: what the names of the checkpoints have in common.
        names: names of the first and the last, from which the order was read.
        steps: steps of training, in order.
        built: kind, architecture, number of parameters and tokenizer, which are the same in all;
            empty texts where the records are silent.
        alike: steps with the same weights as the step before them.
    """

    family: str
    names: tuple[str, str]
    steps: tuple[int, ...]
    built: tuple[str, ...]
    alike: tuple[int, ...]


def training_of(runs: Sequence[Run]) -> Training | None:
    """The training that all runs are of; None if they are of several models, or of two steps.

    Names propose an order, and the records have the last word: models that are built differently
    are not one model, and a step that a suite has twice is not one step.

    Args:
        runs: of any suites.
    """
    by_run = list(zip(runs, steps_of(runs), strict=True))
    steps = dict.fromkeys(step for _, step in by_run)
    by_suite = [(run.suite.name, step) for run, step in by_run]
    numbers = sorted(step for _, step in steps if step is not None)
    if (
        len({family for family, _ in steps}) != 1
        or len(numbers) < max(_FEWEST_STEPS, len(steps))
        or len(set(by_suite)) < len(by_suite)
        or len({run.model for run in runs}) > len(steps)
    ):
        return None
    by_step = {step_of(named)[1]: (named, run) for run in runs for named in [_named(run)]}
    weights = [value_at(by_step[step][1].manifest, "inputs", "revision") for step in numbers]
    return Training(
        family=next(iter(steps))[0],
        names=(by_step[numbers[0]][0], by_step[numbers[-1]][0]),
        steps=tuple(numbers),
        built=built_as(runs[0]),
        alike=tuple(
            step
            for step, now, before in zip(numbers[1:], weights[1:], weights, strict=False)
            if now and now == before
        ),
    )


def _named(run: Run) -> str:
    return str(run.manifest.get("named") or run.model)


@dataclass(frozen=True, slots=True)
class Point:
    """Accuracy at a step.

    Attributes:
        step: of training.
        value: proportion of correct items; of several suites, their mean.
        low: lower end of its 95% interval; None where there is none.
        high: upper end.
        reason: why there is none.
    """

    step: int
    value: float | None
    low: float | None
    high: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Accuracy over training, on one suite or as a mean over suites of one level of chance.

    Attributes:
        label: the suite, and its question where others have courses too; or `MeanAtStep.label`.
        suites: their names.
        units: their names without twins, which count once with the suite of the same items.
        n: number of units, or of items of a single suite.
        chance: level of chance; None where it is not known.
        about: what the intervals of points are for other ones of.
        points: by step.
        from_first: change from the first step to each later one, with its widened interval.
        to_last: change from each step but the last to the last one, likewise.
    """

    label: str
    suites: tuple[str, ...]
    units: tuple[str, ...]
    n: int
    chance: float | None
    about: str
    points: tuple[Point, ...]
    from_first: tuple[Difference, ...]
    to_last: tuple[Difference, ...]

    @property
    def change(self) -> Difference:
        """From the first step to the last."""
        return self.to_last[0]

    @property
    def rises(self) -> int | None:
        """The first step that is surely above the first one; None if none is."""
        later = zip(self.points[1:], self.from_first, strict=True)
        return next((at.step for at, change in later if (change.low or 0.0) > 0), None)

    @property
    def falls(self) -> int | None:
        """The first step that is surely below the first one; None if none is."""
        later = zip(self.points[1:], self.from_first, strict=True)
        return next((at.step for at, change in later if (change.high or 0.0) < 0), None)

    @property
    def differs_until(self) -> int | None:
        """The last step that surely differs from the final one; None if none does."""
        sure = self._n_before_rest
        return self.points[sure - 1].step if sure else None

    @property
    def rest_within(self) -> float | None:
        """The largest difference from the final step that intervals leave to the steps after that.

        None where the last step but one still differs surely.
        """
        ends = [
            abs(end)
            for one in self.to_last[self._n_before_rest :]
            for end in (one.low, one.high)
            if end is not None
        ]
        return max(ends, default=None)

    @property
    def _n_before_rest(self) -> int:
        """Number of steps up to the last one that surely differs from the final one."""
        return max((k for k, one in enumerate(self.to_last, start=1) if _is_sure(one)), default=0)


def _is_sure(change: Difference) -> bool:
    return (change.low or 0.0) > 0 or (change.high or 0.0) < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve:
    """Points over training, and the rankings of the suites that they are of."""

    label: str
    units: tuple[str, ...]
    n: int
    chance: float | None
    about: str
    points: tuple[Point, ...]
    rankings: tuple[Ranking, ...]


def courses_of(
    rankings: Sequence[Ranking],
    outcomes: Sequence[ItemOutcomes],
    facts: Mapping[str, SuiteFacts],
    *,
    headlines: Collection[tuple[str, str]],
    each: bool = False,
) -> tuple[Course, ...]:
    """The courses of a training: means over suites of one level of chance, then other suites.

    Args:
        rankings: of checkpoints of one model.
        outcomes: that they were made of.
        facts: of the suites.
        headlines: suite and question of the rankings that may be averaged.
        each: whether suites that are in a mean have a course of their own too.
    """
    curves = [*_curves(rankings, facts, headlines=headlines, each=each)]
    level = 1 - 0.05 / max(1, sum(2 * len(curve.points) - 3 for curve in curves))
    known = {(one.suite, one.question, one.step): one for one in outcomes}
    found = []
    for curve in curves:
        steps = [point.step for point in curve.points]
        change = partial(_change, curve, known, facts, level=level)
        found.append(
            Course(
                label=curve.label, units=curve.units, n=curve.n, chance=curve.chance,
                about=curve.about, points=curve.points,
                suites=tuple(one.suite for one in curve.rankings),
                from_first=tuple(change(steps[0], step) for step in steps[1:]),
                to_last=tuple(change(step, steps[-1]) for step in steps[:-1]),
            )
        )  # fmt: skip
    return tuple(found)


def _change(
    curve: _Curve,
    known: Mapping[tuple[str, str, int | None], ItemOutcomes],
    facts: Mapping[str, SuiteFacts],
    first: int,
    second: int,
    *,
    level: float,
) -> Difference:
    """The change between two steps, over the items that all steps were scored on."""
    changes = []
    for ranking in curve.rankings:
        sides = [known[ranking.suite, ranking.question, step] for step in (second, first)]
        after, before = ([side.right[item] for item in ranking.items] for side in sides)
        design = sides[0].design(ranking.items)
        changes.append((ranking.suite, share_difference(after, before, design, level=level)))
    if len(changes) == 1:
        return changes[0][1]
    return mean_change(
        [
            SuiteValue(
                suite, facts[suite].unit, facts[suite].phenomena, one.estimate, one.low, one.high
            )
            for suite, one in changes
            if one.estimate is not None
        ]
    )


def _curves(
    rankings: Sequence[Ranking],
    facts: Mapping[str, SuiteFacts],
    *,
    headlines: Collection[tuple[str, str]],
    each: bool,
) -> Iterator[_Curve]:
    heads = {(one.suite, one.question): one for one in rankings if one.checkpoints}
    main = {one.suite: one for key, one in heads.items() if key in headlines}
    averaged: set[str] = set()
    for suites, at in groupby(means_over_training([*main.values()], facts), lambda one: one.suites):
        means = sorted(at, key=lambda one: one.step)
        about = means[0]
        averaged |= {*suites}
        yield _Curve(
            label=about.label, units=about.units, n=len(about.units),
            chance=about.chance, about=about.about,
            points=tuple(
                Point(one.step, one.value, one.low, one.high, one.reason) for one in means
            ),
            rankings=tuple(main[suite] for suite in suites),
        )  # fmt: skip
    for (suite, question), ranking in heads.items():
        if suite in averaged and not each:
            continue
        is_main = (suite, question) in headlines
        yield _Curve(
            label=suite if is_main and not each else f"{suite}, {question}",
            units=(suite,), n=ranking.n, about="items",
            chance=facts[suite].chance if is_main else None,
            points=tuple(
                Point(one.step or 0, one.accuracy, ends.low, ends.high, ends.reason or "")
                for one in ranking.checkpoints
                for ends in [one.interval]
            ),
            rankings=(ranking,),
        )  # fmt: skip
