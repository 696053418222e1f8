"""Paired tests and the adjustment of many p-values."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError
from cimento.statistics.design import Design
from cimento.statistics.differences import (
    MCNEMAR,
    cochran_q,
    discordant,
    mcnemar,
    share_difference,
    share_test,
)
from cimento.statistics.multiple import benjamini_hochberg, holm

COUNTS = st.integers(0, 200)
P_VALUES = st.lists(st.floats(0, 1), max_size=20)


def test_holm_and_benjamini_hochberg_are_rs():
    # R 4.2.2, p.adjust(p, "holm") and p.adjust(p, "BH") of these six
    p = [0.01, 0.04, 0.03, 0.005, 0.2, 0.04]
    assert holm(p) == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.2, 0.12])
    assert benjamini_hochberg(p) == pytest.approx([0.03, 0.048, 0.048, 0.03, 0.2, 0.048])


@given(P_VALUES)
@settings(deadline=None)
def test_benjamini_hochberg_is_scipys(p):
    oracle = stats.false_discovery_control(p) if p else []
    assert benjamini_hochberg(p) == pytest.approx(list(oracle))


@given(P_VALUES)
@settings(deadline=None)
def test_adjusted_values_keep_the_order_and_only_grow(p):
    for adjusted in (holm(p), benjamini_hochberg(p)):
        order = sorted(range(len(p)), key=p.__getitem__)
        values = [adjusted[place] for place in order]
        assert values == sorted(values)
        assert all(old <= new <= 1 for old, new in zip(p, adjusted, strict=True))
    assert all(b <= h for b, h in zip(benjamini_hochberg(p), holm(p), strict=True))


def test_an_undefined_test_counts_as_none():
    assert holm([0.02, None, 0.03]) == [0.04, None, 0.04]
    assert benjamini_hochberg([None, 0.03, 0.02]) == [None, 0.03, 0.03]


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_is_no_p_value_is_refused(adjust):
    with pytest.raises(UsageError, match=r"1\.5 is not between 0 and 1"):
        adjust([0.5, 1.5])


@given(COUNTS, COUNTS)
@settings(deadline=None)
def test_exact_mcnemar_is_the_binomial_test(b, c):
    p = mcnemar(b, c).p
    assert p == pytest.approx(stats.binomtest(b, b + c).pvalue if b + c else 1, abs=1e-12)
    assert mcnemar(c, b).p == p


@given(COUNTS, COUNTS)
@settings(deadline=None)
def test_mid_p_takes_the_observed_count_off_once(b, c):
    expected = 1.0
    if b + c:
        expected = stats.binomtest(b, b + c).pvalue - stats.binom.pmf(b, b + c, 0.5)
    expected = 1.0 if b == c else expected
    assert mcnemar(b, c, variant="mid-p").p == pytest.approx(expected, abs=1e-12)


def test_mcnemars_variants_are_rs():
    # R 4.2.2: mcnemar.test(matrix(c(0, 4, 14, 0), 2)) gives 4.5 and 0.03389485
    corrected = mcnemar(14, 4, variant="chi-square-corrected")
    assert (corrected.statistic, corrected.p) == pytest.approx((4.5, 0.033894853524689295))
    plain = mcnemar(14, 4, variant="chi-square")
    assert (plain.statistic, plain.p) == pytest.approx((100 / 18, 0.01842212545409897))
    assert mcnemar(14, 4).p == pytest.approx(0.0308837890625)
    # By hand: 0.0308837890625 - choose(18, 4) / 2^18
    assert mcnemar(14, 4, variant="mid-p").p == pytest.approx(0.0308837890625 - 3060 / 2**18)


def test_where_nothing_differs_only_the_binomial_variants_have_a_p():
    assert mcnemar(0, 0).p == 1
    assert mcnemar(0, 0, variant="mid-p").p == 1
    for variant in ("chi-square", "chi-square-corrected"):
        test = mcnemar(0, 0, variant=variant)
        assert test.p is None
        assert test.reason == "no item on which the two differ"
    # R corrects only where the counts differ: mcnemar.test(matrix(c(0, 3, 3, 0), 2)) gives p 1.
    assert mcnemar(3, 3, variant="chi-square-corrected").p == 1


def test_an_unknown_variant_is_refused_with_a_guess():
    with pytest.raises(UsageError, match="Did you mean 'mid-p'"):
        mcnemar(1, 2, variant="midp")
    with pytest.raises(UsageError, match="negative"):
        mcnemar(-1, 2)
    assert set(MCNEMAR) == {"exact", "mid-p", "chi-square", "chi-square-corrected"}


def test_discordant_counts_each_side():
    assert discordant([True, True, False, False], [True, False, True, True]) == (1, 2)
    with pytest.raises(UsageError, match="first has 1 values, second has 2 values"):
        discordant([True], [True, False])


@pytest.mark.golden
def test_mcnemar_of_the_published_studies(shared):
    rows = json.loads((shared / "golden/portuguese/expected/mcnemar.json").read_text("utf-8"))
    for row in rows:
        b, c = row["only_a"], row["only_b"]
        for key, variant in (
            ("p_exact", "exact"),
            ("p_chi2", "chi-square"),
            ("p_chi2_cc", "chi-square-corrected"),
        ):
            assert mcnemar(b, c, variant=variant).p == pytest.approx(row[key], rel=1e-9)
    stories = json.loads(
        (shared / "golden/stories/expected_paired_story_class.json").read_text("utf-8")
    )
    for pair in stories.values():
        test = mcnemar(pair["only_first_correct"], pair["only_second_correct"])
        assert test.p == pytest.approx(pair["mcnemar_exact_p"], rel=1e-9)


def test_cochrans_q_by_hand():
    table = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]]
    rows = [[bool(cell) for cell in row] for row in table]
    test = cochran_q(rows, Design.independent(7), seed=1)
    # By hand: columns 6 3 2, rows 2 1 3 0 2 2 1: 2 (3 * 49 - 121) / (33 - 23)
    assert test.statistic == pytest.approx(5.2)
    assert test.p == pytest.approx(stats.chi2.sf(5.2, 2))
    assert test.freedom == 2


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=5, max_size=60))
@settings(deadline=None)
def test_cochrans_q_of_two_models_is_mcnemars_chi_square(rows):
    test = cochran_q(rows, Design.independent(len(rows)), seed=1)
    pair = mcnemar(*discordant(*zip(*rows, strict=True)), variant="chi-square")
    if pair.p is None:
        assert test.p is None
        assert test.reason
    else:
        assert (test.statistic, test.p) == pytest.approx((pair.statistic, pair.p))


def test_cochrans_q_refuses_ragged_rows_and_one_model():
    for table in ([[True, False], [True]], [[True], [False]]):
        with pytest.raises(UsageError, match="two or more models"):
            cochran_q(table, Design.independent(2), seed=1)
    with pytest.raises(UsageError, match="units has 3"):
        cochran_q([[True, False]], Design.independent(3), seed=1)
    assert cochran_q([], Design.independent(0), seed=1).reason == "no items"


def test_cochrans_q_of_clusters_is_that_of_all_exchanges_counted():
    table = [[1, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 1, 0], [1, 0, 1]]
    clusters = ("a", "a", "b", "b", "c", "c", "d", "e")
    rows = [[bool(cell) for cell in row] for row in table]
    test = cochran_q(rows, Design(tuple(range(8)), clusters), seed=3)
    plain = cochran_q(rows, Design.independent(8), seed=3)
    assert test.statistic == plain.statistic
    groups = [
        [row for row, name in zip(table, clusters, strict=True) if name == c] for c in "abcde"
    ]
    reached = []
    for orders in itertools.product(itertools.permutations(range(3)), repeat=5):
        mixed = [
            [bool(row[place]) for place in order]
            for group, order in zip(groups, orders, strict=True)
            for row in group
        ]
        columns = [sum(column) for column in zip(*mixed, strict=True)]
        reached.append(sum(c**2 for c in columns) >= 7**2 + 4**2 + 2**2)
    exact = sum(reached) / len(reached)
    assert 0.05 < exact < 0.95
    # Four standard errors of a proportion of 9,999 draws.
    assert test.p == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 9999) ** 0.5)


def test_shares_of_independent_items_are_tested_by_mcnemar():
    first = [True] * 14 + [False] * 4 + [True] * 22
    second = [False] * 14 + [True] * 4 + [True] * 22
    assert share_test(first, second, Design.independent(40)) == mcnemar(14, 4)
    with pytest.raises(UsageError, match="units has 39"):
        share_test(first, second, Design.independent(39))


def test_shares_of_clusters_are_tested_by_the_test_of_their_interval():
    generator = np.random.default_rng(4)
    design = Design(tuple(range(60)), tuple(np.repeat(range(20), 3).tolist()))
    first, second = (generator.random((2, 60)) < [[0.8], [0.5]]).tolist()
    test = share_test(first, second, design)
    # p is 1 - level of the interval that ends at 0.
    ends = [share_difference(first, second, design, level=1 - test.p + e) for e in (-1e-6, 1e-6)]
    assert ends[0].low > 0 > ends[1].low
    # Clusters of one size: near the t test of their means.
    gaps = np.subtract(np.array(first, dtype=float), second)
    oracle = stats.ttest_1samp(gaps.reshape(20, 3).mean(axis=1), 0)
    assert test.p == pytest.approx(oracle.pvalue, rel=1)
    assert share_test(first, first, design).p == 1


def test_where_all_items_differ_the_same_way_clusters_are_counted():
    design = Design(tuple(range(24)), tuple(np.repeat(range(8), 3).tolist()))
    assert share_test([True] * 24, [False] * 24, design).p == mcnemar(8, 0).p
    assert share_test([False] * 24, [True] * 24, design).p == mcnemar(0, 8).p
