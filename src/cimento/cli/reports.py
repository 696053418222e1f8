"""Stored runs of any paradigm, opened for reports, tables, figures and single items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cimento.measures.registry import judged_on as measures_named
from cimento.report.document import versions_apart
from cimento.runs.run import Run, open_runs


def open_reports(paths: Iterable[Path], measures: Sequence[str] = ()) -> list[Run]:
    """The runs in some folders, each a run or a folder of runs, of any paradigm.

    Versions of a suite that was edited have digits of their content behind their names.

    Args:
        paths: folders.
        measures: on which runs of whole sentences are judged and shown; empty for those that each
            was made for.

    Raises:
        TableError: a folder holds no finished run, or one that cannot be read.
        UsageError: there is no such measure.
    """
    return versions_apart([judged_on(run, measures) for run in open_runs(paths)])


def judged_on(run: Run, measures: Sequence[str]) -> Run:
    """The same answers, judged and shown on some measures of whole sentences.

    Args:
        run: of any paradigm; those without measures stay as they are.
        measures: their names; ``regions`` for the values of regions; empty for the run's own.

    Raises:
        UsageError: there is no such measure.
    """
    if not measures or not has_sentences(run):
        return run
    names = measures_named(measures)
    return run.judge(measure=names[0], also=tuple(names[1:]))


def has_sentences(run: Run) -> bool:
    """Whether the sentences of a run were scored, so that measures of them can be looked at."""
    return "measure" in type(run.options).model_fields
