"""How often people's choices agree with predictions, and models beside them.

Each prediction is evaluated with votes in place of surprisals: the surprisal of a sentence is minus
the number of people who chose it, so that the most chosen sentence has the lowest. This is the
majority's verdict. A single person's choice is evaluated in the same way, with one vote. The rate
for one person is the mean over items of the proportion of single choices by which the prediction
holds.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from cimento.io.parsing import whole_number
from cimento.judgments import ACCEPTABILITY, ACCEPTABLE, BETTER, SCALE, Judgment
from cimento.kinds.surveyor import answers_about
from cimento.paradigms.regions.given_answers import given_rating
from cimento.paradigms.regions.judging import (
    CHOSEN_BY,
    chosen_column,
    judged_suite,
    label_of,
    options_of,
    questions,
)
from cimento.paradigms.regions.predictions import evaluate_item, parse_predictions
from cimento.records.outcomes import VerdictName
from cimento.report import MAJORITY, ONE_PERSON
from cimento.statistics.agreement import Agreement, cohen_kappa
from cimento.statistics.correlation import Correlation, correlate
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.statistics.means import bounded_mean
from cimento.suites.formula import (
    Comparison,
    Formula,
    Junction,
    Reference,
    canonical,
    comparisons,
    numbers,
    references,
    signed_values,
)
from cimento.suites.stimuli import stimulus_texts

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.suites import Suite

NO_CHOICES = "nobody chose between these sentences"
_CONSTANT = {
    "all values of x are equal": "all margins of the model are equal",
    "all values of y are equal": "all proportions of people are equal",
}
"""Why a correlation of margins with proportions is undefined, said of the model and of people."""
ROUNDING = 1e-9
"""Greatest difference of two sums of mean ratings that is rounding, as of equal thirds."""
NO_SINGLE = "one choice cannot decide the prediction both ways"
_SHARE = re.compile(r"0\.\d+|1\.0+")


@dataclass(frozen=True, slots=True)
class SameVerdict:
    """How many items have the same verdict from a model and from people together.

    Attributes:
        n: number of items on which both have a verdict.
        same: number of them on which it is the same one. A tie is the same as a tie, and not as
            pass or fail, unless ties count as passes.
        interval: 95% interval of the proportion, that of `share_interval`.
        kappa: Cohen's kappa of the two, which a high base rate of one verdict does not raise.
    """

    n: int
    same: int
    interval: Interval
    kappa: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleRate:
    """The rate at which one prediction, or the conjunction of all, holds for people or a model.

    Attributes:
        suite: name of the suite.
        question: name of the prediction; ``all predictions`` for the conjunction.
        who: `MAJORITY` of choices, `MEANS` of ratings, `ONE_PERSON`, or the label of a model.
        of_people: whether the rate is of people.
        given: whether people chose between the sentences or rated them.
        n: number of items in the rate, all of which people answered.
        tied: number of ties among them, or among the comparisons of single people; None for single
            choices.
        answers: number of choices that people made in these items, of ratings that they gave, or
            of comparisons of single people; None for a model.
        rate: proportion of the items or comparisons, or mean over items of the proportion of
            choices; None without items.
        low: lower end of the 95% interval, for other items and these people; None if there is none.
        high: upper end of the interval.
        reason: reason why there is no interval, or no rate.
        others: the interval for other items and other people like these; None where there are no
            names of people, or for a model.
        graded: Spearman's correlation, over items, of the model's margin with the proportion of
            choices or people by which the prediction holds; None for people.
        same: on how many items the model's verdict is that of people together; None for people.
    """

    suite: str
    question: str
    who: str
    of_people: bool
    given: Literal["choice", "rating"] = "choice"
    n: int
    tied: int | None = None
    answers: int | None = None
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    others: Interval | None = None
    graded: Correlation | None = None
    same: SameVerdict | None = None


def rates_of_choices(run: Run) -> list[PeopleRate]:
    """The rates at which people's choices agree with the predictions, and the model's rates.

    Args:
        run: of a suite; there are none if it does not have the number of people who chose each
            sentence.

    Returns:
        Three rates for each prediction and for the conjunction of all; only one, with a reason, for
        a prediction that choices of sentences cannot decide or that nobody made choices on.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    suite, options = judged_suite(run), options_of(run)
    if chosen_column(suite.column_names) not in suite.column_names:
        return []
    counts, unread = counts_of_choices(suite)
    trees = parse_predictions(suite)
    whole = functools.reduce(partial(Junction, "&"), trees)
    rates: list[PeopleRate] = []
    # A single prediction is all there is, so that the conjunction is no further question.
    for question, formula in zip(questions(run), (*trees, whole), strict=False):
        like = PeopleRate(suite=suite.name, question=question, who=MAJORITY, of_people=True, n=0)
        reason = unread or undecidable(formula, whole_sentence=len(suite.region_names) == 1)
        if reason or not counts:
            rates.append(dataclasses.replace(like, reason=reason or NO_CHOICES))
            continue
        passes = passing(run)
        clusters = suite.clusters() if suite.cluster else None
        kinds = {item: kind_of_votes(formula, choices) for item, choices in counts.items()}
        known = {item: kind for item, kind in kinds.items() if kind != "unscored"}
        made = _made(counts[item].values() for item in known)
        rates.append(
            rate_of_verdicts(known, passes, clusters, dataclasses.replace(like, answers=made))
        )
        decided = decided_choices(formula, counts)
        shares = {item: held / (held + failed) for item, (held, failed) in decided.items()}
        single = dataclasses.replace(like, who=ONE_PERSON, answers=_made(decided.values()))
        rates.append(_single(shares, clusters, single, seed=options.seed))
        rates.append(rate_of_model(run, like, known, shares, passes, clusters))
    return rates


