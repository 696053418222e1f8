"""Items x models x phenomena: difficulties of items and phenomena, and abilities of models.

The outcomes of runs of any kind become one table, items in rows and models in columns; people
who answered the same items may be further columns. An item-response model is fitted to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from cimento.compare.answer_table import AnswerTable, Key, TieRule
from cimento.compare.by_language import (
    AbilityInLanguage,
    LanguageItems,
    abilities_in_languages,
    items_by_language,
    language_codes,
)
from cimento.compare.family_items import FamilyItem, items_by_family
from cimento.compare.ranges import Range, range_at, ranges_of
from cimento.statistics.design import Floats, codes
from cimento.statistics.item_information import ItemBank, ItemFit, item_fit, shortest_suite
from cimento.statistics.item_response import ItemModel, ItemResponseFit, item_response
from cimento.statistics.multiple import benjamini_hochberg
from cimento.statistics.reliability import item_analysis

ModelChoice: TypeAlias = Literal["auto", "rasch", "2pl"]
"""An item-response model; ``auto`` takes 2PL where it fits significantly better than Rasch."""

ITEM_LEVEL, BACKWARDS_LEVEL = 0.05, 0.95
_DRAWS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzedItem:
    """One item, as all models together show it.

    Attributes:
        suite: name of the item's suite.
        item: id of the item.
        phenomenon: phenomenon that the item tests.
        n: defined answers.
        right: proportion of correct ones; None without any.
        difficulty: the logit of failing for the average model; None without a model of items.
        discrimination: discrimination in the two-parameter model; None without it.
        backwards: the probability that discrimination is below 0; None likewise.
        item_total: correlation with the other items; None where undefined.
        infit: mean square of the answers, near 1 where they are as expected, above 1 where they are
            less orderly; None likewise.
        infit_p: one-sided, of an infit as large, corrected over items by Benjamini and Hochberg;
            None likewise.
        texts: condition to its sentence.
    """

    suite: str
    item: str
    phenomenon: str
    n: int
    right: float | None
    difficulty: Range | None = None
    discrimination: Range | None = None
    backwards: float | None = None
    item_total: float | None = None
    infit: float | None = None
    infit_p: float | None = None
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzedModel:
    """One model, or one person, on the common scale.

    Attributes:
        model: label of the model.
        kind: kind of the model, or ``person``.
        family: family of the model: what models that may answer alike have in common; its name for
            one alone.
        n: defined answers.
        right: proportion of correct ones; None without any.
        ability: ability of the model in logits; 0 is the average of all models given.
        rank: 1 for the most able, by ability.
        rank_low: the best rank that it could hold: 2.5% of the posterior is below.
        rank_high: worst rank that the interval allows.
        best: the probability that it is the most able.
        on: phenomenon to the ability there.
    """

    model: str
    kind: str
    family: str
    n: int
    right: float | None
    ability: Range | None = None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    best: float | None = None
    on: Mapping[str, Range] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzedPhenomenon:
    """One phenomenon.

    Attributes:
        phenomenon: name of the phenomenon.
        suites: suites with items of it.
        items: number of items.
        right: proportion of correct answers; None without any.
        difficulty: mean difficulty of its items in logits, as far as they stand for all that could
            be made.
    """

    phenomenon: str
    suites: tuple[str, ...]
    items: int
    right: float | None
    difficulty: Range | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariancePart:
    """The variance of answers on the logit scale that goes with one kind of effect.

    Attributes:
        part: ``item``, ``phenomenon``, ``cluster`` (of items from one source), ``model``,
            ``family``, ``testlet`` (what the models of a family share on an item),
            ``interaction`` (of models and phenomena), ``discrimination``,
            ``covariates``, or ``answer``: a single answer's chance.
        sd: standard deviation in logits; of discrimination its own.
        share: proportion of the variance.
    """

    part: str
    sd: Range
    share: Range


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortList:
    """The fewest items that place the models with some precision.

    Attributes:
        precision: precision that was asked for: half the width of the widest 95% interval of the
            proportion of all items that a model gets right.
        reached: half the width that the items leave; above `precision` where all items are too few.
        items: suite and id of each item, the most telling first.
        of: number of all items.
        rank_correlation: Spearman's, of the models' shares by these items and by all; None where
            undefined.
    """

    precision: float
    reached: float
    items: tuple[Key, ...]
    of: int
    rank_correlation: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The analysis of a table of items and models.

    Attributes:
        kind: the model from which difficulties and abilities come: ``rasch`` or ``2pl``.
        items: items in the order of the suites.
        models: the most able first.
        phenomena: the hardest first.
        variance: the parts of the variance of answers.
        slopes: covariate to how much a standard deviation of it makes items harder, in logits.
        answers: defined answers.
        undefined: answers that were asked for and count neither way, and are left out.
        ties: answers that are ties, each half right, or as the outcomes have them.
        not_asked: pairs of an item and a model that no run has.
        tie_rule: ``judged`` or ``half``.
        two_parameters_p: p-value of the likelihood-ratio test that all items discriminate alike;
            None where one of the two models was not fitted.
        all_right: items that all models got right, which tell nothing of differences.
        all_wrong: items that no model got right.
        converged: the optimum was found.
        short: the shortest list of items with a precision; None where it was not asked for.
        reason: why there is no model of items; None where there is one.
        families: family to its models, of families of two models or more.
        by_family: items that are easier or harder for a family (differential item functioning),
            the surest first, with a probability of .95 or more; None where that is not known.
        no_families: why it is not known.
        languages: the items of each language, where there are several.
        in_languages: the ability of each model in each of them, the surest deviations first.
        chance: level of chance of the suites, to two digits; None where it is not known.
        no_chance: why it is not known; empty where it is.
        others: the analyses of suites with other levels of chance, which are other scales.
    """

    kind: ItemModel
    items: tuple[AnalyzedItem, ...]
    models: tuple[AnalyzedModel, ...]
    phenomena: tuple[AnalyzedPhenomenon, ...]
    variance: tuple[VariancePart, ...] = ()
    slopes: Mapping[str, Range] = field(default_factory=dict)
    answers: int
    undefined: int
    ties: int
    not_asked: int
    tie_rule: TieRule
    two_parameters_p: float | None = None
    all_right: int = 0
    all_wrong: int = 0
    converged: bool = False
    short: ShortList | None = None
    reason: str | None = None
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_family: tuple[FamilyItem, ...] | None = None
    no_families: str | None = None
    languages: tuple[LanguageItems, ...] = ()
    in_languages: tuple[AbilityInLanguage, ...] = ()
    chance: float | None = None
    no_chance: str = ""
    others: tuple[Analysis, ...] = ()

    @property
    def backwards(self) -> tuple[AnalyzedItem, ...]:
        """Items that better models fail more often, the surest first."""
        sure = (i for i in self.items if i.backwards is not None and i.backwards >= BACKWARDS_LEVEL)
        return tuple(sorted(sure, key=lambda item: -(item.backwards or 0.0)))

    @property
    def misfits(self) -> tuple[AnalyzedItem, ...]:
        """Items whose answers are less orderly than the model expects, the worst first.

        An infit below 1, more orderly than expected, is not a fault: it only says that models
        answer alike, as few models often do.
        """
        bad = (
            item
            for item in self.items
            if item.infit_p is not None and item.infit_p < ITEM_LEVEL and (item.infit or 0.0) > 1
        )
        return tuple(sorted(bad, key=lambda item: -(item.infit or 0.0)))


