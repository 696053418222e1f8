"""The estimates of a run of rated sentences: correlations, classification, ceilings, summaries."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from cimento.io.values import NoValue, Value
from cimento.paradigms.ratings.others import (
    SHARED_PEOPLE,
    agreement_for_others,
    ceiling_with_others,
    correlations_for_others,
    kappas_of_pairs,
    partial_for_others,
)
from cimento.paradigms.ratings.people import (
    FREQUENCY,
    KINDS,
    LEVELS,
    UNNAMED,
    WORDS,
    RatedValue,
    belongs_to,
    correlation,
    correlations_with_rest,
    partial_spearman,
    sentence_design,
)
from cimento.records.outcomes import Estimate
from cimento.statistics.design import Design
from cimento.suites.ratings import NO_NUMBERS, NO_SPREAD, RatedSentence, Rating

if TYPE_CHECKING:
    import polars as pl

    from cimento.measures import Measure
    from cimento.statistics.agreement import Agreement
    from cimento.statistics.correlation import Correlation
    from cimento.statistics.intervals import Interval


Of: TypeAlias = Callable[[RatedSentence], "Value | None"]
"""Function that returns the value of a sentence: a number, a reason for none, or None."""

NO_VALUE = "no sentence has a value"
ONE_VALUE = "a standard deviation needs two values"

THRESHOLD_CHOSEN = "its threshold was chosen on other sentences: no interval"
NO_LABELS = "no sentence is labeled acceptable or unacceptable"

ACCEPTABLE = "acceptable"
UNACCEPTABLE = "unacceptable"
GRAMMATICAL = "unacceptable, grammatical"
UNGRAMMATICAL = "unacceptable, ungrammatical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """Descriptive statistics of some values.

    Attributes:
        name: name of the group.
        n: number of sentences with a value.
        without: number of sentences without one, which are in no other number.
        mean: mean of the values; None if no sentence has a value.
        sd: standard deviation of the values, with n - 1.
        low: smallest value.
        high: largest value.
        sd_within: mean of the standard deviations (n - 1) of the single ratings of each sentence;
            None for measures, or if single ratings and their deviations are unknown.
        reasons: reason for each field that is None.
    """

    name: str
    n: int
    without: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    sd_within: float | None
    reasons: Mapping[str, str]


def describe_ratings(
    name: str, sentences: Sequence[RatedSentence], of: Of | None = None
) -> Description:
    """The number, mean, standard deviation and range of a value over some sentences.

    Args:
        name: name of the group.
        sentences: sentences of the group.
        of: function that returns the value of a sentence; None for its mean rating.
    """
    measured = [sentence.mean if of is None else of(sentence) for sentence in sentences]
    values = [value for value in measured if value is not None and not isinstance(value, NoValue)]
    deviations = [s.sd for s in sentences if of is None and s.sd is not None]
    n = len(values)
    reasons = dict.fromkeys(("mean", "low", "high"), NO_VALUE) if not values else {}
    if n < 2:  # noqa: PLR2004  # two values are needed for a deviation
        reasons["sd"] = ONE_VALUE
    if not deviations:
        reasons["sd_within"] = "no sentence has a standard deviation of its ratings"
    return Description(
        name=name,
        n=n,
        without=len(sentences) - n,
        mean=math.fsum(values) / n if values else None,
        sd=statistics.stdev(values) if "sd" not in reasons else None,
        low=min(values, default=None),
        high=max(values, default=None),
        sd_within=math.fsum(deviations) / len(deviations) if deviations else None,
        reasons=reasons,
    )


def by_label(sentences: Sequence[RatedSentence]) -> dict[str, list[RatedSentence]]:
    """The sentences grouped by the labels of their authors.

    Unacceptable sentences form three groups: the grammatical ones, the ungrammatical ones, and all
    together. Published tables do not always say which of these their rows are, so each can be
    compared. Groups without a sentence are left out.
    """
    bad = [sentence for sentence in sentences if sentence.label == UNACCEPTABLE]
    groups = {
        ACCEPTABLE: [sentence for sentence in sentences if sentence.label == ACCEPTABLE],
        GRAMMATICAL: [sentence for sentence in bad if sentence.grammatical is True],
        UNGRAMMATICAL: [sentence for sentence in bad if sentence.grammatical is False],
        UNACCEPTABLE: bad,
    }
    return {name: group for name, group in groups.items() if group}


def describe_labels(sentences: Sequence[RatedSentence], of: Of | None = None) -> list[Description]:
    """The descriptive statistics of a value for each group of `by_label`.

    For ratings, this is the layout of Table 2, for perplexities that of Table 4, of Albertin,
    Miaschi and Brunato 2021 (ceur-ws.org/Vol-3033).
    """
    return [describe_ratings(name, group, of) for name, group in by_label(sentences).items()]


RATING = "rating"
"""The question of estimates that concern only people."""

TOKENS = "tokens"
"""The question about the number of scored tokens in a sentence."""

LABEL = "label"
"""The column by whose groups ratings and perplexities are described."""

BY_HALVES = "split halves of the ratings"
"""The method for a noise ceiling where single ratings are known."""
BY_ERRORS = "the standard errors of the mean ratings"
"""The method for a noise ceiling where only means are known, with their spread and number."""

_DESCRIBED = {"mean": "mean", "sd": "sd", "low": "min", "high": "max", "sd_within": "sd within"}
"""Fields of a description, each mapped to the name of its statistic."""


@dataclass(frozen=True, slots=True)
class RatedValues:
    """The sentences of a run, with all of their values.

    Attributes:
        sentences: sentences in the order of the suite.
        columns: values, or reasons for none, by question and sentence id.
        ratings: reference of each value, by sentence id.
    """

    sentences: Sequence[RatedSentence]
    columns: Mapping[str, Mapping[str, Value]]
    ratings: Mapping[str, float]

    @classmethod
    def of(cls, sentences: Sequence[RatedSentence], outcomes: pl.DataFrame) -> RatedValues:
        """The values of some sentences in an outcomes table.

        Args:
            sentences: sentences of the suite.
            outcomes: outcomes table of its run.
        """
        columns: dict[str, dict[str, Value]] = {}
        ratings: dict[str, float] = {}
        rows = outcomes.filter(outcomes["verdict"].is_null())
        for question, item, value, reference, reason in rows.select(
            "question", "item", "value", "reference", "reason"
        ).iter_rows():
            known = NoValue(reason or "") if value is None else value
            columns.setdefault(question, {})[item] = known
            if reference is not None:
                ratings[item] = reference
        return cls(sentences, columns, ratings)

    def of_sentence(self, question: str, sentence: RatedSentence) -> Value:
        """The value of a sentence, or the reason why there is none."""
        return self.columns[question][sentence.id]

    @property
    def covariates(self) -> tuple[str, ...]:
        """The covariates: length, and frequency only if every sentence has one."""
        frequencies = self.columns.get(FREQUENCY, {})
        known = frequencies and not any(isinstance(v, NoValue) for v in frequencies.values())
        return (WORDS, FREQUENCY) if known else (WORDS,)

    def rows(self, question: str) -> list[RatedValue]:
        """The sentences with a rating and a value of a measure."""
        held = [self.columns[name] for name in self.covariates]
        return [
            RatedValue(
                sentence,
                self.ratings[sentence.id],
                value,
                tuple(column[sentence.id] for column in held),  # type: ignore[misc]  # all known
            )
            for sentence in self.sentences
            if sentence.id in self.ratings
            and not isinstance(value := self.of_sentence(question, sentence), NoValue)
        ]


def rating_estimates(
    values: RatedValues,
    like: Estimate,
    *,
    compared: Sequence[RatedSentence],
    measures: Sequence[Measure],
    perplexity: str,
    seed: int,
    draws: int,
) -> list[Estimate]:
    """All estimates of measures in comparison with ratings and labels.

    Args:
        values: values of the sentences of a run.
        like: an estimate with the names of the suite and the model.
        compared: the sentences with the ratings that measures are correlated with: z-scores, if
            so chosen. Their noise is what limits a correlation.
        measures: measures to compare with the ratings; the first gives the headline.
        perplexity: measure that is described by label.
        seed: seed of halvings and the division into parts.
        draws: number of halvings.
    """
    estimates: list[Estimate] = []
    if values.ratings:
        single = any(sentence.ratings for sentence in compared)
        by_id = {sentence.id: sentence for sentence in compared} if single else {}
        correlated = [list(_correlations(values, measure, like, by_id)) for measure in measures]
        estimates += correct_over_measures(correlated)
    if any(sentence.label for sentence in values.sentences):
        for measure in measures:
            estimates += _binary(values, measure, replace(like, question=measure.name), seed=seed)
    if any(sentence.mean is not None for sentence in values.sentences):
        people = replace(like, question=RATING, role="detail")
        estimates += ceilings(compared, people, seed=seed, draws=draws)
        estimates += agreement_estimates(values.sentences, people)
        estimates += _described(describe_labels(values.sentences), people)
    labeled = describe_labels(
        values.sentences, lambda sentence: values.of_sentence(perplexity, sentence)
    )
    return [*estimates, *_described(labeled, replace(like, question=perplexity, role="detail"))]


def _correlations(
    values: RatedValues, measure: Measure, like: Estimate, compared: Mapping[str, RatedSentence]
) -> Iterator[Estimate]:
    """Spearman's coefficient with its test, then the other coefficients of a measure."""
    rows = values.rows(measure.name)
    design = sentence_design([row.sentence for row in rows])
    better = "higher" if measure.higher_is_better else "lower"
    like = replace(
        like,
        question=measure.name,
        description=f"{measure.formula} beside the ratings; the {better} the better",
        role="detail",
        n=len(rows),
        unscored=len(values.ratings) - len(rows),
        clustered=design.clustered,
        chance=0.0,
        chance_method="values and ratings unrelated",
    )
    coefficients = {kind: correlation(rows, kind, design) for kind in KINDS}
    by_kind = {kind: _measured(like, kind, one.r, one) for kind, one in coefficients.items()}
    first, *others = by_kind.values()
    tested = coefficients[KINDS[0]]
    yield replace(first, role="main", p=tested.p, p_method=tested.reason or tested.p_method)
    yield from others
    if compared:
        yield from correlations_for_others(rows, compared, by_kind)
    held = f"Spearman with {' and '.join(values.covariates)} held constant"
    partial = partial_spearman(rows, design)
    like = replace(like, description=held)
    plain = _measured(like, "partial spearman", partial.r, partial)
    yield plain
    if compared:
        yield partial_for_others(rows, compared, plain)


