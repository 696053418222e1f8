"""Surprisal region by region: a line for each condition, in the order of the sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.measures.sentence import BITS_PER_NAT, Missing
from cimento.report.figures import Figure, figure_of, require_rows
from cimento.report.figures_interaction import BARS, Bars
from cimento.report.figures_margins import above
from cimento.report.figures_scores import COLOURS

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from cimento.measures.regions import RegionValues
    from cimento.suites.model import Suite

HEIGHT = 200
REGION_WIDTH = 80


def regions_figure(
    suite: Suite, values: Mapping[str, RegionValues], *, bars: Bars = "se"
) -> Figure:
    """Mean surprisal of every region, a line for each condition, a row for each model.

    Args:
        suite: the suite.
        values: label of a model to the values of the regions of its stimuli.
        bars: standard errors over items, or 95 % intervals within items by a method of
            `cimento.statistics.means`.

    Raises:
        UsageError: no region has a value.
    """
    import polars as pl

    frames = [
        regions_frame(suite, own, bars=bars).select(pl.lit(model).alias("model"), pl.all())
        for model, own in values.items()
    ]
    frame = pl.concat(frames)
    known = frame.filter(frame["mean_bits"].is_not_null())
    require_rows(
        known,
        where="figure regions",
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
        .properties(width=REGION_WIDTH * max(4, len(suite.region_names)), height=HEIGHT)
        .facet(row=alt.Row("model:N", title=None, sort=list(values), header=above()), title=heading)
        .resolve_scale(y="independent")
    )
    return figure_of(chart, name="regions", title=f"{title}; {shown}", frame=frame)


def _layers(suite: Suite) -> tuple[alt.Chart, alt.Chart]:
    """Error bars and the line through the means."""
    import altair as alt

    conditions = list(suite.condition_names)
    x = alt.X("region:N", sort=list(suite.region_names), title=None, axis=alt.Axis(labelAngle=-30))
    colour = alt.Color("condition:N", sort=conditions, title="condition").scale(
        domain=conditions, range=[COLOURS[k % len(COLOURS)] for k in range(len(conditions))]
    )
    axis = "mean surprisal (bits)"
    base = alt.Chart()
    lines = base.mark_line(point=True).encode(x=x, y=alt.Y("mean_bits:Q", title=axis), color=colour)
    errors = base.mark_errorbar(ticks=alt.MarkConfig(size=6)).encode(
        x=x, y=alt.Y("low:Q", title=axis), y2="high:Q", color=colour
    )
    return errors, lines


def regions_frame(suite: Suite, values: RegionValues, *, bars: Bars = "se") -> pl.DataFrame:
    """Region and condition to the mean surprisal over the items that have words there.

    Args:
        suite: the suite.
        values: of the regions of its stimuli.
        bars: as for `regions_figure`.
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
            ends: tuple[float | None, float | None] = (None, None)
            if mean is not None and width is not None:
                ends = (mean - width, mean + width)
            rows.append(
                {
                    "region": region,
                    "condition": name,
                    "n": len(known),
                    "mean_bits": mean,
                    "bars": bars,
                    "low": ends[0],
                    "high": ends[1],
                }
            )
    numbers = dict.fromkeys(("mean_bits", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=numbers)


def _column(suite: Suite, values: RegionValues, condition: str, index: int) -> dict[str, float]:
    """Item to the value of one region of one condition in bits, where it has words and a value."""
    factor = BITS_PER_NAT if values.unit == "nats" else 1.0
    found = {}
    for item in suite.items:
        own = next((each for each in item.conditions if each.name == condition), None)
        known = values.values.get(item.id, {}).get(condition, ())
        if own is None or index >= len(known) or not own.regions[index].text.strip():
            continue
        value = known[index]
        if not isinstance(value, Missing):
            found[item.id] = factor * value
    return found


def _half_widths(columns: Mapping[str, Mapping[str, float]], bars: Bars) -> dict[str, float | None]:
    """What bars reach to each side; within items only over items that have all conditions."""
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
    import math
    import statistics

    if len(values) < 2:  # noqa: PLR2004 - a sd needs two
        return None
    return statistics.stdev(values) / math.sqrt(len(values))
