"""Properties: what is more uncertain, an interval for other people, is never the narrower one.

Items and people are drawn from more of their kind, so that the variance for other items and other
people is that for these people and that between people (the law of total variance).
"""

from __future__ import annotations

from functools import partial
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.statistics.agreement import (
    alpha_for_others,
    fleiss_for_others,
    fleiss_kappa,
    krippendorff_alpha,
)
from cimento.statistics.correlation import correlate
from cimento.statistics.design import FEWEST_CLUSTERS, Design
from cimento.statistics.intervals import share_interval
from cimento.statistics.means import mean_of
from cimento.statistics.raters import contrast_for_others, correlation_for_others, for_others

SLACK = 1e-9
SIZES = st.tuples(st.integers(4, 12), st.integers(4, 8))
SHAPES = st.sampled_from(["all alike", "one differs", "half", "any"])


def table_of(sizes, values, shape, seed):
    """Ratings, one row per item: all equal, one that differs, half and half, or any."""
    made = np.random.default_rng(seed)
    table = np.full(sizes, values - 1)
    if shape == "one differs":
        table[made.integers(sizes[0]), made.integers(sizes[1])] = 0
    elif shape == "half":
        table[made.permutation(sizes[0])[: sizes[0] // 2]] = 0
    elif shape == "any":
        by_item, by_person = (made.normal(size=size) for size in sizes)
        drawn = by_item[:, None] + made.choice([0, 1]) * by_person + made.normal(size=sizes)
        table = np.clip(np.round((drawn + 2) * values / 4), 0, values - 1)
    return table.astype(float)


def some_missing(table, *, share, seed):
    """The ratings that were given, of each item one or more, and who gave them."""
    there = np.random.default_rng(seed).random(table.shape) >= share
    there[np.arange(len(table)), seed % table.shape[1]] = True
    ratings = [row[kept].tolist() for row, kept in zip(table, there, strict=True)]
    return ratings, [np.flatnonzero(kept).tolist() for kept in there]


def assert_holds(wider, narrower):
    """The one interval holds the other, or there is no interval, with a reason."""
    if wider.low is None:
        assert wider.reason
    elif narrower.low is not None:
        assert wider.low <= narrower.low + SLACK
        assert wider.high >= narrower.high - SLACK
        assert wider.high - wider.low > SLACK


CASES = given(sizes=SIZES, shape=SHAPES, seed=st.integers(0, 10_000))


@CASES
@settings(max_examples=200, deadline=None)
def test_proportions_for_other_people_are_never_narrower(sizes, shape, seed):
    ratings, people = some_missing(table_of(sizes, 2, shape, seed), share=seed % 3 / 5, seed=seed)
    items = tuple(item for item, row in enumerate(ratings) for _ in row)
    design = Design(tuple(range(len(items))), items)
    right = [value > 0 for row in ratings for value in row]
    others = for_others(partial(share_interval, right), design, list(chain(*people)))
    assert_holds(others, share_interval(right, design))
    assert len({*chain(*people)}) >= FEWEST_CLUSTERS or others.low is None


@CASES
@settings(max_examples=100, deadline=None)
def test_agreement_for_other_people_is_never_narrower(sizes, shape, seed):
    ratings, people = some_missing(table_of(sizes, 4, shape, seed), share=seed % 3 / 5, seed=seed)
    design = Design.independent(len(ratings))
    for scale in ("nominal", "ordinal", "interval"):
        these = krippendorff_alpha(ratings, scale=scale, design=design)
        assert_holds(alpha_for_others(ratings, people, scale=scale, design=design), these)
    whole, who = table_of(sizes, 2, shape, seed).tolist(), [list(range(sizes[1]))] * sizes[0]
    others = fleiss_for_others(whole, who, design=design)
    assert_holds(others, fleiss_kappa(whole, design=design))


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
@CASES
@settings(max_examples=50, deadline=None)
def test_correlations_for_other_people_are_never_narrower(kind, sizes, shape, seed):
    table = table_of(sizes, 7, shape, seed)
    ratings, people = some_missing(table, share=seed % 3 / 5, seed=seed)
    values = table.mean(axis=1) + np.random.default_rng(seed).normal(size=len(table))
    design, means = Design.independent(len(table)), [float(np.mean(row)) for row in ratings]
    these = correlate(values, means, kind=kind, design=design)
    others = correlation_for_others(values.tolist(), ratings, people, kind=kind, design=design)
    assert_holds(others, these)


@CASES
@settings(max_examples=50, deadline=None)
def test_dd_for_other_people_is_never_narrower_and_its_p_never_smaller(sizes, shape, seed):
    items, people = sizes
    cells = [table_of(sizes, 7, shape, seed + place) for place in range(4)]
    ratings = [[cell[item].tolist() for cell in cells] for item in range(items)]
    names = [[list(range(people))] * 4] * items
    design, signs = Design.independent(items), (-1.0, 1.0, 1.0, -1.0)
    means = np.array([[np.mean(cell) for cell in item] for item in ratings])
    these = mean_of(means @ np.array(signs), design, seed=1)
    others = contrast_for_others(ratings, names, signs, design=design, seed=1)
    assert_holds(others, these)
    if others.p is not None and these.p is not None:
        assert (others.p <= 0.05) <= (these.p <= 0.05)
