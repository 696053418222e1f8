"""Figures of rates: margins as distributions, rates with intervals, heat maps, checkpoints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.records.wrong_side import DD
from cimento.report.figures import (
    BLUE,
    GRAY,
    ORANGE,
    Figure,
    VegaSpec,
    figure_of,
    frame_of,
    in_lines,
    load_altair,
    nominal,
    plain_figure,
    quantitative,
    require_rows,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from cimento.records.outcomes import Estimate, Outcome
    from cimento.report import ItemRecord, RunReport


BINS = 24
WIDTH, MARGINS_HEIGHT = 340, 70
DARK_CELL = 0.55
ABOVE: VegaSpec = {
    "labelAngle": 0, "labelAlign": "left", "labelOrient": "top", "labelAnchor": "start",
}  # fmt: skip
"""A header that puts the name of a row above it, where long names have room."""
_WHOLE = "datum.value == floor(datum.value) ? datum.value : ''"
"""Axis labels for whole numbers only, since there are no fractions of items."""
_SIGNS: Mapping[str | None, int] = {"pass": 1, "fail": -1}
"""The signs of margins by their verdicts."""


def margins_figure(runs: Sequence[RunReport], *, suite: str) -> Figure:
    """Histograms of the items' margins in their unit, one row for each model.

    Bars begin at zero, so that none contains items of both sides; ties have a bar of their own.
    Rows whose margins differ in their unit have scales of their own, and their names say the unit.

    Args:
        runs: runs of one suite, with all of their items.
        suite: name of the suite.

    Raises:
        UsageError: no item has a margin.
    """
    frame = margins_frame(runs)
    bars = margin_bars(frame)
    require_rows(
        bars,
        where="figure margins",
        seen="no item has a margin",
        todo="Give runs in which something was scored.",
    )
    units = set(bars["unit"])
    unit = next(iter(units)) if len(units) == 1 else ""
    sides = ["against", "tie", "in favor"]
    colors = {"domain": sides, "range": [ORANGE, GRAY, BLUE]}
    axis = f"margin, {unit}" if unit else "margin"
    drawn = {
        "mark": {"type": "bar", "stroke": None},
        "encoding": {
            "color": {**nominal("side", sort=sides), "scale": colors},
            # Flush labels at the ends would run into their neighbors.
            "x": quantitative("low", title=axis, axis={"labelFlush": False}),
            "x2": {"field": "high"},
            "y": quantitative("items", title="items", axis={"tickCount": 3, "labelExpr": _WHOLE}),
            "y2": {"datum": 0},
        },
    }
    zero = {"mark": {"type": "rule", "color": GRAY}, "encoding": {"x": {"datum": 0}}}
    spec = {
        **_rows_by_model(bars, units=len(units)),
        "spec": {"layer": [drawn, zero], "width": WIDTH, "height": MARGINS_HEIGHT},
    }
    said = f"{unit} in favor" if unit else "in favor"
    title = f"Margins on {suite}: {said} of what is predicted, item by item"
    # Of several designs of two by two, an item has no one DD.
    if {one.question for run in runs for _, one in _margins(run)} == {DD}:
        title = f"DD on {suite}, item by item: above 0, both changes cost more than their sum"
    return plain_figure(spec, name="margins", title=title, frame=frame)


def _rows_by_model(bars: pl.DataFrame, *, units: int = 1) -> dict[str, object]:
    """The parts of a spec that give each model its own row, and each scale its own unit."""
    rows = bars.to_dicts()
    scales = {"y": "independent"}
    if units > 1:
        rows = [{**row, "model": f"{row['model']}, {row['unit'] or 'no unit'}"} for row in rows]
        scales["x"] = "independent"
    models = list(dict.fromkeys(row["model"] for row in rows))
    return {
        "data": {"values": rows},
        "facet": {"row": {**nominal("model", sort=models), "header": ABOVE}},
        "resolve": {"scale": scales},
    }


def margins_frame(runs: Sequence[RunReport]) -> pl.DataFrame:
    """A table with suite, model, phenomenon, item, verdict, margin and its unit of every item."""
    rows = (
        (run.suite, run.model, item.phenomenon, item.id, one.verdict, one.value, one.unit)
        for run in runs
        for item, one in _margins(run)
    )
    texts = dict.fromkeys(("suite", "model", "phenomenon", "item", "verdict"), str)
    return frame_of(rows, **texts, margin=float, unit=str)


def _margins(run: RunReport) -> list[tuple[ItemRecord, Outcome]]:
    """The items whose values say by how much a verdict was reached, and not a rank or a share.

    These are differences in bits, also per token. Numbers without unit are margins if their signs
    are those of the verdicts.
    """
    known = [(item, item.outcome) for item in run.items if item.outcome is not None]
    plain = [(one.verdict, one.value) for _, one in known if not one.unit and one.value is not None]
    against = [value for verdict, value in plain if value * _SIGNS.get(verdict, 0) < 0]
    is_signed = bool(plain) and not against
    return [
        (item, one)
        for item, one in known
        if (one.unit.partition(" ")[0] == "bits" if one.unit else is_signed)
    ]


def margin_bars(frame: pl.DataFrame) -> pl.DataFrame:
    """The bars of the histogram: model, unit, side, low, high, items.

    Args:
        frame: the table made by `margins_frame`.
    """
    import polars as pl

    known = frame.filter(pl.col("margin").is_finite())
    widths = {
        unit: bin_width(rows["margin"].to_list())
        for (unit,), rows in known.partition_by("unit", as_dict=True).items()
    }
    counts: dict[tuple[str, str, str, float, float], int] = {}
    for model, unit, margin in known.select("model", "unit", "margin").iter_rows():
        width = widths[unit]
        side = "tie" if margin == 0 else "in favor" if margin > 0 else "against"
        # On both sides, an item exactly between two bars belongs to the one farther from zero.
        steps = math.copysign(math.floor(abs(margin) / width), margin)
        low = steps * width if margin > 0 else (steps - 1) * width
        ends = (-width / 8, width / 8) if side == "tie" else (low, low + width)
        counts[model, unit, side, *ends] = counts.get((model, unit, side, *ends), 0) + 1
    rows = ((*key, count) for key, count in counts.items())
    return frame_of(rows, model=str, unit=str, side=str, low=float, high=float, items=int)


def bin_width(values: Sequence[float]) -> float:
    """A round width (1, 2 or 5 times a power of ten); the values span at most 24 such widths.

    Args:
        values: values to bin; the width is 1 if all are zero.
    """
    size = max(map(abs, values), default=0.0)
    reach = (max(values) - min(values) if values else 0.0) or size
    if not reach:
        return 1.0
    power = 10.0 ** math.floor(math.log10(reach / BINS))
    return next(power * k for k in (1, 2, 5, 10) if power * k * BINS >= reach)


def phenomena_figure(runs: Sequence[RunReport], *, suite: str) -> Figure:
    """Accuracy of every phenomenon, one column for each model.

    Args:
        runs: runs of one suite.
        suite: name of the suite.

    Raises:
        UsageError: the suite names no phenomena, or none of its items was scored.
    """
    frame = phenomena_frame(runs)
    if frame.is_empty() or not frame["accuracy"].is_not_null().any():
        raise UsageError(
            where="figure phenomena",
            seen="the items name no phenomena, or none of them was scored",
            todo="Give the items a column `phenomenon`.",
        )
    title = f"Accuracy on {suite} by phenomenon"
    return heat_figure(frame, name="phenomena", title=title, x="model", y="phenomenon")


def heat_figure(frame: pl.DataFrame, *, name: str, title: str, x: str, y: str) -> Figure:
    """A heat map of accuracies, with the numbers in it; undefined ones have no square.

    Args:
        frame: table with the columns that `x` and `y` name, and ``accuracy``.
        name: name of the figure.
        title: what the figure shows.
        x: column laid out from left to right.
        y: column laid out from top to bottom.
    """
    load_altair()
    import altair as alt

    known = frame.filter(frame["accuracy"].is_not_null())
    # Names are whole: those of models often differ at their ends, where they would be cut.
    columns = alt.Axis.from_dict(dict(_slanted(known[x].to_list())), validate=False)
    rows = alt.Axis(labelLimit=0)
    base = alt.Chart(known).encode(
        x=alt.X(f"{x}:N", title=None, sort=list(dict.fromkeys(known[x])), axis=columns),
        y=alt.Y(f"{y}:N", title=None, sort=list(dict.fromkeys(known[y])), axis=rows),
    )
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("accuracy:Q", title="accuracy").scale(scheme="blues", domain=[0, 1])
    )
    shown = base.mark_text().encode(
        text=alt.Text("accuracy:Q", format=".2f"),
        color=alt.condition(
            f"datum.accuracy > {DARK_CELL}", alt.value("white"), alt.value("#222222")
        ),
    )
    chart = alt.layer(squares, shown).properties(
        width=alt.Step(58), height=alt.Step(22), title=title
    )
    return figure_of(chart, name=name, title=title, frame=frame)


_LINE = 32
"""Most letters of a name in a line below a heat map; more are broken after a sign."""


def _slanted(names: Sequence[str]) -> VegaSpec:
    """The axis of names below a heat map: slanted, and steeper where some have several lines."""
    if max(map(len, names), default=0) <= _LINE:
        return {"labelAngle": -25, "labelLimit": 0}
    return {"labelAngle": -45, **in_lines(names, _LINE)}


def phenomena_frame(runs: Sequence[RunReport]) -> pl.DataFrame:
    """A table of accuracies by suite, model and phenomenon, with intervals and counts."""
    parts = attrgetter("level", "value", "low", "high", "n", "unscored")
    rows = (
        (run.suite, run.model, *parts(estimate))
        for run in runs
        for rates in run.rates
        for _, estimate in rates.lines
        if estimate.group == "phenomenon"
    )
    texts = dict.fromkeys(("suite", "model", "phenomenon"), str)
    return frame_of(rows, **texts, accuracy=float, low=float, high=float, n=int, unscored=int)


def above() -> alt.Header:
    """A header that puts the name of a row above it, where long names have room."""
    import altair as alt

    return alt.Header.from_dict(dict(ABOVE), validate=False)


RATES_WIDTH, ROW, LABEL = 340, 20, 320


def rates_figure(runs: Sequence[RunReport], *, suite: str) -> Figure:
    """Rates with their 95% intervals and chance levels, one panel for each model.

    A rate without an interval is a single point.

    Args:
        runs: runs of one suite.
        suite: name of the suite.

    Raises:
        UsageError: no rate is defined.
    """
    frame = rates_frame(runs)
    known = frame.filter(frame["value"].is_not_null())
    require_rows(
        known,
        where="figure rates",
        seen="no rate is defined",
        todo="Give runs in which something was judged.",
    )
    share = quantitative("value", title="proportion of items", scale={"domain": [0, 1]})
    names = list(dict.fromkeys(known["name"]))
    y = {"y": nominal("name", sort=names, axis={"labelLimit": LABEL})}
    chance = {
        "mark": {"type": "tick", "color": GRAY, "thickness": 2},
        "transform": [{"filter": "datum.chance !== null"}],
        "encoding": {"x": quantitative("chance"), **y},
    }
    spans = {
        "mark": {"type": "rule", "color": BLUE, "strokeWidth": 2},
        "transform": [{"filter": "datum.high > datum.low"}],
        "encoding": {"x": quantitative("low"), "x2": {"field": "high"}, **y},
    }
    points = {
        "mark": {"type": "point", "color": BLUE, "filled": True, "size": 60, "opacity": 1},
        "encoding": {"x": share, **y},
    }
    spec = {
        **_rows_by_model(known),
        "spec": {"layer": [chance, spans, points], "width": RATES_WIDTH, "height": {"step": ROW}},
    }
    title = f"Rates on {suite} with 95% intervals; dashes are chance"
    return plain_figure(spec, name="rates", title=title, frame=frame)


def rates_frame(runs: Sequence[RunReport]) -> pl.DataFrame:
    """A table of rates by suite, model, name, question, method, group and level, with counts."""
    columns: dict[str, type] = dict.fromkeys(("question", "method", "group", "level"), str)
    columns |= dict.fromkeys(("value", "low", "high", "chance"), float)
    columns |= dict.fromkeys(("n", "tied", "unscored"), int)
    rows = (
        (run.suite, run.model, name, *attrgetter(*columns)(estimate))
        for run in runs
        for rates in run.rates
        for name, estimate in rates.lines
    )
    return frame_of(rows, suite=str, model=str, name=str, **columns)


_WIDTH, _HEIGHT = 320, 200
_DIGIT = 6
"""Pixels that a digit of a number below an axis takes, rather too many."""
_TITLE = 56
"""Most letters of a panel's name in a line."""


