"""Verdicts counted by prediction and by groups of items, in one pass over items and verdicts.

Nothing is held of an item but a number, and of a cluster its name and its counts: suites are as
long as they like.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias

from cimento.suites.model import Suite
from cimento.verdicts.compact import Verdict
from cimento.verdicts.formula import Kind

_Place: TypeAlias = tuple[str, str]
"""The group of an item and its cluster; the empty one where it stands alone."""

_Own: TypeAlias = tuple[_Place, Sequence[Verdict]]
"""The place of an item, and all verdicts on it."""


@dataclass(slots=True)
class Tally:
    """The verdicts of one prediction on some items, counted.

    Attributes:
        kinds: how many there are of each.
        near_tied: those decided by next to nothing.
        near_tie_bits: what counts as next to nothing.
        alone: passes and scored verdicts of an item that stands alone, to the number of such items.
        held: passes of each cluster; clusters go by number.
        sizes: its scored verdicts.
    """

    kinds: Counter[Kind] = field(default_factory=Counter)
    near_tied: int = 0
    near_tie_bits: float = 0.0
    alone: Counter[tuple[int, int]] = field(default_factory=Counter)
    held: array[int] = field(default_factory=lambda: array("I"))
    sizes: array[int] = field(default_factory=lambda: array("I"))

    def clusters(self) -> Counter[tuple[int, int]]:
        """Passes and scored verdicts of a cluster, of which it has some, to how many there are."""
        found = self.alone + Counter(zip(self.held, self.sizes, strict=True))
        return Counter({counts: times for counts, times in found.items() if counts[1]})

    def add(
        self, verdicts: Sequence[Verdict], cluster: int | None, passes: Collection[Kind]
    ) -> None:
        """Count the verdicts of one item.

        Args:
            verdicts: all that this prediction has on it.
            cluster: number of the item's cluster; None where it stands alone.
            passes: the kinds that count as a pass.
        """
        held = size = 0
        for each in verdicts:
            self.kinds[each.verdict] += 1
            self.near_tied += each.is_near_tie(self.near_tie_bits)
            size += each.verdict != "unscored"
            held += each.verdict in passes
        if cluster is None:
            self.alone[held, size] += 1
            return
        while len(self.sizes) <= cluster:
            self.held.append(0)
            self.sizes.append(0)
        self.held[cluster] += held
        self.sizes[cluster] += size


@dataclass(slots=True)
class Group:
    """Some items of a suite.

    Attributes:
        n_items: how many, judged or not.
        tallies: number of a prediction, None for the conjunction of all, to its verdicts.
        clusters: name of a cluster to its number.
        near_tie_bits: a margin below this is next to nothing.
    """

    n_items: int = 0
    tallies: dict[int | None, Tally] = field(default_factory=dict)
    clusters: dict[str, int] = field(default_factory=dict)
    near_tie_bits: float = 0.0

    def add(self, verdicts: Sequence[Verdict], cluster: str, passes: Collection[Kind]) -> None:
        """Count an item, with all verdicts on it."""
        self.n_items += 1
        number = self.clusters.setdefault(cluster, len(self.clusters)) if cluster else None
        by_prediction: dict[int | None, list[Verdict]] = {}
        for each in verdicts:
            by_prediction.setdefault(each.prediction, []).append(each)
        for prediction, own in by_prediction.items():
            tally = self.tallies.get(prediction)
            if tally is None:
                tally = self.tallies[prediction] = Tally(near_tie_bits=self.near_tie_bits)
            tally.add(own, number, passes)


class _OutOfOrderError(Exception):
    """Verdicts are not in the order of their items."""


def tallied(
    suite: Suite,
    verdicts: Sequence[Verdict],
    *,
    column: str = "",
    passes: Collection[Kind],
    near_tie_bits: float = 0.0,
) -> dict[str, Group]:
    """The verdicts on each group of items, counted; groups in order of first appearance.

    Args:
        suite: that was judged; its `cluster` column says which items belong together.
        verdicts: in the order of its items; in any other one they are held.
        column: whose values make the groups; items without one are under the empty name, and where
            no item has one, there are no groups. Empty: all items are under the empty name.
        passes: the kinds that count as a pass.
        near_tie_bits: verdicts decided by less are counted as near ties.

    Raises:
        KeyError: a verdict is about an item that the suite has not.
    """
    if column and column not in suite.column_names:
        return {}

    try:
        groups = _counted(_side_by_side(_places(suite, column), verdicts), passes, near_tie_bits)
    except _OutOfOrderError:
        groups = _counted(_looked_up(_places(suite, column), verdicts), passes, near_tie_bits)
    return groups if any(groups) or not column else {}


def _places(suite: Suite, column: str) -> Iterator[tuple[str, _Place]]:
    """The id of every item, with its group and its cluster."""
    if not column and not suite.cluster:
        yield from ((item, ("", "")) for item in suite.item_ids())
        return
    for item in suite.items:
        group = item.column(column) if column else None
        cluster = item.column(suite.cluster) if suite.cluster else None
        yield item.id, (group or "", cluster or "")


def _counted(
    found: Iterable[_Own], passes: Collection[Kind], near_tie_bits: float
) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    for (name, cluster), own in found:
        group = groups.get(name)
        if group is None:
            group = groups[name] = Group(near_tie_bits=near_tie_bits)
        group.add(own, cluster, passes)
    return groups


def _side_by_side(
    places: Iterable[tuple[str, _Place]], verdicts: Iterable[Verdict]
) -> Iterator[_Own]:
    """Every item with its verdicts.

    Raises:
        _OutOfOrderError: at the end: they have another order, or two items have one id.
    """
    runs = groupby(verdicts, key=attrgetter("item"))
    following = next(runs, None)
    hashes = array("q")
    for item, place in places:
        hashes.append(hash(item))
        own: Sequence[Verdict] = ()
        if following is not None and following[0] == item:
            own = list(following[1])
            following = next(runs, None)
        yield place, own
    if following is not None or _repeats(hashes):
        raise _OutOfOrderError


def _repeats(hashes: array[int]) -> bool:
    """Whether two are equal, which those of different ids hardly ever are; sorts them."""
    import numpy as np

    values = np.frombuffer(hashes, dtype=np.int64)
    values.sort()
    return bool((values[1:] == values[:-1]).any())


def _looked_up(places: Iterable[tuple[str, _Place]], verdicts: Iterable[Verdict]) -> Iterator[_Own]:
    """The same for verdicts in any order; of two items with one id, the last tells its place."""
    own: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        own.setdefault(verdict.item, []).append(verdict)
    for item, where in dict(places).items():
        yield where, own.pop(item, ())
    for item in own:
        raise KeyError(item)
