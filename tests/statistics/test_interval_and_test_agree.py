"""p is at most 0.05 exactly where the 95% interval leaves out 0, over any design."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento.io.clusters import Crossing
from cimento.statistics.correlation import correlate, correlation_difference
from cimento.statistics.design import Design
from cimento.statistics.differences import discordant, mcnemar, share_difference, share_test
from cimento.statistics.means import mean_of

ROWS = st.integers(8, 60)
SEEDS = st.integers(0, 10_000)
KINDS = st.sampled_from(["single", "clusters", "unequal clusters", "crossed"])


def designed(kind: str, n: int) -> Design:
    """A design of n units."""
    labels = {
        "single": range(n),
        "clusters": (place // 3 for place in range(n)),
        "unequal clusters": (max(0, place - n // 3) for place in range(n)),
        "crossed": (Crossing((place % 5, place // 5 % 6)) for place in range(n)),
    }
    return Design(tuple(range(n)), tuple(labels[kind]))


def drawn(seed: int, n: int, kind: str, shift: float = 0.0) -> list[float]:
    """Values of n units that are somewhat alike within clusters."""
    import numpy as np

    generator = np.random.default_rng(seed)
    common = generator.normal(size=n)[np.arange(n) // (1 if kind == "single" else 3)]
    return (shift + common + generator.normal(size=n)).tolist()


def agree(low: float | None, high: float | None, p: float | None) -> bool:
    """Whether an interval leaves out 0 exactly where p is at most 0.05."""
    if low is None or high is None or p is None:
        return low is None and high is None and p is None
    return (p <= 0.05) == (low > 0 or high < 0)


@given(KINDS, ROWS, SEEDS, st.floats(-1, 1))
@settings(deadline=None)
def test_the_change_of_two_models(kind, n, seed, shift):
    design = designed(kind, n)
    first = [value > 0 for value in drawn(seed, n, kind, shift)]
    second = [value > 0 for value in drawn(seed + 1, n, kind)]
    made = share_difference(first, second, design)
    assert agree(made.low, made.high, share_test(first, second, design).p)


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 300))
@settings(deadline=None)
def test_mcnemars_exact_test_and_the_interval_of_single_items(b, c, rest):
    assume(b + c + rest >= 5)
    first = [True] * b + [False] * (c + rest)
    second = [False] * b + [True] * c + [False] * rest
    design = Design.independent(b + c + rest)
    made = share_difference(first, second, design)
    p = share_test(first, second, design).p
    assert p == mcnemar(*discordant(first, second)).p
    assert agree(made.low, made.high, p)


def test_an_interval_of_single_items_ends_at_0_where_only_mcnemars_test_keeps_it():
    # 20 and 9 of 100: (20 - 9) / sqrt(29 + 2) = 1.98 is beyond 1.96, and the exact p is
    # scipy.stats.binomtest(9, 29).pvalue = 0.06142835319042206.
    first = [True] * 20 + [False] * 80
    second = [False] * 20 + [True] * 9 + [False] * 71
    design = Design.independent(100)
    assert share_test(first, second, design).p == pytest.approx(0.06142835319042206)
    assert share_difference(first, second, design).low == 0


@given(KINDS, ROWS, SEEDS, st.floats(-1.5, 1.5))
@settings(deadline=None)
def test_a_mean(kind, n, seed, shift):
    made = mean_of(drawn(seed, n, kind, shift), designed(kind, n), seed=seed, draws=199)
    assert agree(made.low, made.high, made.p)


@given(KINDS, ROWS, SEEDS, st.sampled_from(["pearson", "spearman", "kendall"]))
@settings(deadline=None)
def test_a_correlation_and_the_difference_of_two(kind, n, seed, coefficient):
    design, y = designed(kind, n), drawn(seed, n, kind)
    first = [value + 0.3 * other for value, other in zip(drawn(seed + 1, n, kind), y, strict=True)]
    second = [value + 1.5 * other for value, other in zip(drawn(seed + 2, n, kind), y, strict=True)]
    made = correlate(first, y, kind=coefficient, design=design)
    assert agree(made.low, made.high, made.p)
    change = correlation_difference(first, second, y, kind=coefficient, design=design)
    assert agree(change.low, change.high, change.p)


def test_clusters_whose_items_offset_each_other_may_tell_more_than_single_items():
    # Each of 24 stories has two versions: the first model gains one of them in every third, and
    # loses no other; in all the rest it gains the first version and loses the second.
    first = [place % 2 == 0 or place % 6 == 1 for place in range(48)]
    second = [place % 2 == 1 and place % 6 != 1 for place in range(48)]
    stories = Design(tuple(range(48)), tuple(place // 2 for place in range(48)))
    single = share_difference(first, second, Design.independent(48))
    made = share_difference(first, second, stories)
    assert made.high - made.low < single.high - single.low
    assert agree(made.low, made.high, share_test(first, second, stories).p)
