"""Paired differences of two models' DDs: by hand, in comparisons, findings, reports and sites."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest

from cimento import Prediction, compare, evaluate, report
from cimento.app.conclusions import results_beside
from cimento.app.words import words
from cimento.cli.main import invoke
from cimento.compare.methods import comparison_methods
from cimento.documents.findings import findings_of
from cimento.paired.designs import design_differences
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.suites.design import ISLAND_CONDITIONS
from cimento.testing import FakeScorer
from tests.helpers.benchmarks import say_fetched_from
from tests.helpers.designs import island_suite

ITEMS = {"whether": [f"w{k}" for k in range(12)], "subject": [f"s{k}" for k in range(12)]}
DD = "((*;%long_island%) - (*;%short_island%)) - ((*;%long_nonisland%) - (*;%short_nonisland%)) > 0"
EFFECT = {"high": {"whether": 4.0, "subject": 1.0}, "low": {"whether": 1.0, "subject": 1.0}}
"""What both changes cost beyond each alone in two models, in nats, before noise."""


def costs_of(model: str) -> dict[tuple[str, str], float]:
    """Item and condition to the surprisal of its sentence in nats."""
    generator = np.random.default_rng(sorted(EFFECT).index(model) + 5)
    return {
        (item, condition): generator.normal(20, 0.5)
        + (EFFECT[model][phenomenon] if condition == "long_island" else 0.0)
        for phenomenon, items in ITEMS.items()
        for item in items
        for condition in ISLAND_CONDITIONS
    }


def model(name: str) -> FakeScorer:
    """A model whose costs are at the word that names the condition."""
    costs = {(i, c.replace("_", "")): cost for (i, c), cost in costs_of(name).items()}
    return FakeScorer(
        lambda tokens, at: -costs[tokens[1], tokens[2]] if at == 2 else -1.0, name=name
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    made = island_suite(ITEMS, name="islands")
    suite = dataclasses.replace(made, predictions=(Prediction(DD, name="DD"),))
    folder = tmp_path_factory.mktemp("designs")
    return [evaluate(suite, model(name), measures="lp", output=folder / name) for name in EFFECT]


def nats_by_hand(name: str, item: str) -> float:
    cost = {condition: costs_of(name)[item, condition] for condition in ISLAND_CONDITIONS}
    of_long = cost["long_island"] - cost["short_island"]
    return of_long - (cost["long_nonisland"] - cost["short_nonisland"])


def test_differences_are_by_item_with_the_test_of_their_mean(runs):
    found = design_differences(runs)
    assert [one.phenomenon for one in found] == list(ITEMS)
    for one in found:
        gaps = [nats_by_hand("low", i) - nats_by_hand("high", i) for i in ITEMS[one.phenomenon]]
        assert one.n == len(gaps) == 12
        expected = mean_of(gaps, Design.independent(12), seed=0)
        assert one.change.value == pytest.approx(np.mean(gaps))
        assert (one.change.low, one.change.high) == pytest.approx((expected.low, expected.high))
        assert one.change.p == pytest.approx(expected.p)
    # Holm (1979) of two: the smaller p twice, the larger no less than that.
    p_values = [one.change.p for one in found]
    least = 2 * min(p_values)
    expected = [least if p == min(p_values) else max(least, p) for p in p_values]
    assert [one.corrected for one in found] == pytest.approx(expected)
    assert {one.family for one in found} == {2}


def test_a_comparison_has_them_first_and_in_json(runs, capsys):
    comparison = compare(*runs)
    assert [one.change.value for one in comparison.designs] == [
        one.change.value for one in design_differences(runs)
    ]
    grids = comparison.grids()
    assert next(iter(grids)) == "dd-pairs"
    assert not any(row[1].endswith(": DD") for row in grids["values"].text)
    folders = [str(run.folder) for run in runs]
    assert invoke(["compare", *folders, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["designs"]
    assert [one["phenomenon"] for one in printed] == list(ITEMS)
    assert invoke(["compare", *folders, folders[0]]) != 0


def test_the_methods_of_a_comparison_say_how_they_were_tested(runs):
    said = comparison_methods(compare(*runs))
    assert "Differences of DD, the difference of differences, are paired by item" in said
    assert "with p corrected by Holm's method (Holm 1979) over 2 tests." in said


def test_findings_say_which_model_has_the_larger_effect(runs):
    [part] = findings_of(runs).parts
    said = " ".join(part.sentences)
    assert part.about == "DD"
    assert re.search(r"\bhigh\S* has a larger DD than low\S* in whether \(by \d\.\d\d \w+ \[", said)
    assert "No other difference of DDs is significant (lowest: p" in said
    assert "Differences of DDs are paired by item" in " ".join(findings_of(runs).notes)


def test_a_report_has_a_table_of_them_and_a_site_shows_dd_in_place_of_accuracy(runs, tmp_path):
    page = report(runs, tmp_path / "page.html").read_text("utf-8")
    assert "DD, paired by item" in page
    folders = [str(run.folder) for run in runs]
    assert invoke(["report", *folders, "--site", str(tmp_path / "site")]) == 0
    board = (tmp_path / "site/index.html").read_text("utf-8")
    cell = re.findall(r'<td class="cell".*?</td>', board, re.DOTALL)[0]
    assert "whether" in cell
    assert "the effect" in cell
    assert "rank" not in cell
    assert "has a larger DD than" in board
    assert "reported by DD" in board


def test_dd_is_what_the_app_and_leaderboards_show_of_a_design(runs, tmp_path):
    high = runs[0]
    mean = np.mean([nats_by_hand("high", item) for item in ITEMS["whether"]])
    shown = results_beside([high.folder])[0].number(words("en"))
    assert shown.startswith(f"DD (nats): whether {mean:.2f} [")
    assert re.search(r"; subject −?\d\.\d\d \[.*\]$", shown)
    folders = [str(run.folder) for run in runs]
    for folder in folders:
        say_fetched_from(Path(folder), "lab/suites")
    options = ["--to", "eval-results", "--dataset", "lab/suites", "-o", str(tmp_path)]
    assert invoke(["export", *folders, *options]) == 0
    [path] = tmp_path.glob("high*/.eval_results/suites.yaml")
    text = path.read_text("utf-8")
    values = [float(value) for value in re.findall(r"^  value: (.*)$", text, re.MULTILINE)]
    assert values[0] == pytest.approx(mean)
    assert len(values) == 2
    assert "DD of whether; nats; 95% interval [" in text
    assert "all predictions" not in text
