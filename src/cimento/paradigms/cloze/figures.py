"""Figures of cloze runs: hits by expression, by dimension, and by number of candidates."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.kinds.run import Run
from cimento.paradigms.cloze.judging import HIT
from cimento.paradigms.cloze.profile import WHOLE_SUITE, Profile
from cimento.records.outcomes import Estimate
from cimento.report.figures import (
    BLUE,
    GRAY,
    Figure,
    figure_of,
    frame_of,
    in_lines,
    require_rows,
)
from cimento.statistics.intervals import WILSON_CLUSTERED, WILSON_CROSSED

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


_NAME_LINE = 18
"""Most letters in a line of a model's name above the columns of its words."""

_NOTE_LINE = 72
"""Most characters in a line below a title."""

Named = tuple[str, Profile]
"""A model's label and its profile."""


def figure_with_notes(make: Callable[[], Figure], notes: Sequence[str]) -> Figure:
    """A figure with what is to be known of its numbers below its title.

    Args:
        make: makes the figure.
        notes: a sentence each; the figure stays as it is without any.
    """
    made = make()
    lines = [line for note in notes for line in textwrap.wrap(note, _NOTE_LINE)]
    heading = {"text": made.title, "subtitle": lines}
    return replace(made, spec={**made.spec, "title": heading}) if lines else made


def expressions_figure(profiles: Sequence[Named]) -> Figure:
    """hit@1 and hit@k of each word of each expression, a column for each model and word.

    Raises:
        UsageError: no item belongs to an expression.
        MissingDependencyError: altair is not installed.
    """
    frame = heat_frame(profiles)
    require_rows(
        frame,
        where="figure heat",
        seen="no item belongs to a multiword expression",
        todo="Ask for --figure=dimensions instead.",
    )
    import altair as alt

    title = "Proportion of sentences in which the word of the expression is hit"
    order = list(dict.fromkeys(frame["expression"]))
    base = alt.Chart().encode(
        x=alt.X("word:N", title="masked word", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("expression:N", title=None, sort=order, axis=alt.Axis(labelLimit=0)),
    )
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("accuracy:Q", title="hit@k").scale(scheme="blues", domain=[0, 1])
    )
    counts = base.mark_text().encode(
        text="shown:N",
        color=alt.condition("datum.accuracy > 0.5", alt.value("white"), alt.value("#333333")),
    )
    models = list(dict.fromkeys(frame["model"]))
    header = alt.Header.from_dict(dict(in_lines(models, _NAME_LINE)), validate=False)
    chart = (
        alt.layer(squares, counts, data=frame)
        .properties(width=alt.Step(56), height=alt.Step(15))
        .facet(
            column=alt.Column("model:N", title=None, sort=models, header=header),
            row=alt.Row("at:N", title=None, sort=list(dict.fromkeys(frame["at"]))),
            title=title,
        )
    )
    return figure_of(chart, name="heat", title=title, frame=frame)


def heat_frame(profiles: Sequence[Named]) -> pl.DataFrame:
    """The numbers of `heat_figure`: a row for each model, expression, word and k."""
    import polars as pl

    rows = (
        (model, cell.expression, f"W{cell.word}", f"@{k}", share.correct, share.n, share.value)
        for model, profiled in profiles
        for cell in profiled.heat
        for k, share in ((1, cell.first), (profiled.k, cell.top))
    )
    frame = frame_of(
        rows, model=str, expression=str, word=str, at=str, correct=int, n=int, accuracy=float
    )
    return frame.with_columns(
        pl.concat_str("correct", pl.lit("/"), "n").alias("shown"),
    )


def dimensions_figure(profiles: Sequence[Named], choices: Sequence[Estimate] = ()) -> Figure:
    """The forced choice, hit@1, hit@k, P@1 and P@k of each dimension, a panel for each model.

    Args:
        profiles: of the models.
        choices: their choices among given words, of the whole suite and of each dimension.

    Raises:
        UsageError: nothing was chosen, hit or judged in any dimension.
        MissingDependencyError: altair is not installed.
    """
    frame = dimensions_frame(profiles, choices)
    require_rows(
        frame,
        where="figure dimensions",
        seen="no item has a target, and no candidate was judged",
        todo="Give --dictionary or --judgments.",
    )
    import altair as alt

    respects = {WILSON_CLUSTERED, WILSON_CROSSED}
    has_clusters = not respects.isdisjoint(frame["interval_method"])
    respecting = " that respect clusters" if has_clusters else ""
    chances = frame["chance"].drop_nulls()
    dashes = "" if chances.is_empty() else "; dashes are chance"
    title = f"The profile, with 95% intervals{respecting}{dashes}"
    order, values = (list(dict.fromkeys(frame[name])) for name in ("dimension", "value"))
    chart = (
        alt.layer(*_marks(order, has_chance=bool(dashes)), data=_in_all_panels(frame))
        .properties(width=130, height=alt.Step(18))
        .facet(
            column=alt.Column("value:N", title=None, sort=values),
            row=alt.Row(
                "model:N",
                title=None,
                sort=list(dict.fromkeys(frame["model"])),
                header=alt.Header(labelAngle=0, labelOrient="top", labelAnchor="start"),
            ),
            title=title,
        )
    )
    made = figure_of(chart, name="dimensions", title=title, frame=frame)
    return replace(made, words=(WHOLE_SUITE, *values))


