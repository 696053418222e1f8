"""Figures of scores: against length, item by item, token by token, and calibration curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.report.figures import (
    BLUE,
    GRAY,
    ORANGE,
    Figure,
    figure_of,
    frame_of,
    load_altair,
    require_rows,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from cimento.report import ItemRecord, RunReport
    from cimento.report.strips import Strip
    from cimento.statistics.calibration import Calibration


COLORS = (BLUE, ORANGE, "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""The colors of Okabe and Ito (2008), which color-blind readers can tell apart."""


def color_of(field: str, names: Sequence[str], *, title: str | None) -> alt.Color:
    """The encoding of names by color, which begin again where there are more names.

    Args:
        field: the column of the names.
        names: the names in their order.
        title: of the legend; None for no title.
    """
    import altair as alt

    colors = [COLORS[k % len(COLORS)] for k in range(len(names))]
    return alt.Color(field, title=title, sort=names).scale(domain=names, range=colors)


def length_figure(scores: pl.DataFrame, *, measure: str, unit: str) -> Figure:
    """Scores by number of words, one point for each sentence and one color for each condition.

    Args:
        scores: table with the columns ``model``, ``item``, ``condition``, ``words``, ``value``.
        measure: name of the score.
        unit: unit of the score; empty for a pure number.

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
    color = color_of("condition:N", names, title="condition")
    x = alt.X("words:Q", title="words", scale=alt.Scale(zero=False), axis=alt.Axis(format="d"))
    y = alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=False))
    base = alt.Chart()
    points = base.mark_circle(size=28, opacity=0.7).encode(x=x, y=y, color=color)
    trend = (
        base.transform_regression("words", "value")
        .mark_line(color=GRAY, strokeDash=[4, 3])
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


SIDE = 240


def calibration_figure(curves: Mapping[str, Calibration], *, title: str, share: str) -> Figure:
    """Calibration curves, one for each model; the dashed diagonal is perfect calibration.

    Args:
        curves: label of each model, mapped to its bins.
        title: what the figure shows.
        share: name of the share counted as right, such as ``share that fits``.

    Raises:
        UsageError: no bin contains an answer.
    """
    import polars as pl

    frame = calibration_frame(curves)
    require_rows(frame, where="figure calibration", seen="nothing has a probability")
    import altair as alt

    models = list(dict.fromkeys(frame["model"]))
    color = color_of("model:N", models, title=None)
    x = alt.X("probability:Q", title="mean probability").scale(domain=[0, 1])
    y = alt.Y("share:Q", title=share).scale(domain=[0, 1])
    base = alt.Chart(frame)
    line = base.mark_line().encode(x=x, y=y, color=color)
    points = base.mark_circle(opacity=1).encode(
        x=x, y=y, color=color, size=alt.Size("n:Q", title="answers")
    )
    ends = pl.DataFrame({"at": [0, 1]})
    equal = alt.Chart(ends).mark_line(color=GRAY, strokeDash=[4, 3]).encode(x="at:Q", y="at:Q")
    chart = alt.layer(equal, line, points).properties(width=SIDE, height=SIDE, title=title)
    return figure_of(chart, name="calibration", title=title, frame=frame)


def calibration_frame(curves: Mapping[str, Calibration]) -> pl.DataFrame:
    """A table of model, low, high, n, probability and proportion of every bin that has answers."""
    rows = (
        (model, bin_.low, bin_.high, bin_.n, bin_.confidence, bin_.accuracy)
        for model, curve in curves.items()
        for bin_ in curve.bins
        if bin_.n
    )
    return frame_of(rows, model=str, low=float, high=float, n=int, probability=float, share=float)


TOKEN_WIDTH = 44
TOKENS_HEIGHT = 110
PANEL_WIDTH = 420


def tokens_figure(run: RunReport, item: str) -> Figure:
    """The surprisal of every token of one item, one panel for each condition.

    Tokens that a condition does not share with the one it is compared with are marked, and so is
    the token whose surprisal differs most, the locus of the difference. The first condition of an
    item is compared with the last one, every other condition with the first.

    Args:
        run: the run, with all of its items.
        item: id of the item.

    Raises:
        UsageError: the run has no such item, or none of its tokens was scored.
    """
    load_altair()
    import altair as alt

    record = next((candidate for candidate in run.items if candidate.id == item), None)
    if record is None:
        raise UsageError(
            where=f"--item={item}",
            seen="the run has no such item",
            todo=did_you_mean(item, [candidate.id for candidate in run.items]),
        )
    frame = item_frame(record)
    if frame["surprisal_bits"].null_count() == len(frame):
        raise UsageError(
            where=f"--item={item}",
            seen="none of its tokens has a surprisal",
            todo="Run again with --all-tokens.",
        )
    title = f"{run.model} on {run.suite}, item {item}: surprisal of tokens"
    panels = [
        _token_panel(frame.filter(frame["condition"] == strip.condition), strip.condition)
        for strip in record.strips
    ]
    whole = alt.vconcat(*panels, title=title).resolve_scale(y="shared")
    return figure_of(whole, name="tokens", title=title, frame=frame)


def item_frame(record: ItemRecord) -> pl.DataFrame:
    """The tokens of one item: position, surprisal, whether each differs, and which differs most."""
    import polars as pl

    cut = {strip.condition: _tokens(strip) for strip in record.strips}
    names = list(cut)
    rows = []
    for name, tokens in cut.items():
        other = cut[names[-1] if name == names[0] else names[0]]
        different, locus = differences(tokens, other) if len(names) > 1 else (set(), None)
        for position, (text, bits) in enumerate(tokens):
            rows.append(
                {
                    "item": record.id,
                    "condition": name,
                    "position": position + 1,
                    "token": text,
                    "surprisal_bits": bits,
                    "differs": position in different,
                    "locus": position == locus,
                }
            )
    schema = {"surprisal_bits": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)


def differences(
    tokens: Sequence[tuple[str, float | None]], other: Sequence[tuple[str, float | None]]
) -> tuple[set[int], int | None]:
    """The positions of tokens not shared with another sentence, and the position of the locus.

    The locus is the token whose surprisal differs most from that of the same token in the other
    sentence, or from zero if the token is not shared.

    Args:
        tokens: text and surprisal (bits) of each token.
        other: text and surprisal (bits) of each token of the other sentence.
    """
    texts, others = [text.strip() for text, _ in tokens], [text.strip() for text, _ in other]
    matcher = SequenceMatcher(a=texts, b=others, autojunk=False)
    shared = {
        block.a + step: block.b + step
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }
    gaps: dict[int, float] = {}
    for position, (_, bits) in enumerate(tokens):
        before = other[shared[position]][1] if position in shared else 0.0
        if bits is not None and before is not None:
            gaps[position] = abs(bits - before)
    different = set(range(len(tokens))) - shared.keys()
    locus = max(gaps, key=lambda position: gaps[position]) if gaps else None
    return different, locus


def _tokens(strip: Strip) -> list[tuple[str, float | None]]:
    """The text and surprisal of each piece that the model was asked about."""
    return [
        (piece.text, piece.surprisal_bits)
        for region in strip.regions
        for piece in region.pieces
        if piece.asked
    ]


_NO_WIDTH = "\u200b"


def _token_panel(frame: pl.DataFrame, condition: str) -> alt.LayerChart | alt.FacetChart:
    import altair as alt
    import polars as pl

    # One token may occur twice, and its positions must not merge, so each label gets as many
    # zero-width marks as tokens precede it. Labels are sorted by a number, because a list of texts
    # to sort by would become part of a Vega expression.
    places = [f"{token.strip()}{_NO_WIDTH * number}" for number, token in enumerate(frame["token"])]
    shown = frame.with_columns(label=pl.Series(places, dtype=pl.String))
    order = alt.EncodingSortField("position", op="min")
    x = alt.X("label:N", sort=order, title=None, axis=alt.Axis(labelAngle=-35, labelLimit=0))
    y = alt.Y("surprisal_bits:Q", title="surprisal (bits)")
    base = alt.Chart(shown)
    color = alt.condition("datum.differs", alt.value(ORANGE), alt.value(BLUE))
    line = base.mark_line(color=GRAY, strokeDash=[3, 3]).encode(x=x, y=y)
    points = base.mark_point(filled=True, size=50, opacity=1).encode(x=x, y=y, color=color)
    locus = (
        base.transform_filter("datum.locus")
        .mark_point(size=220, strokeWidth=2, color="black", filled=False)
        .encode(x=x, y=y)
    )
    total = sum(bits for bits in frame["surprisal_bits"] if bits is not None)
    heading = alt.TitleParams(
        text=condition,
        subtitle=f"{total:.2f} bits; orange: not shared; ring: where the difference is largest",
    )
    width = TOKEN_WIDTH * max(4, len(frame))
    return alt.layer(line, points, locus).properties(
        title=heading, width=width, height=TOKENS_HEIGHT
    )


def position_figure(runs: Sequence[RunReport], *, length: int | None = None) -> Figure:
    """Mean surprisal by position in the sentence, one line for each model.

    Args:
        runs: the runs, with all of their items.
        length: number of tokens of the sentences to include; None for all sentences.

    Raises:
        UsageError: no sentence has this number of tokens.
    """
    frame = position_frame(runs, length=length)
    require_rows(
        frame,
        where="figure position",
        seen="no scored sentence has so many tokens",
        todo="Choose another --length, or run again with --all-tokens.",
    )
    import altair as alt

    only = f", sentences of {length} tokens" if length else ""
    title = f"Mean surprisal by position{only}"
    base = alt.Chart(frame)
    x = alt.X("position:Q", title="position (token)", axis=alt.Axis(tickMinStep=1, format="d"))
    color = alt.Color("model:N", title="model")
    lines = base.mark_line(point=True).encode(
        x=x,
        y=alt.Y("mean_bits:Q", title="mean surprisal (bits)"),
        color=color,
        strokeDash=alt.StrokeDash("model:N", legend=None),
    )
    bars = base.mark_errorbar(ticks=alt.MarkConfig(size=6)).encode(
        x=x, y=alt.Y("low:Q", title="mean surprisal (bits)"), y2="high:Q", color=color
    )
    chart = alt.layer(bars, lines).properties(title=title, width=PANEL_WIDTH, height=240)
    return figure_of(chart, name="position", title=title, frame=frame)


def position_frame(runs: Sequence[RunReport], *, length: int | None = None) -> pl.DataFrame:
    """A table of the mean surprisal by model and position, with n and standard error."""
    import polars as pl

    rows = [
        {"model": run.model, "position": position, "bits": bits}
        for run in runs
        for item in run.items
        for strip in item.strips
        if length is None or len(_tokens(strip)) == length
        for position, (_, bits) in enumerate(_tokens(strip), start=1)
        if bits is not None
    ]
    if not rows:
        return pl.DataFrame()
    mean, se = pl.col("mean_bits"), pl.col("se_bits")
    return (
        pl.DataFrame(rows)
        .group_by("model", "position", maintain_order=True)
        .agg(
            n=pl.len(),
            mean_bits=pl.col("bits").mean(),
            se_bits=pl.col("bits").std() / pl.len().sqrt(),
        )
        .with_columns(low=mean - se, high=mean + se)
        .sort("model", "position")
    )
