"""Shapes of batches: how lines of several units share passes of a model.

On a GPU, a shape that is new costs tens of milliseconds (attention in half precision compiles a
plan for it), and a batch that is not full costs as much as a full one. So lines wait until they
fill a batch, whichever units they come from, and a batch has one of few shapes. The shape of a
line's batch depends on the requests of its unit alone, and a batch that stays short is filled up
with rows that nobody reads. A row's scores depend on the shape, not on what is in other rows,
so that they do not depend on company, order or workers.

On a CPU, batches are as wide as their longest line, and nothing waits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import torch

from cimento.io.values import stretches
from cimento.models.hf.batches import Asks
from cimento.models.hf.lines import Lines
from cimento.models.settings import BatchLimits

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.io.values import Integers
    from cimento.models.base import EncodedTexts, FloatArray
    from cimento.models.hf.layout import ModelLayout

TREE_STEP = 64
"""The widths of batches of trees are its multiples."""

STEPS_IN_AN_OCTAVE = 16
"""Number of widths of batches of texts between a power of two and the next, from 16 on; below, all
widths occur."""

SMALL = 8
"""Lines of which a unit has few go into batches of this part of the limit, which fill sooner.

With 64 units under way, all of BLiMP needs 3% more tokens than in batches of any width, in eight
shapes.
"""


class Shape(NamedTuple):
    """The shape of a batch.

    Attributes:
        rows: number of its rows.
        width: number of tokens of a row.
    """

    rows: int
    width: int


def stepped(length: int, *, is_tree: bool) -> int:
    """The width of the batches in which a line goes through a model on a GPU.

    Args:
        length: number of tokens of the line.
        is_tree: whether it is a prefix tree.
    """
    octave = 1 << max(length - 1, 0).bit_length()
    step = TREE_STEP if is_tree else max(1, octave // (2 * STEPS_IN_AN_OCTAVE))
    return -(-length // step) * step


@dataclass(slots=True, eq=False, kw_only=True)
class Plan:
    """The scores that a unit wants of a model, and the lines that wait to be read.

    Attributes:
        values: the scores in the order of wanted tokens, of shape (tokens,) or (tokens, 1 +
            columns); NaN until they are read.
        waiting: number of lines whose scores are not read yet.
    """

    values: FloatArray
    waiting: int = 0

    @property
    def done(self) -> bool:
        """Whether all scores are read."""
        return not self.waiting


AnyPlan = TypeVar("AnyPlan", bound=Plan)


@dataclass(frozen=True, slots=True)
class Piece(Generic[AnyPlan]):
    """Some lines of a plan in a batch.

    Attributes:
        plan: the plan.
        lines: all of its lines of a kind.
        numbers: the numbers of the lines in the batch.
    """

    plan: AnyPlan
    lines: Lines
    numbers: Integers

    @property
    def slots(self) -> Integers:
        """The slots of the scores that are read from the lines."""
        lines, numbers = self.lines, self.numbers
        return lines.slots[stretches(lines.asked[numbers], np.diff(lines.asked)[numbers])]


class Launch(Protocol[AnyPlan]):
    """A function that runs a model over a batch and writes the scores into the plans."""

    def __call__(self, pieces: Sequence[Piece[AnyPlan]], shape: Shape) -> None:
        """Run the model over some lines, in a batch of a shape."""


@dataclass(slots=True)
class Filling(Generic[AnyPlan]):
    """Batches of given shapes, which are launched as soon as they are full.

    Args:
        launch: runs the model over a batch.
    """

    launch: Launch[AnyPlan]
    _waiting: dict[Shape, list[Piece[AnyPlan]]] = field(default_factory=dict)

    def add(self, plan: AnyPlan, lines: Lines, shapes: Sequence[Shape]) -> None:
        """Add lines of a plan, each to the batch of its shape, and launch those that are full."""
        for shape in sorted(set(shapes)):
            numbers = np.array([n for n, other in enumerate(shapes) if other == shape])
            there = self._waiting.setdefault(shape, [])
            there.append(Piece(plan, lines, numbers))
            while self._fullness(shape) >= 1:
                self.launch(_first(there, shape.rows), shape)
            if not there:
                del self._waiting[shape]

    @property
    def fullness(self) -> float:
        """The proportion of rows of the fullest batch that waits; 0 where none does."""
        return max(map(self._fullness, self._waiting), default=0.0)

    def flush(self) -> None:
        """Launch the fullest batch that waits."""
        fullest = max(self._waiting, key=lambda shape: (self._fullness(shape), shape))
        self.launch(self._waiting.pop(fullest), fullest)

    def _fullness(self, shape: Shape) -> float:
        return sum(len(piece.numbers) for piece in self._waiting[shape]) / shape.rows

    def forget(self) -> None:
        """Drop what waits, after an error."""
        self._waiting = {}


def _first(pieces: list[Piece[AnyPlan]], rows: int) -> list[Piece[AnyPlan]]:
    """Take the first lines out of some pieces."""
    taken: list[Piece[AnyPlan]] = []
    while rows:
        piece = pieces.pop(0)
        if len(piece.numbers) > rows:
            pieces.insert(0, Piece(piece.plan, piece.lines, piece.numbers[rows:]))
            piece = Piece(piece.plan, piece.lines, piece.numbers[:rows])
        taken.append(piece)
        rows -= len(piece.numbers)
    return taken


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as arrays, before it goes to the device.

    Attributes:
        fields: token ids, and for trees the depths and ends of nodes; shape (fields, rows, width).
        lengths: number of tokens of each row; 1 for a row that nobody reads.
        asks: the requests, with their numbers as slots.
    """

    fields: Integers
    lengths: Integers
    asks: Asks

    @classmethod
    def of(cls, pieces: Sequence[Piece[AnyPlan]], shape: Shape, *, padding: int) -> Batch:
        """The batch of some lines.

        Args:
            pieces: the lines, at most as many as the shape has rows.
            shape: the shape.
            padding: the token id that fills up rows.
        """
        is_tree = pieces[0].lines.ends is not None
        rows, width = shape
        fields = np.zeros((3 if is_tree else 1, rows, width), dtype=np.int64)
        fields[0] = padding
        if is_tree:
            # A padding node sees itself, because a softmax over nothing is NaN.
            fields[2] = np.arange(1, width + 1)
        flat = fields.reshape(len(fields), -1)
        lengths = np.ones(rows, dtype=np.int64)
        asked: list[Asks] = []
        line = slot = 0
        for piece in pieces:
            lines, numbers = piece.lines, piece.numbers
            own = np.arange(line, line + len(numbers))
            counts = lines.lengths[numbers]
            source = stretches(lines.offsets[numbers], counts)
            place = stretches(own * width, counts)
            for name, values in enumerate((lines.tokens, lines.depths, lines.ends)):
                if values is not None:
                    flat[name, place] = values[source]
            lengths[own] = counts
            wanted = np.diff(lines.asked)[numbers]
            asks = stretches(lines.asked[numbers], wanted)
            asked.append(
                Asks(
                    np.repeat(own * width, wanted) + lines.rows[asks],
                    lines.targets[asks],
                    np.arange(slot, slot + len(asks)),
                )
            )
            line, slot = line + len(numbers), slot + len(asks)
        parts = zip(*((some.rows, some.targets, some.places) for some in asked), strict=True)
        return cls(fields, lengths, Asks(*map(np.concatenate, parts)))