def analyze_table(
    table: AnswerTable,
    *,
    kind: ModelChoice = "auto",
    ties: TieRule = "judged",
    precision: float | None = None,
    seed: int = 0,
) -> Analysis:
    """The item-response analysis of a table.

    Args:
        table: of answers.
        kind: of model; ``auto`` for the two-parameter one where it fits significantly better.
        ties: the rule by which the table was made.
        precision: of the shortest list of items to look for; None for no such list.
        seed: of draws.

    Raises:
        UsageError: a precision that is not a share.
    """
    fits, p = _fits(table, kind, seed)
    chosen: ItemModel = "rasch"
    if kind == "2pl" or (kind == "auto" and p is not None and p < ITEM_LEVEL):
        chosen = "2pl"
    fit, names = fits[chosen], table.phenomenon_codes[1]
    analysis = _analysis(table, fit, fits.get("2pl"), names, p=p, ties=ties, seed=seed)
    if precision is None or fit.reason:
        return analysis
    return replace(analysis, short=_short_list(table, fit, precision))


def _short_list(table: AnswerTable, fit: ItemResponseFit, precision: float) -> ShortList:
    bank = ItemBank.of(fit, table.phenomenon_codes[0])
    short = shortest_suite(bank, table.right, precision=precision)
    return ShortList(
        precision=precision,
        reached=short.reached,
        items=tuple(table.keys[place] for place in short.items),
        of=len(table.keys),
        rank_correlation=short.rank_correlation,
    )


