"""The registry of sentence measures: each with its formula, unit, direction and source."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeGuard

from cimento.errors import UsageError, did_you_mean
from cimento.io.plugins import blamed, find_plugin
from cimento.io.tables import COLUMNS, Column
from cimento.measures import sentence as of
from cimento.measures.sentence import Missing, Sentence, Undefined, Unit, Value

Need: TypeAlias = Column | Literal["unigrams"]
"""The needs of a measure besides log-probabilities: columns of tokens, or frequencies."""

DEFAULT_ALPHA = 0.8

REGIONS = "regions"
"""The name that stands for the values of regions where a measure is named."""


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
        needs: the columns or frequencies it needs besides log-probabilities.
        undefined: the case in which it has no value although every token has a score.
        aliases: other names for it.
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

    def of(self, sentence: Sentence | Missing) -> Value:
        """The value of the measure for a sentence, or the reason why there is none."""
        if isinstance(sentence, Missing):
            return sentence
        try:
            return self.function(sentence)
        except Undefined as reason:
            return Missing(str(reason))

    @property
    def information(self) -> Unit | None:
        """The unit of information of the measure; None for a pure number."""
        if self.unit.startswith("nats"):
            return "nats"
        return "bits" if self.unit.startswith("bits") else None


_LAU_2017 = "Lau, Clark and Lappin 2017, doi:10.1111/cogs.12414"
_LAU_2020 = "Lau et al. 2020, doi:10.1162/tacl_a_00315"
_SALAZAR = "Salazar et al. 2020, doi:10.18653/v1/2020.acl-main.240"
_LOGISTIC = "bert-syntax-it 2022, github.com/ml-utils/bert-syntax-it"


def _penlp(alpha: float) -> Measure:
    return Measure(
        name=_with_alpha("penlp", alpha),
        formula=f"LP / ((5 + n) / 6)^{alpha:g}",
        unit="nats",
        higher_is_better=True,
        source=f"{_LAU_2020}; penalty: Wu et al. 2016, doi:10.48550/arXiv.1609.08144, eq. 14",
        function=functools.partial(of.penalised_lp, alpha=alpha),
    )


def _penlp_l(alpha: float) -> Measure:
    return Measure(
        name=_with_alpha("penlp-l", alpha),
        formula=f"LP-L / ((5 + n) / 6)^{alpha:g}",
        unit="nats",
        higher_is_better=True,
        source=_LOGISTIC,
        function=functools.partial(of.penalised_logistic_lp, alpha=alpha),
        needs=("logit",),
        undefined="without the column logit",
    )


def _with_alpha(name: str, alpha: float) -> str:
    return name if alpha == DEFAULT_ALPHA else f"{name}:{alpha:g}"


_ADJUSTABLE: Mapping[str, Callable[[float], Measure]] = {"penlp": _penlp, "penlp-l": _penlp_l}
"""Measures with a parameter alpha, which may follow the name: ``penlp:0.6``."""

_ALL = (
    Measure(
        name="lp",
        aliases=("sum",),
        formula="LP = sum of ln P(token)",
        unit="nats",
        higher_is_better=True,
        source=f"{_LAU_2017}; of masked models (PLL): {_SALAZAR}",
        function=of.lp,
    ),
    Measure(
        name="surprisal-nats",
        formula="-LP",
        unit="nats",
        higher_is_better=False,
        source="Shannon 1948, doi:10.1002/j.1538-7305.1948.tb01338.x",
        function=lambda sentence: 0.0 - of.lp(sentence),
    ),
    Measure(
        name="surprisal-bits",
        formula="-LP / ln 2",
        unit="bits",
        higher_is_better=False,
        source="Hale 2001, aclanthology.org/N01-1021",
        function=lambda sentence: (0.0 - of.lp(sentence)) * of.BITS_PER_NAT,
    ),
    Measure(
        name="meanlp",
        aliases=("mean-token",),
        formula="LP / n",
        unit="nats per token",
        higher_is_better=True,
        source=_LAU_2017,
        function=lambda sentence: of.lp(sentence) / sentence.n_tokens,
    ),
    Measure(
        name="mean-word",
        formula="LP / number of words",
        unit="nats per word",
        higher_is_better=True,
        source="lm-evaluation-harness (word perplexity is exp of -it), doi:10.5281/zenodo.5371628",
        function=lambda sentence: of.lp(sentence) / sentence.n_words,
    ),
    Measure(
        name="mean-char",
        formula="LP / number of characters",
        unit="nats per character",
        higher_is_better=True,
        source="lm-evaluation-harness (acc_norm), doi:10.5281/zenodo.5371628",
        function=lambda sentence: of.lp(sentence) / sentence.n_chars,
    ),
    Measure(
        name="ppl",
        aliases=("perplexity",),
        formula="exp(-LP / n)",
        unit="",
        higher_is_better=False,
        source="Jelinek et al. 1977, doi:10.1121/1.2016299",
        function=of.perplexity,
        undefined="for masked models; above 1.8e308",
    ),
    Measure(
        name="pppl",
        aliases=("pseudo-perplexity",),
        formula="exp(-PLL / n)",
        unit="",
        higher_is_better=False,
        source=_SALAZAR,
        function=of.pseudo_perplexity,
        undefined="for causal models; above 1.8e308",
    ),
    _penlp(DEFAULT_ALPHA),
    Measure(
        name="normlp",
        formula="-LP / LPu",
        unit="",
        higher_is_better=True,
        source=_LAU_2017,
        function=of.norm_lp,
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
        function=of.slor,
        needs=("unigrams",),
        undefined="without unigram frequencies; with a token missing from them",
    ),
    Measure(
        name="lp-l",
        formula="LP-L = sum of ln sigmoid(x)",
        unit="nats",
        higher_is_better=True,
        source=_LOGISTIC,
        function=of.logistic_lp,
        needs=("logit",),
        undefined="without the column logit",
    ),
    _penlp_l(DEFAULT_ALPHA),
    Measure(
        name="lp-nl",
        aliases=("normalised-logistic",),
        formula="sum of ln(sigmoid(x) / sum of sigmoid over the vocabulary)",
        unit="nats",
        higher_is_better=True,
        source=_LOGISTIC,
        function=of.normalised_logistic_lp,
        needs=("logit", "log_sigmoid_sum"),
        undefined="without the columns logit and log_sigmoid_sum",
    ),
)

MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in _ALL}
"""All measures by name, without their aliases."""

_BY_ANY_NAME = {name: measure for measure in _ALL for name in (measure.name, *measure.aliases)}


def find_measure(name: str) -> Measure:
    """The measure of a name; ``penlp:0.6`` is PenLP with an alpha of 0.6.

    Raises:
        UsageError: there is no such measure, or its alpha is no positive number.
    """
    family, colon, alpha = name.strip().lower().partition(":")
    if not colon and family in _BY_ANY_NAME:
        return _BY_ANY_NAME[family]
    if colon and family in _ADJUSTABLE:
        return _ADJUSTABLE[family](_alpha(alpha, name))
    if not colon and (plugged := _plugged(family)):
        return plugged
    if colon and family in _BY_ANY_NAME:
        raise UsageError(
            where=f"measure {name!r}",
            seen=f"{family} has no alpha",
            todo=f"Only {' and '.join(_ADJUSTABLE)} have one.",
        )
    raise UsageError(
        where=f"measure {name!r}",
        seen="there is no such measure",
        todo=did_you_mean(family, [*_BY_ANY_NAME, REGIONS]),
    )


def _plugged(name: str) -> Measure | None:
    """The measure of a plug-in, under the name by which it was asked for; None if there is none."""
    measure = find_plugin("cimento.measures", name, expected="a Measure", is_right=_is_measure)
    if measure is None:
        return None

    def value(sentence: Sentence) -> float:
        with blamed("cimento.measures", name, but=Undefined):
            return float(measure.function(sentence))

    return dataclasses.replace(measure, name=name, aliases=(), function=value)


def _is_measure(value: object) -> TypeGuard[Measure]:
    return isinstance(value, Measure)


def find_measures(names: Sequence[str]) -> tuple[Measure, ...]:
    """The measures of some names without repeats; a name may be several separated by commas.

    Raises:
        UsageError: there is no such measure.
    """
    single = [part for name in names for part in name.split(",") if part.strip()]
    return tuple({measure.name: measure for measure in map(find_measure, single)}.values())


def judged_on(names: Sequence[str]) -> tuple[str, ...]:
    """The names of measures as `Judging` has them, where ``regions`` is the empty name.

    Args:
        names: names of measures; each may be several separated by commas.

    Raises:
        UsageError: there is no such measure.
    """
    single = [part.strip() for name in names for part in name.split(",") if part.strip()]
    plain = ("" if name == REGIONS else find_measure(name).name for name in single)
    return tuple(dict.fromkeys(plain))


def columns_needed(names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of the tokens table that some measures need; the empty name needs none.

    Raises:
        UsageError: there is no such measure.
    """
    needs = {need for name in names if name for need in find_measure(name).needs}
    return tuple(column for column in COLUMNS if column in needs)


def _alpha(text: str, name: str) -> float:
    try:
        alpha = float(text)
    except ValueError:
        alpha = math.nan
    if not (math.isfinite(alpha) and alpha > 0):
        raise UsageError(
            where=f"measure {name!r}",
            seen=f"{text!r} is not a positive number",
            todo="Write the alpha after the colon: penlp:0.6.",
        )
    return alpha
