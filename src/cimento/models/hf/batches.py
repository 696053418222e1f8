"""Batches: which sequences share one, what is asked of it, and what is done without memory for it.

Where memory runs out the batch is halved, and so are all later ones, instead of an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import torch

from cimento.errors import ModelError
from cimento.models.base import BatchLimits

if TYPE_CHECKING:
    from cimento.models.base import Encoded, FloatArray

IntArray: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"

Inputs: TypeAlias = Mapping[str, torch.Tensor]

_MESSAGES = ("out of memory", "can't allocate memory", "defaultcpuallocator", "alloc_failed")
"""What devices say: MPS and older CUDA, the CPU (twice), cuBLAS."""

_MEMORIES: WeakKeyDictionary[torch.nn.Module, Memory] = WeakKeyDictionary()


class ScoreBuffer:
    """The scores of some texts, written down in one array.

    Attributes:
        values: NaN where nothing was written yet; shape (slots,), or (slots, 1 + columns).
        starts: the first slot of each text.

    Args:
        encoded: the texts; each has a slot for every token that is wanted.
        columns: how many numbers are wanted besides log-probabilities.
    """

    def __init__(self, encoded: Sequence[Encoded], *, columns: int = 0) -> None:
        ends = np.cumsum([0, *(len(text.wanted) for text in encoded)]).tolist()
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
        places: slot of the buffer that each goes to.
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
        np.concatenate([some.rows for some in asks]),
        np.concatenate([some.targets for some in asks]),
        np.concatenate([some.places for some in asks]),
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

    def add_following(self, text: Encoded, rows: Sequence[int], *, first_slot: int) -> None:
        """Ask for the wanted tokens of a text, each at the position before it.

        A first token that is wanted has none before it and is not asked for.

        Args:
            text: which.
            rows: where each of its tokens stands in the batch.
            first_slot: of the text.
        """
        wanted = text.wanted[1:] if text.wanted[:1] == (0,) else text.wanted
        end = first_slot + len(text.wanted)
        self.rows += [rows[index - 1] for index in wanted]
        self.targets += [text.ids[index] for index in wanted]
        self.places += range(end - len(wanted), end)

    def done(self) -> Asks:
        """What was gathered."""
        return Asks(
            *(np.array(some, dtype=np.int64) for some in (self.rows, self.targets, self.places))
        )


class DoesNotFitError(ModelError):
    """A single row of tokens is more than the device's memory holds."""


class Memory:
    """What is known of the memory that a model has: how large a batch may be.

    Attributes:
        budget: padded positions of the largest batch that is tried; None while all have fitted.
    """

    def __init__(self) -> None:
        self.budget: int | None = None
        self._refused = 0

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know of it, as sentences."""
        if self.budget is None:
            return ()
        remark = (
            f"memory did not hold a batch of {self._refused} tokens, so that batches of at most"
            f" {self.budget} were made (--batch-tokens {self.budget} begins with them)"
        )
        return (remark,)

    def spend(self, inputs: Inputs, asks: Asks, work: Callable[[Inputs, Asks], None]) -> None:
        """Do `work` on a batch, or on parts of it that fit.

        Args:
            inputs: tensors with a row for each line of the batch.
            asks: what is asked of it, by position in the flattened batch.
            work: may be done twice for a part, and must then do the same.

        Raises:
            DoesNotFitError: not even one line fits.
        """
        waiting = [(inputs, asks)]
        while waiting:
            some, wanted = waiting.pop()
            if not len(wanted):
                continue
            lines, width = some["input_ids"].shape
            tried = self.budget is None or lines == 1 or lines * width <= self.budget
            if tried and fits(partial(work, some, wanted)):
                continue
            if tried:
                self._refuse(lines, width, device=some["input_ids"].device)
            waiting += _halves(some, wanted)[::-1]

    def _refuse(self, lines: int, width: int, *, device: torch.device) -> None:
        self._refused = max(self._refused, lines * width)
        self.budget = lines * width // 2
        _give_back(device)
        if lines == 1:
            raise DoesNotFitError(
                where=f"device {device}",
                seen=f"its memory does not hold one row of {width} tokens",
                todo="Free some, use another device, or a narrower --dtype.",
            )


def memory_of(model: torch.nn.Module) -> Memory:
    """The one record of a model's memory, whichever way its texts go."""
    return _MEMORIES.setdefault(model, Memory())


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory ran out; each kind of device has its own way."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    message = str(error).lower()
    return isinstance(error, RuntimeError) and any(said in message for said in _MESSAGES)


def fits(work: Callable[[], None]) -> bool:
    """Do it; False where memory ran out. Only on return is what the error held free again."""
    try:
        work()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        return False
    return True


def smaller(rows: int, *, device: torch.device) -> int:
    """How many rows of logits are tried next where memory did not hold so many.

    Raises:
        DoesNotFitError: there was but one.
    """
    _give_back(device)
    if rows == 1:
        raise DoesNotFitError(
            where=f"device {device}",
            seen="its memory does not hold the scores of all words at one position",
            todo="Free some, use another device, or a narrower --dtype.",
        )
    return rows // 2


def _halves(inputs: Inputs, asks: Asks) -> list[tuple[Inputs, Asks]]:
    """The first lines of a batch and the others, each with what is asked of it."""
    lines, width = inputs["input_ids"].shape
    middle = (lines + 1) // 2
    return [
        (
            {name: value[start:end] for name, value in inputs.items()},
            asks.between(start * width, end * width),
        )
        for start, end in ((0, middle), (middle, lines))
    ]


def _give_back(device: torch.device) -> None:
    """Have the allocator return what it holds and does not use."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def batches(
    lengths: Sequence[int], *, limits: BatchLimits, mixed: bool = True
) -> Iterator[list[int]]:
    """Group sequences so that each padded batch keeps to the limits.

    Sequences are taken from the longest down, so that neighbours are of like length and an
    out-of-memory error comes first and not last. A batch that holds half of the tokens it may
    ends where the length changes, so that sequences of which there are many are not padded: a
    fuller batch gains less. One sequence longer than the limit is a batch of its own. The grouping
    depends on the lengths alone.

    Args:
        lengths: of the sequences, in tokens.
        limits: of a batch.
        mixed: whether sequences of different length may share a batch.

    Yields:
        Indices into `lengths`.
    """
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    batch: list[int] = []
    for index in order:
        longest = lengths[batch[0]] if batch else 0
        rows = len(batch) + 1
        full = not limits.allow(rows=rows, width=longest, sequences=rows)
        half = limits.tokens is not None and longest * len(batch) * 2 >= limits.tokens
        if batch and (full or ((half or not mixed) and lengths[index] != longest)):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
