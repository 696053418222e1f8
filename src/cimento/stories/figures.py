"""Figures of stories: their flow through the tiers, and which states are taken for which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.report.figures import BLUE, GREY, Figure, figure_of, require_rows
from cimento.report.figures_rates import above
from cimento.stories.records import STATES
from cimento.stories.tiers import Step

if TYPE_CHECKING:
    import polars as pl

CONSTANT = "one answer for all"
"""The most frequent right answer at every tier: what needs no knowledge."""


def flow_figure(flows: Mapping[str, Sequence[Step]], *, suite: str) -> Figure:
    """How many implausible stories reach each tier (grey) and pass it (blue), model by model.

    Args:
        flows: label of a model, or `CONSTANT`, to its steps.
        suite: name of the stories.

    Raises:
        UsageError: no run has the three tiers.
    """
    frame = flow_frame(flows)
    require_rows(frame, where="figure flow", seen="none of the runs asked the three tiers")
    import altair as alt

    title = f"Implausible stories of {suite} on their way through the tiers"
    models = list(dict.fromkeys(frame["model"]))
    base = alt.Chart().encode(
        y=alt.Y("tier:N", title=None, sort=list(dict.fromkeys(frame["tier"])))
    )
    reached = base.mark_bar(color=GREY, opacity=0.35).encode(
        x=alt.X("reached:Q", title="stories that reach (grey) and pass (blue) the tier")
    )
    passed = base.mark_bar(color=BLUE, height={"band": 0.5}).encode(x="passed:Q")
    shown = base.mark_text(align="left", dx=4, fontSize=10).encode(x="reached:Q", text="told:N")
    chart = (
        alt.layer(reached, passed, shown, data=frame)
        .properties(width=300, height=alt.Step(24))
        .facet(row=alt.Row("model:N", title=None, sort=models, header=above()), title=title)
    )
    return figure_of(chart, name="flow", title=title, frame=frame)


def flow_frame(flows: Mapping[str, Sequence[Step]]) -> pl.DataFrame:
    """Model and tier to the stories that reached it, passed it and could not be scored."""
    import polars as pl

    rows = [
        (model, step.tier, step.reached, step.passed, step.unscored)
        for model, steps in flows.items()
        for step in steps
    ]
    schema = {
        "model": pl.String, "tier": pl.String,
        "reached": pl.Int64, "passed": pl.Int64, "unscored": pl.Int64,
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(
        pl.concat_str("passed", pl.lit(" of "), "reached").alias("told"),
    )


def states_figure(confused: Mapping[str, Mapping[str, int]], *, model: str, suite: str) -> Figure:
    """The right state from top to bottom, the chosen one from left to right.

    Args:
        confused: right state to the states chosen, as `breakdown.confusions` counts them.
        model: label of the model.
        suite: name of the stories.

    Raises:
        UsageError: no story has an answer at the third tier.
    """
    frame = states_frame(confused)
    require_rows(frame, where="figure states", seen="no story has an answer at the third tier")
    import altair as alt

    title = f"States of {suite} as {model} chose them"
    order = [state for state in STATES if state in set(frame["right"]) | set(frame["chosen"])]
    base = alt.Chart(frame).encode(
        x=alt.X("chosen:N", title="chosen", sort=order, axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("right:N", title="right", sort=order),
    )
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("share:Q", title="share of the state").scale(scheme="blues", domain=[0, 1])
    )
    counts = base.mark_text(fontSize=10).encode(
        text="n:Q", color=alt.condition("datum.share > 0.55", alt.value("white"), alt.value("#222"))
    )
    chart = alt.layer(squares, counts).properties(
        width=alt.Step(26), height=alt.Step(20), title=title
    )
    return figure_of(chart, name="states", title=title, frame=frame)


def states_frame(confused: Mapping[str, Mapping[str, int]]) -> pl.DataFrame:
    """Right and chosen state to the number of stories and their share of the right state."""
    import polars as pl

    rows = [
        (right, chosen, n, n / sum(counts.values()))
        for right, counts in confused.items()
        for chosen, n in counts.items()
    ]
    texts = {"right": pl.String, "chosen": pl.String}
    return pl.DataFrame(rows, schema={**texts, "n": pl.Int64, "share": pl.Float64}, orient="row")
