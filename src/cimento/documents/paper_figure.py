"""The figure for a paper: the numbers of its main table with their intervals and chance levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cimento.documents.paper import NamedResult, named_results, title_of
from cimento.errors import UsageError
from cimento.io.values import grouped
from cimento.kinds.sections import estimate_cell
from cimento.records.effects import effects_among
from cimento.report.cells import PERCENT
from cimento.report.figures import (
    BLUE,
    GRAY,
    Figure,
    VegaSpec,
    frame_of,
    nominal,
    plain_figure,
    quantitative,
    require_rows,
)
from cimento.report.figures_rates import LABEL, RATES_WIDTH, ROW
from cimento.report.formatting import some
from cimento.report.grid import sizes

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run

RESULTS = "results"
"""The name of the figure, which is that of the table with the same numbers."""

_LETTER = 7
"""Pixels that a letter of a model's name takes, rather too many."""


def results_figure(runs: Iterable[Run]) -> Figure:
    """The main result of each run with its 95% interval; one panel for each suite.

    A number without an interval is a single point, and an undefined one leaves its row empty.

    Args:
        runs: runs of any kinds but factorial designs; those without a result are ignored.

    Raises:
        UsageError: a run is of a factorial design, or nothing is judged in any.
        MissingDependencyError: altair is not installed.
    """
    several = [*runs]
    designs = dict.fromkeys(run.suite.name for run in several if effects_among(run.estimates()))
    if designs:
        raise UsageError(
            where=f"--figure={RESULTS}",
            seen=f"DD, not accuracy, is the result of a factorial design: {some([*designs])}",
            todo="Leave such runs out, or draw them as `rows`.",
        )
    named = named_results(several)
    by_suite = list(grouped((one.suite, one) for one in named).values())
    frame = results_frame(by_suite)
    require_rows(
        frame.filter(frame["value"].is_not_null()),
        where=f"--figure={RESULTS}",
        seen="no result has a value",
        todo="Give runs in which something was judged.",
    )
    spec = {
        "data": {"values": frame.to_dicts()},
        "vconcat": [_panel(number, by_suite) for number in range(len(by_suite))],
        "spacing": 12,
    }
    told = title_of([one.estimate for one in named], are_designs=False).rstrip(".")
    dashes = "; dashes are chance" if frame["chance"].is_not_null().any() else ""
    return plain_figure(spec, name=RESULTS, title=f"{told}{dashes}", frame=frame)


def results_frame(by_suite: Sequence[Sequence[NamedResult]]) -> pl.DataFrame:
    """A table with a row for each run: the number of its panel, suite, model, and its result.

    Args:
        by_suite: the results of each suite.
    """
    rows = []
    for panel, members in enumerate(by_suite):
        for suite, model, one, _ in members:
            cell = estimate_cell(one)
            chance = one.chance
            if cell.unit == PERCENT and chance is not None:
                chance *= 100
            ends = (cell.value, cell.low, cell.high)
            rows.append((panel, suite, model, *ends, cell.unit, chance, one.n, cell.reason))
    numbers: dict[str, type] = dict.fromkeys(("value", "low", "high"), float)
    return frame_of(
        rows, panel=int, suite=str, model=str, **numbers, unit=str, chance=float, n=int, reason=str
    )


def _panel(number: int, by_suite: Sequence[Sequence[NamedResult]]) -> VegaSpec:
    """The part of the figure with the models of one suite, the first model above.

    Args:
        number: of the suite, from 0.
        by_suite: the results of each suite.
    """
    members, below = by_suite[number], by_suite[number + 1 : number + 2]
    models = list(dict.fromkeys(one.model for one in members))
    longest = max(len(one.model) for several in by_suite for one in several)
    # Room for the longest name, so that the axes of all suites are below each other.
    axis = {"labelLimit": LABEL, "minExtent": min(LABEL, _LETTER * longest)}
    # A row whose result is undefined has no mark, and still its name.
    y = nominal("model", sort=models, axis=axis, scale={"domain": models})
    is_share = members[0].estimate.is_share
    what, ends = ("accuracy, %", [0, 100]) if is_share else ("correlation", [-1, 1])
    is_said_below = any(one[0].estimate.is_share == is_share for one in below)
    x = quantitative(
        "value",
        title=None if is_said_below else what,
        scale={"domain": ends},
        axis={"tickCount": 5},
    )
    chance = {
        "mark": {"type": "tick", "color": GRAY, "thickness": 2},
        "transform": [{"filter": "datum.chance !== null"}],
        "encoding": {"x": quantitative("chance"), "y": y},
    }
    spans = {
        "mark": {"type": "rule", "color": BLUE, "strokeWidth": 2},
        "transform": [{"filter": "datum.low !== null && datum.high !== null"}],
        "encoding": {"x": quantitative("low"), "x2": {"field": "high"}, "y": y},
    }
    points = {
        "mark": {"type": "point", "color": BLUE, "filled": True, "size": 60, "opacity": 1},
        "encoding": {"x": x, "y": y},
    }
    n = sizes(estimate_cell(one.estimate) for one in members)
    return {
        "title": {"text": f"{members[0].suite}, n {n}", "fontSize": 11, "fontWeight": "normal"},
        "transform": [{"filter": f"datum.panel === {number}"}],
        "layer": [chance, spans, points],
        "width": RATES_WIDTH,
        "height": {"step": ROW},
    }
