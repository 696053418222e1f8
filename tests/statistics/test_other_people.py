"""Intervals for other people like these: what they are made of, and when there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cimento import UsageError
from cimento.statistics import alpha_for_others, correlation_for_others, krippendorff_alpha
from cimento.statistics.agreement import fleiss_for_others, fleiss_kappa
from cimento.statistics.design import Design
from cimento.statistics.raters import (
    UNKNOWN_PEOPLE,
    PeoplesRatings,
    alpha_of_ratings,
    fleiss_of_ratings,
)


def rated(items=16, people=6, bias=1.0, seed=5):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=items)
    table = values[:, None] + bias * generator.normal(size=people)
    table = np.clip(np.round(4 + table + generator.normal(0, 0.7, (items, people))), 1, 7)
    who = [[f"p{person}" for person in range(people)]] * items
    return values.tolist(), table.tolist(), who, Design.independent(items)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_without_some_ratings_is_alpha_of_the_others(level):
    _, table, who, design = rated()
    ratings = PeoplesRatings.of(table, who, design)
    kept = np.random.default_rng(2).random((3, len(ratings.values))) < 0.6
    some = alpha_of_ratings(ratings, scale=level)(kept.astype(float))
    for row, alpha in zip(kept.reshape(3, 16, 6), some, strict=True):
        left = [
            [value if there else None for value, there in zip(*both, strict=True)]
            for both in zip(table, row, strict=True)
        ]
        assert alpha == pytest.approx(krippendorff_alpha(left, scale=level).value, abs=1e-12)


LENGTHS = np.array([[4, 7, 5, 9, 6, 6, 8, 3, 5, 7, 9, 4], [2, 1, 2, 3, 3, 1, 2, 2, 1, 3, 2, 1]]).T


@pytest.mark.parametrize("held", [None, LENGTHS[:, 0], LENGTHS])
@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_the_variance_is_that_over_items_and_over_people_less_that_over_ratings(held, kind):
    # The jackknife by hand: numpy's correlation, of what lstsq leaves of covariates, without each
    # item, person and single rating.
    values, table, who, design = rated(items=12, people=5)
    found = correlation_for_others(values, table, who, design=design, covariates=held, kind=kind)
    x, y = np.array(values), np.array(table)
    more = np.zeros((12, 0)) if held is None else held.reshape(12, -1)

    def z(weights):
        left = weights.sum(axis=1) > 0
        means = np.round((weights * y).sum(axis=1)[left] / weights.sum(axis=1)[left], 12)
        columns = [x[left], means, *more[left].T]
        if kind == "spearman":
            columns = [stats.rankdata(column) for column in columns]
        of = np.column_stack([np.ones(left.sum()), *columns[2:]])
        both = [one - of @ np.linalg.lstsq(of, one, rcond=None)[0] for one in columns[:2]]
        return math.atanh(np.corrcoef(*both)[0, 1])

    def spread(without):
        zs = np.array([z(weights) for weights in without])
        return (len(zs) - 1) / len(zs) * ((zs - zs.mean()) ** 2).sum()

    def all_but(rows, columns):
        weights = np.ones_like(y)
        weights[rows, columns] = 0
        return weights

    items = spread([all_but(item, slice(None)) for item in range(12)])
    people = spread([all_but(slice(None), person) for person in range(5)])
    single = spread([all_but(item, person) for item in range(12) for person in range(5)])
    total = max(items + people - single, single)
    middle = (math.atanh(found.low) + math.atanh(found.high)) / 2
    assert middle == pytest.approx(z(np.ones_like(y)))
    reach = (math.atanh(found.high) - math.atanh(found.low)) / 2
    assert reach == pytest.approx(stats.t.ppf(0.975, 5 - 1) * math.sqrt(total))


def test_kappa_without_some_ratings_is_kappa_of_the_others():
    _, table, who, design = rated()
    ratings = PeoplesRatings.of(table, who, design)
    # Without a person or an item, all items still have as many ratings.
    weights = np.ones((2, 16, 6))
    weights[0, :, 2] = 0
    weights[1, 5] = 0
    found = fleiss_of_ratings(ratings)(weights.reshape(2, -1))
    without_person = [[*row[:2], *row[3:]] for row in table]
    without_item = [row for number, row in enumerate(table) if number != 5]
    expected = [fleiss_kappa(some).value for some in (without_person, without_item)]
    assert found == pytest.approx(expected)
    # Six ratings of one item by hand, 2 of one category and 4 of another: 14 of 30 pairs agree.
    one = PeoplesRatings.of([[1, 1, 2, 2, 2, 2]], [list("abcdef")], Design.independent(1))
    share = 5 / 9
    assert fleiss_of_ratings(one)(np.ones((1, 6)))[0] == pytest.approx(
        (14 / 30 - share) / (1 - share)
    )


def test_kappa_for_others_is_wider_where_people_have_biases():
    _, table, who, design = rated(items=40, people=8)
    table = [[float(value > 4) for value in row] for row in table]
    these = fleiss_kappa(table, design=design)
    others = fleiss_for_others(table, who, design=design)
    assert others.low < these.low
    assert others.high > these.high
    unequal = [table[0][:5], *table[1:]]
    names = [who[0][:5], *who[1:]]
    assert fleiss_for_others(unequal, names, design=design).reason.startswith("items differ")


def test_kendalls_coefficient_has_no_covariates():
    values, table, who, design = rated()
    with pytest.raises(UsageError, match="kendall"):
        correlation_for_others(values, table, who, design=design, covariates=values, kind="kendall")


def test_people_with_biases_make_the_interval_for_others_wider():
    _, table, who, design = rated(bias=1.5)
    these = krippendorff_alpha(table, scale="interval", design=design)
    others = alpha_for_others(table, who, scale="interval", design=design)
    assert others.low < these.low
    assert others.high > these.high


def test_no_interval_for_others_without_names_or_with_few_people():
    values, table, who, design = rated()
    nameless = [[None] * 6] * 16
    assert alpha_for_others(table, nameless, scale="interval", design=design).reason == (
        UNKNOWN_PEOPLE
    )
    few = [row[:3] for row in table], [row[:3] for row in who]
    reason = correlation_for_others(values, *few, design=design).reason
    assert reason == "3 people: an interval for others needs 5 or more"
