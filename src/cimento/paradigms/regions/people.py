"""People's judgments of sentences: survey questions, answers as columns, rates of choices.

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
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError, UsageError
from cimento.io.parsing import whole_number
from cimento.judgments import ACCEPTABILITY, ACCEPTABLE, BETTER, SCALE, Judgment
from cimento.kinds.base import AppliedJudgments, SurveyItem, SurveyItems, SurveyTask
from cimento.kinds.surveyor import answers_about, chosen_task, refuse_nothing, refuse_run
from cimento.paradigms.regions.given_answers import (
    given_rating,
    ratings_by_condition,
    refuse_words,
)
from cimento.paradigms.regions.judging import (
    CHOSEN_BY,
    judged_suite,
    label_of,
    options_of,
    questions,
)
from cimento.paradigms.regions.predictions import evaluate_item, parse_predictions
from cimento.records.outcomes import VerdictName
from cimento.statistics.correlation import Correlation, correlate
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.statistics.means import bounded_mean
from cimento.suites.builtin import RATED
from cimento.suites.formula import Formula, Junction, canonical, numbers, references
from cimento.suites.stimuli import regions_of_words, stimulus_text, stimulus_texts

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.suites import Condition, JsonValue, Suite

MAJORITY, ONE_PERSON = "most people", "one person"
NO_CHOICES = "nobody chose between these sentences"
NO_SINGLE = "one choice cannot decide the prediction both ways"
_SHARE = re.compile(r"0\.\d+|1\.0+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRate:
    """The rate at which one prediction, or the conjunction of all, holds for people or a model.

    Attributes:
        suite: name of the suite.
        question: name of the prediction; ``all predictions`` for the conjunction.
        who: `MAJORITY`, `ONE_PERSON`, or the label of a model.
        of_people: whether the rate is of people.
        n: number of items in the rate, all of which people answered.
        tied: number of ties among them; None for single choices.
        choices: number of choices that people made in these items; None for a model.
        rate: proportion of the items, or mean over them of the proportion of choices; None without
            items.
        low: lower end of the 95% interval; None if there is none.
        high: upper end of the interval.
        reason: reason why there is no interval, or no rate.
        graded: Spearman's correlation, over items, of the model's margin with the proportion of
            choices by which the prediction holds; None for people.
    """

    suite: str
    question: str
    who: str
    of_people: bool
    n: int
    tied: int | None = None
    choices: int | None = None
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    graded: Correlation | None = None


def people_of(run: Run) -> list[ChoiceRate]:
    """The rates at which people's choices agree with the predictions, and the model's rates.

    There are none if the suite does not have the number of people who chose each sentence.

    Returns:
        Three rates for each prediction and for the conjunction of all; only one, with a reason, for
        a prediction that choices of sentences cannot decide or that nobody made choices on.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    suite, options = judged_suite(run), options_of(run)
    if CHOSEN_BY not in suite.column_names:
        return []
    counts, unread = _counts(suite)
    trees = parse_predictions(suite)
    whole = functools.reduce(partial(Junction, "&"), trees)
    rates: list[ChoiceRate] = []
    # A single prediction is all there is, so that the conjunction is no further question.
    for question, formula in zip(questions(run), (*trees, whole), strict=False):
        like = ChoiceRate(suite=suite.name, question=question, who=MAJORITY, of_people=True, n=0)
        reason = unread or _undecidable(formula, whole_sentence=len(suite.region_names) == 1)
        if reason or not counts:
            rates.append(dataclasses.replace(like, reason=reason or NO_CHOICES))
            continue
        passes: Collection[VerdictName] = {"pass", "tie"} if options.ties == "pass" else {"pass"}
        clusters = suite.clusters() if suite.cluster else None
        kinds = {item: _kind(formula, choices) for item, choices in counts.items()}
        known = {item: kind for item, kind in kinds.items() if kind != "unscored"}
        made = _made(counts[item].values() for item in known)
        rates.append(_share(known, passes, clusters, dataclasses.replace(like, choices=made)))
        decided = _decided(formula, counts)
        shares = {item: held / (held + failed) for item, (held, failed) in decided.items()}
        single = dataclasses.replace(like, who=ONE_PERSON, choices=_made(decided.values()))
        rates.append(_single(shares, clusters, single, seed=options.seed))
        rates.append(_of_model(run, like, known, shares, passes, clusters))
    return rates


