"""Rates of candidates of which only some are judged: shown where nearly all are, else as bounds.

Candidates that another model gave too are the better ones, and these are judged first: a rate over
them alone flatters whoever gave few of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cimento.report.cells import HIGH, LOW, PERCENT, Shown
from cimento.report.grid import BLANK, EstimateCell
from cimento.studies.portuguese.data import JudgedCandidate
from cimento.studies.portuguese.grammar import intervals, precisions

LEAST_COVERED = 0.9
"""Proportion of the candidates that must be judged by people for a rate of them to be shown."""

UNCOVERED = "fewer than 90% of the candidates are judged by people, so there are bounds instead"
BOUNDS_NOTE = (
    "Bounds: P@1 and P@10 if all candidates without a judgment were wrong, and if all were right."
)


@dataclass(frozen=True, slots=True)
class PrecisionCoverage:
    """P@1 or P@10 of some candidates.

    Attributes:
        cell: the rate; None inside where too few are judged.
        n: how many are judged, of how many.
        bounds: in percent; blank where the rate is shown, or nothing is judged.
    """

    cell: EstimateCell
    n: str
    bounds: str


def covered(
    rows: Sequence[JudgedCandidate], aggregation: str, *, by_people: bool
) -> dict[str, PrecisionCoverage]:
    """P@1 and P@10 under ``p1`` and ``p10``.

    Args:
        rows: candidates of one model, of which some may not be judged.
        aggregation: ``micro`` or ``macro``, as for `precisions`.
        by_people: whether people judged them, those first that other models gave too, so that a
            rate needs nearly all of them; a dictionary leaves out what it cannot decide.
    """
    shares, ends = precisions(rows, aggregation), intervals(rows, aggregation)
    wrong, right = (precisions(_filled(rows, fits=fits), aggregation) for fits in (False, True))
    by_name = {}
    unknown = EstimateCell(
        value=None, low=None, high=None, n=0, reason=UNCOVERED, digits=2, unit=PERCENT
    )
    for name in ("p1", "p10"):
        counted = [row for row in rows if row.first or name == "p10"]
        n = sum(row.candidate.fits is not None for row in counted)
        least = LEAST_COVERED * len(counted) if by_people else len(counted)
        is_shown = not by_people or n >= least
        low, high, reason = (ends[name][key] for key in ("low", "high", "reason"))
        pct = shares[name]["pct"]
        cell = EstimateCell(
            value=pct, low=low, high=high, n=n, reason=reason, digits=2, unit=PERCENT
        )
        low, high = wrong[name]["pct"], right[name]["pct"]
        by_name[name] = PrecisionCoverage(
            cell if is_shown else replace(unknown, n=n),
            Shown(f"{n} of {len(counted)}", {"": n, "_of": len(counted)}),
            shown_bounds(low, high) if n and n < least else shown_bounds(None, None),
        )
    return by_name


def shown_bounds(low: float | None, high: float | None) -> Shown:
    """The lowest and the highest rate that there could be, in percent; blank without them."""
    text = BLANK if low is None or high is None else f"{low:.2f} to {high:.2f}"
    return Shown(text, {f"_{PERCENT}{LOW}": low, f"_{PERCENT}{HIGH}": high})


def _filled(rows: Sequence[JudgedCandidate], *, fits: bool) -> list[JudgedCandidate]:
    """Rows in which every candidate is judged: those that are not, all in one way."""
    return [
        replace(row, candidate=replace(row.candidate, fits=fits))
        if row.candidate.fits is None
        else row
        for row in rows
    ]
