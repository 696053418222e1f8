"""Figures of designs: the means of conditions that cross two factors."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import UsageError
from cimento.kinds.named import Bars
from cimento.measures import find_measure
from cimento.measures.normalizing import SCALES, Normalization
from cimento.report.figures import BLUE, ORANGE, Figure, figure_of, load_altair
from cimento.report.formatting import p_value
from cimento.statistics.design import FEWEST_CLUSTERS, Design

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from cimento.paradigms.regions.factorial import Factorial, PhenomenonEffects
    from cimento.paradigms.regions.two_by_two import Effects


BARS: Mapping[Bars, str] = {
    "se": "± 1 standard error of the mean over items",
    "means-removed": "95% within items (means of items removed)",
    "cousineau-morey": "95% within items (Cousineau-Morey)",
    "loftus-masson": "95% within items (Loftus-Masson)",
}
"""The meaning of error bars, in words."""

WITHIN: Bars = "cousineau-morey"
"""The usual bars of designs, whose effects are differences within items."""

UP = "higher: more acceptable"
COST_UP = "higher: less probable"
"""What the top of a figure means: of scores, and of surprisal in bits or nats."""

PER_ROW = 2
SIZE = (190, 150)
"""Width and height of a panel, without its axes."""
ALONE = (300, 200)
"""The same of a panel that stands alone."""
LETTERS, SMALL_LETTERS = 30, 40
"""Letters of a heading, and of the line below it, that fit above a panel and its axis."""
MORE_ALONE = 1.6
"""By how much more fit above one that stands alone."""
LETTER = 9
"""Width of a bold letter in a wide font (DejaVu Sans, Verdana)."""
DASH = [5, 4]
LABEL_ROOM = 7
"""Distance of a line's name from the name of a line that ends there too."""
BESIDE = 12
"""Distance of a line's name from its end, beyond the cap of an error bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One panel of an interaction figure.

    Attributes:
        title: heading of the panel.
        result: the result that the phenomenon belongs to.
        phenomenon: the effects to draw.
        p: p-value of DD over items, not corrected; None if there is none.
        bars: kind of error bars.
    """

    title: str
    result: Factorial
    phenomenon: PhenomenonEffects
    p: float | None
    bars: Bars = WITHIN

    @property
    def design(self) -> Design:
        """The design of the items with a DD."""
        return self.phenomenon.design("raw")

    def drawn_bars(self, scale: Normalization) -> Bars:
        """The bars; standard errors where only means were published, and no single items."""
        return self.bars if self.phenomenon.effects[scale].items else "se"


def interaction_figure(
    result: Factorial,
    scale: Normalization,
    ps: Mapping[str, float | None] | None = None,
    *,
    bars: Bars = WITHIN,
) -> Figure:
    """One panel for each phenomenon of one model and measure, two panels per row.

    Where people rated the sentences, `rows_figure` has their panels beside the model's.

    The first factor is on the x axis; the plain level of the second factor is a solid line, the
    changed level a dashed line, each with its name at its end. Raw surprisal is drawn as it is, in
    the unit of DD; other costs are drawn with their sign reversed.

    Args:
        result: the result of one model, measure and suite.
        scale: scale of the scores.
        ps: phenomena, each mapped to the p-value of its DD.
        bars: standard errors over items, or 95% within-item intervals by one of the methods of
            `cimento.statistics.means`; all on the scale of the figure.
    """
    panels = [
        Panel(
            title=phenomenon.name,
            result=result,
            phenomenon=phenomenon,
            p=(ps or {}).get(phenomenon.name),
            bars=bars,
        )
        for phenomenon in result.phenomena
    ]
    title = f"{result.model} on {result.suite}: interaction by phenomenon"
    return _figure(panels, scale, title=title, columns=PER_ROW)


Column: TypeAlias = "tuple[str, Factorial, Mapping[str, float | None]]"
"""Title of a column of panels, whose results it shows, and phenomenon to p of its DD."""


