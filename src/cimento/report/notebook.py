"""Runs and comparisons as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.notebook import shown, table
from cimento.report.grid import Grid
from cimento.report.summary import RunSummary
from cimento.report.wording import interval, items, rate, remarks


def run_html(run: RunSummary) -> str:
    """Accuracy of every prediction with its interval, and what a reader must know about it."""
    rows = [
        (
            result.label,
            " ".join(each for each in (result.formula, result.comment) if each),
            rate(result.accuracy),
            interval(result.low, result.high),
            rate(result.chance),
            str(result.n_judged),
            str(result.tied),
            str(result.unscored),
        )
        for result in run.results
    ]
    header = ("pred.", "what", "accuracy", "95 %", "chance", "n", "ties", "unscored")
    title = f"{run.suite}, {run.label}: {items(run.n_items)}"
    return table(header, rows, title=title, notes=remarks(run), labels=2)


def grids_html(grids: Sequence[Grid], *, head: Sequence[str] = ()) -> str:
    """Several tables, one below the other.

    Args:
        grids: the tables.
        head: lines above the first of them.
    """
    above = "<br>".join(map(shown, head))
    return f"<p>{above}</p>" + "".join(
        table(grid.header, grid.rows, title=grid.title, notes=grid.notes, labels=grid.labels)
        for grid in grids
    )
