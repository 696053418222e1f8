"""Verdicts on a measure of whole sentences instead of summed surprisals."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.measures.regions import RegionColumns
from cimento.measures.scores import each_cost
from cimento.suites.formula import canonical, parse, references
from cimento.verdicts.compact import Verdicts
from cimento.verdicts.judge import each_verdict, parse_predictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cimento.measures import Measure, Unit
    from cimento.measures.scores import ScoredSentence
    from cimento.suites.model import Suite
    from cimento.verdicts.compact import Verdict

_REGION = re.compile(r"\(\s*\d+\s*;")


def judge_measure(
    suite: Suite, scored: Iterable[ScoredSentence], measure: Measure, *, unit: Unit = "bits"
) -> Verdicts:
    """The verdicts on every item, with the measure in the place of ``(*;%condition%)``.

    A measure of which the better sentence has more is negated first, for predictions are written
    about surprisals, of which the better sentence has less.

    Args:
        suite: whose predictions name whole sentences only.
        scored: its sentences; those of an item follow each other.
        measure: what they are compared by.
        unit: unit of the numbers in the formulas and of the tolerance of ``=``. Of a measure
            without unit they are taken as they stand, and no margin is given.

    Raises:
        UsageError: a prediction names a region.
    """
    refuse_regions(suite)
    trees = parse_predictions(suite)
    if not trees:
        return Verdicts()
    own = measure.information
    columns = RegionColumns.of(each_cost(scored, measure), unit=own or "bits")
    verdicts = each_verdict(suite, trees, columns, unit=unit if own else "bits")
    return Verdicts(verdicts if own else _without_margins(verdicts, measure))


def _without_margins(verdicts: Iterable[Verdict], measure: Measure) -> Iterator[Verdict]:
    reason = f"{measure.name} is a number without unit, so there is no margin in bits"
    for each in verdicts:
        if each.margin_bits is None:
            yield each
        else:
            yield dataclasses.replace(each, margin_bits=None, unscored_reason=reason)


def _of_sentences(formula: str) -> str:
    """The same formula about whole sentences."""
    return _REGION.sub("(*;", formula)


def refuse_regions(suite: Suite) -> None:
    """See that every prediction is about whole sentences.

    Raises:
        UsageError: one names a region.
        FormulaError: one cannot be read.
    """
    for number, prediction in enumerate(suite.predictions):
        for reference in references(parse(prediction.formula)):
            if reference.region != "*":
                raise UsageError(
                    where=f"suite {suite.name!r}, prediction {number}",
                    seen=f"it names the region {canonical(reference)},"
                    " and a measure (of --measure or --compat) is of whole sentences",
                    todo="Judge another formula with --prediction, such as"
                    f" '{_of_sentences(prediction.formula)}', or say --measure regions.",
                )
