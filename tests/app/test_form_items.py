"""Sentences of a form: without the numbers before them, and with the author's items."""

from __future__ import annotations

from dataclasses import replace

import pytest
from openpyxl import load_workbook

from cimento.app.answer_tables import named_by_labels
from cimento.app.beside_ratings import beside_models
from cimento.app.beside_sentences import beside_grid
from cimento.app.form_sentences import save_sentences, sentences_of
from cimento.app.incoming import asked_about, read_upload
from cimento.app.words import LANGUAGES, words
from cimento.cli.main import invoke
from cimento.errors import InputError
from cimento.judgments import BETTER, Judgment
from cimento.kinds.registry import load_suite
from cimento.kinds.run import open_runs
from cimento.people.surveys.material import load_material
from cimento.suites.ratings import rated_of
from cimento.suites.stimuli import stimulus_texts
from cimento.suites.workbook_words import sheet_called

pytest.importorskip("nicegui")

from cimento.app.correcting import ReadFile
from cimento.app.labels import Labels, labels_of_items, surveyor_of
from cimento.app.which_good import save_pairs

WH = (
    ("Chi hai visto ieri?", "base"), ("Chi hai letto un libro che cita?", "isola"),
    ("Che cosa pensi che dica Ugo?", "base"), ("Che cosa ridi se dice Ugo?", "isola"),
    ("Dove credi che abiti Ada?", "base"), ("Dove senti la voce che abiti Ada?", "isola"),
    ("Quando sai che parte Lia?", "base"), ("Quando hai la prova che parte Lia?", "isola"),
)  # fmt: skip
RATED = {"P01": "71625271", "P02": "62715162", "P03": "52617153"}


def read(tmp_path, rows, suite=None):
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    return read_upload(
        "modulo.csv", text.encode(), asked=asked_about(suite), secret=tmp_path / "secret"
    )


def made(tmp_path, rows, language="en"):
    """The test that a form makes, and the answers read by it."""
    save_sentences(
        sentences_of(read(tmp_path, rows)), tmp_path / "modulo.xlsx", language="it", words=language
    )
    return tmp_path / "modulo.xlsx", read(tmp_path, rows, tmp_path / "modulo.xlsx").judgments


def labels_at(suite):
    """The labels that a test has."""
    material = load_material(suite)
    asked = surveyor_of(material.paradigm, material.suite).survey_items(material.suite, None)
    labels = {("modulo", *place): of for place, of in labels_of_items(asked.items).items()}
    return Labels.at(labels)


def wide(*headings, before=()):
    """A form with a column for each sentence; before them, columns with a cell for each person."""
    rows = [
        [who, *(cells[n] for _, cells in before), *ratings[: len(headings)]]
        for n, (who, ratings) in enumerate(RATED.items())
    ]
    return [["Codice", *(name for name, _ in before), *headings], *rows]


def rows_of(heading, numbers="11223344"):
    """A table with an answer in each row, and a column of numbers beside the sentences."""
    return [["Partecipante", heading, "Condizione", "Frase", "Giudizio"]] + [
        [who, number, condition, text, rating]
        for who, ratings in RATED.items()
        for number, (text, condition), rating in zip(numbers, WH, ratings, strict=True)
    ]


@pytest.mark.parametrize("number", ["{}. ", "{}) ", "Q{}: "])
def test_numbers_before_all_sentences_are_not_in_the_test_of_a_form(tmp_path, number):
    form = wide(*(number.format(n) + text for n, (text, _) in enumerate(WH, 1)))
    suite, judgments = made(tmp_path, form)
    texts = [text for text, _ in WH]
    assert [one.text for one in rated_of(load_suite(suite).sentences).sentences] == texts
    assert {one.candidate for one in judgments} == {*texts}
    assert any("8 questions are kept without" in note for note in read(tmp_path, form).notes)


def test_a_number_that_one_sentence_begins_with_stays(tmp_path):
    came = read(tmp_path, wide("8. settembre era festa.", *(text for text, _ in WH[:3])))
    assert came.judgments[0].item == "8. settembre era festa."
    assert not any("without the number" in note for note in came.notes)


