"""What estimates of blanks to fill are called, for who shows them without their kind of test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cimento.records.outcomes import Estimate

FORCED_CHOICE = "choice"
"""Question of the choice among given words."""

EQUAL_CHANCE = "all options equally likely"
MEAN_CHANCE = f"{EQUAL_CHANCE}, as a mean over the items"
"""The chance of choices: of items with as many options each, and of others.

The exact test of the latter takes each item with its own chance.
"""

FIRST_HIT = "hit@1"
"""Question of whether the first candidate is an expected answer."""

EXPECTED_TABLE = "expected"
"""Table of the expected answers, item by item, with the word that was chosen."""

REACHABLE = "reachable"
"""Group of hits: whether the method can find the answer at all; where some cannot be found."""


class Reach(NamedTuple):
    """The expected answers that a model can find.

    Attributes:
        found: number of those that it can find.
        n: number of all of them.
    """

    found: int
    n: int

    def said(self, suite: str, model: str) -> str:
        """What it means for hits, in one sentence.

        Args:
            suite: its name.
            model: label of the model.
        """
        if not self.found:
            return (
                f"{suite}, {model}: all {self.n} expected answers are several tokens, which it"
                " cannot find, so that hits are undefined."
            )
        return (
            f"{suite}, {model}: only {self.found} of {self.n} expected answers can be found; the"
            " others are several tokens and count as misses in hits."
        )


def reach_of(estimates: Iterable[Estimate]) -> Reach | None:
    """How many of the expected answers a model can find; None where it can find all.

    Args:
        estimates: of a run.
    """
    several = [*estimates]
    hits = first_hits(several)
    if hits is None:
        return None
    asked = (hits.question, hits.method, hits.statistic)
    found = (
        one.n
        for one in several
        if one.group == REACHABLE and (one.question, one.method, one.statistic) == asked
    )
    n = hits.n + (hits.unscored or 0)
    return next((Reach(one, n) for one in found), None)


def of_method(estimates: Iterable[Estimate], method: str) -> list[Estimate]:
    """The estimates of one way of asking.

    Args:
        estimates: of a run.
        method: the way.
    """
    return [one for one in estimates if one.method == method]


def reach_notes(estimates: Iterable[Estimate]) -> list[str]:
    """What is to be said below hits of a model that cannot find every answer; else nothing.

    Args:
        estimates: of a run.
    """
    several = [*estimates]
    reach = reach_of(several)
    return [] if reach is None else [reach.said(several[0].suite, several[0].model)]


def forced_choice(estimates: Iterable[Estimate]) -> Estimate | None:
    """The choice among given words by the rule that has a score for most items; None without.

    Args:
        estimates: of a run.
    """
    choices = (
        one
        for one in estimates
        if one.question == FORCED_CHOICE and one.role != "detail" and one.value is not None
    )
    return max(choices, key=lambda one: one.n, default=None)


def first_hits(estimates: Iterable[Estimate]) -> Estimate | None:
    """How often an expected answer came first, by the first way of asking; None without.

    Args:
        estimates: of a run.
    """
    return next((one for one in estimates if one.question == FIRST_HIT and not one.group), None)


def summed_up_alike(several: Iterable[Sequence[Estimate]]) -> list[Sequence[Estimate]]:
    """The estimates of runs of a suite, of which those with blanks are summed up by one question.

    That is the choice among given words where some model cannot find every expected answer, which
    says more of its vocabulary than of what it knows, and each has choices; otherwise hits. A run
    that was only asked for choices is summed up by them.

    Args:
        several: the estimates of each run; those of a run without blanks stay as they are.
    """
    runs = [*several]
    hits = [first_hits(estimates) for estimates in runs]
    choices = [forced_choice(estimates) for estimates in runs]
    is_lost = any(reach_of(estimates) is not None for estimates in runs)
    by_choice = is_lost and None not in choices
    return [
        _headed(estimates, choice if by_choice or hit is None else hit)
        for estimates, hit, choice in zip(runs, hits, choices, strict=True)
    ]


def _headed(estimates: Sequence[Estimate], head: Estimate | None) -> Sequence[Estimate]:
    """The estimates of a run with another headline; as they are where they are not of blanks."""
    old = next((one for one in estimates if one.role == "headline"), None)
    if head is None or old is None or old.question not in (FIRST_HIT, FORCED_CHOICE):
        return estimates
    others = (replace(one, role="main") if one is old else one for one in estimates)
    return tuple(
        replace(other, role="headline") if one is head else other
        for one, other in zip(estimates, others, strict=True)
    )
