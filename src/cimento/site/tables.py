"""The tables of a site, as grids for its pages and for CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.report.grid import Grid
from cimento.runs.store import manifest_part

if TYPE_CHECKING:
    from cimento.site.board import Entry, SideBySide, SuitePart
    from cimento.statistics.multiple import RankedPair


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def places_grid(sides: Sequence[SideBySide]) -> Grid:
    """The estimates of models side by side, with the places that they could hold."""
    rows = [(side, one) for side in sides for one in side.results]
    return Grid.of(
        rows,
        {
            "suite": lambda row: row[0].suite,
            "phenomenon": lambda row: row[0].phenomenon,
            "items": lambda row: "of phenomenon" if row[0].page.startswith("phenomena/") else "all",
            "language": lambda row: row[0].language,
            "model": lambda row: row[1].entry.label,
            "statistic": lambda row: row[1].estimate.statistic,
            "value": lambda row: _number(row[1].estimate.value),
            "low": lambda row: _number(row[1].estimate.low),
            "high": lambda row: _number(row[1].estimate.high),
            "n": lambda row: row[1].estimate.n,
            "unscored": lambda row: row[1].estimate.unscored,
            "chance": lambda row: _number(row[1].estimate.chance),
            "best place": lambda row: row[1].rank.best if row[1].rank else None,
            "worst place": lambda row: row[1].rank.worst if row[1].rank else None,
            "models ranked": lambda row: len(row[0].places.ranks),
            "reason": lambda row: row[1].estimate.reason,
        },
        title="Estimates with the places that the models could hold.",
        labels=6,
        remarks=1,
    )


def pairs_grid(pairs: Sequence[RankedPair]) -> Grid:
    """Every two models on the items that all were scored on, with p."""
    return Grid.of(
        pairs,
        {
            "first": lambda pair: pair.first,
            "second": lambda pair: pair.second,
            "first minus second": lambda pair: _number(pair.difference),
            "p": lambda pair: _number(pair.p),
            "p (holm)": lambda pair: _number(pair.p_holm),
        },
        title="Every pair of models, on the items that all were scored on.",
        labels=2,
    )


def items_grid(part: SuitePart) -> Grid:
    """Every item of a suite by every model."""
    rows = [(item, *answer) for item in part.items for answer in item.answers]
    return Grid.of(
        rows,
        {
            "item": lambda row: row[0].id,
            "phenomenon": lambda row: row[2].phenomenon,
            "model": lambda row: row[1].label,
            "verdict": lambda row: (row[2].outcome.verdict if row[2].outcome else None) or "",
            "value": lambda row: _number(row[2].outcome.value if row[2].outcome else None),
            "unit": lambda row: row[2].outcome.unit if row[2].outcome else "",
            "reason": lambda row: row[2].outcome.reason if row[2].outcome else "",
        },
        title="Every item by every model.",
        labels=3,
        remarks=1,
    )


def curve_grid(name: str, side: SideBySide) -> Grid:
    """A family of checkpoints over training, step by step."""
    steps = dict(side.curves)[name]
    return Grid.of(
        steps,
        {
            "step": lambda one: str(one.entry.step),
            "value": lambda one: _number(one.estimate.value),
            "low": lambda one: _number(one.estimate.low),
            "high": lambda one: _number(one.estimate.high),
            "n": lambda one: one.estimate.n,
            "model": lambda one: one.entry.label,
        },
        title=f"{name} over training.",
        remarks=1,
    )


def runs_grid(entries: Sequence[Entry]) -> Grid:
    """What was run: suites, models, revisions, versions, dates."""

    def part(entry: Entry, *path: str) -> str:
        *above, last = path
        value = manifest_part(entry.run.manifest, *above).get(last)
        return "" if value is None else str(value)

    return Grid.of(
        entries,
        {
            "suite": lambda entry: entry.suite,
            "suite version": lambda entry: part(entry, "suite", "version"),
            "suite sha256": lambda entry: part(entry, "suite", "sha256")[:12],
            "model": lambda entry: part(entry, "model", "name"),
            "revision": lambda entry: part(entry, "model", "revision")[:12],
            "kind": lambda entry: entry.run.model_kind,
            "number format": lambda entry: part(entry, "model", "dtype"),
            "items": lambda entry: entry.run.n_items,
            "made": lambda entry: part(entry, "created"),
            "cimento": lambda entry: part(entry, "cimento"),
            "python": lambda entry: part(entry, "versions", "python"),
            "torch": lambda entry: part(entry, "versions", "torch"),
            "transformers": lambda entry: part(entry, "versions", "transformers"),
        },
        title="All runs.",
        labels=6,
    )
