"""Confidence sequences: exact enumeration of all orders, simulated stopping, and edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cimento import UsageError
from cimento.statistics.intervals import ShareSequence


def asked(answers, *, precision=0.1, level=0.95, items=None):
    sequence = ShareSequence(items or len(answers), precision=precision, level=level)
    sequence.add(answers)
    return sequence


@pytest.mark.parametrize("right", range(8))
def test_over_all_orders_of_seven_items_the_share_is_ever_left_out_as_rarely_as_is_said(right):
    """Every order of the answers is enumerated, and each is looked at after every item."""
    level, missed, orders = 0.6, 0, 0
    for places in itertools.combinations(range(7), right):
        orders += 1
        sequence = ShareSequence(7, precision=0.2, level=level)
        for number in range(7):
            sequence.add([number in places])
            low, high = sequence.interval
            if not low <= right / 7 <= high:
                missed += 1
                break
    assert missed / orders <= 1 - level


def test_the_first_bets_are_those_of_the_formula():
    """Two right answers of a million items, by hand; a share of such a suite hardly moves.

    The stake is 0.4 / 0.25 = 1.6 at first. Then the mean is 1.5 / 2, the variance is
    (0.25 + 0.25^2) / 2 = 0.15625, and the stake 2.56, which is more than the 0.9 / m that it may
    be for m > 0.352; the gambler below has 0.1 of what he had each time. With q = 1 - m the bar,
    1 / (1 - 0.6), is reached where (1 + 1.6 q) (1 + 0.9 q / (1 - q)) + 0.01 = 5, that is
    0.16 q^2 - 6.49 q + 3.99 = 0.
    """
    low, high = asked([True, True], items=10**6, precision=0.4, level=0.6).interval
    q = (6.49 - math.sqrt(6.49**2 - 4 * 0.16 * 3.99)) / 0.32
    assert low == pytest.approx(1 - q, abs=0.001)
    assert high == 1.0


def test_what_is_left_can_only_move_the_share_so_far():
    """After 8 of 10 items, 6 of them right, the share is between 6/10 and 8/10 whatever follows."""
    low, high = asked([True] * 6 + [False] * 2, items=10).interval
    assert low >= 0.599
    assert high <= 0.801


def test_all_items_leave_one_share():
    sequence = asked([True, False, True, True] * 10)
    assert sequence.interval == pytest.approx((0.75, 0.75), abs=0.002)
    assert sequence.more() == 0


def test_items_that_count_neither_way_leave_the_share_among_the_others():
    rng = np.random.default_rng(5)
    answers = [None if n % 3 == 0 else bool(n % 2) for n in range(300)]
    sequence = asked([answers[k] for k in rng.permutation(300)[:200]], items=300)
    known = [one for one in answers if one is not None]
    low, high = sequence.interval
    assert low <= sum(known) / len(known) <= high
    only = asked([None] * 20, items=40).interval
    assert only == (0.0, 1.0)


def test_looking_again_and_again_costs_about_twice_the_items_of_a_fixed_number():
    """At a share of 0.7 of 1,000 items a fixed number needs 75 for ±0.1 (normal, finite)."""
    fixed = 1.96**2 * 0.21 / 0.01
    fixed /= 1 + fixed / 1000
    answers = np.arange(1000) < 700
    needed = []
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(answers).tolist()
        sequence = ShareSequence(1000, precision=0.1)
        while size := sequence.more():
            sequence.add(order[sequence.asked : sequence.asked + size])
        needed.append(sequence.asked)
    assert math.ceil(fixed) == 75
    assert 1.5 < np.mean(needed) / fixed < 2.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "share", "neither", "precision"),
    [(100, 0.5, 0.0, 0.1), (332, 0.7, 0.0, 0.1), (332, 0.95, 0.0, 0.1), (332, 0.6, 0.2, 0.1),
     (150, 0.8, 0.0, 0.05), (40, 0.3, 0.0, 0.2)],
)  # fmt: skip
def test_intervals_at_which_asking_stops_hold_the_share(items, share, neither, precision):
    """Four hundred runs, each looked at after every item and stopped at once."""
    rng = np.random.default_rng(11)
    missed = 0
    for _ in range(400):
        right = (np.arange(items) < round(share * items)).tolist()
        gone = rng.random(items) < neither
        answers = [None if without else one for one, without in zip(right, gone, strict=True)]
        known = [one for one in answers if one is not None]
        sequence = ShareSequence(items, precision=precision)
        for place in rng.permutation(items):
            sequence.add([answers[place]])
            if sequence.is_reached:
                break
        low, high = sequence.interval
        assert (high - low) / 2 <= precision + 1e-9
        missed += not low <= sum(known) / len(known) <= high
    assert missed <= 20 + 2 * math.sqrt(400 * 0.05 * 0.95)


def test_impossible_sequences_are_refused():
    with pytest.raises(UsageError, match="0 items"):
        ShareSequence(0, precision=0.1)
    with pytest.raises(UsageError, match=r"precision 1\.5"):
        ShareSequence(5, precision=1.5)
    with pytest.raises(UsageError, match="more answers than the 1 items"):
        asked([True, False], items=1)
