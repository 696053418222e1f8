"""``cimento compare`` of checkpoints of one model: the course of their training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from cimento.cli.console import note, show_json
from cimento.cli.report import GridOptions, show_grids
from cimento.compare.training_tables import rated_grids, training_grids

if TYPE_CHECKING:
    from cimento.compare.training_courses import Course, Training
    from cimento.kinds.run import Run

_WHERE_RANKS = "Ranks: --details prints them; every pair of checkpoints: --pairs."


def show_training(
    training: Training,
    courses: Sequence[Course],
    runs: Sequence[Run],
    options: GridOptions,
    *,
    rankings: Sequence[object],
) -> int:
    """Print and write the course of a training, without ranks and pairs of its checkpoints.

    Args:
        training: the checkpoints.
        courses: accuracy over training.
        runs: of the checkpoints.
        options: where tables go.
        rankings: the accuracies by suite, as JSON has them.

    Returns:
        The exit code, 0.
    """
    rated = rated_grids(runs, None if courses else training)
    show_grids(training_grids(courses, training) | rated, options)
    if not options.as_json:
        note(_WHERE_RANKS)
        return 0
    show_json(
        {
            "rankings": rankings,
            "correlations": [],
            "equivalence": None,
            "training": list(map(plain_course, courses)),
            "order": training,
        }
    )
    return 0


def plain_course(course: Course) -> dict[str, object]:
    """A course as JSON.

    Args:
        course: the course.
    """
    names = ("rises", "falls", "differs_until", "rest_within")
    return {**asdict(course), **{name: getattr(course, name) for name in names}}
