"""Stored runs of every kind, judged again by `cimento judge` as by `run.judge`."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

import cimento
from cimento import UsageError, evaluate_all, open_runs
from cimento.cli.main import invoke

SUITES = ["it-islands", "it-acceptability", "it-connectives-cloze", "es-stories"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    runs = list(evaluate_all(SUITES, "demo-causal", limit=6, output=folder, ties="pass"))
    assert len(runs) == len(SUITES)
    return folder


def judged(*arguments, capsys):
    capsys.readouterr()
    assert invoke(["judge", *map(str, arguments), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    return {run["suite"]: run for run in runs}


@pytest.mark.slow
def test_what_is_not_given_stays_as_the_run_was_judged(stored, capsys):
    again = judged(stored, capsys=capsys)
    assert again.keys() == set(SUITES)
    for run in open_runs(stored):
        summary = run.summary()
        assert again[run.suite.name]["options"] == summary.options
        assert [estimate["value"] for estimate in again[run.suite.name]["estimates"]] == [
            estimate.value for estimate in summary.estimates
        ]
    assert again["it-islands"]["options"]["ties"] == "pass"


@pytest.mark.parametrize(
    ("suite", "name", "value"),
    [
        ("it-islands", "unit", "nats"),
        ("it-acceptability", "draws", 50),
        ("it-connectives-cloze", "by", "position"),
        ("es-stories", "norm", "char"),
    ],
)
def test_options_of_every_kind_are_given_by_their_names(stored, suite, name, value, capsys):
    assignment = ["--set", f"{name}={value}"]
    again = judged(stored / suite, *assignment, capsys=capsys)[suite]
    [run] = open_runs(stored / suite)
    here = run.judge(**{name: value}).summary()
    assert again["options"] == here.options != run.summary().options
    assert [estimate["value"] for estimate in again["estimates"]] == [
        estimate.value for estimate in here.estimates
    ]


def test_an_option_of_one_kind_goes_to_the_runs_that_have_it(stored, capsys):
    again = judged(stored, "--set", "norm=char", capsys=capsys)
    assert again["es-stories"]["options"]["norm"] == "char"
    assert invoke(["judge", str(stored), "--set", "norm=char"]) == 0
    assert "option norm is not used by" in capsys.readouterr().err
    assert invoke(["judge", str(stored / "it-islands"), "--set", "norm=char"]) == 2
    assert "'regions' have no such option" in capsys.readouterr().err


def test_what_changes_the_question_is_refused(stored, capsys):
    assert invoke(["judge", str(stored / "it-connectives-cloze"), "--set", "k=3"]) == 2
    assert "option k: it changes what the model is asked" in capsys.readouterr().err


def test_items_of_runs_of_all_kinds_are_one_table(stored, capsys):
    capsys.readouterr()
    assert invoke(["judge", str(stored), "--items"]) == 0
    table = pl.read_csv(capsys.readouterr().out.encode(), separator="\t", infer_schema=False)
    assert set(table["suite"]) == set(SUITES)
    assert len(table) == sum(len(run.outcomes()) for run in open_runs(stored))


def test_scores_are_those_of_sentences(stored, tmp_path, capsys):
    assert invoke(["judge", str(stored), "--scores", "--measure", "lp"]) == 0
    table = pl.read_csv(capsys.readouterr().out.encode(), separator="\t", infer_schema=False)
    assert set(table["suite"]) == {"it-islands", "it-acceptability"}
    shutil.copytree(stored / "es-stories", tmp_path / "stories")
    assert invoke(["judge", str(tmp_path / "stories"), "--scores"]) == 2
    assert "runs of the kind stories have no scored sentences" in capsys.readouterr().err


def test_several_runs_of_one_suite_are_told_apart(tmp_path, capsys):
    first, second, copy = (tmp_path / name for name in ("first", "second", "copy"))
    for output, rule in ((first, "within-word-l2r"), (second, "original")):
        command = ["run", "it-islands", "-m", "demo-masked", "--limit", "2", "--pll", rule]
        assert invoke([*command, "-o", str(output)]) == 0
    shutil.copytree(first, copy)
    capsys.readouterr()

    def models(*folders, table):
        options = ["--items"] if table == "items" else ["--scores", "--measure", "lp"]
        assert invoke(["judge", *map(str, folders), *options]) == 0
        rows = pl.read_csv(capsys.readouterr().out.encode(), separator="\t", infer_schema=False)
        return rows["model"].unique(maintain_order=True).to_list()

    for table in ("items", "scores"):
        by_rule = models(first, second, table=table)
        assert [name.partition(" ")[2] for name in by_rule] == [
            "(pll=within-word-l2r)",
            "(pll=original)",
        ]
        by_folder = models(first, copy, table=table)
        assert ["/first/" in name for name in by_folder] == [True, False]


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    models = ["demo-causal", "demo-masked"]
    assert len(list(evaluate_all(["it-islands"], models, limit=3, output=folder))) == 2
    return folder


@pytest.fixture
def own(two, tmp_path):
    """A folder of two runs of one suite that a test may spoil."""
    return shutil.copytree(two, tmp_path / "runs")


@pytest.mark.parametrize("command", ["judge", "rerun"])
@pytest.mark.parametrize("way", ["same", "relative", "link", "link above", "inside", "of another"])
def test_stored_runs_are_never_written_to(own, command, way, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, second = sorted((own / "it-islands").iterdir())
    (tmp_path / "link").symlink_to(own, target_is_directory=True)
    (tmp_path / "above").mkdir()
    (tmp_path / "above" / "it-islands").symlink_to(own / "it-islands", target_is_directory=True)
    output = {
        "same": own,
        "relative": Path("above/../runs"),
        "link": tmp_path / "link",
        "link above": tmp_path / "above",
        "inside": first,
        "of another": second / "suite",
    }[way]
    before = content(tmp_path)
    options = ["--set", "unit=nats"] if command == "judge" else []
    assert invoke([command, str(first), *options, "-o", str(output)]) == 2
    assert "-o" in capsys.readouterr().err
    assert content(tmp_path) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "RUN", "-o", "RUN/manifest.json"],
        ["report", "RUN", "-o", "RUN/new.html"],
        ["report", "RUN", "--figure", "margins", "-o", "link/summary.json"],
        ["cite", "RUN", "-o", "RUN/manifest.json"],
        ["export", "RUN", "--to", "r", "-o", "RUN/suite"],
        ["export", "RUN", "--to", "lm-eval", "-o", "link"],
        ["compare", "RUN", "OTHER", "--figure", "RUN/summary.json"],
        ["run", "it-islands", "-m", "demo-causal", "-o", "RUN"],
        ["score", "texts.txt", "-m", "demo-causal", "-o", "texts.txt"],
        ["score", "texts.txt", "-m", "demo-causal", "-o", "./other/../texts.txt"],
    ],
    ids=" ".join,
)
def test_no_command_writes_into_a_run_or_over_what_it_reads(own, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = sorted((own / "it-islands").iterdir())
    (tmp_path / "link").symlink_to(first, target_is_directory=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "texts.txt").write_text("Il gatto dorme.\n", "utf-8")
    before = content(tmp_path)
    places = [part.replace("RUN", str(first)).replace("OTHER", str(second)) for part in arguments]
    assert invoke(places) == 2
    assert content(tmp_path) == before


def test_a_judging_replaces_no_other_and_ends_well_when_it_is_repeated(own, tmp_path, capsys):
    judged = ["judge", str(own), "--set", "unit=nats", "-o", str(tmp_path / "judged")]
    assert invoke(judged) == 0
    before = content(tmp_path)
    # A command that was stopped halfway is given again: what is there is what it would write.
    stopped = sorted((tmp_path / "judged" / "it-islands").iterdir())[1]
    shutil.rmtree(stopped)
    assert invoke(judged) == 0
    assert content(tmp_path) == before
    capsys.readouterr()
    assert invoke(["judge", str(own), "-o", str(tmp_path / "judged")]) == 2
    assert "judged otherwise" in capsys.readouterr().err
    assert content(tmp_path) == before


def test_two_judgings_are_not_stored_in_one_folder(own, tmp_path, capsys):
    shutil.copytree(own, tmp_path / "copy")
    assert invoke(["judge", str(own), str(tmp_path / "copy"), "-o", str(tmp_path / "new")]) == 2
    assert "two runs of it-islands" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_measure_is_given_as_to_evaluate_and_leaves_out_those_shown_before():
    pairs = cimento.pairs([("Il cane dorme.", "Il cane dormono.")], language="it")
    run = cimento.evaluate(pairs, "demo-causal", measures=["lp", "meanlp"])
    assert (run.options.measure, run.options.also) == ("lp", ("meanlp",))
    judged = run.judge(measures="penlp", near_ties=0.5)
    assert (judged.options.measure, judged.options.also) == ("penlp", ())
    assert judged.options.near_tie_bits == 0.5
    assert run.judge(near_ties=0.5).options.also == ("meanlp",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "lp"}, "option measure: there is no such option. Write measures."),
        ({"also": "lp"}, "option also: there is no such option. Write measures."),
        ({"near_tie_bits": 1.0}, "option near_tie_bits: there is no such option. Write near_ties."),
    ],
)
def test_an_option_has_one_name_in_python(options, words, stored):
    [run] = open_runs(stored / "it-islands")
    with pytest.raises(UsageError, match=re.escape(words)):
        run.judge(**options)
    with pytest.raises(UsageError, match=re.escape(words)):
        cimento.evaluate("it-islands", "demo-causal", **options)


@pytest.mark.parametrize("given", [3, ["lp", 3], {"lp": 1}])
def test_measures_are_names_or_measures(given, stored):
    [run] = open_runs(stored / "it-islands")
    with pytest.raises(UsageError, match=r"option measures: got .*Give the name of a measure"):
        run.judge(measures=given)
