"""Causal language models: log P of a token given the tokens before it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.models.base import Encoded, ModelCard, Policy
from cimento.models.causal_paths import CausalScoring
from cimento.models.layout import find_layout, refuse_foresight
from cimento.models.memory import memory_of
from cimento.models.tokenizing import causal_frame, encode, probes, vocabulary_size
from cimento.models.windows import in_windows, long_texts, stride_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.answers import Column
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

    Raises:
        ModelError: the model is not causal, or cannot be scored exactly.
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
        self._frame = causal_frame(tokenizer, policy.bos)
        self._vocabulary = vocabulary_size(model)
        short, long = probes(
            tokenizer, self._frame, window=card.window, vocabulary=self._vocabulary
        )
        refuse_foresight(model, long, name=card.name)
        layout = find_layout(model, short, long, padding=0)
        self._scoring_of = functools.cache(
            lambda columns: CausalScoring(
                model, layout=layout, token_budget=token_budget, columns=columns
            )
        )
        self._stride = stride_of(policy, card)
        bos = " ".join(tokenizer.convert_ids_to_tokens(list(self._frame.before)))
        details = (
            card.details if self._stride is None else card.details | {"stride": f"{self._stride}"}
        )
        self._card = dataclasses.replace(card, bos=bos, details=details)

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
            window=self._card.window if self._stride is None else None,
            vocabulary=self._vocabulary,
            leading_blank=self._policy.leading_blank,
        )

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens given the tokens before them; see `Scorer`."""
        return self.score_columns(encoded, ())

    def score_columns(
        self, encoded: Sequence[Encoded], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """The same with other columns beside; see `ColumnScorer`."""
        scoring = self._scoring_of(columns)
        if self._stride is None or self._card.window is None:
            return scoring.score(encoded)
        return in_windows(encoded, scoring.score, window=self._card.window, stride=self._stride)

    def remarks(self, requests: Sequence[ScoreRequest]) -> tuple[str, ...]:
        """Whether memory ran out, and how many texts are long; see `Remarking`."""
        encoded = [] if self._stride is None else self.encode(requests)
        return (*memory_of(self._model).remarks, *long_texts(encoded, self._card.window))
