"""Whose a suite is, and what its predictions compare, as the methods of a paper say it."""

from __future__ import annotations

import pytest

import cimento
from cimento import open_runs
from cimento.cite import bibtex, cited_works, methods_paragraph


@pytest.fixture(scope="module")
def stored(runs_of_every_kind):
    """These runs, by the suite's name."""
    return {run.suite.name: run for run in open_runs(runs_of_every_kind)}


def test_a_suite_is_not_credited_to_the_work_that_it_follows(stored):
    """The starter suite is the developers'; the islands of its design are others'."""
    run = stored["it-islands"]
    for appendix in (False, True):
        said = methods_paragraph([run], appendix=appendix, form="markdown")
        assert "[@it-islands] after earlier work [@sprouse2012; @sprouse2016; @kush2018]" in said
    said = methods_paragraph([run])
    version = run.suite.meta.version
    assert f"it-islands (The cimento developers 2026, version {version}) after earlier" in said


@pytest.mark.parametrize(
    ("formulas", "what"),
    [
        (("(*;%a%) < (*;%b%)", "(*;%a%) > (*;%b%)"), "of each sentence, in bits"),
        (("(1;%a%) < (1;%b%)", "(2;%a%) < (2;%b%)"), "of each critical region, in bits"),
        (
            ("(*;%a%) < (*;%b%)", "(2;%a%) < (2;%b%)"),
            "of each critical region and each sentence, in bits",
        ),
    ],
)
def test_what_is_summed_is_what_the_predictions_compare(formulas, what, tmp_path):
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "items.tsv").write_text(
        "\n".join(["item\tcondition\ttext", *(
            f"{k}\t{c}\tIl cane {k} | {v}."
            for k in range(2) for c, v in (("a", "dorme"), ("b", "dormono"))
        )]) + "\n", "utf-8",
    )  # fmt: skip
    predictions = "".join(f"[[predictions]]\nformula = '{formula}'\n" for formula in formulas)
    (folder / "suite.toml").write_text(
        f"regions = ['subject', 'verb']\n[meta]\nname = 's'\nlanguage = 'it'\n{predictions}",
        "utf-8",
    )
    said = methods_paragraph([cimento.evaluate(str(folder), "demo-causal")])
    assert f"the token surprisals (Hale 2001; Shannon 1948) {what}" in said
    assert "correct as a whole if all of them hold" in said


def test_of_a_two_by_two_design_no_item_is_called_correct_as_a_whole(stored):
    said = methods_paragraph([stored["it-islands"]])
    assert "of each sentence, in bits" in said
    assert "each item, a design of distance by structure, we summed" in said
    assert "The effect is the difference of differences (DD)" in said
    assert "as a whole" not in said


def test_a_paragraph_holds_chance_against_lengths_and_constant_answers(stored):
    names = ("Anna", "Luca", "Maria", "Paolo", "Sara", "Ugo")
    longer = [(f"{name} parte.", f"{name} parte di corsa partire.") for name in names]
    run = cimento.evaluate(cimento.pairs(longer, language="it"), "demo-causal")
    [led] = [one.by_length for one in run.estimates() if one.role == "headline"]
    assert f"Chance is 0.500; lengths alone give {led:.3f}." in methods_paragraph([run])
    said = methods_paragraph([stored["it-islands"]])
    assert "a design of distance by structure" in said
    assert "correct as a whole" not in said
    assert "lengths alone" not in said  # a design is reported by DD
    both = methods_paragraph([run, stored["it-islands"]])
    assert f"Chance is 0.500; lengths alone give {led:.3f}." in both
    stories = methods_paragraph([stored["es-stories"]])
    assert "the best constant answer 0.667." in stories
    appendix = methods_paragraph([stored["it-islands"]], appendix=True)
    assert "compare whole sentences of an item by the sum of their token" in appendix


def test_a_starter_suite_has_a_year_and_says_nothing_twice(stored):
    entry = bibtex(cited_works([stored["it-acceptability"]])[:1])
    assert "  year = {2026},\n" in entry
    assert "  note = {cimento starter suites, CC BY 4.0},\n" in entry
