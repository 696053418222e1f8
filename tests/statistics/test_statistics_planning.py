"""How many items a suite needs; oracles: exact sums, noncentral t, repeated items."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from cimento import UsageError
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.statistics.planning import Pilot, plan_size
from cimento.statistics.power import correlation_power, mcnemar_power, spearman_interval


def differing(better: int, worse: int, n: int, *, size: int = 1) -> Pilot:
    """Two models on n items or clusters of alike items, where they differ on so many."""
    gaps = [1.0] * better + [-1.0] * worse + [0.0] * (n - better - worse)
    design = Design(tuple(range(n * size)), tuple(np.repeat(range(n), size).tolist()))
    return Pilot(kind="difference", values=tuple(np.repeat(gaps, size).tolist()), design=design)


def test_the_size_needed_for_two_models_is_that_of_mcnemars_exact_test():
    plan = plan_size(differing(6, 2, 40), difference=0.1)
    n = plan.needed.items
    powers = [mcnemar_power(k, only_first=0.15, only_second=0.05) for k in range(n - 1, n + 30)]
    assert powers[0] < 0.8 <= min(powers[1:])
    assert plan.needed.power == pytest.approx(powers[1])
    assert plan.needed in plan.sizes
    assert (plan.needed.low, plan.trials, plan.test) == (None, 0, "McNemar, exact binomial")
    assert [size.items for size in plan.sizes] == sorted(size.items for size in plan.sizes)


def test_a_rate_against_chance_is_found_where_its_interval_leaves_chance_out():
    right = tuple([1.0] * 30 + [0.0] * 10)
    pilot = Pilot(kind="rate", values=right, design=Design.independent(40), null=0.5)
    for size in plan_size(pilot, difference=0.2).sizes:
        by_hand = 0.0
        for k in range(size.items + 1):
            passed = [place < k for place in range(size.items)]
            interval = share_interval(passed, Design.independent(size.items))
            if not interval.low <= 0.5 <= interval.high:
                by_hand += stats.binom.pmf(k, size.items, 0.7)
        assert size.power == pytest.approx(by_hand)


@pytest.mark.slow
def test_means_of_items_have_the_power_of_the_t_test():
    values = np.random.default_rng(2).normal(size=400)
    pilot = Pilot(kind="mean", values=tuple(values), design=Design.independent(400))
    plan = plan_size(pilot, difference=0.5, seed=1, trials=500)
    assert plan.test == "Student's t"
    n, effect = plan.needed.items, 0.5 / values.std(ddof=1)
    exact = stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, effect * n**0.5)
    assert plan.needed.low - 0.01 < exact < plan.needed.high + 0.01


# Within the discordance of the pilot, of the other sign, and beyond it.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("better", "worse", "n", "wanted"),
    [(12, 4, 40, 0.25), *(pytest.param(*one, marks=pytest.mark.slow)
                          for one in ((12, 4, 40, -0.25), (3, 1, 80, 0.12)))],
)  # fmt: skip
def test_items_that_repeat_each_other_count_once(better, worse, n, wanted):
    alone = plan_size(differing(better, worse, n), difference=wanted)
    fivefold = plan_size(differing(better, worse, n, size=5), difference=wanted, trials=500)
    # The tests differ (McNemar's is more careful), so clusters are not quite as many.
    assert fivefold.needed.clusters == pytest.approx(alone.needed.clusters, rel=0.3)
    assert fivefold.needed.items == 5 * fivefold.needed.clusters
    assert fivefold.test == "Bonett-Price at the effective number of items"
    assert fivefold.needed.low < fivefold.needed.power < fivefold.needed.high


@pytest.mark.slow
def test_rates_of_items_that_repeat_each_other():
    right = [1.0] * 30 + [0.0] * 10
    design = Design(tuple(range(120)), tuple(np.repeat(range(40), 3).tolist()))
    pilot = Pilot(kind="rate", values=tuple(np.repeat(right, 3).tolist()), design=design, null=0.5)
    alone = Pilot(kind="rate", values=tuple(right), design=Design.independent(40), null=0.5)
    for wanted in (0.2, -0.2):
        plan, other = (
            plan_size(pilot_data, difference=wanted, trials=250) for pilot_data in (pilot, alone)
        )
        assert plan.needed.clusters == pytest.approx(other.needed.clusters, rel=0.3)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_plan():
    pilot = differing(4, 2, 12, size=2)
    one, same, other = (
        plan_size(pilot, difference=0.2, seed=seed, trials=50) for seed in (3, 3, 4)
    )
    assert one == same
    assert one != other


def test_what_cannot_be_planned_is_refused():
    pilot = differing(3, 1, 12)
    for given, seen in (
        ({"difference": 0}, "a difference of 0"),
        ({"difference": float("nan")}, "a difference of nan"),
        ({"difference": 1.5}, "a difference of 1.5"),
        ({"power": 1}, "power 1, alpha 0.05"),
        ({"power": 0.04}, "power 0.04, alpha 0.05"),
        ({"trials": 0}, "0 trials"),
    ):
        with pytest.raises(UsageError, match=seen):
            plan_size(pilot, **{"difference": 0.1, **given})
    with pytest.raises(UsageError, match="the pilot has 4 clusters"):
        plan_size(differing(2, 0, 4, size=3), difference=0.1)
    with pytest.raises(UsageError, match="the pilot has 4 values"):
        plan_size(differing(2, 0, 4), difference=0.1)
    five = Design.independent(5)
    with pytest.raises(UsageError, match="all values of the pilot are equal"):
        plan_size(Pilot(kind="mean", values=(1.0,) * 5, design=five), difference=1)
    with pytest.raises(UsageError, match=r"a difference of 0.6 from 0.500"):
        plan_size(Pilot(kind="rate", values=(1.0,) * 5, design=five, null=0.5), difference=0.6)


def test_a_difference_that_no_size_shows_has_none():
    pilot = Pilot(
        kind="mean", values=tuple(np.random.default_rng(1).normal(size=20)),
        design=Design.independent(20),
    )  # fmt: skip
    plan = plan_size(pilot, difference=1e-6, trials=20)
    assert plan.needed is None
    assert plan.most == 5000


@pytest.mark.slow
def test_a_correlation_is_found_as_often_as_scipys_test_finds_it_in_normal_data():
    generator = np.random.default_rng(11)
    # Pearson's correlation of normal data whose rank correlation is 0.4.
    pearson = 2 * np.sin(np.pi * 0.4 / 6)
    data = generator.multivariate_normal([0, 0], [[1, pearson], [pearson, 1]], size=(2000, 45))
    tested = [stats.spearmanr(both) for both in data]
    found = np.mean([test.pvalue < 0.05 for test in tested])
    assert correlation_power(45, 0.4) == pytest.approx(found, abs=0.03)
    drawn = [test.statistic for test in tested]
    low, high = np.tanh(np.arctanh(0.4) + np.array([-1, 1]) * 1.96 * np.std(np.arctanh(drawn)))
    assert spearman_interval(45, 0.4) == pytest.approx((low, high), abs=0.02)


def test_sentences_for_a_correlation_are_the_fewest_with_the_power():
    generator = np.random.default_rng(3)
    values, references = generator.normal(size=(2, 24))
    pilot = Pilot(
        kind="correlation",
        values=tuple(values),
        references=tuple(references),
        design=Design(tuple(range(24)), tuple(np.repeat(range(12), 2).tolist())),
    )
    plan = plan_size(pilot, difference=-0.3)
    n = plan.needed.items
    assert correlation_power(n - 1, 0.3) < 0.8 <= correlation_power(n, -0.3)
    assert plan.test == "Spearman's correlation, Fisher's z (Bonett and Wright)"
    assert plan_size(pilot).difference == pytest.approx(stats.spearmanr(values, references)[0])
    with pytest.raises(UsageError, match="a correlation of 1"):
        plan_size(pilot, difference=1)