def _of_model(
    run: Run,
    like: ChoiceRate,
    answered: Collection[str],
    shares: Mapping[str, float],
    passes: Collection[VerdictName],
    clusters: Mapping[str, Hashable] | None,
) -> ChoiceRate:
    """The rate of the model on the items that people answered, and its margins beside shares."""
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
    like = dataclasses.replace(like, who=label_of(run), of_people=False, graded=graded)
    return _share(dict(outcomes.select("item", "verdict").iter_rows()), passes, clusters, like)


def _made(counts: Iterable[Iterable[float]]) -> int | None:
    """The number of choices; None where only proportions of them are known."""
    votes = [count for choices in counts for count in choices]
    return None if any(isinstance(count, float) for count in votes) else int(sum(votes))


def _share(
    kinds: Mapping[str, VerdictName],
    passes: Collection[VerdictName],
    clusters: Mapping[str, Hashable] | None,
    like: ChoiceRate,
) -> ChoiceRate:
    """The rate of some verdicts by item."""
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


def _decided(
    formula: Formula, counts: Mapping[str, Mapping[str, float]]
) -> dict[str, tuple[float, float]]:
    """The choices of each item by which a prediction holds, and by which it fails, without ties.

    Items are left out where a single choice could not decide the prediction both ways.
    """
    decided = {}
    for item, per_condition in counts.items():
        kinds = {
            name: _kind(formula, {n: n == name for n in per_condition}) for name in per_condition
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
    like: ChoiceRate,
    *,
    seed: int,
) -> ChoiceRate:
    """The mean proportion of choices by which the prediction holds."""
    if not shares:
        return dataclasses.replace(like, choices=None, reason=NO_SINGLE)
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
        if reason := _undecidable(formula, whole_sentence=whole_sentence):
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
            verdicts.setdefault(person, {})[item] = evaluate_item(whole, surprisals).verdict
    return verdicts, "" if verdicts else NO_CHOICES


def _kind(formula: Formula, votes: Mapping[str, float]) -> VerdictName:
    """The verdict on a prediction, with minus the number of votes as surprisal."""
    return evaluate_item(formula, {name: [0.0 - count] for name, count in votes.items()}).verdict


def _counts(suite: Suite) -> tuple[dict[str, dict[str, float]], str]:
    """The choices of each sentence of each item, and why one cannot be read.

    Whole numbers are numbers of people; numbers with a point, from 0.0 to 1.0, are proportions of
    them.
    """
    counts: dict[str, dict[str, float]] = {}
    unread = ""
    for item, condition in suite.stimuli():
        cell = condition.columns.get(CHOSEN_BY, "").strip()
        count = whole_number(cell)
        if count is not None:
            counts.setdefault(item.id, {})[condition.name] = count
        elif _SHARE.fullmatch(cell):
            counts.setdefault(item.id, {})[condition.name] = float(cell)
        elif cell and not unread:
            place = f"{CHOSEN_BY} of item {item.id!r}, {condition.name!r}"
            unread = f"{place} is {cell!r}, no whole number and no share from 0.0 to 1.0"
    return {item: choices for item, choices in counts.items() if any(choices.values())}, unread


def _undecidable(formula: Formula, *, whole_sentence: bool) -> str:
    """The reason why choices of sentences cannot decide a prediction; empty if they can.

    Args:
        formula: the prediction.
        whole_sentence: whether sentences have only one region, which is then the sentence.
    """
    for reference in references(formula):
        if reference.region != "*" and not whole_sentence:
            return f"people chose sentences, and {canonical(reference)} is a part of one"
    if numbers(formula):
        return "people's choices are not bits, and the prediction has a number in it"
    return ""


SENTENCE_ID = "sentence_id"
"""Free column with an id of each sentence, in suites made from treebanks."""

_RATINGS, PARTICIPANTS = "ratings", "participants"

_EARLIER = ("rating", "rating_sd", "rating_n", _RATINGS, PARTICIPANTS)
"""Columns with ratings that a suite may already have, by its author or by other people."""


def sentence_items(suite: Suite, task: SurveyTask | None, *, run: Run | None = None) -> SurveyItems:
    """Each sentence, to be rated or read; or each item, with its conditions to choose among.

    Raises:
        UsageError: the task is of another kind, or a run is given.
    """
    refuse_run(run, suite)
    chosen = chosen_task(task, "likert", "yesno", "choice", "reading", "maze")
    items: list[SurveyItem] = []
    for item in suite.items:
        texts = [stimulus_text(condition, rule=suite.join) for condition in item.conditions]
        if chosen == "choice":
            names = [condition.name for condition in item.conditions]
            items.append(
                SurveyItem(
                    item=item.id,
                    options=tuple(zip(texts, names, strict=True)),
                    columns=item.conditions[0].columns,
                    apart=item.id,
                )
            )
            continue
        items += [
            SurveyItem(
                item=item.id,
                condition=condition.name,
                lines=(text,),
                judged=text,
                columns=condition.columns,
                apart=item.id,
                names=(condition.columns.get(SENTENCE_ID, ""),),
                regions=regions_of_words(suite, condition),
            )
            for condition, text in zip(item.conditions, texts, strict=True)
        ]
    return SurveyItems(chosen, tuple(items))