@pytest.mark.parametrize(
    "heading",
    ["Nº ítem", "NÚMERO DE ÍTEM", "N. item", "Numero dell'item", "Item No.", "№ пункта",
     "N.º do item", "Item", "Serie"],
)  # fmt: skip
def test_a_column_of_items_is_read_whatever_it_is_called(tmp_path, heading):
    came = read(tmp_path, rows_of(heading))
    assert came.readings[0].roles["item"] == (heading,)
    assert [one.item for one in came.judgments[:8]] == [*"11223344"]
    assert any("that of the items" in note for note in came.notes) == (heading == "Serie")


@pytest.mark.parametrize("numbers", ["12345678", "11112222", "11221122"])
def test_numbers_that_are_no_items_are_none(tmp_path, numbers):
    assert "item" not in read(tmp_path, rows_of("Serie", numbers)).readings[0].roles


def test_the_authors_items_are_those_of_the_test_and_of_what_is_shown(tmp_path):
    suite, judgments = made(tmp_path, rows_of("Nº ítem"))
    loaded = load_suite(suite)
    assert {*loaded.sentences.clusters().values()} == {("cluster", n) for n in "1234"}
    assert [one.item for one in judgments[:3]] == ["1/base", "1/isola", "2/base"]
    named, _ = named_by_labels(judgments, labels_at(suite))
    shown = [(one.item, one.condition) for one in named[:8]]
    numbered = zip("11223344", WH, strict=True)
    assert shown == [(number, condition) for number, (_, condition) in numbered]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_test_of_a_form_is_in_the_language_of_the_window_and_is_read_back(tmp_path, language):
    paths = []
    for folder, code in (("first", "en"), ("second", language)):
        (tmp_path / folder).mkdir()
        paths.append(made(tmp_path / folder, rows_of("Nº ítem"), language=code)[0])
    english, told = (load_suite(path).suite for path in paths)
    assert replace(told, meta=english.meta) == english
    assert told.meta.language == "it"
    about, items, *_ = load_workbook(paths[1])
    cells = [cell.value for row in about.iter_rows() for cell in row]
    assert about.title == sheet_called("about", language)
    assert items.title == sheet_called("items", language)
    assert ("language" in cells) == (language == "en")
    # The author's Condizione could not be told from cimento's in Italian.
    assert [cell.value for cell in items[1]][:4] == ["item", "condition", "text", "Condizione"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_pairs_that_are_made_have_headings_in_the_language_of_the_window(tmp_path, language):
    path = tmp_path / "coppie.xlsx"
    pairs = {"1": ("Il cane dorme.", "Il cane dormono."), "2": ("Lia parte.", "Lia partono.")}
    save_pairs(pairs, path, language="it", words=language)
    head = [cell.value for cell in [*load_workbook(path)][1][1]]
    told = {"en": ["item", "condition", "text"], "it": ["item", "condizione", "frase"],
            "es": ["ítem", "condición", "oración"], "pt": ["item", "condição", "frase"],
            "ru": ["пункт", "условие", "предложение"]}  # fmt: skip
    assert head == told[language]
    assert [*stimulus_texts(load_suite(path).sentences).values()] == [*sum(pairs.values(), ())]


def test_numbers_of_sentences_of_their_own_are_their_ids(tmp_path):
    form = rows_of("Item", "24681357")
    _, judgments = made(tmp_path, form)
    assert [one.item for one in judgments[:8]] == [*"24681357"]


def test_items_count_together_beside_a_model_as_they_do_without_people(tmp_path):
    suite, judgments = made(tmp_path, rows_of("Item"))
    output = str(tmp_path / "run")
    assert invoke(["run", str(suite), "--language", "it", "-m", "demo-causal", "-o", output]) == 0
    (run,) = open_runs(tmp_path / "run")
    (beside,) = beside_models(judgments, [run])
    assert (beside.correlation.n, beside.correlation.low) == (8, None)
    assert "4" in beside.correlation.reason
    grid = beside_grid(beside, labels_at(suite), words("es"))
    at = grid.header.index("Ítem")
    assert [str(row[at]) for row in grid.rows] == [*"11223344"]
    assert [title for title in grid.header if "Condi" in title] == ["Condizione"]


def test_a_question_with_a_scale_in_brackets_among_sentences_is_none(tmp_path):
    question = ("Quante lingue parli? (1-5)", "312")
    reading = read(tmp_path, wide(*(text for text, _ in WH), before=[question])).readings[0]
    assert "scale in brackets" in reading.unused[question[0]]
    assert len(reading.roles["answers"]) == len(WH)


def test_scales_in_all_questions_say_nothing(tmp_path):
    came = read(tmp_path, wide(*(f"{text} (1-7)" for text, _ in WH)))
    assert len(came.readings[0].roles["answers"]) == len(WH)


def test_a_question_before_statements_that_may_be_a_sentence_is_asked_about(tmp_path):
    texts = ["Il cane dorme.", "La zia canta.", "Ugo legge il giornale.", "Piove forte."]
    form = wide("Chi dorme?", *texts)
    (doubt,) = sentences_of(read(tmp_path, form)).doubts
    assert "'Chi dorme?'" in doubt
    assert sentences_of(read(tmp_path, wide(*texts, "Chi dorme?"))).doubts == []


PAIRS = (("Il cane dorme.", "Il cane dormono."), ("Lia parte.", "Lia partono."))


@pytest.mark.parametrize(
    "cells",
    [("Sì, inglese.", "No", "Sì, tedesco."), ("Sì, inglese.", "Sì, tedesco.", "Sì, russo.")],
)
def test_an_answer_that_begins_with_yes_is_no_sentence_to_choose(tmp_path, cells):
    rows = [["Codice", "Parli un'altra lingua?", "1. Quale è meglio?", "2. Quale è meglio?"]]
    for who, cell, first, second in zip(RATED, cells, (0, 0, 1), (0, 1, 0), strict=True):
        rows.append([who, cell, PAIRS[0][first], PAIRS[1][second]])
    came = read(tmp_path, rows)
    assert came.readings[0].roles["answers"] == ("1. Quale è meglio?", "2. Quale è meglio?")
    assert {one.question for one in came.judgments} == {BETTER}


def paper(names):
    """A table as on paper: names where they stand, one rating in each row."""
    rows = rows_of("Item")
    return [rows[0], *([name, *row[1:]] for name, row in zip(names, rows[1:], strict=True))]


def test_a_name_in_the_first_row_of_each_block_is_that_of_the_rows_below(tmp_path):
    first = [name for who in RATED for name in (who, *[""] * (len(WH) - 1))]
    came, whole = read(tmp_path, paper(first)), read(tmp_path, rows_of("Item"))
    assert came.judgments == whole.judgments
    assert any("of those below it without one" in note for note in came.notes)


@pytest.mark.parametrize("row", [7, 9])
def test_a_name_that_is_lacking_among_others_is_not_guessed(tmp_path, row):
    names = [who for who in RATED for _ in WH]
    names[row] = ""
    with pytest.raises(InputError, match="whose answer it is"):
        read(tmp_path, paper(names))


def test_an_answer_is_found_in_the_rows_of_its_file():
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows_of("Item"))
    roles = {"Giudizio": "answer"}
    file = ReadFile(name="modulo.csv", data=text.encode(), roles=roles, suite=None)
    rating = Judgment(suite="", item="1", candidate=WH[1][0], value="1")
    assert file.rows_of(rating) == [3]
    form = wide(*(f"{n}. {text}" for n, (text, _) in enumerate(WH, 1)))
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in form)
    file = ReadFile(name="modulo.csv", data=text.encode(), roles={}, suite=None)
    assert file.rows_of(rating) == [2]
    assert file.rows_of(Judgment(suite="", item="1", candidate=WH[1][0], value="2")) == [3, 4]
