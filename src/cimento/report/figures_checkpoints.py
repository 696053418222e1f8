"""Accuracy over training: the revisions of one model as a curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.report.figures import BLUE, Figure, figure_of, require_rows

if TYPE_CHECKING:
    import polars as pl

    from cimento.compare.ranking import Ranking

_WIDTH, _HEIGHT = 320, 200


def checkpoints_figure(rankings: Sequence[Ranking]) -> Figure:
    """Accuracy by step of training, with 95 % intervals; a panel for each suite and question.

    Args:
        rankings: those whose models are not revisions of one model are left out.

    Raises:
        UsageError: in none they are.
    """
    frame = checkpoints_frame(rankings)
    require_rows(
        frame,
        where="--figure",
        seen="the models are not revisions of one model at different steps of training",
        todo="Name them as org/name@step1000 or as folders checkpoint-1000.",
    )
    import altair as alt

    base = alt.Chart(frame).encode(x=alt.X("step:Q", title="step of training"))
    scale = alt.Scale(domain=[0, 1])
    # A step without an interval gets no band, and one without items no point.
    band = base.mark_errorband(color=BLUE, opacity=0.25).encode(
        y=alt.Y("low:Q", title="accuracy", scale=scale), y2="high:Q"
    )
    line = base.mark_line(point=True, color=BLUE).encode(
        y=alt.Y("accuracy:Q", title="accuracy", scale=scale)
    )
    chart = (
        alt.layer(band, line)
        .properties(width=_WIDTH, height=_HEIGHT)
        .facet(facet=alt.Facet("panel:N", title=None), columns=2)
    )
    return figure_of(chart, name="checkpoints", title="Accuracy over training", frame=frame)


def checkpoints_frame(rankings: Sequence[Ranking]) -> pl.DataFrame:
    """The numbers of the curve: panel, step, model, accuracy, low, high, n."""
    import polars as pl

    rows = [
        (
            f"{ranking.suite}, {ranking.question}",
            each.step,
            each.model,
            each.accuracy,
            each.interval.low,
            each.interval.high,
            each.n,
        )
        for ranking in rankings
        for each in ranking.checkpoints
        if each.accuracy is not None
    ]
    columns = {
        "panel": pl.String(),
        "step": pl.Int64(),
        "model": pl.String(),
        "accuracy": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "n": pl.Int64(),
    }
    return pl.DataFrame(rows, schema=columns, orient="row")
