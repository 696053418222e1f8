"""Places where a long word of a table may be broken, so that its column is not cut off.

A DOI, a path and a list of options have no blanks; they are broken behind their signs. What is
copied from the page stays as it is.
"""

from __future__ import annotations

import re

LONGEST = 16
"""Characters of a word that is never broken."""

_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
_WORD = re.compile(rf"(?<![^\s>])[^\s<>]{{{LONGEST + 1},}}(?![^<]*>)")
_SIGN = re.compile(r"(?<=[/.,=_(:])(?<!doi:)(?<!doi:10\.)(?=\w)")


def breakable(html: str) -> str:
    """A page whose tables have a place to break behind each sign within a long word."""
    return _CELL.sub(lambda cell: _WORD.sub(_with_breaks, cell[0]), html)


def _with_breaks(word: re.Match[str]) -> str:
    return _SIGN.sub("<wbr>", word[0])
