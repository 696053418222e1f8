"""P@1 and P@10 estimated from what people and a dictionary said, with the dictionary's errors.

Candidates that people judged count as they said. The proportion that fits among those that the
dictionary decided is corrected by its sensitivity and specificity in the same test, which were
measured on the candidates of another model and may differ for this one. Of those that it left open
nothing is known: where they are few they count as fitting as often as open ones did there, and
the interval allows for none and for all of them; where they are many there are only bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.report.cells import PERCENT, Shown
from cimento.report.grid import EstimateCell
from cimento.statistics.misclassification import (
    MeasuredShare,
    WeightedPart,
    corrected_interval,
    corrected_share,
    joined_parts,
)
from cimento.studies.portuguese.accuracy import AMONG_TEN, FIRST, JudgeErrors
from cimento.studies.portuguese.coverage import LEAST_COVERED, PrecisionCoverage, shown_bounds
from cimento.studies.portuguese.data import JudgedCandidate
from cimento.studies.portuguese.grammar import weights_of
from cimento.studies.portuguese.judge import CERTAIN

ESTIMATE_NOTE = (
    "Estimate: people's judgments where there are any, and the dictionary's corrected by its errors"
    " on the released judgments (Rogan and Gladen 1978; interval after Lang and Reiczigel 2014). It"
    " supposes that the dictionary errs as often with this model as with the one it was measured"
    " on. The interval is of what people would find for these candidates, not for others, and"
    " allows for all open ones being wrong, and for all being right."
)
NOT_MEASURED = "the errors of this dictionary are only known with the released judgments (--data)"
NO_ERRORS = "too few released candidates show how often the dictionary errs here"
ALL_JUDGED = "all of these candidates are judged, so that nothing is estimated"
OPEN = "more than 10% of the candidates are open, so there are bounds instead"

_EVEN = 0.5

Verdicts = Mapping[tuple[str, int], bool | None]
"""Item and rank to what the dictionary said."""

Errors = Mapping[tuple[str, str], JudgeErrors]
"""Test and depth to the dictionary's errors."""


def estimated(
    rows: Sequence[JudgedCandidate], aggregation: str, *, verdicts: Verdicts, errors: Errors
) -> dict[str, PrecisionCoverage]:
    """P@1 and P@10 under ``p1`` and ``p10``.

    Args:
        rows: candidates of one model in one test, with people's judgments where there are any.
        aggregation: ``micro`` or ``macro``, as for `cimento.studies.portuguese.grammar.precisions`.
        verdicts: of the dictionary.
        errors: of the dictionary; empty where they are not known.
    """
    first = [row for row in rows if row.first]
    return {
        name: _estimated(_Candidates.of(some, aggregation, verdicts), depth, errors)
        for name, depth, some in (("p1", FIRST, first), ("p10", AMONG_TEN, rows))
    }


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Candidates that count together, by who said what of them.

    Attributes:
        dimension: the test.
        weights: of each, which add up to one.
        people: what people said.
        said: what the dictionary said of those that nobody judged.
    """

    dimension: str
    weights: Sequence[float]
    people: Sequence[bool | None]
    said: Sequence[bool | None]

    @classmethod
    def of(
        cls, rows: Sequence[JudgedCandidate], aggregation: str, verdicts: Verdicts
    ) -> _Candidates:
        dimension = rows[0].column("dimension") if rows else ""
        people = [row.candidate.fits for row in rows]
        said = [
            verdicts.get((row.candidate.item, row.candidate.rank)) if fits is None else None
            for row, fits in zip(rows, people, strict=True)
        ]
        if dimension in CERTAIN:
            known = [
                fits if fits is not None else one for fits, one in zip(people, said, strict=True)
            ]
            people, said = known, [None] * len(rows)
        return cls(dimension, weights_of(rows, aggregation), people, said)

    def part(self, passed: Sequence[bool | None]) -> tuple[float, MeasuredShare] | None:
        """The weight of the candidates with a verdict, and how many of them pass; None for none."""
        known = [k for k, one in enumerate(passed) if one is not None]
        if not known:
            return None
        weight = math.fsum(self.weights[k] for k in known)
        share = math.fsum(self.weights[k] for k in known if passed[k]) / weight
        # Kish's effective number of candidates of unequal weight (1965, Survey Sampling, 8.2).
        n = weight**2 / math.fsum(self.weights[k] ** 2 for k in known)
        return weight, MeasuredShare(share, n)


def _estimated(some: _Candidates, depth: str, errors: Errors) -> PrecisionCoverage:
    people, decided = some.part(some.people), some.part(some.said)
    known = sum(one is not None for one in (*some.people, *some.said))
    of = len(some.weights)
    open_weight = 1 - sum(part[0] for part in (people, decided) if part) if known < of else 0.0
    parts = [_of_people(*people)] if people else []
    reason = OPEN if known < LEAST_COVERED * of else ""
    reason = reason or (NOT_MEASURED if decided and not errors else "")
    measured = errors.get((some.dimension, depth))
    if decided:
        corrected = _of_dictionary(*decided, measured) if measured else None
        reason = reason or ("" if corrected else NO_ERRORS)
        weight, raw = decided
        parts.append(corrected or WeightedPart(weight, raw.share, raw.share, raw.share))
    low = math.fsum(part.weight * part.share for part in parts)
    if open_weight:
        parts.append(_of_open(open_weight, measured))
    whole = None if reason or not of else joined_parts(parts)
    ends = (None, None, None) if whole is None else (whole.share, whole.low, whole.high)
    value, bottom, top = (None if end is None else round(100 * end, 2) for end in ends)
    if whole is not None and not (decided or open_weight):
        bottom, top, reason = None, None, ALL_JUDGED
    bounds = (100 * low, 100 * min(1.0, low + open_weight)) if open_weight else (None, None)
    return PrecisionCoverage(
        EstimateCell(
            value=value, low=bottom, high=top, n=of, reason=reason, digits=2, unit=PERCENT
        ),
        Shown(f"{known} of {of}", {"": known, "_of": of}),
        shown_bounds(*bounds),
    )


def _of_people(weight: float, measured: MeasuredShare) -> WeightedPart:
    return WeightedPart(weight, measured.share, measured.share, measured.share)


def _of_dictionary(
    weight: float, apparent: MeasuredShare, errors: JudgeErrors
) -> WeightedPart | None:
    """The candidates that the dictionary decided; None where its errors are not known."""
    if errors.sensitivity is None or errors.specificity is None:
        return None
    share = corrected_share(apparent.share, errors.sensitivity.share, errors.specificity.share)
    ends = corrected_interval(apparent, errors.sensitivity, errors.specificity)
    if share is None or ends is None:
        return None
    # The middle of the interval is shifted, so that its ends may pass the share.
    return WeightedPart(weight, share, min(ends[0], share), max(ends[1], share))


def _of_open(weight: float, errors: JudgeErrors | None) -> WeightedPart:
    """The candidates that are open: all of them may be wrong, or right."""
    measured = errors.open_fits if errors else None
    return WeightedPart(weight, measured.share if measured else _EVEN, 0.0, 1.0)
