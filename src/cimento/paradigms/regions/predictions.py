"""The evaluation of predictions: pass, fail, tie or unscored for every item, with margins.

A formula is evaluated over all items at once. Comparisons are made in the unit of the source, so
that a tie is float64 equality of the two sides as they were summed. For this, the numbers in a
formula are converted to that unit, and never the measured values.

``&`` takes the first of fail, unscored, tie, pass that occurs among its parts: a part that fails
decides, whatever is missing elsewhere. ``|`` is its mirror image: pass, unscored, tie, fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.errors import FormulaError, did_you_mean
from cimento.io.values import Unit
from cimento.measures import BITS_PER_NAT, Value
from cimento.measures.regions import RegionColumns
from cimento.records.outcomes import VerdictName
from cimento.suites.checks.structure import Listing
from cimento.suites.formula import (
    Comparison,
    Connective,
    Formula,
    Number,
    Quantity,
    Reference,
    canonical,
    parse,
    references,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cimento.io.values import Floats, Integers
    from cimento.suites import Suite

VERDICTS: tuple[VerdictName, ...] = ("pass", "fail", "tie", "unscored")
"""The verdicts, in the order of their indices in columns."""

ABSOLUTE_TOLERANCE = 1e-3
RELATIVE_TOLERANCE = 1e-5

NO_CONDITION = "there is no such condition in this item"
NO_REGION = "there is no such region in this item"

_PASS, _FAIL, _TIE, _UNSCORED = range(4)
_ORDER: Mapping[Connective, tuple[int, ...]] = {
    "&": (_FAIL, _UNSCORED, _TIE, _PASS),
    "|": (_PASS, _UNSCORED, _TIE, _FAIL),
}
UNDECIDED = "undecided: the margin is within its Monte Carlo error"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of a formula on one item.

    Attributes:
        verdict: ``pass``, ``fail``, ``tie`` or ``unscored``.
        margin_bits: size of the effect in bits, positive in favor of the prediction: the difference
            of the two sides, the smallest over ``&``, the largest over ``|``, the tolerance minus
            the absolute difference for ``=``; None if a part has no value.
        reason: reason why the margin is None.
    """

    verdict: VerdictName
    margin_bits: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Evaluations:
    """The results of a formula on several items, as columns.

    Attributes:
        verdicts: indices into `VERDICTS`.
        margins_bits: margin of each prediction in bits, as in `Evaluation`; NaN where there is
            none.
        reasons: indices of the reasons why there are none; -1 where there is a margin.
    """

    verdicts: Integers
    margins_bits: Floats
    reasons: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemValues:
    """The values of regions, by item and condition.

    Attributes:
        columns: values of all stimuli.
        first: by condition, index of each item's first region; -1 if the item lacks the condition.
        counts: by condition, number of regions in each item.
        n: number of items.
    """

    columns: RegionColumns
    first: Mapping[str, Integers]
    counts: Mapping[str, Integers]
    n: int

    @classmethod
    def of(cls, columns: RegionColumns, items: Sequence[str]) -> ItemValues:
        """The values of some items, in their order.

        Args:
            columns: values of all stimuli; those of other items are left out.
            items: ids of the items.
        """
        import numpy as np
        import polars as pl

        names = pl.Series("item", items, dtype=pl.String)
        runs = columns.items.rle().struct.unnest()
        if runs["value"].equals(names):  # as in a whole suite in its own order
            item = np.repeat(np.arange(len(items)), runs["len"].to_numpy())
        else:
            places = names.to_frame().with_row_index("place").unique("item", keep="first")
            named = columns.items.rename("item").to_frame()
            joined = named.join(places, on="item", how="left", maintain_order="left")
            item = joined["place"].cast(pl.Int64).fill_null(-1).to_numpy()
        lengths = np.diff(columns.offsets)
        first: dict[str, Integers] = {}
        counts: dict[str, Integers] = {}
        for name in columns.conditions.unique(maintain_order=True).to_list():
            rows = np.flatnonzero((columns.conditions == name).to_numpy() & (item >= 0))
            first[name] = np.full(len(items), -1, dtype=np.int64)
            counts[name] = np.zeros(len(items), dtype=np.int64)
            first[name][item[rows]] = columns.offsets[rows]
            counts[name][item[rows]] = lengths[rows]
        return cls(columns=columns, first=first, counts=counts, n=len(items))

    def look_up(self, reference: Reference) -> tuple[Floats, Integers]:
        """The value of a region in every item, and the reasons where it is missing."""
        import numpy as np

        texts = self.columns.texts
        first = self.first.get(reference.condition)
        if first is None:
            return np.full(self.n, np.nan), np.full(self.n, texts.number(NO_CONDITION))
        counts = self.counts[reference.condition]
        if reference.region == "*":
            values, reasons = self._totals(first, counts)
        else:
            values, reasons = self._at(first, counts, reference.region - 1)
        reasons[first < 0] = texts.number(NO_CONDITION)
        return values, reasons

    def _at(self, first: Integers, counts: Integers, region: int) -> tuple[Floats, Integers]:
        import numpy as np

        there = (first >= 0) & (region < counts)
        values = np.full(self.n, np.nan)
        reasons = np.full(self.n, self.columns.texts.number(NO_REGION), dtype=np.int64)
        rows = first[there] + region
        values[there], reasons[there] = self.columns.values[rows], self.columns.reasons[rows]
        return values, reasons

    def _totals(self, first: Integers, counts: Integers) -> tuple[Floats, Integers]:
        """The sums over all regions, each added from left to right in the order of `total`."""
        import numpy as np

        values, reasons = np.zeros(self.n), np.full(self.n, -1, dtype=np.int64)
        for region in range(int(counts.max(initial=0))):
            there = region < counts
            value, reason = self._at(first, counts, region)
            values[there] += value[there]
            several = self.columns.texts.after(f"region {region + 1}: ", reason)
            new = there & (reasons < 0)
            reasons[new] = np.where(counts == 1, reason, several)[new]
        return values, reasons


