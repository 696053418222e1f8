"""Pass, fail, tie or unscored: single comparisons, junctions, whole suites, published results."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento.answers import VERDICTS, validate
from cimento.errors import FormulaError, UsageError
from cimento.measures import BITS_PER_NAT, NOT_ASKED, Missing
from cimento.suites.formula import Comparison, Junction, comparisons, parse, references
from cimento.suites.model import METRICS
from cimento.verdicts.formula import Outcome, evaluate
from cimento.verdicts.judge import judge, verdicts_table
from tests.judging import joined, make_suite, requests_of, word_tokens
from tests.test_formula import FORMULAS

VALUES = {"a": (1.0, 2.5, 0.0), "b": (1.0, 3.0, 0.25), "gap": (2.0, Missing("no score"), 1.0)}
KINDS = ("pass", "fail", "tie", "unscored")

OUTCOMES = st.one_of(
    st.builds(Outcome, st.just("pass"), st.floats(1e-9, 100)),
    st.builds(Outcome, st.just("fail"), st.floats(-100, -1e-9)),
    st.just(Outcome("tie", 0.0)),
    st.builds(Outcome, st.just("unscored"), st.none(), st.sampled_from(["no score", "lost"])),
)


def verdict(formula, values=VALUES, **units):
    return evaluate(parse(formula), values, **units)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("(1;%a%) < (2;%a%)", Outcome("pass", 1.5)),
        ("(1;%a%) > (2;%a%)", Outcome("fail", -1.5)),
        ("(1;%a%) < (1;%b%)", Outcome("tie", 0.0)),
        ("(1;%a%) > (1;%b%)", Outcome("tie", 0.0)),
        ("(2;%a%) > (2;%b%) - (1;%b%)", Outcome("pass", 0.5)),
        ("(*;%b%) - (*;%a%) > 0.5", Outcome("pass", 0.25)),
        ("2.5 - 1 - 1 < 0", Outcome("fail", -0.5)),
    ],
)
def test_an_inequality_has_a_margin_in_favour_of_the_prediction(formula, expected):
    assert verdict(formula) == expected


@pytest.mark.parametrize(
    ("formula", "kind"),
    [
        # numpy 2.4.6: numpy.isclose(a, b, rtol=1e-5, atol=1e-3)
        ("1 = 1", "pass"),
        ("1 = 1.00101", "pass"),
        ("1 = 1.00102", "fail"),
        ("1000 = 1000.0109", "pass"),
        ("1000 = 1000.0111", "fail"),
        ("0 = 0.0010001", "fail"),
        ("0 - 1000 = 0 - 1000.0109", "pass"),
    ],
)
def test_equality_has_a_tolerance_and_is_never_a_tie(formula, kind):
    assert verdict(formula).verdict == kind


def test_the_margin_of_an_equality_is_what_is_left_of_the_tolerance():
    assert verdict("(1;%a%) = (1;%b%)").margin_bits == pytest.approx(0.001 + 0.00001)
    assert verdict("(1;%a%) = (2;%b%)").margin_bits == pytest.approx(0.001 + 0.00003 - 2)


def test_a_comparison_with_a_missing_value_is_unscored_and_says_which():
    assert verdict("(2;%gap%) < 5") == Outcome("unscored", None, "(2;%gap%): no score")
    assert verdict("(1;%gap%) < 5").verdict == "pass"
    assert verdict("(*;%gap%) < 5") == Outcome("unscored", None, "(*;%gap%): region 2: no score")
    assert "no such condition" in str(verdict("(1;%zz%) < 5").reason)
    assert "no such region" in str(verdict("(9;%a%) < 5").reason)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("operator", ["<", ">", "="])
def test_nan_and_infinity_decide_nothing(value, operator):
    values = {"a": (value, value, 1.0)}
    for formula in (f"(1;%a%) {operator} (2;%a%)", f"(1;%a%) {operator} (3;%a%)"):
        outcome = verdict(formula, values)
        assert outcome.verdict == "unscored"
        assert outcome.margin_bits is None
        assert outcome.reason


def test_numbers_are_meant_in_the_unit_of_the_formula():
    nats = {"a": (1.0, 2.0)}  # the difference is 1 nat = 1.4427 bits
    assert verdict("(2;%a%) - (1;%a%) > 1.4", nats, source_unit="nats").verdict == "pass"
    assert verdict("(2;%a%) - (1;%a%) > 1.45", nats, source_unit="nats").verdict == "fail"
    assert (
        verdict("(2;%a%) - (1;%a%) > 1.45", nats, source_unit="nats", unit="nats").verdict == "fail"
    )
    assert verdict("(2;%a%) - (1;%a%) < 1.1", nats, source_unit="nats", unit="nats") == Outcome(
        "pass", pytest.approx(0.1 / math.log(2))
    )
    assert verdict("(1;%a%) < (2;%a%)", nats, source_unit="nats").margin_bits == BITS_PER_NAT


def test_the_tolerance_is_meant_in_the_unit_of_the_formula():
    nats = {"a": (5.0, 5.0008)}  # apart by 0.0008 nats = 0.00115 bits; 5 nats = 7.21 bits
    assert verdict("(1;%a%) = (2;%a%)", nats, source_unit="nats", unit="nats").verdict == "pass"
    assert verdict("(1;%a%) = (2;%a%)", nats, source_unit="nats", unit="bits").verdict == "fail"


def test_ties_are_equality_of_the_sums_as_they_were_taken():
    tenths = {"a": (0.1, 0.2, 0.3)}
    # 0.1 + 0.2 is 0.30000000000000004: not a tie, but nearly one.
    outcome = verdict("(1;%a%) + (2;%a%) > (3;%a%)", tenths)
    assert outcome.verdict == "pass"
    assert outcome.margin_bits == pytest.approx(5.6e-17, rel=0.1)


@pytest.mark.parametrize(
    ("operator", "ranking"),
    [("&", ["fail", "unscored", "tie", "pass"]), ("|", ["pass", "unscored", "tie", "fail"])],
)
def test_junctions_take_the_first_verdict_of_their_ranking(operator, ranking):
    made = {
        "pass": Outcome("pass", 1.0),
        "fail": Outcome("fail", -1.0),
        "tie": Outcome("tie", 0.0),
        "unscored": Outcome("unscored", None, "no score"),
    }
    for first in KINDS:
        for second in KINDS:
            both = joined((made[first], made[second]), operator)
            assert both.verdict == min(first, second, key=ranking.index)
            unknown = "unscored" in (first, second)
            assert (both.margin_bits is None) == unknown
            assert both.reason == ("no score" if unknown else None)


@given(st.lists(OUTCOMES, min_size=1, max_size=5), st.sampled_from("&|"), st.randoms())
@settings(deadline=None)
def test_junctions_do_not_depend_on_order_or_grouping(outcomes, operator, random):
    whole = joined(outcomes, operator)
    shuffled = random.sample(outcomes, len(outcomes))
    again = joined(shuffled, operator)
    assert (again.verdict, again.margin_bits) == (whole.verdict, whole.margin_bits)
    paired = outcomes[0]
    for each in outcomes[1:]:
        paired = joined((paired, each), operator)
    assert paired == whole
    assert joined((whole, whole), operator) == whole


@given(st.lists(OUTCOMES, min_size=1, max_size=5))
@settings(deadline=None)
def test_a_margin_agrees_with_its_verdict(outcomes):
    for operator in "&|":
        both = joined(outcomes, operator)
        if both.margin_bits is None:
            continue
        sign = {"pass": 1, "fail": -1, "tie": 0}[both.verdict]
        assert math.copysign(1, both.margin_bits) == sign or both.margin_bits == sign == 0


def mirrored(tree):
    """The formula that holds where `tree` fails, for formulas without ``=``."""
    if isinstance(tree, Comparison):
        return Comparison({"<": ">", ">": "<"}[tree.operator], tree.left, tree.right)
    return Junction({"&": "|", "|": "&"}[tree.operator], mirrored(tree.left), mirrored(tree.right))


VALUE = st.one_of(
    st.floats(0, 100), st.sampled_from([0.0, 1.0, 2.0]), st.builds(Missing, st.just("lost"))
)


@given(FORMULAS, st.data())
@settings(deadline=None)
def test_or_is_the_mirror_image_of_and(tree, data):
    assume(all(each.operator != "=" for each in comparisons(tree)))
    values = {
        each.condition: data.draw(st.lists(VALUE, min_size=1, max_size=3))
        for each in references(tree)
    }
    outcome, mirror = evaluate(tree, values), evaluate(mirrored(tree), values)
    swapped = {"pass": "fail", "fail": "pass", "tie": "tie", "unscored": "unscored"}
    assert mirror.verdict == swapped[outcome.verdict]
    if outcome.margin_bits is not None:
        assert mirror.margin_bits == -outcome.margin_bits


# Whole suites


def test_every_prediction_and_their_conjunction_are_judged_in_order():
    suite = make_suite(
        ["(2;%a%) < (2;%b%)", "(1;%a%) < (1;%b%)"],
        [{"a": "x | y", "b": "u | v"}, {"a": "xx | yy", "b": "uu | vv"}],
    )
    tokens = word_tokens(suite, [1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 2.0, 1.0])
    verdicts = judge(suite, tokens, requests_of(suite))
    assert [(each.item, each.prediction, each.verdict) for each in verdicts] == [
        ("1", 0, "pass"),
        ("1", 1, "tie"),
        ("1", None, "tie"),
        ("2", 0, "fail"),
        ("2", 1, "pass"),
        ("2", None, "fail"),
    ]
    assert [each.margin_bits for each in verdicts[:3]] == [BITS_PER_NAT, 0, 0]
    assert {(each.suite, each.condition, each.unscored_reason) for each in verdicts} == {
        ("test", None, None)
    }


def test_the_table_of_verdicts_keeps_its_schema():
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x", "b": "y"}])
    lost = word_tokens(suite, [1.0, math.nan])
    table = verdicts_table(judge(suite, lost, requests_of(suite)))
    validate(table, VERDICTS, where="table")
    assert table["verdict"].to_list() == ["unscored", "unscored"]
    assert table["prediction"].to_list() == [0, None]
    assert table["margin_bits"].to_list() == [None, None]
    assert all("'y' is nan" in reason for reason in table["unscored_reason"])
    validate(verdicts_table([]), VERDICTS, where="empty")


def test_a_failed_part_decides_though_another_is_missing():
    suite = make_suite(["(1;%a%) < (1;%b%)", "(1;%a%) < (1;%c%)"], [{"a": "x", "b": "y", "c": "z"}])
    tokens = word_tokens(suite, [2.0, 1.0, math.inf])
    kinds = [each.verdict for each in judge(suite, tokens, requests_of(suite))]
    assert kinds == ["fail", "unscored", "fail"]


def test_a_suite_without_predictions_has_no_verdicts():
    suite = make_suite([], [{"a": "x", "b": "y"}])
    assert judge(suite, word_tokens(suite, 1.0), requests_of(suite)) == []


def test_other_predictions_and_metrics_need_no_model():
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x y z", "b": "u v"}])
    tokens = word_tokens(suite, [1.0, 2.0, 3.0, 2.0, 3.0])
    requests = requests_of(suite)
    assert judge(suite, tokens, requests)[0].verdict == "fail"
    assert judge(suite, tokens, requests, metric="mean")[0].verdict == "pass"
    assert judge(suite, tokens, requests, metric="max")[0].verdict == "tie"
    [first, both] = judge(suite, tokens, requests, predictions=["(1;%b%) < (1;%a%)"])
    assert first.verdict == both.verdict == "pass"
    with pytest.raises(UsageError, match="no metric 'total'"):
        judge(suite, tokens, requests, metric="total")


def test_regions_that_were_not_asked_for_leave_new_predictions_unscored():
    suite = make_suite(["(2;%a%) < (2;%b%)"], [{"a": "x | y", "b": "u | v"}])
    asked = word_tokens(suite, 1.0).filter(pl.col("position") == 1)
    [first, _] = judge(suite, asked, requests_of(suite), predictions=["(1;%a%) < (2;%b%)"])
    assert first.verdict == "unscored"
    assert first.unscored_reason == f"(1;%a%): {NOT_ASKED}"


def test_an_item_without_answers_is_unscored():
    whole = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x", "b": "y"}, {"a": "u", "b": "v"}])
    part = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x", "b": "y"}])
    verdicts = judge(whole, word_tokens(part, 1.0), requests_of(part))
    assert [each.verdict for each in verdicts] == ["tie", "tie", "unscored", "unscored"]


@pytest.mark.parametrize(
    ("formula", "column", "message"),
    [
        ("(1;%a%) < (1;%bb%)", 10, "Did you mean 'b'"),
        ("(*;%zzz%) = 0", 0, "Known: a, b"),
        ("(1;%a%) < (3;%b%)", 10, "numbered from 1 to 2"),
    ],
)
def test_a_prediction_about_what_the_suite_does_not_have_is_refused(formula, column, message):
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x | y", "b": "u | v"}])
    with pytest.raises(FormulaError) as caught:
        judge(suite, word_tokens(suite, 1.0), requests_of(suite), predictions=[formula])
    assert caught.value.column == column
    assert message in str(caught.value)


@pytest.mark.parametrize("metric", METRICS)
def test_a_constant_model_wins_nothing_and_ties_everywhere(metric):
    formulas = [
        "(2;%a%) < (2;%b%)",
        "(1;%a%) > (1;%b%) & (2;%a%) < (2;%b%)",
        "(2;%a%) - (2;%b%) > (1;%a%) - (1;%b%) | (*;%a%) < (*;%b%)",
    ]
    texts = [{"a": f"the {n} | is {n}", "b": f"an {n} | be {n}"} for n in ("one", "two", "three")]
    suite = make_suite(formulas, texts)
    verdicts = judge(suite, word_tokens(suite, 0.1), requests_of(suite), metric=metric)
    assert len(verdicts) == 12
    assert {each.verdict for each in verdicts} == {"tie"}
    assert {each.margin_bits for each in verdicts} == {0.0}
    assert not any(each.is_near_tie(1e-4) for each in verdicts)


def test_near_ties_are_decided_by_next_to_nothing():
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x", "b": "y"}, {"a": "u", "b": "v"}])
    tokens = word_tokens(suite, [1.0, 1.000001, 1.0, 1.00001])
    verdicts = judge(suite, tokens, requests_of(suite))
    assert [each.is_near_tie(1e-5) for each in verdicts] == [True, True, False, False]
    assert [each.is_near_tie(1e-7) for each in verdicts] == [False] * 4
