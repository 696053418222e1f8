"""Measures of one sentence, each with its formula, unit, direction and source.

A measure is a small function from the token scores of a sentence to one number. All logarithms are
natural. ``LP`` is the sum of log P over the tokens of the sentence, ``n`` their number: tokens of
the model, final punctuation included, special tokens left out. Values may be missing. All sums are
taken by `total`, which adds in a fixed order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar, get_args

from cimento.errors import UsageError
from cimento.io.values import (
    BITS_PER_NAT,
    NoValue,
    Numbers,
    UndefinedValueError,
    Unit,
    Value,
    surprisal_bits,
    total,
)

PENALTY_BASE = 5
"""The constant of the length penalty of Wu et al. 2016 (doi:10.48550/arXiv.1609.08144), eq. 14."""

PartT = TypeVar("PartT", int, Numbers)

NO_LOGITS = NoValue("logits were not stored; run again with --store logit")
NO_LOGISTIC_SUMS = NoValue(
    "sums of logistic scores were not stored; run again with --store log_sigmoid_sum"
)
NO_UNIGRAMS = NoValue("there are no unigram frequencies; give some with --unigrams")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """The token scores of a sentence, from which measures are computed; it has at least one token.

    Attributes:
        logprobs_nats: log P of each token, in order.
        n_words: number of words: runs of characters without white space, and in scripts without
            blanks between words those with which the run was scored; or why it is not known.
        n_chars: number of characters (code points), blanks included.
        n_bytes: number of bytes in UTF-8, blanks included; None where that is not known.
        pseudo: whether these are the pseudo-log-likelihoods of a masked model; None where that
            is not known.
        logits: the model's raw output for each token, before any normalization.
        log_sigmoid_sums_nats: for each token, the log of the sum of the logistic function over
            the raw outputs for the whole vocabulary.
        unigram_logprobs_nats: log-probabilities of the tokens or of the words by frequency alone;
            only their sum is used.
    """

    logprobs_nats: Numbers
    n_words: int | NoValue
    n_chars: int
    pseudo: bool | None = None
    logits: Numbers | NoValue = NO_LOGITS
    log_sigmoid_sums_nats: Numbers | NoValue = NO_LOGISTIC_SUMS
    unigram_logprobs_nats: Numbers | NoValue = NO_UNIGRAMS
    n_bytes: int | None = None

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


def bits_per_byte(sentence: Sentence) -> float:
    """``-LP / (bytes * ln 2)``, which models with different tokens can be compared by."""
    if not sentence.n_bytes:
        raise UndefinedValueError("the number of bytes is not known")
    return surprisal_bits(lp(sentence)) / sentence.n_bytes


def perplexity(sentence: Sentence) -> float:
    """``exp(-LP / n)`` of probabilities chained from left to right; undefined for masked models."""
    if sentence.pseudo:
        raise UndefinedValueError("a masked model gives no chain of probabilities; see pppl")
    return corpus_perplexity([sentence])


def pseudo_perplexity(sentence: Sentence) -> float:
    """``exp(-LP / n)`` of pseudo-log-likelihoods; undefined for models that are not masked."""
    if sentence.pseudo is False:
        raise UndefinedValueError("only a masked model gives pseudo-log-likelihoods; see ppl")
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
        raise UndefinedValueError("the perplexity is larger than a 64-bit number can be") from None


def length_penalty(n_tokens: int, *, alpha: float) -> float:
    """``((5 + n) / (5 + 1)) ** alpha`` (Wu et al. 2016, eq. 14, doi:10.48550/arXiv.1609.08144)."""
    return math.pow((PENALTY_BASE + n_tokens) / (PENALTY_BASE + 1), alpha)


def norm_lp(sentence: Sentence) -> float:
    """``-LP / LPu``, with ``LPu`` the log-probability of the sentence by unigrams."""
    unigrams = total(_given(sentence.unigram_logprobs_nats))
    if unigrams == 0:
        raise UndefinedValueError("the unigram log-probability of the sentence is 0")
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


def normalized_logistic_lp(sentence: Sentence) -> float:
    """``sum of ln(sigmoid(x) / sum of sigmoid over the vocabulary)``."""
    logits = _given(sentence.logits)
    sums = _given(sentence.log_sigmoid_sums_nats)
    return total([log_sigmoid(x) - whole for x, whole in zip(logits, sums, strict=True)])


def _given(part: PartT | NoValue) -> PartT:
    if isinstance(part, NoValue):
        raise UndefinedValueError(part.reason)
    return part


Need: TypeAlias = Literal["logit", "log_sigmoid_sum", "unigrams"]
"""The needs of a measure besides log-probabilities: ``logit`` for `Sentence.logits`,
``log_sigmoid_sum`` for its ``log_sigmoid_sums_nats``, and ``unigrams`` for its
``unigram_logprobs_nats``."""

NEEDS: tuple[Need, ...] = get_args(Need)

DEFAULT_ALPHA = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure: a function from a sentence to a number, with its description.

    Attributes:
        name: name by which users ask for it.
        formula: formula in the symbols of `sentence`: LP, n, LPu and x, the raw output for a token.
        unit: ``nats`` or ``bits``, with the divisor if there is one; empty for a pure number.
        higher_is_better: whether the better sentence has the higher value.
        source: the publication that proposed it.
        function: the function that computes it.
        needs: what it reads besides log-probabilities.
        undefined: the case in which it has no value although every token has a score.
        aliases: other names for it.
        divisor: what it divides the sum of log-probabilities by, besides constants, so that an
            error of one bit in the sum is one of 1/divisor in the measure; None where the sum does
            not enter in this way.
        function_of: the measure that it is a monotone function of, if it is one.
    """

    name: str
    formula: str
    unit: str
    higher_is_better: bool
    source: str
    function: Callable[[Sentence], float]
    needs: tuple[Need, ...] = ()
    undefined: str = ""
    aliases: tuple[str, ...] = ()
    divisor: Callable[[Sentence], float] | None = None
    function_of: str = ""

    def of(self, sentence: Sentence | NoValue) -> Value:
        """The value of the measure for a sentence, or the reason why there is none."""
        if isinstance(sentence, NoValue):
            return sentence
        try:
            return self.function(sentence)
        except UndefinedValueError as reason:
            return NoValue(str(reason))

    @property
    def information(self) -> Unit | None:
        """The unit of information of the measure; None for a pure number."""
        if self.unit.startswith("nats"):
            return "nats"
        return "bits" if self.unit.startswith("bits") else None

    @property
    def margin_unit(self) -> str:
        """The unit of margins: that of values, with bits in the place of nats."""
        return f"bits{self.unit.removeprefix('nats')}" if self.information == "nats" else self.unit


