"""Variance proportions of crossed tables by hand and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError
from cimento.statistics.reliability import REST, variance_shares

TABLE = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 0]]


def test_two_factors_by_hand():
    # Grand mean 7/12, total 35/12. Row means 3/4, 1/4, 3/4: 4 * (1/36 + 4/36 + 1/36) = 2/3.
    # Column means 2/3, 1/3, 1, 1/3: 3 * (1/144 + 9/144 + 25/144 + 9/144) = 11/12.
    shares = variance_shares(TABLE, ("a", "b")).shares
    assert shares == pytest.approx({"a": 8 / 35, "b": 11 / 35, REST: 16 / 35})


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(-9, 9), min_size=4, max_size=4), min_size=2, max_size=5))
def test_one_factor_against_scipy(rows):
    # F of scipy.stats.f_oneway is the ratio of the two mean squares.
    shares = variance_shares(rows, ("group", "member")).shares
    spread = any(len(set(row)) > 1 for row in rows)
    if shares is None or not spread:
        return
    between, within = len(rows) - 1, len(rows) * 3
    f = stats.f_oneway(*rows).statistic
    assert shares["group"] == pytest.approx(f * between / (f * between + within))


def test_one_factor_explains_all():
    table = np.zeros((2, 3, 4)) + np.array([0, 1, 5])[None, :, None]
    assert variance_shares(table, ("p", "s", "i")).shares == pytest.approx(
        {"p": 0, "s": 1, "i": 0, REST: 0}
    )


def test_no_variance_has_a_reason():
    assert variance_shares([[0.1, 0.1], [0.1, 0.1]], ("a", "b")).reason == "all values are equal"


@pytest.mark.parametrize(
    ("table", "factors"),
    [([[1, 2]], ("a",)), ([], ("a",)), ([[1, 2], [3, 4]], ("a", "a"))],
)
def test_tables_and_factors_must_agree(table, factors):
    with pytest.raises(UsageError, match="it has the shape"):
        variance_shares(table, factors)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=2, max_size=5))
def test_shares_are_between_zero_and_one_and_sum_to_one(rows):
    shares = variance_shares(rows, ("a", "b")).shares
    if shares is not None:
        assert sum(shares.values()) == pytest.approx(1)
        assert all(-1e-12 <= share <= 1 + 1e-12 for share in shares.values())
