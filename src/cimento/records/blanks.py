"""What estimates of blanks to fill are called, for who shows them without their kind of test."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cimento.records.outcomes import Estimate

FORCED_CHOICE = "choice"
"""Question of the choice among given words."""

REACHABLE = "reachable"
"""Group of hits: whether the method can find the answer at all; where some cannot be found."""


def n_findable(hits: Estimate, estimates: Iterable[Estimate]) -> int | None:
    """How many expected answers a model can find; None where it can find all.

    Args:
        hits: of all items.
        estimates: of the same run.
    """
    asked = (hits.question, hits.method, hits.statistic)
    return next(
        (
            one.n
            for one in estimates
            if one.group == REACHABLE and (one.question, one.method, one.statistic) == asked
        ),
        None,
    )


def forced_choice(estimates: Iterable[Estimate]) -> Estimate | None:
    """The choice among given words by the rule that has a score for most items; None without.

    Args:
        estimates: of a run.
    """
    choices = (
        one
        for one in estimates
        if one.question == FORCED_CHOICE and one.role == "main" and one.value is not None
    )
    return max(choices, key=lambda one: one.n, default=None)


def choices_sum_up(several: Iterable[Sequence[Estimate]]) -> bool:
    """Whether runs of a suite are summed up by their choices among given words.

    They are where some model cannot find every expected answer, which says more of its vocabulary
    than of what it knows, and each has choices.

    Args:
        several: the estimates of each run.
    """
    runs = [*several]
    is_lost = any(
        one.role == "headline" and n_findable(one, estimates) is not None
        for estimates in runs
        for one in estimates
    )
    return is_lost and all(forced_choice(estimates) is not None for estimates in runs)
