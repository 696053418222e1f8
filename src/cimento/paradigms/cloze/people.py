"""People and the options of blanks: what they are asked, what they chose, how a model agrees.

The tables are those of Albertin, Miaschi and Brunato 2021 (ceur-ws.org/Vol-3033): by item the
option that most people choose, and whether the target, the plausible alternative, both or neither
is among a model's ten candidates; the first candidate alone; and labels for candidates that are
not an option.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from cimento.errors import InputError, did_you_mean, need_known
from cimento.io.files import write_text
from cimento.io.parsing import whole_number
from cimento.judgments import NONE, WHICH_FITS, Judgment
from cimento.kinds.base import AppliedJudgments, SurveyItem, SurveyItems, SurveyTask
from cimento.kinds.surveyor import answers_about, chosen_task, refuse_nothing
from cimento.paradigms.cloze.files import as_tsv, write_cell, write_cloze
from cimento.paradigms.cloze.judging import option_scores
from cimento.paradigms.cloze.judgments import PIECE
from cimento.paradigms.cloze.reading import read_cell, table_with
from cimento.paradigms.cloze.requests import Candidate, ClozeAnswers
from cimento.paradigms.cloze.shares import Share, mean_statistic
from cimento.statistics.design import Statistic
from cimento.suites.cloze import ClozeItem, expand_suite
from cimento.suites.letters import folded_text, one_spelling

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import VerdictName
    from cimento.suites.cloze import ClozeSuite


UNANSWERED = "unanswered"
_TIE = " = "

TopClass: TypeAlias = Literal["target", "plausible", "both", "other"]
"""What a model's likeliest word is."""
TOP_CLASSES: tuple[TopClass, ...] = get_args(TopClass)

CandidateLabel: TypeAlias = Literal["same meaning", "plausible", "dubious", "unacceptable"]
"""What people may call a word in a blank, in comparison with the word that was there."""
LABELS: tuple[CandidateLabel, ...] = get_args(CandidateLabel)
"""What can be said of a candidate that is none of the options."""

Choices = Mapping[str, int]
"""Text of an option, or `NONE`, to how many people chose it."""


@dataclass(frozen=True, slots=True)
class Majority:
    """The option that most people chose for an item.

    Attributes:
        options: the option chosen most often; several where they tie.
        name: the roles of these options joined by `` = ``, such as ``target`` or
            ``target = plausible``; `NONE` and `UNANSWERED` stand for themselves.
    """

    options: tuple[str, ...]
    name: str


def majority(item: ClozeItem, choices: Choices) -> Majority:
    """The option that most people chose, all ties named.

    Options compete one by one: three implausible ones are not pooled.

    Raises:
        InputError: somebody chose what is not an option of the item.
    """
    roles = {option.text: option.role for option in item.options}
    unknown = next((text for text in choices if text not in roles and text != NONE), None)
    if unknown is not None:
        raise InputError(
            where=f"item {item.id!r}",
            seen=f"people chose {unknown!r}, which is not an option",
            todo=did_you_mean(unknown, [*roles, NONE]),
        )
    most = max(choices.values(), default=0)
    if not most:
        return Majority((), UNANSWERED)
    texts = tuple(text for text in [*roles, NONE] if choices.get(text, 0) == most)
    name = _TIE.join(roles.get(text, NONE) for text in texts)
    return Majority(texts, name)


def count_majorities(
    items: Iterable[ClozeItem], choices: Mapping[str, Choices]
) -> dict[str, Share]:
    """The number of items of each class of majority; every tie is a class of its own.

    Args:
        items: with options.
        choices: id of an item to what people chose.
    """
    names = Counter(majority(item, choices.get(item.id, {})).name for item in items)
    return {name: Share(count, names.total()) for name, count in names.most_common()}


def top_class(item: ClozeItem, candidates: Iterable[Candidate], k: int = 10) -> TopClass:
    """Whether the target, the plausible alternative, both or neither is among k candidates.

    Spellings that count as equal do; pieces that continue a word are not candidates.
    """
    texts = {
        folded_text(candidate.text)
        for candidate in candidates
        if candidate.rank <= k and not candidate.text.startswith(PIECE)
    }
    target, plausible = (
        not texts.isdisjoint(map(folded_text, item.spellings(role)))
        for role in ("target", "plausible")
    )
    if target and plausible:
        return "both"
    return "target" if target else "plausible" if plausible else "other"


def first_match(item: ClozeItem, candidates: Iterable[Candidate]) -> str:
    """The role of the option that the first candidate is; ``other`` if it is not one."""
    first = min(candidates, key=lambda candidate: candidate.rank, default=None)
    if first is None or first.text.startswith(PIECE):
        return "other"
    text = folded_text(first.text)
    roles = (option.role for option in item.options if text in map(folded_text, option.spellings))
    return next(roles, "other")


