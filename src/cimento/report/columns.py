"""How wide the columns of a table are in a terminal, and which of them stand side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from cimento.io.inline_markup import width_of

GAP = 2
"""Blanks between two columns."""

_NARROWEST = 10
"""The fewest characters to which a column of texts is folded."""


def layout(
    most: Sequence[int], *, texts: Sequence[int], keys: Sequence[int], width: int | None
) -> tuple[list[int], list[tuple[int, ...]]]:
    """The widths of columns, and the columns that stand side by side.

    Texts are folded until the table fits. Of one that is wider even so, the first texts take half
    of the width, and each block below another has them again.

    Args:
        most: width of the longest cell of each column, in characters.
        texts: indices of the columns that can be folded.
        keys: indices of the first columns, which say what a row is about.
        width: columns of the terminal; None for lines of any length.
    """
    widths = _narrowed(most, texts, width)
    if not width or _total(widths) <= width or len(keys) == len(most):
        return widths, [tuple(range(len(most)))]
    others = _total(most) - _total([most[k] for k in keys])
    widths = _narrowed(most, keys, width // 2 + others)
    blocks: list[tuple[int, ...]] = []
    for k in range(len(keys), len(widths)):
        block = (*(blocks[-1] if blocks else keys), k)
        if blocks and _total([widths[n] for n in block]) <= width:
            blocks[-1] = block
        else:
            blocks.append((*keys, k))
    return widths, blocks


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _narrowed(most: Sequence[int], texts: Iterable[int], width: int | None) -> list[int]:
    """The widths of columns, of which the texts are folded until the table is `width` wide."""
    widths, texts = list(most), list(texts)
    while width and _total(widths) > width and texts:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def folded_row(row: Sequence[str], widths: Sequence[int]) -> list[tuple[str, ...]]:
    """A row as several lines, where its cells are longer than the columns are wide."""
    cells = [wrapped(cell, most) for cell, most in zip(row, widths, strict=True)]
    return list(zip_longest(*cells, fillvalue=""))


def wrapped(text: str, width: int | None) -> list[str]:
    """The lines of a text; one of any length where there is no width."""
    if not width or width_of(text) <= width:
        return [text]
    return textwrap.wrap(text, width) or [""]
