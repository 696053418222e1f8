"""Pass, fail, tie or unscored: single comparisons, junctions, whole suites, published results."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.errors import FormulaError
from cimento.io.tables import validate_table
from cimento.measures import BITS_PER_NAT, NOT_ASKED, NoValue
from cimento.paradigms.regions.predictions import Evaluation, evaluate_item
from cimento.records.outcomes import OUTCOMES as TABLE
from cimento.suites import METRICS
from cimento.suites.formula import Comparison, Junction, comparisons, parse, references
from cimento.suites.naming import ALL_PREDICTIONS as ALL
from tests.helpers.judging import joined, judged, make_suite, requests_of, word_tokens
from tests.suites.test_formula import FORMULAS

VALUES = {"a": (1.0, 2.5, 0.0), "b": (1.0, 3.0, 0.25), "gap": (2.0, NoValue("no score"), 1.0)}
KINDS = ("pass", "fail", "tie", "unscored")

OUTCOMES = st.one_of(
    st.builds(Evaluation, st.just("pass"), st.floats(1e-9, 100)),
    st.builds(Evaluation, st.just("fail"), st.floats(-100, -1e-9)),
    st.just(Evaluation("tie", 0.0)),
    st.builds(Evaluation, st.just("unscored"), st.none(), st.sampled_from(["no score", "lost"])),
)


def verdict(formula, values=VALUES, **units):
    return evaluate_item(parse(formula), values, **units)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("(1;%a%) < (2;%a%)", Evaluation("pass", 1.5)),
        ("(1;%a%) > (2;%a%)", Evaluation("fail", -1.5)),
        ("(1;%a%) < (1;%b%)", Evaluation("tie", 0.0)),
        ("(1;%a%) > (1;%b%)", Evaluation("tie", 0.0)),
        ("(2;%a%) > (2;%b%) - (1;%b%)", Evaluation("pass", 0.5)),
        ("(*;%b%) - (*;%a%) > 0.5", Evaluation("pass", 0.25)),
        ("2.5 - 1 - 1 < 0", Evaluation("fail", -0.5)),
    ],
)
def test_an_inequality_has_a_margin_in_favor_of_the_prediction(formula, expected):
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
    assert verdict("(2;%gap%) < 5") == Evaluation("unscored", None, "(2;%gap%): no score")
    assert verdict("(1;%gap%) < 5").verdict == "pass"
    assert verdict("(*;%gap%) < 5") == Evaluation("unscored", None, "(*;%gap%): region 2: no score")
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
    assert verdict("(2;%a%) - (1;%a%) < 1.1", nats, source_unit="nats", unit="nats") == Evaluation(
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
        "pass": Evaluation("pass", 1.0),
        "fail": Evaluation("fail", -1.0),
        "tie": Evaluation("tie", 0.0),
        "unscored": Evaluation("unscored", None, "no score"),
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
    for outcome in outcomes[1:]:
        paired = joined((paired, outcome), operator)
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
    st.floats(0, 100), st.sampled_from([0.0, 1.0, 2.0]), st.builds(NoValue, st.just("lost"))
)


@given(FORMULAS, st.data())
@settings(deadline=None)
def test_or_is_the_mirror_image_of_and(tree, data):
    assume(all(comparison.operator != "=" for comparison in comparisons(tree)))
    values = {
        reference.condition: data.draw(st.lists(VALUE, min_size=1, max_size=3))
        for reference in references(tree)
    }
    outcome, mirror = evaluate_item(tree, values), evaluate_item(mirrored(tree), values)
    swapped = {"pass": "fail", "fail": "pass", "tie": "tie", "unscored": "unscored"}
    assert mirror.verdict == swapped[outcome.verdict]
    if outcome.margin_bits is not None:
        assert mirror.margin_bits == -outcome.margin_bits


# Whole suites


def verdicts_of(run):
    """Item, question and verdict of each outcome."""
    return list(run.outcomes().select("item", "question", "verdict").iter_rows())


def test_every_prediction_and_their_conjunction_are_judged_in_order():
    suite = make_suite(
        ["(2;%a%) < (2;%b%)", "(1;%a%) < (1;%b%)"],
        [{"a": "x | y", "b": "u | v"}, {"a": "xx | yy", "b": "uu | vv"}],
    )
    run = judged(suite, word_tokens(suite, [1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 2.0, 1.0]))
    assert verdicts_of(run) == [
        ("1", "prediction 0", "pass"),
        ("1", "prediction 1", "tie"),
        ("1", ALL, "tie"),
        ("2", "prediction 0", "fail"),
        ("2", "prediction 1", "pass"),
        ("2", ALL, "fail"),
    ]
    outcomes = run.outcomes()
    assert outcomes["value"].to_list()[:3] == [BITS_PER_NAT, 0, 0]
    assert set(outcomes.select("suite", "unit", "reason").iter_rows()) == {("test", "bits", None)}


def test_the_table_of_outcomes_keeps_its_schema():
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x", "b": "y"}])
    table = judged(suite, word_tokens(suite, [1.0, math.nan])).outcomes()
    validate_table(table, TABLE, where="table")
    [row] = table.iter_rows(named=True)
    assert (row["question"], row["verdict"], row["value"]) == ("prediction 0", "unscored", None)
    assert "'y' is nan" in row["reason"]
    nothing = make_suite([], [])
    validate_table(judged(nothing, word_tokens(nothing, 1.0)).outcomes(), TABLE, where="empty")


def test_a_failed_part_decides_though_another_is_missing():
    suite = make_suite(["(1;%a%) < (1;%b%)", "(1;%a%) < (1;%c%)"], [{"a": "x", "b": "y", "c": "z"}])
    run = judged(suite, word_tokens(suite, [2.0, 1.0, math.inf]))
    assert run.outcomes()["verdict"].to_list() == ["fail", "unscored", "fail"]


def test_the_n_of_a_conjunction_does_not_depend_on_what_else_holds():
    # Of both items without the second value one fails the first prediction and one passes it.
    costs = [
        1.0,
        1.0,
        2.0,
        2.0,
        2.0,
        1.0,
        1.0,
        2.0,
        1.0,
        math.nan,
        2.0,
        2.0,
        2.0,
        math.nan,
        1.0,
        2.0,
    ]
    first, second = "(1;%a%) < (1;%b%)", "(2;%a%) < (2;%b%)"
    for formulas in ([first, second], [f"({first}) & ({second})"]):
        suite = make_suite(formulas, [{"a": f"x{k} | y", "b": f"u{k} | v"} for k in range(4)])
        run = judged(suite, word_tokens(suite, costs))
        rows = run.outcomes().filter(
            pl.col("question") == (ALL if second in formulas else "prediction 0")
        )
        [whole] = [one for one in run.estimates() if one.role == "headline"]

        assert rows["verdict"].to_list() == ["pass", "fail", "unscored", "fail"]
        assert rows["right"].to_list() == [True, False, None, None]
        assert (whole.n, whole.right, whole.failed, whole.unscored) == (2, 1, 1, 2)


def test_a_suite_without_predictions_has_no_verdicts():
    suite = make_suite([], [{"a": "x", "b": "y"}])
    assert verdicts_of(judged(suite, word_tokens(suite, 1.0))) == []


def test_other_predictions_and_metrics_need_no_model():
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x y z", "b": "u v"}])
    run = judged(suite, word_tokens(suite, [1.0, 2.0, 3.0, 2.0, 3.0]))

    def verdict_by(**options):
        [(_, _, decided)] = verdicts_of(run.judge(**options))
        return decided

    assert verdict_by() == "fail"
    assert verdict_by(metric="mean") == "pass"
    assert verdict_by(metric="max") == "tie"
    assert verdict_by(predictions=["(1;%b%) < (1;%a%)"]) == "pass"
    with pytest.raises(UsageError, match="metric"):
        run.judge(metric="total")


def test_regions_that_were_not_asked_for_leave_new_predictions_unscored():
    suite = make_suite(["(2;%a%) < (2;%b%)"], [{"a": "x | y", "b": "u | v"}])
    asked = word_tokens(suite, 1.0).filter(pl.col("position") == 1)
    [row] = judged(suite, asked, predictions=["(1;%a%) < (2;%b%)"]).outcomes().iter_rows(named=True)
    assert row["verdict"] == "unscored"
    assert row["reason"] == f"(1;%a%): {NOT_ASKED}"


def test_an_item_without_answers_is_unscored():
    whole = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x", "b": "y"}, {"a": "u", "b": "v"}])
    part = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x", "b": "y"}])
    run = judged(whole, word_tokens(part, 1.0), requests_of(part))
    assert run.outcomes()["verdict"].to_list() == ["tie", "unscored"]


@pytest.mark.parametrize(
    ("formula", "column", "message"),
    [
        ("(1;%a%) < (1;%bb%)", 10, "Did you mean 'b'"),
        ("(*;%zzz%) = 0", 0, "Its conditions: a, b"),
        ("(1;%a%) < (3;%b%)", 10, "numbered from 1 to 2"),
    ],
)
def test_a_prediction_about_what_the_suite_does_not_have_is_refused(formula, column, message):
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x | y", "b": "u | v"}])
    run = judged(suite, word_tokens(suite, 1.0), predictions=[formula])
    with pytest.raises(FormulaError) as caught:
        run.outcomes()
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
    run = judged(suite, word_tokens(suite, 0.1), metric=metric, near_tie_bits=1e-4)
    outcomes = run.outcomes()
    assert len(outcomes) == 12
    assert set(outcomes["verdict"]) == {"tie"}
    assert set(outcomes["value"]) == {0.0}
    assert [estimate.near_tied for estimate in run.estimates()] == [0] * 4


def test_near_ties_are_decided_by_next_to_nothing():
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "x", "b": "y"}, {"a": "u", "b": "v"}])
    run = judged(suite, word_tokens(suite, [1.0, 1.000001, 1.0, 1.00001]))
    [some] = run.judge(near_ties=1e-5).estimates()
    [none] = run.judge(near_ties=1e-7).estimates()
    assert (some.passed, some.near_tied) == (2, 1)
    assert (none.passed, none.near_tied) == (2, 0)
