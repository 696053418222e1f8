"""The exact test of answers with chances of their own, against enumeration and scipy."""

from itertools import product
from math import fsum, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from cimento.statistics.unequal_chances import unequal_chances_p


def by_enumeration(right, chances):
    """Every way to be right and wrong, with its probability."""
    mass = dict.fromkeys(range(len(chances) + 1), 0.0)
    for way in product((0, 1), repeat=len(chances)):
        mass[sum(way)] += prod(
            p if is_right else 1 - p for is_right, p in zip(way, chances, strict=True)
        )
    return fsum(p for p in mass.values() if p <= mass[right] * (1 + 1e-7))


@pytest.mark.parametrize("right", range(8))
def test_it_is_the_sum_over_all_ways_that_are_as_improbable(right):
    chances = [1 / 2, 1 / 3, 1 / 3, 1 / 4, 1 / 2, 1 / 5, 0.9]
    assert unequal_chances_p(right, chances) == pytest.approx(by_enumeration(right, chances))


@given(st.integers(0, 30), st.integers(0, 30), st.sampled_from([0.5, 1 / 3, 0.25, 0.1]))
def test_with_equal_chances_it_is_the_binomial_test(right, wrong, chance):
    n = right + wrong
    if n:
        expected = binomtest(right, n, chance).pvalue
        assert unequal_chances_p(right, [chance] * n) == pytest.approx(expected, abs=1e-9)


def test_the_two_differ_where_chances_do():
    chances = [0.5] * 5 + [0.1] * 5  # by hand: 10 right is 0.05 ** 5
    assert unequal_chances_p(10, chances) == pytest.approx(0.05**5)
    assert binomtest(10, 10, 0.3).pvalue == pytest.approx(0.3**10)


@pytest.mark.parametrize(("right", "chances"), [(3, [0.5, 0.5]), (-1, [0.5]), (1, [1.5])])
def test_what_is_no_number_of_answers_is_refused(right, chances):
    with pytest.raises(ValueError, match=str(right)):
        unequal_chances_p(right, chances)
