"""Tables and estimates of how people choose, beside models."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.paradigms.regions.people_rates import rates_of_choices
from cimento.paradigms.regions.people_ratings import rates_of_ratings
from cimento.records.outcomes import KAPPA, NO_INTERVAL, SAME_VERDICT, Estimate
from cimento.report import MAJORITY, MEANS
from cimento.report.cells import Shown
from cimento.report.formatting import ends_of, number, rate_as_text
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.paradigms.regions.people_rates import PeopleRate, SameVerdict
    from cimento.statistics.correlation import Correlation
    from cimento.statistics.intervals import Interval

OTHERS = ", other people"
"""The end of the names of statistics whose intervals are for other items and other people."""


def people_of(run: Run) -> list[PeopleRate]:
    """The rates at which people's choices and ratings agree with predictions, and the model's.

    Raises:
        FormulaError: a prediction cannot be read.
        InputError: a scale or a rating is invalid, or a rating is off the scale.
    """
    return [*rates_of_choices(run), *rates_of_ratings(run)]


def people_grid(rates: Sequence[PeopleRate]) -> Grid:
    """A table of how often predictions hold of people and of models, on the same items."""
    # All runs of a suite repeat the same human answers, which are shown once, before the models.
    groups = grouped(((rate.suite, rate.question), rate) for rate in dict.fromkeys(rates))
    ordered = (sorted(rates, key=lambda rate: not rate.of_people) for rates in groups.values())
    rated = any(rate.given == "rating" for rate in rates)
    chose = any(rate.given == "choice" for rate in rates)
    answers = " or ".join(("choices",) * chose + ("ratings",) * rated)
    return Grid.of(
        list(itertools.chain.from_iterable(ordered)),
        {
            "suite": lambda rate: rate.suite,
            "prediction": lambda rate: rate.question,
            "who": lambda rate: rate.who,
            "items": lambda rate: rate.n,
            "ties": lambda rate: rate.tied,
            "answers": lambda rate: rate.answers,
            "rate": lambda rate: rate_as_text(rate.rate, absent=BLANK),
            "95%": ends_of,
            "95%, others": lambda rate: ends_of(rate.others) if rate.others else BLANK,
            "rho": lambda rate: number(
                rate.graded.r if rate.graded else None, digits=3, absent=BLANK
            ),
            "95% of rho": lambda rate: ends_of(rate.graded) if rate.graded else BLANK,
            "same verdict": _same,
            "95% of same": lambda rate: ends_of(rate.same.interval) if rate.same else BLANK,
            "kappa": lambda rate: number(
                rate.same.kappa.value if rate.same else None, digits=3, absent=BLANK
            ),
            "reason": _reason,
        },
        title=f"How often people's {answers} agree with predictions; models on the same items.",
        grouped=2,
        labels=3,
        remarks=1,
        notes=(
            *(_OF_CHOICES if chose else ()),
            *(_OF_RATINGS if rated else ()),
            *_of_models(rates),
        ),
        without=() if rated else ("95%, others",),
    )


_OF_CHOICES = (
    "most people: the prediction holds of the numbers of people who chose each sentence.",
    "one person: mean over items of the proportion of choices by which it holds.",
    "Choices that decide nothing are left out of the latter.",
)
_OF_RATINGS = (
    "mean ratings: the prediction holds of the mean ratings of the sentences.",
    "one person: it holds of a person's own ratings; answers count people by item.",
    "Equal ratings are ties, which are not passes unless the run has --ties pass.",
    "95%: for other items and these people; others: for other items and other people.",
)
_OF_RHO = "rho: Spearman's correlation, over items, of the model's margin with people's proportion."
_OF_SAME = (
    "same verdict: items on which the model's verdict is that of mean ratings or most people;",
    "a tie is the same only as a tie, unless the run has --ties pass: then it is a pass.",
    "Item by item: --table people-items.",
)
_OF_KAPPA = "kappa: Cohen's, of the same verdicts: 0 is chance."


def _of_models(rates: Sequence[PeopleRate]) -> Iterator[str]:
    """What the columns of models mean, of those that have a value."""
    if any(rate.graded is not None and rate.graded.r is not None for rate in rates):
        yield _OF_RHO
    yield from _OF_SAME
    if any(rate.same is not None and rate.same.kappa.value is not None for rate in rates):
        yield _OF_KAPPA


def _same(rate: PeopleRate) -> str:
    if rate.same is None:
        return BLANK
    return Shown(f"{rate.same.same} of {rate.same.n}", {"": rate.same.same, "_n": rate.same.n})


def _reason(rate: PeopleRate) -> str | None:
    reasons = [one.reason for one in (rate, rate.others) if one is not None]
    if rate.graded is not None and rate.graded.reason:
        of = "95% of rho" if rate.graded.r is not None else "no correlation with proportions"
        reasons.append(f"{of}: {rate.graded.reason}")
    if rate.same is not None and rate.same.kappa.reason:
        reasons.append(f"kappa: {rate.same.kappa.reason}")
    return "; ".join(dict.fromkeys(filter(None, reasons))) or None


def people_estimates(run: Run) -> Iterator[Estimate]:
    """The rates of people's choices and ratings, and of the model beside them, as estimates.

    Raises:
        FormulaError: a prediction cannot be read.
        InputError: a scale or a rating is invalid, or a rating is off the scale.
    """
    for rate in people_of(run):
        yield _of_people(run, rate)
        if rate.others:
            yield _of_others(run, rate, rate.others)
        if rate.graded:
            yield _of_shares(run, rate, rate.graded)
        if rate.same:
            yield from _of_same(run, rate, rate.same)


def _of_people(run: Run, rate: PeopleRate) -> Estimate:
    """A rate of people's answers, or of the model on the items that people answered."""
    return Estimate(
        suite=run.suite.name,
        model=run.model,
        question=rate.question,
        method=rate.who if rate.of_people else "on the items that people answered",
        statistic=f"{rate.given} rate",
        role="detail",
        value=rate.rate,
        low=rate.low,
        high=rate.high,
        reason=rate.reason or "",
        n=rate.n,
        tied=rate.tied,
    )


