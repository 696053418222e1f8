"""Figures of a factorial design: accuracy by condition, and the DD of each item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.report.figures import (
    BLUE,
    GRAY,
    ORANGE,
    Figure,
    figure_of,
    frame_of,
    require_rows,
)
from cimento.report.figures_rates import heat_figure

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms.regions.factorial import Factorial


def pairs_figure(designs: Sequence[Factorial], *, suite: str) -> Figure:
    """Accuracy of every comparison of two conditions, for every phenomenon of a factorial suite.

    Args:
        designs: results of each model and measure.
        suite: name of the suite.

    Raises:
        UsageError: nothing was scored.
    """
    import polars as pl

    rows = [
        (f"{design.model} {design.measure}", phenomenon.name, pair.name, pair.accuracy)
        for design in designs
        for phenomenon in design.phenomena
        for pair in phenomenon.pairs
    ]
    frame = frame_of(rows, model=str, phenomenon=str, comparison=str, accuracy=float)
    if not frame["accuracy"].is_not_null().any():
        raise UsageError(where="figure pairs", seen="no pair of sentences was scored")
    frame = frame.with_columns(
        (pl.col("phenomenon") + ": " + pl.col("comparison")).alias("pair"),
    )
    title = f"Accuracy on {suite} by phenomenon and comparison"
    return heat_figure(frame, name="pairs", title=title, x="model", y="pair")


def items_figure(result: Factorial) -> Figure:
    """DD of every item, the smallest first, by phenomenon.

    Args:
        result: the result of one model, measure and suite.

    Raises:
        UsageError: no item has a DD.
    """
    frame = items_frame(result)
    known = frame.filter(frame["dd"].is_not_null())
    require_rows(
        known,
        where="figure items",
        seen="no item has a DD",
        todo=result.reason or "Run it again.",
    )
    import altair as alt

    title = f"{result.model} on {result.suite}: DD of every item ({result.measure})"
    order = list(dict.fromkeys(known["phenomenon"]))
    base = alt.Chart()
    points = base.mark_point(filled=True, size=40).encode(
        x=alt.X("dd:Q", title=f"DD ({result.unit})" if result.unit else "DD"),
        y=alt.Y("item:N", sort=alt.SortField("dd"), title=None),
        color=alt.condition("datum.dd > 0", alt.value(BLUE), alt.value(ORANGE)),
    )
    zero = base.mark_rule(color=GRAY).encode(x=alt.datum(0))
    chart = (
        alt.layer(zero, points, data=known)
        .properties(width=220)
        .facet(facet=alt.Facet("phenomenon:N", title=None, sort=order), columns=2, title=title)
        .resolve_scale(y="independent")
    )
    return figure_of(chart, name="items", title=title, frame=frame)


def items_frame(result: Factorial) -> pl.DataFrame:
    """A table of the DD of each item in raw scores, by phenomenon, or why it has none."""
    rows = (
        (phenomenon.name, item.item, item.dd, item.reason)
        for phenomenon in result.phenomena
        for item in phenomenon.effects["raw"].items
    )
    return frame_of(rows, phenomenon=str, item=str, dd=float, reason=str)
