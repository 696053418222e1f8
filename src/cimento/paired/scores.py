"""Scores of two runs paired by item: every condition, and DD, their difference of differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.paired.item_outcomes import different_scales
from cimento.paired.pairwise import PairedValues, paired_values

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run

_CELLS = 4


def paired_scores(first: Run, second: Run, *, seed: int) -> list[PairedValues]:
    """Every interaction and every condition of two runs, paired by item.

    Args:
        first: before.
        second: after.
        seed: of resampling.

    Returns:
        Nothing where the conditions of one of them have no scores, or another measure.
    """
    scores = _PairedScores.of(first, second)
    if scores is None:
        return []
    conditions = [_conditions(table) for table in scores.tables]
    return [
        *(
            replace(values, name=f"{name}: DD")
            for name, values in _interactions(scores, seed=seed).items()
        ),
        *(
            scores.pair(f"{name}: {scores.measure}", values, conditions[1][name], seed=seed)
            for name, values in conditions[0].items()
            if name in conditions[1]
        ),
    ]


def paired_interactions(
    first: Run, second: Run, *, seed: int
) -> tuple[str, dict[str, PairedValues]]:
    """The DDs of two runs, paired by item.

    Args:
        first: before.
        second: after.
        seed: of resampling.

    Returns:
        The measure, and phenomenon to its DDs; nothing where `paired_scores` has nothing.
    """
    scores = _PairedScores.of(first, second)
    return ("", {}) if scores is None else (scores.measure, _interactions(scores, seed=seed))


def _interactions(scores: _PairedScores, *, seed: int) -> dict[str, PairedValues]:
    before, after = map(interactions_of, scores.tables)
    names = [(name, name) for name in before if name in after]
    if not names and len(before) == len(after) == 1:
        names = [(next(iter(before)), next(iter(after)))]
    return {one: scores.pair(one, before[one], after[other], seed=seed) for one, other in names}


@dataclass(frozen=True, slots=True)
class _PairedScores:
    """The scores of the conditions of two runs on one measure.

    Attributes:
        suite: name of the first one's suite.
        tables: the scores of both.
        clusters: item to what it belongs to.
        why: why the two are not on one scale; None where they are.
    """

    suite: str
    tables: tuple[pl.DataFrame, pl.DataFrame]
    clusters: Mapping[str, str]
    why: str | None

    @classmethod
    def of(cls, first: Run, second: Run) -> _PairedScores | None:
        """The scores; None where one has none, or another measure."""
        before, after = (run.paradigm.judge.scores(run) for run in (first, second))
        if before is None or after is None or before.is_empty() or after.is_empty():
            return None
        if after["measure"][0] != before["measure"][0]:
            return None
        rows = first.outcomes().select("item", "cluster").drop_nulls().unique().iter_rows()
        why = different_scales((first.model_kind, second.model_kind))
        return cls(first.suite.name, (before, after), dict(rows), why)

    @property
    def measure(self) -> str:
        """The measure of both."""
        return str(self.tables[0]["measure"][0])

    def pair(
        self, name: str, one: Mapping[str, float], other: Mapping[str, float], *, seed: int
    ) -> PairedValues:
        """A number of both runs, over the items that have both."""
        values = {item: (value, other[item]) for item, value in one.items() if item in other}
        return paired_values(
            name, values, suite=self.suite, unit=str(self.tables[0]["unit"][0]), seed=seed,
            clusters=self.clusters, not_compared=self.why,
        )  # fmt: skip


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
            dd=(4 * pl.col("first") * pl.col("second") * pl.col("oriented")).sum(),
            scored=pl.col("oriented").count(),
        )
        .filter(pl.col("scored") == _CELLS)
    )
    by_phenomenon: dict[str, dict[str, float]] = {}
    for phenomenon, item, dd in effects.select("phenomenon", "item", "dd").iter_rows():
        by_phenomenon.setdefault(phenomenon, {})[item] = dd
    return by_phenomenon


def _conditions(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Condition to item to its value; runs need not keep the tokens of all regions."""
    by_condition: dict[str, dict[str, float]] = {}
    for item, condition, value in table.select("item", "condition", "value").iter_rows():
        values = by_condition.setdefault(condition, {})
        if value is not None:
            values[item] = value
    return {condition: values for condition, values in by_condition.items() if values}
