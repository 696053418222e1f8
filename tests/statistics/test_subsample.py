"""Parts of item sets: proportions of strata, equal chances, and no bias."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import UsageError
from cimento.statistics.subsample import equal_parts, systematic_sample


def water_filled(sizes: list[int], total: int) -> list[int]:
    """The same by giving one item after the other to the set that has the fewest so far."""
    parts = [min(1, size) for size in sizes]
    while sum(parts) < total:
        open_ = [k for k, size in enumerate(sizes) if parts[k] < size]
        if not open_:
            break
        parts[min(open_, key=lambda k: parts[k])] += 1
    return parts


@given(st.lists(st.integers(0, 40), max_size=8), st.integers(0, 200))
def test_parts_are_equal_as_far_as_sets_reach(sizes: list[int], total: int) -> None:
    parts, filled = equal_parts(sizes, total), water_filled(sizes, total)
    assert sum(parts) == sum(filled)
    assert all(part <= size for part, size in zip(parts, sizes, strict=True))
    # Which of several sets gets the item that is left over is not laid down.
    assert all(abs(a - b) <= 1 for a, b in zip(parts, filled, strict=True))


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=60),
    st.integers(0, 70),
    st.integers(0, 2**32),
)
def test_each_stratum_has_its_proportion(strata: list[str], n: int, seed: int) -> None:
    drawn = systematic_sample(strata, n, seed=seed)
    size = len(strata)
    assert len(drawn) == len(set(drawn)) == min(n, size)
    assert drawn == sorted(drawn)
    assert drawn == systematic_sample(strata, n, seed=seed)
    there = Counter(strata[place] for place in drawn)
    for stratum, held in Counter(strata).items():
        fair = min(n, size) * held / size
        assert math.floor(fair + 1e-9) <= there[stratum] <= math.ceil(fair - 1e-9)


def test_the_proportion_of_correct_items_is_unbiased() -> None:
    # 30 items in strata of 3, 9 and 18; the expectation over all draws is the whole's 11/30. The
    # standard error of the mean of independent draws is that of the draws, over the root of them.
    strata = ["a"] * 3 + ["b"] * 9 + ["c"] * 18
    right = np.array([0] * 3 + [1] * 8 + [0] + [1] * 3 + [0] * 15, dtype=float)
    assert right.sum() == 11
    draws = np.array(
        [right[systematic_sample(strata, 7, seed=seed)].mean() for seed in range(4000)]
    )
    error = draws.std(ddof=1) / math.sqrt(len(draws))
    assert abs(draws.mean() - 11 / 30) < 3.5 * error
    # Keeping proportions makes draws less different than drawing at random: that has the variance
    # p (1 - p) / n (N - n) / (N - 1).
    p = 11 / 30
    assert draws.var(ddof=1) < p * (1 - p) / 7 * 23 / 29


def test_every_item_has_the_same_chance() -> None:
    strata = ["a"] * 4 + ["b"] * 7
    times = Counter(
        place for seed in range(5500) for place in systematic_sample(strata, 2, seed=seed)
    )
    # 5500 · 2/11 = 1000 times each; the standard deviation is below sqrt(1000 · 9/11) = 28.6.
    assert all(abs(times[place] - 1000) < 4 * 28.6 for place in range(11))


def test_fewer_than_none_cannot_be_drawn() -> None:
    with pytest.raises(UsageError, match="-1"):
        systematic_sample(["a"], -1, seed=0)
