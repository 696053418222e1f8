"""How far n-grams of half the compared sentences get on the other half."""

from __future__ import annotations

import math
import random
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import ClassVar

from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import WITHOUT_BLANKS, word_spans

ORDERS = {"unigrams": 1, "bigrams": 2}
_LEAST_PAIRS = 20
_ROUNDS = 10
_MOST_TRIED = 20_000
_WORD = re.compile(r"[^\W_]+(?:['’\u2010-][^\W_]+)*['’]?|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NgramBaseline:
    """The accuracy of n-grams of half the pairs on the other half.

    Attributes:
        NEAR_CHANCE: the largest accuracy that counts as near chance, which is 0.50.
        name: ``unigrams`` or ``bigrams``.
        n: number of pairs.
        accuracy: proportion of pairs that they get right, ties counted half; None for too few
            pairs.
    """

    NEAR_CHANCE: ClassVar[float] = 0.60

    name: str
    n: int
    accuracy: float | None

    @property
    def is_high(self) -> bool:
        """Whether they do better than near chance."""
        return self.accuracy is not None and self.accuracy > self.NEAR_CHANCE


def ngram_baselines(
    pairs: Sequence[tuple[str, str]], *, seed: int = 0
) -> tuple[NgramBaseline, ...]:
    """The cross-validated accuracy of unigrams and of bigrams.

    In each of ten rounds the pairs are halved at random, those with one acceptable sentence
    together, and each half is judged by the other: the sentence with the higher sum of
    log((good + 1) / (bad + 1)) over its n-grams is taken to be the acceptable one, where good and
    bad count the n-gram in the acceptable and the unacceptable sentences of the other half (naive
    Bayes, add-one smoothed). Many pairs get fewer rounds.

    Args:
        pairs: acceptable and unacceptable sentences.
        seed: seed of the halves.
    """
    n = len(pairs)
    return tuple(
        NgramBaseline(
            name=name,
            n=n,
            accuracy=_accuracy(pairs, order, seed) if n >= _LEAST_PAIRS else None,
        )
        for name, order in ORDERS.items()
    )


def _accuracy(pairs: Sequence[tuple[str, str]], order: int, seed: int) -> float:
    generator = random.Random(seed)  # noqa: S311  # halves of a suite, not secrets
    counted = [(Counter(_ngrams(good, order)), Counter(_ngrams(bad, order))) for good, bad in pairs]
    # Alternatives of one acceptable sentence stay together: a half must not have seen it.
    together: dict[str, list[int]] = {}
    for number, (sentence, _) in enumerate(pairs):
        together.setdefault(sentence, []).append(number)
    items = list(together.values())
    accuracies = []
    for _ in range(max(1, min(_ROUNDS, _MOST_TRIED // len(pairs)))):
        generator.shuffle(items)
        halves = items[: len(items) // 2], items[len(items) // 2 :]
        for train, test in (halves, halves[::-1]):
            good, bad = Counter[str](), Counter[str]()
            for number in chain.from_iterable(train):
                good.update(counted[number][0])
                bad.update(counted[number][1])
            tried = [counted[number] for number in chain.from_iterable(test)]
            accuracies += [_right(pair, good, bad) for pair in tried]
    return statistics.fmean(accuracies)


def _right(pair: tuple[Counter[str], Counter[str]], good: Counter[str], bad: Counter[str]) -> float:
    """1 if the acceptable sentence scores higher, 0.5 in a tie, 0 otherwise."""
    # What both sentences have cancels out, exactly only if it is not added in the first place.
    first, second = pair
    difference = math.fsum(
        (first[ngram] - second[ngram]) * (math.log(good[ngram] + 1) - math.log(bad[ngram] + 1))
        for ngram in first.keys() | second.keys()
    )
    return 0.5 if difference == 0 else float(difference > 0)


def _ngrams(sentence: str, order: int) -> Iterator[str]:
    text = one_spelling(sentence).casefold()
    spans = word_spans(text) if WITHOUT_BLANKS.search(text) else ()
    words = [text[start:end] for start, end in spans] or _WORD.findall(text)
    if order == 1:
        return iter(words)
    return (f"{one} {other}" for one, other in pairwise(["", *words, ""]))