def passing(run: Run) -> frozenset[VerdictName]:
    """The verdicts by which a prediction holds, as a run counts ties."""
    ties: frozenset[VerdictName] = frozenset({"tie"} if options_of(run).ties == "pass" else ())
    return ties | {"pass"}


def rate_of_model(
    run: Run,
    like: PeopleRate,
    answered: Mapping[str, VerdictName],
    shares: Mapping[str, float],
    passes: Collection[VerdictName],
    clusters: Mapping[str, Hashable] | None,
) -> PeopleRate:
    """The rate of a model on the items that people answered, and its margins beside shares.

    Args:
        run: of the model.
        like: rate with the question.
        answered: item to the verdict of people together.
        shares: item to the proportion of people by which the prediction holds.
        passes: the verdicts by which it holds.
        clusters: what items belong to; None where each stands alone.
    """
    import polars as pl

    outcomes = run.outcomes().filter(
        pl.col("question") == like.question,
        pl.col("item").is_in(list(answered)),
        pl.col("verdict") != "unscored",
    )
    margins = dict(outcomes.drop_nulls("value").select("item", "value").iter_rows())
    both = [item for item in margins if item in shares]
    x, y = ([values[item] for item in both] for values in (margins, shares))
    graded = correlate(x, y, design=Design.of(both, clusters))
    why = graded.reason and _CONSTANT.get(graded.reason, graded.reason)
    graded = dataclasses.replace(graded, reason=why)
    verdicts = dict(outcomes.select("item", "verdict").iter_rows())
    same = same_verdicts(verdicts, answered, passes, clusters)
    like = dataclasses.replace(like, who=label_of(run), of_people=False, graded=graded, same=same)
    return rate_of_verdicts(verdicts, passes, clusters, like)


def same_verdicts(
    verdicts: Mapping[str, VerdictName],
    people: Mapping[str, VerdictName],
    passes: Collection[VerdictName],
    clusters: Mapping[str, Hashable] | None,
) -> SameVerdict:
    """On how many items a model's verdict is that of people together.

    Args:
        verdicts: item to the verdict of the model.
        people: item to the verdict of most people, or of mean ratings.
        passes: the verdicts that count as passes.
        clusters: what items belong to; None where each stands alone.
    """
    both = [item for item in verdicts if item in people]
    model, together = (
        [as_counted(given[item], passes) for item in both] for given in (verdicts, people)
    )
    same = [one == other for one, other in zip(model, together, strict=True)]
    interval = share_interval(same, Design.of(both, clusters))
    kappa = cohen_kappa(model, together, what="verdicts")
    if kappa.value is not None and (constant := _constant(model, together)):
        kappa = dataclasses.replace(kappa, reason=constant)
    return SameVerdict(len(both), sum(same), interval, kappa)


