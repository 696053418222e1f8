"""Verdicts on a measure of whole sentences instead of summed surprisals."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from cimento.judging import refuse_regions
from cimento.measures.scores import costs
from cimento.verdicts.judge import judge_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cimento.measures import Measure, Unit
    from cimento.measures.scores import ScoredSentence
    from cimento.suites.model import Suite
    from cimento.verdicts.judge import Verdict


def judge_measure(
    suite: Suite, scored: Iterable[ScoredSentence], measure: Measure, *, unit: Unit = "bits"
) -> list[Verdict]:
    """The verdicts on every item, with the measure in the place of ``(*;%condition%)``.

    A measure of which the better sentence has more is negated first, for predictions are written
    about surprisals, of which the better sentence has less.

    Args:
        suite: whose predictions name whole sentences only.
        scored: its sentences.
        measure: what they are compared by.
        unit: unit of the numbers in the formulas and of the tolerance of ``=``. Of a measure
            without unit they are taken as they stand, and no margin is given.

    Raises:
        UsageError: a prediction names a region.
    """
    refuse_regions(suite)
    values = costs(scored, measure)
    if measure.information is not None:
        return judge_values(suite, values, unit=unit)
    verdicts = judge_values(suite, values, unit=values.unit)
    reason = f"{measure.name} is a number without unit, so there is no margin in bits"
    return [
        each
        if each.margin_bits is None
        else dataclasses.replace(each, margin_bits=None, unscored_reason=reason)
        for each in verdicts
    ]
