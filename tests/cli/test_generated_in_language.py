"""Generated suites in a run of a language: drafts in a part of their own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cimento.cli.main import invoke
from cimento.documents.language_answer import json_schema
from cimento.errors import InputError
from cimento.evaluation import own_suites
from cimento.evaluation.own_suites import generated_suites
from cimento.kinds.registry import load_suite
from tests.cli.test_language_command import answer_at, line, serve, site

__all__ = ["line", "serve", "site"]


@pytest.mark.slow
def test_generated_suites_are_drafts_in_a_part_of_their_own(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = [*line, "--sets", "more,generated", "--seed", "3"]
    assert invoke(["plan", *told, "--json"]) == 0
    planned = {one["suite"] for one in json.loads(capsys.readouterr().out)["suites"]}
    # For people, the plan has them in one line.
    assert invoke(["plan", *told]) == 0
    [row] = [text for text in capsys.readouterr().out.splitlines() if "generated" in text]
    n = len(planned)
    assert row.startswith(f"generated: {n} suites, drafts")
    assert row.split()[4] == str(24 * n)
    assert invoke(["run", *told]) == 0
    out = " ".join(capsys.readouterr().out.split())
    answer = answer_at(tmp_path / "runs")
    Draft202012Validator(json_schema()).validate(answer)
    assert [one["sets"] for one in answer["phenomena"]] == [["more"]]
    assert [one["set"] for one in answer["sets"]] == ["more"]
    assert [one["set"] for one in answer["used"]] == ["more"]
    assert answer["starter"] == []
    # One row for each class of the grammars, of as many items as their suites have.
    by_class = {one["phenomenon"]: one for one in answer["generated"]}
    items = Counter[str]()
    assert {one["suite"] for one in answer["drafts"]} == planned
    for one in answer["drafts"]:
        assert (one["n_items"], one["seed"]) == (24, 3)
        items[one["phenomenon"]] += one["n_items"]
    assert {name: one["n_items"] for name, one in by_class.items()} == items
    assert "24 items of each, seed 3" in out
    assert "Every suite is a draft. Items of these grammars were read by: " in out
    page = (tmp_path / "runs/it/answer.html").read_text(encoding="utf-8")
    assert all(one["suite"] in page for one in answer["drafts"])
    # A budget is about published sets: a part of a draft is never asked.
    assert invoke(["run", *told, "--budget", "6", "-o", "part"]) == 0
    assert "Suites of cimento itself are not in it" in " ".join(capsys.readouterr().out.split())
    part = answer_at(tmp_path / "part")
    assert (part["generated"], part["drafts"], part["sample"]["items"]) == ([], [], 6)


def test_generated_suites_are_those_of_the_command_with_the_same_seed(tmp_path: Path) -> None:
    """As the note below their table says."""
    made = generated_suites("pt", seed=5)
    name = made.drafts[0].suite
    told = ["suites", "build", "pairs", name.removesuffix("-generated"), "--items", "24"]
    assert invoke([*told, "--seed", "5", "-o", str(tmp_path)]) == 0
    built = load_suite(tmp_path / name).suite
    assert built.items == made.suites[0].suite.items
    assert len({one.suite for one in made.drafts}) == len(made.suites) == len(made.drafts)
    assert not any(one.suite.factors for one in made.suites)
    assert made.failed == {}


def test_a_grammar_that_cannot_make_as_many_items_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_suites, "ITEMS_OF_DRAFT", 50_000)
    names = ("pt-ser-estar", "pt-subject-verb")
    monkeypatch.setattr(own_suites, "grammar_names", lambda: names)
    made = generated_suites("pt", seed=0)
    assert (made.suites, made.drafts, len(made.failed)) == ((), (), 2)
    assert all(isinstance(error, InputError) for error in made.failed.values())
