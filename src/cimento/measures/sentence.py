"""Measures of one sentence: small functions from its token scores to one number.

All logarithms are natural. ``LP`` is the sum of log P over the tokens of the sentence, ``n`` their
number: tokens of the model, final punctuation included, special tokens left out. The name, unit and
source of each measure are in `cimento.measures.registry`. Values may be missing. All sums are taken
by `total`, which adds in a fixed order.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.errors import UsageError

if TYPE_CHECKING:
    from cimento.io.arrays import Integers


Unit: TypeAlias = Literal["bits", "nats"]

BITS_PER_NAT = 1 / math.log(2)


@dataclass(frozen=True, slots=True)
class Missing:
    """The reason in place of an undefined value."""

    reason: str


Value: TypeAlias = "float | Missing"


def surprisal_bits(logprob_nats: float) -> float:
    """Surprisal in bits of a log-probability in nats: ``-log2 P`` (Hale 2001)."""
    return (0.0 - logprob_nats) * BITS_PER_NAT


def total(values: Sequence[float]) -> float:
    """The float64 sum from left to right, each step rounded; 0 for no values.

    The order of additions decides which sentences tie. Python's `sum` (which compensates from 3.12
    on) and numpy's (which adds in pairs) round differently.
    """
    return functools.reduce(operator.add, values, 0.0)


class Reasons:
    """The reasons for missing values, numbered by first use; -1 stands for no reason."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, reason: str) -> int:
        """The number of a reason, which is added if it is new."""
        return self._numbers.setdefault(reason, len(self._numbers))

    def texts(self) -> tuple[str, ...]:
        """The reasons in the order of their numbers."""
        return tuple(self._numbers)

    def after(self, beginning: str, numbers: Integers) -> Integers:
        """The numbers of the same reasons with a text put before them; -1 stays -1."""
        import numpy as np

        texts = self.texts()
        known, places = np.unique(numbers, return_inverse=True)
        longer = [n if n < 0 else self.number(beginning + texts[n]) for n in known.tolist()]
        return np.array(longer, dtype=np.int64)[places]


Numbers: TypeAlias = tuple[float, ...]

PENALTY_BASE = 5
"""The constant of the length penalty of Wu et al. 2016 (doi:10.48550/arXiv.1609.08144), eq. 14."""

NO_LOGITS = Missing("logits were not stored; run again with --columns logit")
NO_LOGISTIC_SUMS = Missing(
    "sums of logistic scores were not stored; run again with --columns log_sigmoid_sum"
)
NO_UNIGRAMS = Missing("there are no unigram frequencies; give some with --unigrams")


