"""The mean kappa of pairs of raters, noise ceilings, and their intervals for other people."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from cimento import UsageError
from cimento.statistics import split_half
from cimento.statistics.agreement import krippendorff_alpha
from cimento.statistics.design import Design
from cimento.statistics.pairs_of_raters import mean_kappa
from cimento.statistics.raters import UNKNOWN_PEOPLE
from cimento.statistics.reliability import ceiling_for_others

ITEMS, PEOPLE = 14, 6
WHO = [[f"p{person}" for person in range(PEOPLE)]] * ITEMS


def rated(seed=5, bias=0.5):
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(ITEMS, 1)) + bias * generator.normal(size=PEOPLE)
    return np.clip(np.round(4 + table + generator.normal(0, 0.8, (ITEMS, PEOPLE))), 1, 7)


def kappa(first, second, scale):
    """Cohen's weighted kappa from the table of both raters (Cohen 1968)."""
    size = len(scale)
    observed = np.zeros((size, size))
    for a, b in zip(first, second, strict=True):
        observed[scale.index(a), scale.index(b)] += 1
    weights = (np.arange(size)[:, None] - np.arange(size)) ** 2
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
    return 1 - (weights * observed).sum() / (weights * expected).sum()


def mean_by_hand(table, there):
    scale = sorted(set(table.ravel().tolist()))
    kappas = []
    for a, b in itertools.combinations(range(PEOPLE), 2):
        both = there[:, a] & there[:, b]
        if both.any():
            kappas.append(kappa(table[both, a], table[both, b], scale))
    return np.mean(kappas)


def spread(found):
    z = np.arctanh(found)
    return (len(z) - 1) / len(z) * ((z - z.mean()) ** 2).sum()


def all_but(rows, columns):
    there = np.ones((ITEMS, PEOPLE), dtype=bool)
    there[rows, columns] = False
    return there


def leaving_out():
    """Which ratings are there without each item, each person, and each single rating."""
    yield [all_but(item, slice(None)) for item in range(ITEMS)]
    yield [all_but(slice(None), person) for person in range(PEOPLE)]
    yield [all_but(i, p) for i, p in itertools.product(range(ITEMS), range(PEOPLE))]


def test_the_mean_kappa_and_its_interval_are_those_of_the_jackknife_by_hand():
    table = rated()
    found = mean_kappa(table.tolist(), WHO, design=Design.independent(ITEMS))

    whole = mean_by_hand(table, all_but([], []))
    assert found.value == pytest.approx(whole)
    assert found.pairs == PEOPLE * (PEOPLE - 1) / 2
    items, people, single = (
        spread([mean_by_hand(table, there) for there in some]) for some in leaving_out()
    )
    reach = stats.t.ppf(0.975, PEOPLE - 1) * math.sqrt(max(items + people - single, single))
    assert math.atanh(found.others.low) == pytest.approx(math.atanh(whole) - reach)
    assert math.atanh(found.others.high) == pytest.approx(math.atanh(whole) + reach)


def test_two_people_are_compared_only_where_they_share_enough_items():
    # The first two share all 14 items, the third shares 9 with each.
    table = rated()[:, :3].tolist()
    ratings = [row if number < 9 else row[:2] for number, row in enumerate(table)]
    who = [WHO[0][: len(row)] for row in ratings]
    found = mean_kappa(ratings, who, design=Design.independent(ITEMS))

    scale = sorted({value for row in ratings for value in row})
    first, second = zip(*(row[:2] for row in ratings), strict=True)
    assert (found.pairs, found.value) == (1, pytest.approx(kappa(first, second, scale)))
    assert found.others.reason == "3 people: an interval for others needs 5 or more"
    none = mean_kappa(ratings[:9], who[:9], design=Design.independent(9))
    assert (none.value, none.pairs) == (None, 0)
    assert none.reason == none.others.reason == "no two people rated 10 items in common"


def test_the_first_rating_of_a_person_counts_and_unknown_people_do_not():
    table = rated().tolist()
    plain = mean_kappa(table, WHO, design=Design.independent(ITEMS))
    more = [[*row, 7.0, 1.0] for row in table]
    names = [[*row, "p0", None] for row in WHO]

    assert mean_kappa(more, names, design=Design.independent(ITEMS)) == plain


def test_the_interval_of_a_ceiling_has_the_error_of_ordinal_alpha():
    table = rated()
    halves = split_half(table.tolist(), seed=3, kind="spearman")
    found = ceiling_for_others(table.tolist(), WHO, halves, design=Design.independent(ITEMS))

    def scaled(r):
        return np.log((1 + (PEOPLE - 1) * np.array(r)) / (1 - np.array(r))) / 2

    def alpha(there):
        rows = [
            [value if here else None for value, here in zip(*both, strict=True)]
            for both in zip(table.tolist(), there, strict=True)
        ]
        return krippendorff_alpha(rows, scale="ordinal").value

    variances = []
    for some in leaving_out():
        z = scaled([alpha(there) for there in some])
        variances.append((len(z) - 1) / len(z) * ((z - z.mean()) ** 2).sum())
    items, people, single = variances
    reach = stats.t.ppf(0.975, PEOPLE - 1) * math.sqrt(max(items + people - single, single))
    # z of the reliability of the means is -log(1 - R) / 2.
    ends = [-math.log(1 - end**2) / 2 for end in (found.low, found.high)]
    middle = -math.log(1 - halves.reliability) / 2
    assert ends == pytest.approx([middle - reach, middle + reach])
    assert found.low < halves.ceiling < found.high


def test_a_ceiling_that_people_hardly_agree_on_reaches_down_to_zero():
    generator = np.random.default_rng(12)
    items, noise = generator.normal(0, 0.35, (ITEMS, 1)), generator.normal(size=(ITEMS, PEOPLE))
    table = (items + noise).round(1)
    halves = split_half(table.tolist(), seed=3, kind="spearman")
    found = ceiling_for_others(table.tolist(), WHO, halves, design=Design.independent(ITEMS))

    assert 0 < halves.ceiling < found.high <= 1
    assert found.low == 0


def test_a_ceiling_has_no_interval_for_others_without_names_or_with_few_people():
    table = rated().tolist()
    halves = split_half(table, seed=3, kind="spearman")
    design = Design.independent(ITEMS)
    nameless = [[None] * PEOPLE] * ITEMS
    assert ceiling_for_others(table, nameless, halves, design=design).reason == UNKNOWN_PEOPLE
    few, who = [row[:4] for row in table], [row[:4] for row in WHO]
    four = split_half(few, seed=3, kind="spearman")
    assert ceiling_for_others(few, who, four, design=design).reason == (
        "4 people: an interval for others needs 5 or more"
    )
    with pytest.raises(UsageError):
        ceiling_for_others(table, WHO, halves, design=design, level=1.5)
