"""Margins do not depend on the order in which rows are in the tables."""

from __future__ import annotations

import polars as pl
import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Run, Suite, evaluate


def with_tokens(run: Run, tokens: pl.DataFrame) -> Run:
    """The run with another table of tokens."""
    tables = {"tokens": tokens, "requests": run.table("requests")}
    return Run(
        suite=run.suite,
        paradigm=run.paradigm,
        options=run.options,
        manifest=run.manifest,
        tables=tables,
    )


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
    tokens = run.table("tokens")
    shuffled = tokens.sample(fraction=1.0, shuffle=True, seed=seed)
    assert shuffled["position"].to_list() != tokens["position"].to_list()

    expected = run.outcomes()
    assert with_tokens(run, shuffled).outcomes().equals(expected)
    (first, second) = expected["value"]
    assert first == second
    assert first is not None
    assert expected["item"].to_list() == ["1", "2"]


def test_a_text_without_tokens_has_its_reason(run: Run) -> None:
    some = run.table("tokens").filter(pl.col("request") != 0)
    outcomes = with_tokens(run, some).outcomes()

    assert outcomes["verdict"].to_list() == ["unscored", "unscored"]
    assert all("good" in reason for reason in outcomes["reason"])
