"""The numbers that predictions compare: of each condition, the sum over a prediction's regions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.paradigms.regions.judging import (
    compared,
    judged_suite,
    measure_of,
    questions,
)
from cimento.paradigms.regions.predictions import ItemValues, parse_predictions
from cimento.suites.formula import Reference, references

if TYPE_CHECKING:
    from cimento.io.values import Floats
    from cimento.kinds.run import Run

SideValues = dict[str, dict[str, dict[str, float | None]]]
"""By question, item and condition."""


def side_values(run: Run) -> SideValues:
    """The negated surprisals that each question of a run compares, in nats.

    Of each condition that the formula of a prediction names, the value of a region counts once,
    by the metric of the run; a region that a condition lacks makes the number None. On a measure
    of sentences it is the measure, oriented so that more is better, in nats if it is a number of
    bits.

    Args:
        run: run of a region suite.

    Raises:
        CimentoError: the answers cannot be judged.
    """
    suite, measure = judged_suite(run), measure_of(run)
    if not suite.predictions:
        return {}
    columns = compared(run)[1]
    ids = list(suite.columns.ids)
    values = ItemValues.of(columns, ids)
    has_unit = measure is None or measure.information is not None
    scale = math.log(2) if has_unit and columns.unit == "bits" else 1.0
    parts = [references(tree) for tree in parse_predictions(suite)]
    if len(parts) > 1:
        parts.append(_alike([one for part in parts for one in part]))
    made: SideValues = {}
    for question, part in zip(questions(run), parts, strict=True):
        sides = made[question] = {item: {} for item in ids}
        for condition in suite.condition_names:
            regions = [one for one in dict.fromkeys(part) if one.condition == condition]
            if not regions:
                continue
            sums = -scale * _sums(values, regions)
            for item, number in zip(ids, sums.tolist(), strict=True):
                sides[item][condition] = number if math.isfinite(number) else None
    return made


def _alike(named: Sequence[Reference]) -> tuple[Reference, ...]:
    """The same regions of every condition: all that any prediction names.

    All predictions together have no sides of their own, and sums over different regions of two
    conditions would look as if they could be compared.
    """
    regions = dict.fromkeys(one.region for one in named)
    conditions = dict.fromkeys(one.condition for one in named)
    return tuple(Reference(region, name) for name in conditions for region in regions)


def _sums(values: ItemValues, regions: Sequence[Reference]) -> Floats:
    """The sum over some regions of one condition in every item; the whole includes its parts."""
    whole = [one for one in regions if one.region == "*"]
    first, *others = (values.look_up(one)[0] for one in whole or regions)
    return sum(others, start=first)
