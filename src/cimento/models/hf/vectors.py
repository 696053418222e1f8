"""Vectors of sentences: the mean of a model's hidden states over the tokens of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from cimento.errors import UsageError
from cimento.models.hf.scorer import Inside

if TYPE_CHECKING:
    from cimento.models.base import FloatArray

_AT_ONCE = 32


def sentence_vectors(inside: Inside, texts: Sequence[str], *, layer: int = -1) -> FloatArray:
    """The vector of each text: the mean of its tokens' hidden states, special tokens left out.

    Args:
        inside: the parts of a loaded model; of an encoder-decoder it is the decoder, which says
            nothing of a text alone.
        texts: the texts.
        layer: 0 for the embeddings, 1 for the first layer; -1 for the last.

    Returns:
        An array of texts by dimensions, float64.

    Raises:
        UsageError: the model has no such layer, or is an encoder-decoder.
    """
    if getattr(inside.model.config, "is_encoder_decoder", False):
        raise UsageError(
            where="sentence vectors",
            seen="the model is an encoder-decoder",
            todo="Give a causal or a masked model.",
        )
    rows = [
        _vectors(inside, texts[begin : begin + _AT_ONCE], layer)
        for begin in range(0, len(texts), _AT_ONCE)
    ]
    return np.concatenate(rows)


def _vectors(inside: Inside, texts: Sequence[str], layer: int) -> FloatArray:
    encoded = [
        inside.tokenizer(text, return_special_tokens_mask=True, return_attention_mask=False)
        for text in texts
    ]
    width = max(len(one["input_ids"]) for one in encoded)
    ids = torch.zeros(len(texts), width, dtype=torch.long)
    attended, counted = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.float64)
    for row, one in enumerate(encoded):
        size = len(one["input_ids"])
        ids[row, :size] = torch.tensor(one["input_ids"])
        attended[row, :size] = 1
        plain = 1.0 - torch.tensor(one["special_tokens_mask"], dtype=torch.float64)
        counted[row, :size] = plain if bool(plain.any()) else 1.0
    device = inside.model.device
    with torch.inference_mode():
        states = inside.model(
            input_ids=ids.to(device), attention_mask=attended.to(device), output_hidden_states=True
        ).hidden_states
    if not -len(states) <= layer < len(states):
        raise UsageError(
            where=f"layer {layer}",
            seen=f"the model has {len(states) - 1} layers",
            todo="Give 0 for the embeddings, a number up to that, or -1 for the last.",
        )
    chosen = states[layer].to("cpu", torch.float64)
    weights = counted / counted.sum(dim=1, keepdim=True)
    means: FloatArray = (chosen * weights[:, :, None]).sum(dim=1).numpy()
    return means
