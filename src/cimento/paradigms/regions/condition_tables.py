"""A table of the means of a design's conditions, as its interaction figure has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cimento.paradigms.regions.figures_conditions import (
    BARS,
    WITHIN,
    bar_half_widths,
    is_cost,
    score_drawn,
    up,
)
from cimento.report import formatting
from cimento.report.cells import count
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell

if TYPE_CHECKING:
    from cimento.paradigms.regions.factorial import Factorial

_number = partial(formatting.number, digits=2, absent=BLANK)


def means_grid(results: Sequence[Factorial]) -> Grid:
    """A table of the means of conditions in raw scores, with their intervals within items.

    Args:
        results: results of models and measures; surprisal is as it is, other costs are turned.
    """
    several = len({result.suite for result in results}) > 1
    shown = [result for result in results if result.phenomena]
    scores = dict.fromkeys(f"{score_drawn(one, 'raw')} ({up(one, 'raw')})" for one in shown)
    return Grid(
        title=f"Means of conditions: {' or '.join(scores)}.",
        header=(
            *(["suite"] if several else []), "model", "phenomenon", "condition", "n", "mean", "se",
        ),
        rows=tuple(
            (*([result.suite] if several else []), *row)
            for result in shown
            for row in _rows_of(result)
        ),
        labels=3 + several,
        notes=(f"Intervals: {BARS[WITHIN]}. se: standard error of the mean over items.",),
    )  # fmt: skip


def _rows_of(result: Factorial) -> Iterator[tuple[GridCell, ...]]:
    """A row for each condition of each phenomenon."""
    sign = -1 if is_cost(result, "raw") else 1
    for phenomenon in result.phenomena:
        effects = phenomenon.effects["raw"]
        for cell, width in zip(effects.cells, bar_half_widths(effects, WITHIN), strict=True):
            mean = None if cell.mean is None else sign * cell.mean
            yield (
                result.model,
                phenomenon.name,
                " + ".join(cell.cell.levels),
                count(cell.n),
                EstimateCell(
                    value=mean,
                    low=None if mean is None or width is None else mean - width,
                    high=None if mean is None or width is None else mean + width,
                    n=cell.n,
                    reason=cell.reason or "",
                    digits=2,
                ),
                _number(cell.se),
            )
