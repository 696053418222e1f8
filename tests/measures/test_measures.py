"""From scored tokens to region values: the metrics, who owns a token, and what has no value."""

from __future__ import annotations

import json
import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import TableError, UsageError
from cimento.io.tables import TOKENS
from cimento.measures import (
    NOT_ASKED,
    NoValue,
    region_metric,
    region_values,
    surprisal_bits,
    total,
)
from cimento.suites import METRICS
from tests.helpers.judging import make_suite, requests_of, word_tokens

SURPRISALS = st.lists(st.floats(0, 1e6), min_size=1, max_size=8)


def table(rows, **extra):
    """A tokens table from (position, start, end, logprob_nats) rows of request 0."""
    full = [(0, position, "t", 0, start, end, value, None) for position, start, end, value in rows]
    tokens = pl.DataFrame(full, schema=TOKENS.polars(), orient="row")
    kinds = {"region": pl.Int32, "surprisal_bits": pl.Float64}
    return tokens.with_columns(
        pl.Series(name, values, dtype=kinds[name]) for name, values in extra.items()
    )


def values_of(text, tokens, *, metric="sum", formula="(*;%a%) > 0"):
    """The region values of a suite of one stimulus, by default with all regions asked for."""
    suite = make_suite([formula], [{"a": text}])
    return region_values(tokens, requests_of(suite), metric=metric).values["1"]["a"]


def test_one_bit_is_the_surprisal_of_a_coin():
    assert surprisal_bits(math.log(0.5)) == 1.0
    assert math.copysign(1, surprisal_bits(0.0)) == 1


def test_sums_are_taken_from_left_to_right_and_every_step_is_rounded():
    assert total([0.1, 0.2, 0.3]) == 0.6000000000000001  # 0.6 where the sum is compensated
    assert total([1e16, 1.0, 1.0, -1e16]) == 0.0
    ones = [1e16, *[1.0] * 100]
    assert total(ones) == 1e16  # numpy adds in pairs and comes to 1e16 + 100
    assert total([]) == 0


@pytest.mark.parametrize(
    ("metric", "value"),
    [("sum", 18), ("mean", 4.5), ("median", 3.5), ("range", 9), ("max", 10), ("min", 1)],
)
def test_the_six_metrics(metric, value):
    assert region_metric([3.0, 10.0, 1.0, 4.0], metric=metric) == value


@pytest.mark.parametrize("metric", METRICS)
def test_only_the_sum_over_nothing_is_a_number(metric):
    value = region_metric([], metric=metric)
    if metric == "sum":
        assert value == 0
    else:
        assert value == NoValue(f"the {metric} over no token is undefined")


def test_an_unknown_metric_is_refused():
    with pytest.raises(UsageError, match="no metric 'total'"):
        region_metric([1.0], metric="total")


@given(SURPRISALS)
@settings(deadline=None)
def test_metrics_lie_where_they_must(surprisals):
    low, high = min(surprisals), max(surprisals)
    for metric in ("mean", "median", "max", "min"):
        value = region_metric(surprisals, metric=metric)
        assert low * (1 - 1e-12) <= value <= high * (1 + 1e-12)
    assert region_metric(surprisals, metric="range") == high - low
    assert region_metric(surprisals, metric="sum") == pytest.approx(math.fsum(surprisals))


@given(st.permutations([(0, 0, 2, -1.0), (1, 3, 5, -2.0), (2, 5, 6, -4.0), (3, 7, 9, -8.0)]))
@settings(deadline=None)
def test_a_token_belongs_to_the_region_where_it_begins(rows):
    assert values_of("ab | cde | fg", table(rows)) == (1, 6, 8)


def test_the_order_of_the_rows_does_not_matter_but_that_of_the_tokens_does():
    rows = [(0, 0, 1, -0.1), (1, 1, 2, -0.2), (2, 2, 3, -0.3)]
    for shown in (rows, rows[::-1]):
        assert values_of("abc", table(shown)) == (0.6000000000000001,)


def test_a_token_before_every_region_belongs_to_the_first_that_has_text():
    rows = [(0, -1, -1, -1.0), (1, 0, 2, -2.0), (2, 3, 5, -4.0)]
    assert values_of("| ab | cd", table(rows)) == (0, 3, 4)


def test_a_token_that_begins_in_a_region_and_leaves_it_stays_there():
    # The last region has text, but no token of its own: it has no value.
    values = values_of("ab | cd | ef", table([(0, 0, 2, -1.0), (1, 3, 8, -2.0)]))
    assert values == (1, 2, NoValue("no token begins in this region"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("| ab | cd", (0, 1, 2)), ("ab | | cd", (1, 0, 2)), ("ab | cd | |", (1, 2, 0, 0))],
)
def test_an_empty_region_gets_no_token_and_its_sum_is_nothing(text, expected):
    assert values_of(text, table([(0, 0, 2, -1.0), (1, 3, 5, -2.0)])) == expected


def test_other_metrics_of_an_empty_region_are_undefined():
    tokens = table([(0, 0, 2, -1.0), (1, 3, 5, -2.0)])
    values = values_of("ab | | cd", tokens, metric="mean")
    assert values == (1, NoValue("the mean over no token is undefined"), 2)


