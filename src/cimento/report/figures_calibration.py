"""Calibration curves: what share is right among answers of some probability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cimento.report.figures import GREY, Figure, figure_of, require_rows
from cimento.report.figures_scores import COLOURS

if TYPE_CHECKING:
    import polars as pl

    from cimento.statistics.calibration import Calibration

SIDE = 240


def calibration_figure(curves: Mapping[str, Calibration], *, title: str, share: str) -> Figure:
    """A line for each model; on the dashed one, shares are as large as probabilities.

    Args:
        curves: label of a model to its bins.
        title: what is shown.
        share: what is counted as right, such as ``share that fits``.

    Raises:
        UsageError: no bin has an answer in it.
    """
    import polars as pl

    frame = calibration_frame(curves)
    require_rows(frame, where="figure calibration", seen="nothing has a probability")
    import altair as alt

    models = list(dict.fromkeys(frame["model"]))
    colour = alt.Color("model:N", title=None, sort=models).scale(
        domain=models, range=[COLOURS[k % len(COLOURS)] for k in range(len(models))]
    )
    x = alt.X("probability:Q", title="mean probability").scale(domain=[0, 1])
    y = alt.Y("share:Q", title=share).scale(domain=[0, 1])
    base = alt.Chart(frame)
    line = base.mark_line().encode(x=x, y=y, color=colour)
    points = base.mark_circle(opacity=1).encode(
        x=x, y=y, color=colour, size=alt.Size("n:Q", title="answers")
    )
    ends = pl.DataFrame({"at": [0, 1]})
    equal = alt.Chart(ends).mark_line(color=GREY, strokeDash=[4, 3]).encode(x="at:Q", y="at:Q")
    chart = alt.layer(equal, line, points).properties(width=SIDE, height=SIDE, title=title)
    return figure_of(chart, name="calibration", title=title, frame=frame)


def calibration_frame(curves: Mapping[str, Calibration]) -> pl.DataFrame:
    """Model, low, high, n, probability and share of every bin that has answers."""
    import polars as pl

    rows = [
        (model, each.low, each.high, each.n, each.confidence, each.accuracy)
        for model, found in curves.items()
        for each in found.bins
        if each.n
    ]
    numbers = dict.fromkeys(("low", "high", "probability", "share"), pl.Float64)
    columns = ("model", "low", "high", "n", "probability", "share")
    schema = {**numbers, "model": pl.String, "n": pl.Int64}
    return pl.DataFrame(rows, schema={name: schema[name] for name in columns}, orient="row")