def training_figure(frame: pl.DataFrame, *, of: str = "accuracy") -> Figure:
    """A statistic by training step, with 95% intervals; one panel for each name in the frame.

    The ticks are the last step and as many others as have room, and all panels have the same
    scales. The dashed line is chance, in panels in which it is known.

    Args:
        frame: the table of `training_frame` or `steps_frame`.
        of: name of the statistic; the axis of accuracies goes from 0 to 1.

    Raises:
        MissingDependencyError: altair is not installed.
    """
    load_altair()
    import altair as alt

    panels = list(dict.fromkeys(frame["panel"]))
    header = alt.Header.from_dict(dict(in_lines(panels, _TITLE)), validate=False)
    steps = alt.Axis(values=_labeled(frame["step"]), labelOverlap=False)
    across = alt.Scale(zero=False, nice=False)
    base = alt.Chart(frame).encode(
        x=alt.X("step:Q", title="step of training", axis=steps, scale=across)
    )
    label = f"{of} (dashed: chance)" if frame["chance"].is_not_null().any() else of
    scale = alt.Scale(domain=[0, 1]) if of == "accuracy" else alt.Scale(zero=False)
    # A step without an interval gets no band, and a step without items gets no point.
    band = base.mark_errorband(color=BLUE, opacity=0.25).encode(
        y=alt.Y("low:Q", title=label, scale=scale), y2="high:Q"
    )
    line = base.mark_line(point={"color": BLUE, "opacity": 1}, color=BLUE).encode(
        y=alt.Y("accuracy:Q", title=label, scale=scale)
    )
    # Without an x, the line goes from edge to edge, once for each panel.
    chance = (
        alt.Chart(frame)
        .mark_rule(color=GRAY, strokeDash=[4, 3])
        .transform_filter("isValid(datum.chance)")
        .encode(y=alt.Y("max(chance):Q", title=label, scale=scale))
    )
    chart = (
        alt.layer(chance, band, line)
        .properties(width=_WIDTH, height=_HEIGHT)
        .facet(facet=alt.Facet("panel:N", title=None, sort=panels, header=header), columns=2)
        .resolve_axis(x="independent", y="independent")
    )
    title = f"{of.capitalize()} over training"
    return figure_of(chart, name="checkpoints", title=title, frame=frame)