def give_out(pieces: Sequence[Piece[AnyPlan]], values: FloatArray) -> None:
    """Write the scores of a batch into the plans that they belong to."""
    done = 0
    for piece in pieces:
        slots = piece.slots
        piece.plan.values[slots] = values[done : done + len(slots)]
        piece.plan.waiting -= len(piece.numbers)
        done += len(slots)


def on_device(fields: Integers, device: torch.device) -> torch.Tensor:
    """An array on a device; the copy to a GPU does not wait for what the GPU is doing."""
    tensor = torch.from_numpy(fields)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


@dataclass(frozen=True, slots=True)
class FixedShapes:
    """The few shapes of batches on a GPU.

    Attributes:
        limits: the limits of a batch.
        tree_nodes: largest number of nodes of a tree.
        window: longest sequence that the model reads; None without a limit.
    """

    limits: BatchLimits
    tree_nodes: int
    window: int | None = None

    def of_trees(self, lengths: Integers, *, members: int) -> list[Shape]:
        """The shapes for the trees of a unit.

        The widest are most, and fill batches of the limit; the others are the last of their unit.

        Args:
            lengths: number of nodes of each tree.
            members: number of texts of the tree with most.
        """
        widest = stepped(self.tree_nodes, is_tree=True)
        widths = [stepped(length, is_tree=True) for length in lengths.tolist()]
        return [self._shape(width, members, is_small=width < widest) for width in widths]

    def of_texts(self, lengths: Integers, *, pads: bool) -> list[Shape]:
        """The shapes for the texts of a unit, or for masked copies of them.

        Args:
            lengths: number of tokens of each.
            pads: whether texts of different lengths may share a batch.
        """
        is_small = self.limits.tokens is not None and 2 * lengths.sum() < self.limits.tokens
        longest = self.window or sys.maxsize
        widths = [
            max(length, min(stepped(length, is_tree=False), longest)) if pads else length
            for length in lengths.tolist()
        ]
        return [self._shape(width, 1, is_small=is_small) for width in widths]

    def _shape(self, width: int, members: int, *, is_small: bool) -> Shape:
        limits, rows = self.limits, width
        if limits.tokens is not None:
            rows = limits.tokens // (SMALL if is_small else 1) // width
        if limits.sequences is not None:
            most = limits.sequences // members
            rows = most if limits.tokens is None else min(rows, most)
        return Shape(max(1, rows), width)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """The way in which texts go through a model.

    Attributes:
        model: the model in evaluation mode, on its device.
        layout: the layout that the model allows.
        limits: the limits of a batch.
        window: longest sequence that the model reads; None without a limit.
        padding: the token id that fills up rows.
    """

    model: PreTrainedModel
    layout: ModelLayout
    limits: BatchLimits
    window: int | None = None
    padding: int = 0

    def shapes(self, *, tree_nodes: int) -> FixedShapes | None:
        """The shapes of batches; None on a CPU, where every batch may have its own."""
        if self.model.device.type == "cpu":
            return None
        return FixedShapes(self.limits, tree_nodes, self.window)

    def inputs(self, batch: Batch) -> dict[str, torch.Tensor]:
        """The inputs of a pass over texts: ids and, if texts may be padded, the attention mask."""
        device = self.model.device
        (ids,) = on_device(batch.fields, device)
        if not self.layout.pad:
            return {"input_ids": ids}
        places = torch.arange(ids.shape[1], device=device)
        mask = places < on_device(batch.lengths, device)[:, None]
        return {"input_ids": ids, "attention_mask": mask.long()}


