"""Signal detection: values by R, limits, and what the intervals cover."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from cimento import UsageError
from cimento.statistics.calibration import brier, brier_parts, expected_calibration_error
from cimento.statistics.design import Design
from cimento.statistics.detection import (
    NO_NOISE,
    forced_choice_sensitivity,
    log_linear,
    sensitivity_and_bias,
)

BY_R = [
    # By R 4.2.2, with h as (H + .5)/(s + 1) and f as (F + .5)/(n + 1): first qnorm(h) - qnorm(f),
    # then the mean of both with the sign turned, then the first number over sqrt(2).
    ((45, 50, 12, 50), 1.92807732840589, -0.274041671344163, 1.36335655356785),
    ((20, 25, 5, 25), 1.60218905856390, 0.0, 1.13291874805342),
    ((10, 10, 0, 10), 3.38124325916980, 0.0, 2.39090003740027),
]


def one_row_each(hits, signals, alarms, noises):
    """Single answers, one an item."""
    rows = [(k < hits, 1, 0, 0) for k in range(signals)]
    rows += [(0, 0, k < alarms, 1) for k in range(noises)]
    return np.array(rows, dtype=float), Design.independent(len(rows))


@pytest.mark.parametrize(("counts", "d", "c", "forced"), BY_R)
def test_sensitivity_and_criterion_are_those_of_r(counts, d, c, forced):
    table, design = one_row_each(*counts)
    made = sensitivity_and_bias(table, design, seed=0)
    assert made.sensitivity.value == pytest.approx(d)
    assert made.criterion.value == pytest.approx(c, abs=1e-12)
    made = sensitivity_and_bias(table, design, task="2afc", seed=0)
    assert made.sensitivity.value == pytest.approx(forced)
    assert made.criterion.value == pytest.approx(c, abs=1e-12)


def test_without_bias_a_forced_choice_is_the_root_of_two_times_z():
    table, design = one_row_each(40, 50, 10, 50)
    made = sensitivity_and_bias(table, design, task="2afc", seed=0)
    # The rates of both places are one: (40.5 / 51).
    assert made.sensitivity.value == pytest.approx(math.sqrt(2) * norm.ppf(40.5 / 51))
    assert made.criterion.value == pytest.approx(0)


def test_the_forced_choice_without_places_has_one_rate():
    right = [1] * 19 + [0] * 5
    made = forced_choice_sensitivity(right, Design.independent(24), seed=0)
    assert made.value == pytest.approx(math.sqrt(2) * norm.ppf(19.5 / 25))
    assert made.low < made.value < made.high


@given(
    answers=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=5, max_size=12),
    task=st.sampled_from(["yes-no", "2afc"]),
)
def test_intervals_hold_their_value_and_yes_for_no_turns_the_criterion(answers, task):
    yes = np.array(answers, dtype=float)
    eights = np.full(len(yes), 8.0)
    design = Design.independent(len(yes))
    made = sensitivity_and_bias(
        np.stack([yes[:, 0], eights, yes[:, 1], eights], axis=1),
        design,
        task=task,
        seed=1,
        draws=99,
    )
    turned = sensitivity_and_bias(
        np.stack([8 - yes[:, 1], eights, 8 - yes[:, 0], eights], axis=1),
        design, task=task, seed=1, draws=99,
    )  # fmt: skip
    for number in (made.sensitivity, made.criterion):
        assert number.low <= number.value <= number.high
        assert all(map(math.isfinite, (number.low, number.high)))
    assert turned.sensitivity.value == pytest.approx(made.sensitivity.value, abs=1e-9)
    assert turned.criterion.value == pytest.approx(-made.criterion.value, abs=1e-9)


def test_single_answers_have_the_interval_of_two_rates_with_jeffreys_prior():
    table, design = one_row_each(30, 40, 10, 40)
    made = sensitivity_and_bias(table, design, seed=3, draws=40_000)
    draws = np.random.default_rng(4)
    z = norm.ppf(draws.beta(30.5, 10.5, 200_000)) - norm.ppf(draws.beta(10.5, 30.5, 200_000))
    low, high = np.quantile(z, [0.025, 0.975])
    assert made.sensitivity.low == pytest.approx(low, abs=0.03)
    assert made.sensitivity.high == pytest.approx(high, abs=0.03)


def test_clusters_make_intervals_wider():
    rng = np.random.default_rng(5)
    known = np.repeat(rng.random(12) < 0.5, 4)
    table = np.stack([known * 8.0, np.full(48, 8.0), 8.0 - known * 8, np.full(48, 8.0)], axis=1)
    alone = sensitivity_and_bias(table, Design.independent(48), seed=0)
    design = Design(tuple(range(48)), tuple(np.repeat(range(12), 4).tolist()))
    together = sensitivity_and_bias(table, design, seed=0)
    assert together.sensitivity.value == alone.sensitivity.value
    assert "clusters" in together.method
    width = [one.sensitivity.high - one.sensitivity.low for one in (alone, together)]
    assert width[1] > 1.5 * width[0]


@pytest.mark.slow
@pytest.mark.parametrize(("d", "c", "spread"), [(0.0, 0.0, 1.0), (1.0, 0.5, 1.0), (3.0, 0.0, 1.0)])
def test_the_interval_covers_as_often_as_it_says(d, c, spread):
    """Twenty-four items that differ, eight prompts each; 300 draws of the items."""
    rng, whole, held = np.random.default_rng(6), math.sqrt(1 + spread**2), []
    for seed in range(300):
        shifts = rng.normal(0, spread, (2, 24))
        hits = rng.binomial(8, norm.cdf(d / 2 - c + shifts[0]))
        alarms = rng.binomial(8, norm.cdf(-d / 2 - c + shifts[1]))
        table = np.stack([hits, np.full(24, 8), alarms, np.full(24, 8)], axis=1)
        sensitivity = sensitivity_and_bias(
            table, Design.independent(24), seed=seed, draws=999
        ).sensitivity
        held.append(sensitivity.low <= d / whole <= sensitivity.high)
    assert 0.91 <= np.mean(held) <= 0.99


def test_what_is_missing_is_named():
    made = sensitivity_and_bias([(3, 4, 0, 0)] * 6, Design.independent(6), seed=0)
    assert (made.sensitivity.value, made.reason) == (None, NO_NOISE)
    made = sensitivity_and_bias([(3, 4, 1, 4)] * 4, Design.independent(4), seed=0)
    assert made.sensitivity.value is not None
    assert (made.sensitivity.low, made.reason) == (
        None, "4 values: an interval needs 5 or more",
    )  # fmt: skip
    with pytest.raises(UsageError, match="more yes than answers"):
        sensitivity_and_bias([(5, 4, 0, 1)], Design.independent(1), seed=0)


@pytest.mark.parametrize(("yes", "n", "rate"), [(0, 10, 0.5 / 11), (10, 10, 10.5 / 11)])
def test_log_linear_rates_are_never_0_or_1(yes, n, rate):
    assert log_linear(yes, n) == rate


# --- Proportions of people in the place of right and wrong


def test_the_parts_of_brier_make_the_score():
    """Worked by hand: two bins, of p 0.2 (o 0, 0.5) and of p 0.8 (o 1, 0.5)."""
    parts = brier_parts([0.2, 0.2, 0.8, 0.8], [0, 0.5, 1, 0.5])
    assert parts.score == pytest.approx((0.04 + 0.09 + 0.04 + 0.09) / 4)
    assert parts.reliability == pytest.approx(0.05**2)
    assert parts.resolution == pytest.approx(0.25**2)
    assert parts.uncertainty == pytest.approx(0.125)
    assert parts.within == pytest.approx(0)


@given(
    rows=st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40),
    bins=st.integers(1, 12),
)
def test_brier_of_one_class_is_half_of_that_of_two(rows, bins):
    p, right = zip(*rows, strict=True)
    parts = brier_parts(p, [float(one) for one in right], bins=bins)
    whole = brier([(1 - x, x) for x in p], [int(one) for one in right])
    assert parts.score == pytest.approx(whole.value / 2)
    mean = sum(right) / len(right)
    assert parts.uncertainty == pytest.approx(mean * (1 - mean))


def test_a_share_of_people_may_stand_for_right_and_wrong():
    made = expected_calibration_error([0.1, 0.9], [0.25, 0.75])
    assert made.ece == pytest.approx(0.15)
    with pytest.raises(UsageError, match="outside 0 to 1"):
        expected_calibration_error([0.1], [1.5])
    assert brier_parts([], []).reason == "no observations"