def _measured(
    like: Estimate, statistic: str, value: float | None, ends: Correlation | Agreement | Interval
) -> Estimate:
    """A value with its interval, or the reason for none."""
    return replace(
        like,
        statistic=statistic,
        value=value,
        low=ends.low,
        high=ends.high,
        interval_method=ends.method,
        reason=ends.reason or "",
    )


def correct_over_measures(families: Sequence[Sequence[Estimate]]) -> list[Estimate]:
    """The estimates of all measures, with Holm's correction of p-values over all measures.

    Args:
        families: estimates of each measure, the first of which has the test.
    """
    from cimento.statistics.multiple import holm

    if len(families) < 2:  # noqa: PLR2004  # one test is not a family
        return [*itertools.chain(*families)]
    corrected = []
    adjusted = holm([estimates[0].p for estimates in families])
    for (first, *others), p in zip(families, adjusted, strict=True):
        method = first.p_method
        if first.p is not None:
            method = f"{method}; Holm over {len(families)} measures"
        corrected += [replace(first, p_corrected=p, p_method=method), *others]
    return corrected


def _binary(
    values: RatedValues, measure: Measure, like: Estimate, *, seed: int
) -> Iterator[Estimate]:
    """The AUC, and Matthews's correlation of labels and a threshold.

    The threshold is chosen on nine parts and evaluated on the tenth, as for the baselines of CoLA
    (Warstadt et al. 2019, doi:10.1162/tacl_a_00290); clusters and pairs stay in one part.
    """
    from cimento.statistics.classification import auc, auc_interval, threshold_mcc

    labeled = [sentence for sentence in values.sentences if sentence.label]
    known = [
        (sentence, value if measure.higher_is_better else -value)
        for sentence in labeled
        if not isinstance(value := values.of_sentence(measure.name, sentence), NoValue)
    ]
    clusters = [belongs_to(sentence) for sentence, _ in known]
    like = replace(
        like,
        description=f"acceptable or not, by a threshold on {measure.name}",
        n=len(known),
        unscored=len(labeled) - len(known),
        clustered=sentence_design([sentence for sentence, _ in known]).clustered,
        chance_method="values and labels unrelated",
    )
    by_threshold = replace(like, role="detail", chance=0.0)
    if not known:
        yield replace(like, statistic="AUC", reason=NO_LABELS, chance=0.5)
        for statistic in ("MCC", "MCC in sample"):
            yield replace(by_threshold, statistic=statistic, reason=NO_LABELS)
        return
    scores = [value for _, value in known]
    acceptable = [sentence.label == ACCEPTABLE for sentence, _ in known]
    area = auc(scores, acceptable)
    interval = auc_interval(scores, acceptable, Design(tuple(range(len(known))), tuple(clusters)))
    measured = _measured(replace(like, chance=0.5), "AUC", area.value, interval)
    yield replace(measured, reason=area.reason or measured.reason)
    threshold = threshold_mcc(scores, acceptable, seed=seed, folds=10, clusters=clusters)
    for statistic, mcc in (("MCC", threshold.mcc), ("MCC in sample", threshold.mcc_in_sample)):
        reason = (threshold.reason if mcc is None else None) or THRESHOLD_CHOSEN
        yield replace(by_threshold, statistic=statistic, value=mcc, reason=reason)


