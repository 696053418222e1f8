"""Items and answers are gone through side by side; their order makes no difference to verdicts."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.errors import TableError
from cimento.measures.regions import region_values
from cimento.suites.model import Suite
from cimento.verdicts.judge import judge, judge_values
from tests.judging import make_suite, requests_of, word_tokens

FORMULAS = ("(1;%a%) < (1;%b%)", "(*;%a%) < (*;%b%)")


def suite_of(count: int) -> Suite:
    return make_suite(FORMULAS, [{"a": f"x{k} | z", "b": f"y{k} | z"} for k in range(count)])


def surprisals_of(count: int) -> list[float]:
    return [float(k * 7 % 5) for k in range(4 * count)]


@settings(deadline=None, max_examples=40)
@given(
    rows=st.permutations(range(7)),
    asked=st.permutations(range(7)),
    known=st.sets(st.integers(0, 6)),
)
def test_verdicts_are_in_the_order_of_the_suite_whatever_the_order_of_the_answers(
    rows, asked, known
):
    whole = suite_of(7)
    tokens = word_tokens(whole, surprisals_of(7))
    requests = requests_of(whole)
    # Some of its items are unknown to the suite, and some of the suite's items have no answers.
    items = tuple(whole.items[number] for number in rows if number != 3)
    suite = dataclasses.replace(whole, items=items)
    by_item = [requests.filter(pl.col("item") == whole.items[n].id) for n in asked if n in known]
    given_requests = pl.concat([requests.head(0), *by_item])
    expected = judge_values(suite, region_values(tokens, given_requests, metric="sum"))

    assert judge(suite, tokens, given_requests) == expected
    assert [each.item for each in expected[::3]] == [item.id for item in items]


def test_an_item_that_comes_twice_in_a_suite_is_judged_once():
    once = suite_of(2)
    suite = dataclasses.replace(once, items=(*once.items, once.items[0]))
    verdicts = judge(suite, word_tokens(once, surprisals_of(2)), requests_of(once))
    assert [each.item for each in verdicts] == ["1"] * 3 + ["2"] * 3 + ["1"] * 3
    assert [each.verdict for each in verdicts[6:]] == ["unscored"] * 3
    assert "unscored" not in {each.verdict for each in verdicts[:6]}


@pytest.mark.parametrize("step", [1, 1000, 100_000_000])
def test_numbers_of_texts_may_have_gaps_between_them(step):
    suite = suite_of(5)
    # The same texts twice, so that some are kept until they are needed again.
    items = [dataclasses.replace(item, id=f"{item.id} again") for item in suite.items]
    suite = dataclasses.replace(suite, items=(*suite.items, *items))
    tokens, requests = word_tokens(suite, surprisals_of(5)), requests_of(suite)
    far = [t.with_columns(pl.col("request") * step + 3) for t in (tokens, requests)]
    assert judge(suite, *far) == judge(suite, tokens, requests)


def test_what_is_wrong_with_answers_is_told_though_the_suite_has_no_such_item():
    suite = suite_of(2)
    tokens = word_tokens(suite, 1.0).with_columns(region=pl.lit(1, dtype=pl.Int32))
    wrong = tokens.with_columns(region=pl.col("request") + 1)
    first = dataclasses.replace(suite, items=suite.items[:1])
    assert judge(first, tokens, requests_of(suite))
    with pytest.raises(TableError, match="said to be in region 3 of 2"):
        judge(first, wrong, requests_of(suite))