def count_top_classes(
    items: Sequence[ClozeItem], candidates: Mapping[str, Sequence[Candidate]], k: int = 10
) -> dict[TopClass, Share]:
    """The number of items of each class (`top_class`).

    Args:
        items: with options.
        candidates: id of an item to its candidates.
        k: number of candidates that count.
    """
    classes = Counter(top_class(item, candidates.get(item.id, ()), k) for item in items)
    return {name: Share(classes[name], len(items)) for name in TOP_CLASSES}


def count_first_matches(
    items: Sequence[ClozeItem], candidates: Mapping[str, Sequence[Candidate]]
) -> dict[str, Share]:
    """The number of first candidates that are an option of each role (`first_match`)."""
    roles = Counter(first_match(item, candidates.get(item.id, ())) for item in items)
    return {name: Share(count, len(items)) for name, count in roles.most_common()}


def count_labels(labels: Iterable[str]) -> dict[CandidateLabel, Share]:
    """The count of each label among candidates that are not an option.

    Raises:
        InputError: there is no such label.
    """
    counts = Counter(labels)
    for label in counts:
        seen = f"there is no {label!r}"
        need_known(label, LABELS, where="labels", seen=seen, error=InputError)
    return {label: Share(counts[label], counts.total()) for label in LABELS}


@dataclass(frozen=True, slots=True)
class ItemAgreement:
    """A model and people on the options of one item.

    Attributes:
        item: id of the item.
        same_mode: whether the model's best option is one that most people chose; None where
            one of the sides is silent.
        divergence_bits: Jensen-Shannon divergence of the two distributions over the options.
    """

    item: str
    same_mode: bool | None
    divergence_bits: Statistic


def option_agreement(
    item: ClozeItem, choices: Choices, weights: Mapping[str, float]
) -> ItemAgreement:
    """The agreement of a model's weights on the options with the choices of people.

    Answers of `NONE` are left out of the divergence, since a model cannot give them.

    Args:
        item: with options.
        choices: what people chose.
        weights: text of an option to its probability under the model, or its proportion of it.
    """
    from cimento.statistics.calibration import jensen_shannon

    options = [option.text for option in item.options]
    best = max((weights.get(text, 0.0) for text in options), default=0.0)
    modes = majority(item, choices).options
    preferred = [text for text in options if best and weights.get(text, 0.0) == best]
    same = not set(preferred).isdisjoint(modes) if preferred and modes else None
    divergence = jensen_shannon(
        {text: float(choices.get(text, 0)) for text in options},
        {text: weights.get(text, 0.0) for text in options},
    )
    return ItemAgreement(item.id, same, divergence)


NO_ITEM = "no item has both choices of people and scores of its options"


@dataclass(frozen=True, slots=True)
class PeopleReport:
    """People's answers on a suite, compared with a model.

    Attributes:
        majorities: class of the most frequent choice to its number of items; ties are named.
        same_mode: proportion of items on which the model's most probable option is a choice of most
            people, over the items that both answered.
        divergence_bits: mean Jensen-Shannon divergence over these items.
        items: agreement item by item.
    """

    majorities: Mapping[str, Share]
    same_mode: Share
    divergence_bits: Statistic
    items: tuple[ItemAgreement, ...]


def read_option_counts(path: Path, items: Iterable[ClozeItem]) -> dict[str, Counter[str]]:
    """The number of people who chose each option of each item.

    Args:
        path: a table with the columns `item`, `option` (or ``none``) and `count`.
        items: of the suite; those that the table does not name were not answered.

    Raises:
        InputError: the table cannot be used, or names an item that does not exist.
    """
    table = table_with(path, "item", "option", "count")
    known = {
        item.id: {one_spelling(option.text): option.text for option in item.options}
        for item in items
    }
    choices: dict[str, Counter[str]] = {}
    for row in table.rows:
        item, option = read_cell(row.cells["item"]), read_cell(row.cells["option"])
        cell = row.cells["count"].strip()
        count = whole_number(cell)
        seen = f"there is no item {item!r}"
        need_known(item, known, where=table.where(row), seen=seen, error=InputError)
        if count is None:
            seen = f"the count is {cell!r}"
            raise InputError(where=table.where(row), seen=seen, todo="Write a number.")
        choices.setdefault(item, Counter())[known[item].get(one_spelling(option), option)] += count
    return choices


def compare_with_people(
    items: Sequence[ClozeItem],
    choices: Mapping[str, Choices],
    logprobs: Mapping[str, Mapping[str, float | None]],
) -> PeopleReport:
    """People's choices by class, and a model's agreement with them.

    Args:
        items: those with one option or none are left out.
        choices: id of an item to what people chose.
        logprobs: id of an item to the log-probability of each spelling of its options, in nats;
            an option has the score of its most probable spelling.

    Raises:
        InputError: somebody chose what is not an option.
    """
    answered = [item for item in items if len(item.options) > 1]
    compared = [
        option_agreement(item, choices[item.id], weights)
        for item in answered
        if item.id in choices and (weights := option_weights(item, logprobs.get(item.id, {})))
    ]
    modes = [item.same_mode for item in compared if item.same_mode is not None]
    divergences = (item.divergence_bits.value for item in compared)
    return PeopleReport(
        majorities=count_majorities(answered, choices),
        same_mode=Share(sum(modes), len(modes)),
        divergence_bits=mean_statistic((bits for bits in divergences if bits is not None), NO_ITEM),
        items=tuple(compared),
    )