def _constant(model: Sequence[VerdictName], people: Sequence[VerdictName]) -> str:
    """Why kappa is 0 whatever the other verdicts are; empty where both sides vary."""
    if len({*people}) == 1:
        return "all verdicts of people are equal, so it is 0 whatever the model's are"
    if len({*model}) == 1:
        return "all verdicts of the model are equal, so it is 0 whatever people's are"
    return ""


def as_counted(verdict: VerdictName, passes: Collection[VerdictName]) -> VerdictName:
    """A verdict, a tie as a pass where ties count as passes."""
    return "pass" if verdict in passes else verdict


def _made(counts: Iterable[Iterable[float]]) -> int | None:
    """The number of choices; None where only proportions of them are known."""
    votes = [count for choices in counts for count in choices]
    return None if any(isinstance(count, float) for count in votes) else int(sum(votes))


def rate_of_verdicts(
    kinds: Mapping[str, VerdictName],
    passes: Collection[VerdictName],
    clusters: Mapping[str, Hashable] | None,
    like: PeopleRate,
) -> PeopleRate:
    """The rate of some verdicts by item.

    Args:
        kinds: item to its verdict.
        passes: the verdicts that count.
        clusters: what items belong to; None where each stands alone.
        like: rate with whose it is.
    """
    passed = [kind in passes for kind in kinds.values()]
    interval = share_interval(passed, Design.of(kinds, clusters))
    return dataclasses.replace(
        like,
        n=len(kinds),
        tied=list(kinds.values()).count("tie"),
        rate=sum(passed) / len(passed) if passed else None,
        low=interval.low,
        high=interval.high,
        reason=interval.reason,
    )


def decided_choices(
    formula: Formula, counts: Mapping[str, Mapping[str, float]]
) -> dict[str, tuple[float, float]]:
    """The choices of each item by which a prediction holds, and by which it fails, without ties.

    Items are left out where a single choice could not decide the prediction both ways.

    Args:
        formula: the prediction.
        counts: item to condition to its choices.
    """
    decided = {}
    for item, per_condition in counts.items():
        kinds = {
            name: kind_of_votes(formula, {n: n == name for n in per_condition})
            for name in per_condition
        }
        held, failed = (
            sum(n for name, n in per_condition.items() if kinds[name] == kind)
            for kind in ("pass", "fail")
        )
        if {"pass", "fail"} <= set(kinds.values()) and held + failed:
            decided[item] = (held, failed)
    return decided


def _single(
    shares: Mapping[str, float],
    clusters: Mapping[str, Hashable] | None,
    like: PeopleRate,
    *,
    seed: int,
) -> PeopleRate:
    """The mean proportion of choices by which the prediction holds."""
    if not shares:
        return dataclasses.replace(like, answers=None, reason=NO_SINGLE)
    interval = bounded_mean(list(shares.values()), Design.of(shares, clusters), seed=seed)
    return dataclasses.replace(
        like,
        n=len(shares),
        rate=math.fsum(shares.values()) / len(shares),
        low=interval.low,
        high=interval.high,
        reason=interval.reason,
    )


