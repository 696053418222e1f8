"""Causal language models: log P of a token given the tokens before it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.models.base import Encoded, ModelCard, Policy
from cimento.models.causal_paths import CausalScoring
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
        self._scoring = CausalScoring(model, token_budget=token_budget)
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
        """Log-probabilities of the wanted tokens given the tokens before them; see `Scorer`."""
        return self._scoring.score(encoded)
