"""The digest of a model's weights: its revision, if it was not read from files.

A digest of 16 GB takes seconds, so it is remembered for as long as the weights stay the same. That
is not taken on trust: the place and version of each tensor must be unchanged, and so must the sum
of its bits, which a GPU has in milliseconds. (Versions alone miss what is written through
``tensor.data``.)
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import torch

PIECE_BYTES = 64 * 2**20
"""Size of the pieces that are hashed side by side."""


class TensorState(NamedTuple):
    """The state of a tensor as far as it can be told without reading it on the CPU.

    Attributes:
        name: name of the tensor in the model.
        place: address of its first element.
        version: number of changes that torch has seen; None where it counts none.
        bits: sum of its elements, read as whole numbers.
    """

    name: str
    place: int
    version: int | None
    bits: int


_DIGESTS: WeakKeyDictionary[torch.nn.Module, tuple[tuple[TensorState, ...], str]] = (
    WeakKeyDictionary()
)


def weights_digest(model: torch.nn.Module) -> str:
    """A hash of all weights and buffers of a model with their names, hexadecimal.

    Args:
        model: the model, on any device.
    """
    tensors = sorted(model.state_dict().items())
    state = _state_of(tensors)
    digest = _known_digest(model, state)
    if digest is None:
        digest = _digest(tensors)
        _DIGESTS[model] = state, digest
    return digest


def _known_digest(model: torch.nn.Module, state: tuple[TensorState, ...]) -> str | None:
    """The digest that was made of a model in this state; None if none was."""
    known = _DIGESTS.get(model)
    return known[1] if known is not None and known[0] == state else None


def passing_digest(model: torch.nn.Module) -> str:
    """A hash of a model's names, shapes and sums of bits, for answers that nobody keeps.

    It tells one model from another within a process in a fraction of the time, but it is not proof
    of equal weights. If `weights_digest` is known, it is that.

    Args:
        model: the model, on any device.
    """
    tensors = sorted(model.state_dict().items())
    state = _state_of(tensors)
    known = _known_digest(model, state)
    if known is not None:
        return known
    parts = [
        f"{name} {tensor.dtype} {tuple(tensor.shape)} {tensor_state.bits}"
        for (name, tensor), tensor_state in zip(tensors, state, strict=True)
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _digest(tensors: list[tuple[str, torch.Tensor]]) -> str:
    digest = hashlib.sha256()
    threads = min(16, os.cpu_count() or 1)
    with ThreadPoolExecutor(threads, thread_name_prefix="cimento-digest") as pool:
        hashed = [
            (f"{name} {tensor.dtype} {tuple(tensor.shape)}", pool.submit(_hash, piece))
            for name, tensor in tensors
            for piece in _pieces(tensor)
        ]
        for written, part in hashed:
            digest.update(written.encode())
            digest.update(part.result())
    return digest.hexdigest()


def _pieces(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The bytes of a tensor in pieces, at least one, on its device."""
    import torch

    flat = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    for start in range(0, max(1, len(flat)), PIECE_BYTES):
        yield flat[start : start + PIECE_BYTES]


def _hash(piece: torch.Tensor) -> bytes:
    # hashlib reads the memory itself and lets other threads compute meanwhile.
    return hashlib.sha256(piece.cpu().numpy().data).digest()


def _state_of(tensors: list[tuple[str, torch.Tensor]]) -> tuple[TensorState, ...]:
    import torch

    sums = [_bits(tensor.detach()) for _, tensor in tensors]
    by_device: dict[torch.device, list[int]] = {}
    for number, total in enumerate(sums):
        by_device.setdefault(total.device, []).append(number)
    values = [0] * len(sums)
    for numbers in by_device.values():
        # A GPU is waited for once, and not for each tensor.
        stacked = torch.stack([sums[number] for number in numbers]).tolist()
        for number, value in zip(numbers, stacked, strict=True):
            values[number] = value
    return tuple(
        TensorState(
            name,
            tensor.data_ptr(),
            None if tensor.is_inference() else tensor._version,  # noqa: SLF001  # as torch documents it
            value,
        )
        for (name, tensor), value in zip(tensors, values, strict=True)
    )


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """The sum of a tensor's bytes, read as whole numbers of 64 bits where there are so many."""
    import torch

    flat = tensor.contiguous().reshape(-1).view(torch.uint8)
    aligned = len(flat) // 8 * 8 if flat.storage_offset() % 8 == 0 else 0
    words = flat[:aligned].view(torch.int64).sum()
    return words + flat[aligned:].sum(dtype=torch.int64)
