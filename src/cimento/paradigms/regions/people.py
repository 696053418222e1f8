"""People and sentences: what they are asked, their answers as columns, how often they choose right.

Each prediction is evaluated with what people did in the place of surprisals: a sentence costs
minus the number of people who chose it, so that the one chosen most costs least. That is the
verdict of the majority. One person's choice is the same with one vote; the mean over items of the
share of single choices by which the prediction holds is what one person does, which a majority of
many hides.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError, UsageError
from cimento.io.parsing import whole_number
from cimento.paradigms.base import Applied, SurveyItem, SurveyItems, SurveyTask
from cimento.paradigms.plain import answers_about, chosen_task, refuse_nothing, refuse_run
from cimento.paradigms.regions.judging import (
    CHOSEN_BY,
    judged_suite,
    label_of,
    options_of,
    questions,
    suite_of,
)
from cimento.paradigms.regions.predictions import evaluate_item, parse_predictions
from cimento.people.judgments.records import ACCEPTABILITY, ACCEPTABLE, BETTER, Judgment
from cimento.people.judgments.summaries import rating_of
from cimento.runs.outcomes import VerdictName
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.statistics.means import bounded_mean
from cimento.suites.builtin import RATED
from cimento.suites.formula import Formula, Junction, canonical, numbers, references
from cimento.suites.stimuli import stimulus_text

if TYPE_CHECKING:
    from cimento.runs.run import Run
    from cimento.suites.model import Condition, Item, JsonValue, Suite


MAJORITY, ONE_PERSON = "most people", "one person"

NO_CHOICES = "nobody chose between these sentences"
NO_SINGLE = "one choice cannot decide the prediction both ways"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRate:
    """How often one prediction, or the conjunction of all, holds of people or of a model.

    Attributes:
        suite: its name.
        prediction: its number; None for the conjunction.
        who: `MAJORITY`, `ONE_PERSON`, or the label of a model.
        of_people: whether it is a rate of people.
        n: items in it, each of which people answered.
        tied: of these, the ties; None for single choices.
        choices: made by people in these items; None for a model.
        rate: share of the items, or mean over them of the share of choices; None without items.
        low: lower end of its 95 % interval; None where there is none.
        high: upper end.
        reason: why there is no interval, or no rate.
    """

    suite: str
    prediction: int | None
    who: str
    of_people: bool
    n: int
    tied: int | None = None
    choices: int | None = None
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def people_of(run: Run) -> list[ChoiceRate]:
    """How often people choose as the predictions of a run say, and its model on the same items.

    Nothing where the suite does not say how many people chose each sentence.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    suite, options = judged_suite(run), options_of(run)
    if CHOSEN_BY not in suite.column_names:
        return []
    names, own = questions(run), options.numbers(suite_of(run))
    # The conjunction has no number, unless it is that of one prediction.
    numbers: tuple[int | None, ...] = own if len(names) == 1 else (*own, None)
    table = run.outcomes()
    verdicts = {
        number: dict(table.filter(table["question"] == name).select("item", "verdict").iter_rows())
        for number, name in zip(numbers, names, strict=True)
    }
    passes: Collection[VerdictName] = {"pass", "tie"} if options.ties == "pass" else {"pass"}
    return choice_rates(suite, verdicts, label_of(run), passes=passes, seed=options.seed)


