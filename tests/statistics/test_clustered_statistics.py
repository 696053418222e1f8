"""The reliability of published means."""

from __future__ import annotations

import pytest

from cimento.statistics.reliability import ceiling_of_means, reliability_of_means


def test_reliability_is_true_over_observed_variance():
    # Means 1, 3, 5 have a variance of 4; errors of 1 leave 1 - 1 / 4.
    assert reliability_of_means([1, 3, 5], [1, 1, 1]).value == 0.75
    assert ceiling_of_means([1, 3, 5], [1, 1, 1]).value == pytest.approx(0.75**0.5)
    assert ceiling_of_means([1, 3, 5], [3, 3, 3]).reason == "the reliability is not above zero"
    assert ceiling_of_means([1, 1, 1], [0, 0, 0]).value is None
    assert reliability_of_means([1], [1]).value is None
