"""Margins beside length and frequency; oracles: hand counts and least squares by numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Suite, evaluate
from cimento.paradigms.regions.covariates import FREQUENCY, TOKENS, WORDS, margin_covariates
from cimento.statistics.regression import CONSTANT_TERM
from cimento.testing import FakeScorer
from tests.helpers.command_line import invoke

# Two sides of each item, in words: the second is longer by 0 to 3 words.
PAIRS = [
    ("luna", "sole"),
    ("luna alta", "sole basso e rosso"),
    ("mare", "monte verde e alto"),
    ("via", "strada lunga"),
    ("porta", "finestra"),
    ("rosa gialla", "erba secca ormai"),
    ("casa", "torre antica"),
]
COSTS = {"luna": 3.0, "mare": 1.0, "torre": 9.0, "erba": 2.5, "via": 4.0}


def suite(pairs):
    items = tuple(
        Item(
            id=str(number),
            conditions=tuple(
                Condition(name=name, regions=(Region(text=text),))
                for name, text in zip(("good", "bad"), pair, strict=True)
            ),
        )
        for number, pair in enumerate(pairs)
    )
    return Suite(
        meta=Meta("pairs", language="it"),
        region_names=("sentence",),
        predictions=(Prediction(formula="(*;%good%) < (*;%bad%)"),),
        items=items,
    )


def run_of(pairs):
    scorer = FakeScorer(lambda tokens, index: -math.log(2) * COSTS.get(tokens[index], 2.0))
    return evaluate(suite(pairs), scorer)


def bits(text):
    return sum(COSTS.get(word, 2.0) for word in text.split())


def letters(word):
    """Stands for the frequency of a word."""
    return float(len(word))


def fitted(pairs, *differences):
    """Least squares of the margins on differences of the two sides, by numpy."""
    margins = [bits(bad) - bits(good) for good, bad in pairs]
    columns = [[difference(*pair) for pair in pairs] for difference in differences]
    return np.linalg.lstsq(np.column_stack([np.ones(len(pairs)), *columns]), margins, rcond=None)[0]


def test_margins_are_regressed_on_differences_of_the_two_sides():
    (row,) = margin_covariates([run_of(PAIRS)], lambda _: letters)
    expected = fitted(
        PAIRS,
        lambda good, bad: len(bad.split()) - len(good.split()),
        lambda good, bad: len(good.replace(" ", "")) - len(bad.replace(" ", "")),
    )

    assert row.n == len(PAIRS)
    assert row.mean_bits == pytest.approx(np.mean([bits(b) - bits(a) for a, b in PAIRS]))
    # The tokens of the fake model are words, so that one says what the other says.
    assert row.left_out == (WORDS,)
    assert [coefficient.name for coefficient in row.coefficients] == [
        CONSTANT_TERM,
        TOKENS,
        FREQUENCY,
    ]
    assert [coefficient.value for coefficient in row.coefficients] == pytest.approx(list(expected))
    # Holm over the two slopes
    slopes = sorted(coefficient.p for coefficient in row.coefficients[1:])
    assert min(row.p_holm.values()) == pytest.approx(min(1.0, 2 * slopes[0]))


def test_what_does_not_vary_is_named_and_left_out():
    alike = [
        ("luna", "sole"),
        ("mare", "prato"),
        ("via", "torre"),
        ("porta", "finestra"),
        ("casa", "erba"),
        ("rosa", "monte"),
    ]
    (row,) = margin_covariates([run_of(alike)], lambda _: letters)
    (bare,) = margin_covariates([run_of(alike)], lambda _: None)

    assert row.left_out == (TOKENS, WORDS)
    assert [coefficient.value for coefficient in row.coefficients] == pytest.approx(
        list(fitted(alike, lambda good, bad: len(good) - len(bad)))
    )
    assert row.p_holm == {FREQUENCY: pytest.approx(row.coefficients[1].p)}
    assert [coefficient.name for coefficient in bare.coefficients] == [CONSTANT_TERM]


def test_four_items_are_too_few():
    (row,) = margin_covariates([run_of(PAIRS[:4])], lambda _: None)

    assert (row.coefficients, row.n) == ((), 4)
    assert "an interval needs 5" in row.reason


def test_the_table_is_printed_for_any_run(tmp_path, capsys):
    run = evaluate("it-subject-verb", "demo-causal", output=tmp_path)
    assert run.folder is not None
    capsys.readouterr()
    assert invoke(["report", str(run.folder), "--table", "covariates"]) == 0
    out = capsys.readouterr().out
    assert "both sides alike" in out
    assert "left out: word fewer" in out


def test_runs_without_predictions_are_refused(tmp_path, capsys):
    command = ["run", "it-idioms", "-m", "demo-masked", "--limit", "2", "-o", str(tmp_path)]
    assert invoke(command) == 0
    capsys.readouterr()
    assert invoke(["report", str(tmp_path), "--table", "covariates"]) == 2
    assert "none of the runs is of a suite with predictions" in capsys.readouterr().err
