"""Prompts about sentences, the answers to them, and the outcomes of items."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, cast

from pydantic import Field

from cimento.paradigms.base import ParadigmOptions
from cimento.paradigms.ratings.suite import rated_of
from cimento.paradigms.regions.contrast import find_contrast
from cimento.paradigms.stories.options import StoryOptions
from cimento.paradigms.stories.prompts import fill, wordings
from cimento.runs.outcomes import Estimate, Outcome, VerdictName, design_of
from cimento.statistics.correlation import correlate
from cimento.suites.model import Suite
from cimento.suites.stimuli import stimulus_text

if TYPE_CHECKING:
    import polars as pl

    from cimento.runs.run import Run


UNREAD = "the reply names no answer"
NOT_LISTED = "(no answer is among the most probable tokens)"

_AROUND = r"[\s\"'“”«»*_`().:\[\]]*"
_HALF = 0.5

Answer: TypeAlias = "Mapping[str, float] | str"
"""Answer to the share that it has: 1 for the one that was written. Or the reply that names none."""


def answers_of(run: Run) -> list[tuple[Prompt, Answer]]:
    """Each prompt of a run with what the model answered."""
    suite, options = cast("Suite", run.suite), cast("PromptedOptions", run.options)
    prompts = list(prompts_of(suite, options))
    numbers = {text: n for n, text in enumerate(dict.fromkeys(prompt.asked for prompt in prompts))}
    if options.answer == "generate":
        texts = dict(run.table("replies").select("request", "text").iter_rows())
        return [(prompt, _read(texts[numbers[prompt.asked]], prompt.answers)) for prompt in prompts]
    nats: dict[int, list[float | None]] = {}
    table = run.table("choices").sort("request", "option")
    for number, value in table.select("request", "logprob_nats").iter_rows():
        nats.setdefault(number, []).append(value)
    return [(prompt, _shares(prompt.answers, nats[numbers[prompt.asked]])) for prompt in prompts]


def unread(run: Run) -> list[str]:
    """The replies that name no answer."""
    return [answer for _, answer in answers_of(run) if isinstance(answer, str)]


def _read(reply: str, answers: Sequence[str]) -> Answer:
    """The answer that a reply is, but for quotation marks, full stops and the like around it.

    A Cyrillic letter that looks like the one that was asked for is that letter.
    """
    plain = reply.translate(_LOOKALIKES)
    for answer in answers:
        if re.fullmatch(f"{_AROUND}{re.escape(answer)}{_AROUND}", plain, re.IGNORECASE):
            return {answer: 1.0}
    return reply


_LOOKALIKES = str.maketrans("АВав", "ABab")  # Cyrillic, as Russian models write


def _shares(answers: Sequence[str], nats: Sequence[float | None]) -> Answer:
    """The share of each answer in the probability of all of them.

    An answer that a server does not list among the most probable ones counts as 0; where it lists
    none, there is no answer.
    """
    best = max((value for value in nats if value is not None), default=None)
    if best is None:
        return NOT_LISTED
    weights = [0.0 if value is None else math.exp(value - best) for value in nats]
    whole = math.fsum(weights)
    return {answer: weight / whole for answer, weight in zip(answers, weights, strict=True)}


def choices(suite: Suite, answers: Sequence[tuple[Prompt, Answer]]) -> Iterator[Outcome]:
    """The outcome of each pair: the mean share of the better sentence over both orders.

    Args:
        suite: that was asked about.
        answers: to its prompts; the two orders of a pair stand one after the other.
    """
    named = suite.cluster
    clusters = {item.id: item.column(named) or "" for item in suite.items} if named else {}
    for (prompt, one), (other, two) in zip(answers[::2], answers[1::2], strict=True):
        like = Outcome(
            item=prompt.item,
            question=prompt.question,
            verdict="unscored",
            unit="share of both orders",
            cluster=clusters.get(prompt.item, ""),
        )
        if isinstance(one, str) or isinstance(two, str):
            yield dataclasses.replace(like, reason=UNREAD)
            continue
        value = (one.get(prompt.right, 0.0) + two.get(other.right, 0.0)) / 2
        verdict: VerdictName = "tie" if value == _HALF else "pass" if value > _HALF else "fail"
        yield dataclasses.replace(like, verdict=verdict, right=verdict == "pass", value=value)


def ratings(suite: Suite, answers: Sequence[tuple[Prompt, Answer]]) -> Iterator[Outcome]:
    """The rating of each sentence, or the mean of the scale by probability, beside people's.

    Args:
        suite: that was asked about.
        answers: to its prompts.
    """
    for sentence, (prompt, answer) in zip(rated_of(suite).sentences, answers, strict=True):
        like = Outcome(
            item=prompt.item,
            question=RATING,
            unit="points",
            reference=sentence.mean,
            cluster=sentence.cluster or sentence.pair,
        )
        if isinstance(answer, str):
            yield dataclasses.replace(like, reason=UNREAD)
            continue
        value = math.fsum(int(point) * share for point, share in answer.items())
        yield dataclasses.replace(like, value=value)


def correlated(outcomes: pl.DataFrame, like: Estimate) -> Estimate:
    """The correlation of ratings by prompt with the mean ratings of people.

    Args:
        outcomes: of ratings.
        like: what the estimate is otherwise; its statistic says which coefficient.
    """
    table = outcomes.drop_nulls(["value", "reference"])
    correlation = correlate(
        table["value"].to_numpy(),
        table["reference"].to_numpy(),
        kind=like.statistic,
        design=design_of(table["item"].to_list(), table["cluster"].to_list()),
        seed=0,
        draws=0,
    )
    rated = outcomes["reference"].count()
    return dataclasses.replace(
        like,
        value=correlation.r,
        low=correlation.low,
        high=correlation.high,
        interval_method=correlation.method,
        reason=(correlation.reason or "") if rated else "no sentence has a rating by people",
        n=correlation.n,
        unscored=rated - len(table),
        clustered=bool(table["cluster"].count()),
        description="Ratings by prompt beside the mean ratings of people.",
    )


KIND = "prompted"
SUFFIX = "-prompted"
"""What the name of a prompted suite ends in, so that no run of it meets one of its source."""

CHOICE, RATING = "forced choice by prompt", "rating by prompt"
"""The questions, which no measure of probability shares."""

LETTERS = ("A", "B")


class PromptedOptions(ParadigmOptions):
    """How a model is asked about sentences.

    Attributes:
        task: ``choice`` between the two sentences of each pair, once in each order; ``rating`` of
            each sentence on a scale; ``auto``: choice where the suite makes predictions.
        answer: ``generate``: the reply in words, read strictly; ``loglik``: the log-probabilities
            of the possible answers after the prompt.
        language: of the prompt; empty for that of the suite, or English.
        points: of the scale, from 1.
        max_tokens: of a reply.
        chat: whether a chat template is used: ``auto`` where there is one.
    """

    ASKED: ClassVar[frozenset[str]] = frozenset(
        {"task", "answer", "language", "points", "max_tokens", "chat"}
    )

    task: Literal["auto", "choice", "rating"] = "auto"
    answer: Literal["generate", "loglik"] = "generate"
    language: str = ""
    points: Annotated[int, Field(ge=2, le=9)] = 7
    max_tokens: Annotated[int, Field(ge=1, le=1000)] = 8
    chat: Literal["auto", "yes", "no"] = "auto"

    def task_of(self, suite: Suite) -> Literal["choice", "rating"]:
        """The task for a suite."""
        if self.task == "auto":
            return "choice" if suite.predictions else "rating"
        return self.task

    @property
    def prompting(self) -> StoryOptions:
        """The same options for the prompts of stories, whose code puts these together."""
        return StoryOptions(answer=self.answer, max_tokens=self.max_tokens, chat=self.chat)


def judgment_wording(language: str) -> Mapping[str, Any]:
    """The questions about sentences in a language: ``id``, ``version``, ``choice``, ``rating``."""
    questions: Mapping[str, Any] = wordings(language)["judgments"]
    return questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt about sentences.

    Attributes:
        item: the item, or the sentence, that it is about.
        condition: of the sentence that is to be chosen; empty for a rating.
        question: what is asked.
        instruction: stands before it.
        body: the sentences.
        answers: the possible ones.
        right: the answer that names the better sentence; empty for a rating.
    """

    item: str
    condition: str = ""
    question: str
    instruction: str
    body: str
    answers: tuple[str, ...]
    right: str = ""

    @property
    def asked(self) -> str:
        """All that the model reads; prompts that are equal in it are asked once."""
        return f"{self.instruction}\n\n{self.body}"