def evaluate_item(
    formula: Formula,
    values: Mapping[str, Sequence[Value]],
    *,
    source_unit: Unit = "bits",
    unit: Unit = "bits",
    tied_within: float = 0.0,
) -> Evaluation:
    """The result of a formula on one item; see `evaluate_items`.

    Args:
        formula: formula as parsed by `parse`.
        values: values of the regions of each condition, in order.
        source_unit: unit of the values.
        unit: unit of the formula, as for `evaluate_items`.
        tied_within: as for `evaluate_items`.
    """
    stimuli = (("", condition, regions) for condition, regions in values.items())
    columns = RegionColumns.of(stimuli, unit=source_unit)
    judged = evaluate_items(
        formula, ItemValues.of(columns, [""]), unit=unit, tied_within=tied_within
    )
    reason, margin = int(judged.reasons[0]), float(judged.margins_bits[0])
    verdict = VERDICTS[judged.verdicts[0]]
    if reason < 0:
        return Evaluation(verdict, margin)
    return Evaluation(verdict, None, columns.texts.texts()[reason])


def evaluate_items(
    formula: Formula, values: ItemValues, *, unit: Unit = "bits", tied_within: float = 0.0
) -> Evaluations:
    """The results of a formula on every item.

    Args:
        formula: formula as parsed by `parse`.
        values: values of the items.
        unit: unit of the formula's numbers and of the tolerance of ``=``: ``a = b`` holds if
            |a - b| <= 0.001 + 0.00001 |b| (numpy.isclose's rule with
            SyntaxGym's tolerances).
        tied_within: greatest difference of two sides that is a tie, in the unit of the values: 0
            for surprisals, which are compared as they are.
    """
    if isinstance(formula, Comparison):
        return _compare(formula, values, unit=unit, tied_within=tied_within)
    left, right = (
        evaluate_items(side, values, unit=unit, tied_within=tied_within)
        for side in (formula.left, formula.right)
    )
    return combine((left, right), formula.operator)


def combine(parts: Sequence[Evaluations], operator: Connective) -> Evaluations:
    """The results of ``&`` or ``|`` from those of its parts.

    Args:
        parts: results of one or more parts.
        operator: ``&`` or ``|``.
    """
    import numpy as np

    order = np.array(_ORDER[operator])
    ranks = np.argsort(order)[np.stack([part.verdicts for part in parts])]
    margins = np.stack([part.margins_bits for part in parts])
    reasons = np.full(margins.shape[1], -1, dtype=np.int64)
    for part in parts:
        reasons = np.where(reasons < 0, part.reasons, reasons)
    extreme = margins.min(axis=0) if operator == "&" else margins.max(axis=0)
    return Evaluations(order[ranks.min(axis=0)], np.where(reasons < 0, extreme, np.nan), reasons)


def _quantity(node: Quantity, known: Mapping[Reference, Floats], *, scale: float) -> Floats | float:
    """The value of a sum, evaluated from left to right over all items.

    Args:
        node: the sum.
        known: the values of its regions.
        scale: factor by which the numbers in the formula are multiplied.
    """
    match node:
        case Reference():
            return known[node]
        case Number(value):
            return value * scale
        case _:
            left = _quantity(node.left, known, scale=scale)
            right = _quantity(node.right, known, scale=scale)
            return left + right if node.operator == "+" else left - right


