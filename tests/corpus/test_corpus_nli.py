"""Premises with a connective, and hypotheses that spell its relation out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import cimento
from cimento import Condition, InputError, Item, Meta, Region, Suite, UsageError
from cimento.cli.main import invoke
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.inference import LABELS, clauses, inferences, open_wording
from cimento.paradigms.cloze.files import load_cloze
from cimento.people.surveys import read_design
from cimento.suites.load import open_suite

SUITES = Path(cimento.__file__).parent / "data" / "suites"
INVENTORY = open_inventory("it-connectives")
WORDING = open_wording("it")


def suite_of(before, connective, after, **columns):
    regions = tuple(Region(text) for text in (before, connective, after))
    condition = Condition("acceptable", regions, {"connective": connective.lower(), **columns})
    return Suite(
        Meta("prova", language="it"),
        ("before", "connective", "after"),
        (),
        (Item("1", (condition,)),),
    )


def made(*parts, ambiguous="skip", seed=0, **columns):
    suite = suite_of(*parts, **columns)
    return inferences(suite, INVENTORY, WORDING, seed=seed, ambiguous=ambiguous)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("Esco", "se", "smette di piovere."), ("Esco", "Smette di piovere")),
        (("", "Se", "smette di piovere, esco."), ("Esco", "Smette di piovere")),
        (("Lia ride;", "infatti", "è allegra!"), ("Lia ride", "È allegra")),
        (("", "Se", "esci chiudi la porta."), "no comma"),
        (("Non so", "se", "vieni?"), "a question"),
        (("Pota le rose", "prima", "che geli."), "no clause of its own"),
    ],
)
def test_the_two_clauses(parts, expected):
    pair_or_reason = clauses(*parts)
    assert pair_or_reason == expected if isinstance(expected, tuple) else expected in pair_or_reason


def test_an_adverb_inside_its_clause_introduces_none():
    assert "inside its clause" in clauses("Vengo", "anche", "io.", category="ADV")
    assert clauses("È tardi;", "quindi", "esco.", category="ADV") == ("È tardi", "Esco")


def test_the_sense_decides_the_hypotheses():
    follows, _, against = made("Lia era malata,", "tuttavia", "è uscita.").items
    assert follows.label == "entailment"
    assert follows.hypothesis == "Dopo «Lia era malata», «È uscita» è inatteso."
    assert against.hypothesis == (
        "Dopo «Lia era malata», «È uscita» è proprio quello che ci si aspetta."
    )
    assert follows.premise == "Lia era malata, tuttavia è uscita."
    assert (follows.sense, follows.sense_by) == ("Comparison.Concession", "only")


def test_an_ambiguous_connective_needs_a_decision():
    parts = ("Lia resta a casa", "perché", "piove.")
    assert made(*parts).items == ()
    assert "has 2 senses" in made(*parts).passed["1"]
    first = made(*parts, ambiguous="first").items[0]
    assert (first.sense, first.sense_by) == ("Contingency.Cause.Reason", "first")
    assert first.hypothesis == "Il motivo di «Lia resta a casa» è «Piove»."
    given = made(*parts, sense="Contingency.Purpose").items[0]
    assert (given.sense_by, given.hypothesis) == (
        "column", "Lo scopo di «Lia resta a casa» è «Piove».",
    )  # fmt: skip


def test_a_sense_without_a_wording_is_passed_over():
    derived = made("Esco", "se", "piove.", sense="Expansion.Exception")
    assert derived.passed == {"1": "the sense 'Expansion.Exception' has no wording"}


def test_a_finer_sense_takes_the_wording_of_the_one_above():
    derived = made("Esco", "se", "piove.", sense="Contingency.Condition.Arg2-as-cond")
    assert derived.items[0].hypothesis == "«Esco» dipende da una condizione: «Piove»."


def test_neutral_hypotheses_are_drawn_by_seed():
    drawn = {made("Esco", "se", "piove.", seed=seed).items[1].hypothesis for seed in range(30)}
    assert len(drawn) == len(WORDING.neutral)
    assert made("Esco", "se", "piove.", seed=3) == made("Esco", "se", "piove.", seed=3)


def test_every_sense_of_the_inventory_has_a_wording():
    senses = {sense for connective in INVENTORY.connectives for sense in connective.senses}
    assert [sense for sense in senses if WORDING.of(sense) is None] == []


def test_other_suites_are_refused():
    suite = open_suite(SUITES / "it-subject-verb").suite
    with pytest.raises(UsageError, match="has the regions"):
        inferences(suite, INVENTORY, WORDING, seed=0)


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (("{hypothesis} ", ""), "the places in"),
        (("«{first}» dipende", "«{firts}» dipende"), "firts"),
        (('falsa"', 'vera"'), "two labels are one word"),
        (("[labels]", "[label]"), "is not a wording"),
        (('language = "it"', "language = "), "is not a wording"),
    ],
)
def test_a_wording_of_ones_own_is_checked(tmp_path, change, seen):
    source = Path(cimento.__file__).parent / "data" / "nli" / "it.toml"
    path = tmp_path / "own.toml"
    path.write_text(source.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    with pytest.raises(InputError, match=seen):
        open_wording(str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    output = tmp_path_factory.mktemp("inferences") / "nli"
    code = invoke(["corpus", "nli", "it-connectives", "-o", str(output), "--ambiguous", "first"])
    assert code == 0
    return output


def test_the_suite_is_balanced_and_has_no_faults(folder):
    assert invoke(["suites", "check", str(folder)]) == 0
    suite = load_cloze(folder)
    assert Counter(item.columns["label"] for item in suite.items) == dict.fromkeys(
        LABELS, len(suite.items) // 3
    )
    assert Counter(item.targets for item in suite.items).keys() == {
        ("vera",), ("incerta",), ("falsa",),
    }  # fmt: skip
    assert suite.cluster == ("premise",)
    assert suite.meta.status.startswith("draft")


def test_nobody_sees_two_hypotheses_of_one_premise(folder, tmp_path):
    survey = tmp_path / "survey"
    code = invoke([
        "annotate", "survey", "build", str(folder), "--apart", "premise", "-o", str(survey),
    ])  # fmt: skip
    assert code == 0
    design = read_design(survey)
    for questions in design.by_survey.values():
        premises = [question.members for question in questions if not question.expected]
        assert len(premises) == len(set(premises))


def test_a_model_chooses_among_the_labels(folder, tmp_path, capsys):
    code = invoke([
        "run", str(folder), "-m", "demo-causal", "-o", str(tmp_path / "runs"), "--limit", "6",
        "--set", "by=label", "--no-cache",
    ])  # fmt: skip
    assert code == 0
    out = capsys.readouterr().out
    assert "entailment" in out
    assert "neutral" in out
