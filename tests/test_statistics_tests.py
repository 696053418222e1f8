"""Paired tests and the adjustment of many p-values."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento.errors import UsageError
from cimento.statistics.multiple import benjamini_hochberg, holm
from cimento.statistics.paired import (
    MCNEMAR,
    cochran_q,
    discordant,
    mcnemar,
    one_sample_t,
    paired_t,
)
from cimento.statistics.values import ALL_EQUAL, TOO_FEW

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
        assert all(own <= new <= 1 for own, new in zip(p, adjusted, strict=True))
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
        found = mcnemar(0, 0, variant=variant)
        assert found.p is None
        assert found.reason == "no item on which the two differ"
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
        found = mcnemar(pair["only_first_correct"], pair["only_second_correct"])
        assert found.p == pytest.approx(pair["mcnemar_exact_p"], rel=1e-9)


def test_cochrans_q_by_hand():
    table = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]]
    found = cochran_q([[bool(cell) for cell in row] for row in table])
    # By hand: columns 6 3 2, rows 2 1 3 0 2 2 1: 2 (3 * 49 - 121) / (33 - 23)
    assert found.statistic == pytest.approx(5.2)
    assert found.p == pytest.approx(stats.chi2.sf(5.2, 2))
    assert found.freedom == 2


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
@settings(deadline=None)
def test_cochrans_q_of_two_models_is_mcnemars_chi_square(rows):
    found = cochran_q(rows)
    pair = mcnemar(*discordant(*zip(*rows, strict=True)), variant="chi-square")
    if pair.p is None:
        assert found.p is None
        assert found.reason
    else:
        assert (found.statistic, found.p) == pytest.approx((pair.statistic, pair.p))


def test_cochrans_q_refuses_ragged_rows_and_one_model():
    for table in ([[True, False], [True]], [[True], [False]]):
        with pytest.raises(UsageError, match="two or more models"):
            cochran_q(table)
    assert cochran_q([]).reason == "no items"


def test_t_tests_are_scipys():
    generator = np.random.default_rng(5)
    x, y = generator.normal(size=17), generator.normal(0.4, 1, 17)
    oracle = stats.ttest_rel(x, y)
    found = paired_t(x, y)
    assert (found.statistic, found.p, found.freedom) == pytest.approx(
        (oracle.statistic, oracle.pvalue, oracle.df)
    )
    oracle = stats.ttest_1samp(x, 0.3)
    found = one_sample_t(x, mean=0.3)
    assert (found.statistic, found.p) == pytest.approx((oracle.statistic, oracle.pvalue))


def test_t_tests_without_spread_have_a_reason():
    assert one_sample_t([2.0]).reason == TOO_FEW
    assert one_sample_t([2.0, 2.0, 2.0]).reason == ALL_EQUAL
    assert paired_t([1.0, 2.0], [0.5, 1.5]).p is None
    with pytest.raises(UsageError, match="1 of 2 values are NaN"):
        one_sample_t([float("nan"), 1.0])
    with pytest.raises(UsageError, match="not all values are numbers"):
        one_sample_t(["a", "b"])
