"""N-gram models made from text: interpolated modified Kneser-Ney, written as ARPA files.

A word's probability after a context is its discounted count there plus, for what the discounts set
free, its probability after the context without its first word (Chen and Goodman 1998, equations
26-27; doi:10.1006/csla.1999.0128). Below the highest order a count is the number of different words
on the left, except after ``<s>``, which nothing precedes. Unigrams are interpolated with the
uniform distribution over the vocabulary, which gives ``<unk>`` its probability; all this as KenLM's
``lmplz`` does (Heafield et al. 2013, aclanthology.org/P13-2121).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError
from cimento.io.files import write_lines
from cimento.models.ngram import END, START, UNKNOWN_WORD
from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import word_spans

if TYPE_CHECKING:
    from cimento.io.values import Floats, Integers

FALLBACK = (0.5, 1.0, 1.5)
"""Discounts of n-grams seen once, twice and more where a text has too few to estimate them."""
_START, _END, _UNKNOWN = 0, 1, 2
_NAMES = (START, END, UNKNOWN_WORD)
_COUNTED = 4
"""The counts of counts from which the discounts follow: of n-grams seen one to four times."""
MOST_ORDER = 10


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """What a model was made from.

    Attributes:
        sentences: number of sentences, one a line.
        words: number of words in them.
        vocabulary: number of different words.
        ngrams: number of n-grams of each order, from the first.
        guessed: the orders whose discounts were not estimated but are `FALLBACK`.
    """

    sentences: int
    words: int
    vocabulary: int
    ngrams: tuple[int, ...]
    guessed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Order:
    """The n-grams of one order: arrays with an entry for each.

    Attributes:
        context: the n-gram without its last word, by its number in the order below.
        word: the last word.
        suffix: the n-gram without its first word, by its number in the order below.
        count: times it occurs.
        begins: whether it begins with ``<s>``.
    """

    context: Integers
    word: Integers
    suffix: Integers
    count: Integers
    begins: Integers


def train(sentences: Iterable[str], path: Path, *, order: int = 5) -> TrainingRecord:
    """Make an n-gram model of sentences and write it as an ARPA file.

    Words are maximal runs without white space, and each mark is a word of its own, as n-gram models
    are asked by default.

    Args:
        sentences: the sentences; empty ones are left out.
        path: the file, which ``-m kenlm:FILE`` reads.
        order: length of the longest n-grams, in words.

    Returns:
        What it was made from.

    Raises:
        InputError: there is no sentence.
        StorageError: the file cannot be written.
    """
    words, text, lengths = _numbered(sentences)
    if not lengths:
        raise InputError(where="the text", seen="there is no sentence in it", todo="One a line.")
    orders = _orders(text, lengths, len(words), order=order)
    counts = _adjusted(orders)
    discounts, guessed = zip(*map(_discounts, counts), strict=True)
    logs = _probabilities(orders, counts, discounts, len(words))
    write_lines(_lines(words, orders, logs), path)
    return TrainingRecord(
        sentences=len(lengths),
        words=sum(lengths) - 2 * len(lengths),
        vocabulary=len(words) - len(_NAMES),
        ngrams=tuple(len(log10) for log10, _ in logs),
        guessed=tuple(n for n, guess in enumerate(guessed, start=1) if guess),
    )


def _numbered(sentences: Iterable[str]) -> tuple[list[str], Integers, list[int]]:
    """The vocabulary, the text as numbers with both markers, and the length of each sentence."""
    import numpy as np

    numbers = {name: number for number, name in enumerate(_NAMES)}
    # A word is written as where it comes first, whatever form its accents have elsewhere.
    written: dict[str, str] = {}
    text: list[int] = []
    lengths: list[int] = []
    for sentence in sentences:
        spans = word_spans(sentence)
        if not spans:
            continue
        inside = (sentence[low:high] for low, high in spans)
        # A marker that is in the text is not a word.
        inside = (
            _NAMES[_UNKNOWN] if word in _NAMES else written.setdefault(one_spelling(word), word)
            for word in inside
        )
        text += [_START, *(numbers.setdefault(word, len(numbers)) for word in inside), _END]
        lengths.append(len(spans) + 2)
    return list(numbers), np.array(text, dtype=np.int64), lengths


def _orders(text: Integers, lengths: Sequence[int], size: int, *, order: int) -> list[_Order]:
    """The n-grams of each order that occur inside sentences."""
    import numpy as np

    place = np.concatenate([np.arange(length) for length in lengths])
    # The unigrams are the words themselves, so that a number means the same in both.
    counts = np.bincount(text, minlength=size)
    nothing = np.zeros(size, dtype=np.int64)
    begins = np.arange(size) == _START
    orders = [_Order(nothing, np.arange(size), nothing, counts, begins)]
    last = text
    for n in range(2, order + 1):
        ends = np.flatnonzero(place >= n - 1)
        if not len(ends):
            break
        keys, first, inverse, counted = np.unique(
            last[ends - 1] * size + text[ends],
            return_index=True, return_inverse=True, return_counts=True,
        )  # fmt: skip
        context, word = np.divmod(keys, size)
        suffix = last[ends[first]]
        orders.append(_Order(context, word, suffix, counted, orders[-1].begins[context]))
        following = np.full(len(text), -1, dtype=np.int64)
        following[ends] = inverse
        last = following
    return orders


def _adjusted(orders: Sequence[_Order]) -> list[Integers]:
    """The counts that each order is estimated from."""
    import numpy as np

    counts = []
    for this, above in zip(orders, [*orders[1:], None], strict=True):
        count = this.count
        if above is not None:
            different = np.bincount(above.suffix, minlength=len(count))
            count = np.where(this.begins, this.count, different)
        counts.append(count)
    counts[0][[_START, _UNKNOWN]] = 0
    return counts


def _discounts(count: Integers) -> tuple[tuple[float, float, float], bool]:
    """The discounts of n-grams seen once, twice and more often, and whether they are guesses.

    ``Y = n1 / (n1 + 2 n2)`` and ``Dk = k - (k + 1) Y n(k+1) / nk`` (Chen and Goodman 1998, equation
    26). A discount of 0, which lmplz takes, would leave unseen words no probability after contexts
    seen that often only, so it counts as undefined here.
    """
    import numpy as np

    once, twice, thrice, more = (int(np.sum(count == k)) for k in range(1, _COUNTED + 1))
    if not (once and twice and thrice):
        return FALLBACK, True
    y = once / (once + 2 * twice)
    discounts = (1 - 2 * y * twice / once, 2 - 3 * y * thrice / twice, 3 - 4 * y * more / thrice)
    if any(not 0 < value <= k for k, value in enumerate(discounts, start=1)):
        return FALLBACK, True
    return discounts, False


def _probabilities(
    orders: Sequence[_Order],
    counts: Sequence[Integers],
    discounts: Sequence[tuple[float, float, float]],
    size: int,
) -> list[tuple[Floats, Floats]]:
    """log10 of the probability and of the back-off weight of the n-grams of each order."""
    import numpy as np

    below = np.full(1, 1 / (size - 1))  # every word but <s>
    probabilities, weights = [], []
    for this, count, discount in zip(orders, counts, discounts, strict=True):
        taken = np.array((0.0, *discount))[np.minimum(count, len(discount))]
        contexts = len(below)
        total = np.bincount(this.context, weights=count, minlength=contexts)
        free = np.bincount(this.context, weights=taken, minlength=contexts)
        weight = np.divide(free, total, out=np.ones(contexts), where=total > 0)
        smooth = weight[this.context] * below[this.suffix]
        below = (count - taken) / total[this.context] + smooth
        probabilities.append(below)
        weights.append(weight)
    weights = [*weights[1:], np.ones(len(below))]
    probabilities[0][_START] = 1.0  # never asked for
    return [
        (np.log10(probability), np.log10(weight))
        for probability, weight in zip(probabilities, weights, strict=True)
    ]


def _lines(
    words: Sequence[str], orders: Sequence[_Order], logs: Sequence[tuple[Floats, Floats]]
) -> Iterator[str]:
    """The lines of the ARPA file."""
    yield "\\data\\\n"
    for n, (log10, _) in enumerate(logs, start=1):
        yield f"ngram {n}={len(log10)}\n"
    below: list[str] = []
    for n, (order, (log10, weight)) in enumerate(zip(orders, logs, strict=True), start=1):
        yield f"\n\\{n}-grams:\n"
        texts = list(words)
        if below:
            pairs = zip(order.context.tolist(), order.word.tolist(), strict=True)
            texts = [f"{below[context]} {words[word]}" for context, word in pairs]
        highest = n == len(logs)
        for text, value, back_off in zip(texts, log10.tolist(), weight.tolist(), strict=True):
            yield f"{value:.7g}\t{text}\n" if highest else f"{value:.7g}\t{text}\t{back_off:.7g}\n"
        below = texts
    yield "\n\\end\\\n"
