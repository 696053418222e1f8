"""A copy in float32 of a model in half precision, to see what its number format does to scores."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_FLOAT32_BYTES = 4
_SPARE = 1.25
"""The free memory that is asked for, as a multiple of what the copy needs."""


def in_float32(model: PreTrainedModel) -> PreTrainedModel | None:
    """A copy of a model with its weights in float32, on the same device.

    It is None where the memory does not hold the copy, and for models that cannot be copied so:
    those with quantized weights, and those spread over several devices.
    """
    if getattr(model.config, "quantization_config", None) is not None:
        return None
    devices = {tensor.device for tensor in model.parameters()}
    if len(devices) != 1 or not _has_room(model, devices.pop()):
        return None
    try:
        return copy.deepcopy(model).float()
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return None


def device_name(device: torch.device) -> str:
    """The name of a kind of device, such as that of a GPU's model."""
    if device.type != "cuda":
        return device.type
    return torch.cuda.get_device_name(device)


def _has_room(model: PreTrainedModel, device: torch.device) -> bool:
    # Weights are copied as they are before they are widened.
    needed = sum(
        tensor.numel() * (tensor.itemsize + _FLOAT32_BYTES) for tensor in model.parameters()
    )
    if device.type == "cuda":
        free = torch.cuda.mem_get_info(device)[0]
    else:
        try:
            free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):  # only Linux says how much is free
            return False
    return needed * _SPARE < free
