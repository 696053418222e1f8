"""Runs and comparisons as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.io.notebook import isolated, notebook_table
from cimento.report.grid import Grid


def grids_html(grids: Sequence[Grid], *, head: Sequence[str] = ()) -> str:
    """Several tables, one below the other.

    Args:
        grids: the tables.
        head: lines above the first of them.
    """
    above = "<br>".join(map(isolated, head))
    return f"<p>{above}</p>" + "".join(
        notebook_table(
            grid.header, grid.text, title=grid.title, notes=grid.footnotes, labels=grid.labels
        )
        for grid in grids
    )
