"""Permutation of clusters, and the reliability of published means."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.statistics.correlation import coefficient
from cimento.statistics.design import Design
from cimento.statistics.reliability import ceiling_of_means, reliability_of_means
from cimento.statistics.resampling import permute_clusters


def pearson(x, y):
    return coefficient(x, y, kind="pearson").r or 0.0


X = [5.0, 1.0, 4.0, 2.0, 5.0, 2.0, 3.0, 3.5, 0.5, 4.5]
Y = [9.0, 3.0, 7.0, 8.0, 6.0, 1.0, 2.0, 4.0, 5.0, 9.5]
PAIRS = Design(tuple(range(10)), tuple("aabbccddee"))


def test_p_is_that_of_all_exchanges_counted():
    pairs = [(Y[place], Y[place + 1]) for place in range(0, 10, 2)]
    observed = abs(pearson(X, Y))
    reached = []
    for order in itertools.permutations(pairs):
        for turned in itertools.product([False, True], repeat=5):
            mixed = [
                value
                for pair, turn in zip(order, turned, strict=True)
                for value in (reversed(pair) if turn else pair)
            ]
            reached.append(abs(pearson(X, mixed)) >= observed - 1e-12)
    exact = sum(reached) / len(reached)
    test = permute_clusters(X, Y, pearson, PAIRS, seed=1, draws=4000)
    # Four standard errors of a share of 4,000 draws.
    assert test.p == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 4000) ** 0.5)
    assert test.statistic == pytest.approx(pearson(X, Y))


def test_p_is_uniform_where_nothing_is_associated_but_pairs_are_dependent():
    generator = np.random.default_rng(7)
    ps = []
    for seed in range(60):
        x = np.repeat(generator.normal(size=12), 2) + 0.1 * generator.normal(size=24)
        y = np.repeat(generator.normal(size=12), 2) + 0.1 * generator.normal(size=24)
        labels = tuple(np.repeat(np.arange(12), 2).tolist())
        design = Design(tuple(range(24)), labels)
        test = permute_clusters(x, y, pearson, design, seed=seed, draws=99)
        ps.append(test.p)
    # python -c "from scipy import stats; print(stats.binom.ppf([.001, .999], 60, .25))": 5 to 26
    assert 5 <= sum(p <= 0.25 for p in ps) <= 26


def test_nonsense_is_refused():
    with pytest.raises(UsageError, match="0 draws"):
        permute_clusters(X, Y, pearson, PAIRS, seed=0, draws=0)
    with pytest.raises(UsageError, match="units has 10"):
        permute_clusters(X[1:], Y[1:], pearson, PAIRS, seed=0)
    undefined = permute_clusters(X, Y, lambda _x, _y: float("nan"), PAIRS, seed=0)
    assert (undefined.p, undefined.reason) == (None, "undefined in the sample")


@given(st.lists(st.integers(0, 7), min_size=8, max_size=20))
@settings(deadline=None)
def test_clusters_of_any_sizes_keep_their_values(clusters):
    seen = []

    def total(_x, y):
        seen.append(sorted(y))
        return float(len(seen))

    values = list(range(len(clusters)))
    design = Design(tuple(values), tuple(clusters))
    permute_clusters(values, values, total, design, seed=0, draws=5)
    assert all(drawn == values for drawn in seen)


def test_reliability_is_true_over_observed_variance():
    # Means 1, 3, 5 have a variance of 4; errors of 1 leave 1 - 1 / 4.
    assert reliability_of_means([1, 3, 5], [1, 1, 1]).value == 0.75
    assert ceiling_of_means([1, 3, 5], [1, 1, 1]).value == pytest.approx(0.75**0.5)
    assert ceiling_of_means([1, 3, 5], [3, 3, 3]).reason == "the reliability is not above zero"
    assert ceiling_of_means([1, 1, 1], [0, 0, 0]).value is None
    assert reliability_of_means([1], [1]).value is None
