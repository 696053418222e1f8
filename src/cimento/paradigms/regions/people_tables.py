"""Tables and estimates of how people choose, beside models."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.paradigms.regions.people import people_of
from cimento.records.outcomes import Estimate
from cimento.report.formatting import ends_of, number, rate_as_text
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.paradigms.regions.people import ChoiceRate
    from cimento.statistics.correlation import Correlation


def people_grid(rates: Sequence[ChoiceRate]) -> Grid:
    """A table of how often people and models choose as predicted, on the same items."""
    # All runs of a suite repeat the same human choices, which are shown once, before the models.
    groups = grouped(((rate.suite, rate.question), rate) for rate in dict.fromkeys(rates))
    ordered = (sorted(rates, key=lambda rate: not rate.of_people) for rates in groups.values())
    return Grid.of(
        list(itertools.chain.from_iterable(ordered)),
        {
            "suite": lambda rate: rate.suite,
            "prediction": lambda rate: rate.question,
            "who": lambda rate: rate.who,
            "items": lambda rate: rate.n,
            "ties": lambda rate: rate.tied,
            "choices": lambda rate: rate.choices,
            "rate": lambda rate: rate_as_text(rate.rate, absent=BLANK),
            "95%": ends_of,
            "rho": lambda rate: number(
                rate.graded.r if rate.graded else None, digits=3, absent=BLANK
            ),
            "95% of rho": lambda rate: ends_of(rate.graded) if rate.graded else BLANK,
            "reason": lambda rate: rate.reason or (rate.graded.reason if rate.graded else None),
        },
        title="How often people choose as is predicted, and models on the same items.",
        grouped=2,
        labels=3,
        remarks=1,
        notes=(
            "most people: the prediction holds of the numbers of people who chose each sentence.",
            "one person: mean over items of the proportion of choices by which it holds.",
            "Choices that decide nothing are left out of the latter.",
            "rho: Spearman's correlation, over items, of the model's margin with that share.",
        ),
    )


def choice_estimates(run: Run) -> Iterator[Estimate]:
    """The rates of people's choices, and of the model beside them, as estimates.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    for rate in people_of(run):
        yield _of_people(run, rate)
        if rate.graded:
            yield _of_shares(run, rate, rate.graded)


def _of_people(run: Run, choices: ChoiceRate) -> Estimate:
    """A rate of people's choices, or of the model on the items that people answered."""
    return Estimate(
        suite=run.suite.name,
        model=run.model,
        question=choices.question,
        method=choices.who if choices.of_people else "on the items that people answered",
        statistic="choice rate",
        role="detail",
        value=choices.rate,
        low=choices.low,
        high=choices.high,
        reason=choices.reason or "",
        n=choices.n,
        tied=choices.tied,
    )


def _of_shares(run: Run, choices: ChoiceRate, correlation: Correlation) -> Estimate:
    """The correlation of the model's margins with people's proportions of choices."""
    return dataclasses.replace(
        _of_people(run, choices),
        method="margin and proportion of choices",
        statistic="spearman",
        value=correlation.r,
        low=correlation.low,
        high=correlation.high,
        interval_method=correlation.method,
        reason=correlation.reason or "",
        n=correlation.n,
        tied=None,
    )
