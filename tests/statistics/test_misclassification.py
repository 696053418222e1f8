"""Proportions corrected for a judge's errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento.statistics.misclassification import (
    MeasuredShare,
    WeightedPart,
    corrected_interval,
    corrected_share,
    joined_parts,
)

shares = st.floats(0, 1)
good = st.floats(0.55, 1)


def test_a_published_example():
    """Brucellosis in a herd: 23 of 150 cows positive, Se .96, Sp .89, 5.1 in a hundred.

    The example of ``epi.prev`` in the manual of R's epiR.
    """
    assert 100 * corrected_share(23 / 150, 0.96, 0.89) == pytest.approx(5.1, abs=0.05)


@given(shares, good, good)
def test_correcting_undoes_the_errors(true, sensitivity, specificity):
    apparent = true * sensitivity + (1 - true) * (1 - specificity)
    assert corrected_share(apparent, sensitivity, specificity) == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.5, 0.5), (0.2, 0.7)])
def test_a_judge_that_guesses_tells_nothing(sensitivity, specificity):
    assert corrected_share(0.4, sensitivity, specificity) is None
    both = (MeasuredShare(sensitivity, 1e6), MeasuredShare(specificity, 1e6))
    assert corrected_interval(MeasuredShare(0.4, 100), *both) is None


@pytest.mark.parametrize(
    ("true", "sensitivity", "specificity", "n", "measured"),
    [
        (0.85, 0.97, 0.60, 170, (150, 25)),
        (0.30, 0.90, 0.80, 100, (60, 60)),
        (0.95, 0.99, 0.75, 60, (120, 20)),
        (0.60, 0.95, 0.95, 36, (40, 40)),
    ],
)
def test_the_interval_holds_the_true_proportion_of_what_was_judged(
    true, sensitivity, specificity, n, measured
):
    """Of 2,000 simulated judges nineteen in twenty or more, less three standard errors."""
    chance = np.random.default_rng(20)
    passes = round(true * n)
    held, draws = 0, 2000
    for _ in range(draws):
        judged = chance.binomial(passes, sensitivity) + chance.binomial(n - passes, 1 - specificity)
        right = chance.binomial(measured[0], sensitivity) / measured[0]
        wrong = chance.binomial(measured[1], specificity) / measured[1]
        ends = corrected_interval(
            MeasuredShare(judged / n, n),
            MeasuredShare(right, measured[0]),
            MeasuredShare(wrong, measured[1]),
        )
        held += ends is None or ends[0] <= passes / n <= ends[1]
    assert held / draws > 0.95 - 3 * (0.95 * 0.05 / draws) ** 0.5


@given(shares, good, good, st.integers(1, 500), st.integers(1, 500))
def test_the_interval_is_a_part_of_zero_to_one(apparent, sensitivity, specificity, n, measured):
    ends = corrected_interval(
        MeasuredShare(apparent, n),
        MeasuredShare(sensitivity, measured),
        MeasuredShare(specificity, measured),
    )
    assert ends is None or 0 <= ends[0] <= ends[1] <= 1


def test_parts_are_joined_by_their_variances():
    """By hand: .6 * .8 + .4 * .5; sqrt((.6 * .1)² + (.4 * .2)²) = .1 below, half of it above."""
    whole = joined_parts([WeightedPart(0.6, 0.8, 0.7, 0.85), WeightedPart(0.4, 0.5, 0.3, 0.6)])
    assert whole.share == pytest.approx(0.68)
    assert (whole.low, whole.high) == pytest.approx((0.58, 0.73))


@given(shares, shares, shares)
def test_one_part_is_the_whole(share, one, other):
    low, high = min(one, share), max(other, share)
    whole = joined_parts([WeightedPart(1.0, share, low, high)])
    assert (whole.share, whole.low, whole.high) == pytest.approx((share, low, high))
