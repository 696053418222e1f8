"""Expected answers that a model cannot find: what comes below each number of hits."""

from __future__ import annotations

import json

import pytest

from cimento.cite import cite
from cimento.cli.main import invoke
from cimento.compare import compare
from cimento.documents import sections_of
from cimento.documents.paper import results_grid
from cimento.evaluation import evaluate
from cimento.records.blanks import reach_of
from cimento.suites import Meta
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option

FOUND = (ClozeItem("a", "Os meninos ", " cansados.", (Option("estavam"),)),)
"""One token of both demo models."""
LOST = (
    ClozeItem("b", "A rendeira perdeu o ", ".", (Option("bilro"),)),
    ClozeItem("c", "O ferreiro bateu na ", ".", (Option("bigorna"),)),
)
"""Several tokens of both."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of both demo models: of a suite with one answer within reach, and of one without."""
    folder = tmp_path_factory.mktemp("reach")
    made = {}
    for name, items in (("some", (*FOUND, *LOST)), ("none", LOST)):
        suite = ClozeSuite(Meta(name, language="pt"), items=items)
        made[name] = [
            evaluate(suite, model, device="cpu", k=3, output=folder)
            for model in ("demo-causal", "demo-masked")
        ]
    return made


def said(name, model):
    if name == "none":
        start = f"none, {model}: all 2 expected answers are several tokens, which it cannot find"
        return f"{start}, so that hits are undefined."
    start = f"some, {model}: only 1 of 3 expected answers can be found"
    return f"{start}; the others are several tokens and count as misses in hits."


@pytest.mark.parametrize("name", ["some", "none"])
def test_each_table_and_figure_of_hits_says_how_many_answers_can_be_found(runs, name):
    several = runs[name]
    wanted = [said(name, run.model) for run in several]
    [section] = sections_of(several)
    tables = {table.name: table.grid for table in section.tables}
    compared = compare(*several).grids()["rates"]
    for grid in (tables["hits"], results_grid(several), compared):
        assert {*wanted} <= {*grid.notes}
    curves = [figure for figure in section.figures if figure.name == "curve"]
    assert bool(curves) == (name == "some")
    for figure in curves:
        assert " ".join(figure.spec["title"]["subtitle"]) == " ".join(wanted)


def test_hits_are_undefined_where_no_answer_can_be_found(runs, capsys):
    for run in runs["none"]:
        hits = [one for one in run.estimates() if one.question.startswith("hit@")]
        assert {(one.value, one.low, one.n) for one in hits} == {(None, None, 0)}
        assert reach_of(run.estimates()) == (0, 2)
        assert len(compare(*runs["none"]).grids()) == 1  # nothing but the note
        assert invoke(["analyze", "profile", str(run.folder), "--json"]) == 0
        (made,) = json.loads(capsys.readouterr().out)["profiles"]
        assert [one["hits"] for one in made["dimensions"]] == [[]]
    some = runs["some"][0]
    assert reach_of(some.estimates()) == (1, 3)
    assert next(one.n for one in some.estimates() if one.question == "hit@1") == 3


def test_the_methods_say_how_many_answers_could_be_found(runs):
    text = cite([*runs["some"], *runs["none"]], "methods")
    assert "only 1 of 3 expected answers could be found; the others, of several tokens" in text
    assert "none of 2 expected answers could be found, as all are several tokens" in text
    assert "Only 1 of 3 expected answers could be found" in cite(runs["some"], "appendix")