def verdicts_of_people(
    suite: Suite, judgments: Sequence[Judgment]
) -> tuple[dict[str, dict[str, VerdictName]], str]:
    """The verdict of each person on each item: whether all predictions hold of the answers.

    Of a choice the chosen sentence counts as less surprising than all others of its item; of
    ratings, or of yes and no, a better rated one as less surprising.

    Args:
        suite: the suite that was asked about.
        judgments: of any suites; those without the name of a person are left out.

    Returns:
        Person to item to verdict, and why there are none; empty where there are some.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    formulas = parse_predictions(suite)
    whole_sentence = len(suite.region_names) == 1
    for formula in formulas:
        if reason := undecidable(formula, whole_sentence=whole_sentence):
            return {}, reason
    if not formulas:
        return {}, "the suite has no predictions"
    about, _ = answers_about(judgments, suite.name, (ACCEPTABILITY, ACCEPTABLE, BETTER))
    conditions = {item.id: [c.name for c in item.conditions] for item in suite.items}
    sentences = stimulus_texts(suite)
    votes: dict[tuple[str, str], dict[str, float]] = {}
    for judgment in about:
        sentence = sentences.get((judgment.item, judgment.condition))
        if judgment.annotator is None or sentence is None or not judgment.is_about(sentence):
            continue
        given = votes.setdefault((judgment.annotator, judgment.item), {})
        if judgment.question == BETTER:
            given.update(dict.fromkeys(conditions[judgment.item], 0.0))
            given[judgment.condition] = 1.0
        elif (value := given_rating(judgment)) is not None:
            ends = SCALE.fullmatch(judgment.scale or "")
            falls = ends is not None and float(ends[1]) > float(ends[2])
            given[judgment.condition] = -float(value) if falls else float(value)
    whole = functools.reduce(partial(Junction, "&"), formulas)
    needed = {reference.condition for reference in references(whole)}
    verdicts: dict[str, dict[str, VerdictName]] = {}
    for (person, item), given in votes.items():
        if needed <= given.keys():
            surprisals = {name: [0.0 - vote] for name, vote in given.items()}
            verdict = evaluate_item(whole, surprisals, tied_within=ROUNDING).verdict
            verdicts.setdefault(person, {})[item] = verdict
    return verdicts, "" if verdicts else NO_CHOICES


def kind_of_votes(formula: Formula, votes: Mapping[str, float]) -> VerdictName:
    """The verdict on a prediction, with minus the number of votes, or the rating, as surprisal.

    Args:
        formula: the prediction.
        votes: condition to its votes or rating.
    """
    surprisals = {name: [0.0 - count] for name, count in votes.items()}
    return evaluate_item(formula, surprisals, tied_within=ROUNDING).verdict


def counts_of_choices(suite: Suite) -> tuple[dict[str, dict[str, float]], str]:
    """The choices of each sentence of each item, and why one cannot be read.

    Whole numbers are numbers of people; numbers with a point, from 0.0 to 1.0, are proportions of
    them.

    Args:
        suite: suite with or without choices.
    """
    counts: dict[str, dict[str, float]] = {}
    unread, column = "", chosen_column(suite.column_names)
    for item, condition in suite.stimuli():
        cell = condition.columns.get(column, "").strip()
        count = whole_number(cell)
        if count is not None:
            counts.setdefault(item.id, {})[condition.name] = count
        elif _SHARE.fullmatch(cell):
            counts.setdefault(item.id, {})[condition.name] = float(cell)
        elif cell and not unread:
            place = f"{CHOSEN_BY} of item {item.id!r}, {condition.name!r}"
            unread = f"{place} is {cell!r}, no whole number and no share from 0.0 to 1.0"
    return {item: choices for item, choices in counts.items() if any(choices.values())}, unread


def undecidable(formula: Formula, *, whole_sentence: bool) -> str:
    """The reason why answers about sentences cannot decide a prediction; empty if they can.

    Ratings and numbers of choices have no unit in common with surprisal, so that a prediction may
    compare them with each other, and a difference of as many on each side, such as DD, with 0.

    Args:
        formula: the prediction.
        whole_sentence: whether sentences have only one region, which is then the sentence.
    """
    for reference in references(formula):
        if reference.region != "*" and not whole_sentence:
            return f"people chose sentences, and {canonical(reference)} is a part of one"
    for comparison in comparisons(formula):
        if numbers(comparison) and (any(numbers(comparison)) or not _balanced(comparison)):
            return "people's answers are not bits, and the prediction has a number in it"
    return ""


def _balanced(comparison: Comparison) -> bool:
    """Whether a comparison adds as many values as it subtracts."""
    left, right = (
        sum(sign for sign, leaf in signed_values(side) if isinstance(leaf, Reference))
        for side in (comparison.left, comparison.right)
    )
    return left == right
