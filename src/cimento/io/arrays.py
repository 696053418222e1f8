"""Arrays of ragged stretches: their types, their numbers, and their sums from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    Integers: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    Flags: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def totals(values: Floats, offsets: Integers) -> Floats:
    """The sum of each stretch of an array, as `cimento.measures.total` adds.

    The sums take a step together: the first values of all stretches, then the second ones. So each
    is added from left to right, which numpy promises of none of its own sums.

    Args:
        values: one stretch after the other.
        offsets: where each begins; one more at the end.
    """
    import numpy as np

    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    first, descending = offsets[:-1][order], -lengths[order]
    sums = np.zeros(len(lengths))
    for step in range(int(lengths.max(initial=0))):
        longer = int(np.searchsorted(descending, -step))
        sums[:longer] += values[first[:longer] + step]
    found = np.empty_like(sums)
    found[order] = sums
    return found


def stretches(first: Integers, lengths: Integers) -> Integers:
    """The numbers of some ranges, one range after the other.

    Args:
        first: the first number of each.
        lengths: how many numbers each has.
    """
    import numpy as np

    before = np.cumsum(lengths) - lengths
    places: Integers = np.arange(int(lengths.sum())) + np.repeat(first - before, lengths)
    return places
