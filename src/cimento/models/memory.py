"""Running out of memory: the batch is halved, and so are all later ones, instead of an end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

import torch

from cimento.errors import ModelError

if TYPE_CHECKING:
    from cimento.models.asks import Asks

Inputs: TypeAlias = Mapping[str, torch.Tensor]

_MESSAGES = ("out of memory", "can't allocate memory", "defaultcpuallocator", "alloc_failed")
"""What devices say: MPS and older CUDA, the CPU (twice), cuBLAS."""


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


_MEMORIES: WeakKeyDictionary[torch.nn.Module, Memory] = WeakKeyDictionary()


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
    edge = middle * width
    return [
        (
            {name: value[:middle] for name, value in inputs.items()},
            asks.between(0, edge),
        ),
        (
            {name: value[middle:] for name, value in inputs.items()},
            asks.between(edge, lines * width),
        ),
    ]


def _give_back(device: torch.device) -> None:
    """Have the allocator return what it holds and does not use."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()
