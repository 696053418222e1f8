"""Masked copies of texts, as lines of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from cimento.models.hf.batches import Asks, batches
from cimento.models.hf.lines import Lines
from cimento.models.hf.scorer import row_head
from cimento.models.hf.shapes import Batch, Filling, Passes, Piece, Plan, Shape, give_out

if TYPE_CHECKING:
    from cimento.models.hf.heads import Read

Copy: TypeAlias = tuple[int, ...]
"""A sequence with some of its tokens masked."""


class MaskedToken(NamedTuple):
    """A token to predict in a masked copy: its position, its id, and the slot of its score."""

    position: int
    target: int
    slot: int


def copy_lines(jobs: Mapping[Copy, Sequence[MaskedToken]]) -> Lines:
    """A line for each masked copy.

    Args:
        jobs: the tokens to predict in each copy.
    """
    wanted = np.array([job for some in jobs.values() for job in some], dtype=np.int64)
    rows, targets, slots = wanted.reshape(-1, 3).T
    return Lines(
        offsets=np.cumsum([0, *map(len, jobs)], dtype=np.int64),
        tokens=np.array([token for copy in jobs for token in copy], dtype=np.int64),
        asked=np.cumsum([0, *map(len, jobs.values())], dtype=np.int64),
        rows=rows,
        targets=targets,
        slots=slots,
    )


@dataclass(slots=True, eq=False, kw_only=True)
class MaskedPlan(Plan):
    """The scores that some texts want of a masked model.

    Attributes:
        lines: the masked copies.
    """

    lines: Lines

    @classmethod
    def of(
        cls, jobs: Mapping[Copy, Sequence[MaskedToken]], *, slots: int, columns: int = 0
    ) -> MaskedPlan:
        """The plan of predicting tokens in masked copies.

        Args:
            jobs: the tokens to predict in each copy.
            slots: number of scores.
            columns: number of values read besides log-probabilities.
        """
        width = (1 + columns,) if columns else ()
        return cls(values=np.full((slots, *width), np.nan), lines=copy_lines(jobs))


class MaskedScoring:
    """The scoring of masked copies with a masked model.

    Args:
        passes: the way in which texts go through the model.
        columns: values read besides log-probabilities.
    """

    def __init__(self, passes: Passes, *, columns: Sequence[Read] = ()) -> None:
        self._passes = passes
        self._head = row_head(passes.model, thin=passes.layout.thin, columns=columns)
        self._shapes = passes.shapes(tree_nodes=1)
        self._filling = Filling[MaskedPlan](self._read)

    def add(self, plan: MaskedPlan) -> None:
        """Put the copies of a plan into batches, and score those that are full."""
        plan.waiting = len(plan.lines)
        if self._shapes is not None:
            shapes = self._shapes.of_texts(plan.lines.lengths, pads=self._passes.layout.pad)
            self._filling.add(plan, plan.lines, shapes)
            return
        gathered = self._head.gather(plan.values)
        lengths = plan.lines.lengths.tolist()
        for numbers in batches(lengths, limits=self._passes.limits, mixed=self._passes.layout.pad):
            shape = Shape(len(numbers), lengths[numbers[0]])
            piece = Piece(plan, plan.lines, np.array(numbers))
            batch = Batch.of([piece], shape, padding=self._passes.padding)
            gathered.add(
                self._passes.inputs(batch), Asks(batch.asks.rows, batch.asks.targets, piece.slots)
            )
        gathered.finish()
        plan.waiting = 0

    @property
    def fillings(self) -> Sequence[Filling[MaskedPlan]]:
        """The batches that wait until they are full."""
        return (self._filling,)

    def _read(self, pieces: Sequence[Piece[MaskedPlan]], shape: Shape) -> None:
        batch = Batch.of(pieces, shape, padding=self._passes.padding)
        values = np.full((len(batch.asks), *pieces[0].plan.values.shape[1:]), np.nan)
        self._head.fill(self._passes.inputs(batch), batch.asks, values)
        give_out(pieces, values)
