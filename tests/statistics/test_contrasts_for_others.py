"""Contrasts of mean ratings for other items and other people, beside sums written out."""

from __future__ import annotations

import numpy as np
import pytest

from cimento.statistics.design import Design
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


def test_a_latin_square_has_the_variance_of_items_and_of_people():
    ratings, names = latin_square()
    made = contrast_for_others(ratings, names, DD, design=Design.independent(8))

    means = np.array([[np.mean(given) for given in item] for item in ratings])
    of_items = means @ np.array(DD)
    assert made.value == pytest.approx(of_items.mean())
    errors = np.zeros((8, 8))
    for i, (conditions, who) in enumerate(zip(ratings, names, strict=True)):
        for c, (given, raters) in enumerate(zip(conditions, who, strict=True)):
            for value, name in zip(given, raters, strict=True):
                # Two people rated each item in each condition.
                errors[i, int(name[1:])] = DD[c] * (value - means[:, c].mean()) / (8 * 2)
    v_items = (errors.sum(axis=1) ** 2).sum() / (1 - 1 / 8)
    assert v_items == pytest.approx(of_items.var(ddof=1) / 8)
    v_people = (errors.sum(axis=0) ** 2).sum() / (1 - 1 / 8)
    v_both = (errors**2).sum() / (1 - 1 / 64)
    half = 2.364624252 * np.sqrt(max(v_items + v_people - v_both, v_both))  # t of 7 at .975
    assert (made.low, made.high) == pytest.approx((made.value - half, made.value + half))


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
        found = contrast_for_others(ratings, names, (1.0, -1.0), design=Design.independent(12))
        widths.append(found.high - found.low)
    # The standard error of the mean of ten slopes alone.
    assert widths[0] < 2 * effects.std(ddof=1) / np.sqrt(10) < widths[1]


def test_unknown_or_few_people_have_the_value_alone():
    ratings, names = latin_square()
    nobody = [[[None] * len(given) for given in item] for item in names]
    made = contrast_for_others(ratings, nobody, DD, design=Design.independent(8))
    assert (made.low, made.reason) == (None, UNKNOWN_PEOPLE)
    four = [[[1.0, 2.0, 1.5, 3.0]] * 4] * 6
    who = [[["a", "b", "c", "d"]] * 4] * 6
    made = contrast_for_others(four, who, DD, design=Design.independent(6))
    assert (made.value, made.low) == (0, None)
    assert made.reason == "4 people: an interval for others needs 5 or more"
    assert contrast_for_others([], [], DD, design=Design.independent(0)).value is None