class Reader(Protocol[AnyPlan]):
    """The protocol of a way of scoring in which lines of several plans share batches."""

    @property
    def fillings(self) -> Sequence[Filling[AnyPlan]]:
        """The batches that wait until they are full."""

    def add(self, plan: AnyPlan) -> None:
        """Put the lines of a plan into batches, and score those that are full."""


def carry_out(reader: Reader[AnyPlan], plan: AnyPlan) -> None:
    """Score the lines of a plan, which share their batches with no others."""
    try:
        reader.add(plan)
        while not plan.done:
            flush_fullest(reader.fillings)
    finally:
        for filling in reader.fillings:
            filling.forget()


def flush_fullest(fillings: Sequence[Filling[AnyPlan]]) -> None:
    """Launch the fullest batch that waits anywhere."""
    max(fillings, key=lambda filling: filling.fullness).flush()


def by_text(texts: EncodedTexts, values: FloatArray) -> list[FloatArray]:
    """The scores of each text, as views of the scores of all wanted tokens in their order."""
    before = np.concatenate(([0], np.cumsum(texts.wanted)))
    ends = before[texts.offsets].tolist()
    return [values[start:end] for start, end in pairwise(ends)]


def even_batches(lines: int, *, fitting: int) -> Iterator[tuple[int, int]]:
    """The begins and ends of batches of like numbers, of at most `fitting` lines each.

    A small batch is slower per line than a large one.
    """
    count = -(-lines // fitting)
    yield from pairwise([lines * number // count for number in range(count + 1)])