def _compare(
    comparison: Comparison, values: ItemValues, *, unit: Unit, tied_within: float
) -> Evaluations:
    import numpy as np

    source_unit, texts = values.columns.unit, values.columns.texts
    known: dict[Reference, Floats] = {}
    reasons = np.full(values.n, -1, dtype=np.int64)
    for reference in references(comparison):
        known[reference], absent = values.look_up(reference)
        absent = texts.after(f"{canonical(reference)}: ", absent)
        reasons = np.where(reasons < 0, absent, reasons)
    scale = _conversion(unit, source_unit)
    with np.errstate(invalid="ignore", over="ignore"):
        left, right = (
            np.broadcast_to(_quantity(side, known, scale=scale), values.n)
            for side in (comparison.left, comparison.right)
        )
        match comparison.operator:
            case "<":
                margins = right - left
            case ">":
                margins = left - right
            case "=":
                tolerance = ABSOLUTE_TOLERANCE * scale + RELATIVE_TOLERANCE * np.abs(right)
                margins = tolerance - np.abs(left - right)
        holds = margins >= 0 if comparison.operator == "=" else margins > 0
        margins_bits = margins * _conversion(source_unit, "bits")
    verdicts = np.where(holds, _PASS, _FAIL)
    if comparison.operator != "=":
        with np.errstate(invalid="ignore"):
            tied = (left == right) | (np.abs(left - right) <= tied_within)
        verdicts[tied], margins_bits[tied] = _TIE, 0.0
    finite = np.isfinite(margins_bits) & np.isfinite(left) & np.isfinite(right)
    for row in np.flatnonzero(~finite & (reasons < 0)).tolist():
        compared = f"{float(left[row])} with {float(right[row])}"
        reasons[row] = texts.number(f"{canonical(comparison)} compares {compared}")
    unscored = reasons >= 0
    verdicts[unscored], margins_bits[unscored] = _UNSCORED, np.nan
    return Evaluations(verdicts, margins_bits, reasons)


def _conversion(source: Unit, target: Unit) -> float:
    """The factor that converts one unit to another."""
    if source == target:
        return 1.0
    return BITS_PER_NAT if source == "nats" else 1 / BITS_PER_NAT


def judged_items(
    suite: Suite, trees: Sequence[Formula], columns: RegionColumns, *, unit: Unit
) -> tuple[Evaluations, ...]:
    """The results of each prediction on each item, in the order of the suite.

    Args:
        suite: a valid suite.
        trees: formulas to judge.
        columns: values of regions; those of items that the suite lacks are left out.
        unit: unit of the numbers in the formulas and of the tolerance of ``=``.
    """
    values = ItemValues.of(columns, list(suite.columns.ids))
    return tuple(evaluate_items(tree, values, unit=unit) for tree in trees)


def suite_evaluations(suite: Suite, columns: RegionColumns) -> Sequence[Evaluations]:
    """The results of the predictions of a suite over values of its regions.

    Args:
        suite: the suite.
        columns: values of all stimuli, surprisals or others.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    return judged_items(suite, parse_predictions(suite), columns, unit="bits")


def parse_predictions(suite: Suite) -> tuple[Formula, ...]:
    """The parsed predictions of a suite.

    Raises:
        FormulaError: a formula cannot be read, or names an unknown region or condition.
    """
    conditions = suite.condition_names
    trees = tuple(parse(prediction.formula) for prediction in suite.predictions)
    for tree, prediction in zip(trees, suite.predictions, strict=True):
        _check_references(tree, prediction.formula, suite, conditions)
    return trees


def _check_references(tree: Formula, text: str, suite: Suite, conditions: Sequence[str]) -> None:
    """Refuse a formula that names a region or a condition that the suite does not have."""
    count = len(suite.region_names)
    for reference in references(tree):
        if reference.condition not in conditions:
            raise FormulaError(
                formula=text,
                column=reference.column,
                seen=f"the suite {suite.name!r} has no condition {reference.condition!r}",
                todo=_known(reference.condition, conditions),
            )
        if reference.region != "*" and reference.region > count:
            raise FormulaError(
                formula=text,
                column=reference.column,
                seen=f"the suite {suite.name!r} has no region {reference.region}",
                todo=f"Its regions are numbered from 1 to {count}.",
            )


def _known(name: str, conditions: Sequence[str]) -> str:
    """The condition that may have been meant, and those that there are."""
    close = did_you_mean(name, conditions, listed=())
    meant = f"{close} " if close else ""
    return f"{meant}Its conditions: {Listing(sorted(set(conditions)))}."


def with_undecided(
    judged: Sequence[Evaluations], errors: Sequence[Floats], number: Callable[[str], int]
) -> list[Evaluations]:
    """Verdicts without those whose margin is within its error, which are unscored, with a reason.

    Args:
        judged: the results of each prediction.
        errors: half widths of the intervals of their margins.
        number: function that gives a reason its number.
    """
    import numpy as np

    decided = [VERDICTS.index("pass"), VERDICTS.index("fail")]
    results = []
    for part, error in zip(judged, errors, strict=True):
        open_ones = np.isin(part.verdicts, decided) & (np.abs(part.margins_bits) <= error)
        results.append(
            replace(
                part,
                verdicts=np.where(open_ones, VERDICTS.index("unscored"), part.verdicts),
                reasons=np.where(open_ones, number(UNDECIDED), part.reasons),
            )
        )
    return results
