"""What is made of stored runs for the pages of step 4: reports, comparisons, figures and tables."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cimento.app.workspace import Workspace
from cimento.compare import compare
from cimento.compare.item_outcomes import labelled_apart
from cimento.errors import CimentoError, UsageError
from cimento.report.document import html, sections_of, versions_apart
from cimento.report.figures import Figure, lacking_figures
from cimento.report.grid import GRID_FORMS, Grid
from cimento.report.paper import results_grid
from cimento.report.records import NamedGrid
from cimento.runs.run import Run, open_runs
from cimento.runs.store import MANIFEST

if TYPE_CHECKING:
    from nicegui import App
    from starlette.requests import Request
    from starlette.responses import Response

FIGURE_FORMS = (".svg", ".pdf", ".png", ".csv")
TABLE_FORMS = (".tex", ".csv", ".md")

# The page has a policy of its own. In this frame it is of no origin, so that nothing in it could
# reach the app, even if a suite's text were ever run.
SANDBOX = "allow-scripts allow-popups"
_POLICY = f"sandbox {SANDBOX}; frame-ancestors 'self'"

_TWO = 2


@dataclass(frozen=True, slots=True)
class Results:
    """Some runs, and what the report shows of them.

    Attributes:
        runs: the runs, with labels that tell them apart.
        figures: the figures of the page.
        tables: the tables of the page, and before them the one for a paper.
        lacking: why no figure can be drawn; empty where they can.
    """

    runs: tuple[Run, ...]
    figures: tuple[Figure, ...]
    tables: tuple[NamedGrid, ...]
    lacking: str


def results_of(workspace: Workspace, names: Sequence[str]) -> Results:
    """The results of some runs; those asked for last are kept.

    Args:
        workspace: the folder.
        names: paths of the runs from there.

    Raises:
        CimentoError: none is named, one is outside the workspace, or one cannot be read.
    """
    if not names:
        raise UsageError(where="runs", seen="none is chosen", todo="Choose one or more.")
    paths = tuple(workspace.inside(name) for name in names)
    times = tuple(
        manifest.stat().st_mtime_ns if (manifest := path / MANIFEST).is_file() else 0
        for path in paths
    )
    return _results(paths, times)


@functools.lru_cache(maxsize=4)
def _results(paths: tuple[Path, ...], _times: tuple[int, ...]) -> Results:
    runs = labelled_apart(versions_apart(open_runs(paths)))
    sections = sections_of(runs)
    paper = NamedGrid("results", results_grid(runs))
    return Results(
        runs=tuple(runs),
        figures=tuple(figure for section in sections for figure in section.figures),
        tables=(paper, *(table for section in sections for table in section.tables)),
        lacking=lacking_figures(),
    )


def compared(runs: Sequence[Run]) -> Mapping[str, Grid]:
    """The tables that compare runs, by name: two of them item by item, more by rank.

    Returns:
        The tables; none for fewer than two runs.

    Raises:
        UsageError: no two belong together.
    """
    if len(runs) < _TWO:
        return {}
    if len(runs) == _TWO:
        return compare(runs[0], runs[1]).grids()
    return compare(runs).grids()


def figure_file(figure: Figure, form: str) -> bytes:
    """A figure in one of `FIGURE_FORMS`.

    Raises:
        CimentoError: it cannot be drawn.
    """
    with TemporaryDirectory(prefix="cimento-") as folder:
        return figure.write(Path(folder) / f"figure{form}").read_bytes()


def table_file(grid: Grid, form: str) -> bytes:
    """A table in one of `TABLE_FORMS`."""
    return GRID_FORMS[form](grid).encode()


def shown_figures(results: Results) -> Iterator[tuple[Figure, str]]:
    """The figures with their drawings as SVG; those that cannot be drawn are left out."""
    for figure in () if results.lacking else results.figures:
        try:
            yield figure, figure.svg()
        except UsageError:
            continue


def add_routes(app: App, workspace: Workspace) -> None:
    """Add the address of the report, which is shown in a frame: ``/report?run=NAME&run=NAME``."""
    from starlette.responses import HTMLResponse

    def report(request: Request) -> Response:
        headers = {"content-security-policy": _POLICY}
        try:
            results = results_of(workspace, request.query_params.getlist("run"))
            return HTMLResponse(html(results.runs), headers=headers)
        except CimentoError as error:
            text = f"<!doctype html><title>cimento</title><p>{escape(str(error))}</p>"
            return HTMLResponse(text, status_code=400, headers=headers)

    app.add_route("/report", report)
