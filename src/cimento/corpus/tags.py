"""The perplexity of sequences of parts of speech, by an n-gram model of a treebank's tags.

A measure of how usual the syntax of a sentence is, whatever its words (von Prince and Demberg
2018). The model is of the universal tags, with additive smoothing: ``p(t | h) = (c(h t) + a) /
(c(h) + 18 a)`` for each of the 17 tags and the end, where h are the n - 1 tags before t.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from cimento.corpus.sentences import Sentence

TAGS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
    "PUNCT", "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
"""The universal parts of speech (universaldependencies.org/u/pos)."""

_START, _END = "<s>", "</s>"
_N_OUTCOMES = len(TAGS) + 1


def tags_of(sentence: Sentence) -> tuple[str, ...]:
    """The tags of a sentence's words; a word without a universal tag counts as ``X``."""
    return tuple(word.upos if word.upos in TAGS else "X" for word in sentence.words)


class TagModel:
    """An n-gram model of tags.

    Args:
        sequences: tags of each sentence that it is made of.
        order: n, from 1.
        added: a, added to every count; above 0.
    """

    def __init__(
        self, sequences: Iterable[Sequence[str]], *, order: int = 3, added: float = 1.0
    ) -> None:
        self._order, self._added = order, added
        self._ngrams, self._histories = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
        for sequence in sequences:
            for history, tag in self._steps(sequence):
                self._ngrams[*history, tag] += 1
                self._histories[history] += 1

    def _steps(self, sequence: Sequence[str]) -> Iterable[tuple[tuple[str, ...], str]]:
        """Every tag, and the end, with the tags before it."""
        before = self._order - 1
        padded = (*[_START] * before, *sequence, _END)
        for place in range(before, len(padded)):
            yield padded[place - before : place], padded[place]

    def logprob_nats(self, sequence: Sequence[str]) -> float:
        """The log-probability of a sentence's tags and of its end."""
        return math.fsum(
            math.log(
                (self._ngrams[*history, tag] + self._added)
                / (self._histories[history] + self._added * _N_OUTCOMES)
            )
            for history, tag in self._steps(sequence)
        )

    def perplexity(self, sequences: Sequence[Sequence[str]]) -> float | None:
        """``exp(-ln P / N)`` over all tags and ends of some sentences; None without any."""
        n = sum(len(sequence) + 1 for sequence in sequences)
        total = math.fsum(map(self.logprob_nats, sequences))
        return math.exp(-total / n) if n else None
