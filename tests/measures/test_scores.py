"""Measures of the sentences of a run, from its tables."""

from __future__ import annotations

import math

import polars as pl
import pytest

from cimento.io.tables import LEFT_OUT, NO_LEFT_CONTEXT, SCORES, TOKENS
from cimento.measures import NOT_ASKED, find_measure, find_measures
from cimento.measures.regions import with_first_tokens
from cimento.measures.scores import each_cost, each_sentence, scores_table
from tests.helpers.judging import make_suite, requests_of, word_tokens

LN2 = math.log(2)
PAIRS = [{"good": "ab cd | ef", "bad": "ab cd | ef gh"}, {"good": "ij", "bad": "ij kl"}]


def suite_of(formula="(*;%good%) < (*;%bad%)", items=PAIRS):
    return make_suite([formula], items)


def table_of(suite, tokens, *measures, **options):
    scored = each_sentence(tokens, requests_of(suite), **options)
    return scores_table(scored, find_measures(measures))


def test_the_scores_table_has_a_row_for_each_sentence_and_measure():
    suite = suite_of()
    table = table_of(suite, word_tokens(suite, 2.0), "lp", "mean-word", "mean-char")
    assert table.schema == pl.Schema(SCORES.polars())
    rows = table.filter(pl.col("item") == "1").rows()
    assert rows == [
        ("test", "1", "good", "lp", -6.0, "nats", None),
        ("test", "1", "good", "mean-word", -2.0, "nats per word", None),
        ("test", "1", "good", "mean-char", -0.75, "nats per character", None),
        ("test", "1", "bad", "lp", -8.0, "nats", None),
        ("test", "1", "bad", "mean-word", -2.0, "nats per word", None),
        ("test", "1", "bad", "mean-char", -8 / 11, "nats per character", None),
    ]


def test_a_sentence_of_which_a_part_was_not_asked_has_no_score_but_a_reason():
    suite = suite_of("(2;%good%) < (2;%bad%)", PAIRS[:1])
    tokens = word_tokens(suite, 1.0).filter(pl.col("start") > 0)
    table = table_of(suite, tokens, "lp")
    assert table["value"].to_list() == [None, None]
    assert set(table["unscored_reason"]) == {NOT_ASKED}


def test_an_unscored_token_leaves_its_sentence_without_measures():
    suite = suite_of()
    tokens = unscored_first(word_tokens(suite, 1.0))
    table = table_of(suite, tokens, "lp", "meanlp")
    assert set(table["value"]) == {None}
    assert set(table["unscored_reason"]) == {NO_LEFT_CONTEXT}


def unscored_first(tokens):
    first = pl.col("position") == 0
    return tokens.with_columns(
        logprob_nats=pl.when(first).then(None).otherwise(pl.col("logprob_nats")),
        unscored_reason=pl.when(first).then(pl.lit(NO_LEFT_CONTEXT)).otherwise(None),
    )


@pytest.mark.parametrize(
    ("rule", "lp", "mean"), [("drop", [-4, -6, None, -2], [-2, -2, None, -2]),
                             ("zero", [-4, -6, 0, -2], [-4 / 3, -1.5, 0, -1])]
)  # fmt: skip
def test_first_tokens_can_be_left_out_or_cost_nothing(rule, lp, mean):
    suite = suite_of()
    tokens = with_first_tokens(unscored_first(word_tokens(suite, 2.0)), rule)
    table = table_of(suite, tokens, "lp", "meanlp")
    assert table.filter(pl.col("measure") == "lp")["value"].to_list() == lp
    assert table.filter(pl.col("measure") == "meanlp")["value"].to_list() == pytest.approx(mean)
    lost = table.filter(pl.col("value").is_null())["unscored_reason"]
    assert set(lost) == ({LEFT_OUT} if rule == "drop" else set())


def test_columns_of_the_table_reach_the_measures():
    suite = suite_of(items=[{"good": "ab", "bad": "cd"}])
    tokens = word_tokens(suite, 1.0).with_columns(
        logit=pl.Series([0.0, 800.0]), log_sigmoid_sum=pl.Series([1.0, 2.0])
    )
    table = table_of(suite, tokens, "lp-l", "lp-nl")
    assert table["value"].to_list() == pytest.approx([-LN2, -LN2 - 1, 0.0, -2.0])


def test_costs_turn_measures_of_which_the_better_has_more():
    suite = suite_of(items=[{"good": "ab", "bad": "cd"}])
    scored = list(each_sentence(word_tokens(suite, [1.0, 3.0]), requests_of(suite)))
    cost = {
        name: costs for item, name, costs in each_cost(scored, find_measure("lp")) if item == "1"
    }
    assert cost == {"good": (1.0,), "bad": (3.0,)}
    cost = {
        name: costs for item, name, costs in each_cost(scored, find_measure("ppl")) if item == "1"
    }
    assert cost["bad"] == pytest.approx((math.exp(3),))


def test_the_tokens_schema_lists_the_columns():
    assert set(TOKENS.optional) >= {"logit", "log_sigmoid_sum", "entropy_nats", "rank"}
