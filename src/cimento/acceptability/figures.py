"""The scatter of a model's measure against the ratings, its worst misses named."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

from cimento.acceptability.correlation import RatedValue, farthest_apart, gaps
from cimento.measures import Measure
from cimento.report.figures import BLUE, GREY, ORANGE, Figure, figure_of, require_rows

if TYPE_CHECKING:
    import polars as pl

NAME = "scatter"
_LABELS = ("acceptable", "unacceptable", "sentence")
_COLOURS = (BLUE, ORANGE, GREY)
_WIDTH = 40


def scatter_frame(rows: Sequence[RatedValue], *, higher_is_better: bool) -> pl.DataFrame:
    """One row for each sentence that has a rating and a value: what `scatter` draws.

    Columns: ``id``, ``text``, ``label``, ``rating``, ``value``, ``gap`` (its rank by the model
    minus its rank by the ratings, between -1 and 1) and ``named``, a short text for the worst
    misses.

    Args:
        rows: sentences with a rating and a value of the measure.
        higher_is_better: whether the better sentence has the higher value.
    """
    import polars as pl

    found = gaps(rows, higher_is_better=higher_is_better)
    worst = farthest_apart(rows, higher_is_better=higher_is_better)
    named = {miss.id: shorten(miss.text, _WIDTH, placeholder=" ...") for miss in worst}
    labels = {row.sentence.id: row.sentence.label or "sentence" for row in rows}
    cells = [(m.id, m.text, labels[m.id], m.rating, m.score, m.gap, named.get(m.id)) for m in found]
    schema = {
        "id": pl.String,
        "text": pl.String,
        "label": pl.String,
        "rating": pl.Float64,
        "value": pl.Float64,
        "gap": pl.Float64,
        "named": pl.String,
    }
    return pl.DataFrame(cells, schema=schema, orient="row")


def scatter(frame: pl.DataFrame, *, suite: str, model: str, by: str, measure: Measure) -> Figure:
    """Ratings from left to right, the measure from bottom to top, the worst misses by their text.

    Args:
        frame: as `scatter_frame` gives it.
        suite: its name.
        model: its name.
        by: whose the ratings are.
        measure: what is drawn.

    Raises:
        UsageError: no sentence has both a rating and a value.
        MissingDependencyError: altair is not installed.
    """
    require_rows(
        frame,
        where=f"figure {NAME}",
        seen=f"no sentence has a rating and a value of {measure.name}",
        todo="Choose another --measure, or a suite with ratings.",
    )
    import altair as alt

    title = f"{model} beside {by} on {suite} ({measure.name})"
    labels = [name for name in _LABELS if name in set(frame["label"])]
    y_title = f"{measure.name} ({measure.unit})" if measure.unit else measure.name
    x = alt.X("rating:Q", title=f"rating, by {by}", scale=alt.Scale(zero=False))
    y = alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=False))
    legend = alt.Legend() if len(labels) > 1 else None
    colour = alt.Color("label:N", title=None, sort=labels, legend=legend).scale(
        domain=labels, range=[_COLOURS[_LABELS.index(name)] for name in labels]
    )
    base = alt.Chart(frame)
    points = base.mark_circle(size=32, opacity=0.7).encode(
        x=x, y=y, color=colour, tooltip=["id:N", "text:N", "rating:Q", "value:Q"]
    )
    ratings = frame["rating"].to_list()
    middle = (min(ratings) + max(ratings)) / 2
    named = base.encode(x=x, y=y, text="named:N")
    # Names stand on the side where there is room for them.
    after = named.transform_filter(f"isValid(datum.named) && datum.rating <= {middle}")
    before = named.transform_filter(f"isValid(datum.named) && datum.rating > {middle}")
    names = (
        after.mark_text(align="left", dx=6, fontSize=9),
        before.mark_text(align="right", dx=-6, fontSize=9),
    )
    chart = alt.layer(points, *names).properties(width=440, height=320, title=title)
    return figure_of(chart, name=NAME, title=title, frame=frame)
