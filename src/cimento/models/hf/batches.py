"""Batches: grouping of sequences, values requested of a batch, and recovery from lack of memory.

If memory runs out, the batch and all later ones are halved, so that the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import torch

from cimento.models.hf.room import DoesNotFitError, give_back, is_out_of_memory
from cimento.models.settings import BatchLimits

if TYPE_CHECKING:
    from cimento.models.base import Encoding, FloatArray

IntArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"

Inputs: TypeAlias = Mapping[str, torch.Tensor]

_MEMORIES: WeakKeyDictionary[torch.nn.Module, Memory] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One pass of an interchange: a sequence, the one that states come from, and what is read.

    Attributes:
        ids: token ids of the sequence that is fed.
        source: token ids of the sequence that states come from.
        moved: pairs of positions, in `ids` and in `source`.
        asks: position that predicts, id of the predicted token, and its number among the measured
            tokens.
        around: token ids that an encoder reads before both; empty without an encoder.
    """

    ids: tuple[int, ...]
    source: tuple[int, ...]
    moved: tuple[tuple[int, int], ...] = ()
    asks: tuple[tuple[int, int, int], ...] = ()
    around: tuple[int, ...] = ()


class ScoreBuffer:
    """A buffer for the scores of some texts in one array.

    Attributes:
        values: scores of shape (slots,) or (slots, 1 + columns); NaN until they are written.
        starts: the first slot of each text.

    Args:
        encoded: the texts, each with a slot for every wanted token.
        columns: number of values wanted besides log-probabilities.
    """

    def __init__(self, encoded: Sequence[Encoding], *, columns: int = 0) -> None:
        ends = np.cumsum([0, *(len(text.wanted) for text in encoded)]).tolist()
        width = (1 + columns,) if columns else ()
        self.starts: list[int] = ends[:-1]
        self._ends: list[int] = ends[1:]
        self.values: FloatArray = np.full((ends[-1], *width), np.nan)

    def by_text(self) -> list[FloatArray]:
        """The scores of each text, as views of `values`."""
        return [self.values[start:end] for start, end in zip(self.starts, self._ends, strict=True)]


@dataclass(frozen=True, slots=True)
class Asks:
    """The log-probabilities requested of a batch.

    Attributes:
        rows: index of the predicting position of each, among the flattened (batch * length) ones.
        targets: id of each predicted token.
        places: slot of the buffer for each score.
    """

    rows: IntArray
    targets: IntArray
    places: IntArray

    def __len__(self) -> int:
        return len(self.rows)

    def between(self, start: int, end: int) -> Asks:
        """The requests at the rows from `start` to `end`, with rows counted from `start`."""
        chosen = (self.rows >= start) & (self.rows < end)
        return Asks(self.rows[chosen] - start, self.targets[chosen], self.places[chosen])

    def by_line(self) -> tuple[IntArray, Asks]:
        """The distinct rows, ascending, and the requests with rows numbered among these."""
        rows, lines = np.unique(self.rows, return_inverse=True)
        return rows, Asks(lines, self.targets, self.places)

    def later(self, rows: int) -> Asks:
        """The requests with all rows shifted by a number."""
        return Asks(self.rows + rows, self.targets, self.places)


def joined_asks(asks: Sequence[Asks]) -> Asks:
    """Several lists of requests joined into one."""
    return Asks(
        np.concatenate([some.rows for some in asks]),
        np.concatenate([some.targets for some in asks]),
        np.concatenate([some.places for some in asks]),
    )


@dataclass(slots=True)
class AskList:
    """A builder of `Asks`."""

    rows: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def add(self, row: int, target: int, place: int) -> None:
        """Add the request for one token."""
        self.rows.append(row)
        self.targets.append(target)
        self.places.append(place)

    def add_following(self, text: Encoding, rows: Sequence[int], *, first_slot: int) -> None:
        """Add requests for the wanted tokens of a text, each predicted at the position before it.

        A first token has no position before it and is not requested.

        Args:
            text: the text.
            rows: the row of each of its tokens in the batch.
            first_slot: first slot of the text.
        """
        wanted = text.wanted[1:] if text.wanted[:1] == (0,) else text.wanted
        end = first_slot + len(text.wanted)
        self.rows += [rows[index - 1] for index in wanted]
        self.targets += [text.ids[index] for index in wanted]
        self.places += range(end - len(wanted), end)

    def done(self) -> Asks:
        """The gathered requests."""
        return Asks(
            *(np.array(some, dtype=np.int64) for some in (self.rows, self.targets, self.places))
        )