def _tokens(sentence: Sentence) -> float:
    return sentence.n_tokens


def _unigram_bits(sentence: Sentence) -> float:
    return surprisal_bits(total(_given(sentence.unigram_logprobs_nats)))


_LAU_2017 = "Lau, Clark and Lappin 2017, doi:10.1111/cogs.12414"
_LAU_2020 = "Lau et al. 2020, doi:10.1162/tacl_a_00315"
_SALAZAR = "Salazar et al. 2020, doi:10.18653/v1/2020.acl-main.240"
_LOGISTIC = "bert-syntax-it 2022, github.com/ml-utils/bert-syntax-it"


_LP = Measure(
    name="lp",
    aliases=("sum",),
    formula="LP = sum of ln P(token)",
    unit="nats",
    higher_is_better=True,
    source=f"{_LAU_2017}; of masked models (PLL): {_SALAZAR}",
    function=lp,
    divisor=lambda _: 1.0,
)
_LP_L = Measure(
    name="lp-l",
    formula="LP-L = sum of ln sigmoid(x)",
    unit="nats",
    higher_is_better=True,
    source=_LOGISTIC,
    function=logistic_lp,
    needs=("logit",),
    undefined="without the column logit",
)


def _penalized(measure: Measure, alpha: float, *, name: str, source: str) -> Measure:
    """A sum over tokens, divided by the penalty of the number of tokens."""

    def value(sentence: Sentence) -> float:
        return measure.function(sentence) / divisor(sentence)

    def divisor(sentence: Sentence) -> float:
        return length_penalty(sentence.n_tokens, alpha=alpha)

    return replace(
        measure,
        name=name if alpha == DEFAULT_ALPHA else f"{name}:{alpha:g}",
        aliases=(),
        formula=f"{measure.formula.partition(' ')[0]} / ((5 + n) / 6)^{alpha:g}",
        source=source,
        function=value,
        divisor=divisor if measure.divisor else None,
    )


ADJUSTABLE: Mapping[str, Callable[[float], Measure]] = {
    "penlp": functools.partial(
        _penalized,
        _LP,
        name="penlp",
        source=f"{_LAU_2020}; penalty: Wu et al. 2016, doi:10.48550/arXiv.1609.08144, eq. 14",
    ),
    "penlp-l": functools.partial(_penalized, _LP_L, name="penlp-l", source=_LOGISTIC),
}
"""Measures with a parameter alpha, which may follow the name: ``penlp:0.6``."""

