"""Power over crossed factors, from the parts of the variance of a pilot."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from cimento.errors import UsageError
from cimento.io.clusters import Crossing
from cimento.statistics.crossed_planning import CrossedPlan, CrossedVariances, power_of_t
from cimento.statistics.design import Design
from cimento.statistics.intervals import Effective
from cimento.statistics.means import CROSSED_T, t_test
from cimento.statistics.planning import Pilot, plan_size

A, B = 8, 10
FIRST, SECOND = np.repeat(range(A), B), np.tile(range(B), A)


def crossed(*columns):
    return Design(tuple(range(len(columns[0]))), tuple(map(Crossing, zip(*columns, strict=True))))


def drawn(seed, sd=(1.0, 0.7, 1.0), sizes=(A, B)):
    made = np.random.default_rng(seed)
    first, second = np.repeat(range(sizes[0]), sizes[1]), np.tile(range(sizes[1]), sizes[0])
    values = sd[0] * made.normal(size=sizes[0])[first] + sd[1] * made.normal(size=sizes[1])[second]
    return values + sd[2] * made.normal(size=first.size), crossed(first, second)


def test_the_parts_of_a_balanced_table_are_those_of_its_analysis_of_variance():
    values, design = drawn(1)
    table = values.reshape(A, B)
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    rest = ((table - rows[:, None] - columns + table.mean()) ** 2).sum() / (A - 1) / (B - 1)
    parts = CrossedVariances.of(values.tolist(), design)
    assert parts.parts[0,] == pytest.approx((B * rows.var(ddof=1) - rest) / B)
    assert parts.parts[1,] == pytest.approx((A * columns.var(ddof=1) - rest) / A)
    assert (parts.parts[0, 1], parts.items) == (0, pytest.approx(rest))


def mean_square(table, axes):
    """The mean square of a main effect or an interaction in a table with one value a cell."""
    effect = 0
    for size in range(len(axes) + 1):
        for some in itertools.combinations(axes, size):
            others = tuple({*range(table.ndim)} - {*some})
            effect = effect + (-1) ** (len(axes) - size) * table.mean(axis=others, keepdims=True)
    freedom = math.prod(table.shape[axis] - 1 for axis in axes)
    return (np.broadcast_to(effect, table.shape) ** 2).sum() / freedom


@pytest.mark.parametrize("seed", [2, 3])
def test_the_parts_of_three_factors_are_those_of_expected_mean_squares(seed):
    made, sizes = np.random.default_rng(seed), (6, 7, 8)
    a, b, c = (made.normal(size=n) for n in sizes)
    ab, ac, bc = (made.normal(size=two) for two in itertools.combinations(sizes, 2))
    table = a[:, None, None] + b[None, :, None] + c + ab[:, :, None] + ac[:, None] + bc
    table = table + made.normal(size=sizes)
    cells = np.indices(sizes).reshape(3, -1)
    parts = CrossedVariances.of(table.ravel().tolist(), crossed(*cells.tolist()))
    square = {
        axes: mean_square(table, axes)
        for size in (1, 2, 3)
        for axes in itertools.combinations(range(3), size)
    }
    rest = square[0, 1, 2]
    two = {(0, 1): (square[0, 1] - rest) / 8, (0, 2): (square[0, 2] - rest) / 7}
    two[1, 2] = (square[1, 2] - rest) / 6
    one = {
        (0,): (square[0,] - square[0, 1] - square[0, 2] + rest) / (7 * 8),
        (1,): (square[1,] - square[0, 1] - square[1, 2] + rest) / (6 * 8),
        (2,): (square[2,] - square[0, 2] - square[1, 2] + rest) / (6 * 7),
    }
    expected = one | two
    assert min(expected.values()) > 0
    assert parts.parts == pytest.approx(expected | {(0, 1, 2): 0.0}, abs=1e-12)
    assert parts.items == pytest.approx(rest)


def test_the_parts_of_unbalanced_tables_are_right_on_average():
    made, sums = np.random.default_rng(4), np.zeros(4)
    for _ in range(400):
        first, second = made.integers(0, 12, 150), made.integers(0, 9, 150)
        cells = made.normal(size=(12, 9))
        values = made.normal(size=12)[first] + 0.5 * made.normal(size=9)[second]
        values = values + 0.6 * cells[first, second] + 0.8 * made.normal(size=150)
        parts = CrossedVariances.of(values.tolist(), crossed(first, second))
        sums += (*parts.parts.values(), parts.items)
    assert sums / 400 == pytest.approx([1.0, 0.25, 0.36, 0.64], abs=0.06)


def test_the_power_of_a_mean_is_that_of_noncentral_t_with_the_smaller_factor():
    values, design = drawn(2)
    plan = plan_size(Pilot(kind="mean", values=tuple(values), design=design), difference=0.8)
    parts = CrossedVariances.of(values.tolist(), design)
    assert plan.test == CROSSED_T
    assert plan.trials == 0
    for size in plan.sizes:
        times = size.clusters / A
        assert size.items == round(A * B * times**2)
        variance = sum(parts.parts[k,] / ((A, B)[k] * times) for k in (0, 1))
        variance += parts.items / (A * B * times**2)
        freedom = A * times - 1
        limit = stats.t.ppf(0.975, freedom)
        expected = stats.nct.sf(limit, freedom, 0.8 / math.sqrt(variance))
        assert size.power == pytest.approx(expected, abs=1e-3)
    assert plan.needed is not None
    assert plan.needed.power >= 0.8 > plan_size_below(plan, values, design)


def plan_size_below(plan, values, design):
    """The power with one level fewer than the plan needs."""
    made = CrossedPlan(design, CrossedVariances.of(values.tolist(), design))
    levels = plan.needed.clusters - 1
    error = made.error(levels, made.variances.total)
    told = Effective(1.0, 1.0, A * levels / A - 1)
    return power_of_t(0.8 / error, told, alpha=0.05)


def test_items_without_clusters_have_the_power_of_a_normal_statistic():
    assert power_of_t(2.8, Effective(40.0), alpha=0.05) == pytest.approx(
        stats.norm.sf(1.959963985 - 2.8) + stats.norm.cdf(-1.959963985 - 2.8)
    )
    t = power_of_t(2.8, Effective(40.0, 1.0, 9.0), alpha=0.05)
    limit = stats.t.ppf(0.975, 9)
    assert t == pytest.approx(stats.nct.sf(limit, 9, 2.8) + stats.nct.cdf(-limit, 9, 2.8))


@pytest.mark.parametrize("kind", ["difference", "rate"])
def test_more_alike_levels_need_more_items(kind):
    needed = []
    for sd in ((0.1, 0.1, 1.0), (1.0, 0.8, 0.6)):
        values, design = drawn(3, sd, (12, 12))
        sides = np.sign(np.where(np.abs(values) < 0.4, 0, values))
        right = sides if kind == "difference" else (values > np.quantile(values, 0.4)).astype(float)
        null = 0.0 if kind == "difference" else 0.5
        pilot = Pilot(kind=kind, values=tuple(right.tolist()), design=design, null=null)
        plan = plan_size(pilot, difference=0.15)
        assert "crossed" in plan.test
        needed.append(plan.needed.items)
    assert needed[0] < needed[1]


def test_the_power_over_three_factors_has_the_variance_of_all_their_cells():
    made, sizes = np.random.default_rng(11), (5, 6, 8)
    a, b, c = cells = np.indices(sizes).reshape(3, -1)
    values = made.normal(size=5)[a] + made.normal(size=6)[b] + made.normal(size=(6, 8))[b, c]
    values = values + made.normal(size=240)
    pilot = Pilot(kind="mean", values=tuple(values), design=crossed(*cells.tolist()))
    parts = CrossedVariances.of(pilot.values, pilot.design)
    for size in plan_size(pilot, difference=1.0).sizes:
        times = size.clusters / 5
        assert size.items == round(240 * times**3)
        variance = parts.items / (240 * times**3)
        for met, part in parts.parts.items():
            variance += part / math.prod(sizes[k] * times for k in met)
        limit = stats.t.ppf(0.975, 5 * times - 1)
        expected = stats.nct.sf(limit, 5 * times - 1, 1.0 / math.sqrt(variance))
        assert size.power == pytest.approx(expected, abs=1e-3)


def test_four_factors_are_refused_and_correlations_ask_for_none():
    values, design = drawn(5)
    third, fourth = np.arange(A * B) % 6, np.arange(A * B) % 7
    four = crossed(FIRST, SECOND, third, fourth)
    with pytest.raises(UsageError, match="4 crossed factors"):
        plan_size(Pilot(kind="mean", values=tuple(values), design=four), difference=1.0)
    pilot = Pilot(
        kind="correlation", values=tuple(values), design=design, references=tuple(values + 1)
    )
    assert plan_size(pilot, difference=0.4).needed.items > 20


@pytest.mark.slow
def test_planned_power_is_reached():
    made = np.random.default_rng(7)
    said, found = [], []
    for _ in range(300):
        values, design = drawn(made.integers(1 << 30), (0.55, 0.55, 0.63), (12, 12))
        pilot = Pilot(kind="mean", values=tuple(values), design=design)
        said += [s.power for s in plan_size(pilot, difference=0.7).sizes if s.clusters == 12]
        found.append(t_test(values + 0.7, design).p <= 0.05)
    assert np.mean(said) == pytest.approx(np.mean(found), abs=0.08)
