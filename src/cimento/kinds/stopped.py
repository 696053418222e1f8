"""What an adaptive run says of itself: how it went, and intervals that hold for such a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import UsageError, counted
from cimento.records.outcomes import OUTCOMES, Estimate
from cimento.records.store import ORDER, Manifest, manifest_part
from cimento.suites import JsonValue

if TYPE_CHECKING:
    import polars as pl

ADAPTIVE = "adaptive"
"""Key of the manifest: how an adaptive run went. Other runs have no such entry."""

PRECISION = 0.1
"""Half the width of the interval at which asking stops, if nothing else is said."""

Question: TypeAlias = tuple[str, str]
"""A question, and the method of asking it."""


def precision_to_reach(precision: float | None, *, adaptive: bool) -> float | None:
    """The precision at which asking stops; None where all items are asked.

    Args:
        precision: as it was given.
        adaptive: whether a run is to be adaptive.

    Raises:
        UsageError: there is a precision, and all items are asked.
    """
    if adaptive:
        return precision or PRECISION
    if precision is None:
        return None
    raise UsageError(
        where=f"--precision={precision:g}",
        seen="without --adaptive all items are asked, however precise that is",
        todo="Add --adaptive, or leave it out.",
    )


def rights_by(outcomes: pl.DataFrame, question: Question) -> dict[str, bool | None]:
    """Whether each item is right, by a question."""
    import polars as pl

    name, method = question
    rows = outcomes.filter((pl.col("question") == name) & (pl.col("method") == method))
    return dict(rows.select("item", "right").iter_rows())


def is_count(estimate: Estimate, outcomes: pl.DataFrame) -> bool:
    """Whether an estimate is the proportion of items that are right by its question."""
    right = rights_by(outcomes, (estimate.question, estimate.method)).values()
    known = [one for one in right if one is not None]
    return (sum(known), len(known)) == (estimate.right, estimate.n)


def asked_items(order: pl.DataFrame) -> list[str]:
    """The items that an adaptive run asked about, in the order of asking."""
    return list(order.filter(order["round"].is_not_null())["item"])


def stopped_estimates(
    estimates: Sequence[Estimate],
    *,
    manifest: Manifest,
    table: Callable[[str], pl.DataFrame],
) -> Iterator[Estimate]:
    """The estimates of an adaptive run; proportions of all items get intervals that hold for it.

    Intervals of groups of items and of effects stay as they are for a fixed number of items.

    Args:
        estimates: the estimates as the judge of its paradigm makes them.
        manifest: manifest of the run; if it asked all items, all estimates stay.
        table: the tables of the run by name: its order and its outcomes.
    """
    from cimento.statistics.design import SEQUENCE
    from cimento.statistics.sequential import ShareSequence

    record = AdaptiveRecord.of(manifest)
    if record is None or record.is_whole:
        yield from estimates
        return
    order, outcomes = asked_items(table(ORDER.name)), table(OUTCOMES.name)
    for estimate in estimates:
        # A share that is not a count of outcomes, such as a mean of shares, keeps its interval.
        if estimate.group or not estimate.n or not is_count(estimate, outcomes):
            yield estimate
            continue
        right = rights_by(outcomes, (estimate.question, estimate.method))
        sequence = ShareSequence(record.of_items, precision=record.precision)
        sequence.add(right.get(item) for item in order)
        low, high = sequence.interval
        yield dataclasses.replace(
            estimate, low=low, high=high, interval_method=SEQUENCE, clustered=False
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveRecord:
    """How an adaptive run went.

    Attributes:
        precision: half the width of the interval that was looked for.
        seed: seed of the order of items.
        asked: number of items that were asked.
        of_items: number of all items.
        rounds: number of times that the answers were looked at.
    """

    precision: float
    seed: int
    asked: int
    of_items: int
    rounds: int

    @classmethod
    def of(cls, manifest: Manifest) -> AdaptiveRecord | None:
        """The record in the manifest of a run; None where the run was not adaptive."""
        entry: Mapping[str, JsonValue] = manifest_part(manifest, ADAPTIVE)
        precision, counts = entry.get("precision"), [entry.get(name) for name in _COUNTS]
        if not isinstance(precision, float) or not all(isinstance(n, int) for n in counts):
            return None
        seed, asked, of_items, rounds = (int(str(n)) for n in counts)
        return cls(precision=precision, seed=seed, asked=asked, of_items=of_items, rounds=rounds)

    @property
    def is_whole(self) -> bool:
        """Whether all items were asked, so that the run is that of the whole suite."""
        return self.asked == self.of_items

    @property
    def sentence(self) -> str:
        """What a reader of the run must know."""
        begun = (
            f"Adaptive run: items were asked in random order (seed {self.seed}) in"
            f" {counted(self.rounds, 'round')}"
        )
        if self.is_whole:
            return (
                f"{begun}; all {self.of_items} were asked before the proportion of correct ones"
                " was known"
                f" to ±{self.precision:g}, so that intervals are as for any run."
            )
        return (
            f"{begun}, until the proportion of correct ones among all {self.of_items} was known to"
            f" ±{self.precision:g}: {self.asked} were asked, {self.of_items - self.asked} not. The"
            " intervals of proportions of all items (of single predictions too) hold whenever"
            " one stops,"
            f" and are about these {self.of_items} items; those of groups of items, and of effects,"
            " are as for a fixed number of items. The shares shown are those of the items asked: as"
            " asking stops early where they are extreme, they are drawn away from one half, by one"
            " to two points on average. Quote the interval."
        )


_COUNTS = ("seed", "asked", "of", "rounds")
