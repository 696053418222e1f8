"""Figures of an analysis: items and models on one scale, phenomena, and what items tell of whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.report.figures import (
    BLUE,
    GRAY,
    ORANGE,
    Figure,
    VegaSpec,
    frame_of,
    nominal,
    plain_figure,
    quantitative,
    require_rows,
)

if TYPE_CHECKING:
    from cimento.compare.analysis import Analysis, AnalyzedItem
    from cimento.compare.ranges import Range

BIN_LOGITS = 0.5
_POINTS = 81
_WIDTH, _HEIGHT = 220, 320
_LINE_HEIGHT = 20
_BEYOND = 0.5
_WHERE = "figure of an analysis"
_NO_MODEL = "No model of items was fitted."


def wright_map(analysis: Analysis) -> Figure:
    """The person-item map (Wright and Stone 1979, Best Test Design): both on one scale.

    Items on the left as bars, one for each half logit of difficulty; models on the right with
    their intervals. A model gets an item at its own height right with a chance of one half.

    Args:
        analysis: with difficulties and abilities.

    Raises:
        UsageError: no model of items was fitted.
    """
    items = [item.difficulty.value for item in analysis.items if item.difficulty]
    # Without the revision, where names tell models apart; labels are upright and have little room.
    short = len({one.model.partition("@")[0] for one in analysis.models}) == len(analysis.models)
    models = [
        (one.model.partition("@")[0] if short else one.model, one.ability)
        for one in analysis.models
        if one.ability
    ]
    rows = [
        *(("item", f"{i.suite} {i.item}", *_three(i.difficulty)) for i in analysis.items),
        *(("model", one.model, *_three(one.ability)) for one in analysis.models),
    ]
    shown = rows if items else []
    frame = frame_of(shown, what=str, name=str, logits=float, low=float, high=float)
    require_rows(frame, where=_WHERE, seen=_NO_MODEL, todo="See the reason in the table of models.")
    ends = [*items, *(end for _, one in models for end in (one.low, one.high))]
    scale = {"domain": [math.floor(min(ends)), math.ceil(max(ends))], "nice": False}
    parts = [_item_bars(items, scale), _model_points(models, scale)]
    spec: VegaSpec = {"hconcat": parts, "spacing": 6}
    title = "Items and models on one scale"
    return plain_figure(spec, name="wright", title=title, frame=frame)


def _item_bars(items: Sequence[float], scale: VegaSpec) -> VegaSpec:
    """The left half of the map: how many items there are at each height."""
    counts: dict[float, int] = {}
    for value in items:
        start = math.floor(value / BIN_LOGITS) * BIN_LOGITS
        counts[start] = counts.get(start, 0) + 1
    return {
        "data": {
            "values": [
                {"low": start, "high": start + BIN_LOGITS, "items": count}
                for start, count in sorted(counts.items())
            ]
        },
        "title": {"text": "items", "fontWeight": "normal"},
        "mark": {"type": "bar", "color": ORANGE, "stroke": "white", "strokeWidth": 0.5},
        "encoding": {
            "y": quantitative(
                "low", scale=scale, title="logits: harder items and abler models above"
            ),
            "y2": {"field": "high"},
            "x": quantitative(
                "items",
                scale={"reverse": True},
                title="number of items",
                axis={"tickMinStep": 1, "tickCount": 4},
            ),
            "x2": {"datum": 0},
        },
        "width": _WIDTH // 2,
        "height": _HEIGHT,
    }


def _model_points(models: Sequence[tuple[str, Range]], scale: VegaSpec) -> VegaSpec:
    """The right half of the map: each model with its interval."""
    rows = [
        {"model": name, "ability": one.value, "low": one.low, "high": one.high}
        for name, one in models
    ]
    x = nominal("model", sort=[name for name, _ in models])
    height = quantitative("ability", scale=scale, axis={"labels": False, "title": None})
    return {
        "data": {"values": rows},
        "title": {"text": "models, with 95% intervals", "fontWeight": "normal"},
        "layer": [
            {
                "mark": {"type": "rule", "color": BLUE},
                "encoding": {"x": x, "y": {**height, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 45, "color": BLUE, "opacity": 1},
                "encoding": {"x": x, "y": height},
            },
        ],
        "width": max(_WIDTH // 2, 22 * len(rows)),
        "height": _HEIGHT,
    }


def difficulty_figure(analysis: Analysis) -> Figure:
    """The difficulty of each phenomenon with its 95% interval, the hardest above.

    Args:
        analysis: with difficulties.

    Raises:
        UsageError: no model of items was fitted.
    """
    rows = [
        (one.phenomenon, one.items, *_three(one.difficulty))
        for one in analysis.phenomena
        if one.difficulty
    ]
    frame = frame_of(rows, phenomenon=str, items=int, difficulty=float, low=float, high=float)
    require_rows(frame, where=_WHERE, seen=_NO_MODEL, todo="See the reason in the table of models.")
    y = nominal("phenomenon", sort=[row[0] for row in rows], axis={"labelLimit": 260})
    x = quantitative(
        "difficulty", title="difficulty in logits; at 0 the average model gets half right"
    )
    spec: VegaSpec = {
        "data": {"values": frame.to_dicts()},
        "layer": [
            {"mark": {"type": "rule", "color": GRAY}, "encoding": {"x": {"datum": 0}}},
            {
                "mark": {"type": "rule", "color": BLUE},
                "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 55, "color": BLUE, "opacity": 1},
                "encoding": {"y": y, "x": x},
            },
        ],
        "width": 2 * _WIDTH,
        "height": _LINE_HEIGHT * max(2, len(rows)),
    }
    title = "How hard the phenomena are, with 95% intervals"
    return plain_figure(spec, name="difficulty", title=title, frame=frame)


def information_figure(analysis: Analysis) -> Figure:
    """How much the items tell of a model, by its ability, for each phenomenon.

    The information of an item is ``a² p (1 - p)`` (Birnbaum 1968, in Lord and Novick, Statistical
    Theories of Mental Test Scores); marks below show where the models are.

    Args:
        analysis: with difficulties.

    Raises:
        UsageError: no model of items was fitted.
    """
    known = [item for item in analysis.items if item.difficulty]
    abilities = [one.ability.value for one in analysis.models if one.ability]
    reach = _BEYOND + max(map(abs, abilities), default=0.0)
    reach = max(3.0, math.ceil(reach))
    grid = [-reach + 2 * reach * k / (_POINTS - 1) for k in range(_POINTS)]
    names = [one.phenomenon for one in analysis.phenomena]
    rows = [
        (name, point, math.fsum(_information(item, point, analysis) for item in items))
        for name in names
        if (items := [item for item in known if item.phenomenon == name])
        for point in grid
    ]
    frame = frame_of(rows, phenomenon=str, ability=float, information=float)
    require_rows(frame, where=_WHERE, seen=_NO_MODEL, todo="See the reason in the table of models.")
    layers = [_information_area(names), _ability_marks(abilities)]
    spec: VegaSpec = {
        "data": {"values": frame.to_dicts()},
        "layer": layers,
        "width": 2 * _WIDTH,
        "height": _HEIGHT // 2,
    }
    title = "How much the items tell of a model, by its ability; marks are the models"
    return plain_figure(spec, name="information", title=title, frame=frame)


def _information_area(names: Sequence[str]) -> VegaSpec:
    """The information of each phenomenon's items, one above the other."""
    return {
        "mark": {"type": "area", "opacity": 0.85},
        "encoding": {
            "x": quantitative("ability", title="ability in logits"),
            "y": quantitative("information", stack="zero", title="information"),
            "color": {
                "field": "phenomenon",
                "type": "nominal",
                "sort": names,
                "scale": {"scheme": "tableau20"},
                "legend": {"labelLimit": 260, "title": None},
            },
        },
    }


def _ability_marks(abilities: Sequence[float]) -> VegaSpec:
    """A mark on the axis for each model."""
    return {
        "data": {"values": [{"ability": value} for value in abilities]},
        "mark": {"type": "tick", "color": "black", "thickness": 1.5, "size": 14},
        "encoding": {"x": quantitative("ability"), "y": {"datum": 0}},
    }


def _information(item: AnalyzedItem, ability: float, analysis: Analysis) -> float:
    slope = item.discrimination.value if item.discrimination and analysis.kind == "2pl" else 1.0
    hard = item.difficulty.value if item.difficulty else 0.0
    p = 0.5 * (1 + math.tanh((slope * ability - hard) / 2))
    return slope**2 * p * (1 - p)


def _three(one: Range | None) -> tuple[float | None, float | None, float | None]:
    return (one.value, one.low, one.high) if one else (None, None, None)
