"""Models without torch and weights, for tests, examples and documentation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cimento.models.base import EncodedTexts, ModelCard
from cimento.models.characters import Characters

if TYPE_CHECKING:
    from cimento.models.base import Encoded, FloatArray, Score

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

    def encode(self, requests: Sequence[Score]) -> EncodedTexts:
        """Encode requests with one token for each word and each punctuation mark."""
        import numpy as np

        texts = [request.text for request in requests]
        characters = Characters.of(texts)
        begins = characters.word_begins("split")
        ends = ~characters.blank & np.append(characters.blank[1:] | begins[1:], True)
        first, last = np.flatnonzero(begins), np.flatnonzero(ends) + 1
        text = np.searchsorted(characters.begin, first, side="right") - 1
        offsets = np.searchsorted(first, characters.begin)
        start, end = first - characters.begin[text], last - characters.begin[text]
        wanted = [
            ((0, len(request.text)),) if request.wanted is None else request.wanted
            for request in requests
        ]
        spans = zip(first.tolist(), last.tolist(), strict=True)
        tokens = [characters.texts[low:high] for low, high in spans]
        for token in dict.fromkeys(tokens):
            self._ids.setdefault(token, len(self._ids))
        return EncodedTexts(
            offsets=offsets,
            firsts=[0] * len(requests),
            ids=np.array([self._ids[token] for token in tokens], dtype=np.int64),
            tokens=tokens,
            start=start,
            end=end,
            words=np.arange(len(first)) - offsets[text],
            wanted=characters.inside(wanted, text, start, end),
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
