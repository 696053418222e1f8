"""Runs and comparisons as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.notebook import shown, table
from cimento.report.grid import Grid
from cimento.report.summary import RunSummary
from cimento.report.wording import (
    cells,
    chances,
    items,
    methods,
    near_ties,
    remarks,
    without_length,
)


def run_html(run: RunSummary) -> str:
    """Accuracy of every prediction with its interval, and what a reader must know about it."""
    found = [(result, cells(result)) for result in run.results]
    names = without_length(dict.fromkeys(name for _, each in found for name in each), [run])
    rows = [
        (
            result.label,
            " ".join(each for each in (result.formula, result.comment) if each),
            *(own[name] for name in names[1:]),
        )
        for result, own in found
    ]
    header = (*names[:1], "what", *names[1:])
    title = f"{run.suite}, {run.label}: {items(run.n_items)}"
    said = (methods(run.results), chances(run.results), near_ties([run]))
    notes = (*filter(None, said), *remarks(run))
    return table(header, rows, title=title, notes=notes, labels=2)


def grids_html(grids: Sequence[Grid], *, head: Sequence[str] = ()) -> str:
    """Several tables, one below the other.

    Args:
        grids: the tables.
        head: lines above the first of them.
    """
    above = "<br>".join(map(shown, head))
    return f"<p>{above}</p>" + "".join(
        table(grid.header, grid.text, title=grid.title, notes=grid.footnotes, labels=grid.labels)
        for grid in grids
    )
