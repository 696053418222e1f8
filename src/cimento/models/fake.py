"""Models without torch and weights, for tests, examples and documentation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cimento.models.base import Encoded, ModelCard
from cimento.models.tokens.characters import containing, tokens_in, word_spans

if TYPE_CHECKING:
    from cimento.models.base import FloatArray, Score

TokenScore = Callable[[Sequence[str], int], float]
"""A function from the tokens of a text and the index of one to its log-probability in nats."""


class FakeScorer:
    """A model whose tokens are words and whose scores come from a function.

    Args:
        score: a function from tokens and an index to log P in nats.
        name: name in tables and reports.
    """

    def __init__(self, score: TokenScore, *, name: str = "fake") -> None:
        self._score = score
        self._card = ModelCard(name=name, kind="causal", revision="0" * 40, tokenizer="words")
        self._ids: dict[str, int] = {}

    @property
    def card(self) -> ModelCard:
        """The card of the model."""
        return self._card

    def encode(self, requests: Sequence[Score]) -> list[Encoded]:
        """Encode requests with one token for each word and each punctuation mark."""
        return [self._encode(request) for request in requests]

    def _encode(self, request: Score) -> Encoded:
        spans = word_spans(request.text)
        tokens = tuple(request.text[start:end] for start, end in spans)
        wanted = request.wanted if request.wanted is not None else ((0, len(request.text)),)
        return Encoded(
            ids=tuple(self._ids.setdefault(token, len(self._ids)) for token in tokens),
            tokens=tokens,
            spans=tuple(spans),
            words=tuple(containing(spans, start) for start, _ in spans),
            first=0,
            wanted=tuple(tokens_in(spans, wanted)),
        )

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """The function's log-probability of every wanted token."""
        import numpy as np

        return [
            np.array([self._score(text.tokens, index) for index in text.wanted], dtype=np.float64)
            for text in encoded
        ]


def uniform_scorer(vocabulary: int, *, name: str = "uniform") -> FakeScorer:
    """A uniform model, in which every token has a surprisal of log `vocabulary` nats."""
    return FakeScorer(lambda _tokens, _index: -math.log(vocabulary), name=name)
