"""Contributions of tokens as tables and figures: regions on average, and strips of single items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.paradigms.regions.attributions import RULES
from cimento.report.figures import Figure, figure_of, require_rows
from cimento.report.formatting import p_printed
from cimento.report.grid import EstimateCell, Grid

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms.regions.attributions import ContributionMean
    from cimento.report import Contributions


_MOST_ITEMS = 6
_LEAST_MOVED, _LEAST_PRINTED = 0.01, 0.001
"""Contributions that are a smaller part of the margins say nothing; the least printed."""


def contribution_grids(means: Sequence[ContributionMean]) -> list[Grid]:
    """A table for each rule, comparison and phenomenon: the mean contribution of each region.

    Args:
        means: the mean contributions.
    """
    grids = []
    keyed = groupby(means, key=lambda m: (m.rule, m.baseline, m.question, m.phenomenon))
    for (rule, baseline, question, phenomenon), group in keyed:
        rows = list(group)
        whole, regions = rows[0], rows[1:]
        grids.append(
            Grid.of(
                [*regions, whole],
                {
                    "region": lambda mean: mean.region_name,
                    "contribution": lambda mean: EstimateCell.of(
                        mean.contribution_bits, mean, mean.n, digits=2
                    ),
                    "p (Holm)": lambda mean: p_printed(mean.p_holm),
                },
                title=f"{phenomenon}, {question}: contribution to the margin in bits,"
                f" {RULES[rule]}",
                notes=_notes(whole, baseline),
            )
        )
    return grids


def _notes(whole: ContributionMean, baseline: str) -> tuple[str, ...]:
    """What a reader must know about a table."""
    if whole.rule == "gradient":
        margin = f"The mean margin of {whole.n} items is {_bits(whole.margin_bits)} bits;"
        notes = [f"{margin} contributions of gradient x input do not add up to it."]
        if whole.moved is not None and whole.moved < _LEAST_MOVED:
            is_least = whole.moved < _LEAST_PRINTED
            share = "less than 0.1" if is_least else f"{100 * whole.moved:.1f}"
            notes.append(
                f"Warning: all contributions together are {share}% of the margins, so they say"
                " nothing about this model. A model that normalizes every embedding before its"
                " first layer (such as ModernBERT) does not react to its length, and gradient x"
                " input is then 0, whatever the model depends on. Use --by integrated."
            )
        return tuple(notes)
    margin = f"({_bits(whole.margin_bits)} bits on average of {whole.n} items)"
    start = f"({_bits(whole.baseline_bits)})"
    added = (
        f"All contributions add up to the margin {margin} less the margin of sentences in which"
        f" every word is the {baseline} embedding {start}."
    )
    notes = [added]
    if whole.error_bits is not None:
        notes.append(
            f"In no sentence are they off by more than {whole.error_bits:.2g} bits (the error of"
            " the integral)."
        )
    if whole.unsettled:
        named = ", ".join(whole.unsettled[:_MOST_ITEMS])
        more = ", ..." if len(whole.unsettled) > _MOST_ITEMS else ""
        other = "--baseline mean" if baseline == "zero" else "--by interchange"
        notes.append(
            f"Warning: the integral has not converged in {len(whole.unsettled)} of"
            f" {counted(whole.n, 'item')} ({named}{more}), so their contributions are not to be"
            f" trusted. Try {other}, or name the other items only."
        )
    return tuple(notes)


def _bits(value: float | None) -> str:
    return "unknown" if value is None else f"{round(value, 2) + 0.0:.2f}"


def contribution_figure(
    items: Mapping[str, Sequence[Contributions]], *, model: str, suite: str
) -> Figure:
    """Token strips of items, colored by what each token contributes to the margin.

    Args:
        items: the contributions of each item, of which the first six are drawn.
        model: label of the model.
        suite: name of the suite.

    Raises:
        UsageError: there are none.
    """
    import altair as alt

    frame = _words(items)
    require_rows(frame, where="figure contributions", seen="no token has a contribution",
                 todo="cimento analyze attribution RUN --by integrated")  # fmt: skip
    largest = max([1e-6, *(abs(value or 0.0) for value in frame["contribution_bits"].to_list())])
    title = f"What the words contribute to the predictions of {suite}: {model}"
    panels = []
    for panel in dict.fromkeys(frame["panel"]):
        some = frame.filter(panel=panel)
        base = alt.Chart(some).encode(
            x=alt.X("position:O", title=None, axis=None),
            y=alt.Y("condition:N", title=None, sort=list(dict.fromkeys(some["condition"]))),
            tooltip=["token:N", alt.Tooltip("contribution_bits:Q", title="bits", format=".2f")],
        )
        known = base.transform_filter("isValid(datum.contribution_bits)")
        squares = known.mark_rect(stroke="white").encode(
            color=alt.Color("contribution_bits:Q", title="bits").scale(
                scheme="redblue", domain=[-largest, largest]
            )
        )
        dark = f"abs(datum.contribution_bits) > {0.6 * largest}"
        color = alt.condition(dark, alt.value("white"), alt.value("#222222"))
        words = base.mark_text(dy=-6).encode(text="token:N", color=color)
        numbers = known.mark_text(dy=7).encode(
            text=alt.Text("contribution_bits:Q", format="+.2f"), color=color
        )
        panels.append(
            alt.layer(squares, words, numbers).properties(
                title=panel, width=alt.Step(64), height=alt.Step(32)
            )
        )
    chart = alt.vconcat(*panels, title=title).resolve_scale(x="independent")
    return figure_of(chart, name="contributions", title=title, frame=frame)


def _words(items: Mapping[str, Sequence[Contributions]]) -> pl.DataFrame:
    """The words of some items with their contributions, by panel and condition."""
    import polars as pl

    rows = []
    for item, several in list(items.items())[:_MOST_ITEMS]:
        for contributions in several:
            for strip in contributions.strips:
                # What follows the last measured word has no contribution, and takes much room.
                words = [
                    piece
                    for region in strip.regions
                    for piece in region.pieces
                    if piece.text.strip() and (piece.asked or region.needed)
                ]
                panel = f"item {item}: {contributions.label}"
                rows += [
                    (panel, strip.condition, place, piece.text.strip(), piece.surprisal_bits)
                    for place, piece in enumerate(words, start=1)
                ]
    schema = {
        "panel": pl.String, "condition": pl.String, "position": pl.Int32, "token": pl.String,
        "contribution_bits": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")
