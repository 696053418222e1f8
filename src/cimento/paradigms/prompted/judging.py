"""Answers to prompts about sentences, and the outcomes of items."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from cimento.paradigms.prompted.asking import RATING, Prompt, PromptedOptions, prompts_of
from cimento.paradigms.ratings.suite import rated_of
from cimento.runs.outcomes import Estimate, Outcome, VerdictName, design_of
from cimento.statistics.correlation import correlate
from cimento.suites.model import Suite

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
    """The answer that a reply is, but for quotation marks, full stops and the like around it."""
    for answer in answers:
        if re.fullmatch(f"{_AROUND}{re.escape(answer)}{_AROUND}", reply, re.IGNORECASE):
            return {answer: 1.0}
    return reply


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
