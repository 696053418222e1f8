"""Values of the same items in two runs: margins, scores of conditions, interactions, ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.compare.item_outcomes import ItemOutcomes
from cimento.runs.outcomes import design_of
from cimento.statistics.correlation import CorrelationDifference, correlation_difference
from cimento.statistics.differences import cohen_dz
from cimento.statistics.means import Mean, mean_of
from cimento.statistics.values import Value
from cimento.verdicts.effects import mean_or_none, without_noise
from cimento.verdicts.kinds import apart

if TYPE_CHECKING:
    import polars as pl

    from cimento.runs.run import Run

NO_SHARED_ITEM = "no item is scored in both"
NOT_COMPARED = "not compared"
_CELLS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedValues:
    """One number before and after, over the items that have both.

    Attributes:
        suite: name of the first one's suite.
        name: what it is of.
        unit: of the values.
        n: items with both.
        first: mean of the first; None without items.
        second: mean of the second.
        change: second minus first, with its interval and test; None, with the reason, where the two
            are on different scales.
        effect: mean difference in standard deviations of the differences (Cohen's d_z).
        items: item to second minus first.
        reason: why there is nothing.
    """

    suite: str
    name: str
    unit: str
    n: int
    first: float | None
    second: float | None
    change: Mean
    effect: Value
    items: Mapping[str, float]
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedCorrelations:
    """How two models' values go with one reference, such as ratings, over the same items.

    Attributes:
        suite: its name.
        question: what the values are, such as a measure.
        coefficient: ``pearson``, ``spearman`` or ``kendall``.
        first: label of the one model.
        second: label of the other.
        change: the second coefficient less the first, with both, its interval and its test.
        corrected: p, corrected over all of these that were made together.
        family: number of these.
    """

    suite: str
    question: str
    coefficient: str
    first: str
    second: str
    change: CorrelationDifference
    corrected: float | None = None
    family: int = 1


def paired(
    name: str,
    values: Mapping[str, tuple[float | None, float | None]],
    *,
    suite: str = "",
    unit: str = "",
    seed: int = 0,
    clusters: Mapping[str, str] | None = None,
    not_compared: str | None = None,
) -> PairedValues:
    """A number before and after, over the items that have both.

    Args:
        name: what it is of.
        values: item to the two numbers.
        suite: name of the suite.
        unit: of the numbers.
        seed: of resampling.
        clusters: item to what it belongs to; an item that is not there stands alone.
        not_compared: why the two are not on one scale, so that their difference says nothing; None
            where they are.
    """
    known = {item: (a, b) for item, (a, b) in values.items() if a is not None and b is not None}
    before, after = [a for a, _ in known.values()], [b for _, b in known.values()]
    design = design_of(list(known), [(clusters or {}).get(item) for item in known])
    if not_compared is None:
        scale = max((abs(value) for value in (*before, *after)), default=0.0)
        gaps = without_noise([b - a for a, b in known.values()], scale=scale)
        change, effect = mean_of(gaps, design, seed=seed), cohen_dz(gaps)
    else:
        gaps = []
        change = Mean(None, None, None, None, None, NOT_COMPARED, design.n, design.m, not_compared)
        effect = Value(None, not_compared)
    return PairedValues(
        suite=suite,
        name=name,
        unit=unit,
        n=len(known),
        first=mean_or_none(before),
        second=mean_or_none(after),
        change=change,
        effect=effect,
        items=dict(zip(known, gaps, strict=True)) if not_compared is None else {},
        reason=None if known else NO_SHARED_ITEM,
    )


def paired_outcomes(first: ItemOutcomes, second: ItemOutcomes, *, seed: int) -> PairedValues | None:
    """The values of one question in two runs; None where one has none or they differ in unit.

    Args:
        first: before.
        second: after.
        seed: of resampling.
    """
    if not first.values or not second.values or first.unit != second.unit:
        return None
    shared = (item for item in first.values if item in second.values)
    return paired(
        first.question,
        {item: (first.values[item], second.values[item]) for item in shared},
        suite=first.suite,
        unit=first.unit,
        seed=seed,
        clusters=first.clusters,
        not_compared=apart((first.kind, second.kind)),
    )


def paired_correlations(first: ItemOutcomes, second: ItemOutcomes) -> list[PairedCorrelations]:
    """How the values of two runs go with what they stand beside, a coefficient at a time.

    Args:
        first: of one model.
        second: of another, on the same question.
    """
    items = [
        item
        for item, reference in first.references.items()
        if second.references.get(item) == reference
        and item in first.values
        and item in second.values
    ]
    design = first.design(items)
    before, after = ([one.values[item] for item in items] for one in (first, second))
    references = [first.references[item] for item in items]
    return [
        PairedCorrelations(
            suite=first.suite,
            question=first.question,
            coefficient=kind,
            first=first.model,
            second=second.model,
            change=correlation_difference(before, after, references, kind=kind, design=design),
        )
        for kind in first.coefficients
        if kind in second.coefficients
    ]


def paired_scores(first: Run, second: Run, *, seed: int) -> list[PairedValues]:
    """Every interaction and every condition of two runs, paired by item.

    Args:
        first: before.
        second: after.
        seed: of resampling.

    Returns:
        Nothing where the conditions of one of them have no scores, or another measure.
    """
    tables = [run.paradigm.scores(run) for run in (first, second)]
    before, after = tables
    if before is None or after is None or before.is_empty() or after.is_empty():
        return []
    measure, unit = before["measure"][0], before["unit"][0]
    if after["measure"][0] != measure:
        return []
    rows = first.outcomes().select("item", "cluster").drop_nulls().unique().iter_rows()
    clusters = dict(rows)
    why = apart((first.model_kind, second.model_kind))

    def pair(name: str, one: Mapping[str, float], other: Mapping[str, float]) -> PairedValues:
        values = {item: (value, other[item]) for item, value in one.items() if item in other}
        return paired(
            name,
            values,
            suite=first.suite.name,
            unit=unit,
            seed=seed,
            clusters=clusters,
            not_compared=why,
        )

    interactions = [interactions_of(table) for table in (before, after)]
    names = [(name, name) for name in interactions[0] if name in interactions[1]]
    if not names and all(len(found) == 1 for found in interactions):
        names = [(next(iter(interactions[0])), next(iter(interactions[1])))]
    conditions = [_conditions(table) for table in (before, after)]
    return [
        *(pair(f"{one}: DD", interactions[0][one], interactions[1][other]) for one, other in names),
        *(
            pair(f"{name}: {measure}", values, conditions[1][name])
            for name, values in conditions[0].items()
            if name in conditions[1]
        ),
    ]


def interactions_of(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Phenomenon to item to its difference of differences, of items with all four scores.

    Args:
        table: scores of conditions; see `Paradigm.scores`.
    """
    import polars as pl

    if "phenomenon" not in table.columns:
        return {}
    effects = (
        table.filter(pl.col("phenomenon").is_not_null())
        .group_by("phenomenon", "item", maintain_order=True)
        .agg(
            dd=(4 * pl.col("first") * pl.col("second") * pl.col("score")).sum(),
            scored=pl.col("score").count(),
        )
        .filter(pl.col("scored") == _CELLS)
    )
    by_phenomenon: dict[str, dict[str, float]] = {}
    for phenomenon, item, dd in effects.select("phenomenon", "item", "dd").iter_rows():
        by_phenomenon.setdefault(phenomenon, {})[item] = dd
    return by_phenomenon


def _conditions(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Condition to item to its score, of the items that have one."""
    by_condition: dict[str, dict[str, float]] = {}
    for item, condition, score in table.select("item", "condition", "score").iter_rows():
        values = by_condition.setdefault(condition, {})
        if score is not None:
            values[item] = score
    return by_condition