def option_weights(item: ClozeItem, logprobs: Mapping[str, float | None]) -> dict[str, float]:
    """The probabilities of an item's options among each other.

    ``exp(l_i) / Σ exp(l_j)``; empty where an option has no score, since the others would be
    compared with nothing.
    """
    scores = option_scores(item, logprobs)
    best = {text: score for text, score in scores.items() if score is not None}
    if len(best) < len(scores):
        return {}
    highest = max(best.values(), default=0.0)
    weights = {text: math.exp(value - highest) for text, value in best.items()}
    total = math.fsum(weights.values())
    return {text: weight / total for text, weight in weights.items()}


CHOICES_FILE = "choices.tsv"
"""Beside a cloze suite: how many people chose each option."""

_BLANK_SIGNS = ("___", "...", " ... ", "…")


def blank_items(
    suite: ClozeSuite, task: SurveyTask | None, *, run: Run | None = None
) -> SurveyItems:
    """Each blank with its options; or what a model put into it, each candidate of an item once.

    Raises:
        UsageError: the task is another one.
    """
    if run is not None:
        return SurveyItems(chosen_task(task, "candidate"), tuple(_judged_candidates(run)))
    chosen = chosen_task(task, "cloze")
    return SurveyItems(
        chosen,
        tuple(
            SurveyItem(
                item=item.id,
                lines=(item.text,),
                options=tuple((option.text, "") for option in item.options),
                none=item.none_option,
                columns=item.columns,
                apart=item.id,
                names=tuple(f"{item.before}{sign}{item.after}" for sign in _BLANK_SIGNS),
            )
            for item in expand_suite(suite).items
        ),
    )


def _judged_candidates(run: Run) -> list[SurveyItem]:
    answers = ClozeAnswers(run)
    by_item = answers.by_method(answers.methods[0]) if answers.methods else {}
    return [
        SurveyItem(
            item=item.id,
            lines=(item.filled(text),),
            judged=text,
            mark=(len(item.before), len(item.before) + len(text)),
            columns=item.columns,
            apart=f"{item.id}/{text}",
        )
        for item in answers.items
        for text in dict.fromkeys(answer.text for answer in by_item.get(item.id, []))
    ]


def judged_blanks(
    suite: ClozeSuite, judgments: Sequence[Judgment], folder: Path
) -> AppliedJudgments:
    """Write a copy of a suite of blanks, with the number of people who chose each option.

    Raises:
        InputError: nobody answered anything about the suite.
        StorageError: the copy cannot be written.
    """
    known = [item.id for item in expand_suite(suite).items]
    about, passed = answers_about(judgments, suite.name, (WHICH_FITS,))
    counts: dict[str, Counter[str]] = {item: Counter() for item in known}
    for judgment in about:
        if judgment.item in counts and judgment.value is not None:
            counts[judgment.item][judgment.value] += 1
        else:
            passed["the suite has no such item"] += 1
    used = sum(chosen.total() for chosen in counts.values())
    refuse_nothing(used, suite.name, passed)
    write_cloze(suite, folder)
    rows = (
        {"item": write_cell(item), "option": write_cell(option), "count": str(count)}
        for item, chosen in counts.items()
        for option, count in chosen.most_common()
    )
    write_text(as_tsv(rows), folder / CHOICES_FILE)
    return AppliedJudgments(used, sum(not chosen for chosen in counts.values()), passed)


def verdicts_on_blanks(
    suite: ClozeSuite, judgments: Sequence[Judgment]
) -> tuple[dict[str, dict[str, VerdictName]], str]:
    """The verdict of each person on each blank: whether the chosen option is the target.

    Args:
        suite: the suite that was asked about.
        judgments: of any suites; those without the name of a person are left out, and so are blanks
            without a target among other options.

    Returns:
        Person to item to verdict, and why there are none; empty where there are some.
    """
    about, _ = answers_about(judgments, suite.name, (WHICH_FITS,))
    targets = {
        item.id: {one_spelling(text) for text in item.targets}
        for item in expand_suite(suite).items
        if item.targets and any(option.role != "target" for option in item.options)
    }
    verdicts: dict[str, dict[str, VerdictName]] = {}
    for judgment in about:
        if judgment.annotator is not None and judgment.value and judgment.item in targets:
            is_right = one_spelling(judgment.value) in targets[judgment.item]
            verdicts.setdefault(judgment.annotator, {})[judgment.item] = (
                "pass" if is_right else "fail"
            )
    return verdicts, "" if verdicts else "nobody chose between its options"
