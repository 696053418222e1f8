"""Regular expressions in files that may come from others, which must not search without end.

Python's engine tries every way in which a pattern fits. Where several repetitions can take the same
characters, their number grows with the power of the length, or doubles with each character.
"""

from __future__ import annotations

import re

LONGEST_PATTERN = 200
"""Characters of a pattern that is not a list of words."""
LONGEST_SEARCHED = 1000
"""Characters of a text that is compared with a pattern of several repetitions."""

_MOST_OPTIONAL = 3
_ENDLESS = re.compile(r"\)\s*[*+{]")
_ONE_CHARACTER = re.compile(r"\\.|\[\^?\]?[^\]]*\]", re.DOTALL)
"""In a regular expression: an escaped one, or one of a class."""

REFUSED = "a group that is repeated, several repetitions, or a long pattern, may search without end"


def may_be_endless(pattern: str, *, repetitions: int = 1, longest: int = LONGEST_PATTERN) -> bool:
    """Whether a regular expression may take very long on a short word.

    It may if repetitions follow each other and can match the same characters.

    Args:
        pattern: the expression.
        repetitions: how many it may have; with two, the time grows with the square of the length.
        longest: how many characters it may have.
    """
    plain = _ONE_CHARACTER.sub("x", pattern)
    repeated = sum(map(plain.count, "*+{"))
    optional = plain.count("?") - plain.count("(?")
    return (
        _ENDLESS.search(pattern) is not None
        or len(pattern) > longest
        or repeated > repetitions
        or optional > _MOST_OPTIONAL
        or plain.count("(") > _MOST_OPTIONAL
    )
