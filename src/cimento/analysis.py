"""Runs compared, reported, drawn, cited and exported; each function takes runs or their folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.errors import UsageError, did_you_mean
from cimento.runs.run import Run, open_runs

if TYPE_CHECKING:
    from cimento.cite.methods import ParagraphForm
    from cimento.compare.before_after import Comparison
    from cimento.compare.pairwise import Correction
    from cimento.compare.ranking import Rankings
    from cimento.export import ExportTarget
    from cimento.report.figures import Figure

RunLike: TypeAlias = "Run | str | Path"
"""A run, the folder of a run, or a folder of runs."""

RunsLike: TypeAlias = "RunLike | Iterable[RunLike]"

Cited: TypeAlias = Literal["bibtex", "methods"]


def runs_of(runs: RunsLike) -> list[Run]:
    """Runs, whatever they are given as.

    Args:
        runs: one or several; folders are opened.

    Raises:
        TableError: a folder holds no finished run, or one that cannot be read.
    """
    several = [runs] if isinstance(runs, Run | str | Path) else runs
    return [
        run for like in several for run in ([like] if isinstance(like, Run) else open_runs(like))
    ]


def compare(
    first: RunsLike,
    second: RunsLike | None = None,
    *,
    measure: str = "",
    correction: Correction = "holm",
    seed: int = 0,
) -> Comparison | Rankings:
    """Runs compared item by item: before and after, or all models of each suite.

    Args:
        first: before; or all runs, where there is no second.
        second: after; None to rank all models.
        measure: of scores and verdicts, of runs that can be judged on another one; empty for as
            they are.
        correction: of p-values: ``holm``, or ``bh`` for the share of false finds.
        seed: of resampling.

    Returns:
        Before and after: the changes of every rate, score and correlation. Else the places of the
        models of each suite, and every pair of them.

    Raises:
        UsageError: no runs belong together, or two share no item.
        TableError: a run cannot be read.
    """
    from cimento.compare.before_after import compare as before_and_after
    from cimento.compare.item_outcomes import item_outcomes, judged_on
    from cimento.compare.ranking import rank_models

    if second is not None:
        return before_and_after(
            runs_of(first), runs_of(second), measure=measure, correction=correction, seed=seed
        )
    outcomes = item_outcomes(judged_on(runs_of(first), measure))
    return rank_models(outcomes, correction=correction, seed=seed)


def report(runs: RunsLike, path: str | Path) -> Path:
    """A report of runs of any kinds of test, in one file.

    Args:
        runs: in the order in which they are shown.
        path: ``.html``, ``.md``, ``.txt``, ``.csv`` or ``.json``; the ending says the form.

    Returns:
        The path.

    Raises:
        UsageError: the ending is none of these.
        StorageError: the file cannot be written.
    """
    from cimento.report.document import write_report

    return write_report(runs_of(runs), path)


def figure(runs: RunsLike, name: str, path: str | Path | None = None) -> Figure:
    """A figure of runs, one of those that the page of a report shows.

    Args:
        runs: that it shows.
        name: ``margins``, ``interaction``, ``scatter``, ``curve``, ``flow``, ``rates`` ...
        path: a file to write: ``.svg``, ``.png``, ``.pdf``, numbers ``.csv``, Vega-Lite ``.json``.

    Raises:
        UsageError: there is nothing to draw so in these runs, or several figures have the name.
        MissingDependencyError: the libraries that draw are not installed.
    """
    from cimento.report.document import sections_of
    from cimento.report.figures import load_altair

    load_altair()
    figures = [figure for section in sections_of(runs_of(runs)) for figure in section.figures]
    named = [figure for figure in figures if figure.name == name]
    if not named:
        raise UsageError(
            where=f"figure {name!r}",
            seen="there is nothing to draw so in these runs",
            todo=did_you_mean(name, dict.fromkeys(figure.name for figure in figures)),
        )
    if len(named) > 1:
        raise UsageError(
            where=f"figure {name!r}",
            seen=f"there are {len(named)} of them: {'; '.join(figure.title for figure in named)}",
            todo="Give one run.",
        )
    if path is not None:
        named[0].write(Path(path))
    return named[0]


def cite(runs: RunsLike, what: Cited = "bibtex", *, form: ParagraphForm = "text") -> str:
    """What runs rest on as BibTeX, or the paragraph that says how they were made.

    Args:
        runs: that are cited.
        what: ``bibtex``, or ``methods`` for the paragraph.
        form: of the paragraph: ``text``, ``markdown`` or ``latex``.

    Raises:
        TableError: a run cannot be read.
    """
    from cimento.cite import bibtex, methods_paragraph, references

    opened = runs_of(runs)
    if what == "methods":
        return methods_paragraph(opened, form=form)
    return bibtex(references(opened))


def export(
    runs: RunsLike, to: ExportTarget, folder: str | Path, *, organization: str = ""
) -> list[Path]:
    """Runs written for another program.

    Args:
        runs: that are written.
        to: ``lm-eval``, ``inspect``, ``every-eval-ever``, ``hf-dataset`` or ``r``.
        folder: where.
        organization: who evaluated, for ``every-eval-ever``.

    Returns:
        The files.

    Raises:
        UsageError: there is no such program, or it has no place for an organization.
        StorageError: a file cannot be written.
    """
    from cimento.export import write_export

    return write_export(runs_of(runs), to, Path(folder), organization=organization)
