"""The scatter of ratings and a measure, in which the worst misses are labeled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

from cimento.measures import Measure
from cimento.paradigms.ratings.people import MISSES, RatedValue
from cimento.records.places import farthest_apart, ranked
from cimento.report.figures import BLUE, GRAY, ORANGE, Figure, figure_of, frame_of, require_rows
from cimento.suites.ratings import RatedSentence

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


_SCATTER = "scatter"
_SENTENCE = "sentence"
_COLORS = {
    "acceptable": BLUE, "good": BLUE, "unacceptable": ORANGE, "bad": ORANGE, _SENTENCE: GRAY,
}  # fmt: skip
"""Colors of points by their label, in the order of the legend."""
_NAME_WIDTH, _TITLE_WIDTH = 40, 64
_WIDTH, _HEIGHT = 440, 320
_MARGIN = 0.04
"""Part of the range of values that is added at both ends, so that no point is cut."""
_LINE, _LETTER, _POINT, _BESIDE = 13, 6, 7, 8
"""Pixels: of a line, of a letter, of a point, and from a point to its label."""
_SHIFTS = (_BESIDE, 24, 48)
"""Pixels across from a point to its label: where it is free beside the point, and farther away."""


def scatter_frame(rows: Sequence[RatedValue], *, higher_is_better: bool) -> pl.DataFrame:
    """The table that `scatter_figure` draws, with a row for each sentence with rating and value.

    Columns: ``id``, ``text``, ``label``, ``rating``, ``value``, ``gap`` (its rank by the model
    minus its rank by the ratings, between -1 and 1) and ``named``, a short text for the worst
    misses.

    Args:
        rows: sentences with a rating and a value of the measure.
        higher_is_better: whether the better sentence has the higher value.
    """
    apart = farthest_apart(rows, higher_is_better=higher_is_better)
    worst = [one.row.sentence.id for one in apart[:MISSES]]
    cells = [
        (
            one.row.sentence.id,
            one.row.sentence.text,
            _label_of(one.row.sentence),
            one.row.rating,
            one.row.value,
            one.gap,
            shorten(one.row.sentence.text, _NAME_WIDTH, placeholder=" ...")
            if one.row.sentence.id in worst
            else None,
        )
        for one in ranked(rows, higher_is_better=higher_is_better)
    ]
    return frame_of(
        cells, id=str, text=str, label=str, rating=float, value=float, gap=float, named=str
    )


def _label_of(sentence: RatedSentence) -> str:
    """What the suite calls the side of a pair, or the label of a sentence that is in none."""
    condition = sentence.id.rpartition("/")[2] if sentence.pair else ""
    return condition if condition in _COLORS else sentence.label or _SENTENCE


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """The place of a label, in pixels from the lower left corner of the figure.

    Attributes:
        start: where the text begins, next to its point.
        end: where it ends; left of `start` for a point on the right, whose text is before it.
        height: the middle of its line.
    """

    start: float
    end: float
    height: float

    def is_over(self, other: LabelPlace) -> bool:
        """Whether two labels are written over one another."""
        left, right = sorted((self.start, self.end))
        others = sorted((other.start, other.end))
        return abs(self.height - other.height) < _LINE and left < others[1] and others[0] < right

    def covers(self, x: float, y: float) -> bool:
        """Whether a label is written over a point."""
        left, right = sorted((self.start, self.end))
        return left < x < right and abs(self.height - y) < (_LINE + _POINT) / 2


def label_places(
    points: Sequence[tuple[float, float]], names: Sequence[str | None]
) -> list[LabelPlace | None]:
    """The places of the labels, as near to their points as no other label or point is in the way.

    Args:
        points: in pixels, from the lower left corner.
        names: the label of each point; None for none.

    Returns:
        A place for each point, None for those without a label. Where there is no free place, a
        label covers points, but no other label.
    """
    places: list[LabelPlace | None] = [None] * len(points)
    for row in sorted(range(len(points)), key=lambda row: points[row][1]):
        name = names[row]
        if name is not None:
            taken = [place for place in places if place is not None]
            places[row] = _nearest(points[row], name, points, taken)
    return places


def _nearest(
    point: tuple[float, float],
    name: str,
    points: Sequence[tuple[float, float]],
    taken: Sequence[LabelPlace],
) -> LabelPlace:
    """The place of one label, the nearest to its point where there is room for it.

    On the side of the point that has more room, then also farther away; and the line from the
    point to the label is not to go through another point.
    """
    x, y = point
    side, width = (1 if x <= _WIDTH / 2 else -1), _LETTER * len(name)
    steps = [sign * k * _LINE / 2 for k in range(2 * _HEIGHT // _LINE) for sign in (1, -1)]
    shifts = [(side, far) for far in _SHIFTS] + [(-side, far) for far in _SHIFTS]
    places = [
        LabelPlace(x + to * far, x + to * (far + width), y + step)
        for to, far in shifts
        for step in steps
        if _LINE / 2 <= y + step <= _HEIGHT - _LINE / 2
        and ((to, far) == (side, _BESIDE) or 0 <= x + to * (far + width) <= _WIDTH)
    ]
    places.sort(key=lambda place: math.hypot(place.start - x, place.height - y))
    apart = [place for place in places if not any(map(place.is_over, taken))]
    free = [place for place in apart if not any(place.covers(*other) for other in points)]
    clear = (place for place in free if not _crosses(point, place, points))
    return next(clear, (free or apart or places)[0])


def _crosses(
    point: tuple[float, float], place: LabelPlace, points: Sequence[tuple[float, float]]
) -> bool:
    """Whether the line from a point to its label goes through another point."""
    (x, y), across, up = point, place.start - point[0], place.height - point[1]
    length = math.hypot(across, up)
    for other in points:
        along = ((other[0] - x) * across + (other[1] - y) * up) / length
        aside = abs((other[0] - x) * up - (other[1] - y) * across) / length
        if other != point and 0 < along < length and aside < _POINT / 2:
            return True
    return False


def scatter_figure(
    frame: pl.DataFrame, *, suite: str, model: str, by: str, measure: Measure
) -> Figure:
    """A scatter of ratings (x axis) and a measure (y axis), with the worst misses labeled.

    Args:
        frame: table made by `scatter_frame`.
        suite: name of the suite.
        model: name of the model.
        by: source of the ratings.
        measure: measure on the y axis.

    Raises:
        UsageError: no sentence has both a rating and a value.
        MissingDependencyError: altair is not installed.
    """
    require_rows(
        frame,
        where=f"figure {_SCATTER}",
        seen=f"no sentence has a rating and a value of {measure.name}",
        todo="Choose another --measure, or a suite with ratings.",
    )
    import altair as alt

    title = f"{model} beside {by} on {suite} ({measure.name})"
    labels = [name for name in _COLORS if name in set(frame["label"])]
    y_title = f"{measure.name} ({measure.unit})" if measure.unit else measure.name
    ratings, values = _padded(frame["rating"].to_list()), _padded(frame["value"].to_list())
    across = alt.Scale(domain=ratings, nice=False, zero=False)
    upward = alt.Scale(domain=values, nice=False, zero=False)
    x = alt.X("rating:Q", title=f"rating, by {by}", scale=across)
    y = alt.Y("value:Q", title=y_title, scale=upward)
    legend = alt.Legend() if len(labels) > 1 else None
    color = alt.Color("label:N", title=None, sort=labels, legend=legend).scale(
        domain=labels, range=[_COLORS[name] for name in labels]
    )
    points = (
        alt.Chart(frame)
        .mark_circle(size=32, opacity=0.7)
        .encode(x=x, y=y, color=color, tooltip=["id:N", "text:N", "rating:Q", "value:Q"])
    )
    to_label, *names = _label_layers(_labels_frame(frame, ratings, values), across, upward)
    layers = alt.layer(to_label, points, *names)
    lines = wrap(title, _TITLE_WIDTH, break_on_hyphens=False)
    chart = layers.properties(
        width=_WIDTH, height=_HEIGHT, title=lines if len(lines) > 1 else title
    )
    return figure_of(chart, name=_SCATTER, title=title, frame=frame)


def _label_layers(labels: pl.DataFrame, across: alt.Scale, upward: alt.Scale) -> list[alt.Chart]:
    """The lines from points to labels that are not beside them, then the labels on both sides."""
    import altair as alt

    base = alt.Chart(labels)
    to_label = (
        base.transform_filter("datum.moved")
        .mark_rule(color=GRAY, strokeWidth=0.7)
        .encode(
            x=alt.X("rating:Q", scale=across),
            y=alt.Y("value:Q", scale=upward),
            x2="label_x:Q",
            y2="label_y:Q",
        )
    )
    named = base.encode(
        x=alt.X("label_x:Q", scale=across), y=alt.Y("label_y:Q", scale=upward), text="named:N"
    )
    return [
        to_label,
        named.transform_filter("datum.after").mark_text(align="left", dx=2),
        named.transform_filter("!datum.after").mark_text(align="right", dx=-2),
    ]


def _padded(values: Sequence[float]) -> list[float]:
    """The range of some values with a margin; around a single one, that of 1."""
    low, high = min(values), max(values)
    margin = _MARGIN * (high - low) or 0.5
    return [low - margin, high + margin]


def _labels_frame(
    frame: pl.DataFrame, ratings: Sequence[float], values: Sequence[float]
) -> pl.DataFrame:
    """The labels with the places of their points and of their beginnings, in units of the axes."""
    wide, high = (ends[1] - ends[0] for ends in (ratings, values))
    points = [
        ((x - ratings[0]) / wide * _WIDTH, (y - values[0]) / high * _HEIGHT)
        for x, y in frame.select("rating", "value").iter_rows()
    ]
    places = label_places(points, frame["named"].to_list())
    cells = [
        (
            *row,
            ratings[0] + place.start / _WIDTH * wide,
            values[0] + place.height / _HEIGHT * high,
            place.start < place.end,
            place.height != y,
        )
        for row, (_, y), place in zip(
            frame.select("named", "rating", "value").iter_rows(), points, places, strict=True
        )
        if place is not None
    ]
    numbers = dict.fromkeys(("rating", "value", "label_x", "label_y"), float)
    return frame_of(cells, named=str, **numbers, after=bool, moved=bool)
