"""The sentence that a condition's regions make, where no offsets are needed."""

from __future__ import annotations

import re

from cimento.suites.model import Condition, JoinRule

# Only from the first of several blanks: else very many of them take very long.
_BLANK_BEFORE_MARK = re.compile(r"(?<!\s)\s+(?=[.,!?;:])")


def sentence(condition: Condition, *, rule: JoinRule = "blank") -> str:
    """The sentence of a condition; equal to `requests.stimulus_text`, which also has offsets."""
    made = ""
    glued = True
    for region in condition.regions:
        glued = glued and region.glued
        text = region.text.strip()
        if text:
            made += text if glued or not made else f" {text}"
            glued = True
    return _BLANK_BEFORE_MARK.sub("", made) if rule == "detok" else made
