"""Causal language models: log P of a token given the tokens before it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from cimento.models.base import Encoded, ModelCard, Policy
from cimento.models.heads import RowHead
from cimento.models.packing import batches
from cimento.models.tokenizing import causal_frame, encode

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.base import FloatArray
    from cimento.requests import ScoreRequest


class CausalScorer:
    """Scores texts with a causal language model of transformers.

    Args:
        model: in evaluation mode, on its device.
        tokenizer: a fast tokenizer.
        card: what is known about the model; the BOS token is added to it here.
        policy: how texts are scored.
        token_budget: padded tokens in one batch.
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
        self._model = model
        self._tokenizer = tokenizer
        self._policy = policy
        self._token_budget = token_budget
        self._head = RowHead(model)
        self._frame = causal_frame(tokenizer, policy.bos)
        bos = " ".join(tokenizer.convert_ids_to_tokens(list(self._frame.before)))
        self._card = dataclasses.replace(card, bos=bos)

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
        """log P(token | tokens before it) of the wanted tokens; see the Protocol."""
        results = [np.full(len(each.wanted), np.nan) for each in encoded]
        # Tokens after the last wanted one change nothing to its left: they are not fed.
        lengths = [max(each.wanted, default=0) for each in encoded]
        for batch in batches(lengths, token_budget=self._token_budget):
            width = lengths[batch[0]]
            if width == 0:
                continue
            self._score_batch([encoded[i] for i in batch], [results[i] for i in batch], width)
        return results

    def _score_batch(
        self, encoded: Sequence[Encoded], results: Sequence[FloatArray], width: int
    ) -> None:
        """Fill `results` with the scores of one batch of sequences cut to `width` tokens."""
        device = self._model.device
        ids = torch.zeros((len(encoded), width), dtype=torch.long)
        mask = torch.zeros_like(ids)
        rows, targets, slots = [], [], []
        for line, each in enumerate(encoded):
            length = min(max(each.wanted, default=0), width)
            ids[line, :length] = torch.tensor(each.ids[:length])
            mask[line, :length] = 1
            for slot, index in enumerate(each.wanted):
                if index > 0:
                    rows.append(line * width + index - 1)
                    targets.append(each.ids[index])
                    slots.append((line, slot))
        logprobs = self._head.logprobs(
            {"input_ids": ids.to(device), "attention_mask": mask.to(device), "use_cache": False},
            torch.tensor(rows, device=device),
            torch.tensor(targets, device=device),
        )
        for (line, slot), value in zip(slots, logprobs.tolist(), strict=True):
            results[line][slot] = value
