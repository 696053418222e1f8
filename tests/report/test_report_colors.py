"""The colors of the page: text can be read on them, and tokens are ordered by lightness."""

from __future__ import annotations

import re

import pytest

from tests.helpers.reporting import make_run
from tests.report.test_report_html import page_of


def luminance(color):
    """Relative luminance (WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance)."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("mode", "first_light"), [("light", 6), ("dark", 5)])
def test_text_can_be_read_on_every_color(mode, first_light):
    [style] = page_of(make_run()).all("style")
    blocks = re.findall(r":root \{(.*?)\}", style.text, re.DOTALL)
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[0]))
    if mode == "dark":
        colors |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[1]))
    pairs = [("ink", "paper"), ("muted", "paper"), ("muted", "wash"), ("accent", "paper")]
    pairs += [(verdict, "paper") for verdict in ("pass", "fail", "tie", "unscored")]
    pairs += [("light-word" if n >= first_light else "dark-word", f"t{n}") for n in range(9)]
    too_close = {pair for pair in pairs if contrast(*(colors[name] for name in pair)) < 4.5}
    assert not too_close


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_token_colors_are_ordered_by_lightness_alone(mode):
    [style] = page_of(make_run()).all("style")
    block = re.findall(r":root \{(.*?)\}", style.text, re.DOTALL)[mode == "dark"]
    colors = dict(re.findall(r"--(t\d): (#[0-9a-f]{6})", block))
    lightness = [luminance(colors[f"t{number}"]) for number in range(9)]
    assert lightness == sorted(lightness, reverse=mode == "light")
    assert len(set(lightness)) == 9
