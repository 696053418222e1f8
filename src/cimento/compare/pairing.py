"""Which runs of two sides belong together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar

from cimento.compare.item_outcomes import distinct_names
from cimento.errors import UsageError

if TYPE_CHECKING:
    from cimento.runs.run import Run

T = TypeVar("T")


def pair_runs(first: Sequence[Run], second: Sequence[Run]) -> list[tuple[Run, Run]]:
    """The runs that belong together.

    One and one; else those of the same suite and model; else, where that tells them apart, those
    of the same suite, or of the same model.

    Args:
        first: runs before.
        second: runs after.

    Raises:
        UsageError: none do, or it is not clear which.
    """
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    names = {
        id(run): name
        for side in (first, second)
        for run, name in zip(side, distinct_names(side), strict=True)
    }
    keys: Sequence[Callable[[Run], Hashable]] = (
        lambda run: (run.suite.name, names[id(run)]),
        lambda run: run.suite.name,
        lambda run: names[id(run)],
    )
    pairs = matched(first, second, keys)
    if pairs is None:
        raise UsageError(
            where="cimento compare",
            seen="a suite or a model has several runs in one of the folders",
            todo="Give single run folders.",
        )
    if not pairs:
        raise UsageError(
            where="cimento compare",
            seen="the folders have no suite and no model in common",
            todo="Give single run folders.",
        )
    return pairs


def matched(
    first: Sequence[T], second: Sequence[T], keys: Sequence[Callable[[T], Hashable]]
) -> list[tuple[T, T]] | None:
    """Those that have a key in common, by the first key that tells all of a side apart.

    Args:
        first: one side.
        second: the other.
        keys: from the most telling one.

    Returns:
        The pairs; None where every key names several, and empty where nothing is in common.
    """
    telling = False
    for key in keys:
        if any(len(set(map(key, side))) < len(side) for side in (first, second)):
            continue
        telling = True
        others = {key(one): one for one in second}
        pairs = [(one, others[key(one)]) for one in first if key(one) in others]
        if pairs:
            return pairs
    return [] if telling else None