def rows_figure(
    columns: Sequence[Column],
    scale: Normalization,
    *,
    bars: Bars = WITHIN,
) -> Figure:
    """One row for each phenomenon, one column for each source: people, suites, models.

    Args:
        columns: columns of panels, whose titles name the suite, as ``suite, model``, where there
            are several. The phenomena are those of the first column; those of the others are
            matched by name, without a leading ``wh_``.
        scale: scale of the scores.
        bars: kind of error bars, as for `interaction_figure`.
    """
    panels: list[Panel | str] = []
    for phenomenon in columns[0][1].phenomena:
        for title, result, ps in columns:
            effects = next(
                (p for p in result.phenomena if _key(p.name) == _key(phenomenon.name)), None
            )
            key = _key(phenomenon.name)
            # A suite of one phenomenon may be called like it.
            heading = f"{key}: {title.removeprefix(f'{key}, ')}"
            panels.append(
                Panel(
                    title=heading,
                    result=result,
                    phenomenon=effects,
                    p=ps.get(effects.name),
                    bars=bars,
                )
                if effects
                else f"{heading}: none"
            )
    sources = " | ".join(title for title, _, _ in columns)
    suites = {result.suite for _, result, _ in columns}
    title = (
        f"{sources} on {suites.pop()}: interaction by phenomenon"
        if len(suites) == 1
        else f"Interaction by phenomenon: {sources}"
    )
    return _figure(panels, scale, title=title, columns=len(columns))


def _key(name: str) -> str:
    return name.removeprefix("wh_")


_DD = "DD: how much further the dashed line {} than the solid one"
_P = "p: each panel's own, not corrected for their number"
_PAIRS = "pairs: the bad cell is the {} one, compared with each of the other three"
_OTHER_PAIRS = "pairs: those in the table of accuracies"


def _pairs_said(panels: Sequence[Panel], scale: Normalization) -> str:
    """What the pairs are whose proportion is above each panel; empty where there is none."""
    rated = [panel for panel in panels if panel.phenomenon.average is not None]
    if not rated:
        return ""
    if not all(panel.phenomenon.is_of_worst for panel in rated):
        return _OTHER_PAIRS
    worse = ("higher" if is_cost(panel.result, scale) else "lower" for panel in rated)
    return _PAIRS.format(" or ".join(dict.fromkeys(worse)))


def _figure(
    shown: Sequence[Panel | str], scale: Normalization, *, title: str, columns: int
) -> Figure:
    load_altair()
    import altair as alt
    import polars as pl

    frames = []
    charts: list[alt.Chart | alt.LayerChart | alt.FacetChart] = []
    alone = len(shown) == 1
    width = _width([panel if isinstance(panel, str) else panel.title for panel in shown])
    width, height = (max(width, ALONE[0]), ALONE[1]) if alone else (width, SIZE[1])
    for panel in shown:
        if isinstance(panel, str):
            nothing = alt.Chart(pl.DataFrame({"x": []})).mark_point()
            # Without an axis, its heading has the width of the panel alone.
            room = width + LETTERS * LETTER - SIZE[0]
            charts.append(nothing.properties(title=_lines(panel), width=room))
        else:
            frames.append(_frame(panel, scale))
            drawing = _chart(panel, frames[-1], scale)
            charts.append(drawing.properties(width=width, height=height))
    panels = [panel for panel in shown if isinstance(panel, Panel)]
    drawn = dict.fromkeys(
        f"{score_drawn(panel.result, scale)} ({up(panel.result, scale)})" for panel in panels
    )
    said = [" or ".join(drawn), _bars_said(panels, frames, scale)] if panels else []
    ways = dict.fromkeys("rises" if is_cost(panel.result, scale) else "falls" for panel in panels)
    said += [_DD.format(" or ".join(ways))] if ways else []
    said += [_P] if len([panel for panel in panels if panel.p is not None]) > 1 else []
    said += filter(None, [_pairs_said(panels, scale)])
    beside = MORE_ALONE if alone else min(columns, len(shown))
    heading = alt.TitleParams(
        text=_lines(title, int(beside * LETTERS)),
        subtitle=[line for part in said for line in _lines(part, int(beside * SMALL_LETTERS))],
    )
    whole = alt.concat(*charts, columns=columns, title=heading).resolve_scale(y="shared")
    caption = "; ".join([title, *said])
    return figure_of(whole, name="interaction", title=caption, frame=pl.concat(frames))


