"""The answers to prompts about sentences, averaged over the design, and the outcomes of items."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from cimento.errors import TableError
from cimento.paradigms import (
    ACCEPTABILITY,
    ACCEPTABLE,
    BETTER,
    Estimate,
    Judgment,
    Outcome,
    Suite,
    stimulus_texts,
)
from cimento.paradigms.prompted.prompts import (
    FORMS,
    QUESTIONS,
    Form,
    Prompt,
    PromptedOptions,
    prompts_of,
    rivals_of,
    source_name,
)
from cimento.paradigms.ratings import RatedSentence, Scale, rated_of

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms import Run


UNREAD = "no two replies in both orders name an answer"
NOT_LISTED = "(no answer is among the most probable tokens)"

HALF = 0.5
_AROUND = r"[\s\"'“”«»*_`().:\[\]]*"
_ROUNDING = 1e-9
"""Shares that are as near to each other as this are equal but for rounding."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A prompt with what the model answered.

    Attributes:
        prompt: the prompt.
        shares: answer to its share: 1 for the one that was written; None where none was read.
        reply: what was written where no answer was read; else empty.
    """

    prompt: Prompt
    shares: Mapping[str, float] | None
    reply: str = ""

    @property
    def good(self) -> float:
        """Proportion of the answer for what is better; of a rating the points, more is better."""
        if self.prompt.form != "rating":
            return self.share(self.prompt.good)
        raw, points = self.points, len(self.prompt.answers)
        return raw if self.prompt.cell.order == 0 else points + 1 - raw

    @property
    def points(self) -> float:
        """The number that was written, or the mean of the scale by probability."""
        return math.fsum(int(point) * share for point, share in (self.shares or {}).items())

    @property
    def chosen(self) -> float:
        """1 where the answer for what is better was given, 0 where the other, 1/2 where neither."""
        return decided(self.good)

    def share(self, answer: str) -> float:
        """The proportion of an answer."""
        return (self.shares or {}).get(answer, 0.0)


@dataclass(frozen=True, slots=True)
class Asked:
    """All answers to one question about one sentence or pair.

    Attributes:
        item: the item.
        form: the question.
        conditions: of the sentences, as in `Prompt`.
        answers: those that count: both orders of a combination, or neither.
        lost: number of answers that do not.
    """

    item: str
    form: Form
    conditions: tuple[str, ...]
    answers: tuple[Answered, ...]
    lost: int

    @property
    def value(self) -> float | None:
        """The mean over the design; None where no answer counts."""
        if not self.answers:
            return None
        return math.fsum(answer.good for answer in self.answers) / len(self.answers)


def answers_of(run: Run) -> list[Answered]:
    """Each prompt of a run with what the model answered.

    Raises:
        TableError: the run was asked by another design or other wordings than there are now.
    """
    suite, options = cast("Suite", run.suite), cast("PromptedOptions", run.options)
    prompts = list(prompts_of(suite, options))
    numbers = {text: n for n, text in enumerate(dict.fromkeys(prompt.asked for prompt in prompts))}
    generated = options.answer == "generate"
    table = run.table("replies" if generated else "choices")
    if table["request"].n_unique() != len(numbers):
        raise TableError(
            where=str(run.folder or run.suite.name),
            seen=f"{table['request'].n_unique()} prompts were asked, and this version of cimento"
            f" would ask {len(numbers)}: the run is of another version",
            todo="Run the suite again.",
        )
    if generated:
        texts = dict(table.select("request", "text").iter_rows())
        return [_read(texts[numbers[prompt.asked]], prompt) for prompt in prompts]
    nats: dict[int, list[float | None]] = {}
    for request, value in table.sort("request", "option").select("request", "logprob_nats").rows():
        nats.setdefault(request, []).append(value)
    return [_shares(prompt, nats[numbers[prompt.asked]]) for prompt in prompts]


def asked_questions(answers: Sequence[Answered]) -> list[Asked]:
    """The answers by question and sentence, in the order of asking.

    An answer counts with the one in the other order alone, so that each order counts as often.
    """
    groups: dict[tuple[str, Form, tuple[str, ...]], list[Answered]] = {}
    for answer in answers:
        about = answer.prompt
        groups.setdefault((about.item, about.form, about.conditions), []).append(answer)
    asked = []
    for key, several in groups.items():
        kept = [
            answer
            for both in zip(several[::2], several[1::2], strict=True)
            if all(one.shares is not None for one in both)
            for answer in both
        ]
        asked.append(Asked(*key, tuple(kept), len(several) - len(kept)))
    return asked


@dataclass(frozen=True, slots=True)
class PromptedRun:
    """A run with its answers, read once.

    Attributes:
        suite: its suite.
        options: its options.
        outcomes: its outcomes table.
        asked: its answers by sentence or pair.
        like: an estimate with the names of suite and model.
    """

    suite: Suite
    options: PromptedOptions
    outcomes: pl.DataFrame
    asked: tuple[Asked, ...]
    like: Estimate

    @classmethod
    def of(cls, run: Run) -> PromptedRun:
        """The parts of a run."""
        suite = cast("Suite", run.suite)
        return cls(
            suite=suite,
            options=cast("PromptedOptions", run.options),
            outcomes=run.outcomes(),
            asked=tuple(asked_questions(answers_of(run))),
            like=Estimate(suite=suite.name, model=run.model, question=""),
        )

    def of_form(self, form: Form, *conditions: str) -> list[Asked]:
        """What was asked in one form, of the given conditions if there are any."""
        return [
            one
            for one in self.asked
            if one.form == form and (not conditions or set(one.conditions) <= set(conditions))
        ]


def unread(run: Run) -> list[Answered]:
    """The replies that name no answer, with their prompts."""
    return [answer for answer in answers_of(run) if answer.shares is None]


def _read(reply: str, prompt: Prompt) -> Answered:
    """The answer that a reply is, but for quotation marks, full stops, accents and the like.

    A Cyrillic letter that looks like the one that was asked for is that letter.
    """
    plain = _plain(reply)
    for answer in prompt.answers:
        if re.fullmatch(f"{_AROUND}{re.escape(_plain(answer))}{_AROUND}", plain):
            return Answered(prompt, {answer: 1.0})
    return Answered(prompt, None, reply)


def _plain(text: str) -> str:
    """A text in small letters without accents."""
    apart = unicodedata.normalize("NFKD", text.strip().casefold())
    plain = "".join(char for char in apart if not unicodedata.combining(char))
    return plain.translate(_LOOKALIKES) if len(re.sub(_AROUND, "", plain)) == 1 else plain


_LOOKALIKES = str.maketrans("ав", "ab")  # Cyrillic, as Russian models write


def _shares(prompt: Prompt, nats: Sequence[float | None]) -> Answered:
    """The proportion of each answer in the probability of all of them.

    An answer that a server does not list among the most probable ones counts as 0; where it lists
    none, there is no answer.
    """
    best = max((value for value in nats if value is not None), default=None)
    if best is None:
        return Answered(prompt, None, NOT_LISTED)
    weights = [0.0 if value is None else math.exp(value - best) for value in nats]
    whole = math.fsum(weights)
    pairs = zip(prompt.answers, weights, strict=True)
    return Answered(prompt, {answer: weight / whole for answer, weight in pairs})


def decided(share: float) -> float:
    """1 for a share above a half, 0 for one below, 1/2 for a half."""
    return HALF if _equal(share, HALF) else float(share > HALF)


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, abs_tol=_ROUNDING)


def question_of(form: Form, rivals: Sequence[str], rival: str, target: str) -> str:
    """The name of a question about a pair; with its conditions, where a suite has several pairs."""
    several = len(rivals) > 1
    return f"{QUESTIONS[form]}: {target}, not {rival}" if several else QUESTIONS[form]


def prompted_outcomes(
    suite: Suite, options: PromptedOptions, asked: Sequence[Asked]
) -> list[Outcome]:
    """The outcome of each item on each question.

    A pair passes if the better sentence is chosen in more than half of the answers, said to be
    acceptable more often than its rival, or rated higher. A single sentence has its proportion of
    *acceptable*, which passes or fails where the suite labels it, or its rating; beside it stands
    the mean rating of people, for yes or no on a scale from 0 to 1.

    Args:
        suite: that was asked about.
        options: how it was asked about.
        asked: the answers.
    """
    forms = [form for form in FORMS if form in options.forms_of(suite)]
    made = _pair_outcomes if suite.predictions else _sentence_outcomes
    return [outcome for form in forms for outcome in made(suite, form, asked)]


def _pair_outcomes(suite: Suite, form: Form, asked: Sequence[Asked]) -> Iterator[Outcome]:
    target, rivals = rivals_of(suite)
    clusters = clusters_of(suite)
    values = {(one.item, one.conditions): one.value for one in asked if one.form == form}
    unit = {
        "choice": "proportion of the design",
        "yesno": "difference of shares",
        "rating": "points",
    }
    for rival in rivals:
        for item in suite.items:
            if form == "choice":
                value = values.get((item.id, (target, rival)))
                even = HALF
            else:
                pair = [values.get((item.id, (name,))) for name in (target, rival)]
                value = None if None in pair else cast("float", pair[0]) - cast("float", pair[1])
                even = 0.0
            like = Outcome(
                item=item.id,
                question=question_of(form, rivals, rival, target),
                verdict="unscored",
                unit=unit[form],
                cluster=clusters.get(item.id, ""),
            )
            if value is None:
                yield replace(like, reason=UNREAD)
                continue
            if _equal(value, even):
                yield replace(like, verdict="tie", right=False, value=even)
            else:
                right = value > even
                yield replace(like, verdict="pass" if right else "fail", right=right, value=value)


def _sentence_outcomes(suite: Suite, form: Form, asked: Sequence[Asked]) -> Iterator[Outcome]:
    scale = rated_of(suite).scale
    for one, sentence in rated(suite, asked, form):
        like = Outcome(
            item=sentence.id,
            question=QUESTIONS[form],
            unit="points" if form == "rating" else "share",
            reference=sentence.mean if form == "rating" else _degree(sentence, scale),
            cluster=sentence.cluster or sentence.pair,
        )
        judged = form == "yesno" and bool(sentence.label)
        if one.value is None:
            yield replace(like, verdict="unscored" if judged else None, reason=UNREAD)
        elif not judged:
            yield replace(like, value=one.value)
        elif _equal(one.value, HALF):
            yield replace(like, value=one.value, verdict="tie", right=False)
        else:
            right = (one.value > HALF) == (sentence.label == "acceptable")
            yield replace(like, value=one.value, verdict="pass" if right else "fail", right=right)


def rated(
    suite: Suite, asked: Sequence[Asked], form: Form
) -> Iterator[tuple[Asked, RatedSentence]]:
    """The answers to one of the two questions about single sentences, beside what people said."""
    answers = {(one.item, one.conditions): one for one in asked if one.form == form}
    stimuli = zip(suite.stimuli(), rated_of(suite).sentences, strict=True)
    for (item, condition), sentence in stimuli:
        one = answers.get((item.id, (condition.name,)))
        if one is not None:
            yield one, sentence


def _degree(sentence: RatedSentence, scale: Scale | None) -> float | None:
    """The mean rating of people on a scale from 0 to 1."""
    if sentence.mean is None or scale is None:
        return None
    return (sentence.mean - scale.low) / (scale.high - scale.low)


def accepting_share(sentence: RatedSentence, scale: Scale | None) -> float | None:
    """The proportion of people who accept a sentence; None where only their mean is known.

    They rated it above the middle of the scale, or said yes; who chose the middle counts half.
    """
    if scale is None:
        return None
    if sentence.ratings:
        middle = (scale.low + scale.high) / 2
        votes = [
            HALF if rating.value == middle else float(rating.value > middle)
            for rating in sentence.ratings
        ]
        return math.fsum(votes) / len(votes)
    is_yes_no = (scale.low, scale.high) == (0, 1)
    return sentence.mean if is_yes_no else None


def clusters_of(suite: Suite) -> dict[str, str]:
    """Item to its cluster; empty where the suite has none."""
    cells = zip(suite.columns.ids, suite.cluster_cells(), strict=True)
    return {item: cell or "" for item, cell in cells} if suite.cluster else {}


def model_judgments(run: Run) -> list[Judgment]:
    """The answers of a model as those of one more annotator, one a sentence or pair.

    Ratings are the mean over the design, on the scale that was asked for. Of yes or no, and of a
    choice, the answer is the one that was given more often; where both were, there is none. Choices
    are left out where an item has several pairs, because a table of people's has one an item.

    Args:
        run: of a prompted suite.
    """
    suite, options = cast("Suite", run.suite), cast("PromptedOptions", run.options)
    texts = stimulus_texts(suite)
    several = len(rivals_of(suite)[1]) > 1
    judgments = []
    for one in asked_questions(answers_of(run)):
        value = one.value
        if value is None or (one.form != "rating" and _equal(value, HALF)):
            continue
        if one.form == "choice" and several:
            continue
        is_second = one.form == "choice" and value < HALF
        condition = one.conditions[1 if is_second else 0]
        text = texts[one.item, condition]
        answer, question, scale = {
            "choice": (text, BETTER, None),
            "yesno": ("yes" if value > HALF else "no", ACCEPTABLE, None),
            "rating": (repr(value), ACCEPTABILITY, f"1 to {options.points}"),
        }[one.form]
        judgments.append(
            Judgment(
                suite=source_name(suite), annotator=run.model, item=one.item, condition=condition,
                candidate=text, question=question, value=answer, scale=scale,
            )
        )  # fmt: skip
    return judgments
