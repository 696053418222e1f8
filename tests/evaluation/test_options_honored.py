"""An option that a kind of test does not honor is refused with one message, before all else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cimento import UsageError, evaluate, evaluate_all, load_suite, open_runs
from cimento.cli.main import invoke
from cimento.paradigms import ParadigmOptions

SUITES = {
    "regions": "it-islands",
    "ratings": "it-connectives",
    "cloze": "it-connectives-cloze",
    "stories": "es-stories",
}


@pytest.mark.parametrize("paradigm", SUITES)
def test_an_unknown_option_is_refused_with_those_that_are_known(paradigm):
    with pytest.raises(UsageError) as refused:
        evaluate(SUITES[paradigm], "demo-causal", seeds=1)
    assert str(refused.value).startswith(
        f"option seeds: suites of the kind {paradigm!r} have no such option."
    )
    assert "Did you mean 'seed'" in str(refused.value)


def test_the_name_that_is_proposed_is_one_that_is_taken():
    with pytest.raises(UsageError, match=r"Did you mean 'measures'\?"):
        evaluate("it-subject-verb", "demo-causal", mesures="lp")
    with pytest.raises(UsageError, match=r"Known: .*measures.*near_ties.* Those of every run"):
        evaluate("it-subject-verb", "demo-causal", foo=1)


def test_a_message_without_options_to_list_has_single_blanks(probing):
    own = load_suite(probing).paradigm
    bare = replace(own, options=type("Bare", (ParadigmOptions,), {}))
    loaded = replace(load_suite(probing), paradigm=bare)
    with pytest.raises(UsageError, match=r"have no such option\. Those of every run"):
        evaluate(loaded, "demo-causal", foo=1)


def test_an_option_of_the_command_is_not_said_to_be_mistaken_for_itself(capsys):
    assert invoke(["run", "it-subject-verb", "-m", "demo-causal", "--set", "language=de"]) == 2
    printed = capsys.readouterr().err
    assert "Did you mean" not in printed
    assert "an option of its own: --language" in printed


@pytest.mark.parametrize("model", ["demo-causal", "replay:recorded.tsv"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("context", "Prima. "),
        ("all_tokens", True),
        ("store", "rank"),
        ("spec", "spec.json"),
        ("recorded_unit", "nats"),
    ],
)
def test_a_scoring_option_that_blanks_have_no_use_for_is_refused(name, value, model):
    with pytest.raises(UsageError, match=f"option {name}: .*'cloze' are not asked with it"):
        evaluate(SUITES["cloze"], model, **{name: value})


REFUSED = {
    "metric": ["--metric", "mean"],
    "unit": ["--unit", "nats"],
    "ties": ["--ties", "pass"],
    "measure": ["--measure", "lp"],
    "context": ["--context", "Prima."],
    "all_tokens": ["--all-tokens"],
    "nonsense": ["--set", "nonsense=1"],
}
"""Options that are about sentences in regions, and one that is about nothing."""


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("paradigm", ["cloze", "stories", "probing"])
def test_the_command_line_refuses_it_in_one_line(paradigm, name, probing, tmp_path, capsys):
    suite = SUITES.get(paradigm, str(probing))
    runs = tmp_path / "runs"
    assert invoke(["run", suite, "-m", "demo-causal", "-o", str(runs), *REFUSED[name]]) == 2
    said = capsys.readouterr().err
    assert f"option {name}: suites of the kind {paradigm!r}" in said
    assert said.count("\n") == 1
    assert not runs.exists()


def test_the_nearest_option_is_named(probing, tmp_path, capsys):
    run = ["run", str(probing), "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    assert invoke([*run, "--set", "artcle=La "]) == 2
    assert "Did you mean 'article'?" in capsys.readouterr().err


TOGETHER = ["it-islands", "it-connectives-cloze"]


def test_an_option_goes_to_the_suites_that_have_it(tmp_path, capsys):
    run = ["run", "-m", "demo-causal", "--limit", "4", "--set", "k=3", "--metric", "mean"]
    run.append("--no-cache")
    assert invoke([*run, *TOGETHER, "-o", str(tmp_path / "both")]) == 0
    said = capsys.readouterr().err
    assert "option k is not used by it-islands." in said
    assert "option metric is not used by it-connectives-cloze." in said
    both = {run.suite.name: run for run in open_runs(tmp_path / "both")}
    assert both["it-connectives-cloze"].options.k == 3
    assert both["it-islands"].options.metric == "mean"
    # Each is the run that its suite alone makes: the same folder, options, answers and outcomes.
    for suite, options in (
        ("it-islands", {"metric": "mean"}),
        ("it-connectives-cloze", {"k": 3}),
    ):
        alone = evaluate(suite, "demo-causal", limit=4, output=tmp_path / "alone", **options)
        assert both[suite].folder.name == alone.folder.name
        assert both[suite].options == alone.options
        assert both[suite].outcomes().equals(alone.outcomes())
    assert invoke([*run, *TOGETHER, "-o", str(tmp_path / "both")]) == 0


def test_a_scoring_option_goes_to_the_suites_that_have_it():
    [regions, cloze] = evaluate_all(
        TOGETHER, "demo-causal", limit=2, context="Prima.", store="rank", measures="slor"
    )
    assert "rank" in regions.table("tokens").columns
    assert regions.manifest["inputs"]["context"] == ["Prima.", ""]
    assert cloze.manifest["inputs"]["context"] == ["", ""]
    assert cloze.estimates() == evaluate(TOGETHER[1], "demo-causal", limit=2).estimates()


def test_the_plan_says_which_suites_do_not_use_an_option(capsys):
    plan = ["plan", *TOGETHER, "-m", "demo-causal", "--set", "k=3"]
    assert invoke(plan) == 0
    assert capsys.readouterr().out.endswith("option k is not used by it-islands.\n")
    assert invoke([*plan, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unused"] == ["option k is not used by it-islands."]


def test_what_no_suite_of_a_run_has_is_refused_once(tmp_path, capsys):
    run = ["run", *TOGETHER, "-m", "demo-causal", "-m", "demo-masked", "-o", str(tmp_path / "runs")]
    assert invoke([*run, "--set", "kk=3"]) == 2
    said = capsys.readouterr().err
    assert said == (
        "cimento: option kk: suites of the kinds 'regions' and 'cloze' have no such option."
        " Did you mean 'k'?\n"
    )
    assert not (tmp_path / "runs").exists()
    assert invoke(["plan", *TOGETHER, "-m", "demo-causal", "--set", "kk=3"]) == 2
    assert capsys.readouterr().err == said