def prompted_suite(suite: Suite) -> Suite:
    """A suite of sentences as one of the same sentences that models are asked about by prompt.

    Raises:
        UsageError: its predictions do not say which of two sentences is the better one.
    """
    if suite.predictions:
        find_contrast(suite, regions=(1,))
    meta = dataclasses.replace(suite.meta, name=suite.name + SUFFIX)
    return dataclasses.replace(suite, meta=meta, extra={**suite.extra, "kind": KIND})


def prompts_of(suite: Suite, options: PromptedOptions) -> Iterator[Prompt]:
    """Each pair of a suite, once in each order; or each sentence.

    Raises:
        UsageError: its predictions do not say which of two sentences is the better one.
    """
    wording = judgment_wording(options.language or suite.meta.language)
    if options.task_of(suite) == "rating":
        points = tuple(str(point) for point in range(1, options.points + 1))
        for sentence in rated_of(suite).sentences:
            yield Prompt(
                item=sentence.id,
                question=RATING,
                instruction=fill(wording["rating"]["instruction"], points=points[-1]),
                body=fill(wording["rating"]["body"], sentence=sentence.text),
                answers=points,
            )
        return
    # Whole sentences are shown: which region the predictions name does not matter.
    contrast = find_contrast(suite, regions=(1,))
    for item in suite.items:
        texts = {
            condition.name: stimulus_text(condition, rule=suite.join)
            for condition in item.conditions
        }
        for rival in contrast.alternatives:
            pair = (texts[contrast.target], texts[rival])
            several = len(contrast.alternatives) > 1
            for right, (first, second) in zip(LETTERS, (pair, pair[::-1]), strict=True):
                yield Prompt(
                    item=item.id,
                    condition=contrast.target,
                    question=f"{CHOICE}: {contrast.target}, not {rival}" if several else CHOICE,
                    instruction=wording["choice"]["instruction"],
                    body=fill(wording["choice"]["body"], first=first, second=second),
                    answers=LETTERS,
                    right=right,
                )
