"""Explanations as tables and figures: heat maps of regions and layers, curves, maps of heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.io.values import grouped
from cimento.paradigms.regions.explanations import PARTS, WITHIN_ERROR
from cimento.report.cells import Shown, count
from cimento.report.figures import Figure, figure_of, require_rows
from cimento.report.figures_scores import COLORS
from cimento.report.formatting import p_printed
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms.regions.explanations import InterchangeMean
    from cimento.paradigms.regions.lens import LensMean


_HEADS_SHOWN = 12
_ALPHA = 0.05
LENS = "logit lens"
LENS_NOTE = (
    "The logit lens is not an effect: it is the margin itself, in bits, that the model would"
    " have if it"
    " ended after this layer."
)
NOT_A_SUM = (
    "Effects of several places are not parts of a sum: what one region carries after one layer,"
    " another carries after the next."
)


def effect_cell(mean: InterchangeMean) -> EstimateCell:
    """A mean effect in bits, with its interval."""
    # Noise that was set to 0 has no interval, and needs no reason for that.
    reason = mean.reason if mean.low is None and mean.effect_bits else ""
    return EstimateCell.of(_rounded(mean.effect_bits), mean, mean.n, digits=2, reason=reason)


def _rounded(value: float | None) -> float | None:
    """A value without the minus sign of a rounded zero."""
    return None if value is None else round(value, 6) + 0.0


def explanation_grids(
    means: Sequence[InterchangeMean],
    *,
    lens: Sequence[LensMean] = (),
) -> list[Grid]:
    """A table for each part, comparison and phenomenon: layers by regions, or the largest heads.

    Args:
        means: the mean effects.
        lens: the margins of single layers, in a column beside the effects.
    """
    grids = []
    keyed = groupby(means, key=lambda mean: (mean.part, mean.question, mean.phenomenon))
    for (part, question, phenomenon), cells in keyed:
        group = list(cells)
        title = f"{phenomenon}, {question}: effect in bits of exchanging the {PARTS[part]}"
        layered = [mean for mean in group if mean.layer is not None]
        notes = _notes(group, layered)
        if part == "heads":
            grids.append(_heads_grid(layered, title, notes))
        else:
            read = {
                mean.layer: mean
                for mean in lens
                if (mean.question, mean.phenomenon) == (question, phenomenon)
            }
            grids.append(_layers_grid(layered, read, title, notes))
    return grids


def _layers_grid(
    means: Sequence[InterchangeMean],
    lens: Mapping[int, LensMean],
    title: str,
    notes: tuple[str, ...],
) -> Grid:
    regions = list(dict.fromkeys((mean.region, mean.region_name) for mean in means))
    layers = sorted({mean.layer or 0 for mean in means})
    by_place = {(mean.layer, mean.region): mean for mean in means}
    rows: list[tuple[GridCell, ...]] = []
    bold = set()
    for row, layer in enumerate(layers):
        cells: list[GridCell] = [count(layer)]
        for column, (region, _) in enumerate(regions, start=1):
            mean = by_place.get((layer, region))
            cells.append(BLANK if mean is None else effect_cell(mean))
            if mean is not None and mean.p_holm is not None and mean.p_holm <= _ALPHA:
                bold.add((row, column))
        if lens:
            seen = lens.get(layer)
            cells.append(
                EstimateCell.of(_rounded(seen.margin_bits), seen, seen.n, digits=2)
                if seen
                else BLANK
            )
        rows.append(tuple(cells))
    header = ("after layer", *(name for _, name in regions), *((LENS,) if lens else ()))
    notes = (*notes, LENS_NOTE) if lens else notes
    return Grid(title=title, header=header, rows=tuple(rows), bold=frozenset(bold), notes=notes)


def _heads_grid(means: Sequence[InterchangeMean], title: str, notes: tuple[str, ...]) -> Grid:
    largest = sorted(means, key=lambda mean: -abs(mean.effect_bits or 0.0))[:_HEADS_SHOWN]
    shown = f"The {len(largest)} largest of {len(means)} are shown."
    return Grid.of(
        largest,
        {
            "layer": lambda mean: mean.layer,
            "head": lambda mean: mean.head,
            "region": lambda mean: mean.region_name,
            "effect": effect_cell,
            "share": lambda mean: Shown(
                BLANK if mean.share is None else f"{100 * mean.share:.1f}%", mean.share
            ),
            "p (Holm)": lambda mean: p_printed(mean.p_holm),
        },
        title=title,
        labels=3,
        notes=(shown, *notes),
    )


def _notes(group: Sequence[InterchangeMean], layered: Sequence[InterchangeMean]) -> tuple[str, ...]:
    """What a reader must know about a table."""
    notes = []
    full = next((mean for mean in group if mean.layer is None), None)
    if full is not None and full.effect_bits is not None:
        ends = "" if full.low is None else f" [{full.low:.2f}, {full.high:.2f}]"
        unsure = "does not differ significantly from 0" if full.p is not None else "was not tested"
        sure = "" if full.share is not None else f", which {unsure}"
        notes.append(
            f"Exchanging everything takes {full.effect_bits:.2f}{ends} bits from the margin of"
            f" {full.n} items{sure}."
        )
    tested = [(mean, mean.p_holm) for mean in layered if mean.p_holm is not None]
    sure_cells = [mean for mean, p in tested if p <= _ALPHA]
    named = _named(sure_cells)
    notes.append(
        f"{len(sure_cells) or 'None'} of these effects"
        f" {'differ' if len(sure_cells) > 1 else 'differs'} significantly from 0 (p corrected by"
        f" Holm's method over all cells){f': {named}' if named else ''}."
        if tested
        else "None of these effects was tested."
    )
    reasons = Counter(mean.reason for mean in layered if mean.reason.startswith(WITHIN_ERROR))
    notes += [
        f"In {counted(n, 'cell')} {reason}; such means are shown and not tested."
        for reason, n in reasons.items()
    ]
    inexact = max((mean.n_inexact for mean in layered), default=0)
    if inexact:
        notes.append(
            f"In up to {counted(inexact, 'item')}, a region has other positions or another number"
            " of tokens in the two sentences; --align exact leaves these out."
        )
    return (*notes, NOT_A_SUM)


def _named(cells: Sequence[InterchangeMean]) -> str:
    """The regions and layers of some effects, for readers who see no bold print; heads have p."""
    layers = grouped(
        (cell.region_name, cell.layer)
        for cell in cells
        if cell.head is None and cell.layer is not None
    )
    return "; ".join(
        f"{region} after {'layer' if len(some) == 1 else 'layers'} {', '.join(map(str, some))}"
        for region, some in layers.items()
    )


# --- Figures


def _drawn(means: Sequence[InterchangeMean], *, heads: bool) -> pl.DataFrame:
    """The cells that a figure shows, with the title of their panel."""
    import polars as pl

    kinds = {"region": pl.Int32, "layer": pl.Int32, "head": pl.Int32, "n": pl.Int32,
             "n_inexact": pl.Int32}  # fmt: skip
    texts = ("question", "phenomenon", "part", "region_name", "method", "reason")
    numbers = ("effect_bits", "low", "high", "p", "p_holm", "full_bits", "share")
    schema = kinds | dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64)
    known = [mean for mean in means if mean.layer is not None and (mean.part == "heads") == heads]
    frame = pl.DataFrame([mean.plain() for mean in known], schema=schema)
    titles = [f"{mean.question}: {PARTS[mean.part]}" for mean in known]
    if len({mean.phenomenon for mean in known}) > 1:
        titles = [f"{mean.phenomenon}, {title}" for mean, title in zip(known, titles, strict=True)]
    return frame.with_columns(panel=pl.Series(titles, dtype=pl.String))


def heat_map(means: Sequence[InterchangeMean], *, model: str, suite: str) -> Figure:
    """A heat map of regions by layers for each comparison; hovering shows the intervals.

    Args:
        means: the mean effects.
        model: label of the model.
        suite: name of the suite.

    Raises:
        UsageError: nothing but heads was exchanged.
    """
    frame = _drawn(means, heads=False)
    require_rows(frame, where="figure explanation", seen="no residual, attention or MLP states")
    title = f"Where {model} carries the predictions of {suite}"
    regions = _regions(means)
    return _squares(
        frame, name="explanation", title=title, x="layer", y="region_name", y_sort=regions
    )


def head_map(means: Sequence[InterchangeMean], *, model: str, suite: str) -> Figure:
    """A heat map of heads by layers for each comparison and region.

    Args:
        means: the mean effects.
        model: label of the model.
        suite: name of the suite.

    Raises:
        UsageError: no heads were exchanged.
    """
    import polars as pl

    frame = _drawn(means, heads=True)
    require_rows(frame, where="figure heads", seen="no heads were exchanged", todo="--part=heads")
    frame = frame.with_columns(
        panel=pl.col("panel").str.replace(": single heads", ": ") + pl.col("region_name")
    )
    title = f"Heads of {model} that carry the predictions of {suite}"
    return _squares(frame, name="heads", title=title, x="layer", y="head")


def _regions(means: Sequence[InterchangeMean]) -> list[str]:
    numbered = {mean.region: mean.region_name for mean in means if mean.region}
    return [numbered[number] for number in sorted(numbered)]


_PANELS = 2
_SHOWN_LAYERS = 26
"""Most layers whose squares have numbers in them."""


def _squares(
    frame: pl.DataFrame, *, name: str, title: str, x: str, y: str, y_sort: Sequence[str] = ()
) -> Figure:
    """Squares on a scale from red (against the prediction) to blue (for it), with the effects."""
    import altair as alt

    largest = max([1e-6, *(abs(value or 0.0) for value in frame["effect_bits"].to_list())])
    labels = {"effect_bits": "bits", "low": "from", "high": "to", "p_holm": "p (Holm)"}
    tooltip = [
        *(alt.Tooltip(f"{field}:Q", title=label, format=".2f") for field, label in labels.items()),
        alt.Tooltip("n:Q", title="items"),
    ]
    dark = f"abs(datum.effect_bits) > {0.6 * largest}"
    has_numbers = bool(y_sort) and frame[x].n_unique() <= _SHOWN_LAYERS
    panels = []
    for panel in dict.fromkeys(frame["panel"]):
        base = alt.Chart(frame.filter(panel=panel)).encode(
            x=alt.X(f"{x}:O", title="layer", axis=alt.Axis(labelAngle=0)),
            y=alt.Y(f"{y}:N", title=None if y_sort else "head", sort=list(y_sort) or "ascending"),
            tooltip=tooltip,
        )
        squares = base.mark_rect(stroke="white").encode(
            color=alt.Color("effect_bits:Q", title="bits").scale(
                scheme="redblue", domain=[-largest, largest]
            )
        )
        numbers = base.mark_text().encode(
            text=alt.Text("effect_bits:Q", format=".2f"),
            color=alt.condition(dark, alt.value("white"), alt.value("#222222")),
        )
        size = alt.Step(34 if y_sort else 22)
        layers = [squares, numbers] if has_numbers else [squares]
        panels.append(alt.layer(*layers).properties(title=panel, width=size, height=alt.Step(20)))
    chart = alt.concat(*panels, columns=_PANELS, title=title)
    return figure_of(chart, name=name, title=title, frame=frame)


def layer_curves(
    means: Sequence[InterchangeMean],
    *,
    model: str,
    suite: str,
    lens: Sequence[LensMean] = (),
) -> Figure:
    """The effect by layer, a curve with its interval for each region, and the logit lens beside it.

    Args:
        means: the mean effects.
        lens: the margins of single layers; each comparison has a panel of its own, with the same
            layers.
        model: label of the model.
        suite: name of the suite.

    Raises:
        UsageError: nothing but heads was exchanged.
    """
    import altair as alt

    frame = _drawn(means, heads=False)
    require_rows(frame, where="figure layers", seen="no residual, attention or MLP states")
    frame = _with_lens(frame, lens)
    base = alt.Chart(frame).encode(
        x=alt.X("layer:Q", title="layer", axis=alt.Axis(tickMinStep=1, format="d")),
        color=alt.Color("region_name:N", title="region", sort=[*_regions(means), LENS]).scale(
            range=list(COLORS)
        ),
    )
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title="bits"), y2="high:Q")
    line = base.mark_line(point=True).encode(y=alt.Y("effect_bits:Q", title="bits"))
    title = f"What {model} carries of the predictions of {suite}, layer by layer"
    panels = (
        alt.layer(band, line)
        .properties(width=260, height=160)
        .facet(
            facet=alt.Facet("panel:N", title=None, sort=list(dict.fromkeys(frame["panel"]))),
            columns=_PANELS,
            title=title,
        )
    )
    return figure_of(panels, name="layers", title=title, frame=frame)


def _with_lens(frame: pl.DataFrame, lens: Sequence[LensMean]) -> pl.DataFrame:
    """The rows of a figure with those of the logit lens after those of each comparison."""
    import polars as pl

    shown = frame.select("question", "phenomenon").unique().rows()
    several = frame["phenomenon"].n_unique() > 1
    rows = [
        {
            "question": mean.question, "phenomenon": mean.phenomenon, "region_name": LENS,
            "layer": mean.layer, "effect_bits": mean.margin_bits, "low": mean.low,
            "high": mean.high, "n": mean.n,
            "panel": f"{mean.phenomenon}, " * several + f"{mean.question}: {LENS} (margin)",
        }
        for mean in lens
        if (mean.question, mean.phenomenon) in shown
    ]  # fmt: skip
    if not rows:
        return frame
    schema = {name: frame.schema[name] for name in rows[0]}
    return pl.concat([frame, pl.DataFrame(rows, schema=schema)], how="diagonal")


def explanation_figures(
    means: Sequence[InterchangeMean],
    *,
    model: str,
    suite: str,
    lens: Sequence[LensMean] = (),
) -> list[Callable[[], Figure]]:
    """The makers of all figures of an explanation."""
    return [
        lambda: heat_map(means, model=model, suite=suite),
        lambda: layer_curves(means, model=model, suite=suite, lens=lens),
        lambda: head_map(means, model=model, suite=suite),
    ]