def _marks(order: Sequence[str], *, has_chance: bool) -> list[alt.Chart]:
    """Chance, intervals and values of the dimensions, in their order."""
    import altair as alt

    base = alt.Chart().encode(y=alt.Y("dimension:N", title=None, sort=order))
    whiskers = base.mark_rule(color=BLUE).encode(
        x=alt.X("low:Q", title="share", axis=alt.Axis(values=[0, 0.5, 1])).scale(domain=[0, 1]),
        x2="high:Q",
    )
    points = base.mark_circle(color=BLUE, size=42, opacity=1).encode(x="share:Q")
    chance = (
        base.mark_tick(color=GRAY, thickness=2)
        .transform_filter("datum.chance !== null")
        .encode(x="chance:Q")
    )
    return [*([chance] if has_chance else []), whiskers, points]


def _in_all_panels(frame: pl.DataFrame) -> pl.DataFrame:
    """The numbers, with an empty row for each panel without any, whose place others would take."""
    import polars as pl

    models, values = (frame.select(name).unique(maintain_order=True) for name in ("model", "value"))
    panels = models.join(values, how="cross").join(frame, on=["model", "value"], how="anti")
    empty = panels.with_columns(pl.lit(WHOLE_SUITE).alias("dimension"))
    return pl.concat([frame, empty], how="diagonal")


def dimensions_frame(profiles: Sequence[Named], choices: Sequence[Estimate] = ()) -> pl.DataFrame:
    """The numbers of `dimensions_figure`: a row for each model, dimension and value."""
    rows: list[tuple[object, ...]] = [
        (
            one.model, one.level if one.group else WHOLE_SUITE, one.question,
            one.right, one.n, one.value, one.low, one.high, one.interval_method, one.chance,
            one.method,
        )
        for one in choices
    ]  # fmt: skip
    for model, profiled in profiles:
        for part in profiled.dimensions:
            for name, shares in (("hit", part.hits), ("P", part.fitting)):
                for k, one in zip((1, profiled.k), shares, strict=False):
                    share, interval = one.share, one.interval
                    ends = (interval.low, interval.high, interval.method)
                    numbers = (share.correct, share.n, share.value, *ends)
                    rows.append((model, part.name, f"{name}@{k}", *numbers, None, ""))
    return frame_of(
        rows, model=str, dimension=str, value=str, correct=int, n=int, share=float,
        low=float, high=float, interval_method=str, chance=float, method=str,
    )  # fmt: skip


_WIDTH, _HEIGHT = 320, 220


def curve_figure(runs: Sequence[Run]) -> Figure:
    """hit@1 to hit@k, a line for each model, by its first way to find candidates.

    Args:
        runs: of cloze suites whose items have targets; k is that of each run.

    Raises:
        UsageError: none of the runs has targets that its model can find.
    """
    frame = curve_frame(runs)
    require_rows(
        frame,
        where="figure curve",
        seen="none of the runs has items with targets that its model can find",
        todo="Give runs of a suite whose items say what belongs in the blank.",
    )
    import altair as alt

    chart = (
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X("k:O", title="candidates that count", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("accuracy:Q", title="hit@k").scale(domain=[0, 1]),
            color=alt.Color("model:N", title=None, sort=list(dict.fromkeys(frame["model"]))),
            strokeDash=alt.StrokeDash("suite:N", title=None),
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )
    return figure_of(
        chart, name="curve", title=f"hit@1 to hit@{max(frame['k'].to_list())}", frame=frame
    )


def curve_frame(runs: Sequence[Run]) -> pl.DataFrame:
    """The numbers of the curve: suite, model, k, correct, n, accuracy."""
    rows = (
        (run.suite.name, run.model, int(e.question.removeprefix(HIT)), e.right, e.n, e.value)
        for run in runs
        for e in _hits(run)
        if e.value is not None
    )
    return frame_of(rows, suite=str, model=str, k=int, correct=int, n=int, accuracy=float)


def _hits(run: Run) -> list[Estimate]:
    """hit@1 to hit@k over all items, by the first method."""
    hits = [e for e in run.estimates() if e.question.startswith(HIT) and not e.group]
    return [hit for hit in hits if hit.method == hits[0].method]
