"""Figures of the study: the drop from a suite to its twin, and SyntaxGym's circuits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.report.figures import BLUE, GREY, Figure, figure_of, require_rows
from cimento.studies.agreement.syntaxgym import SG_SCORE

if TYPE_CHECKING:
    from cimento.studies.agreement.syntaxgym import Scores
    from cimento.studies.agreement.table import TwinRow


def drops_figure(rows: Sequence[TwinRow]) -> Figure:
    """How much of the ratio is lost in every adversarial suite, a panel for each model.

    Raises:
        UsageError: no suite has a drop.
        MissingDependencyError: altair is not installed.
    """
    import polars as pl

    schema = dict.fromkeys(("model", "suite"), pl.String)
    numbers = dict.fromkeys(("drop", "low", "high"), pl.Float64)
    frame = pl.DataFrame(
        [
            (row.model, _in_language(row), row.drop, row.low, row.high)
            for row in rows
            if row.drop is not None
        ],
        schema={**schema, **numbers},
        orient="row",
    )
    require_rows(frame, where="the drops as a figure", seen="no suite has a drop")
    import altair as alt

    title = "Ratio on the plain suite minus that on its adversarial twin, with 95 % intervals"
    order = list(dict.fromkeys(frame["suite"]))
    base = alt.Chart().encode(y=alt.Y("suite:N", title=None, sort=order))
    lines = base.mark_rule(color=BLUE).encode(x=alt.X("low:Q", title="drop"), x2="high:Q")
    points = base.mark_point(filled=True, color=BLUE, size=40).encode(x="drop:Q")
    zero = alt.Chart().mark_rule(color=GREY).encode(x=alt.datum(0))
    chart = (
        alt.layer(zero, lines, points, data=frame)
        .properties(width=200, height=alt.Step(16))
        .facet(
            column=alt.Column("model:N", title=None, sort=list(dict.fromkeys(frame["model"]))),
            title=title,
        )
    )
    return figure_of(chart, name="drops", title=title, frame=frame)


def _in_language(row: TwinRow) -> str:
    """The name of a suite with its language: those of several languages may have one name."""
    named = row.suite.startswith(f"{row.language}-")
    return row.suite if named else f"{row.language} {row.suite}"


def circuits_figure(rows: Sequence[Scores]) -> Figure:
    """SG score and circuits of every model, published ones in grey, a panel for each circuit.

    Raises:
        UsageError: no model has a score.
        MissingDependencyError: altair is not installed.
    """
    import polars as pl

    whose = {True: "published", False: "computed here"}
    frame = pl.DataFrame(
        [
            (row.model, whose[row.published], name, value)
            for row in rows
            for name, value in {SG_SCORE: row.sg_score, **row.circuits}.items()
            if value is not None
        ],
        schema={
            **dict.fromkeys(("model", "whose", "circuit"), pl.String),
            "score": pl.Float64,
        },
        orient="row",
    )
    require_rows(frame, where="SyntaxGym's scores as a figure", seen="no model has a score")
    import altair as alt

    title = "SyntaxGym: SG score and circuits"
    circuits = list(dict.fromkeys(frame["circuit"]))
    chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("score:Q", title=None, scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("model:N", title=None, sort=list(dict.fromkeys(frame["model"]))),
            color=alt.Color("whose:N", title=None).scale(
                domain=list(whose.values()), range=[GREY, BLUE]
            ),
        )
        .properties(width=110, height=alt.Step(14))
        .facet(facet=alt.Facet("circuit:N", title=None, sort=circuits), columns=4, title=title)
    )
    return figure_of(chart, name="syntaxgym", title=title, frame=frame)
