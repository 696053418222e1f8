"""Rows of fillers and practice in a table of items, lists with labels, and names of opposites."""

import pytest

from cimento.errors import are_opposites, did_you_mean
from cimento.kinds.registry import audit_suite, load_suite
from cimento.people.surveys.building import build_design
from cimento.people.surveys.material import load_material
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.filler_rows import fillers_in
from cimento.suites.ratings import rated_of, ratings_by
from cimento.suites.sentence_list import labels_named, sentence_list


def written(folder, *lines):
    path = folder / "tabla.tsv"
    path.write_text("".join(f"{line}\n" for line in lines).replace(" / ", "\t"), encoding="utf-8")
    return path


PAIRS = (
    "par / fenómeno / condición / oración",
    "1 / concordancia / correcta / Los vecinos riegan las macetas.",
    "1 / concordancia / incorrecta / Los vecinos riega las macetas.",
    "2 / régimen / correcta / Nos olvidamos de la llave.",
    "2 / régimen / incorrecta / Nos olvidamos la llave de.",
)
OTHERS = (
    " /  / relleno / El panadero abre a las seis.",
    " /  / Relleno / Sobre gato mesa la duerme.",
    " /  / práctica / Mi tía colecciona sellos.",
)


def test_fillers_without_an_item_do_not_go_on_with_the_one_above(tmp_path):
    path = written(tmp_path, *PAIRS, *OTHERS)
    loaded = load_suite(path, language="es")
    assert [item.id for item in loaded.suite.items] == ["1", "2"]
    assert {len(item.conditions) for item in loaded.suite.items} == {2}
    faults = audit_suite(path, language="es").faults
    told = [fault.seen for fault in faults if fault.code in ("CIM-S009", "CIM-S065")]
    assert told == [
        "Fillers or practice sentences without an item are not part of the test: 3 rows (6, 7, 8)."
    ]
    assert fillers_in(path) == {
        "filler": ["El panadero abre a las seis.", "Sobre gato mesa la duerme."],
        "practice": ["Mi tía colecciona sellos."],
    }


def test_a_second_condition_below_its_item_still_belongs_to_it(tmp_path):
    path = written(tmp_path, *(line.replace("1 / concordancia / inc", " / concordancia / inc")
                               for line in PAIRS))  # fmt: skip
    assert [len(item.conditions) for item in load_suite(path, language="es").suite.items] == [2, 2]
    assert fillers_in(path) == {}


LIST = (
    "n.º / oración / tipo",
    "1 / La profesora corrigió los exámenes. / gramatical",
    "2 / La profesora corrigieron los exámenes. / agramatical",
    "3 / Habían muchas sillas en el patio. / dudosa",
    "4 / El río baja crecido este año. / gramatical",
)


def test_a_list_with_labels_is_one_to_be_rated_and_keeps_them(tmp_path):
    path = written(tmp_path, *LIST)
    listed = sentence_list(path, language="es")
    assert labels_named(listed) == ["tipo"]
    assert [one.columns["tipo"] for one in listed.sentences] == [
        "gramatical", "agramatical", "dudosa", "gramatical",
    ]  # fmt: skip
    design = build_design(path, SurveyPlan(language="es", contact="Ana", checks=0))
    assert [one.lines for one in design.questions] == [(one.text,) for one in listed.sentences]
    conditions = [item.conditions[0] for item in load_material(path, language="es").suite.items]
    assert [dict(one.columns)["tipo"] for one in conditions][2] == "dudosa"


SURVEYED = (
    "{n} / La ragazza che ho visto legge il giornale. / accordo corretto",
    "{n} / Le ragazze che ho visto legge il giornale. / accordo sbagliato",
    "{n} / Il treno per Pisa parte alle otto. / riempitivo",
    "{n} / Quel libro, lo legge mia zia. / accordo corretto",
    "{n} / I cani dei vicini abbaia ogni notte. / accordo sbagliato",
)


