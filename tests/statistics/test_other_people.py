"""Intervals for other people of the kind: what they are made of, and when there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cimento.statistics import alpha_for_others, correlation_for_others, krippendorff_alpha
from cimento.statistics.design import Design
from cimento.statistics.raters import UNKNOWN_PEOPLE, PeoplesRatings, alpha_of_ratings


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


def test_the_variance_is_that_over_items_and_over_people_less_that_over_ratings():
    # The jackknife by hand: numpy's correlation without each item, person and single rating.
    values, table, who, design = rated(items=12, people=5)
    found = correlation_for_others(values, table, who, design=design, kind="pearson")
    x, y = np.array(values), np.array(table)

    def z(weights):
        left = weights.sum(axis=1) > 0
        means = (weights * y).sum(axis=1)[left] / weights.sum(axis=1)[left]
        return math.atanh(np.corrcoef(x[left], means)[0, 1])

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
