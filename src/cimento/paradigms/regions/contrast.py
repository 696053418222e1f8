"""The contrast of a suite: the condition that should be likelier, the others, where they differ.

It is read from the predictions: ``(3;%match%) < (3;%mismatch%)`` says that region 3 is what counts,
that ``match`` is the grammatical condition and that ``mismatch`` is an alternative to it.

The probability ratio says how much of two forms' probability the grammatical one has (Táboas García
and Wanner, SyntacticAgreement)::

    ratio = p(target) / (p(target) + p(alternative)) = 1 / (1 + b^(S_target - S_alternative))

S is the summed surprisal of the target region, b the base that it is taken in: 2 for bits, e for
nats. The score of an item is the mean over its alternatives, each compared with the target alone;
that of a suite is the unweighted mean over its items.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.measures.sentence import BITS_PER_NAT, Missing, Value, total
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.suites.formula import Comparison, Junction, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cimento.measures.regions import RegionValues
    from cimento.measures.sentence import Unit
    from cimento.suites.formula import Formula
    from cimento.suites.model import Item, Suite


@dataclass(frozen=True, slots=True)
class Contrast:
    """What is compared in every item.

    Attributes:
        target: the grammatical condition.
        alternatives: the conditions that it should be likelier than, in the order of the formulas.
        regions: numbers of the regions that differ, from 1.
    """

    target: str
    alternatives: tuple[str, ...]
    regions: tuple[int, ...]


def find_contrast(suite: Suite, *, regions: Sequence[int] = ()) -> Contrast:
    """What the predictions of a suite contrast.

    Args:
        suite: all of whose predictions are ``<`` or ``>`` between one region of two conditions,
            alone or joined by ``&``.
        regions: numbers of the regions that make the target, where the formulas leave it open
            (they name several, or ``*``).

    Raises:
        UsageError: the predictions do not say which condition is the grammatical one, or which
            region is the target; or there is no region of a number that is given.
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
    """The items whose conditions differ elsewhere than in the target.

    There the probabilities of the target are given different contexts, and their ratio does not
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
    """What should be the less surprising of two, and the other."""
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
    """The one region that all formulas name."""
    named = list(dict.fromkeys(each.region for pair in pairs for each in pair))
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
        item: its id.
        ratios: one for each alternative, in the order of the contrast; None where undefined.
        margins_bits: surprisal of each alternative minus that of the target.
        mean: over all alternatives; None where one of them is undefined.
        reason: why.
    """

    item: str
    ratios: tuple[float | None, ...]
    margins_bits: tuple[float | None, ...]
    mean: float | None
    reason: str | None = None


def probability_ratios(values: RegionValues, contrast: Contrast) -> list[ItemRatio]:
    """The ratios of every item.

    Args:
        values: of all regions, with the metric ``sum``: no other makes a probability.
        contrast: what is compared.

    Raises:
        UsageError: the metric is another one.
    """
    if values.metric != "sum":
        raise UsageError(
            where=f"metric {values.metric}",
            seen="only a sum of surprisals is that of a probability",
            todo="Say --metric sum.",
        )
    return [
        _item_ratio(item, conditions, contrast, unit=values.unit)
        for item, conditions in values.values.items()
    ]


def _item_ratio(
    item: str,
    conditions: Mapping[str, Sequence[Value]],
    contrast: Contrast,
    *,
    unit: Unit,
) -> ItemRatio:
    target = _summed(conditions, contrast.target, contrast.regions)
    others = [_summed(conditions, name, contrast.regions) for name in contrast.alternatives]
    missing = [other.reason for other in (target, *others) if isinstance(other, Missing)]
    gaps = [
        None if isinstance(target, Missing) or isinstance(other, Missing) else other - target
        for other in others
    ]
    ratios = tuple(None if gap is None else _share(gap, unit=unit) for gap in gaps)
    known = [ratio for ratio in ratios if ratio is not None]
    bits = 1.0 if unit == "bits" else BITS_PER_NAT
    return ItemRatio(
        item=item,
        ratios=ratios,
        margins_bits=tuple(None if gap is None else gap * bits for gap in gaps),
        mean=None if missing else total(known) / len(known),
        reason=missing[0] if missing else None,
    )


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
    values = [conditions[name][number - 1] for number in regions]
    known = [value for value in values if not isinstance(value, Missing)]
    if len(known) < len(values):
        return next(value for value in values if isinstance(value, Missing))
    return total(known)