@pytest.mark.parametrize("heading", ["Tipo", "Fenomeno", "Condizione", "Gruppo / Giudizio"])
@pytest.mark.parametrize("label", ["dislocazione a sinistra", "accordo corretto"])
def test_labels_of_any_words_under_any_heading_are_kept_and_ratings_are_still_to_come(
    tmp_path, heading, label
):
    lines = [line.format(n=n).replace("accordo corretto", label)
             for n, line in enumerate(SURVEYED, start=1)]  # fmt: skip
    path = written(tmp_path, f"Numero / Frase / {heading}", *lines)
    name = heading.partition(" / ")[0]
    listed = sentence_list(path, language="it")
    assert labels_named(listed) == [name]
    design = build_design(path, SurveyPlan(language="it", contact="Ada", checks=0, task="likert"))
    assert {one.item: dict(one.labels)[name] for one in design.questions} == {
        "1": label, "2": "accordo sbagliato", "3": "riempitivo", "4": label,
        "5": "accordo sbagliato",
    }  # fmt: skip
    assert not any(label in line for one in design.questions for line in one.lines)


def test_a_text_that_is_repeated_but_ends_as_a_sentence_is_no_label(tmp_path):
    lines = [line.format(n=n).replace("accordo corretto", "Piove da ieri.")
             for n, line in enumerate(SURVEYED, start=1)]  # fmt: skip
    assert sentence_list(written(tmp_path, "Numero / Frase / Contesto", *lines)) is None


@pytest.mark.parametrize(
    "lines",
    [
        # Numbers that do not go through the rows may be ratings.
        [LIST[0], *(f"{line.rpartition(' / ')[0]} / {n}" for line, n in zip(LIST[1:], "7143",
                                                                            strict=True))],
        # Of a sentence that appears twice, rows may be answers of two people.
        [*LIST, LIST[1].replace("1 /", "5 /", 1)],
        # A text of its own for each sentence is not a label.
        [LIST[0], *(f"{line} {n}" for n, line in enumerate(LIST[1:]))],
    ],
)  # fmt: skip
def test_other_tables_are_no_lists_with_labels(tmp_path, lines):
    assert sentence_list(written(tmp_path, *lines)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("gramatical", "agramatical"), ("accettabile", "inaccettabile"), ("legal", "illegal"),
     ("верно", "неверно"), ("Animate", "non-animate"), ("aceitável", "não aceitável")],
)  # fmt: skip
def test_an_opposite_is_never_what_was_meant(one, other):
    assert are_opposites(one, other)
    assert are_opposites(other, one)
    assert "Did you mean" not in did_you_mean(one, [other])
    assert "Did you mean" not in did_you_mean(other, [one])


def test_a_condition_is_not_proposed_for_its_opposite(tmp_path):
    rows = [f"{n} / {kind} / La frase número {n} dice algo." for n, kind in
            enumerate(("gramatical",) * 3 + ("agramatical",) * 2, start=1)]  # fmt: skip
    path = written(tmp_path, "ítem / condición / oración", *rows)
    faults = audit_suite(path, language="es").faults
    assert not any("Did you mean" in fault.todo for fault in faults)


def test_a_slip_is_still_corrected():
    assert did_you_mean("gramaticl", ["gramatical", "dudosa"]) == "Did you mean 'gramatical'?"


@pytest.mark.parametrize(
    ("name", "by"),
    [("valoración prevista", "author"), ("giudizio previsto", "author"),
     ("Expected rating", "author"), ("valoración media", "people")],
)  # fmt: skip
def test_ratings_that_the_author_expects_are_not_those_of_people(tmp_path, name, by):
    cells = (7, 1, 3, 6)
    rows = [f"{line.rpartition(' / ')[0]} / {n}" for line, n in zip(LIST[1:], cells, strict=True)]
    suite = load_suite(written(tmp_path, f"n.º / oración / {name}", *rows), language="es").suite
    assert ratings_by(suite) == by
    assert [one.mean for one in rated_of(suite).sentences] == [*cells]
