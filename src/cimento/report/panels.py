"""Interaction panels of the HTML page: numbers to places in a small drawing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.report.wording import p_value

if TYPE_CHECKING:
    from cimento.measures.normalising import Normalisation
    from cimento.verdicts.effects import CellMean
    from cimento.verdicts.factorial import Factorial, PhenomenonEffects

WIDTH, HEIGHT = 220, 150
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 8, 22
"""Room for the numbers and names around the drawing."""

PLACES = (0.25, 0.75)
"""Where the two levels of the first factor stand, as shares of the width."""

FEW_TICKS = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """A mean with its standard error, as places in the drawing.

    Attributes:
        x: from the left.
        y: from the top.
        high: upper end of the bar; None where there is none.
        low: lower end.
    """

    x: float
    y: float
    high: float | None
    low: float | None


@dataclass(frozen=True, slots=True)
class Series:
    """One line: a level of the second factor.

    Attributes:
        name: the level.
        changed: whether it is the second level, drawn dashed.
        marks: of the levels of the first factor that have a mean.
    """

    name: str
    changed: bool
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One phenomenon.

    Attributes:
        title: its name.
        facts: DD and accuracy, in words.
        text: all that the drawing shows, for those who cannot see it.
        levels: place and name of each level of the first factor.
        ticks: place and number on the scale.
        series: two lines.
    """

    title: str
    facts: str
    text: str
    levels: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, str], ...]
    series: tuple[Series, ...]


def panels(
    result: Factorial, scale: Normalisation, ps: Mapping[str, float | None] | None = None
) -> tuple[Panel, ...]:
    """A panel for each phenomenon, all on one scale.

    Args:
        result: of one model, measure and suite.
        scale: what is drawn.
        ps: phenomenon to p of its DD.
    """
    cells = [cell for each in result.phenomena for cell in each.effects[scale].cells]
    ends = [
        value + sign * (cell.se or 0.0)
        for cell in cells
        if (value := cell.mean) is not None
        for sign in (-1, 1)
    ]
    if not ends:
        return ()
    ticks = nice_ticks(min(ends), max(ends))
    known = ps or {}
    return tuple(_panel(each, scale, ticks, known.get(each.name)) for each in result.phenomena)


def nice_ticks(low: float, high: float) -> tuple[float, ...]:
    """Round numbers, two to about six of them, that reach over the range.

    Args:
        low: lower end.
        high: upper end.
    """
    width = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(width / FEW_TICKS))
    step = next(power * k for k in (1, 2, 5, 10) if power * k * FEW_TICKS >= width)
    first = math.floor(low / step)
    last = math.ceil(high / step)
    return tuple(step * k for k in range(first, max(last, first + 1) + 1))


def _panel(
    phenomenon: PhenomenonEffects, scale: Normalisation, ticks: Sequence[float], p: float | None
) -> Panel:
    effects = phenomenon.effects[scale]
    low, high = ticks[0], ticks[-1]
    cells = phenomenon.square.cells

    def height(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low), 1)

    def mark(cell: CellMean, place: float) -> Mark | None:
        if cell.mean is None:
            return None
        x = round(LEFT + place * (WIDTH - LEFT - RIGHT), 1)
        if cell.se is None:
            return Mark(x, height(cell.mean), None, None)
        return Mark(x, height(cell.mean), height(cell.mean + cell.se), height(cell.mean - cell.se))

    series = tuple(
        Series(
            name=cells[start].levels[1],
            changed=start > 0,
            marks=tuple(
                found
                for cell, place in zip(effects.cells[start : start + 2], PLACES, strict=True)
                if (found := mark(cell, place)) is not None
            ),
        )
        for start in (0, 2)
    )
    facts = _facts(phenomenon, scale, p)
    means = (
        f"{each.cell.name} {'undefined' if each.mean is None else f'{each.mean:.2f}'}"
        for each in effects.cells
    )
    return Panel(
        title=phenomenon.name,
        facts=facts,
        text=f"{phenomenon.name}: {facts}; means: {', '.join(means)}.",
        levels=tuple(
            (round(LEFT + place * (WIDTH - LEFT - RIGHT), 1), cell.levels[0])
            for cell, place in zip(cells, PLACES, strict=False)
        ),
        ticks=tuple((height(tick), f"{tick:g}".replace("-", "−")) for tick in ticks),
        series=series,
    )


def _facts(phenomenon: PhenomenonEffects, scale: Normalisation, p: float | None) -> str:
    effects = phenomenon.effects[scale]
    parts = ["DD undefined" if effects.dd is None else f"DD {effects.dd:.2f}".replace("-", "−")]
    if p is not None:
        parts.append(p_value(p))
    if phenomenon.average is not None:
        parts.append(f"pairs {100 * phenomenon.average:.0f} %")
    return ", ".join(parts)