def _fits(
    table: AnswerTable, kind: ModelChoice, seed: int
) -> tuple[dict[ItemModel, ItemResponseFit], float | None]:
    """The models that are wanted, and the p of items that all discriminate alike."""
    numbers = table.phenomenon_codes[0]
    families, n_families = codes([one.family or one.name for one in table.respondents])
    x = np.column_stack(list(table.covariates.values())) if table.covariates else None
    fits: dict[ItemModel, ItemResponseFit] = {}
    wanted: tuple[ItemModel, ...] = ("rasch",) if kind == "rasch" else ("rasch", "2pl")
    start: dict[str, float] = {}
    for one in wanted:
        fits[one] = item_response(
            table.right,
            phenomenon=numbers,
            family=families if n_families > 1 else None,
            covariates=x,
            cluster=table.cluster_codes,
            area=language_codes(table),
            kind=one,
            start=start,
            seed=seed,
        )
        start = {name: spread.sd for name, spread in fits[one].spreads.items()}
    return fits, _two_parameters_p(fits)


def _two_parameters_p(fits: Mapping[ItemModel, ItemResponseFit]) -> float | None:
    """The chance of as much better a fit, if all items discriminate alike.

    The likelihood-ratio test of a variance, whose null hypothesis is at the edge: half of a
    chi-square with one degree of freedom (Self and Liang 1987,
    doi:10.1080/01621459.1987.10478472).
    """
    logs = [fit.loglik for fit in fits.values()]
    if len(logs) < 2 or None in logs:  # noqa: PLR2004  # both models
        return None
    gain = 2 * ((logs[1] or 0.0) - (logs[0] or 0.0))
    return 0.5 * math.erfc(math.sqrt(gain / 2)) if gain > 0 else 1.0


def _analysis(
    table: AnswerTable,
    fit: ItemResponseFit,
    two: ItemResponseFit | None,
    names: Sequence[str],
    *,
    p: float | None,
    ties: TieRule,
    seed: int,
) -> Analysis:
    known = np.isfinite(table.right)
    asked = sum(len(one.answers) + one.undefined for one in table.respondents)
    shares = _shares(table.right, axis=1)
    analysis = Analysis(
        kind=fit.kind,
        items=_items(table, fit, two, seed=seed),
        models=_respondents(table, fit, names, seed=seed),
        phenomena=_phenomena(table, fit, names),
        variance=tuple(
            VariancePart(
                part=name,
                sd=Range(spread.sd, spread.low, spread.high),
                share=Range(spread.share, spread.share_low, spread.share_high),
            )
            for name, spread in fit.spreads.items()
        ),
        slopes=ranges_of(fit.slopes, table.covariates) if fit.slopes else {},
        answers=int(known.sum()),
        undefined=sum(one.undefined for one in table.respondents),
        ties=sum(one.ties for one in table.respondents),
        not_asked=max(0, table.right.size - asked),
        tie_rule=ties,
        two_parameters_p=p,
        all_right=shares.count(1.0),
        all_wrong=shares.count(0.0),
        converged=fit.converged,
        reason=fit.reason,
        in_languages=abilities_in_languages(table, fit),
        **items_by_family(table, fit, level=BACKWARDS_LEVEL),
    )
    return replace(
        analysis,
        languages=items_by_language(
            table,
            items=analysis.items,
            backwards=analysis.backwards,
            misfits=analysis.misfits,
            by_family=analysis.by_family,
        ),
    )


def _shares(right: Floats, *, axis: int) -> list[float | None]:
    known = np.isfinite(right)
    n = known.sum(axis=axis)
    total = np.where(known, right, 0.0).sum(axis=axis)
    return [float(t / k) if k else None for t, k in zip(total, n, strict=True)]


