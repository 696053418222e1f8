"""Printed text of a run as GitHub Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cimento.markup import printable

if TYPE_CHECKING:
    from cimento.report.told import Told

# An underscore inside a word is text in GitHub's Markdown and stays readable as it is.
_MARKUP = re.compile(r"[\\`*\[\]<>|#~&]|(?<!\w)_|_(?!\w)")


def markdown_text(told: Told) -> str:
    """A heading and the text of a run of another kind, as it was printed."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", told.text)), default=0))
    heading = f"## {_escape(told.suite)}, {_escape(told.model)}"
    return f"{heading}\n\n{fence}text\n{told.text}\n{fence}\n"


def _escape(text: str) -> str:
    """The text with everything that Markdown would read as markup made literal."""
    return _MARKUP.sub(r"\\\g<0>", printable(text))
