"""Templates of untrusted files: texts with names in braces, filled in without `str.format`."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLACE = re.compile(r"\{([^{}]*)\}")
_LONGEST_FILLED = 100_000
"""Greatest length in characters: a short template that repeats names could fill the memory."""


def filled(template: str, values: Mapping[str, str]) -> str:
    """An untrusted template with each ``{name}`` replaced by its value.

    Nothing else is interpreted. The attributes and widths of `str.format` could reach into objects
    and fill the memory.

    Args:
        template: a text with names in braces.
        values: the text inserted for each name, unchanged.

    Raises:
        KeyError: a name has no value.
        ValueError: the result is longer than any text should be.
    """
    pieces = _PLACE.split(template)
    pieces[1::2] = [values[name] for name in pieces[1::2]]
    if sum(map(len, pieces)) > _LONGEST_FILLED:
        raise ValueError(f"it has more than {_LONGEST_FILLED:,} characters when it is filled in")
    return "".join(pieces)
