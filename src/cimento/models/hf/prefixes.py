"""Prefixes: keys and values of the tokens before an interchange, which all of its layers share.

In a causal model nothing before the exchanged tokens changes, so that a pass may begin at these,
with the keys and values that the layers had for everything before in the plain pass. They are the
model's own cache of generation, recorded and given back; a model that has none, or whose scores it
changes, is passed whole sequences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Cached: TypeAlias = tuple[tuple[torch.Tensor, torch.Tensor], ...]
"""The keys and values of a sequence by layer, each of shape (heads, length, size)."""

TOGETHER = 4
"""Prefixes are as long as a multiple of this, so that more passes share a batch."""

_LENGTH = -2


def recorded(
    model: PreTrainedModel, inputs: Mapping[str, torch.Tensor], lengths: Sequence[int]
) -> list[Cached]:
    """The keys and values of each sequence of a batch, from a pass of the model.

    Args:
        model: a causal model.
        inputs: arguments of its forward pass.
        lengths: number of tokens of each sequence.
    """
    from transformers import DynamicCache

    cache = DynamicCache()
    model(**inputs, past_key_values=cache, use_cache=True)
    kept: Sequence[Any] = cache.layers
    layers = [(layer.keys, layer.values) for layer in kept]
    width = inputs["input_ids"].shape[1]
    if not layers or any(part.shape[_LENGTH] != width for layer in layers for part in layer):
        raise ValueError("the cache does not have the keys and values of all tokens")
    return [
        tuple((keys[line, :, :length], values[line, :, :length]) for keys, values in layers)
        for line, length in enumerate(lengths)
    ]


def after_prefix(
    inputs: Mapping[str, torch.Tensor], cached: Sequence[Cached], length: int
) -> dict[str, Any]:
    """The arguments of a pass over what follows prefixes of one length.

    Args:
        inputs: arguments of a pass over the rest of each sequence.
        cached: the keys and values of each sequence.
        length: number of tokens of the prefixes.
    """
    from transformers import DynamicCache

    parts = [
        tuple(torch.stack([one[layer][part][:, :length] for one in cached]) for part in (0, 1))
        for layer in range(len(cached[0]))
    ]
    arguments: dict[str, Any] = {
        **inputs, "past_key_values": DynamicCache(parts), "use_cache": True
    }  # fmt: skip
    mask = inputs.get("attention_mask")
    if mask is not None:
        before = mask.new_ones((len(mask), length))
        arguments["attention_mask"] = torch.cat([before, mask], dim=1)
    return arguments