def _bars_said(
    panels: Sequence[Panel], frames: Sequence[pl.DataFrame], scale: Normalization
) -> str:
    """What the error bars of a figure are, or why it has none."""
    barred = [
        panel
        for panel, frame in zip(panels, frames, strict=True)
        if frame["low"].null_count() < len(frame)
    ]
    if not barred:
        few = all(
            max(panel.phenomenon.effects[scale].cells, key=lambda cell: cell.n).n < FEWEST_CLUSTERS
            and panel.drawn_bars(scale) != "se"
            for panel in panels
        )
        return "no error bars" + few * f": an interval needs {FEWEST_CLUSTERS} items or more"
    meant = dict.fromkeys(BARS[panel.drawn_bars(scale)] for panel in barred)
    return f"error bars: {' or '.join(meant)}"


def _frame(panel: Panel, scale: Normalization) -> pl.DataFrame:
    """The four means of a panel, with everything needed to draw and check them."""
    import polars as pl

    effects, kind = panel.phenomenon.effects[scale], panel.drawn_bars(scale)
    sign = -1 if is_cost(panel.result, scale) else 1
    means = [None if cell.mean is None else sign * cell.mean for cell in effects.cells]
    rows = [
        {
            "panel": panel.title,
            "suite": panel.result.suite,
            "model": panel.result.model,
            "measure": panel.result.measure,
            "phenomenon": panel.phenomenon.name,
            "scale": effects.normalization,
            "scope": effects.scope,
            "condition": cell.cell.name,
            "first": cell.cell.levels[0],
            "second": cell.cell.levels[1],
            "n": cell.n,
            "clusters": panel.design.m if panel.design.clustered else None,
            "mean": mean,
            "se": cell.se,
            "bars": kind,
            "low": None if mean is None or width is None else mean - width,
            "high": None if mean is None or width is None else mean + width,
            "dd": effects.dd,
            "p": panel.p,
            "accuracy": panel.phenomenon.average,
            "reason": cell.reason,
        }
        for cell, mean, width in zip(
            effects.cells, means, bar_half_widths(effects, kind), strict=True
        )
    ]
    numbers = ("mean", "se", "low", "high", "dd", "p", "accuracy")
    known = {"clusters": pl.Int64, "reason": pl.String}
    schema = {**dict.fromkeys(numbers, pl.Float64), **known}
    return pl.DataFrame(rows, schema_overrides=schema)


def bar_half_widths(effects: Effects, bars: Bars) -> list[float | None]:
    """The half-widths of the error bars of the four means; None where they are undefined.

    Args:
        effects: effects of one phenomenon on one scale.
        bars: ``se``, or a method of `cimento.statistics.means`, which uses only items that are
            scored in all four conditions, and needs as many of them as any interval.
    """
    from cimento.statistics.means import within_intervals

    if bars == "se":
        return [cell.se for cell in effects.cells]
    table = [
        [score for score in item.scores if score is not None]
        for item in effects.items
        if item.dd is not None
    ]
    # As of every interval: from fewer items nothing follows for others.
    enough = len(table) >= FEWEST_CLUSTERS
    widths = within_intervals(table, method=bars).half_widths if enough else None
    return list(widths) if widths else [None] * len(effects.cells)


