"""Headings of panels beside each other, in whatever font a reader's browser has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from cimento.paradigms.regions.factorial import Factorial, factorial
from cimento.paradigms.regions.figures_conditions import rows_figure
from tests.helpers.designs import island_suite, scores

SUITE = island_suite({"se": ["1", "2"]})
ROWS = {"1": (-10.0, -11.0, -12.0, -20.0), "2": (-9.0, -14.0, -11.0, -13.0)}
RESULT = Factorial(
    suite="prova", model="gpt", measure="lp", unit="nats", phenomena=factorial(SUITE, scores(ROWS))
)


def placed_texts(element: ET.Element, x: float = 0.0) -> Iterator[tuple[float, list[str]]]:
    """The lines of each text of an SVG, each with how far it is from the left."""
    moved = re.match(r"translate\((-?[\d.]+)", element.get("transform", ""))
    x += float(moved[1]) if moved else 0.0
    if element.tag.endswith("}text"):
        yield x, [*element.itertext()]
    for part in element:
        yield from placed_texts(part, x)


def test_headings_of_rows_end_before_the_next_panel() -> None:
    """By the mean width of letters in a wide bold font, DejaVu Sans Bold: 0.69 of 12 pixels."""
    model = "organization/Model-of-Italian-1B-base-v1.0@1a2b3c4"
    columns = [(f"it-islands, {model}", RESULT, {}), ("people", RESULT, {})]
    texts = [*placed_texts(ET.fromstring(rows_figure(columns, "raw").svg()))]  # noqa: S314  # ours
    [first] = [(x, lines) for x, lines in texts if lines[0] == "se: it-islands,"]
    [second] = [x for x, lines in texts if lines == ["se: people"]]
    assert first[1] == ["se: it-islands,", model]
    assert first[0] + 0.69 * 12 * len(model) < second