def asks_of(trials: Iterable[tuple[Trial, int]], inputs: Inputs) -> Asks:
    """The values read from a batch of trials, one in each row.

    Args:
        trials: trials, each with the slot of its first measured token.
        inputs: inputs of the batch.
    """
    width = inputs["input_ids"].shape[1]
    asks = AskList()
    for line, (trial, first_slot) in enumerate(trials):
        for position, token, slot in trial.asks:
            asks.add(line * width + position, token, first_slot + slot)
    return asks.done()


class Memory:
    """The experience with a model's memory, which limits the size of batches.

    Attributes:
        budget: number of padded positions of the largest batch tried; None while all have fitted.
    """

    def __init__(self) -> None:
        self.budget: int | None = None
        self._refused = 0
        self._refused_rows = 0

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on memory for the user, as sentences."""
        remarks = []
        if self.budget is not None:
            remarks.append(
                f"memory did not hold a batch of {self._refused} tokens, so that batches of at most"
                f" {self.budget} were made (--batch-tokens {self.budget} begins with them)"
            )
        if self._refused_rows:
            remarks.append(
                f"memory did not hold the scores of all words at {self._refused_rows} positions, so"
                " that they were computed at fewer positions at once"
            )
        return tuple(remarks)

    def refuse_rows(self, rows: int) -> None:
        """Note that the scores of all words at a number of positions did not fit."""
        self._refused_rows = max(self._refused_rows, rows)

    def spend(self, inputs: Inputs, asks: Asks, work: Callable[[Inputs, Asks], None]) -> None:
        """Do `work` on a batch, or on parts of it that fit.

        Args:
            inputs: tensors with a row for each line of the batch.
            asks: the requests, by position in the flattened batch.
            work: the work, which must be repeatable, since a part may be done twice.

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
        give_back(device)
        if lines == 1:
            raise DoesNotFitError(device, f"one row of {width} tokens")


def memory_of(model: torch.nn.Module) -> Memory:
    """The memory record of a model, shared by all ways of scoring."""
    return _MEMORIES.setdefault(model, Memory())


def fits(work: Callable[[], None]) -> bool:
    """Do some work; returns False if memory ran out.

    The memory that the error refers to is free only after the return.
    """
    try:
        work()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        return False
    return True


def smaller(rows: int, *, device: torch.device) -> int:
    """The number of rows of logits to try next after a number did not fit in memory.

    Raises:
        DoesNotFitError: there was only one row.
    """
    give_back(device)
    if rows == 1:
        raise DoesNotFitError(device, "the scores of all words at one position")
    return rows // 2


def _halves(inputs: Inputs, asks: Asks) -> list[tuple[Inputs, Asks]]:
    """The two halves of a batch, each with its requests."""
    lines, width = inputs["input_ids"].shape
    middle = (lines + 1) // 2
    return [
        (
            {name: value[start:end] for name, value in inputs.items()},
            asks.between(start * width, end * width),
        )
        for start, end in ((0, middle), (middle, lines))
    ]


def batches(
    lengths: Sequence[int], *, limits: BatchLimits, mixed: bool = True
) -> Iterator[list[int]]:
    """Group sequences so that each padded batch is within the limits.

    Sequences are taken in order of decreasing length, so that neighbors have similar lengths and
    lack of memory shows at the beginning. A batch that is at least half full ends where the length
    changes, because padding costs more than a fuller batch gains. A sequence longer than the limit
    forms a batch alone. The grouping depends on the lengths alone.

    Args:
        lengths: lengths of the sequences, in tokens.
        limits: the limits of a batch.
        mixed: whether sequences of different lengths may share a batch.

    Yields:
        The indices into `lengths` of each batch.
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