def ceilings(
    sentences: Sequence[RatedSentence], like: Estimate, *, seed: int, draws: int
) -> Iterator[Estimate]:
    """The noise ceilings, from split halves and from known standard deviations and numbers."""
    from cimento.statistics.reliability import ceiling_of_means, split_half

    ratings = [[rating.value for rating in sentence.ratings] for sentence in sentences]
    halves = split_half(ratings, seed=seed, draws=max(draws, 1), kind="spearman")
    reason = halves.reason or "the spread of halvings is not an interval of the ceiling"
    if not halves.items and any(one.sd is not None and not one.n for one in sentences):
        reason = NO_NUMBERS
    elif not any(ratings) and not any(one.sd is not None for one in sentences):
        reason = NO_SPREAD
    by_halves = replace(like, method=BY_HALVES, n=halves.items, reason=reason)
    plain = replace(by_halves, statistic="noise ceiling", value=halves.ceiling)
    yield plain
    if halves.ceiling is not None:
        yield ceiling_with_others(sentences, halves, plain)
    yield replace(by_halves, statistic="split-half reliability", value=halves.reliability)
    known = [
        (sentence.mean, sentence.sd / math.sqrt(sentence.n))
        for sentence in sentences
        if sentence.mean is not None and sentence.sd is not None and sentence.n
    ]
    errors = ceiling_of_means([mean for mean, _ in known], [error for _, error in known])
    yield replace(
        like,
        statistic="noise ceiling",
        method=BY_ERRORS,
        value=errors.value,
        n=len(known),
        reason=errors.reason or "no interval is known for it",
    )


