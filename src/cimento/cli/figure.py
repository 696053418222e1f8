"""``cimento report --figure``: figures of stored runs, with the numbers behind them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cimento.cli.console import note
from cimento.cli.report import ReportOptions, names_given, open_reports
from cimento.documents.paper import names_standing
from cimento.documents.paper_figure import RESULTS, results_figure
from cimento.errors import UsageError, did_you_mean
from cimento.kinds.named import FigureSettings
from cimento.kinds.registry import own_paradigms
from cimento.kinds.run import Run, open_runs

if TYPE_CHECKING:
    from cimento.kinds.presenter import Presenter
    from cimento.measures.normalizing import Scope
    from cimento.report.figures import Figure


def draw(options: ReportOptions) -> int:
    """Draw the figure that ``--figure`` names, each drawing to a file.

    Raises:
        UsageError: no file is given, or the runs cannot be drawn so.
    """
    if options.output is None:
        raise UsageError(
            where=f"--figure={options.figure}",
            seen="no file is given",
            todo=f"Add -o {options.figure}.svg, or another file: .png, .pdf, .csv or .json.",
        )
    if len(options.measures) > 1:
        raise UsageError(
            where="--measure",
            seen=f"a figure shows one measure, and here are {len(options.measures)}",
            todo="Give one.",
        )
    drawn = _drawn(options)
    texts = [text for figure in drawn for text in figure.texts]
    names = names_standing(names_given(options.rename), texts)
    written = []
    for figure, path in zip(drawn, _paths(options.output, len(drawn)), strict=True):
        dressed = figure.dressed(
            title=options.title, names=names, font_size=options.font_size, gray=options.gray
        )
        written.append(dressed.write(path))
    options.neutralize(*written)
    for path in written:
        note(f"The figure is in {path}")
    return 0


def _drawn(options: ReportOptions) -> list[Figure]:
    """The figures of a name: that of runs of all kinds, one of their kind, or those of the page.

    Raises:
        UsageError: there is none.
    """
    if options.figure == RESULTS:
        return [results_figure(open_reports(options.runs, options.measures))]
    own = _of_kind(options)
    return _of_page(options) if own is None else [own]


def _of_all_kinds(options: ReportOptions) -> list[str]:
    """The name of the figure of runs of all kinds, where these can be drawn so."""
    try:
        results_figure(open_reports(options.runs, options.measures))
    except UsageError:
        return []
    return [RESULTS]


def _names_of_kinds(folders: Sequence[Path]) -> tuple[Sequence[str], Sequence[str]]:
    """The figures that the kind of these runs can draw them as, and all that kinds draw by name."""
    runs = open_runs(folders)
    presenters = _presenters(runs)
    by_name = [name for presenter in presenters for name in presenter.figures]
    return presenters[0].drawable(runs) if len(presenters) == 1 else (), by_name


def _presenters(runs: Sequence[Run]) -> list[Presenter[Any, Any]]:
    """The presenters of some runs; one for kinds that have their figures in common."""
    presenters = (paradigm.presenter for paradigm in {run.paradigm: None for run in runs})
    return list({presenter.figure: presenter for presenter in presenters}.values())


def _paths(output: Path, count: int) -> list[Path]:
    """A file for each figure, numbered if there are several."""
    if count == 1:
        return [output]
    return [output.with_name(f"{output.stem}-{k}{output.suffix}") for k in range(1, count + 1)]


def _of_page(options: ReportOptions) -> list[Figure]:
    """The figures on the page that have this name.

    Raises:
        UsageError: the page has no such figure.
    """
    name = options.figure
    known = _on_page(options.runs, options.measures)
    figures = [figure for figure in known if figure.name == name]
    if not figures:
        drawable, by_name = _names_of_kinds(options.runs)
        # What a kind draws by name it draws of these runs or refuses, also where a page has it.
        there = {figure.name for figure in known}.difference(by_name).union(drawable)
        there.update(_of_all_kinds(options))
        raise UsageError(
            where=f"--figure={name}",
            seen="there is no such figure of these runs",
            todo=did_you_mean(name, there.union(by_name), listed=there) or "These runs have none.",
        )
    return figures


def _on_page(folders: Sequence[Path], measures: Sequence[str]) -> list[Figure]:
    """All figures on the page of these runs."""
    from cimento.documents import sections_of
    from cimento.report.figures import load_altair

    load_altair()
    sections = sections_of(open_reports(folders, measures))
    return [figure for section in sections for figure in section.figures]


def _of_kind(options: ReportOptions) -> Figure | None:
    """A figure that the kind of the runs draws by name; None if it is none of those.

    Raises:
        UsageError: it is, but not for all of these runs.
    """
    name, runs = options.figure, open_runs(options.runs)
    kinds = dict.fromkeys(run.paradigm for run in runs)
    others = [kind.name for kind in kinds if name not in kind.presenter.figures]
    drawing = [kind for kind in kinds if name in kind.presenter.figures]
    drawing = drawing or [kind for kind in own_paradigms() if name in kind.presenter.figures]
    if not drawing:
        return None
    presenters = _presenters(runs)
    if others or len(presenters) > 1:
        raise UsageError(
            where=f"--figure={name}",
            seen=f"runs of the kind {', '.join(others or [kind.name for kind in kinds])} are not"
            f" drawn like this{'' if others else ' together'}",
            todo=f"Give runs of {' or '.join(kind.name for kind in drawing)}, or"
            " draw a figure of the page: `cimento report RUN -o report.html` shows which there"
            " are.",
        )
    settings = options.named_in(
        FigureSettings,
        beside=None if options.people is None else _people(options.people, options.scope),
        measure="".join(options.measures),
        scale=options.scale or "z",
    )
    return presenters[0].figure(name, runs, settings)


def _people(path: Path, scope: Scope) -> object:
    """The judgments in a table of them, or the effects in another table of ratings.

    Raises:
        InputError: the file cannot be used.
    """
    from cimento.judgments import is_judgments, judgments_of, read_judgments

    if is_judgments(path):
        return judgments_of(read_judgments(path))
    from cimento.studies.islands.human import people_result

    return people_result(path, scope=scope)