class Undefined(Exception):  # noqa: N818  # it is no error that a measure is undefined
    """The signal that a measure has no value for a sentence, with the reason as its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """The token scores of a sentence, from which measures are computed; it has at least one token.

    Attributes:
        logprobs_nats: log P of each token, in order.
        n_words: number of words: maximal runs of characters without white space.
        n_chars: number of characters (code points), blanks included.
        pseudo: whether these are the pseudo-log-likelihoods of a masked model; None where that
            is not known.
        logits: the model's raw output for each token, before any normalization.
        log_sigmoid_sums_nats: for each token, the log of the sum of the logistic function over
            the raw outputs for the whole vocabulary.
        unigram_logprobs_nats: log-probabilities of the tokens or of the words by frequency alone;
            only their sum is used.
    """

    logprobs_nats: Numbers
    n_words: int
    n_chars: int
    pseudo: bool | None = None
    logits: Numbers | Missing = NO_LOGITS
    log_sigmoid_sums_nats: Numbers | Missing = NO_LOGISTIC_SUMS
    unigram_logprobs_nats: Numbers | Missing = NO_UNIGRAMS

    def __post_init__(self) -> None:
        if not self.logprobs_nats:
            raise UsageError(where="sentence", seen="it has no token, so no measure is defined")

    @property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return len(self.logprobs_nats)


def lp(sentence: Sentence) -> float:
    """``LP``: the sum of log P over the tokens."""
    return total(sentence.logprobs_nats)


def perplexity(sentence: Sentence) -> float:
    """``exp(-LP / n)`` of probabilities chained from left to right; undefined for masked models."""
    if sentence.pseudo:
        raise Undefined("a masked model gives no chain of probabilities; see pppl")
    return corpus_perplexity([sentence])


def pseudo_perplexity(sentence: Sentence) -> float:
    """``exp(-LP / n)`` of pseudo-log-likelihoods; undefined for models that are not masked."""
    if sentence.pseudo is False:
        raise Undefined("only a masked model gives pseudo-log-likelihoods; see ppl")
    return corpus_perplexity([sentence])


def corpus_perplexity(sentences: Iterable[Sentence]) -> float:
    """``exp(-(sum of LP) / (sum of n))`` over several sentences.

    For pseudo-log-likelihoods this is the PPPL of Salazar et al. 2020, section 2.3
    (doi:10.18653/v1/2020.acl-main.240), otherwise the perplexity of the corpus.

    Raises:
        UsageError: there is no sentence.
        Undefined: the value exceeds the largest float.
    """
    counted = [(lp(sentence), sentence.n_tokens) for sentence in sentences]
    if not counted:
        raise UsageError(where="perplexity", seen="there is no sentence to take it over")
    tokens = sum(n for _, n in counted)
    try:
        return math.exp(-total([value for value, _ in counted]) / tokens)
    except OverflowError:
        raise Undefined("the perplexity is larger than a 64-bit number can be") from None


def length_penalty(n_tokens: int, *, alpha: float) -> float:
    """``((5 + n) / (5 + 1)) ** alpha`` (Wu et al. 2016, eq. 14, doi:10.48550/arXiv.1609.08144)."""
    return math.pow((PENALTY_BASE + n_tokens) / (PENALTY_BASE + 1), alpha)


def penalised_lp(sentence: Sentence, *, alpha: float) -> float:
    """``LP / ((5 + n) / 6) ** alpha``."""
    return lp(sentence) / length_penalty(sentence.n_tokens, alpha=alpha)


def norm_lp(sentence: Sentence) -> float:
    """``-LP / LPu``, with ``LPu`` the log-probability of the sentence by unigrams."""
    unigrams = total(_given(sentence.unigram_logprobs_nats))
    if unigrams == 0:
        raise Undefined("the unigram log-probability of the sentence is 0")
    return -lp(sentence) / unigrams


def slor(sentence: Sentence) -> float:
    """``(LP - LPu) / n``, with ``LPu`` the log-probability of the sentence by unigrams."""
    unigrams = total(_given(sentence.unigram_logprobs_nats))
    return (lp(sentence) - unigrams) / sentence.n_tokens


def log_sigmoid(logit: float) -> float:
    """``ln(1 / (1 + exp(-x)))``, finite for every finite x."""
    return min(logit, 0.0) - math.log1p(math.exp(-abs(logit)))


def logistic_lp(sentence: Sentence) -> float:
    """``sum of ln sigmoid(x)`` over the raw outputs x of the tokens."""
    return total([log_sigmoid(logit) for logit in _given(sentence.logits)])


def penalised_logistic_lp(sentence: Sentence, *, alpha: float) -> float:
    """``LP-L / ((5 + n) / 6) ** alpha``."""
    return logistic_lp(sentence) / length_penalty(sentence.n_tokens, alpha=alpha)


def normalised_logistic_lp(sentence: Sentence) -> float:
    """``sum of ln(sigmoid(x) / sum of sigmoid over the vocabulary)``."""
    logits = _given(sentence.logits)
    sums = _given(sentence.log_sigmoid_sums_nats)
    return total([log_sigmoid(x) - whole for x, whole in zip(logits, sums, strict=True)])


def _given(part: Numbers | Missing) -> Numbers:
    if isinstance(part, Missing):
        raise Undefined(part.reason)
    return part
