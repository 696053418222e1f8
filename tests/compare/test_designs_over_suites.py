"""Means over suites are of proportions; designs, which are summed up by DD, are left out."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

import cimento
from cimento import evaluate
from cimento.compare import compare_before_after
from cimento.suites.design import predictions_of, squares
from cimento.testing import FakeScorer
from tests.helpers.command_line import invoke
from tests.helpers.designs import island_suite

LN2 = math.log(2)
RIGHT = {"first": (1, 2, 3, 1, 0), "second": (2, 4, 3, 2, 1)}
"""Of four items, how many each model gets right on each of five suites."""
DESIGN = island_suite({"whether": ["1", "2", "3", "4", "5", "6"]}, name="whether-islands")
SAID = "Without designs, which are compared by DD: whether-islands."


def suite_of(number: int) -> cimento.Suite:
    """Four pairs whose bad verbs are named by suite and item."""
    rows = [(f"La gatta {k} dorme.", f"La gatta {k} dormi{number}x{k}.") for k in range(4)]
    suite = cimento.pairs(rows, name=f"verbs-{number}", language="it")
    return dataclasses.replace(
        suite, meta=dataclasses.replace(suite.meta, phenomenon=f"phenomenon {number}")
    )


def model(name: str) -> FakeScorer:
    """A model that finds the bad verbs it knows dear, and island violations if it is the second."""
    known = {f"dormi{n}x{k}" for n, right in enumerate(RIGHT[name]) for k in range(right)}
    costs = dict.fromkeys(known, 9.0)
    if name == "second":
        costs["longisland"] = 7.0
    # Sentences of one item differ a little, so that DDs differ.
    return FakeScorer(
        lambda tokens, index: -LN2 * (costs.get(tokens[index], 2.0) + 0.01 * len(tokens[1])),
        name=name,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs")
    formulas = tuple(one.formula for one in predictions_of(squares(DESIGN)[0]))
    for name in RIGHT:
        for number in range(5):
            evaluate(suite_of(number), model(name), output=path)
        evaluate(DESIGN, model(name), output=path, predictions=formulas)
    return path


def test_the_mean_difference_is_that_of_the_suites_with_accuracies(folder):
    runs = cimento.open_runs(folder)
    first, second = ([run for run in runs if run.model.startswith(name)] for name in RIGHT)
    # The design's accuracy goes from 0 to 1, which would make the mean (1.25 + 1) / 6 = .375.
    *_, overall = compare_before_after(first, second).differences
    # python3 -c "from scipy import stats; print(stats.ttest_1samp([.25, .5, 0, .25, .25], 0))"
    # statistic=3.1623 pvalue=0.0341
    assert overall.value == pytest.approx(0.25)
    assert overall.p == pytest.approx(0.0341, abs=5e-5)
    assert (overall.n_suites, overall.n_phenomena) == (5, 5)
    assert {one.phenomenon for one in compare_before_after(first, second).differences} == {
        "", *(f"phenomenon {number}" for number in range(5))
    }  # fmt: skip
    assert SAID in compare_before_after(first, second).grids()["differences"].notes


def test_command_and_site_say_the_same_number_and_what_it_leaves_out(folder, tmp_path, capsys):
    assert invoke(["compare", str(folder), "--details"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Mean differences of accuracy over suites" in printed
    assert SAID in printed
    assert "DD" in printed.split("Mean differences")[0], "the design is compared by DD"
    assert invoke(["compare", str(folder), "--json"]) == 0
    [overall] = [
        one for one in json.loads(capsys.readouterr().out)["differences"] if not one["phenomenon"]
    ]
    assert (overall["value"], overall["n_suites"]) == (pytest.approx(0.25), 5)
    site = tmp_path / "site"
    assert invoke(["report", str(folder), "--site", str(site)]) == 0
    board = (site / "index.html").read_text("utf-8")
    assert SAID in board
    assert "+0.250" in board
    assert "+0.375" not in board
    # By suite, by phenomenon, by language: no accuracy of a design.
    assert board.count("reported by DD") == 2
    assert "1.000 [0.610, 1.000]" not in board
