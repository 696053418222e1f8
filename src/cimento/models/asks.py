"""What is asked of one forward pass and where the answers go; in arrays, for it is much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from cimento.models.base import Encoded, FloatArray


IntArray: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"


class Sheet:
    """The scores of some texts, written down in one array.

    Attributes:
        values: NaN where nothing was written yet; shape (slots,), or (slots, 1 + columns).
        starts: the first slot of each text.

    Args:
        encoded: the texts; each has a slot for every token that is wanted.
        columns: how many numbers are wanted besides log-probabilities.
    """

    def __init__(self, encoded: Sequence[Encoded], *, columns: int = 0) -> None:
        ends = np.cumsum([0, *(len(each.wanted) for each in encoded)]).tolist()
        width = (1 + columns,) if columns else ()
        self.starts: list[int] = ends[:-1]
        self._ends: list[int] = ends[1:]
        self.values: FloatArray = np.full((ends[-1], *width), np.nan)

    def by_text(self) -> list[FloatArray]:
        """The scores of each text: parts of `values`, and no copies."""
        return [self.values[start:end] for start, end in zip(self.starts, self._ends, strict=True)]


@dataclass(frozen=True, slots=True)
class Asks:
    """Log-probabilities that are wanted of a batch.

    Attributes:
        rows: of the flattened (batch * length) positions, where each is predicted.
        targets: which token is predicted.
        places: slot of the sheet that each goes to.
    """

    rows: IntArray
    targets: IntArray
    places: IntArray

    def __len__(self) -> int:
        return len(self.rows)

    def between(self, start: int, end: int) -> Asks:
        """What is asked at the rows from `start` to `end`, counted from `start`."""
        chosen = (self.rows >= start) & (self.rows < end)
        return Asks(self.rows[chosen] - start, self.targets[chosen], self.places[chosen])

    def by_line(self) -> tuple[IntArray, Asks]:
        """The distinct rows, ascending, and what is asked of each, by its number among them."""
        rows, lines = np.unique(self.rows, return_inverse=True)
        return rows, Asks(lines, self.targets, self.places)

    def later(self, rows: int) -> Asks:
        """What is asked, where so many rows stand before the first."""
        return Asks(self.rows + rows, self.targets, self.places)


def joined(asks: Sequence[Asks]) -> Asks:
    """What several ask, as one."""
    return Asks(
        np.concatenate([each.rows for each in asks]),
        np.concatenate([each.targets for each in asks]),
        np.concatenate([each.places for each in asks]),
    )


@dataclass(slots=True)
class AskList:
    """`Asks` while they are gathered."""

    rows: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def add(self, row: int, target: int, place: int) -> None:
        """Ask for one token."""
        self.rows.append(row)
        self.targets.append(target)
        self.places.append(place)

    def add_following(self, each: Encoded, rows: Sequence[int], *, first_slot: int) -> None:
        """Ask for the wanted tokens of a text, each at the position before it.

        A first token that is wanted has none before it and is not asked for.

        Args:
            each: the text.
            rows: where each of its tokens stands in the batch.
            first_slot: of the text.
        """
        wanted = each.wanted[1:] if each.wanted[:1] == (0,) else each.wanted
        end = first_slot + len(each.wanted)
        self.rows += [rows[index - 1] for index in wanted]
        self.targets += [each.ids[index] for index in wanted]
        self.places += range(end - len(wanted), end)

    def done(self) -> Asks:
        """What was gathered."""
        return Asks(
            *(np.array(some, dtype=np.int64) for some in (self.rows, self.targets, self.places))
        )
