"""A figure as SVG inside a page: titled, light, and in the colours of the page."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.report.figures import Figure

# What a drawing inside a page does not need: name spaces, defaults, and names for each mark, since
# the whole drawing is one picture with one text.
_NEEDLESS = re.compile(
    r" (?:xmlns(?::\w+)?|version|aria-\w+|role|pointer-events|font-family|stroke-miterlimit|class)"
    r'="[^"]*"| opacity="1"'
)
_BACKGROUND = re.compile(r'<rect width="[^"]*" height="[^"]*" fill="white"\s*/>')
_EMPTY = re.compile(r'<path(?: display="none"| d="(?:M0,0h0v0h0Z)?")+\s*/>|<g>\s*</g>')
_LONG = re.compile(r"\d+\.\d{2,}")
_TAG = re.compile(r"<[^>]+>")
_NAMED = re.compile(r'(\bid="|url\(#|href="#)')
_OPENING = re.compile(r"<svg\b[^>]*>")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def inline_svg(figure: Figure, *, name: str) -> str:
    """The figure as one SVG element for a page.

    Args:
        figure: what is drawn.
        name: stands before every id in it, so that no id comes twice in a page.

    Raises:
        MissingDependencyError: vl-convert-python is not installed.
    """
    # The caption of the figure says the title; in the drawing a long one would be cut.
    bare = replace(
        figure, spec={key: value for key, value in figure.spec.items() if key != "title"}
    )
    svg = _BACKGROUND.sub("", _NEEDLESS.sub("", bare.svg()))
    while _EMPTY.search(svg):
        svg = _EMPTY.sub("", svg)
    # Places may be rounded; numbers that stand as text are what the figure says.
    svg = _TAG.sub(lambda tag: _LONG.sub(lambda found: f"{float(found[0]):.1f}", tag[0]), svg)
    svg = _NAMED.sub(lambda found: f"{found[1]}{name}-", svg)
    size = _SIZE.search(svg)
    width, height = size.groups() if size else ("400", "300")
    title = escape(figure.title)
    opening = (
        f'<svg class="figure" role="img" aria-labelledby="{name}-title" width="{width}"'
        f' viewBox="0 0 {width} {height}"><title id="{name}-title">{title}</title>'
    )
    return _OPENING.sub(lambda _: opening, svg, count=1)
