"""Means over BLiMP's datasets beside its published figures, in everything that shows runs."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from cimento import Estimate, RunSummary, UsageError, open_runs
from cimento.cli.main import invoke
from cimento.documents import REPORT_FORMS
from cimento.evaluation.callback import logged_means
from cimento.report.benchmarks import (
    benchmark_differences,
    benchmark_means,
    datasets_grid,
    means_grid,
)
from cimento.report.grid import as_csv
from cimento.suites.published_results import BLIMP_MODELS, blimp_datasets

ISLANDS = ("adjunct_island", "wh_island")
PAIRS = ("The cat that they saw sleeps.", "The cat that they saw sleep.")


def summary(suite: str, accuracy: float | None, *, model: str = "m") -> RunSummary:
    """A run whose headline is known."""
    headline = Estimate(
        suite=suite, model=model, question="all predictions", role="headline", right=1, n=1000,
        near_tied=0, value=accuracy, reason="" if accuracy else "no scores",
    )  # fmt: skip
    return RunSummary(
        suite=suite, paradigm="regions", model=model, model_kind="causal", language="en",
        n_items=1000, folder=None, options={"measure": "lp"}, estimates=(headline,),
    )  # fmt: skip


def test_a_phenomenon_is_the_mean_of_its_datasets_and_the_whole_that_of_all():
    accuracies = {"adjunct_island": 0.9, "wh_island": 0.7, "causative": 0.4, "transitive": 0.6}
    accuracies["npi_present_1"] = 0.5
    runs = [summary(*pair) for pair in accuracies.items()] + [summary("mine", 1.0)]
    means = {mean.phenomenon: mean for mean in benchmark_means(runs)}

    islands, overall = means["island_effects"], means[""]
    assert (islands.value, islands.n_suites, islands.of_suites) == (pytest.approx(0.8), 2, 8)
    # (89.4 + 78.9) / 2 of GPT-2, (94.0 + 85.3) / 2 of people: the released files
    published = [blimp_datasets()[name].published for name in ISLANDS]
    for model in ("gpt2", "people"):
        expected = sum(figures[model] for figures in published) / 2
        assert islands.published[model] == pytest.approx(expected)
    assert published[0]["gpt2"] + published[1]["gpt2"] == pytest.approx(0.894 + 0.789)

    assert overall.value == pytest.approx(0.62)
    assert (overall.n_suites, overall.of_suites, overall.n_phenomena) == (5, 67, 3)
    assert overall.low is None
    assert overall.reason == "3 phenomena: an interval needs 5 or more"


@pytest.mark.parametrize(("model", "interval"), [("gpt2", (77.3, 88.7)), ("lstm", (56.4, 83.2))])
def test_the_mean_over_blimp_is_for_other_phenomena(model, interval):
    # The intervals are those of the review, by its own CR2 and bootstrap over the 12 phenomena.
    runs = [summary(name, one.published[model]) for name, one in blimp_datasets().items()]
    means = {mean.phenomenon: mean for mean in benchmark_means(runs)}
    overall = means[""]
    assert (100 * overall.low, 100 * overall.high) == pytest.approx(interval, abs=0.05)
    assert (overall.target, overall.n_phenomena) == ("phenomena", 12)
    # Of one phenomenon the interval is for other datasets of it: Student's t where they are five.
    raising = [
        one.published[model]
        for one in blimp_datasets().values()
        if one.phenomenon == "control_raising"
    ]
    low, high = stats.t.interval(0.95, 4, sum(raising) / 5, stats.sem(raising))
    of_five = means["control_raising"]
    assert (of_five.low, of_five.high) == pytest.approx((low, min(1.0, high)))
    assert (of_five.target, of_five.n_phenomena) == ("suites", 1)


def with_ends(suite: str, accuracy: float, half: float, *, model: str = "m") -> RunSummary:
    """A run whose headline has an interval for other items."""
    run = summary(suite, accuracy, model=model)
    head = replace(run.estimates[0], low=accuracy - half, high=accuracy + half)
    return replace(run, estimates=(head,))


def test_the_interval_for_other_items_of_these_datasets_is_beside_it_on_request():
    runs = [with_ends("adjunct_island", 0.8, 0.03), with_ends("wh_island", 0.6, 0.04)]
    [islands, _] = benchmark_means(runs)
    # sqrt(.03² + .04²) / 2
    ends = (islands.items_low, islands.items_high)
    assert ends == (pytest.approx(0.675), pytest.approx(0.725))
    assert islands.low is None
    shown, asked = (as_csv(datasets_grid(runs, these_suites=asked)) for asked in (False, True))
    assert "these datasets" not in shown
    assert ",these datasets,,70.0,67.5,72.5,2," in asked


def test_two_models_are_compared_over_datasets_by_phenomenon():
    some = [*blimp_datasets()][::4]
    first = [summary(name, blimp_datasets()[name].published["lstm"], model="a") for name in some]
    second = [summary(name, blimp_datasets()[name].published["gpt2"], model="b") for name in some]
    differences = {one.phenomenon: one for one in benchmark_differences([*first, *second])}
    overall = differences[""]
    gaps = [blimp_datasets()[name].published for name in some]
    assert overall.value == pytest.approx(
        sum(one["gpt2"] - one["lstm"] for one in gaps) / len(gaps)
    )
    assert overall.n_phenomena == len({blimp_datasets()[name].phenomenon for name in some})
    # p at most .05 exactly where the interval leaves 0 out
    assert (overall.p <= 0.05) == (overall.low > 0 or overall.high < 0)
    text = as_csv(datasets_grid([*first, *second]))
    assert "second_minus_first_percent_low" in text
    assert any("b minus a [lp]: +" in note for note in datasets_grid([*first, *second]).notes)


def test_a_mean_that_lacks_a_dataset_is_undefined():
    runs = [summary(name, 0.8) for name in ISLANDS]
    means = benchmark_means([*runs, summary("wh_island", 0.6, model="other")])
    [islands, overall] = [mean for mean in means if mean.model == "other"]
    assert islands.value is overall.value is None
    assert islands.reason == "1 of these 2 datasets have no accuracy"

    means = benchmark_means([summary("adjunct_island", None), *runs[1:]])
    assert [mean.value for mean in means] == [None, None]


@pytest.mark.parametrize("suites", [(), ("mine", "yours"), ("wh_island", "mine")])
def test_fewer_than_two_datasets_have_no_mean(suites):
    assert benchmark_means([summary(suite, 0.5) for suite in suites]) == ()


def test_the_table_of_datasets_has_their_means():
    runs = [summary("adjunct_island", 0.9), summary("wh_island", 0.7), summary("causative", None)]
    rows = [line.split(",") for line in as_csv(datasets_grid(runs)).splitlines()]
    ends = ("", "_low", "_high", "_n", "_reason")
    assert rows[0][2:] == [
        "n",
        *(f"m_lp_percent{end}" for end in ends),
        *(f"published_{n.replace(' ', '_')}_percent" for n in BLIMP_MODELS),
    ]
    by_name = {row[1]: [row[2], row[3], *row[8:]] for row in rows[1:]}
    assert by_name["adjunct_island"] == ["1000", "90.0", "47.9", "67.4", "64.5", "89.4", "94.0"]
    assert by_name["mean of 2"][:2] == ["2", "80.0"]
    assert by_name["causative"][1] == by_name["mean of 3 of 67"][1] == ""


def test_a_table_of_datasets_needs_one():
    with pytest.raises(UsageError, match="none of the runs is of a dataset"):
        datasets_grid([summary("mine", 1.0)])


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    """Runs of two models on two datasets of four pairs each."""
    folder = tmp_path_factory.mktemp("blimp")
    for name in ISLANDS:
        good, bad = PAIRS
        rows = [
            {"sentence_good": good, "sentence_bad": bad, "UID": name, "pairID": str(number)}
            for number in range(4)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    models = ["-m", "demo-causal", "-m", "demo-masked"]
    assert invoke(["run", str(folder), *models, "-o", str(folder / "runs"), "--no-cache"]) == 0
    return folder


@pytest.mark.slow
def test_every_output_has_the_means(stored, capsys):
    runs = open_runs(stored / "runs")
    means = benchmark_means([run.summary() for run in runs])
    assert len(means) == 4
    title = means_grid(means).title
    over, asked = means_grid(means).notes[-2:]
    assert over == "Published means are over the same 2 datasets, not over all 67 of BLiMP."
    assert asked.startswith("Runs have only 8 of the 2,000 items of these datasets; published")
    for ending in (".html", ".md", ".txt"):
        assert title in REPORT_FORMS[ending](runs)
    in_json = json.loads(REPORT_FORMS[".json"](runs))["means"]
    assert [mean["value"] for mean in in_json] == [mean.value for mean in means]

    again = ["run", str(stored), "-m", "demo-causal", "-m", "demo-masked", "--no-cache"]
    assert invoke([*again, "-o", str(stored / "runs")]) == 0
    assert title in capsys.readouterr().out
    assert invoke([*again, "-o", str(stored / "runs"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["means"] == in_json


@pytest.mark.slow
def test_a_remark_on_a_measure_is_made_once_for_all_datasets(stored, tmp_path, capsys):
    run = ["run", str(stored), "-m", "demo-causal", "-o", str(tmp_path), "--no-cache"]
    assert invoke([*run, "--compat", "lm-eval"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    both = ", ".join(sorted(ISLANDS))
    for measure in ("lp", "mean-char"):
        assert shown.count(f"Judged on {measure}:") == 1
        of_measure = shown.partition(f"{both} [{measure}]:")[2].partition(f"{both} [")[0]
        assert f"Judged on {measure}:" in of_measure
    # What `surprisal` means is said where a column has that name.
    assert "surprisal: the sentence" not in shown


def test_comparisons_have_the_means(stored, capsys):
    runs = stored / "runs"
    assert invoke(["compare", str(runs), "--json"]) == 0
    several = json.loads(capsys.readouterr().out)["means"]
    assert {mean["model"].partition("@")[0] for mean in several} == {"demo-causal", "demo-masked"}

    for run in open_runs(runs):
        shutil.copytree(run.folder, stored / run.model / run.suite.name / run.folder.name)
    sides = [str(stored / model) for model in dict.fromkeys(run.model for run in open_runs(runs))]
    assert invoke(["compare", *sides, "--json"]) == 0
    two = json.loads(capsys.readouterr().out)["means"]
    values = {(mean["model"], mean["phenomenon"]): mean["value"] for mean in several}
    assert {(mean["model"], mean["phenomenon"]): mean["value"] for mean in two} == values


def test_training_logs_the_means(stored):
    runs = [run for run in open_runs(stored / "runs") if run.model.startswith("demo-causal")]
    [islands, overall] = benchmark_means([run.summary() for run in runs])
    assert logged_means(runs) == {
        "eval_BLiMP_island_effects_accuracy": islands.value,
        "eval_BLiMP_accuracy": overall.value,
    }


def test_datasets_of_blimp_are_english_and_a_remark_is_made_once(stored, tmp_path, capsys):
    assert [run.suite.meta.language for run in open_runs(stored / "runs")] == ["en"] * 4
    for name in ("one", "two", "three", "four", "five"):
        good, bad = PAIRS
        row = {"sentence_good": good, "sentence_bad": bad, "UID": name}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    output = ["-o", str(tmp_path / "runs"), "--no-cache"]
    assert invoke(["run", str(tmp_path), "-m", "demo-causal", *output]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count("does not name its language") == 1
    assert "five, four, one and 2 more suites: CIM-S033: The suite does not name" in shown


@pytest.mark.golden
def test_published_blimp_figures_are_those_of_the_released_files(shared):
    expected = json.loads(
        (shared / "golden" / "islands" / "blimp_published.json").read_text(encoding="utf-8")
    )
    known = {name: dataset.published for name, dataset in blimp_datasets().items()}
    assert len(known) == 67
    for name, values in expected["islands"].items():
        assert known[name]["gpt2"] == pytest.approx(values["gpt2"], abs=1e-9)
        assert known[name]["people"] == pytest.approx(values["human"], abs=5.01e-4)
    overall = [values["gpt2"] for values in known.values()]
    assert sum(overall) / 67 == pytest.approx(
        expected["models_summary"]["overall"]["gpt2"], abs=1e-6
    )
