"""Predictions that contradict each other; the oracle is linear programming."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cimento import Meta, Prediction, Suite
from cimento.suites.checks import contradictions as module
from cimento.suites.checks.contradictions import can_hold, contradictions
from cimento.suites.formula import Arithmetic, Comparison, Number, Reference


def with_predictions(*formulas, n_regions=3):
    return Suite(
        meta=Meta(name="test"),
        region_names=tuple("r" * n_regions),
        predictions=tuple(Prediction(formula) for formula in formulas),
        items=(),
    )


BOTH = "The predictions 'prediction 0' and 'prediction 1' contradict each other"


@pytest.mark.parametrize(
    ("formulas", "message"),
    [
        (
            ["(1;%a%) < (1;%b%)", "(1;%b%) < (1;%a%)"],
            BOTH,
        ),
        (
            ["(1;%a%) < (1;%b%)", "(2;%a%) < (2;%b%)", "(1;%a%) = (1;%b%)"],
            "The predictions 'prediction 0' and 'prediction 2' contradict each other: no item",
        ),
        (
            ["(1;%a%) < (1;%b%)", "(1;%a%) < (1;%a%)"],
            "The prediction 'prediction 1' can never hold.",
        ),
        (["(1;%a%) > 5 & (1;%a%) < 4"], "The prediction 'prediction 0' can never hold."),
        (
            ["(1;%a%) < (1;%b%)", "(1;%b%) < (1;%c%)", "(1;%c%) < (1;%a%)"],
            "The 3 predictions can never hold together.",
        ),
        (
            ["(1;%a%) > (1;%b%) + 1", "(1;%a%) < (1;%b%) + 1"],
            BOTH,
        ),
        (
            ["(*;%a%) < (*;%b%)", "(1;%a%) > (1;%b%) & (2;%a%) > (2;%b%) & (3;%a%) > (3;%b%)"],
            BOTH,
        ),
        (
            ["(1;%a%) < (1;%b%) | (1;%b%) < (1;%a%)", "(1;%a%) = (1;%b%)"],
            BOTH,
        ),
    ],
)
def test_predictions_that_cannot_hold_together_are_named(formulas, message):
    [warning] = contradictions(with_predictions(*formulas))
    assert warning.startswith(message)


@pytest.mark.parametrize(
    "formulas",
    [
        [],
        ["(1;%a%) < (1;%b%)"],
        ["(1;%a%) < (1;%b%)", "(1;%a%) < (1;%b%)"],
        ["(1;%a%) < (1;%b%)", "(1;%b%) < (1;%c%)", "(1;%a%) < (1;%c%)"],
        ["(1;%a%) < (1;%b%)", "(2;%a%) = (2;%b%)"],
        ["(1;%a%) < (1;%b%) | (2;%a%) < (2;%b%)", "(1;%b%) < (1;%a%)"],
        ["(*;%a%) < (*;%b%)", "(1;%a%) > (1;%b%)"],
        ["&".join(f"(1;%c{i}%) < (1;%c{i + 1}%)" for i in range(20))],
    ],
)
def test_ordinary_predictions_give_no_warning(formulas):
    assert contradictions(with_predictions(*formulas)) == []


def test_what_is_too_large_to_decide_gives_no_warning():
    either = "((1;%a%) < (1;%b%) | (1;%b%) < (1;%a%))"
    suite = with_predictions(" & ".join([either] * 9), "(1;%a%) = (1;%b%)")
    assert contradictions(suite) == []


VARIABLES = [Reference(number, name) for name in "ab" for number in (1, 2)]


@st.composite
def sums(draw):
    tree = draw(st.sampled_from(VARIABLES))
    for _ in range(draw(st.integers(0, 3))):
        term = draw(st.sampled_from(VARIABLES) | st.builds(Number, st.integers(-2, 2).map(float)))
        tree = Arithmetic(draw(st.sampled_from("+-")), tree, term)
    return tree


def linear(tree):
    """Coefficients of the four variables, and the constant."""
    if isinstance(tree, Arithmetic):
        left, right = linear(tree.left), linear(tree.right)
        return left + right if tree.operator == "+" else left - right
    row = np.zeros(5)
    if isinstance(tree, Number):
        row[4] = tree.value
    else:
        row[VARIABLES.index(tree)] = 1
    return row


@given(
    st.lists(st.builds(Comparison, st.sampled_from("<>="), sums(), sums()), min_size=1, max_size=6)
)
@settings(deadline=None)
def test_whether_inequalities_can_hold_is_what_linear_programming_says(comparisons):
    # Maximize a slack s <= 1 with s <= every strict difference: solvable iff the best s > 0.
    strict, equal = [], []
    for comparison in comparisons:
        row = linear(comparison.left) - linear(comparison.right)
        if comparison.operator == "=":
            equal.append(row)
        else:
            strict.append(row if comparison.operator == ">" else -row)
    oracle = linprog(
        c=[0, 0, 0, 0, -1],
        A_ub=[[*-row[:4], 1] for row in strict] or None,
        b_ub=[row[4] for row in strict] or None,
        A_eq=[[*row[:4], 0] for row in equal] or None,
        b_eq=[-row[4] for row in equal] or None,
        bounds=[(None, None)] * 4 + [(None, 1)],
    )
    assume(oracle.status in {0, 2})
    expected = oracle.status == 0 and -oracle.fun > 1e-7
    assert can_hold(comparisons, n_regions=2) == expected


@pytest.mark.golden
def test_golden_suites_contradict_themselves_only_where_it_is_known(shared):
    by_suite = {}
    for path in (shared / "golden/syntaxgym/suites").glob("*/*.json"):
        source = json.loads(path.read_text(encoding="utf-8"))
        suite = with_predictions(
            *(prediction["formula"] for prediction in source["predictions"]),
            n_regions=len(source["region_meta"]),
        )
        by_suite[f"{path.parent.name}/{path.stem}"] = contradictions(suite)
    assert len(by_suite) == 68
    warned = {name: warnings for name, warnings in by_suite.items() if warnings}
    assert set(warned) == {"bracket/fgd_hierarchy", "paren/fgd_hierarchy"}
    for [warning] in warned.values():
        assert warning.startswith(
            "The predictions 'prediction 0' and 'prediction 1' contradict each other"
        )


def test_of_very_many_predictions_not_every_two_are_compared(monkeypatch):
    solved = []
    monkeypatch.setattr(module, "_solvable", lambda system: not solved.append(system))
    formulas = [f"({number % 2 + 1};%a%) < {number}" for number in range(1000)]

    assert contradictions(with_predictions(*formulas)) == []
    assert len(solved) <= 1000 + module.MOST_SYSTEMS + 1
