"""The order of answers, their numbers and who shares them make no difference to outcomes."""

from __future__ import annotations

import dataclasses
import functools

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Suite, TableError
from cimento.measures.regions import region_values
from tests.helpers.judging import judged, make_suite, requests_of, word_tokens

FORMULAS = ("(1;%a%) < (1;%b%)", "(*;%a%) < (*;%b%)")


def suite_of(count: int) -> Suite:
    return make_suite(FORMULAS, [{"a": f"x{k} | z", "b": f"y{k} | z"} for k in range(count)])


def surprisals_of(count: int) -> list[float]:
    return [float(k * 7 % 5) for k in range(4 * count)]


@functools.cache
def each_alone(count: int) -> list[pl.DataFrame]:
    """By hand: what each item is in a suite of its own."""
    whole = suite_of(count)
    tokens, requests = word_tokens(whole, surprisals_of(count)), requests_of(whole)
    return [
        judged(dataclasses.replace(whole, items=(item,)), tokens, requests).outcomes()
        for item in whole.items
    ]


@settings(deadline=None)
@given(
    rows=st.permutations(range(7)),
    asked=st.permutations(range(7)),
    known=st.sets(st.integers(0, 6)),
    seed=st.integers(0, 99),
)
def test_outcomes_are_in_the_order_of_the_suite_whatever_the_order_of_the_answers(
    rows, asked, known, seed
):
    whole = suite_of(7)
    tokens, requests = word_tokens(whole, surprisals_of(7)), requests_of(whole)
    alone = each_alone(7)
    # Some of its items are unknown to the suite, and some of the suite's items have no answers.
    numbers = [number for number in rows if number != 3]
    suite = dataclasses.replace(whole, items=tuple(whole.items[number] for number in numbers))
    by_item = [requests.filter(pl.col("item") == whole.items[n].id) for n in asked if n in known]
    given_requests = pl.concat([requests.head(0), *by_item])
    outcomes = judged(suite, tokens, given_requests).outcomes()

    assert outcomes["item"].to_list()[::3] == [whole.items[number].id for number in numbers]
    for number in numbers:
        of_item = outcomes.filter(outcomes["item"] == whole.items[number].id)
        if number in known:
            assert of_item.equals(alone[number])
        else:
            assert set(of_item["verdict"]) == {"unscored"}
    shuffled = [
        table.sample(fraction=1.0, shuffle=True, seed=seed) for table in (tokens, given_requests)
    ]
    assert judged(suite, *shuffled).outcomes().equals(outcomes)


SENTENCES = ("La|barca|parte.", "Le|barche|partono.", "Le|barche|parte.", "Il|gatto|dorme.")
PREDICTED = ("(3;%good%) < (3;%bad%)", "(*;%good%) < (*;%bad%)")


@settings(deadline=None)
@given(
    pairs=st.lists(st.tuples(*[st.sampled_from(SENTENCES)] * 2), min_size=1, max_size=8),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_items_that_share_sentences_are_judged_as_if_each_stood_alone(pairs, seed, data):
    suite = make_suite(PREDICTED, [{"good": good, "bad": bad} for good, bad in pairs])
    texts = len({text for pair in pairs for text in pair})
    costs = st.lists(st.sampled_from((0.5, 1.25, 3.0, 7.5)), min_size=3, max_size=3)
    surprisals = [cost for _ in range(texts) for cost in data.draw(costs)]
    unscored = data.draw(st.sets(st.integers(0, texts - 1)))
    tokens = word_tokens(suite, surprisals).filter(~pl.col("request").is_in(sorted(unscored)))
    requests = requests_of(suite)
    outcomes = judged(suite, tokens, requests).outcomes()
    for item in suite.items:
        alone = dataclasses.replace(suite, items=(item,))
        rows = judged(alone, tokens, requests.filter(pl.col("item") == item.id)).outcomes()
        assert outcomes.filter(outcomes["item"] == item.id).equals(rows)
    shuffled = [table.sample(fraction=1.0, shuffle=True, seed=seed) for table in (tokens, requests)]
    assert judged(suite, *shuffled).outcomes().equals(outcomes)


def test_items_that_share_a_sentence_each_have_its_values():
    # By hand: the second pair has the sentences of the first the other way round.
    suite = make_suite(
        ("(*;%good%) < (*;%bad%)",),
        [
            {"good": "La|barca|parte.", "bad": "La|barca|partono."},
            {"good": "La|barca|partono.", "bad": "La|barca|parte."},
        ],
    )
    tokens = word_tokens(suite, [1.0, 2.0, 3.0, 1.0, 2.0, 8.0])
    assert judged(suite, tokens).outcomes()["verdict"].to_list() == ["pass", "fail"]
    values = region_values(tokens, requests_of(suite), metric="sum")
    assert values.values["2"] == {"good": (1.0, 2.0, 8.0), "bad": (1.0, 2.0, 3.0)}


@pytest.mark.parametrize("step", [1, 1000, 100_000_000])
def test_numbers_of_texts_may_have_gaps_between_them(step):
    suite = suite_of(5)
    # The same texts twice, so that some are needed again.
    items = [dataclasses.replace(item, id=f"{item.id} again") for item in suite.items]
    suite = dataclasses.replace(suite, items=(*suite.items, *items))
    tokens, requests = word_tokens(suite, surprisals_of(5)), requests_of(suite)
    far = [table.with_columns(pl.col("request") * step + 3) for table in (tokens, requests)]
    assert judged(suite, *far).outcomes().equals(judged(suite, tokens, requests).outcomes())


def test_what_is_wrong_with_answers_is_told_though_the_suite_has_no_such_item():
    suite = suite_of(2)
    tokens = word_tokens(suite, 1.0).with_columns(region=pl.lit(1, dtype=pl.Int32))
    wrong = tokens.with_columns(region=pl.col("request") + 1)
    first = dataclasses.replace(suite, items=suite.items[:1])
    assert len(judged(first, tokens, requests_of(suite)).outcomes()) == 3
    with pytest.raises(TableError, match="said to be in region 3 of 2"):
        judged(first, wrong, requests_of(suite)).outcomes()
