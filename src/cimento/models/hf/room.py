"""Lack of memory on a device, as one message with sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from cimento.errors import ModelError
from cimento.records.usage import gigabytes

_MESSAGES = ("out of memory", "can't allocate memory", "defaultcpuallocator", "alloc_failed")
"""Messages of devices without memory: MPS and older CUDA, the CPU (twice), cuBLAS."""

_ASKED = re.compile(
    r"(?:tried to allocate|unable to allocate) (?P<number>[0-9.]+) ?(?P<unit>[KMGT]iB|bytes|$)",
    re.IGNORECASE,
)
_UNITS = {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_MEMINFO = Path("/proc/meminfo")
_AVAILABLE = re.compile(r"^MemAvailable:\s+([0-9]+) kB$", re.MULTILINE)


SMALLER = "; --batch-tokens or --batch-size make batches smaller"
"""Advice where a batch did not fit."""


class DoesNotFitError(ModelError):
    """The error of the least that must fit the device's memory and does not.

    Args:
        device: the device.
        what: what its memory does not hold.
        needed_bytes: size of that; None where it is not known.
        todo: what to do besides using another device or a narrower number format.
    """

    def __init__(
        self,
        device: torch.device,
        what: str,
        *,
        needed_bytes: int | None = None,
        todo: str = "",
    ) -> None:
        sizes = {"needed": needed_bytes, "free": free_bytes(device)}
        known = ", ".join(
            f"{gigabytes(size)} {name}" for name, size in sizes.items() if size is not None
        )
        super().__init__(
            where=f"device {device}",
            seen=f"its memory does not hold {what}" + (f" ({known})" if known else ""),
            todo="Free some, use another --device or a narrower --dtype such as bfloat16, or put"
            f" the model on several with --model-args device_map=auto{todo}.",
        )


def free_bytes(device: torch.device) -> int | None:
    """The free memory of a device; None where it cannot be known."""
    try:
        if device.type == "cuda":
            return int(torch.cuda.mem_get_info(device)[0])
        if device.type == "mps":
            taken = torch.mps.driver_allocated_memory()
            return max(0, torch.mps.recommended_max_memory() - taken)
        match = _AVAILABLE.search(_MEMINFO.read_text("utf-8")) if device.type == "cpu" else None
    # A GPU that is full may not even say so.
    except (OSError, RuntimeError, AssertionError, ValueError):
        return None
    return int(match[1]) * 1024 if match else None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error reports lack of memory, for any kind of device."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    message = str(error).lower()
    return isinstance(error, RuntimeError) and any(said in message for said in _MESSAGES)


def asked_bytes(error: BaseException) -> int | None:
    """The number of bytes that could not be allocated, as far as an error says it."""
    match = _ASKED.search(str(error))
    if match is None or match["number"].count(".") > 1 or match["number"] == ".":
        return None
    return int(float(match["number"]) * _UNITS.get(match["unit"].lower(), 1))


@contextmanager
def room_for(
    what: str, device: torch.device, *, needed_bytes: int | None = None, todo: str = ""
) -> Iterator[None]:
    """A context in which lack of memory is a `DoesNotFitError`.

    Args:
        what: what is put into memory.
        device: the device.
        needed_bytes: its size; None to say what could not be allocated.
        todo: as for `DoesNotFitError`.

    Raises:
        DoesNotFitError: memory ran out.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        needed = asked_bytes(error) if needed_bytes is None else needed_bytes
        raise DoesNotFitError(device, what, needed_bytes=needed, todo=todo) from error


def give_back(device: torch.device) -> None:
    """Have the allocator release memory that it holds and does not use."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()
