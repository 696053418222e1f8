"""Figures of regions: how conditions differ from region to region, and their sums."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.io.values import BITS_PER_NAT, NoValue
from cimento.paradigms.regions.figures_conditions import BARS
from cimento.report.figures import (
    GRAY,
    LOOK,
    TEXT_SIZE,
    Figure,
    VegaSpec,
    figure_of,
    frame_of,
    nominal,
    plain_figure,
    quantitative,
    require_rows,
)
from cimento.report.figures_rates import above
from cimento.report.figures_scores import COLORS, color_of

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from cimento.kinds.named import Bars
    from cimento.measures.regions import RegionValues
    from cimento.suites import Suite

PLOT_WIDTH = 270
ROW_HEIGHT = 17
"""Units for each condition in the row of a region."""
LETTER_WIDTH = 7.0
"""Units of a letter of 11 points, on average."""
_COLUMNS = {
    "model": str, "region": str, "condition": str, "against": str, "n": int,
    "mean_bits": float, "bars": str, "low": float, "high": float,
}  # fmt: skip


def differences_figure(
    suite: Suite, values: Mapping[str, RegionValues], *, bars: Bars = "se"
) -> Figure:
    """The surprisal of every region less that of the first condition in the same item.

    Each condition is named beside the region where it differs most; a panel for each model.

    Args:
        suite: the suite.
        values: label of each model, mapped to the region values of its stimuli.
        bars: kind of error bars, see `paired_differences`.

    Raises:
        UsageError: no region has values in two conditions.
    """
    rows = [
        (model, *row)
        for model, model_values in values.items()
        for row in paired_differences(suite, model_values, bars=bars)
    ]
    frame = frame_of(rows, **_COLUMNS)
    require_rows(
        frame,
        where="figure regions",
        seen="no region has values in two conditions",
        todo="Run again with --all-tokens.",
    )
    first = suite.condition_names[0]
    who = next(iter(values)) if len(values) == 1 else f"{len(values)} models"
    meaning = "± 1 standard error" if bars == "se" else BARS[bars]
    said = f"differences within items; error bars: {meaning}"
    title = f"{who} on {suite.name}: surprisal by region, minus {first}"
    spec: VegaSpec = {
        **_panels(_drawn(frame), suite, list(values)),
        "title": {"text": title, "subtitle": [said]},
        "config": LOOK,
    }
    return plain_figure(spec, name="regions", title=f"{title}; {said}", frame=frame)


def paired_differences(
    suite: Suite, values: RegionValues, *, bars: Bars = "se"
) -> Iterator[tuple[str, str, str, int, float, str, float | None, float | None]]:
    """The mean differences between each condition and the first, region by region.

    They are of the items that have a value in both. The standard error is that of the differences,
    ``sd(d) / sqrt(n)``: what items have in common cancels out. Of the other bars, each is the
    interval of the two conditions (`cimento.statistics.means.within_intervals`) times the root of
    two, which for ``cousineau-morey`` is Student's interval of the mean difference.

    Args:
        suite: the suite.
        values: the region values of its stimuli.
        bars: ``se``, or a method of `cimento.statistics.means`, at 95%.

    Yields:
        Region, condition, first condition, items, difference (bits), bars, low and high end.
    """
    first, *others = suite.condition_names
    for index, region in enumerate(suite.region_names):
        reference = _column(suite, values, first, index)
        for condition in others:
            column = _column(suite, values, condition, index)
            pairs = [(column[item], reference[item]) for item in column if item in reference]
            if not pairs:
                continue
            mean = math.fsum(one - other for one, other in pairs) / len(pairs)
            width = _half_width(pairs, bars)
            ends = (None, None) if width is None else (mean - width, mean + width)
            yield (region, condition, first, len(pairs), mean, bars, *ends)


def _half_width(pairs: Sequence[tuple[float, float]], bars: Bars) -> float | None:
    """The half-width of the error bar of a mean difference; None where it is undefined."""
    from cimento.statistics.means import within_intervals

    if bars == "se":
        return _standard_error([one - other for one, other in pairs])
    widths = within_intervals(pairs, method=bars).half_widths
    return math.sqrt(2) * widths[0] if widths else None


def _drawn(frame: pl.DataFrame) -> pl.DataFrame:
    """The numbers with a label for each condition of a model, where it differs most."""
    import polars as pl

    size, group = pl.col("mean_bits").abs(), ("model", "condition")
    most = pl.int_range(pl.len()).over(group) == size.arg_max().over(group)
    return frame.with_columns(
        pl.col("low").fill_null(pl.col("mean_bits")),
        pl.col("high").fill_null(pl.col("mean_bits")),
        side=pl.when(most & (pl.col("mean_bits") < 0))
        .then(pl.lit("left"))
        .when(most)
        .then(pl.lit("right"))
        .otherwise(pl.lit("")),
    )


def _panels(drawn: pl.DataFrame, suite: Suite, models: Sequence[str]) -> VegaSpec:
    """The panels, one below the other, on one scale."""
    conditions, regions = list(suite.condition_names[1:]), list(suite.region_names)
    y = nominal("region", sort=regions, axis={"labelLimit": 0, "grid": True, "gridColor": "#ddd"})
    offset = {"field": "condition", "type": "nominal", "sort": conditions}
    colors = [COLORS[number % len(COLORS)] for number in range(len(conditions))]
    color = nominal(
        "condition", sort=conditions, legend=None, scale={"domain": conditions, "range": colors}
    )
    title = f"bits more than {suite.condition_names[0]}"
    x = quantitative("mean_bits", title=title, scale={"domain": _domain(drawn)})
    place = {"y": y, "yOffset": offset}
    colored = {**place, "color": color}
    layers: list[VegaSpec] = [
        {"mark": {"type": "rule", "color": GRAY, "strokeDash": [4, 3]},
         "encoding": {"x": {"datum": 0, "type": "quantitative"}}},
        {"mark": {"type": "rule", "strokeWidth": 1.8},
         "encoding": {**colored, "x": {**x, "field": "low"}, "x2": {"field": "high"}}},
        {"mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
         "encoding": {**colored, "x": x}},
        *(_labels(side, place, x) for side in ("left", "right")),
    ]  # fmt: skip
    height = ROW_HEIGHT * len(regions) * max(len(conditions), 1) + 6 * len(regions)
    panel: VegaSpec = {"layer": layers, "width": PLOT_WIDTH, "height": height}
    data: VegaSpec = {"data": {"values": drawn.to_dicts()}}
    if len(models) == 1:
        return {**data, **panel}
    facet = nominal("model", sort=models, header={"labelAnchor": "start"})
    return {**data, "facet": facet, "columns": 1, "spec": panel}


def _labels(side: str, place: VegaSpec, x: VegaSpec) -> VegaSpec:
    """The names of conditions on one side of their points."""
    mark = {"type": "text", "color": "#333", "fontSize": TEXT_SIZE, "baseline": "middle"}
    at = {"align": "right", "dx": -5} if side == "left" else {"align": "left", "dx": 5}
    end = "low" if side == "left" else "high"
    return {
        "transform": [{"filter": f"datum.side === '{side}'"}],
        "mark": {**mark, **at},
        "encoding": {**place, "x": {**x, "field": end}, "text": {"field": "condition"}},
    }


def _domain(drawn: pl.DataFrame) -> list[float]:
    """The ends of the scale: all bars, zero, and room for the labels."""
    low, high = min(0.0, *drawn["low"]), max(0.0, *drawn["high"])
    ends = [low, high if high > low else low + 1.0]
    labeled = [row for row in drawn.iter_rows(named=True) if row["side"]]
    room = {
        row["condition"]: min(LETTER_WIDTH * len(row["condition"]) + 10, PLOT_WIDTH / 2)
        for row in labeled
    }
    for _ in range(_STEPS):  # the room of a label grows with the scale
        unit = (ends[1] - ends[0]) / PLOT_WIDTH
        for row in labeled:
            need = room[row["condition"]] * unit
            if row["side"] == "left":
                ends[0] = min(ends[0], row["low"] - need)
            else:
                ends[1] = max(ends[1], row["high"] + need)
    margin = _MARGIN * (ends[1] - ends[0])
    return [round(ends[0] - margin, 6), round(ends[1] + margin, 6)]


_STEPS = 12
_MARGIN = 0.02


REGIONS_HEIGHT = 200
REGION_WIDTH = 80


def sums_figure(suite: Suite, values: Mapping[str, RegionValues], *, bars: Bars = "se") -> Figure:
    """Mean surprisal of every region, a line for each condition, a row for each model.

    Args:
        suite: the suite.
        values: label of each model, mapped to the region values of its stimuli.
        bars: standard errors over items, or 95% within-item intervals by a method of
            `cimento.statistics.means`.

    Raises:
        UsageError: no region has a value.
    """
    import polars as pl

    frames = [
        sums_frame(suite, model_values, bars=bars).select(pl.lit(model).alias("model"), pl.all())
        for model, model_values in values.items()
    ]
    frame = pl.concat(frames)
    known = frame.filter(frame["mean_bits"].is_not_null())
    require_rows(
        known,
        where="figure region-sums",
        seen="no region has a value",
        todo="Run again with --all-tokens.",
    )
    import altair as alt

    who = next(iter(values)) if len(values) == 1 else f"{len(values)} models"
    title = f"{who} on {suite.name}: surprisal by region"
    shown = f"error bars: {BARS[bars]}"
    heading = alt.TitleParams(text=title, subtitle=shown)
    chart = (
        alt.layer(*_layers(suite), data=known)
        .properties(width=REGION_WIDTH * max(4, len(suite.region_names)), height=REGIONS_HEIGHT)
        .facet(row=alt.Row("model:N", title=None, sort=list(values), header=above()), title=heading)
        .resolve_scale(y="independent")
    )
    figure = figure_of(chart, name="region-sums", title=f"{title}; {shown}", frame=frame)
    return replace(figure, is_secondary=len(suite.condition_names) > 1)


def _layers(suite: Suite) -> tuple[alt.Chart, alt.Chart]:
    """The error bars, and the line through the means."""
    import altair as alt

    conditions = list(suite.condition_names)
    x = alt.X("region:N", sort=list(suite.region_names), title=None, axis=alt.Axis(labelAngle=-30))
    color = color_of("condition:N", conditions, title="condition")
    axis = "mean surprisal (bits)"
    base = alt.Chart()
    lines = base.mark_line(point=True).encode(x=x, y=alt.Y("mean_bits:Q", title=axis), color=color)
    errors = base.mark_errorbar(ticks=alt.MarkConfig(size=6)).encode(
        x=x, y=alt.Y("low:Q", title=axis), y2="high:Q", color=color
    )
    return errors, lines


def sums_frame(suite: Suite, values: RegionValues, *, bars: Bars = "se") -> pl.DataFrame:
    """A table of the mean surprisal by region and condition, over items with words in that region.

    Args:
        suite: the suite.
        values: the region values of its stimuli.
        bars: kind of error bars, as for `sums_figure`.
    """
    import polars as pl

    rows = []
    for index, region in enumerate(suite.region_names):
        columns = {name: _column(suite, values, name, index) for name in suite.condition_names}
        widths = _half_widths(columns, bars)
        for name, column in columns.items():
            known = list(column.values())
            mean = sum(known) / len(known) if known else None
            width = widths.get(name)
            rows.append(
                {
                    "region": region,
                    "condition": name,
                    "n": len(known),
                    "mean_bits": mean,
                    "bars": bars,
                    "low": None if mean is None or width is None else mean - width,
                    "high": None if mean is None or width is None else mean + width,
                }
            )
    numbers = dict.fromkeys(("mean_bits", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=numbers)


def _column(suite: Suite, values: RegionValues, condition: str, index: int) -> dict[str, float]:
    """The values in bits of one region of one condition by item, where there are any."""
    factor = BITS_PER_NAT if values.unit == "nats" else 1.0
    by_item = {}
    for item in suite.items:
        chosen = next(
            (candidate for candidate in item.conditions if candidate.name == condition), None
        )
        known = values.values.get(item.id, {}).get(condition, ())
        if chosen is None or index >= len(known) or not chosen.regions[index].text.strip():
            continue
        value = known[index]
        if not isinstance(value, NoValue):
            by_item[item.id] = factor * value
    return by_item


def _half_widths(columns: Mapping[str, Mapping[str, float]], bars: Bars) -> dict[str, float | None]:
    """The half-widths of error bars; within-item intervals use only items with all conditions."""
    from cimento.statistics.means import within_intervals

    filled = {name: column for name, column in columns.items() if column}
    if bars == "se":
        return {name: _standard_error(list(column.values())) for name, column in filled.items()}
    if len(filled) < 2:  # noqa: PLR2004 - within items there must be two conditions
        return {}
    shared = set.intersection(*(set(column) for column in filled.values()))
    table = [[column[item] for column in filled.values()] for item in sorted(shared)]
    widths = within_intervals(table, method=bars).half_widths if table else None
    return dict(zip(filled, widths, strict=True)) if widths else {}


def _standard_error(values: Sequence[float]) -> float | None:
    if len(values) < 2:  # noqa: PLR2004 - a sd needs two
        return None
    return statistics.stdev(values) / math.sqrt(len(values))


REGION_FIGURES: Mapping[str, Callable[..., Figure]] = {
    "regions": differences_figure,
    "region-sums": sums_figure,
}
"""Names of the figures of regions, each mapped to the function that makes it."""