def _of_others(run: Run, rate: PeopleRate, others: Interval) -> Estimate:
    """A rate of people's answers once more, with its interval for other people too."""
    return dataclasses.replace(
        _of_people(run, rate),
        statistic=f"{rate.given} rate{OTHERS}",
        low=others.low,
        high=others.high,
        interval_method=others.method,
        reason=others.reason or "",
    )


def _of_shares(run: Run, rate: PeopleRate, correlation: Correlation) -> Estimate:
    """The correlation of the model's margins with the proportion of people."""
    # Of rated sentences, spearman alone is the correlation of a measure with mean ratings.
    of_ratings = rate.given == "rating"
    return dataclasses.replace(
        _of_people(run, rate),
        method=f"margin and proportion of {rate.given}s",
        statistic="spearman of margins" if of_ratings else "spearman",
        value=correlation.r,
        low=correlation.low,
        high=correlation.high,
        interval_method=correlation.method,
        reason=correlation.reason or "",
        n=correlation.n,
        tied=None,
    )


def _of_same(run: Run, rate: PeopleRate, same: SameVerdict) -> Iterator[Estimate]:
    """The proportion of items with the same verdict, and kappa."""
    like = dataclasses.replace(
        _of_people(run, rate),
        method=f"verdicts of the model and of {MEANS if rate.given == 'rating' else MAJORITY}",
        n=same.n,
        tied=None,
    )
    yield dataclasses.replace(
        like,
        statistic=SAME_VERDICT,
        value=same.same / same.n if same.n else None,
        low=same.interval.low,
        high=same.interval.high,
        interval_method=same.interval.method,
        reason=same.interval.reason or "",
        right=same.same,
    )
    yield dataclasses.replace(
        like,
        statistic=KAPPA,
        value=same.kappa.value,
        low=None,
        high=None,
        reason=same.kappa.reason or NO_INTERVAL,
    )
