"""Values of regions do not depend on the order in which rows stand in the tables."""

from __future__ import annotations

import polars as pl
import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Run, Suite, evaluate
from cimento.measures.regions import region_values


@pytest.fixture(scope="module")
def run() -> Run:
    conditions = {"good": ("La", "barca", "parte."), "bad": ("La", "barca", "partono.")}
    items = [
        Item(str(n), tuple(Condition(c, tuple(map(Region, r))) for c, r in conditions.items()))
        for n in (1, 2)
    ]
    # The second item is the first one again: both are one request each.
    suite = Suite(
        meta=Meta(name="order", language="it"),
        region_names=("article", "noun", "verb"),
        predictions=(Prediction("(*;%good%) < (*;%bad%)"),),
        items=tuple(items),
    )
    return evaluate(suite, "demo-causal")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_shuffled_tokens_make_the_same_values(run: Run, seed: int) -> None:
    tokens, requests = run.table("tokens"), run.table("requests")
    shuffled = tokens.sample(fraction=1.0, shuffle=True, seed=seed)
    assert shuffled["position"].to_list() != tokens["position"].to_list()

    expected = region_values(tokens, requests, metric="sum")
    assert region_values(shuffled, requests, metric="sum") == expected
    assert expected.values["1"] == expected.values["2"]
    assert list(expected.values["1"]) == ["good", "bad"]


def test_a_text_without_tokens_comes_last_and_has_its_reason(run: Run) -> None:
    some = run.table("tokens").filter(pl.col("request") != 0)
    values = region_values(some, run.table("requests"), metric="sum").values["1"]

    assert all(hasattr(value, "reason") for value in values["good"])
    assert all(isinstance(value, float) for value in values["bad"])
    assert list(values) == ["good", "bad"]
