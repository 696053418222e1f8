"""Temperature scaling in closed form, and what it can never change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.statistics.calibration import HIGHEST, best_temperature, temperature_scaling


def test_equal_margins_have_a_closed_form():
    # Margin 4 everywhere, three answers in four right: sigmoid(4 / T) = 3/4, T = 4 / ln 3.
    scores = np.array([[4.0, 0.0]] * 40)
    truth = [0, 0, 0, 1] * 10
    assert best_temperature(scores, np.array(truth)) == pytest.approx(4 / math.log(3), rel=1e-5)
    scaling = temperature_scaling(scores, truth, seed=1, clusters=[n // 4 for n in range(40)])
    # Every cluster has three of four right, so that all folds find the same temperature.
    assert scaling.temperature == pytest.approx(4 / math.log(3), rel=1e-5)
    assert scaling.nll == pytest.approx(math.log1p(math.exp(-4)) + 1)
    assert scaling.nll_scaled == pytest.approx(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))
    assert scaling.ece == pytest.approx(1 / (1 + math.exp(-4)) - 0.75)
    assert scaling.ece_scaled == pytest.approx(0, abs=1e-5)
    assert not scaling.at_bound


def test_scores_that_say_nothing_are_flattened():
    scores = [[3.0, 0.0], [0.0, 3.0]] * 20
    scaling = temperature_scaling(scores, [1, 0] * 20, seed=1)
    assert scaling.at_bound
    assert scaling.temperature == pytest.approx(HIGHEST, rel=0.01)
    assert scaling.nll_scaled == pytest.approx(math.log(2), abs=1e-3)


@given(
    st.lists(
        st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=8
    ),
    st.data(),
)
@settings(deadline=None)
def test_no_temperature_is_better_than_the_best(rows, data):
    truth = np.array([data.draw(st.integers(0, 2)) for _ in rows])
    scores = np.array(rows)
    best = best_temperature(scores, truth)

    def loss(temperature):
        scaled = scores / temperature
        return float(np.mean(np.log(np.exp(scaled).sum(axis=1)) - scaled[range(len(rows)), truth]))

    # Below 0.1 the exponentials of this plain formula overflow.
    for other in (0.1, 0.5, 1, 2, 10, 100):
        assert loss(max(best, 0.1)) <= loss(other) + 1e-6


def test_what_cannot_be_scaled_has_a_reason_or_is_refused():
    assert temperature_scaling([], [], seed=1).reason == "no observations"
    assert temperature_scaling([[0.0, 1.0]], [0], seed=1).reason == "one cluster only"
    with pytest.raises(UsageError, match="not a column"):
        temperature_scaling([[0.0, 1.0]], [2], seed=1)
    with pytest.raises(UsageError, match="NaN or infinite"):
        temperature_scaling([[-math.inf, 1.0]], [0], seed=1)
    with pytest.raises(UsageError, match="folds"):
        temperature_scaling([[0.0, 1.0]], [0], seed=1, folds=1)
