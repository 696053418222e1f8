"""Causal language models: log P of a token given the tokens before it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.io.tables import BOUNDARY
from cimento.models.base import Encoded, EncodedTexts, ModelCard, Policy
from cimento.models.boundary import NOTHING_MARKED, described, find_boundaries, with_boundaries
from cimento.models.causal_paths import CausalScoring
from cimento.models.encoding import TextEncoder
from cimento.models.inspection import Inside, way_of
from cimento.models.layers import Layers
from cimento.models.layout import find_layout, refuse_foresight
from cimento.models.limits import BatchLimits
from cimento.models.memory import memory_of
from cimento.models.tokenizing import causal_frame, vocabulary_size
from cimento.models.windows import in_windows, long_texts, stride_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.tables import Column
    from cimento.models.base import FloatArray
    from cimento.models.columns import Read
    from cimento.suites.stimuli import ScoreRequest


class CausalScorer:
    """Scores texts with a causal language model of transformers.

    Args:
        model: in evaluation mode, on its device.
        tokenizer: a fast tokenizer.
        card: what is known about the model; the BOS token is added to it here.
        policy: how texts are scored.
        limits: of a batch.

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
        limits: BatchLimits,
    ) -> None:
        self._model = model
        self._texts = texts = TextEncoder(
            tokenizer=tokenizer,
            policy=policy,
            frame=causal_frame(tokenizer, policy.bos),
            vocabulary=vocabulary_size(model),
            window=card.window,
        )
        short, long = texts.probes()
        refuse_foresight(model, long, name=card.name)
        self._layout = layout = find_layout(model, short, long, padding=0)
        self._scoring_of = functools.cache(
            lambda columns: CausalScoring(model, layout=layout, limits=limits, columns=columns)
        )
        self._stride = stride_of(policy, card)
        self._boundaries = find_boundaries(
            tokenizer, policy, vocabulary=texts.vocabulary, device=model.device
        )
        self._card = self._described(card)

    @property
    def card(self) -> ModelCard:
        """What is known about the model."""
        return self._card

    def encode(self, requests: Sequence[ScoreRequest]) -> EncodedTexts:
        """Tokenize the requests, in order; see the Protocol."""
        return self._texts.encode(requests)

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens given the tokens before them; see `Scorer`."""
        return self.score_columns(encoded, ())

    def score_columns(
        self, encoded: Sequence[Encoded], columns: tuple[Column, ...]
    ) -> list[FloatArray]:
        """The same with other columns beside; see `ColumnScorer`."""
        if self._boundaries is None or BOUNDARY not in columns:
            return self._score(encoded, columns)
        return with_boundaries(
            encoded,
            columns,
            boundaries=self._boundaries,
            text_starts=[len(self._texts.frame.before)] * len(encoded),
            score=self._score,
        )

    def count_layers(self) -> int:
        """How many layers the model has; see `LayerScorer`."""
        return Layers(self._model).count

    def inside(self) -> Inside:
        """What it is made of, and how texts go through it; see `inspection`."""
        way = way_of(self._layout, self._scoring_of(()).proof)
        return Inside(model=self._model, tokenizer=self._texts.tokenizer, way=way)

    def remarks(self, requests: Sequence[ScoreRequest]) -> tuple[str, ...]:
        """Whether memory ran out, how many texts are long, and what is not corrected."""
        encoded = [] if self._stride is None else self.encode(requests)
        found = [*memory_of(self._model).remarks, *long_texts(encoded, self._card.window)]
        if self._texts.policy.boundary == "auto" and self._boundaries is None:
            found.append(NOTHING_MARKED)
        return tuple(found)

    def _score(self, encoded: Sequence[Encoded], columns: tuple[Read, ...]) -> list[FloatArray]:
        """Scores of texts of any length."""
        scoring = self._scoring_of(columns)
        if self._stride is None or self._card.window is None:
            return scoring.score(encoded)
        return in_windows(encoded, scoring.score, window=self._card.window, stride=self._stride)

    def _described(self, card: ModelCard) -> ModelCard:
        """The card, with what the policy came to with this tokenizer and window."""
        details = {} if self._stride is None else {"stride": str(self._stride)}
        known = dataclasses.replace(card, details=card.details | details)
        bos = self._texts.names(self._texts.frame.before)
        return described(known, bos=bos, found=self._boundaries)
