"""What each of the shown runs says in short, in the language of the page, above its report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from nicegui import ui

from cimento.app.blanks import divided, show_blanks
from cimento.app.breakdowns import ceiling_said, parts_of
from cimento.app.conclusions import RunResult, results_beside
from cimento.app.findings import show_translated
from cimento.app.frame import Text, Visit, heading
from cimento.app.grids import show_grid
from cimento.app.item_sentences import show_items
from cimento.app.parts import show_demo
from cimento.app.rated_run import show_rated_run
from cimento.app.report_page import page_language
from cimento.app.words import Words
from cimento.errors import few_of_each_code
from cimento.kinds.run import Run
from cimento.report.formatting import remarks

PARTS_ID = "parts"
"""Where the report, comparisons and what else there is of some runs are in the page."""
_MOST_WITHOUT_LINKS = 2
"""Number of runs above which a list of links leads to each, and their tables are folded."""
_CODE = re.compile(r"^CIM-[A-Z]\d+ ")


def show_result(result: RunResult, say: Words, *, kind: str = "small means") -> None:
    """Show the number of a run, what it is of, and what can be concluded from it.

    Args:
        result: of the run.
        say: the words of the page.
        kind: the class of what is below the number.
    """
    Text(result.number(say), "span")
    for line in filter(None, (result.size(say), result.unjudged(say), result.sentence(say))):
        Text(line).classes(kind)


def show_summaries(visit: Visit, named: Sequence[tuple[Path, Run]]) -> None:
    """Show what some runs say in short, in the place where the page is being built.

    Args:
        visit: what the page is built for.
        named: the runs, each with its folder.
    """
    say = visit.say
    heading(say("read.in_short"))
    results = results_beside([path for path, _ in named])
    if len(named) > _MOST_WITHOUT_LINKS:
        with ui.element("nav").props(f'aria-label="{say("read.in_short")}"'), ui.element("ul"):
            for number, (_, run) in enumerate(named):
                with ui.element("li"):
                    ui.link(_title(run), f"#in-short-{number}")
            with ui.element("li"):
                ui.link(say("read.report"), f"#{PARTS_ID}")
    for number, ((path, run), result) in enumerate(zip(named, results, strict=True)):
        with ui.element("section").classes("in-short").props(f'id="in-short-{number}"'):
            heading(_title(run), level=3)
            show_result(result, say, kind="")
            show_demo([run.model], say)
            for line in filter(None, (result.masked(say), *result.cells(say))):
                Text(line)
            parted = divided(run)
            _show_parts(parted, say)
            show_items(visit, run, result, used=path.name)
            show_rated_run(visit, run, path)
            show_blanks(visit, parted, is_folded=len(named) > _MOST_WITHOUT_LINKS)
            with ui.element("ul").classes("plain-list small"):
                for remark in _remarks(run, result):
                    with ui.element("li"):
                        show_translated(_CODE.sub("", remark), say)


def _title(run: Run) -> str:
    """What the part of a run is headed."""
    return f"{run.suite.name} × {run.model}"


def _show_parts(run: Run, say: Words) -> None:
    """Show what a run shows part by part."""
    for grid in parts_of([run], say):
        Text(grid.title)
        show_grid(grid.filled(), page_language(say.language), say)
    if line := ceiling_said(run, say):
        Text(line).classes("small")


def _remarks(run: Run, result: RunResult) -> Sequence[str]:
    """What is said of a run; of a design nothing about rates, which are not shown here."""
    summary = run.summary()
    return few_of_each_code(summary.warnings) if result.effects else remarks(summary)