def choice_rates(
    suite: Suite,
    verdicts: Mapping[int | None, Mapping[str, VerdictName]],
    model: str,
    *,
    passes: Collection[VerdictName],
    seed: int,
) -> list[ChoiceRate]:
    """The rates of people and of a model on the items that people answered.

    Args:
        suite: as it was judged.
        verdicts: of the model, item to verdict, by number of the prediction in the order of the
            suite's predictions, the conjunction's last.
        model: its label.
        passes: the verdicts that count as right, of people as of the model.
        seed: of the draws of intervals.

    Returns:
        Three for each prediction; for one that choices of sentences cannot decide, or where nobody
        chose, one with the reason.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    trees = parse_predictions(suite)
    counts: dict[str, dict[str, int]] = {}
    unread = ""
    for item in suite.items:
        own = _counts(item)
        if isinstance(own, str):
            unread = unread or own
        elif any(own.values()):
            counts[item.id] = own
    whole = len(suite.region_names) == 1
    clusters = suite.clusters() if suite.cluster else None
    questions = [(tree,) for tree in trees] + ([trees] if len(trees) > 1 else [])
    found: list[ChoiceRate] = []
    for (number, own_verdicts), parts in zip(verdicts.items(), questions, strict=False):
        reason = unread or _undecidable(parts, whole_sentence=whole)
        votes = _Votes(suite.name, number, parts, counts, clusters)
        if reason or not counts:
            found.append(votes.nothing(MAJORITY, reason or NO_CHOICES))
        else:
            found += votes.rates(own_verdicts, model, passes, seed)
    return found


@dataclass(frozen=True, slots=True)
class _Votes:
    """Choices of people with what is predicted of them.

    Attributes:
        suite: its name.
        number: of the prediction; None for the conjunction.
        trees: what has to hold.
        counts: item to condition to how many people chose it; each item has one choice or more.
        clusters: item to what it belongs to; None where each stands alone.
    """

    suite: str
    number: int | None
    trees: Sequence[Formula]
    counts: Mapping[str, Mapping[str, int]]
    clusters: Mapping[str, Hashable] | None

    def nothing(self, who: str, reason: str) -> ChoiceRate:
        """A line without a rate of people."""
        return ChoiceRate(
            suite=self.suite, prediction=self.number, who=who, of_people=True, n=0, reason=reason
        )

    def rates(
        self,
        verdicts: Mapping[str, VerdictName],
        model: str,
        passes: Collection[VerdictName],
        seed: int,
    ) -> Iterator[ChoiceRate]:
        """The majority, one person, and the model on the items of the majority."""
        kinds = {item: _kind(self.trees, own) for item, own in self.counts.items()}
        known = {item: kind for item, kind in kinds.items() if kind != "unscored"}
        yield self._share(known, MAJORITY, passes, people=True)
        yield self._single(seed)
        beside = {
            item: verdict
            for item, verdict in verdicts.items()
            if item in known and verdict != "unscored"
        }
        yield self._share(beside, model, passes, people=False)

    def _share(
        self,
        kinds: Mapping[str, VerdictName],
        who: str,
        passes: Collection[VerdictName],
        *,
        people: bool,
    ) -> ChoiceRate:
        passed = [kind in passes for kind in kinds.values()]
        interval = share_interval(passed, Design.of(kinds, self.clusters))
        return ChoiceRate(
            suite=self.suite,
            prediction=self.number,
            who=who,
            of_people=people,
            n=len(kinds),
            tied=list(kinds.values()).count("tie"),
            choices=sum(sum(self.counts[item].values()) for item in kinds) if people else None,
            rate=sum(passed) / len(passed) if passed else None,
            low=interval.low,
            high=interval.high,
            reason=interval.reason,
        )

    def _single(self, seed: int) -> ChoiceRate:
        """The mean share of choices by which the prediction holds, ties left out."""
        shares: dict[str, float] = {}
        choices = 0
        for item, own in self.counts.items():
            kinds = {name: _kind(self.trees, {n: n == name for n in own}) for name in own}
            if not {"pass", "fail"} <= set(kinds.values()):
                continue
            held = sum(n for name, n in own.items() if kinds[name] == "pass")
            decided = held + sum(n for name, n in own.items() if kinds[name] == "fail")
            if decided:
                shares[item] = held / decided
                choices += decided
        if not shares:
            return self.nothing(ONE_PERSON, NO_SINGLE)
        interval = bounded_mean(list(shares.values()), Design.of(shares, self.clusters), seed=seed)
        return ChoiceRate(
            suite=self.suite,
            prediction=self.number,
            who=ONE_PERSON,
            of_people=True,
            n=len(shares),
            choices=choices,
            rate=math.fsum(shares.values()) / len(shares),
            low=interval.low,
            high=interval.high,
            reason=interval.reason,
        )


def _kind(trees: Sequence[Formula], votes: Mapping[str, int]) -> VerdictName:
    """What predictions say where a sentence costs minus its votes."""
    values = {name: [0.0 - count] for name, count in votes.items()}
    return evaluate_item(functools.reduce(partial(Junction, "&"), trees), values).verdict


def _counts(item: Item) -> dict[str, int] | str:
    """How many people chose each sentence that has a count, or why that cannot be read."""
    found = {}
    for condition in item.conditions:
        cell = condition.columns.get(CHOSEN_BY, "").strip()
        count = whole_number(cell)
        if count is not None:
            found[condition.name] = count
        elif cell:
            return (
                f"{CHOSEN_BY} of item {item.id!r}, {condition.name!r} is {cell!r}, no whole number"
            )
    return found


def _undecidable(trees: Sequence[Formula], *, whole_sentence: bool) -> str:
    """Why choices of sentences cannot decide a prediction; empty where they can.

    Args:
        trees: what has to hold.
        whole_sentence: whether a sentence has one region, which is then the sentence.
    """
    for tree in trees:
        for reference in references(tree):
            if reference.region != "*" and not whole_sentence:
                return f"people chose sentences, and {canonical(reference)} is a part of one"
        if numbers(tree):
            return "people's choices are no bits, and the prediction has a number in it"
    return ""


SENTENCE_ID = "sentence_id"
"""Free column with an id of each sentence, as suites made of treebanks have it."""

_RATINGS, PARTICIPANTS = "ratings", "participants"

_EARLIER = ("rating", "rating_sd", "rating_n", _RATINGS, PARTICIPANTS)
"""Columns with ratings that a suite may have already, of its author or of other people."""


def sentence_items(suite: Suite, task: SurveyTask | None, *, run: Run | None = None) -> SurveyItems:
    """Each sentence to be rated; or each item, its conditions to be chosen among.

    Raises:
        UsageError: the task is another one, or a run is given.
    """
    refuse_run(run)
    chosen = chosen_task(task, "likert", "yesno", "choice")
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
) -> Applied:
    """Write a copy of a suite of sentences with what people said of them.

    Ratings, and answers of yes or no, become the columns that suites of kind ``acceptability``
    have, choices between the two sentences of a pair a count for each.

    Raises:
        InputError: nobody answered anything about the suite.
        UsageError: it is not known on which scale the ratings are.
        StorageError: the copy cannot be written.
    """
    from cimento.suites.formats.native import write_native

    known = {(item.id, condition.name) for item, condition in suite.stimuli()}
    about, passed = answers_about(judgments, suite.name, (ACCEPTABILITY, ACCEPTABLE, BETTER))
    yes_no = not any(judgment.question == ACCEPTABILITY for judgment in about)
    ratings, chosen = _by_condition(about, known, passed, yes_no=yes_no)
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
    return Applied(used, sum(item.id not in answered for item in suite.items), passed)


def _by_condition(
    about: Sequence[Judgment],
    known: set[tuple[str, str]],
    passed: Counter[str],
    *,
    yes_no: bool,
) -> tuple[dict[tuple[str, str], list[tuple[str, str]]], Counter[tuple[str, str]]]:
    """Ratings with their annotators, and how often it was chosen, of each condition of an item."""
    ratings: dict[tuple[str, str], list[tuple[str, str]]] = {}
    chosen: Counter[tuple[str, str]] = Counter()
    for judgment in about:
        key = (judgment.item, judgment.condition)
        if key not in known:
            passed["the suite has no such item or condition"] += 1
        elif judgment.question == BETTER:
            chosen[key] += 1
        elif judgment.question == ACCEPTABLE and not yes_no:
            passed["yes or no, where others rated"] += 1
        elif (value := _given_rating(judgment)) is None:
            passed["a rating is no number"] += 1
        else:
            ratings.setdefault(key, []).append((value, judgment.annotator or ""))
    return ratings, chosen


def _given_rating(judgment: Judgment) -> str | None:
    """A rating as it is written; yes is 1 and no is 0. None where it is none."""
    if judgment.question == ACCEPTABLE:
        return {"yes": "1", "no": "0"}.get(judgment.value or "")
    # Commas part the ratings of several people.
    is_rating = rating_of(judgment) is not None
    return (judgment.value or "").replace(",", ".") if is_rating else None


def _answered(
    condition: Condition, ratings: Sequence[tuple[str, str]] | None, chosen: int | None
) -> Condition:
    """A condition with what people said; None where they were not asked that."""
    columns = dict(condition.columns)
    if ratings is not None:
        # Where nobody answered, what the author expects must not pass for an answer.
        columns = {name: cell for name, cell in columns.items() if name not in _EARLIER}
    if ratings:
        columns[_RATINGS] = "; ".join(value for value, _ in ratings)
        if all(name for _, name in ratings):
            columns[PARTICIPANTS] = "; ".join(re.sub(r"[,;]+", " ", name) for _, name in ratings)
    if chosen is not None:
        columns[CHOSEN_BY] = str(chosen)
    return dataclasses.replace(condition, columns=columns)


_SCALE = re.compile(r"(-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)")


def _scale_asked(about: Sequence[Judgment]) -> tuple[float, float] | None:
    """The scale that a survey had, from its own record; None where the answers do not say it.

    Raises:
        InputError: the ratings are on several scales, or what is said is none.
    """
    rated = (each for each in about if each.question == ACCEPTABILITY)
    scales = list(dict.fromkeys(each.scale for each in rated if each.scale))
    if not scales:
        return None
    ends = _SCALE.fullmatch(scales[0])
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
            todo="Give --scale 1,5: the worst and the best.",
        )
    return {**known, "by": "people"}
