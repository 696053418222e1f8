"""Room around a drawing for its labels, in whatever font a reader's browser has.

The renderer lays labels out in a narrow font, and a page shows them in that of the reader's system.
A wide one would leave the drawing, and a page cuts off what does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree as ET

_WIDEST_EM = 0.62
"""Mean width of a letter in a wide font (DejaVu Sans, Verdana), in its size."""
_LINE_EM = 1.2
_SIZE = 11.0
_BOX = re.compile(r'width="[^"]*" height="[^"]*" viewBox="0 0 ([\d.]+) ([\d.]+)"')
_BACKGROUND = re.compile(r'<rect width="[^"]*" height="[^"]*" fill="white"')
_MOVED = re.compile(r"translate\(\s*(-?[\d.]+)[\s,]+(-?[\d.]+)")
_TURNED = re.compile(r"rotate\(\s*(-?[\d.]+)")
_BEFORE = {"end": 1.0, "middle": 0.5}
"""The part of a text before its anchor, by the anchor's name; others begin there."""


class Room(NamedTuple):
    """What labels need beyond a drawing, in its units."""

    left: float
    right: float
    below: float


def with_room(svg: str) -> str:
    """A drawing with room for its labels on all sides but the upper one.

    Args:
        svg: the drawing, which begins at 0.
    """
    size = _BOX.search(svg)
    if size is None:
        return svg
    width, height = map(float, size.groups())
    left, right, below = room(svg, width=width, height=height)
    whole, high = f"{left + width + right:g}", f"{height + below:g}"
    opening = f'width="{whole}" height="{high}" viewBox="{-left:g} 0 {whole} {high}"'
    behind = f'<rect x="{-left:g}" width="{whole}" height="{high}" fill="white"'
    return _BACKGROUND.sub(behind, svg.replace(size[0], opening, 1), count=1)


def room(svg: str, *, width: float, height: float) -> Room:
    """The room that labels need beyond a drawing.

    Args:
        svg: the drawing, whose texts are moved and turned by attributes ``transform``.
        width: of the drawing, from 0.
        height: of the drawing, from 0.
    """
    ends = [*_ends(ET.fromstring(svg), 0.0, 0.0)]  # noqa: S314  # from our own renderer
    low = min((x for x, _ in ends), default=0.0)
    high = max((x for x, _ in ends), default=width)
    lowest = max((y for _, y in ends), default=height)
    return Room(*(float(max(0, math.ceil(size))) for size in (-low, high - width, lowest - height)))


def _ends(element: ET.Element, x: float, y: float) -> Iterator[tuple[float, float]]:
    """Both ends of the last line of each text in an element.

    Args:
        element: a part of a drawing.
        x: how far it is from the left.
        y: how far it is from the top.
    """
    transform = element.get("transform", "")
    if moved := _MOVED.search(transform):
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.tag.rpartition("}")[2] != "text":
        for part in element:
            yield from _ends(part, x, y)
        return
    turned = math.radians(float(match[1]) if (match := _TURNED.search(transform)) else 0.0)
    size = float((element.get("font-size") or f"{_SIZE}").removesuffix("px"))
    lines = [*element.itertext()]
    length = max(map(len, lines), default=0) * size * _WIDEST_EM
    y += max(0, len(lines) - 1) * size * _LINE_EM
    before = _BEFORE.get(element.get("text-anchor", ""), 0.0)
    for along in (-before * length, (1 - before) * length):
        yield x + along * math.cos(turned), y + along * math.sin(turned)
