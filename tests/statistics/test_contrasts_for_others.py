"""Contrasts of mean ratings for other items and other people, beside sums written out."""

from __future__ import annotations

import numpy as np
import pytest

from cimento.statistics.design import Design
from cimento.statistics.means import STUDENTIZED, mean_of
from cimento.statistics.raters import UNKNOWN_PEOPLE, contrast_for_others

DD = (-1.0, 1.0, 1.0, -1.0)


def latin_square(items=8, people=8, *, seed=1):
    """Every person rates each item in one condition, with effects of their own."""
    made = np.random.default_rng(seed)
    item, person = made.normal(size=items), made.normal(size=(people, 4))
    ratings = [[[] for _ in DD] for _ in range(items)]
    names = [[[] for _ in DD] for _ in range(items)]
    for i in range(items):
        for p in range(people):
            c = (i + p) % 4
            ratings[i][c].append(float(item[i] + person[p, c] + made.normal()))
            names[i][c].append(f"p{p}")
    return ratings, names


@pytest.mark.parametrize(("seed", "largest"), [(3, "both"), (6, "people")])
def test_a_latin_square_has_the_variance_of_items_and_of_people(seed, largest):
    ratings, names = latin_square(items=6, seed=seed)
    made = contrast_for_others(ratings, names, DD, design=Design.independent(6), seed=1)

    means = np.array([[np.mean(given) for given in item] for item in ratings])
    of_items = means @ np.array(DD)
    assert made.value == pytest.approx(of_items.mean())
    errors = np.zeros((6, 8))
    for i, (conditions, who) in enumerate(zip(ratings, names, strict=True)):
        for c, (given, raters) in enumerate(zip(conditions, who, strict=True)):
            for value, name in zip(given, raters, strict=True):
                # Two people rated each item in each condition.
                errors[i, int(name[1:])] = DD[c] * (value - means[:, c].mean()) / (6 * 2)
    v_items = (errors.sum(axis=1) ** 2).sum() / (1 - 1 / 6)
    assert v_items == pytest.approx(of_items.var(ddof=1) / 6)
    v_people = (errors.sum(axis=0) ** 2).sum() / (1 - 1 / 8)
    v_ratings = (errors**2).sum() / (1 - 1 / 48)
    # Student's t at .975 of 5 and of 7 degrees of freedom.
    halves = {
        "both": 2.570581836 * np.sqrt(max(v_items + v_people - v_ratings, v_ratings)),
        "items": 2.570581836 * np.sqrt(v_items),
        "people": 2.364624252 * np.sqrt(v_people),
    }
    assert max(halves, key=halves.get) == largest
    half = halves[largest]
    assert (made.low, made.high) == pytest.approx((made.value - half, made.value + half))


def test_the_interval_for_these_people_is_taken_where_it_is_the_wider():
    ratings, names = latin_square(items=8, seed=6)
    design = Design.independent(8)
    of_items = np.array([[np.mean(given) for given in item] for item in ratings]) @ np.array(DD)
    these = mean_of(of_items, design, seed=4)
    made = contrast_for_others(ratings, names, DD, design=design, seed=4)
    assert these.method == STUDENTIZED
    assert (made.low, made.high, made.p) == (these.low, these.high, these.p)


def test_people_who_are_alike_add_little_and_people_who_differ_much_widen_it():
    made = np.random.default_rng(3)
    shape = (12, 10)  # items, people; everybody rates both conditions
    noise = made.normal(size=(*shape, 2), scale=0.3)
    effects = made.normal(size=10, scale=2.0)
    names = [[[*range(10)]] * 2] * 12
    widths = []
    for slope in (np.zeros(10), effects):
        values = noise + np.stack([np.broadcast_to(slope, shape), np.zeros(shape)], axis=2)
        ratings = [[item[:, cell].tolist() for cell in (0, 1)] for item in values]
        found = contrast_for_others(
            ratings, names, (1.0, -1.0), design=Design.independent(12), seed=1
        )
        widths.append(found.high - found.low)
    # The standard error of the mean of ten slopes alone.
    assert widths[0] < 2 * effects.std(ddof=1) / np.sqrt(10) < widths[1]


def test_unknown_or_few_people_have_the_value_alone():
    ratings, names = latin_square()
    nobody = [[[None] * len(given) for given in item] for item in names]
    made = contrast_for_others(ratings, nobody, DD, design=Design.independent(8), seed=1)
    assert (made.low, made.reason) == (None, UNKNOWN_PEOPLE)
    four = [[[1.0, 2.0, 1.5, 3.0]] * 4] * 6
    who = [[["a", "b", "c", "d"]] * 4] * 6
    made = contrast_for_others(four, who, DD, design=Design.independent(6), seed=1)
    assert (made.value, made.low) == (0, None)
    assert made.reason == "4 people: an interval for others needs 5 or more"
    assert contrast_for_others([], [], DD, design=Design.independent(0), seed=1).value is None
