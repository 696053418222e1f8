"""Figures of sentence scores: against length, and DD item by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.report.figures import BLUE, GREY, ORANGE, Figure, figure_of, require_rows

if TYPE_CHECKING:
    import polars as pl

    from cimento.verdicts.factorial import Factorial

COLOURS = (BLUE, ORANGE, "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""Okabe and Ito's colours (2008), which colour-blind readers tell apart."""


def length_figure(scores: pl.DataFrame, *, measure: str, unit: str) -> Figure:
    """Scores against the number of words, a point for each sentence, a colour for each condition.

    Args:
        scores: with the columns ``model``, ``item``, ``condition``, ``words``, ``value``.
        measure: name of the score.
        unit: of the score; empty for a pure number.

    Raises:
        UsageError: no sentence has a score.
    """
    known = scores.filter(scores["value"].is_not_null())
    require_rows(
        known,
        where="figure length",
        seen=f"no sentence has a value of {measure}",
        todo="Choose another --measure, or run again with --all-tokens.",
    )
    import altair as alt

    title = f"{measure} against length"
    y_title = f"{measure} ({unit})" if unit else measure
    names = list(dict.fromkeys(known["condition"]))
    colour = alt.Color("condition:N", title="condition", sort=names).scale(
        domain=names, range=[COLOURS[k % len(COLOURS)] for k in range(len(names))]
    )
    x = alt.X("words:Q", title="words", scale=alt.Scale(zero=False), axis=alt.Axis(format="d"))
    y = alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=False))
    base = alt.Chart()
    points = base.mark_circle(size=28, opacity=0.7).encode(x=x, y=y, color=colour)
    trend = (
        base.transform_regression("words", "value")
        .mark_line(color=GREY, strokeDash=[4, 3])
        .encode(x="words:Q", y="value:Q")
    )
    chart = (
        alt.layer(points, trend, data=known)
        .properties(width=300, height=240)
        .facet(
            facet=alt.Facet("model:N", title=None, sort=list(dict.fromkeys(known["model"]))),
            columns=2,
            title=title,
        )
    )
    return figure_of(chart, name="length", title=title, frame=scores)


def items_figure(result: Factorial) -> Figure:
    """DD of every item, the smallest first, by phenomenon.

    Args:
        result: of one model, measure and suite.

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
    zero = base.mark_rule(color=GREY).encode(x=alt.datum(0))
    chart = (
        alt.layer(zero, points, data=known)
        .properties(width=220)
        .facet(facet=alt.Facet("phenomenon:N", title=None, sort=order), columns=2, title=title)
        .resolve_scale(y="independent")
    )
    return figure_of(chart, name="items", title=title, frame=frame)


def items_frame(result: Factorial) -> pl.DataFrame:
    """Phenomenon and item to its DD in raw scores, and why there is none."""
    import polars as pl

    rows = [
        {"phenomenon": phenomenon.name, "item": each.item, "dd": each.dd, "reason": each.reason}
        for phenomenon in result.phenomena
        for each in phenomenon.effects["raw"].items
    ]
    schema = {"phenomenon": pl.String, "item": pl.String, "dd": pl.Float64, "reason": pl.String}
    return pl.DataFrame(rows, schema=schema)


def length_frame(rows: Sequence[dict[str, object]]) -> pl.DataFrame:
    """The table that `length_figure` draws."""
    import polars as pl

    schema = {
        "model": pl.String,
        "item": pl.String,
        "condition": pl.String,
        "words": pl.Int64,
        "value": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema)
