"""Contrasts of suites: the likelier condition, its alternatives, and the region where they differ.

The contrast is read from the predictions: ``(3;%match%) < (3;%mismatch%)`` says that region 3 is
the target, that ``match`` is the grammatical condition and that ``mismatch`` is an alternative to
it.

The probability ratio is the grammatical form's share of two forms' probability (Táboas García
and Wanner, SyntacticAgreement)::

    ratio = p(target) / (p(target) + p(alternative)) = 1 / (1 + b^(S_target - S_alternative))

S is the summed surprisal of the target region, and b the base of its unit: 2 for bits, e for nats.
The score of an item is the mean over its alternatives, each compared with the target separately;
the score of a suite is the unweighted mean over its items.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.measures.sentence import BITS_PER_NAT, Missing, Value, total
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.paradigms.regions.two_by_two import summed
from cimento.suites.formula import Comparison, Junction, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cimento.measures.regions import RegionValues
    from cimento.measures.sentence import Unit
    from cimento.suites.formula import Formula
    from cimento.suites.model import Item, Suite


@dataclass(frozen=True, slots=True)
class Contrast:
    """The comparison in every item.

    Attributes:
        target: the grammatical condition.
        alternatives: conditions that should be less likely, in the order of the formulas.
        regions: numbers of the regions that differ, from 1.
    """

    target: str
    alternatives: tuple[str, ...]
    regions: tuple[int, ...]


def find_contrast(suite: Suite, *, regions: Sequence[int] = ()) -> Contrast:
    """The contrast that the predictions of a suite make.

    Args:
        suite: suite in which all predictions are ``<`` or ``>`` between one region of two
            conditions,
            alone or joined by ``&``.
        regions: numbers of the target's regions, if the formulas leave the target open
            (they name several, or ``*``).

    Raises:
        UsageError: the predictions do not determine the grammatical condition or the region of the
            target, or the suite has no region with a given number.
        FormulaError: a prediction cannot be read.
    """
    pairs = [
        pair
        for tree, prediction in zip(parse_predictions(suite), suite.predictions, strict=True)
        for pair in _pairs(tree, suite, prediction.formula)
    ]
    if not pairs:
        raise _undefined(suite, "has no predictions", "Add one to the suite.")
    targets = list(dict.fromkeys(low.condition for low, _ in pairs))
    if len(targets) > 1:
        raise _undefined(
            suite,
            f"its predictions favour several conditions: {', '.join(targets)}",
            "Make a suite of the items and predictions of each.",
        )
    return Contrast(
        target=targets[0],
        alternatives=tuple(dict.fromkeys(high.condition for _, high in pairs)),
        regions=_given(regions, suite) or _named(pairs, suite),
    )


def items_with_other_contexts(suite: Suite, contrast: Contrast) -> list[str]:
    """The items whose conditions also differ outside the target.

    In these items the target's probabilities have different contexts, so that their ratio does not
    compare the forms alone.
    """
    return [item.id for item in suite.items if len(set(_contexts(item, contrast))) > 1]


def _contexts(item: Item, contrast: Contrast) -> Iterator[tuple[str, ...]]:
    names = (contrast.target, *contrast.alternatives)
    for condition in item.conditions:
        if condition.name in names:
            yield tuple(
                region.text
                for number, region in enumerate(condition.regions, start=1)
                if number not in contrast.regions
            )


def _pairs(tree: Formula, suite: Suite, formula: str) -> Iterator[tuple[Reference, Reference]]:
    """The pairs of the reference that should be less surprising and the other one."""
    match tree:
        case Junction("&", left, right):
            yield from _pairs(left, suite, formula)
            yield from _pairs(right, suite, formula)
        case Comparison("<", Reference() as low, Reference() as high):
            yield low, high
        case Comparison(">", Reference() as high, Reference() as low):
            yield low, high
        case _:
            raise _undefined(
                suite,
                f"the prediction {formula} is not '<' or '>' between two conditions",
                "Only such predictions, alone or joined by &, name a target and its alternatives.",
            )


def _named(pairs: Sequence[tuple[Reference, Reference]], suite: Suite) -> tuple[int, ...]:
    """The only region that all formulas name."""
    named = list(dict.fromkeys(reference.region for pair in pairs for reference in pair))
    if len(named) == 1 and named[0] != "*":
        return (named[0],)
    numbers = ", ".join(map(str, named))
    shown = ", ".join(f"{n} ({name})" for n, name in enumerate(suite.region_names, start=1))
    raise _undefined(
        suite,
        f"its predictions name the regions {numbers}" if len(named) > 1 else "they name '*'",
        f"Say which make the target with --region; there are {shown}.",
    )


def _given(regions: Sequence[int], suite: Suite) -> tuple[int, ...]:
    count = len(suite.region_names)
    for number in regions:
        if not 1 <= number <= count:
            raise UsageError(
                where=f"--region {number}",
                seen=f"the suite {suite.name!r} has {count} regions",
                todo=did_you_mean(str(number), [str(n) for n in range(1, count + 1)]),
            )
    return tuple(sorted(set(regions)))


def _undefined(suite: Suite, seen: str, todo: str) -> UsageError:
    return UsageError(where=f"suite {suite.name!r}", seen=seen, todo=todo)


@dataclass(frozen=True, slots=True)
class ItemRatio:
    """The probability ratios of one item.

    Attributes:
        item: id of the item.
        ratios: one for each alternative, in the order of the contrast; None where undefined.
        margins_bits: surprisal of each alternative minus the target's, in bits.
        mean: mean over all alternatives; None if one of them is undefined.
        reason: reason why one is undefined.
    """

    item: str
    ratios: tuple[float | None, ...]
    margins_bits: tuple[float | None, ...]
    mean: float | None
    reason: str | None = None


def probability_ratios(values: RegionValues, contrast: Contrast) -> list[ItemRatio]:
    """The probability ratios of every item.

    Args:
        values: values of all regions by the metric ``sum``, the only one that gives probabilities.
        contrast: the contrast of the suite.

    Raises:
        UsageError: the values have another metric.
    """
    if values.metric != "sum":
        raise UsageError(
            where=f"metric {values.metric}",
            seen="only a sum of surprisals is that of a probability",
            todo="Say --metric sum.",
        )
    unit, regions, quotients = values.unit, contrast.regions, []
    bits = 1.0 if unit == "bits" else BITS_PER_NAT
    for item, conditions in values.values.items():
        target = _summed(conditions, contrast.target, regions)
        others = [_summed(conditions, name, regions) for name in contrast.alternatives]
        missing = [other.reason for other in (target, *others) if isinstance(other, Missing)]
        gaps = [
            None if isinstance(target, Missing) or isinstance(other, Missing) else other - target
            for other in others
        ]
        ratios = tuple(None if gap is None else _share(gap, unit=unit) for gap in gaps)
        known = [ratio for ratio in ratios if ratio is not None]
        ratio = ItemRatio(
            item=item,
            ratios=ratios,
            margins_bits=tuple(None if gap is None else gap * bits for gap in gaps),
            mean=None if missing else total(known) / len(known),
            reason=missing[0] if missing else None,
        )
        quotients.append(ratio)
    return quotients


def _share(gap: float, *, unit: Unit) -> float:
    """The logistic function of a difference of surprisals; it never overflows."""
    gap_nats = gap * math.log(2) if unit == "bits" else gap
    if gap_nats >= 0:
        return 1 / (1 + math.exp(-gap_nats))
    raised = math.exp(gap_nats)
    return raised / (1 + raised)


def _summed(conditions: Mapping[str, Sequence[Value]], name: str, regions: Sequence[int]) -> Value:
    if name not in conditions:
        return Missing(f"the item has no condition {name!r}")
    return summed(conditions[name], regions)
