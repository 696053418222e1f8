"""Which survey asks what: a Latin square where it can be one, balanced as far as it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cimento.errors import UsageError

Group = TypeVar("Group", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Members:
    """What nobody may see two of: the conditions of an item, say.

    Attributes:
        size: how many members there are.
        times: how often members are asked in all, over all surveys; ``2 * size`` asks each twice.
        group: what the surveys are balanced over.
    """

    size: int
    times: int
    group: str = ""


def deal(sets: Sequence[Members], surveys: int) -> list[list[tuple[int, int]]]:
    """Deal the members of each set over the surveys.

    Sets are dealt one after the other, like cards, those of a group together: a set goes to
    consecutive surveys, so to different ones; all surveys, and the parts of a group in them, are
    equally large to within one. Which survey gets which member is chosen, by rotation, so that
    each position among the members is asked equally often everywhere (a Latin square where the
    number of surveys is that of the members).

    Args:
        sets: in an order that was drawn by chance.
        surveys: how many.

    Returns:
        For each survey, set and member as numbers from 0.

    Raises:
        UsageError: a set is to be asked more often than there are surveys.
    """
    largest = max((each.times for each in sets), default=0)
    if largest > surveys:
        raise UsageError(
            where="--surveys",
            seen=f"{surveys} surveys, and something that nobody may see twice is asked {largest}"
            " times",
            todo=f"Ask for {largest} surveys or more.",
        )
    dealt: list[list[tuple[int, int]]] = [[] for _ in range(surveys)]
    counts: Counter[tuple[Hashable, ...]] = Counter()
    groups = list(dict.fromkeys(each.group for each in sets))
    order = sorted(range(len(sets)), key=lambda number: groups.index(sets[number].group))
    start = 0
    for number in order:
        each = sets[number]
        places = [(start + step) % surveys for step in range(each.times)]
        shift = min(range(each.size), key=lambda shift: _crowding(each, places, shift, counts))
        for step, survey in enumerate(places):
            member = (step + shift) % each.size
            dealt[survey].append((number, member))
            counts[(survey, each.size, member)] += 1
            counts[(survey, each.size, member, each.group)] += 1
        start = (start + each.times) % surveys
    return dealt


def spread(groups: Sequence[Group]) -> list[int]:
    """The same things in an order in which no two neighbours share a group, where that is possible.

    Of those that may come next, the earliest is taken, but a group that makes up half of what is
    left comes before all others.

    Args:
        groups: of each thing, in an order that was drawn by chance.

    Returns:
        The numbers of the things, from 0.
    """
    waiting = list(range(len(groups)))
    left = Counter(groups)
    order: list[int] = []
    while waiting:
        last = groups[order[-1]] if order else None
        most, count = left.most_common(1)[0]
        if 2 * count > len(waiting) and (not order or most != last):
            chosen = next(each for each in waiting if groups[each] == most)
        else:
            others = (each for each in waiting if not order or groups[each] != last)
            chosen = next(others, waiting[0])
        waiting.remove(chosen)
        left[groups[chosen]] -= 1
        order.append(chosen)
    return order


def _crowding(
    each: Members, places: Sequence[int], shift: int, counts: Counter[tuple[Hashable, ...]]
) -> tuple[int, int]:
    """How full the places already are that a rotation would fill: in all, and in the group."""
    taken = [(place, each.size, (step + shift) % each.size) for step, place in enumerate(places)]
    return (
        sum(counts[key] for key in taken),
        sum(counts[(*key, each.group)] for key in taken),
    )
