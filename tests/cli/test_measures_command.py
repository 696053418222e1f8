"""``cimento models measures``: every measure with its unit, those of plug-ins too."""

from __future__ import annotations

import json
from pathlib import Path

from cimento.measures import MEASURES
from tests.helpers.command_line import invoke

SAMPLE = Path(__file__).parents[1] / "sample_plugin"


def test_every_measure_is_listed_with_its_unit_and_formula(capsys):
    assert invoke(["models", "measures"]) == 0
    head, *lines = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    assert head.split() == ["name", "unit", "better", "formula"]
    assert lines[0].split()[:3] == ["regions", "bits", "lower"]
    assert [line.split()[0].rstrip(",") for line in lines[1:]] == list(MEASURES)
    [line] = [line for line in lines if line.startswith("meanlp")]
    assert line.split("  ")[0] == "meanlp, mean-token"
    assert "nats per token  " in line
    assert line.endswith("higher  LP / n")


def test_measures_of_plugins_are_listed_with_their_packages(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(SAMPLE))
    assert invoke(["models", "measures"]) == 0
    lines = capsys.readouterr().out.splitlines()
    [line] = [line for line in lines if line.startswith("worst-token")]
    assert line.split()[1:3] == ["nats", "higher"]
    assert line.endswith("min over tokens of ln P(token) (cimento-sample 1.0)")
    # What cannot be loaded is left out.
    assert not any(line.startswith(("absent", "number")) for line in lines)

    assert invoke(["models", "measures", "--json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)["measures"]}
    assert listed["worst-token"]["package"] == "cimento-sample 1.0"
    assert listed["worst-token"]["source"].startswith("Shi et al. 2024")
    assert listed["lp"]["package"] is None
    assert listed["slor"]["needs"] == ["unigrams"]


def test_the_help_of_the_option_says_where_its_values_are(capsys):
    for command in ("run", "judge"):
        assert invoke([command, "-h"]) == 0
        assert "`cimento models measures` lists them" in " ".join(capsys.readouterr().out.split())
