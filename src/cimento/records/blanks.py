"""What estimates of blanks to fill are called, for who shows them without their kind of test."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

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