def test_the_source_may_name_the_regions_even_empty_ones():
    tokens = table([(0, -1, -1, -1.0), (1, -1, -1, -2.0), (2, -1, -1, -4.0)], region=[1, 1, 3])
    assert values_of("ab | cd | ", tokens) == (3, 0, 4)


def test_a_region_that_there_is_not_is_refused():
    tokens = table([(0, 0, 2, -1.0)], region=[3])
    with pytest.raises(TableError, match="region 3 of 2"):
        values_of("ab | cd", tokens)


def test_recorded_bits_are_summed_as_they_were_recorded():
    tokens = table([(0, 0, 1, -0.1), (1, 1, 2, -0.1)], surprisal_bits=[0.1, 0.2])
    result = region_values(
        tokens, requests_of(make_suite(["(1;%a%) > 0"], [{"a": "ab"}])), metric="sum"
    )
    assert result.unit == "bits"
    assert result.values["1"]["a"] == (0.1 + 0.2,)


def test_bits_that_are_not_there_for_every_token_are_not_used():
    tokens = table([(0, 0, 1, -1.0), (1, 1, 2, -2.0)], surprisal_bits=[9.0, None])
    result = region_values(
        tokens, requests_of(make_suite(["(1;%a%) > 0"], [{"a": "ab"}])), metric="sum"
    )
    assert result.unit == "nats"
    assert result.values["1"]["a"] == (3,)


def test_an_unscored_token_leaves_its_region_without_value_and_says_why():
    tokens = table([(0, 0, 2, None), (1, 3, 5, -2.0)]).with_columns(
        unscored_reason=pl.Series(["first token without left context", None])
    )
    values = values_of("ab | cd", tokens)
    assert values == (NoValue("first token without left context"), 2)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("metric", METRICS)
def test_a_score_that_is_no_number_gives_no_value(value, metric):
    values = values_of("ab | cd", table([(0, 0, 2, value), (1, 3, 5, -2.0)]), metric=metric)
    assert isinstance(values[0], NoValue)
    assert "'t'" in values[0].reason
    assert not isinstance(values[1], NoValue)


def test_what_was_not_asked_for_is_not_nothing():
    only_second = table([(1, 3, 5, -2.0)])
    values = values_of("ab | cd | ef", only_second, formula="(2;%a%) > 0")
    assert values == (NoValue(NOT_ASKED), 2, NoValue(NOT_ASKED))


def test_a_part_of_what_was_not_asked_for_is_not_all_of_it():
    # Another condition asked for the end of the same text.
    suite = make_suite(["(2;%b%) > 0"], [{"a": "ab cd |", "b": "ab | cd"}])
    values = region_values(table([(1, 3, 5, -2.0)]), requests_of(suite), metric="sum").values["1"]
    assert values == {"a": (NoValue(NOT_ASKED), 0), "b": (NoValue(NOT_ASKED), 2)}


def test_a_gap_in_what_was_not_asked_for_is_noticed():
    ends = table([(0, 0, 2, -1.0), (2, 6, 8, -4.0)])
    assert values_of("ab cd ef | gh", ends, formula="(2;%a%) > 0")[0] == NoValue(NOT_ASKED)


def test_what_was_not_needed_but_is_there_has_its_value():
    everything = table([(0, 0, 2, -1.0), (1, 3, 5, -2.0), (2, 6, 8, -4.0)])
    assert values_of("ab | cd | ef", everything, formula="(2;%a%) > 0") == (1, 2, 4)


def test_a_sentence_without_any_token_has_no_values():
    nothing = table([]).cast(TOKENS.polars())
    assert values_of("ab | | cd", nothing) == (
        NoValue("no token of this sentence was scored"),
        0,
        NoValue("no token of this sentence was scored"),
    )


def test_one_text_may_stand_in_several_conditions_with_other_regions():
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": "ab | cd ef", "b": "ab cd | ef"}])
    tokens = word_tokens(suite, [1.0, 2.0, 4.0])
    values = region_values(tokens, requests_of(suite), metric="sum").values["1"]
    assert values == {"a": (1, 6), "b": (3, 4)}


@given(st.lists(st.floats(0, 50), min_size=6, max_size=6))
@settings(deadline=None)
def test_the_regions_of_a_sentence_add_up_to_it(surprisals):
    suite = make_suite(["(*;%a%) > 0"], [{"a": "ab cd | ef | | gh ij kl"}])
    tokens = word_tokens(suite, surprisals)
    values = region_values(tokens, requests_of(suite), metric="sum").values["1"]["a"]
    assert math.fsum(values) == pytest.approx(math.fsum(surprisals))


@pytest.mark.golden
def test_golden_metric_of_an_empty_region(shared):
    path = shared / "golden/syntaxgym/metrics/empty_region.json"
    reference = json.loads(path.read_text(encoding="utf-8"))["values"]
    assert set(reference) == set(METRICS)
    for metric, value in reference.items():
        # By design: where the reference returns NaN or stops, the value is missing.
        ours = region_metric([], metric=metric)
        assert ours == value if isinstance(value, float) else isinstance(ours, NoValue)
