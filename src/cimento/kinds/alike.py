"""Runs beside each other: what sums them up is one question for all runs of a suite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.records.blanks import summed_up_alike

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate


def estimates_alike(runs: Iterable[Run]) -> list[Sequence[Estimate]]:
    """The estimates of some runs, of which those of a suite are summed up by one question.

    Args:
        runs: of any suites. Alone, a run may have another headline than beside others.

    Raises:
        CimentoError: as for `Run.estimates`.
    """
    several = [*runs]
    places = grouped((run.suite.name, place) for place, run in enumerate(several))
    alike = {
        place: estimates
        for of_suite in places.values()
        for place, estimates in zip(
            of_suite, summed_up_alike(several[n].estimates() for n in of_suite), strict=True
        )
    }
    return [alike[place] for place in range(len(several))]


def headline_of(estimates: Iterable[Estimate]) -> Estimate | None:
    """The one number that sums up a run; None where there is none.

    Args:
        estimates: of the run.
    """
    return next((one for one in estimates if one.role == "headline"), None)
