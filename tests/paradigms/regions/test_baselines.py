"""Accuracy on the items that cheap baselines solve; oracle: hand counts."""

from __future__ import annotations

import math

import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Suite, UsageError, evaluate
from cimento.cli.main import invoke
from cimento.models.ngram_training import train
from cimento.paradigms.regions.covariates import ANY, EVERY, NONE, baseline_rates, is_baseline
from cimento.testing import FakeScorer

PAIRS = {
    "shorter": ("luna alta", "sole basso e rosso"),  # fewer words and tokens
    "longer": ("strada lunga e vuota", "via corta"),  # none
    "frequent": ("mare nero", "io nero"),  # the longer word counts as the more frequent one
    "alike": ("rosa gialla", "erba fresca"),  # the same length of all words: a tie, unsolved
}
RIGHT = {"shorter", "longer", "alike"}


def suite() -> Suite:
    items = tuple(
        Item(
            name,
            tuple(
                Condition(side, (Region(text),))
                for side, text in zip(("good", "bad"), pair, strict=True)
            ),
        )
        for name, pair in PAIRS.items()
    )
    return Suite(
        meta=Meta("pairs", language="it"),
        region_names=("sentence",),
        predictions=(Prediction("(*;%good%) < (*;%bad%)"),),
        items=items,
    )


GOOD = {good for name, (good, _) in PAIRS.items() if name in RIGHT}
LIKED = {word for text in GOOD for word in text.split()}


def score(tokens, index):
    """The good side of the items in RIGHT costs nothing."""
    return -0.01 if tokens[index] in LIKED and "io" not in tokens else -3.0


def letters(word):
    """Stands for the frequency of a word."""
    return float(len(word))


def rates(*runs, frequency=letters):
    baselines = baseline_rates(runs, lambda _language: frequency)
    return {rate.items: (rate.n, rate.accuracy) for rate in baselines}


def test_parts_of_a_suite_by_hand():
    run = evaluate(suite(), FakeScorer(score, name="model"))
    right = run.outcomes().filter(question="prediction 0", right=True)["item"]
    assert set(right) == {"shorter", "longer", "alike"}
    assert rates(run) == {
        EVERY: (4, 0.75),
        "solved by fewer tokens": (1, 1.0),
        "solved by fewer words": (1, 1.0),
        # A formula adds the values of words: 4 + 4 letters against 2 + 4, 8 against 14 (lost),
        # 17 against 8 and 10 against 10 (a tie).
        "solved by more frequent words": (2, 0.5),
        ANY: (3, pytest.approx(2 / 3)),
        NONE: (1, 1.0),
    }


def test_without_frequencies_there_is_no_such_baseline():
    run = evaluate(suite(), FakeScorer(score, name="model"))
    assert "solved by more frequent words" not in rates(run, frequency=None)


def test_an_ngram_model_among_the_runs_is_a_baseline(tmp_path):
    train(["erba fresca", "rosa gialla", "rosa gialla"], tmp_path / "two.arpa", order=2)
    runs = [evaluate(suite(), model) for model in (FakeScorer(score, name="model"),
                                                  f"kenlm:{tmp_path / 'two.arpa'}")]  # fmt: skip
    assert [is_baseline(run) for run in runs] == [False, True]
    by_items = rates(*runs, frequency=None)
    (name,) = (name for name in by_items if "two.arpa@" in name)
    assert by_items[name][0] >= 1
    assert math.isclose(by_items[ANY][0] + by_items[NONE][0], 4)


def test_baselines_alone_are_refused(tmp_path):
    train(["erba fresca", "rosa gialla"], tmp_path / "two.arpa", order=2)
    run = evaluate(suite(), f"kenlm:{tmp_path / 'two.arpa'}")
    with pytest.raises(UsageError, match="all runs are of n-gram models"):
        baseline_rates([run], lambda _language: None)


def test_the_table_is_printed(tmp_path, capsys):
    evaluate("it-subject-verb", "demo-causal", output=tmp_path)
    assert invoke(["report", str(tmp_path), "--table", "baselines"]) == 0
    assert "solved by none" in capsys.readouterr().out