def _items(
    table: AnswerTable, fit: ItemResponseFit, two: ItemResponseFit | None, *, seed: int
) -> tuple[AnalyzedItem, ...]:
    shares, n = _shares(table.right, axis=1), np.isfinite(table.right).sum(axis=1)
    orderly: ItemFit | None = None
    corrected: list[float | None] = [None] * len(table.keys)
    if fit.probability is not None:
        orderly = item_fit(table.right, fit.probability)
        p_values = [None if math.isnan(one) else float(one) for one in orderly.p]
        corrected = benjamini_hochberg(p_values)
    slopes = two.discrimination if two else None
    against = two.backwards if two else None
    totals = _item_totals(table.right, seed)
    return tuple(
        AnalyzedItem(
            suite=suite,
            item=item,
            phenomenon=table.phenomena[i],
            n=int(n[i]),
            right=shares[i],
            difficulty=range_at(fit.difficulty, i),
            discrimination=range_at(slopes, i),
            backwards=None if against is None else float(against[i]),
            item_total=totals[i],
            infit=None if orderly is None or math.isnan(orderly.p[i]) else float(orderly.infit[i]),
            infit_p=corrected[i],
            texts=table.texts.get((suite, item), {}),
        )
        for i, (suite, item) in enumerate(table.keys)
    )


def _item_totals(right: Floats, seed: int) -> Sequence[float | None]:
    """Item-total correlations where every respondent was asked every item."""
    if not np.isfinite(right).all():
        return [None] * len(right)
    totals = item_analysis((right > 0.5).tolist(), seed=seed).item_total  # noqa: PLR2004  # half
    return totals or [None] * len(right)


def _respondents(
    table: AnswerTable, fit: ItemResponseFit, names: Sequence[str], *, seed: int
) -> tuple[AnalyzedModel, ...]:
    shares, n = _shares(table.right, axis=0), np.isfinite(table.right).sum(axis=0)
    ranks = _ranks(fit, seed)
    phenomena = len(names)
    models = [
        AnalyzedModel(
            model=one.name,
            kind=one.kind,
            family=one.family,
            n=int(n[j]),
            right=shares[j],
            ability=range_at(fit.ability, j),
            **(ranks[j] if ranks else {}),
            on={
                name: place
                for k, name in enumerate(names)
                if (place := range_at(fit.by_phenomenon, j * phenomena + k)) is not None
            },
        )
        for j, one in enumerate(table.respondents)
    ]
    return tuple(sorted(models, key=lambda m: m.rank or -(m.right or 0.0)))


def _ranks(fit: ItemResponseFit, seed: int) -> list[dict[str, Any]]:
    """The rank of each respondent, and the ranks that the posterior of abilities leaves."""
    if fit.ability is None or fit.ability_covariance is None:
        return []
    mean = fit.ability.value
    drawn = np.random.default_rng(seed).multivariate_normal(
        mean, fit.ability_covariance, size=_DRAWS
    )
    places = (-drawn).argsort(axis=1).argsort(axis=1) + 1
    plain = (-mean).argsort(kind="stable").argsort(kind="stable") + 1
    low, high = np.quantile(places, (0.025, 0.975), axis=0, method="nearest")
    best = (places == 1).mean(axis=0)
    columns = zip(plain, low, high, best, strict=True)
    return [
        {"rank": int(r), "rank_low": int(a), "rank_high": int(b), "best": float(c)}
        for r, a, b, c in columns
    ]


def _phenomena(
    table: AnswerTable, fit: ItemResponseFit, names: Sequence[str]
) -> tuple[AnalyzedPhenomenon, ...]:
    results = []
    for k, name in enumerate(names):
        rows = [i for i, one in enumerate(table.phenomena) if one == name]
        block = table.right[rows]
        known = block[np.isfinite(block)]
        results.append(
            AnalyzedPhenomenon(
                phenomenon=name,
                suites=tuple(dict.fromkeys(table.keys[i][0] for i in rows)),
                items=len(rows),
                right=float(known.mean()) if known.size else None,
                difficulty=range_at(fit.phenomenon, k),
            )
        )
    return tuple(
        sorted(results, key=lambda one: -(one.difficulty.value if one.difficulty else 0.0))
    )
