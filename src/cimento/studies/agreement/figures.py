"""The competence profile as a heat map: agreements and features by plain and adversarial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.report.figures import Figure, figure_of, require_rows

if TYPE_CHECKING:
    import polars as pl

    from cimento.studies.agreement.profile import ProfileRow

VERSIONS = ("plain", "adversarial")

_PALE = "abs(datum.ratio - 0.5) < 0.3"
"""Where a square is so pale that dark figures are read better on it."""


def profile_figure(rows: Sequence[ProfileRow]) -> Figure:
    """The mean probability ratio of every cell in every language, a panel for each model.

    White is 0.5: the target is as likely as the alternative. Blue is above, red below.

    Raises:
        UsageError: no comparison has a value.
        MissingDependencyError: altair is not installed.
    """
    frame = profile_frame(rows)
    require_rows(
        frame,
        where="the profile as a figure",
        seen="no comparison has a value",
        todo="Are the targets scored? See the reasons with --json.",
    )
    import altair as alt

    title = "Mean probability ratio of the target, by agreement and feature"
    cells = list(dict.fromkeys(frame["cell"]))
    base = alt.Chart().encode(
        x=alt.X("version:N", title=None, sort=list(VERSIONS), axis=alt.Axis(labelAngle=0)),
        y=alt.Y("cell:N", title=None, sort=cells, axis=alt.Axis(labelLimit=320)),
    )
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("ratio:Q", title="ratio").scale(
            scheme="redblue", domain=[0, 1], domainMid=0.5
        )
    )
    numbers = base.mark_text(fontSize=9).encode(
        text=alt.Text("ratio:Q", format=".2f"),
        color=alt.condition(_PALE, alt.value("#222222"), alt.value("white")),
    )
    chart = (
        alt.layer(squares, numbers, data=frame)
        .properties(width=alt.Step(76), height=alt.Step(17))
        .facet(
            column=alt.Column(
                "model:N",
                title=None,
                sort=list(dict.fromkeys(frame["model"])),
                header=alt.Header(labelLimit=150),
            ),
            title=title,
        )
    )
    return figure_of(chart, name="profile", title=title, frame=frame)


def profile_frame(rows: Sequence[ProfileRow]) -> pl.DataFrame:
    """The numbers of `profile_figure`: a row for each cell of each model.

    Suites about the same are one cell: its ratio is the mean over all comparisons, and it has no
    interval.
    """
    import polars as pl

    schema = {
        "model": pl.String,
        "language": pl.String,
        "cell": pl.String,
        "version": pl.String,
        "n": pl.Int32,
        "ratio": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "accuracy": pl.Float64,
    }
    known = [
        (
            row.model,
            row.language,
            f"{row.language} {row.agreement}: {row.features}",
            row.version,
            row.n,
            row.ratio,
            row.ratio_low,
            row.ratio_high,
            row.accuracy,
        )
        for row in rows
        if row.ratio is not None
    ]
    weight = pl.col("n") / pl.col("n").sum()
    alone = pl.len() == 1
    return (
        pl.DataFrame(known, schema=schema, orient="row")
        .group_by("model", "language", "cell", "version", maintain_order=True)
        .agg(
            pl.col("n").sum(),
            (pl.col("ratio") * weight).sum(),
            pl.when(alone).then(pl.col("low").first()),
            pl.when(alone).then(pl.col("high").first()),
            (pl.col("accuracy") * weight).sum(),
        )
    )
