"""How often a model prefers the grammatical word of a pair: a small scorer of the script's own.

It shares no code with the package, so that each can be checked against the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from demo.items import Pair

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def accuracy(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[Pair],
    *,
    masked: bool,
) -> float:
    """Share of pairs in which the word that agrees is more probable; ties are not wins."""
    score = _masked_logprob if masked else _causal_logprob
    wins = 0
    for pair in pairs:
        good = score(model, tokenizer, pair.good, pair.target(pair.good))
        wins += good > score(model, tokenizer, pair.bad, pair.target(pair.bad))
    return wins / len(pairs)


def _encode(
    tokenizer: PreTrainedTokenizerBase, text: str, span: tuple[int, int]
) -> tuple[list[int], list[int]]:
    """Token ids with the special ones, and the places of those that touch the span."""
    encoded = tokenizer(text, return_offsets_mapping=True)
    places = [
        place
        for place, (start, end) in enumerate(encoded["offset_mapping"])
        if start < span[1] and end > span[0]
    ]
    return list(encoded["input_ids"]), places


def _causal_logprob(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    span: tuple[int, int],
) -> float:
    import torch

    ids, places = _encode(tokenizer, text, span)
    with torch.no_grad():
        logits: torch.Tensor = model(input_ids=torch.tensor([ids])).logits[0]
    logprobs = logits.log_softmax(-1)
    return float(sum(logprobs[place - 1, ids[place]] for place in places))


def _masked_logprob(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    span: tuple[int, int],
) -> float:
    """Pseudo-log-likelihood of a word, each token with the later ones of the word masked too.

    Kauf and Ivanova 2023, doi:10.18653/v1/2023.acl-short.80.
    """
    import torch

    ids, places = _encode(tokenizer, text, span)
    rows = torch.tensor([ids] * len(places))
    for row, place in enumerate(places):
        rows[row, place : places[-1] + 1] = int(tokenizer.mask_token_id or 0)
    with torch.no_grad():
        logits: torch.Tensor = model(input_ids=rows).logits
    logprobs = logits.log_softmax(-1)
    return float(sum(logprobs[row, place, ids[place]] for row, place in enumerate(places)))
