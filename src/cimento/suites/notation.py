r"""How the native format writes regions and other texts into the cells of a table.

Bars separate regions, with a blank on each side or none; ``\|``, ``\t``, ``\n``, ``\r`` and
``\\`` stand for what a cell cannot hold. docs/suite-format.md has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cimento.suites.model import Region

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_MEANINGS = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r", "\\|": "|"}
_PIECE = re.compile(r"\\.|\||[^\\|]+|\\$", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)


def escape(text: str) -> str:
    """A text as a cell of a table without quoting can hold it."""
    return text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES)


def unescape(text: str) -> str:
    """What a cell says; a backslash that escapes nothing stands for itself."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda found: _MEANINGS.get(found[0], found[0]), text)


def lone_backslash(text: str) -> str:
    """The first backslash that escapes nothing, with what follows it; empty if there is none."""
    if "\\" not in text:
        return ""
    pieces = (piece for piece in _PIECE.findall(text) if piece.startswith("\\"))
    return next((piece for piece in pieces if piece not in _MEANINGS), "")


def write_regions(regions: Sequence[Region]) -> str:
    """The regions of a condition as one cell."""
    cell = ""
    for index, region in enumerate(regions):
        if index:
            cell += "|" if region.glued else " | "
        cell += escape(region.text).replace("|", "\\|")
    return cell


def read_regions(cell: str) -> tuple[tuple[Region, ...], list[str]]:
    """The regions that a cell holds.

    Args:
        cell: as written by hand or by `write_regions`.

    Returns:
        The regions, their blanks as they stand beyond those that belong to bars, and the
        stretches around bars that have a blank on one side only.
    """
    raw = _between_bars(cell)
    glued = [False]
    doubtful = []
    taken = True  # at the start of the cell no blank is needed on the left
    for index in range(len(raw) - 1):
        left, right = raw[index], raw[index + 1]
        last = index == len(raw) - 2
        before, after = left[-1:].isspace(), right[:1].isspace()
        # A single blank between two bars belongs to the second, unless the first has one before.
        lent = after and not before and not last and len(right) == 1
        joined = lent or not (before or after)
        if not joined and before != after:
            edge = (taken and not left) or (last and not right)
            if not edge:
                doubtful.append(f"{left[-12:]}|{right[:12]}")
        if not joined:
            raw[index] = left[:-1] if before else left
            raw[index + 1] = right[1:] if after else right
        taken = not joined and after
        glued.append(joined)
    regions = tuple(
        Region(unescape(text), glued=flag) for text, flag in zip(raw, glued, strict=True)
    )
    return regions, doubtful


def _between_bars(cell: str) -> list[str]:
    """The stretches between unescaped bars, as they stand."""
    if "\\" not in cell:
        return cell.split("|")
    raw = [""]
    for piece in _PIECE.findall(cell):
        if piece == "|":
            raw.append("")
        else:
            raw[-1] += piece
    return raw
