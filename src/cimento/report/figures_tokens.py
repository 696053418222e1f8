"""Figures of token surprisals: single items with the locus of the difference, and positions."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.report.figures import (
    BLUE,
    GREY,
    ORANGE,
    Figure,
    figure_of,
    load_altair,
    require_rows,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from cimento.report.items import ItemRecord
    from cimento.report.records import RunReport
    from cimento.report.strips import Strip

TOKEN_WIDTH = 44
HEIGHT = 110
PANEL_WIDTH = 420


def tokens_figure(run: RunReport, item: str) -> Figure:
    """The surprisal of every token of one item, a panel for each condition.

    Tokens that the condition does not share with the one it is compared with are marked, and so
    is the one whose surprisal differs most: the locus of the difference. The first condition of an
    item is compared with the last, every other one with the first.

    Args:
        run: with all of its items.
        item: id of the item.

    Raises:
        UsageError: the run has no such item, or no token of it was scored.
    """
    load_altair()
    import altair as alt

    record = next((each for each in run.items if each.id == item), None)
    if record is None:
        raise UsageError(
            where=f"--item {item}",
            seen="the run has no such item",
            todo=did_you_mean(item, [each.id for each in run.items]),
        )
    frame = item_frame(record)
    if frame["surprisal_bits"].null_count() == len(frame):
        raise UsageError(
            where=f"--item {item}",
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
    """The tokens of one item: position, surprisal, whether they differ and where most."""
    import polars as pl

    cut = {each.condition: _tokens(each) for each in record.strips}
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
    """The positions of tokens that another sentence does not share, and that of the locus.

    The locus is the token whose surprisal differs most: from that of the same token in the other
    sentence, or from nothing where it is not shared.

    Args:
        tokens: text and surprisal in bits.
        other: of the sentence that it is compared with.
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
    """Text and surprisal of each piece that the model was asked about."""
    return [
        (piece.text, piece.surprisal_bits)
        for region in strip.regions
        for piece in region.pieces
        if piece.asked
    ]


def _token_panel(frame: pl.DataFrame, condition: str) -> alt.LayerChart | alt.FacetChart:
    import altair as alt

    labels = [f"{n} {token}" for n, token in zip(frame["position"], frame["token"], strict=True)]
    shown = frame.with_columns(label=frame["position"].cast(str))
    names = {str(n): text for n, text in zip(frame["position"], labels, strict=True)}
    x = alt.X(
        "label:N",
        sort=list(names),
        title=None,
        axis=alt.Axis(labelAngle=-35, labelExpr=_label_expression(frame)),
    )
    y = alt.Y("surprisal_bits:Q", title="surprisal (bits)")
    base = alt.Chart(shown)
    colour = alt.condition("datum.differs", alt.value(ORANGE), alt.value(BLUE))
    line = base.mark_line(color=GREY, strokeDash=[3, 3]).encode(x=x, y=y)
    points = base.mark_point(filled=True, size=50, opacity=1).encode(x=x, y=y, color=colour)
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
    return alt.layer(line, points, locus).properties(title=heading, width=width, height=HEIGHT)


def _label_expression(frame: pl.DataFrame) -> str:
    """Tokens under their positions: one token may occur twice, and its place must not merge."""
    import json

    tokens = json.dumps([text.strip() for text in frame["token"]], ensure_ascii=False)
    return f"{tokens}[datum.value - 1]"


def position_figure(runs: Sequence[RunReport], *, length: int | None = None) -> Figure:
    """Mean surprisal by position in the sentence, a line for each model.

    Args:
        runs: with all of their items.
        length: only sentences with so many tokens; None for all.

    Raises:
        UsageError: no sentence has so many tokens.
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
    colour = alt.Color("model:N", title="model")
    lines = base.mark_line(point=True).encode(
        x=x,
        y=alt.Y("mean_bits:Q", title="mean surprisal (bits)"),
        color=colour,
        strokeDash=alt.StrokeDash("model:N", legend=None),
    )
    bars = base.mark_errorbar(ticks=alt.MarkConfig(size=6)).encode(
        x=x, y=alt.Y("low:Q", title="mean surprisal (bits)"), y2="high:Q", color=colour
    )
    chart = alt.layer(bars, lines).properties(title=title, width=PANEL_WIDTH, height=240)
    return figure_of(chart, name="position", title=title, frame=frame)


def position_frame(runs: Sequence[RunReport], *, length: int | None = None) -> pl.DataFrame:
    """Model and position to the mean surprisal of its tokens, with n and standard error."""
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