_ALL = (
    _LP,
    Measure(
        name="surprisal-nats",
        formula="-LP",
        unit="nats",
        higher_is_better=False,
        source="Shannon 1948, doi:10.1002/j.1538-7305.1948.tb01338.x",
        function=lambda sentence: 0.0 - lp(sentence),
        divisor=lambda _: 1.0,
    ),
    Measure(
        name="surprisal-bits",
        formula="-LP / ln 2",
        unit="bits",
        higher_is_better=False,
        source="Hale 2001, aclanthology.org/N01-1021",
        function=lambda sentence: (0.0 - lp(sentence)) * BITS_PER_NAT,
        divisor=lambda _: 1.0,
    ),
    Measure(
        name="meanlp",
        aliases=("mean-token",),
        formula="LP / n",
        unit="nats per token",
        higher_is_better=True,
        source=_LAU_2017,
        function=lambda sentence: lp(sentence) / sentence.n_tokens,
        divisor=_tokens,
    ),
    Measure(
        name="mean-word",
        formula="LP / number of words",
        unit="nats per word",
        higher_is_better=True,
        source="lm-evaluation-harness (word perplexity is exp of -it), doi:10.5281/zenodo.5371628",
        function=lambda sentence: lp(sentence) / _given(sentence.n_words),
        divisor=lambda sentence: _given(sentence.n_words),
        undefined="where the segmenter of the run is not installed",
    ),
    Measure(
        name="mean-char",
        formula="LP / number of characters",
        unit="nats per character",
        higher_is_better=True,
        source="lm-evaluation-harness (acc_norm), doi:10.5281/zenodo.5371628",
        function=lambda sentence: lp(sentence) / sentence.n_chars,
        divisor=lambda sentence: sentence.n_chars,
    ),
    Measure(
        name="bits-per-token",
        formula="-LP / (n ln 2)",
        unit="bits per token",
        higher_is_better=False,
        source="Shannon 1948, doi:10.1002/j.1538-7305.1948.tb01338.x",
        function=lambda sentence: surprisal_bits(lp(sentence)) / sentence.n_tokens,
        divisor=_tokens,
    ),
    Measure(
        name="bits-per-byte",
        formula="-LP / (bytes ln 2)",
        unit="bits per byte",
        higher_is_better=False,
        source="Gao et al. 2020, doi:10.48550/arXiv.2101.00027",
        function=bits_per_byte,
        divisor=lambda sentence: sentence.n_bytes or math.nan,
        undefined="where the text is not known",
    ),
    Measure(
        name="ppl",
        aliases=("perplexity",),
        formula="exp(-LP / n)",
        unit="",
        higher_is_better=False,
        source="Jelinek et al. 1977, doi:10.1121/1.2016299",
        function=perplexity,
        function_of="meanlp",
        undefined="for masked models; above 1.8e308",
    ),
    Measure(
        name="pppl",
        aliases=("pseudo-perplexity",),
        formula="exp(-PLL / n)",
        unit="",
        higher_is_better=False,
        source=_SALAZAR,
        function=pseudo_perplexity,
        function_of="meanlp",
        undefined="for causal models; above 1.8e308",
    ),
    ADJUSTABLE["penlp"](DEFAULT_ALPHA),
    Measure(
        name="normlp",
        formula="-LP / LPu",
        unit="",
        higher_is_better=True,
        source=_LAU_2017,
        function=norm_lp,
        divisor=_unigram_bits,
        needs=("unigrams",),
        undefined="without unigram frequencies; with a token missing from them; where LPu is 0",
    ),
    Measure(
        name="slor",
        formula="(LP - LPu) / n",
        unit="nats per token",
        higher_is_better=True,
        source="Pauls and Klein 2012, aclanthology.org/P12-1101; Kann, Rothe and Filippova 2018, "
        "doi:10.18653/v1/K18-1031",
        function=slor,
        divisor=_tokens,
        needs=("unigrams",),
        undefined="without unigram frequencies; with a token missing from them",
    ),
    _LP_L,
    ADJUSTABLE["penlp-l"](DEFAULT_ALPHA),
    Measure(
        name="lp-nl",
        aliases=("normalized-logistic",),
        formula="sum of ln(sigmoid(x) / sum of sigmoid over the vocabulary)",
        unit="nats",
        higher_is_better=True,
        source=_LOGISTIC,
        function=normalized_logistic_lp,
        needs=("logit", "log_sigmoid_sum"),
        undefined="without the columns logit and log_sigmoid_sum",
    ),
)

MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in _ALL}
"""All measures by name, without their aliases."""
