"""Masked language models: pseudo-log-likelihood of a token given the rest of the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from cimento.errors import ModelError
from cimento.models.base import Encoded, ModelCard, PllRule, Policy
from cimento.models.heads import Asks, RowHead
from cimento.models.packing import batches
from cimento.models.tokenizing import encode, own_frame

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.base import FloatArray
    from cimento.requests import ScoreRequest

Copy = tuple[tuple[int, ...], int]
"""A sequence with some of its tokens masked, and the position that is predicted there."""


def masked_positions(words: Sequence[int], index: int, *, rule: PllRule) -> list[int]:
    """The positions that are masked while the token at `index` is predicted.

    Args:
        words: number of the word of each token; -1 for special tokens.
        index: of the token that is predicted.
        rule: ``original`` masks the token alone (Salazar et al. 2020, section 2,
            doi:10.18653/v1/2020.acl-main.240); ``within-word-l2r`` also masks the later tokens of
            its word (Kauf and Ivanova 2023, section 3, doi:10.18653/v1/2023.acl-short.80).
    """
    if rule == "original":
        return [index]
    return [i for i in range(index, len(words)) if words[i] == words[index]]


class MaskedScorer:
    """Scores texts with a masked language model of transformers.

    Args:
        model: in evaluation mode, on its device.
        tokenizer: a fast tokenizer with a mask token.
        card: what is known about the model.
        policy: how texts are scored.
        token_budget: padded tokens in one batch.

    Raises:
        ModelError: the tokenizer has no mask token.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        card: ModelCard,
        policy: Policy,
        token_budget: int,
    ) -> None:
        if tokenizer.mask_token_id is None:
            raise ModelError(
                where=f"tokenizer of {card.name!r}",
                seen="it has no mask token",
                todo="If the model is a causal one, say --kind causal.",
            )
        self._model = model
        self._tokenizer = tokenizer
        self._policy = policy
        self._token_budget = token_budget
        self._head = RowHead(model)
        self._frame = own_frame(tokenizer)
        self._card = card

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""
        return self._card

    def encode(self, requests: Sequence[ScoreRequest]) -> list[Encoded]:
        """Tokenize the requests, in order; see the Protocol."""
        return encode(
            requests,
            self._tokenizer,
            frame=self._frame,
            punctuation=self._policy.punctuation,
            window=self._card.window,
        )

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens, each in the text with it masked; see `Scorer`."""
        results: list[FloatArray] = [np.full(len(each.wanted), np.nan) for each in encoded]
        # Two conditions that differ in one masked token are the same masked text: asked once.
        jobs: dict[Copy, list[tuple[int, int]]] = {}
        for number, each in enumerate(encoded):
            for slot, index in enumerate(each.wanted):
                jobs.setdefault((self._masked_copy(each, index), index), []).append((number, slot))
        copies = list(jobs)
        for batch in batches([len(ids) for ids, _ in copies], token_budget=self._token_budget):
            self._score_batch([copies[i] for i in batch], encoded, jobs, results)
        return results

    def _masked_copy(self, each: Encoded, index: int) -> tuple[int, ...]:
        ids = list(each.ids)
        for position in masked_positions(each.words, index, rule=self._policy.pll):
            ids[position] = self._tokenizer.mask_token_id
        return tuple(ids)

    def _score_batch(
        self,
        copies: Sequence[Copy],
        encoded: Sequence[Encoded],
        jobs: dict[Copy, list[tuple[int, int]]],
        results: Sequence[FloatArray],
    ) -> None:
        """Fill `results` with the scores that one batch of masked copies gives."""
        device = self._model.device
        width = max(len(ids) for ids, _ in copies)
        padding = self._tokenizer.pad_token_id or 0
        ids = torch.full((len(copies), width), padding, dtype=torch.long)
        mask = torch.zeros_like(ids)
        asks: Asks = {}
        for line, copy in enumerate(copies):
            ids[line, : len(copy[0])] = torch.tensor(copy[0])
            mask[line, : len(copy[0])] = 1
            for number, slot in jobs[copy]:
                ask = (line * width + copy[1], encoded[number].ids[copy[1]])
                asks.setdefault(ask, []).append((number, slot))
        inputs = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
        self._head.fill(inputs, asks, results)