def _chart(
    panel: Panel, frame: pl.DataFrame, scale: Normalization
) -> alt.LayerChart | alt.FacetChart:
    import altair as alt

    cells = panel.phenomenon.square.cells
    first, second = panel.phenomenon.square.factors
    xs = [cells[0].levels[0], cells[1].levels[0]]
    kinds = [cells[0].levels[1], cells[2].levels[1]]
    x = alt.X("first:N", sort=xs, title=first, axis=alt.Axis(labelAngle=0))
    field = "second:N"
    color = alt.Color(field, sort=kinds, title=second, legend=None).scale(
        domain=kinds, range=[BLUE, ORANGE]
    )
    dash = alt.StrokeDash(field, sort=kinds, title=second, legend=None).scale(
        domain=kinds, range=[[1, 0], DASH]
    )
    axis = [score_drawn(panel.result, scale), up(panel.result, scale)]
    # Vega leaves room for one title line only; a second line would cover the axis labels.
    beside = alt.Axis(titlePadding=18)
    y = alt.Y("mean:Q", title=axis, axis=beside, scale=alt.Scale(zero=False, nice=True))
    base = alt.Chart(frame.filter(frame["mean"].is_not_null()))
    bars = base.mark_errorbar(ticks=alt.MarkConfig(size=8), rule=True).encode(
        x=x, y=alt.Y("low:Q", title=axis), y2="high:Q", color=color
    )
    lines = base.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=color, strokeDash=dash)
    points = base.mark_point(filled=True, size=45, opacity=1).encode(x=x, y=y, color=color)
    # Each line has its name at its end; of two that end together one is above the other.
    ends = frame.filter((frame["first"] == xs[1]) & frame["mean"].is_not_null()).sort("mean")
    names = [
        alt.Chart(ends[n : n + 1])
        .mark_text(align="left", dx=BESIDE, dy=LABEL_ROOM if n < len(ends) - 1 else -LABEL_ROOM)
        .encode(x=x, y=y, color=color, text=alt.value(f"{second}: {ends['second'][n]}"))
        for n in range(len(ends))
    ]
    heading = alt.TitleParams(
        text=_lines(panel.title), subtitle=_lines(_subtitle(panel, scale), SMALL_LETTERS)
    )
    return alt.layer(lines, bars, points, *names).properties(title=heading)


def _lines(text: str, most: int = LETTERS) -> list[str]:
    """The lines of a heading; a name is in one of them, so that it can be replaced."""
    return textwrap.wrap(text, most, break_long_words=False, break_on_hyphens=False)


def _width(headings: Sequence[str]) -> int:
    """The width of all panels, in which the longest name in a heading has room."""
    longest = max((len(line) for heading in headings for line in _lines(heading)), default=0)
    return SIZE[0] + LETTER * max(0, longest - LETTERS)


def is_cost(result: Factorial, scale: Normalization) -> bool:
    """Whether surprisal itself is drawn, of which more is worse.

    Args:
        result: of one model and measure.
        scale: of the figure.
    """
    if scale != "raw":
        return False
    try:
        measure = find_measure(result.measure)
    except UsageError:  # human ratings
        return False
    return bool(measure.information) and not measure.higher_is_better


def up(result: Factorial, scale: Normalization) -> str:
    """What the top of a figure means: more acceptable, or less probable.

    Args:
        result: of one model and measure.
        scale: of the figure.
    """
    return COST_UP if is_cost(result, scale) else UP


def score_drawn(result: Factorial, scale: Normalization) -> str:
    """The name of the plotted score; of surprisal on another scale, that of log-probability.

    Args:
        result: of one model and measure.
        scale: of the figure.
    """
    try:
        measure = find_measure(result.measure)
    except UsageError:  # human ratings; z-scores have the same values on every scale
        known = "z-score" if result.unit == "z" else SCALES.get(scale, "as given")
        # "rating, z by participant" says it already.
        return result.measure if ", z " in result.measure else f"{result.measure}, {known}"
    name = measure.name
    if not measure.higher_is_better:
        name = "log-probability" if measure.information else f"{name} with its sign reversed"
    if is_cost(result, scale):
        name = "surprisal"
    return f"{name}, {SCALES.get(scale, measure.unit or 'raw')}"


def _subtitle(panel: Panel, scale: Normalization) -> str:
    effects = panel.phenomenon.effects[scale]
    if effects.dd is None:
        return f"DD undefined: {effects.reason}"
    unit = " z" if scale == "z" else ""
    if is_cost(panel.result, scale):
        unit = f" {find_measure(panel.result.measure).unit}"
    parts = [f"DD {effects.dd:.2f}{unit}".replace("-", "−")]
    if panel.p is not None:
        parts.append(p_value(panel.p))
    parts.append(f"n {len(effects.item_dds) or panel.phenomenon.n_items}")
    if clusters := panel.design.clusters_said:
        parts.append(f"{clusters} clusters")
    accuracy = panel.phenomenon.average
    if accuracy is not None:
        parts.append(f"pairs {100 * accuracy:.0f}%")
    return ", ".join(parts)
