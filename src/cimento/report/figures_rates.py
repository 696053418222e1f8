"""The figure of rates: the shares of items that a run of any paradigm says something about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.report.figures import BLUE, GREY, Figure, figure_of, require_rows
from cimento.report.figures_margins import above

if TYPE_CHECKING:
    import polars as pl

    from cimento.report.records import RunReport

WIDTH, ROW, LABEL = 340, 20, 320


def rates_figure(runs: Sequence[RunReport], *, suite: str) -> Figure:
    """Rates with their 95 % intervals and chance levels, a panel for each model.

    A rate without an interval is a point alone.

    Args:
        runs: of one suite.
        suite: its name.

    Raises:
        UsageError: no rate is defined.
    """
    frame = rates_frame(runs)
    known = frame.filter(frame["value"].is_not_null())
    require_rows(
        known,
        where="figure rates",
        seen="no rate is defined",
        todo="Give runs in which something was judged.",
    )
    import altair as alt

    title = f"Rates on {suite} with 95 % intervals; dashes are chance"
    y = alt.Y(
        "name:N",
        title=None,
        sort=list(dict.fromkeys(known["name"])),
        axis=alt.Axis(labelLimit=LABEL),
    )
    x = alt.X("value:Q", title="share of items").scale(domain=[0, 1])
    base = alt.Chart()
    spans = base.transform_filter("datum.high > datum.low").mark_rule(color=BLUE, strokeWidth=2)
    chance = base.transform_filter("datum.chance !== null").mark_tick(color=GREY, thickness=2)
    drawn = alt.layer(
        chance.encode(x=alt.X("chance:Q"), y=y),
        spans.encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x=x, y=y),
        data=known,
    ).properties(width=WIDTH, height=alt.Step(ROW))
    models = list(dict.fromkeys(known["model"]))
    facets = drawn.facet(row=alt.Row("model:N", title=None, sort=models, header=above()))
    chart = facets.resolve_scale(y="independent")
    return figure_of(chart.properties(title=title), name="rates", title=title, frame=frame)


def rates_frame(runs: Sequence[RunReport]) -> pl.DataFrame:
    """Suite, model, name, question, method, group and level to the rate, interval and counts."""
    import polars as pl

    texts = ("suite", "model", "name", "question", "method", "group", "level")
    numbers = ("value", "low", "high", "chance")
    rows = [
        (
            run.suite,
            run.model,
            name,
            estimate.question,
            estimate.method,
            estimate.group,
            estimate.level,
            estimate.value,
            estimate.low,
            estimate.high,
            estimate.chance,
            estimate.n,
            estimate.tied,
            estimate.unscored,
        )
        for run in runs
        for rates in run.rates
        for name, estimate in rates.lines
    ]
    schema: dict[str, pl.DataType] = dict.fromkeys(texts, pl.String())
    schema |= dict.fromkeys(numbers, pl.Float64())
    schema |= dict.fromkeys(("n", "tied", "unscored"), pl.Int64())
    return pl.DataFrame(rows, schema=schema, orient="row")
