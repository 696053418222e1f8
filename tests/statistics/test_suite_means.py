"""Means over suites: for other phenomena, and for other items of the same suites."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.statistics.suite_means import SuiteValue, mean_over_suites


def value(suite, phenomenon, mean, half=None, unit=None):
    ends = (None, None) if half is None else (mean - half, mean + half)
    return SuiteValue(suite, unit or suite, frozenset({phenomenon}), mean, *ends)


def test_suites_of_one_phenomenon_are_one_cluster():
    generator = np.random.default_rng(1)
    levels, sizes = generator.normal(0.7, 0.1, 6), (1, 4, 2, 3, 1, 2)
    values = [
        value(f"{p}{k}", f"p{p}", levels[p] + generator.normal(0, 0.02))
        for p, size in enumerate(sizes)
        for k in range(size)
    ]
    over = mean_over_suites(values)
    # CR2 by hand: sums of residuals per phenomenon, each over 1 - n_g / n.
    rates = np.array([one.value for one in values])
    labels = np.repeat(np.arange(6), sizes)
    sums = np.bincount(labels, rates - rates.mean())
    error = math.sqrt((sums**2 / (1 - np.array(sizes) / rates.size)).sum()) / rates.size
    assert over.mean.statistic == pytest.approx(rates.mean() / error)
    assert (over.target, over.phenomena, over.mean.n, over.mean.m) == ("phenomena", 6, 13, 6)
    alone = mean_of(rates, Design.independent(rates.size), seed=0)
    assert over.mean.high - over.mean.low > 1.2 * (alone.high - alone.low)


def test_suites_of_the_same_items_count_once():
    plain = [value(f"s{k}", f"p{k}", 0.5 + 0.05 * k, 0.1) for k in range(5)]
    twin = value("s0-hard", "p0", 0.3, 0.2, unit="s0")
    over = mean_over_suites([*plain, twin])
    assert over.mean.n == 5
    assert over.mean.value == pytest.approx((0.4 + 0.55 + 0.6 + 0.65 + 0.7) / 5)
    # Their items are the same, so that half-widths are averaged: .15, beside four of .1.
    reach = math.sqrt(0.15**2 + 4 * 0.1**2) / 5
    assert over.items.high - over.mean.value == pytest.approx(reach)


def test_suites_of_one_phenomenon_stand_for_other_suites_of_it():
    over = mean_over_suites([value(f"s{k}", "agreement", 0.5 + 0.1 * k) for k in range(5)])
    assert (over.target, over.phenomena, over.mean.m) == ("suites", 1, 5)
    assert over.mean.low is not None


def test_too_few_have_a_reason():
    two = mean_over_suites([value("a", "p", 0.5), value("b", "q", 0.7)])
    assert two.mean.reason == "2 phenomena: an interval needs 5 or more"
    assert two.items.reason == "no interval of a and 1 more"
    one = mean_over_suites([value("a", "p", 0.5)])
    assert one.mean.reason == "1 suite: an interval needs 5 or more"
    assert mean_over_suites([]).mean.reason == "no suite has a value"


def test_suites_with_a_phenomenon_in_common_are_of_one():
    many = [value(f"s{k}", f"p{k}", 0.1 * k) for k in range(6)]
    both = SuiteValue("both", "both", frozenset({"p0", "p1"}), 0.5, None, None)
    assert mean_over_suites(many).phenomena == 6
    assert mean_over_suites([*many, both]).phenomena == 5
