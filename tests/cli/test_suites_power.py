"""``cimento analyze power``: what a pilot run tells about the size of a suite."""

from __future__ import annotations

import json

import pytest

from cimento.cli.main import invoke
from cimento.statistics.power import mcnemar_power


@pytest.fixture(scope="module")
def pilots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pilots")
    runs = folder / "runs"
    models = ["-m", "demo-causal", "-m", "demo-masked"]
    assert invoke(["run", "it-subject-verb", *models, "-o", str(runs)]) == 0
    assert invoke(["run", "it-islands", "-m", "demo-causal", "-o", str(runs)]) == 0
    return [
        str(next(runs.glob(name))) for name in ("it-s*/demo-c*", "it-s*/demo-m*", "it-i*/demo*")
    ]


def test_two_pilots_give_the_items_that_a_difference_needs(pilots, capsys):
    first, second, _ = pilots
    command = ["analyze", "power", "it-subject-verb", "--pilot", first, "--pilot", second]
    assert invoke([*command, "--difference", "0.1", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    n = plan["needed"]["items"]
    assert plan["title"].startswith("it-subject-verb, all predictions: demo-masked")
    # 3 of the 24 items are discordant
    for size in plan["sizes"]:
        exact = mcnemar_power(size["items"], only_first=0.1125, only_second=0.0125)
        assert size["power"] == pytest.approx(exact)
    assert invoke([*command, "--difference", "0.1"]) == 0
    printed = capsys.readouterr().out
    assert f"A power of 0.8 needs {n} items." in printed
    assert "Test: McNemar, exact binomial." in printed
    assert "discordant 0.125" in printed
    assert "pilot's own" not in printed
    assert invoke(command) == 0
    assert "The difference is the pilot's own" in capsys.readouterr().out
    assert invoke([*command, "--difference", "0.1", "--methods"]) == 0
    said = capsys.readouterr().out
    assert "from a pilot of 24 items (it-subject-verb, all predictions: demo-masked" in said
    assert "McNemar, exact binomial (McNemar 1947), two-sided at a level of 0.05." in said
    assert "The difference is 0.1, the smallest that we want to detect." in said
    assert "Its power is exact" in said
    assert f"A power of 0.8 needs {n} items, if the pilot is right." in said


def test_one_pilot_is_tested_against_chance_or_a_share(pilots, capsys):
    command = ["analyze", "power", "it-subject-verb", "--pilot", pilots[0], "--difference", "0.2"]
    assert invoke(command) == 0
    assert "against chance" in capsys.readouterr().out
    assert invoke([*command, "--against", "0.5", "--question", "all predictions"]) == 0
    printed = capsys.readouterr().out
    assert "it-subject-verb, all predictions: demo-causal" in printed
    assert "tested against 0.500" in printed


def test_margins_and_dd_are_drawn_from_the_pilot(pilots, capsys):
    first, _, islands = pilots
    margins = ["analyze", "power", "it-subject-verb", "--pilot", first, "--of", "margin"]
    assert invoke([*margins, "--trials", "100"]) == 0
    assert "drawn from the pilot" in capsys.readouterr().out
    dd = ["analyze", "power", "it-islands", "--pilot", islands, "--of", "dd"]
    options = ["--phenomenon", "adjunct", "--difference", "3", "--trials", "100", "--json"]
    plans = []
    for seed in ("0", "0", "5"):
        assert invoke([*dd, *options, "--seed", seed]) == 0
        plans.append(json.loads(capsys.readouterr().out))
    assert plans[0] == plans[1] != plans[2]
    assert plans[0]["unit"] == "bits"
    needed = plans[0]["needed"]
    assert needed["low"] < needed["power"] < needed["high"]
    assert invoke(dd) == 2
    assert "Name one of them with --phenomenon" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "seen"),
    [
        (["it-islands", "--pilot", "{0}"], "it is a run of it-subject-verb"),
        (["it-subject-verb", "--pilot", "nowhere"], "there is no finished run here"),
        (["it-subject-verb", "--pilot", "{0}", "--pilot", "{1}", "--pilot", "{0}"], "3 pilots"),
        (["it-subject-verb", "--pilot", "{0}/.."], "it holds runs of demo-causal"),
        (["it-subject-verb", "--pilot", "{0}", "--of", "dd"], "crosses no two factors"),
        (["it-subject-verb", "--pilot", "{0}", "--pilot", "{1}", "--of", "margin"], "2 pilots"),
        (["it-subject-verb", "--pilot", "{0}", "--question", "no"], "'no' was not asked"),
        (["it-subject-verb", "--pilot", "{0}", "--power", "2"], "power 2, alpha 0.05"),
        (["it-subject-verb", "--pilot", "{0}", "--pilot", "{0}"], "a difference of 0"),
        (["it-islands", "--pilot", "{2}", "--of", "dd", "--phenomenon", "x"], "no phenomenon 'x'"),
    ],
)
def test_bad_pilots_and_numbers_are_named(pilots, capsys, more, seen):
    assert invoke(["analyze", "power", *(argument.format(*pilots) for argument in more)]) == 2
    printed = capsys.readouterr().err
    assert seen in printed
    assert printed.count("\n") == 1