def _labeled(steps: Iterable[int]) -> list[int]:
    """The steps that have room for their numbers below an axis, from the last one down."""
    known = sorted(set(steps))
    left, kept = math.inf, []
    for step in reversed(known):
        half = _DIGIT * len(f"{step:,}") / 2
        place = (step - known[0]) / max(1, known[-1] - known[0]) * _WIDTH
        place = min(max(place, half), _WIDTH - half)  # numbers at the ends are moved inwards
        if place + half + _DIGIT <= left:
            kept.append(step)
            left = place - half
    return kept[::-1]


def training_frame(steps: Iterable[tuple[str, int | None, str, Estimate]]) -> pl.DataFrame:
    """The numbers of a curve, from estimates: panel, step, model, accuracy, low, high, n, chance.

    Args:
        steps: panel, step, label of the model, and the estimate.
    """
    return steps_frame(
        (panel, step, model, one.value, one.low, one.high, one.n, one.chance)
        for panel, step, model, one in steps
    )


def steps_frame(rows: Iterable[Sequence[object]]) -> pl.DataFrame:
    """The numbers of a curve, without steps that have no value.

    Args:
        rows: panel, step, label of the model, value, low, high, n, chance.
    """
    columns: dict[str, type] = {"panel": str, "step": int, "model": str}
    columns |= {"accuracy": float, "low": float, "high": float, "n": int, "chance": float}
    return frame_of(rows, **columns).drop_nulls("accuracy")
