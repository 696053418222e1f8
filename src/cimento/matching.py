"""Which of two sides belong together, by the first key that tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Each = TypeVar("Each")


def matched(
    first: Sequence[Each], second: Sequence[Each], keys: Sequence[Callable[[Each], Hashable]]
) -> list[tuple[Each, Each]] | None:
    """Those that have a key in common, by the first key that tells all of a side apart.

    Returns:
        The pairs; None where every key names several, and empty where nothing is in common.
    """
    telling = False
    for key in keys:
        if any(len({key(each) for each in side}) < len(side) for side in (first, second)):
            continue
        telling = True
        others = {key(each): each for each in second}
        pairs = [(each, others[key(each)]) for each in first if key(each) in others]
        if pairs:
            return pairs
    return [] if telling else None
