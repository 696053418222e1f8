"""Ranks with the places that are possible; intraclass correlations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.errors import UsageError
from cimento.statistics.intraclass import intraclass
from cimento.statistics.multiple import holm
from cimento.statistics.permutation import sign_flip
from cimento.statistics.ranks import rank_models

# The example of Shrout and Fleiss (1979), table 2: six targets, four judges; results in table 4.
SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]


@pytest.mark.parametrize(
    ("kind", "single", "mean"),
    [("one-way", 0.17, 0.44), ("agreement", 0.29, 0.62), ("consistency", 0.71, 0.91)],
)
def test_intraclass_correlations_are_the_published_ones(kind, single, mean):
    assert intraclass(SHROUT_FLEISS, kind=kind).value == pytest.approx(single, abs=0.005)
    assert intraclass(SHROUT_FLEISS, kind=kind, mean=True).value == pytest.approx(mean, abs=0.005)


def test_intraclass_correlations_that_are_none():
    assert intraclass([[1, 2]]).reason == "fewer than two items"
    assert intraclass([[3, 3], [3, 3]]).reason == "all ratings are equal"
    assert intraclass([[1, 2], [2, 3], [3, 4]], kind="consistency").value == pytest.approx(1)
    with pytest.raises(UsageError, match="two or more raters"):
        intraclass([[1], [2]])
    with pytest.raises(UsageError, match="Did you mean 'agreement'"):
        intraclass([[1, 2]], kind="agreements")


def test_models_that_surely_differ_have_one_place_and_others_share_theirs():
    generator = np.random.default_rng(3)
    base = generator.normal(size=60)
    ranking = rank_models(
        {
            "good": base + 2 + generator.normal(0, 0.5, 60),
            "twin": base + generator.normal(0, 0.5, 60),
            "other twin": base + generator.normal(0, 0.5, 60),
            "bad": base - 2 + generator.normal(0, 0.5, 60),
        },
        seed=1,
        draws=2000,
    )
    places = {rank.name: (rank.best, rank.worst) for rank in ranking.ranks}
    assert places == {"good": (1, 1), "twin": (2, 3), "other twin": (2, 3), "bad": (4, 4)}
    assert [rank.place for rank in ranking.ranks] == [1, 2, 3, 4]
    assert len(ranking.pairs) == 6


@given(
    st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=12),
)
@settings(deadline=None)
def test_a_place_by_the_mean_is_among_the_possible_ones(rows):
    columns = {
        name: list(column) for name, column in zip("abc", zip(*rows, strict=True), strict=True)
    }
    ranking = rank_models(columns, seed=0)
    for rank in ranking.ranks:
        assert 1 <= rank.best <= rank.place <= rank.worst <= 3
    tests = [
        sign_flip(np.subtract(columns[one], columns[other]), seed=0).p
        for one, other in ("ab", "ac", "bc")
    ]
    assert [pair.p_holm for pair in ranking.pairs] == holm(tests)


def test_equal_models_share_the_first_place():
    ranking = rank_models({"a": [1, 0, 1], "b": [1, 0, 1]}, seed=0)
    assert [(rank.place, rank.best, rank.worst) for rank in ranking.ranks] == [(1, 1, 2)] * 2
    assert ranking.pairs[0].p is None
    assert rank_models({}, seed=0).ranks == ()
    with pytest.raises(UsageError, match="a has 1 values, b has 2"):
        rank_models({"a": [1], "b": [1, 0]}, seed=0)