def agreement_estimates(sentences: Sequence[RatedSentence], like: Estimate) -> Iterator[Estimate]:
    """The agreement among people: alphas, kappas, and each person with the others.

    Alphas and Fleiss's kappa have intervals over sentences, with pairs as clusters. The two means
    over people have none, since different pairs of people include the same person; that of Cohen's
    kappa has one for other people.

    Args:
        sentences: sentences; those without single ratings are ignored.
        like: an estimate with the suite, model and question.
    """
    from cimento.statistics.agreement import fleiss_kappa, krippendorff_alpha

    rated = [sentence for sentence in sentences if sentence.ratings]
    once = [_of_each_once(sentence) for sentence in rated]
    lists = [[rating.value for rating in ratings] for ratings in once]
    design = sentence_design(rated)
    alphas = [krippendorff_alpha(lists, scale=level, design=design) for level in LEVELS]
    by_level = {}
    for one in (*alphas, fleiss_kappa(lists, design=design)):
        statistic, _, level = one.coefficient.partition(", ")
        alike = replace(like, method=level, n=one.items, clustered=design.clustered)
        by_level[level] = _measured(alike, statistic, one.value, one)
    yield from by_level.values()
    if rated:
        yield from agreement_for_others(rated, once, by_level)
    yield from kappas_of_pairs(sentences, like)
    with_rest = correlations_with_rest(sentences)
    nobody = f"nobody shares three sentences with others, or {UNNAMED}"
    yield replace(
        like,
        statistic="mean correlation with the rest",
        value=math.fsum(with_rest) / len(with_rest) if with_rest else None,
        n=len(with_rest),
        reason=SHARED_PEOPLE if with_rest else nobody,
    )


def _of_each_once(sentence: RatedSentence) -> list[Rating]:
    """The ratings of a sentence, the first of each participant: one person agrees with others."""
    first: dict[str, Rating] = {}
    return [
        rating
        for rating in sentence.ratings
        if not rating.participant or first.setdefault(rating.participant, rating) is rating
    ]


def _described(groups: Sequence[Description], like: Estimate) -> Iterator[Estimate]:
    """The means and deviations of groups, which describe the sentences of the suite."""
    for group in groups:
        for name, statistic in _DESCRIBED.items():
            if name == "sd_within" and like.question != RATING:
                continue
            yield replace(
                like,
                group=LABEL,
                level=group.name,
                statistic=statistic,
                value=getattr(group, name),
                n=group.n,
                unscored=group.without,
                reason=group.reasons.get(name, "it describes the sentences asked"),
            )
