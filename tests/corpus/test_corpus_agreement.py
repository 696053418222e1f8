"""Agreeing words of a treebank, one of them inflected."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import cimento
from cimento import InputError, Meta
from cimento.cli.main import invoke
from cimento.corpus.making.agreement import agreeing_pairs, agreement_suite, draw_pairs
from cimento.corpus.morphology.model import WordReading, chosen
from cimento.corpus.morphology.rules import Rules
from cimento.corpus.treebanks import open_treebanks
from cimento.suites.load import open_suite
from cimento.suites.stimuli import stimulus_text

SAMPLE = Path(cimento.__file__).parent / "data" / "corpus" / "sample"


class Dictionary:
    """A dictionary of a few readings."""

    name = "few"

    def __init__(self, *rows):
        self._rows = tuple(WordReading(*row, tag="") for row in rows)

    def analyse(self, form):
        return tuple(row for row in self._rows if row.form == form.lower())

    def inflect(self, lemma, features=None, *, pos=""):
        rows = (row for row in self._rows if row.lemma == lemma.lower())
        return chosen(rows, features, pos=pos)


def treebank(folder, rows, text):
    lines = [f"# sent_id = s-1\n# text = {text}"]
    for number, (form, lemma, upos, feats, head, deprel) in enumerate(rows, start=1):
        lines.append(f"{number}\t{form}\t{lemma}\t{upos}\t_\t{feats}\t{head}\t{deprel}\t_\t_")
    (folder / "x_y-ud-test.conllu").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return open_treebanks([folder])


SINGS = "Mood=Ind|Number={}|Person=3|Tense=Pres|VerbForm=Fin"
CAT = [
    ("Il", "il", "DET", "_", 2, "det"),
    ("gatto", "gatto", "NOUN", "Gender=Masc|Number=Sing", 3, "nsubj"),
    ("canta", "cantare", "VERB", SINGS.format("Sing"), 0, "root"),
]
FORMS = (
    ("canta", "cantare", "VERB", SINGS.format("Sing")),
    ("cantano", "cantare", "VERB", SINGS.format("Plur")),
)


def made(folder, dictionary, rows=CAT, text="Il gatto canta", **more):
    reasons: Counter[str] = Counter()
    files = treebank(folder, rows, text)
    found = list(agreeing_pairs(files, dictionary, "subject-verb", reasons=reasons, **more))
    return found, list(reasons)


def test_the_verb_takes_the_form_of_the_other_number(tmp_path):
    (pair,), reasons = made(tmp_path, Dictionary(*FORMS))
    assert (pair.passage.marked, pair.wrong) == ("Il gatto [[canta]]", "cantano")
    assert (pair.controller, pair.distance, pair.attractors) == ("gatto", 1, 0)
    assert reasons == []


def test_forms_that_leave_a_doubt_are_left_out(tmp_path):
    both = ("cantano", "cantare", "VERB", SINGS.format("Sing"))
    second = ("cantan", "cantare", "VERB", SINGS.format("Plur"))
    other_word = ("cantano", "cantanare", "VERB", SINGS.format("Sing"))
    for more, reason in (
        ([both], "a form is ambiguous"),
        ([second], "there is no other form, or more than one"),
        ([other_word], "a form is ambiguous"),
    ):
        assert made(tmp_path, Dictionary(*FORMS, *more)) == ([], [reason])
    assert made(tmp_path, Dictionary())[1] == ["the dictionary does not know the lemma"]
    other = ("cante", "cantare", "VERB", SINGS.format("Sing"))
    assert made(tmp_path, Dictionary(other, FORMS[1]))[1] == ["the dictionary has another form"]


def test_coordinated_counted_and_unmarked_subjects_are_left_out(tmp_path):
    rows = [*CAT, ("e", "e", "CCONJ", "_", 5, "cc"), ("cane", "cane", "NOUN", "_", 2, "conj")]
    found, reasons = made(tmp_path, Dictionary(*FORMS), rows, "Il gatto canta e cane")
    assert (found, reasons) == ([], ["the word that is agreed with is coordinated or counted"])
    rows = [CAT[0], ("città", "città", "NOUN", "Gender=Fem", 3, "nsubj"), CAT[2]]
    found, reasons = made(tmp_path, Dictionary(*FORMS), rows, "Il città canta")
    assert reasons == ["the treebank gives the other word no Number, or another"]


def test_attractors_between_are_counted_and_case_is_kept(tmp_path):
    rows = [
        ("IL", "il", "DET", "_", 2, "det"),
        ("GATTO", "gatto", "NOUN", "Number=Sing", 5, "nsubj"),
        ("DEI", "di", "ADP", "_", 4, "case"),
        ("VICINI", "vicino", "NOUN", "Number=Plur", 2, "nmod"),
        ("CANTA", "cantare", "VERB", SINGS.format("Sing"), 0, "root"),
    ]
    (pair,), _ = made(tmp_path, Dictionary(*FORMS), rows, "IL GATTO DEI VICINI CANTA")
    assert (pair.attractors, pair.distance, pair.wrong) == (1, 3, "CANTANO")


def test_the_sample_gives_pairs_that_differ_in_one_word():
    found = list(agreeing_pairs(open_treebanks([SAMPLE]), Rules("it"), "subject-verb"))
    wrong = {(each.sentence_id, each.passage.form): each.wrong for each in found}
    assert wrong["cucina-3", "apparecchiano"] == "apparecchia"
    assert wrong["treno-4", "ha"] == "hanno"
    assert wrong["treno-4", "fossero"] == "fosse"
    suite = agreement_suite(found, meta=Meta("mine"))
    for item in suite.items:
        good, bad = (
            stimulus_text(condition, rule=suite.join).split() for condition in item.conditions
        )
        assert sum(a != b for a, b in zip(good, bad, strict=True)) == 1


def test_adjectives_take_the_other_gender(tmp_path):
    rows = [
        ("Una", "uno", "DET", "_", 2, "det"),
        ("casa", "casa", "NOUN", "Gender=Fem|Number=Sing", 0, "root"),
        ("nuova", "nuovo", "ADJ", "Gender=Fem|Number=Sing", 2, "amod"),
    ]
    files = treebank(tmp_path, rows, "Una casa nuova")
    (pair,) = agreeing_pairs(files, Rules("it"), "noun-adjective", feature="Gender")
    assert (pair.passage.form, pair.wrong) == ("nuova", "nuovo")


def test_the_draw_takes_values_in_turn_and_no_lemma_too_often():
    found = list(agreeing_pairs(open_treebanks([SAMPLE]), Rules("it"), "subject-verb"))
    drawn = draw_pairs(found, n=10, per_lemma=2, seed=1)
    assert drawn == draw_pairs(found, n=10, per_lemma=2, seed=1)
    assert [each.value for each in drawn] == ["Plur", "Sing"] * 5
    assert max(Counter(each.lemma for each in drawn).values()) <= 2
    assert len({each.sentence_id for each in drawn}) == 10
    with pytest.raises(InputError, match="usable pairs and not 999"):
        draw_pairs(found, n=999, per_lemma=2, seed=1)


def test_a_treebank_becomes_a_suite_that_loads(tmp_path, capsys):
    out = tmp_path / "mine"
    arguments = ["suites", "build", "treebank", str(SAMPLE), "--language", "it", "--items", "8"]
    assert invoke([*arguments, "-o", str(out)]) == 0
    assert "a form is ambiguous" in capsys.readouterr().err
    suite = open_suite(out).suite
    assert len(suite.items) == 8
    assert (suite.meta.licence, suite.cluster) == ("CC BY 4.0", "lemma")
    closed = [*arguments, "--licence", "CC BY-NC 4.0", "-o", str(tmp_path / "ids")]
    assert invoke(closed) == 0
    assert [path.name for path in (tmp_path / "ids").iterdir()] == ["sources.tsv"]