def test_a_pilot_run_alone_names_its_suite(pilots, capsys):
    first, second, _ = pilots
    named = ["analyze", "power", "it-subject-verb", "--pilot", first, "--pilot", second, "--json"]
    assert invoke(named) == 0
    whole = json.loads(capsys.readouterr().out)
    assert invoke(["analyze", "power", first, "--pilot", second, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == whole
    assert invoke(["analyze", "power", "it-subject-verb"]) == 2
    assert "analyze power RUN" in capsys.readouterr().err


def test_the_correlation_with_ratings_is_planned_and_questions_without_rates_say_so(
    tmp_path, capsys
):
    assert invoke(["run", "it-acceptability", "-m", "demo-causal", "-o", str(tmp_path)]) == 0
    capsys.readouterr()
    command = ["analyze", "power", str(tmp_path)]
    assert invoke([*command, "--question", "lp"]) == 2
    seen = capsys.readouterr().err
    assert "people's ratings" in seen
    assert "--of correlation" in seen
    assert "no item was scored" not in seen
    assert invoke([*command, "--of", "correlation", "--difference", "0.4"]) == 0
    printed = capsys.readouterr().out
    assert "Spearman's correlation of lp with ratings" in printed
    assert "A power of 0.8 needs 48 items." in printed
    assert "Pilot: 120 items, correlation -0.115." in printed
    assert "The 95% interval to expect is [0.12, 0.62]." in printed
    assert invoke([*command, "--of", "correlation", "--question", "no"]) == 2
    assert "is correlated with no ratings" in capsys.readouterr().err


def test_a_plan_over_three_crossed_clusters_is_said_to_be_approximate(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    frames = ("Oggi {} {}.", "Credo che {} {}.", "Da ieri {} {}.", "Forse {} {}.", "Anche {} {}.")
    nouns = ("le zie", "i nonni", "gli amici", "le cuoche", "i medici")
    verbs = ("dorm", "part", "corr", "rid", "scriv")
    rows = [
        f"{frame[:5]},{noun},{verb},{frame.format(noun, verb + 'ono')},"
        f"{frame.format(noun, verb + 'e')}"
        for frame in frames
        for noun in nouns
        for verb in verbs
    ]
    text = "\n".join(["frame,noun,verb,good,bad", *rows])
    (tmp_path / "agree.csv").write_text(text, encoding="utf-8")
    run = ["run", "agree.csv", "--language", "it", "-m", "demo-causal", "-o", "runs"]
    assert invoke([*run, "--cluster", "frame,noun,verb"]) == 0
    command = ["analyze", "power", "runs", "--of", "margin", "--difference", "2"]
    capsys.readouterr()
    assert invoke([*command, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [size["items"] for size in plan["sizes"][:2]] == [125, 1000]
    assert invoke(command) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "5 × 5 × 5 crossed clusters" in shown
    assert "that between the levels of each factor in the pilot" in shown
    assert invoke([*command, "--methods"]) == 0
    said = capsys.readouterr().out
    assert "from a pilot of 125 items in 5 × 5 × 5 crossed clusters" in said
    assert "Its power is approximate, by the noncentral t" in said
    assert "levels of each factor, and between their cells (Koch 1968)." in said
