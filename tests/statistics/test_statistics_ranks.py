"""Ranks with the places that are possible; intraclass correlations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.statistics.agreement import intraclass
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.statistics.multiple import holm, rank_by_pairs

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


def ranked(columns):
    """The ranking of some models by the tests of their mean differences."""
    columns = {name: np.array(values, dtype=float) for name, values in columns.items()}
    design = Design.independent(len(next(iter(columns.values()))))
    tested = [
        (one, other, mean_of(columns[one] - columns[other], design, seed=1, draws=999).p)
        for one, other in itertools.combinations(columns, 2)
    ]
    return rank_by_pairs({name: values.mean() for name, values in columns.items()}, tested), tested


def test_models_that_surely_differ_have_one_place_and_others_share_theirs():
    generator = np.random.default_rng(3)
    base = generator.normal(size=60)
    ranking, _ = ranked(
        {
            "good": base + 2 + generator.normal(0, 0.5, 60),
            "twin": base + generator.normal(0, 0.5, 60),
            "other twin": base + generator.normal(0, 0.5, 60),
            "bad": base - 2 + generator.normal(0, 0.5, 60),
        }
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
    ranking, tested = ranked(columns)
    for rank in ranking.ranks:
        assert 1 <= rank.best <= rank.place <= rank.worst <= 3
    assert [pair.p_holm for pair in ranking.pairs] == holm([p for _, _, p in tested])


def test_equal_models_share_the_first_place():
    ranking = rank_by_pairs({"a": 0.5, "b": 0.5}, [("a", "b", None)])
    assert [(rank.place, rank.best, rank.worst) for rank in ranking.ranks] == [(1, 1, 2)] * 2
    assert ranking.pairs[0].p is None
    assert rank_by_pairs({}, []).ranks == ()


def test_holm_counts_all_pairs():
    # Three tests at .02: 3 * .02 is above .05, so that nobody is set apart.
    means = {"a": 3.0, "b": 2.0, "c": 1.0}
    tested = [("a", "b", 0.02), ("a", "c", 0.02), ("b", "c", 0.02)]
    assert {(r.best, r.worst) for r in rank_by_pairs(means, tested).ranks} == {(1, 3)}
    assert [r.best for r in rank_by_pairs(means, tested, alpha=0.06).ranks] == [1, 2, 3]
