"""The specification curve as a table and as a figure, and how many specifications say the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.paradigms.regions.specifications import (
    Specification,
    SpecificationCurve,
    choices_made,
    need_curves,
)
from cimento.records.outcomes import ACCURACY
from cimento.report.figures import (
    BLUE,
    GRAY,
    ORANGE,
    SCHEMA,
    Figure,
    VegaSpec,
    frame_of,
    plain_figure,
    require_rows,
)
from cimento.report.grid import BLANK, EstimateCell, Grid

if TYPE_CHECKING:
    import polars as pl

NAME = "sensitivity"
_SIDES = {1: "above", 0: "at", -1: "below", None: BLANK}
_CALLED = {"bos": "BOS", "pll": "PLL", "boundary": "boundary"}
_DIGITS = 3
_ABOUT = (
    "side: of chance, or of 0. surely: the 95% interval of this specification leaves that out."
    " Specifications share items and tokens, so their number is not a sample size."
)


def curves_grid(curves: Sequence[SpecificationCurve]) -> Grid:
    """A row for each specification, and below how many of them say the same.

    Args:
        curves: curves of some runs.

    Raises:
        UsageError: there is none.
    """
    need_curves(curves)
    rows = [(curve, one) for curve in curves for one in curve.specifications]
    made = choices_made(curves)
    axes = [axis for axis, choices in made.items() if len(choices) > 1]
    fixed = ", ".join(
        f"{_CALLED.get(axis, axis)} {made[axis][0]}" for axis in made if axis not in axes
    )

    def choice(axis: str) -> Callable[[tuple[SpecificationCurve, Specification]], str]:
        return lambda row: dict(row[1].choices).get(axis, BLANK)

    return Grid.of(
        rows,
        {
            "suite": lambda row: row[0].suite,
            "model": lambda row: row[0].model,
            "result": lambda row: row[0].statistic,
            **{_CALLED.get(axis, axis): choice(axis) for axis in axes},
            "value": lambda row: _cell(row[1]),
            "side": lambda row: "surely " * row[1].is_sure + _SIDES[row[1].side],
        },
        title="Results under every combination of choices of scoring; the run's own come first.",
        labels=3 + len(axes),
        remarks=1,
        grouped=3,
        notes=(
            *map(summed_up, curves),
            *([f"Chosen in one way: {fixed}."] if fixed else []),
            _ABOUT,
        ),
    )


def _cell(one: Specification) -> EstimateCell:
    return EstimateCell(
        value=one.value, low=one.low, high=one.high, n=one.n, reason=one.reason, digits=_DIGITS
    )


def summed_up(curve: SpecificationCurve) -> str:
    """How many specifications say what the run's own says, in a sentence.

    Args:
        curve: the curve.
    """
    own, known = curve.specifications[0], curve.known
    about = f"{curve.suite}, {curve.model}, {curve.statistic}"
    if own.side is None or own.reference is None:
        why = own.reason or "no chance level"
        return f"{about}: the run's own specification says nothing ({why})."
    what = f"chance ({own.reference:.2g})" if curve.statistic == ACCURACY else "0"
    where = {1: f"above {what}", -1: f"below {what}", 0: f"at {what}"}[own.side]
    values = [one.value for one in known if one.value is not None]
    missing = len(curve.specifications) - len(known)
    return (
        f"{about}: {curve.agreeing()} of {len(known)} specifications are {where} like the run's"
        f" own, {curve.agreeing(sure=True)} surely; {curve.opposed} surely are not. Values from"
        f" {min(values):.{_DIGITS}f} to {max(values):.{_DIGITS}f}."
        + (f" Without a value: {missing}." if missing else "")
    )


def curves_figure(curves: Sequence[SpecificationCurve]) -> Figure:
    """The results of one model and suite, ascending, with the choices of each below it.

    Args:
        curves: curves of one model and suite.

    Raises:
        UsageError: there are several models or suites, or nothing to draw.
    """
    need_curves(curves)
    of_what = dict.fromkeys((curve.suite, curve.model) for curve in curves)
    if len(of_what) > 1:
        named = "; ".join(" with ".join(one[::-1]) for one in of_what)
        raise UsageError(
            where=f"--figure={NAME}",
            seen=f"the runs are of {len(of_what)} suites and models: {named}",
            todo="Give the runs of one model on one suite.",
        )
    frame = _frame(curves)
    require_rows(
        frame, where=f"figure {NAME}", seen="no specification has a value", todo="See the table."
    )
    [(suite, model)] = of_what
    title = f"{model} on {suite}: results under all choices of scoring"
    order = [
        f"{_CALLED.get(axis, axis)}: {choice}"
        for axis, choices in choices_made(curves).items()
        for choice in choices
    ]
    panels = [_panel(curve, frame, order) for curve in curves if curve.known]
    spec: VegaSpec = {"$schema": SCHEMA, "hconcat": panels, "spacing": 30}
    return plain_figure(spec, name=NAME, title=title, frame=frame)


def _frame(curves: Sequence[SpecificationCurve]) -> pl.DataFrame:
    """A row for each specification and choice, ascending by value within each result."""
    rows: list[Sequence[object]] = []
    varied = [axis for axis, choices in choices_made(curves).items() if len(choices) > 1]
    for curve in curves:
        ranked = sorted(curve.known, key=lambda one: one.value or 0.0)
        for rank, one in enumerate(ranked, start=1):
            says = "own" if one is curve.specifications[0] else "surely" if one.is_sure else "open"
            known = (curve.statistic, rank, one.value, one.low, one.high, one.reference, says)
            chosen = [(axis, choice) for axis, choice in one.choices if axis in varied]
            rows += [
                (*known, f"{_CALLED.get(axis, axis)}: {choice}")
                for axis, choice in chosen or [("", "")]
            ]
    return frame_of(
        rows, result=str, specification=int, value=float, low=float, high=float, reference=float,
        says=str, choice=str,
    )  # fmt: skip


_COLORS: VegaSpec = {
    "field": "says",
    "type": "nominal",
    "title": None,
    "scale": {"domain": ["own", "surely", "open"], "range": [ORANGE, BLUE, GRAY]},
    "legend": {
        "orient": "top",
        "labelExpr": "{own: 'as the run was scored', surely: 'interval leaves the line out',"
        " open: 'interval has the line in it'}[datum.label]",
    },
}
_STEP = 12


def _panel(curve: SpecificationCurve, frame: pl.DataFrame, order: Sequence[str]) -> VegaSpec:
    """The values of one result above, the choices below, over one axis of specifications."""
    rows = frame.filter(frame["result"] == curve.statistic)
    width = max(160, _STEP * len(curve.known))
    values: VegaSpec = {"values": rows.to_dicts()}
    x = {"field": "specification", "type": "ordinal", "axis": None}
    y = {
        "field": "value", "type": "quantitative", "title": curve.statistic,
        "scale": {"zero": False},
    }  # fmt: skip
    line = {"field": "reference", "type": "quantitative"}
    upper: VegaSpec = {
        "width": width,
        "height": 150,
        "layer": [
            {
                "mark": {"type": "rule", "color": GRAY, "strokeDash": [3, 3]},
                "encoding": {"y": line},
            },
            {
                "mark": {"type": "rule"},
                "encoding": {
                    "x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": _COLORS,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": _COLORS},
            },
        ],
    }  # fmt: skip
    lower: VegaSpec = {
        "width": width,
        "height": {"step": _STEP + 2},
        "mark": {"type": "point", "filled": True, "shape": "square", "size": 30, "opacity": 1},
        "encoding": {
            "x": x,
            "y": {
                "field": "choice", "type": "nominal", "sort": list(order), "title": None,
                "axis": {"grid": True, "labelLimit": 240},
            },
            "color": {**_COLORS, "legend": None},
        },
    }  # fmt: skip
    return {"data": values, "vconcat": [upper, lower], "spacing": 4}
