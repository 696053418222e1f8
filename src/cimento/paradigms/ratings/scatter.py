"""The scatter of ratings and a measure, in which the worst misses are labeled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

from cimento.measures import Measure
from cimento.paradigms.ratings.people import RatedValue, farthest_apart, gaps
from cimento.report.figures import BLUE, GRAY, ORANGE, Figure, figure_of, frame_of, require_rows

if TYPE_CHECKING:
    import polars as pl


_SCATTER = "scatter"
_POINT_LABELS = ("acceptable", "unacceptable", "sentence")
_COLORS = (BLUE, ORANGE, GRAY)
_NAME_WIDTH = 40
_HEIGHT = 320
_LINE = 13
"""Pixels of the figure, and of a label with what parts it from the next."""


def scatter_frame(rows: Sequence[RatedValue], *, higher_is_better: bool) -> pl.DataFrame:
    """The table that `scatter_figure` draws, with a row for each sentence with rating and value.

    Columns: ``id``, ``text``, ``label``, ``rating``, ``value``, ``gap`` (its rank by the model
    minus its rank by the ratings, between -1 and 1) and ``named``, a short text for the worst
    misses.

    Args:
        rows: sentences with a rating and a value of the measure.
        higher_is_better: whether the better sentence has the higher value.
    """
    worst = [row.sentence.id for row, _ in farthest_apart(rows, higher_is_better=higher_is_better)]
    cells = [
        (
            row.sentence.id,
            row.sentence.text,
            row.sentence.label or "sentence",
            row.rating,
            row.value,
            gap,
            shorten(row.sentence.text, _NAME_WIDTH, placeholder=" ...")
            if row.sentence.id in worst
            else None,
        )
        for row, gap in gaps(rows, higher_is_better=higher_is_better)
    ]
    return frame_of(
        cells, id=str, text=str, label=str, rating=float, value=float, gap=float, named=str
    )


def label_places(frame: pl.DataFrame) -> list[float | None]:
    """The height at which the label of each point stands, so that none is written over another.

    Labels from the left and from the right may meet in the middle, so all are kept apart.

    Args:
        frame: table made by `scatter_frame`.
    """
    values = frame["value"].to_list()
    apart = (max(values) - min(values)) * _LINE / _HEIGHT
    places: list[float | None] = [None] * len(values)
    last = -math.inf
    rows = [row for row, name in enumerate(frame["named"].to_list()) if name is not None]
    for row in sorted(rows, key=values.__getitem__):
        places[row] = last = max(values[row], last + apart)
    return places


def scatter_figure(
    frame: pl.DataFrame, *, suite: str, model: str, by: str, measure: Measure
) -> Figure:
    """A scatter of ratings (x axis) and a measure (y axis), with the worst misses labeled.

    Args:
        frame: table made by `scatter_frame`.
        suite: name of the suite.
        model: name of the model.
        by: source of the ratings.
        measure: measure on the y axis.

    Raises:
        UsageError: no sentence has both a rating and a value.
        MissingDependencyError: altair is not installed.
    """
    require_rows(
        frame,
        where=f"figure {_SCATTER}",
        seen=f"no sentence has a rating and a value of {measure.name}",
        todo="Choose another --measure, or a suite with ratings.",
    )
    import altair as alt
    import polars as pl

    title = f"{model} beside {by} on {suite} ({measure.name})"
    labels = [name for name in _POINT_LABELS if name in set(frame["label"])]
    y_title = f"{measure.name} ({measure.unit})" if measure.unit else measure.name
    x = alt.X("rating:Q", title=f"rating, by {by}", scale=alt.Scale(zero=False))
    y = alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=False))
    legend = alt.Legend() if len(labels) > 1 else None
    color = alt.Color("label:N", title=None, sort=labels, legend=legend).scale(
        domain=labels, range=[_COLORS[_POINT_LABELS.index(name)] for name in labels]
    )
    ratings = frame["rating"].to_list()
    middle = (min(ratings) + max(ratings)) / 2
    base = alt.Chart(frame.with_columns(pl.Series("label_at", label_places(frame))))
    points = base.mark_circle(size=32, opacity=0.7).encode(
        x=x, y=y, color=color, tooltip=["id:N", "text:N", "rating:Q", "value:Q"]
    )
    named = base.encode(x=x, y="label_at:Q", text="named:N")
    # Labels are placed on the side that has room for them.
    after = named.transform_filter(f"isValid(datum.named) && datum.rating <= {middle}")
    before = named.transform_filter(f"isValid(datum.named) && datum.rating > {middle}")
    names = (
        after.mark_text(align="left", dx=6),
        before.mark_text(align="right", dx=-6),
    )
    chart = alt.layer(points, *names).properties(width=440, height=_HEIGHT, title=title)
    return figure_of(chart, name=_SCATTER, title=title, frame=frame)
