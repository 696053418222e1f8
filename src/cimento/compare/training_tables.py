"""A training in words and as tables: what changed, and accuracy at each step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from cimento.paired.item_outcomes import COEFFICIENTS, steps_of
from cimento.report.formatting import ends_of, rate_as_text, signed, some
from cimento.report.grid import BLANK, EstimateCell, Grid
from cimento.report.suite_differences import TWINS

if TYPE_CHECKING:
    from cimento.compare.training_courses import Course, Point, Training
    from cimento.kinds.run import Run

_BUILT = ("kind", "architecture", "number of parameters", "tokenizer")


def training_grids(courses: Sequence[Course], training: Training | None = None) -> dict[str, Grid]:
    """The tables of a training by name: what changed, and the curve; none without courses.

    Args:
        courses: from `courses_of`.
        training: what the order was read from, which the first table says; None where runs of
            other models are there too.
    """
    if not courses:
        return {}
    return {"training": _changes_grid(courses, training), "curve": _curve_grid(courses)}


_RATED = "Rated sets over training: the correlation with ratings."
_REST = (
    "rest: what these items leave open, the largest possible difference between the final step and"
    " those after until. Blank: the last step but one still differs."
)


def _said(training: Training) -> str:
    """What was taken as the order of the checkpoints, and what their records confirm."""
    first, last = (PurePath(name).name for name in training.names)
    steps = f"{training.steps[0]:,} to {training.steps[-1]:,}"
    known = [what for what, said in zip(_BUILT, training.built, strict=True) if said]
    same = (
        f"by their records, they agree in {', '.join(known)}"
        if known
        else "their records do not say how the models are built"
    )
    again = [f"{step:,}" for step in training.alike]
    return (
        f"{len(training.steps)} checkpoints of {PurePath(training.family).name}, steps {steps}."
        f" Taken as the order: the steps in their names, from {first} to {last}; {same}."
    ) + f" With the weights of the step before: {', '.join(again)}." * bool(again)


def rated_grids(runs: Sequence[Run], training: Training | None = None) -> dict[str, Grid]:
    """The table of correlations with ratings at each step, by name; none without rated sets.

    Args:
        runs: of checkpoints of one model, each suite once per step.
        training: what the order was read from, where no other table says it.
    """
    cells = {
        (f"{run.suite.name}, {one.statistic} of {one.question}", step): EstimateCell.of(
            one.value, one, one.n, digits=3
        )
        for run, (_, step) in zip(runs, steps_of(runs), strict=True)
        for one in run.estimates()
        if step is not None and one.role == "headline" and one.statistic in COEFFICIENTS
    }
    if not cells:
        return {}
    columns = list(dict.fromkeys(column for column, _ in cells))
    steps = sorted({step for _, step in cells})
    rows = tuple(
        (str(step), *(cells.get((column, step), BLANK) for column in columns)) for step in steps
    )
    grid = Grid(
        title=f"{_said(training)} {_RATED}" if training else _RATED,
        header=("step", *columns),
        rows=rows,
        notes=("95% intervals, for other items.",),
    )
    return {"rated": grid}


def _changes_grid(courses: Sequence[Course], training: Training | None) -> Grid:
    n = sum(2 * len(one.points) - 3 for one in courses)
    reasons = dict.fromkeys(one.change.reason for one in courses if one.change.reason)
    wide = (
        f", widened so that all {n} comparisons of a step with the first or the last hold"
        " simultaneously."
        if n > 1
        else "."
    )
    falls = any(one.falls for one in courses)
    return Grid.of(
        courses,
        {
            "suites": lambda one: one.label,
            "chance": lambda one: BLANK if one.chance is None else f"{one.chance:.2f}",
            "first": lambda one: rate_as_text(one.points[0].value, absent=BLANK),
            "last": lambda one: rate_as_text(one.points[-1].value, absent=BLANK),
            "change": lambda one: signed(one.change.estimate, digits=3, absent=BLANK),
            "95%": lambda one: ends_of(one.change),
            "rises": lambda one: one.rises,
            "falls": lambda one: one.falls,
            "until": lambda one: one.differs_until,
            "rest": lambda one: rate_as_text(one.rest_within, absent=BLANK),
        },
        title=_said(training) if training else "Accuracy over training: what changed.",
        without=() if falls else ("falls",),
        notes=(
            "95%: of the change, for other items of these suites" + wide,
            "rises: the first step surely above the first one"
            + "; falls: the first surely below it" * falls
            + ". until: the last step that surely differs from the final one. Blank: none.",
            _REST,
            *([TWINS] if any(len(one.suites) > one.n for one in courses) else ()),
            *(f"No interval: {reason}." for reason in reasons),
        ),
    )


def _curve_grid(courses: Sequence[Course]) -> Grid:
    """The table with a row for each step, and a column for each course."""
    steps = sorted({point.step for one in courses for point in one.points})
    by_step = [{point.step: point for point in one.points} for one in courses]
    about = dict.fromkeys(one.about for one in courses)
    means = [one for one in courses if len(one.units) > 1]
    return Grid(
        title="Accuracy over training"
        + "; of several suites with the same level of chance, the mean" * bool(means)
        + ".",
        header=("step", *map(_titled, courses)),
        rows=tuple(
            (
                str(step),
                *(
                    _cell(points.get(step), one.n)
                    for one, points in zip(courses, by_step, strict=True)
                ),
            )
            for step in steps
        ),
        notes=(
            f"95% intervals, for other {' or '.join(about)}.",
            *(f"{_titled(one)}: {some(one.units)}." for one in means),
        ),
    )


def _cell(point: Point | None, n: int) -> EstimateCell | str:
    return BLANK if point is None else EstimateCell.of(point.value, point, n, digits=3)


def _titled(course: Course) -> str:
    return course.label + (BLANK if course.chance is None else f", chance {course.chance:.2f}")
