"""What people answered put into a copy of the suite that they were asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cimento.api import load_suite
from cimento.errors import UsageError
from cimento.paradigms.base import Applied
from cimento.people.judgments.records import Judgment


def apply_judgments(
    path: Path,
    judgments: Sequence[Judgment],
    output: Path,
    *,
    scale: tuple[float, float] | None = None,
) -> Applied:
    """Write a copy of a suite with what people said of it, see `Paradigm.apply_judgments`.

    Args:
        path: the suite.
        judgments: those of other suites, and checks of attention, are passed over and counted.
        output: folder of the copy.
        scale: ends of the scale of ratings, the worst first; None for those of the suite.

    Raises:
        InputError: nobody answered anything about the suite, or a rating is off the scale.
        UsageError: suites of its paradigm hold no answers of people, or the scale is unknown.
        StorageError: the copy cannot be written.
    """
    if path.resolve() == output.resolve():
        raise UsageError(
            where="--output", seen="is the suite itself", todo="Name a folder for the copy."
        )
    loaded = load_suite(path)
    return loaded.paradigm.apply_judgments(loaded.suite, judgments, output, scale=scale)
