"""A copy in float32 of a model in half precision, to see what its number format does to scores."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch

from cimento.models.hf.room import free_bytes, room_for

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_FLOAT32_BYTES = 4
_SPARE = 1.25
"""The free memory that is asked for, as a multiple of what the copy needs."""


def in_float32(model: PreTrainedModel) -> PreTrainedModel | None:
    """A copy of a model with its weights in float32, on the same device.

    It is None where the memory does not hold the copy, and for models that cannot be copied so:
    those with quantized weights, and those spread over several devices.

    Raises:
        DoesNotFitError: memory ran out nevertheless.
    """
    if getattr(model.config, "quantization_config", None) is not None:
        return None
    weights = list(model.parameters())
    devices = {tensor.device for tensor in weights}
    # Weights are copied as they are before they are widened.
    needed = sum(tensor.numel() * (tensor.itemsize + _FLOAT32_BYTES) for tensor in weights)
    free = free_bytes(next(iter(devices)))
    if len(devices) != 1 or free is None or needed * _SPARE > free:
        return None
    with room_for("the weights in float32", next(iter(devices)), needed_bytes=needed):
        copied: Any = copy.deepcopy(model)
        wide: PreTrainedModel = copied.float()
    return wide


def device_name(device: torch.device) -> str:
    """The name of a kind of device, such as that of a GPU's model."""
    if device.type != "cuda":
        return device.type
    return torch.cuda.get_device_name(device)
