"""Values of regions as columns are those that one would compute a region at a time."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.io.tables import LEFT_OUT, REQUESTS, TOKENS
from cimento.io.values import stretches, totals
from cimento.measures import NoValue, region_metric, region_values, scores, total
from cimento.measures.regions import NOTHING_BEGINS, region_columns, with_equal_costs
from cimento.measures.scores import NOT_ASKED, NOTHING_SCORED
from cimento.suites import METRICS

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)


@settings(deadline=None)
@given(st.lists(st.lists(FINITE, max_size=12), max_size=8))
def test_totals_are_sums_from_left_to_right_to_the_last_bit(parts):
    offsets = np.cumsum([0, *map(len, parts)])
    values = np.array([value for part in parts for value in part], dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = totals(values, offsets).tolist()
    for summed, part in zip(sums, parts, strict=True):
        expected = total(part)
        assert summed == expected or (math.isnan(summed) and math.isnan(expected))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), max_size=8))
def test_stretches_are_ranges_one_after_the_other(ranges):
    first = np.array([begin for begin, _ in ranges], dtype=np.int64)
    lengths = np.array([length for _, length in ranges], dtype=np.int64)
    expected = [number for begin, length in ranges for number in range(begin, begin + length)]
    assert stretches(first, lengths).tolist() == expected


@st.composite
def answered(draw):
    """Tables of one to four stimuli that share texts, and of tokens with gaps and odd spans."""
    n_texts = draw(st.integers(1, 3))
    length = 12
    asked, tokens = [], []
    for number in range(draw(st.integers(1, 4))):
        cuts = sorted(draw(st.lists(st.integers(0, length), min_size=1, max_size=3)))
        edges = [0, *cuts, length]
        text = draw(st.integers(0, n_texts - 1))
        for region, (start, end) in enumerate(pairwise(edges), 1):
            place = (f"item {number // 2}", f"c{number % 2}", region)
            needed = draw(st.booleans())
            asked.append((text, "suite", *place, "ab.cd, ef.!?", "", start, end, needed))
    named = draw(st.booleans())
    for text in range(n_texts):
        edges = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
        for position, (start, end) in enumerate(pairwise(edges)):
            if draw(st.integers(0, 9)) == 0:
                continue
            logprob = draw(st.one_of(st.floats(-9, 0), st.sampled_from([None, -1.0])))
            reason = None if logprob is not None else draw(st.sampled_from([None, "why", LEFT_OUT]))
            region = 1 if named and draw(st.booleans()) else None
            token = (text, position, f"t{position}", None, start, end, logprob, reason, region)
            tokens.append(token)
    schema = TOKENS.polars(present=["region"])
    columns = [
        *("request", "position", "token", "token_id", "start", "end"),
        *("logprob_nats", "unscored_reason", "region"),
    ]
    table = pl.DataFrame(tokens, schema={name: schema[name] for name in columns}, orient="row")
    return table, pl.DataFrame(asked, schema=REQUESTS.polars(), orient="row")


def covers(span, tokens):
    """Whether tokens in one unbroken row reach from the first character to the last."""
    first = [t["position"] for t in tokens if t["start"] <= span[0] < t["end"]]
    last = [t["position"] for t in tokens if t["start"] < span[1] <= t["end"]]
    if not first or not last:
        return False
    return all(
        any(t["position"] == number for t in tokens) for number in range(first[0], last[-1] + 1)
    )


def region_by_region(tokens, rows, metric, final_marks):
    """What the docstring of `region_columns` says, a region at a time."""
    spans = [(row["start"], row["end"]) for row in rows]
    filled = [k for k, (start, end) in enumerate(spans) if start < end]
    inside = {k: [] for k in range(len(spans))}
    for token in tokens:
        if token["region"] is not None:
            inside[token["region"] - 1].append(token)
        elif filled:
            before = [k for k in filled if spans[k][0] <= token["start"]]
            inside[before[-1] if before else filled[0]].append(token)
    named = any(token["region"] is not None for token in tokens)
    whole = bool(filled) and covers((spans[filled[0]][0], spans[filled[-1]][1]), tokens)
    for k, row in enumerate(rows):
        kept = inside[k]
        if spans[k][0] < spans[k][1] and not named:
            if not (row["needed"] or whole or covers(spans[k], tokens)):
                yield NoValue(NOT_ASKED)
                continue
            if not kept:
                yield NoValue(NOTHING_BEGINS if tokens else NOTHING_SCORED)
                continue
        end = spans[k][0] + len(row["text"][slice(*spans[k])].rstrip(".,!?"))
        if final_marks == "drop" and end > spans[k][0]:
            kept = [token for token in kept if token["start"] < end]
        yield value_of([t for t in kept if t["unscored_reason"] != LEFT_OUT], metric)


def value_of(tokens, metric):
    """The metric over tokens that count, or why there is none."""
    for token in tokens:
        if token["logprob_nats"] is None:
            reason = token["unscored_reason"]
            return NoValue(reason or f"the token {token['token']!r} has no score")
    return region_metric([0.0 - token["logprob_nats"] for token in tokens], metric=metric)


@settings(deadline=None)
@given(answered(), st.sampled_from(METRICS), st.sampled_from(["keep", "drop"]), st.integers(1, 5))
def test_regions_have_the_values_that_each_has_by_itself(tables, metric, final_marks, together):
    tokens, requests = tables
    with pytest.MonkeyPatch.context() as patched:
        # How many stimuli are gone through together makes no difference.
        patched.setattr(scores, "_STIMULI_AT_ONCE", together)
        computed = region_values(tokens, requests, metric=metric, final_marks=final_marks)
    by_text = tokens.rows_by_key("request", named=True, include_key=True)
    places = requests.partition_by("item", "condition", as_dict=True)
    for (item, condition), rows in places.items():
        tokens_of_text = by_text.get(rows["request"][0], [])
        expected = region_by_region(tokens_of_text, rows.to_dicts(), metric, final_marks)
        assert computed.values[item][condition] == tuple(expected)


def test_the_metric_must_be_known():
    with pytest.raises(Exception, match="no metric 'sums'"):
        region_values(
            pl.DataFrame(schema=TOKENS.polars()),
            pl.DataFrame(schema=REQUESTS.polars()),
            metric="sums",
        )


@settings(deadline=None)
@given(answered(), st.sampled_from(METRICS))
def test_equal_costs_by_counts_are_those_of_tokens_with_equal_costs(tables, metric):
    tokens, requests = tables
    columns = region_columns(tokens, requests, metric=metric).with_equal_costs(metric)
    expected = region_columns(with_equal_costs(tokens), requests, metric=metric)
    assert columns.unit == expected.unit == "nats"
    np.testing.assert_array_equal(columns.values, expected.values)
    texts = columns.texts.texts(), expected.texts.texts()
    reasons = (columns.reasons.tolist(), expected.reasons.tolist())
    named, others = (
        [t[n] if n >= 0 else "" for n in r] for t, r in zip(texts, reasons, strict=True)
    )
    assert named == others