def judged_sentences(
    suite: Suite,
    judgments: Sequence[Judgment],
    folder: Path,
    *,
    scale: tuple[float, float] | None,
) -> AppliedJudgments:
    """Write a copy of a suite of sentences, with people's answers.

    Ratings, and yes/no answers, become the columns of suites of kind ``acceptability``; choices
    between the two sentences of a pair become a count for each sentence.

    Raises:
        InputError: no answer is about the suite.
        UsageError: the scale of the ratings is unknown.
        StorageError: the copy cannot be written.
    """
    from cimento.suites.formats.native import write_native

    known = stimulus_texts(suite)
    about, passed = answers_about(judgments, suite.name, (ACCEPTABILITY, ACCEPTABLE, BETTER))
    yes_no = not any(judgment.question == ACCEPTABILITY for judgment in about)
    refuse_words([one for one in about if one.question in (ACCEPTABILITY, ACCEPTABLE)])
    ratings, chosen = ratings_by_condition(about, known, passed, yes_no=yes_no)
    used = sum(map(len, ratings.values())) + sum(chosen.values())
    refuse_nothing(used, suite.name, passed)
    items = tuple(
        dataclasses.replace(
            item,
            conditions=tuple(
                _answered(
                    condition,
                    ratings.get((item.id, condition.name), []) if ratings else None,
                    chosen[item.id, condition.name] if chosen else None,
                )
                for condition in item.conditions
            ),
        )
        for item in suite.items
    )
    extra = dict(suite.extra)
    if ratings:
        ends = (0.0, 1.0) if yes_no else scale or _scale_asked(about)
        extra |= {"kind": RATED, _RATINGS: _scale(suite, ends)}
    write_native(dataclasses.replace(suite, items=items, extra=extra), folder)
    answered = {item for item, _ in (*ratings, *chosen)}
    return AppliedJudgments(used, sum(item.id not in answered for item in suite.items), passed)


def _answered(
    condition: Condition, ratings: Sequence[tuple[str, str]] | None, chosen: int | None
) -> Condition:
    """A condition with people's answers; None if people were not asked about it."""
    columns = dict(condition.columns)
    if ratings is not None:
        # Without answers, the author's expected rating must not be taken for one.
        columns = {name: cell for name, cell in columns.items() if name not in _EARLIER}
    if ratings:
        columns[_RATINGS] = "; ".join(value for value, _ in ratings)
        if all(name for _, name in ratings):
            columns[PARTICIPANTS] = "; ".join(re.sub(r"[,;]+", " ", name) for _, name in ratings)
    if chosen is not None:
        columns[CHOSEN_BY] = str(chosen)
    return dataclasses.replace(condition, columns=columns)


def _scale_asked(about: Sequence[Judgment]) -> tuple[float, float] | None:
    """The scale of a survey, from the survey's own record; None if the answers have no scale.

    Raises:
        InputError: the ratings are on several scales, or the recorded scale is invalid.
    """
    rated = (judgment for judgment in about if judgment.question == ACCEPTABILITY)
    scales = list(dict.fromkeys(judgment.scale for judgment in rated if judgment.scale))
    if not scales:
        return None
    ends = SCALE.fullmatch(scales[0])
    if ends is None or float(ends[1]) >= float(ends[2]) or len(scales) > 1:
        raise InputError(
            where="judgments, column scale",
            seen=f"the ratings were given on {' and '.join(map(repr, scales))}",
            todo="One scale is needed, written as 1 to 7; answers on another make another copy.",
        )
    return float(ends[1]), float(ends[2])


def _scale(suite: Suite, scale: tuple[float, float] | None) -> JsonValue:
    """The suite's ``[ratings]``, with the ends of the scale."""
    table = suite.extra.get(_RATINGS)
    known = dict(table) if isinstance(table, dict) else {}
    if scale is not None:
        known |= {"low": scale[0], "high": scale[1]}
    if "low" not in known or "high" not in known:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="it is not known on which scale the ratings are",
            todo="Give --scale 1,5: the worst and the best. Answers that were imported with the"
            " --design of their survey have its scale.",
        )
    return {**known, "by": "people"}
