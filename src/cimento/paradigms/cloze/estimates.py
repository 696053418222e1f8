"""Estimates of a cloze run: accuracies of hits, precisions of candidates, forced choices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.paradigms.cloze.answers import FITS, ClozeAnswers
from cimento.paradigms.cloze.judging import CHOICE, DIVIDED, HIT, REACHABLE, asked, depths_of
from cimento.paradigms.cloze.shares import Share, macro
from cimento.paradigms.cloze.suite import ClozeItem
from cimento.runs.estimates import Estimate, Role
from cimento.runs.outcomes import GROUP, rate

if TYPE_CHECKING:
    import polars as pl

ACCURACY, PRECISION, MACRO = "accuracy", "precision", "macro precision"
"""Statistics: of hits and choices, of candidates that fit, of these as a mean over templates."""

TEMPLATE = "template"
"""The column over whose values the mean of precisions goes."""

OPEN = "candidates are open"
OF_GROUPS = "a mean of groups has no interval"


class EstimateIndex:
    """The estimates of a run by what they are of.

    Args:
        estimates: of one run.
    """

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        self._found: dict[tuple[str, str, str, str, str], Estimate] = {
            (each.question, each.method, each.group, each.level, each.statistic): each
            for each in estimates
        }

    def find(
        self,
        question: str,
        method: str,
        *,
        group: str = "",
        level: str = "",
        statistic: str = ACCURACY,
    ) -> Estimate | None:
        """One of them; None where there is none of this."""
        return self._found.get((question, method, group, level, statistic))

    def levels(self, question: str, method: str, group: str) -> list[Estimate]:
        """Those for the values of a column."""
        return [
            estimate
            for estimate in self._found.values()
            if (estimate.question, estimate.method, estimate.group) == (question, method, group)
        ]


def cloze_estimates(answers: ClozeAnswers) -> Sequence[Estimate]:
    """acc@1 to acc@k, P@1 and P@k, and the forced choices, also by the columns of ``by``."""
    outcomes = answers.run.outcomes()
    estimates = [
        estimate
        for method in answers.methods
        for estimate in (
            *_hit_estimates(answers, outcomes, method),
            *_fit_estimates(answers, outcomes, method),
        )
    ]
    estimates += _choice_estimates(answers, outcomes)
    return [
        replace(estimate, role="headline") if number == 0 else estimate
        for number, estimate in enumerate(estimates)
    ]


def _levels(outcomes: pl.DataFrame, column: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """The outcomes of each value of a free column, in order of the values."""
    import polars as pl

    name = GROUP + column
    values = outcomes[name].drop_nulls().unique().sort() if name in outcomes.columns else ()
    for value in values:
        yield value, outcomes.filter(pl.col(name) == value)


def _by_columns(
    outcomes: pl.DataFrame, like: Estimate, columns: Iterable[str]
) -> Iterator[Estimate]:
    for column in columns:
        for level, rows in _levels(outcomes, column):
            yield rate(rows, replace(like, group=column, level=level, role="detail"))


def _hit_estimates(
    answers: ClozeAnswers, outcomes: pl.DataFrame, method: str
) -> Iterator[Estimate]:
    import polars as pl

    depths = depths_of(answers)
    ranked = asked(outcomes, f"{HIT}{depths[-1]}", method)
    if ranked.is_empty():
        return
    for k in range(1, depths[-1] + 1):
        held = (pl.col("value") <= k).fill_null(value=False)
        at_k = ranked.with_columns(
            right=held, verdict=pl.when(held).then(pl.lit("pass")).otherwise(pl.lit("fail"))
        )
        role: Role = "main" if k in depths else "detail"
        like = Estimate(
            suite=answers.suite.name,
            model=answers.run.model,
            question=f"{HIT}{k}",
            method=method,
            role=role,
            description=f"the target is among the first {k} candidates"
            if k > 1
            else "the target is the first candidate",
            chance_method=OPEN,
        )
        yield rate(at_k, like)
        if GROUP + REACHABLE in at_k.columns and at_k[GROUP + REACHABLE].is_not_null().any():
            reachable = at_k.filter(pl.col(GROUP + REACHABLE) == "yes")
            yield rate(reachable, replace(like, group=REACHABLE, level="yes", role="detail"))
        if k in depths:
            yield from _by_columns(at_k, like, answers.options.by)


def _fit_estimates(
    answers: ClozeAnswers, outcomes: pl.DataFrame, method: str
) -> Iterator[Estimate]:
    for k in depths_of(answers):
        rows = asked(outcomes, f"{FITS}{k}", method)
        if rows.is_empty():
            continue
        first = f"the first {k} candidates" if k > 1 else "first candidates"
        like = Estimate(
            suite=answers.suite.name,
            model=answers.run.model,
            question=f"{FITS}{k}",
            method=method,
            statistic=PRECISION,
            description=f"share of {first} that fit",
            chance_method=OPEN,
        )
        yield rate(rows, like)
        if GROUP + TEMPLATE in rows.columns:
            yield _mean_precision(rows, like)
        yield from _by_columns(rows, like, answers.options.by)


def _mean_precision(rows: pl.DataFrame, like: Estimate) -> Estimate:
    """The unweighted mean of the precisions of templates."""
    judged = ([r for r in part["right"] if r is not None] for _, part in _levels(rows, TEMPLATE))
    mean = macro(Share(sum(right), len(right)) for right in judged)
    return replace(
        like,
        statistic=MACRO,
        description=f"{like.description}: mean over templates",
        value=mean.value,
        n=mean.groups,
        reason=OF_GROUPS if mean.groups else "no candidate was judged",
    )


def _choice_estimates(answers: ClozeAnswers, outcomes: pl.DataFrame) -> Iterator[Estimate]:
    items = {item.id: item for item in answers.items}
    for rule in answers.choices:
        for method in (rule, rule + DIVIDED):
            rows = asked(outcomes, CHOICE, method)
            if rows.is_empty():
                continue
            like = Estimate(
                suite=answers.suite.name,
                model=answers.run.model,
                question=CHOICE,
                method=method,
                role="main" if method == rule else "detail",
                description="the target is the most probable option",
            )
            scored = rows.filter(rows["right"].is_not_null())["item"]
            shares = [_chance(items[item]) for item in scored]
            chance = math.fsum(shares) / len(shares) if shares else None
            yield rate(rows, replace(like, chance=chance, chance_method="each option as likely"))


def _chance(item: ClozeItem) -> float:
    """How often a target would be the most probable option, were each as likely to be."""
    return sum(option.role == "target" for option in item.options) / len(item.options)
