"""Tables of people's answers in any layout: read as they were, and nothing is silent."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento import CimentoError
from cimento.intake.words import NAMES
from cimento.judgments.roles import map_of_options
from cimento.people.annotate.importing import read_answers
from cimento.people.annotate.rows import ImportOptions

SENTENCES = ["Il cane dorme.", "Il cane dormono.", "La porta è chiusa."]
PEOPLE = ["anna", "bruno", "carla", "dario"]
RATINGS = [["7", "1", "6"], ["6", "2", "6"], ["7", "1", "5"], ["5", "2", "7"]]
EXPECTED = {
    (who, text): rating
    for who, row in zip(PEOPLE, RATINGS, strict=True)
    for text, rating in zip(SENTENCES, row, strict=True)
}
STAMPS = [f"2026-01-05 10:0{n}:11" for n in range(4)]
NUMBERS = ["1", "2", "3", "4"]
LONG = {
    "participant": [who for who in PEOPLE for _ in SENTENCES],
    "sentence": SENTENCES * 4,
    "answer": [rating for row in RATINGS for rating in row],
}
NAMED = {role: sorted({role, *NAMES[role]}) for role in LONG}
ASKED = dict(zip(SENTENCES, zip(*RATINGS, strict=True), strict=True))
WIDE = {
    "": {"Participant": PEOPLE},
    "Google Forms": {"Timestamp": STAMPS, "Name": PEOPLE},
    "Google Forms, it": {"Informazioni cronologiche": STAMPS, "Codice": PEOPLE},
    "Google Forms, es": {"Marca temporal": STAMPS, "Código": PEOPLE},
    "Google Forms, pt": {"Carimbo de data/hora": STAMPS, "Nome": PEOPLE},
    "Google Forms, ru": {"Отметка времени": STAMPS, "Код": PEOPLE},
    "Microsoft Forms": {"Id": NUMBERS, "Start time": STAMPS, "Completion time": STAMPS,
                        "Name": PEOPLE},
    "Microsoft Forms, pt": {"ID": NUMBERS, "Hora de início": STAMPS, "Hora de conclusão": STAMPS,
                            "Nome": PEOPLE},
    "LimeSurvey": {"submitdate": STAMPS, "lastpage": ["3"] * 4, "participant": PEOPLE},
    "LimeSurvey, ru": {"Дата отправки": STAMPS, "Последняя страница": ["3"] * 4, "код": PEOPLE},
    "Qualtrics": {"StartDate": STAMPS, "Finished": ["True"] * 4, "Progress": ["100"] * 4,
                  "ResponseId": PEOPLE},
}  # fmt: skip
OTHERS = {
    "uid": ["4017", "4003", "4051", "4032"],
    "matricola": ["10234", "10233", "20111", "10007"],
    "ID": ["7", "3", "9", "4"],
    "Età": ["23", "31", "58", "19"],
    "Year of birth": ["1990", "2001", "1985", "1999"],
    "giorno": [f"{n}/11/2026" for n in range(1, 5)],
    "Durata": ["5 min 3 s", "12 min", "7 min 40 s", "9 min"],
    "seconds spent": ["512", "733", "402", "655"],
    "Media": ["4.67", "4.67", "4.33", "4.67"],
    "z": ["0.31", "-0.42", "0.17", "-0.06"],
    "Totale": ["14", "14", "13", "14"],
    "codice fiscale": ["R_ax4", "R_bx4", "R_cx4", "R_dx4"],
    "indirizzo": ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"],
    "note": ["la seconda è strana", "bello", "niente", "ero stanco"],
    "lingua": ["italiano", "italiano", "sardo", "italiano"],
    "dati": ['{"a": 1}', '{"a": 2}', '{"a": 3}', '{"a": 4}'],
}
"""Columns of a person each that are not answers; in tables of single answers repeated."""


def written(folder, columns, *, separator=",", encoding="utf-8"):
    text = io.StringIO()
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    if separator == "\t":
        text.write("".join("\t".join(row) + "\n" for row in rows))
    else:
        csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    path = Path(folder) / ("answers.tsv" if separator == "\t" else "answers.csv")
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def read(columns, **layout):
    """What people said of each sentence, and the reading."""
    with TemporaryDirectory() as folder:
        answers = read_answers([written(folder, columns, **layout)], ImportOptions())
    (reading,) = answers.readings
    judged = {(j.annotator, j.candidate or j.item): j.value for j in answers.judgments}
    assert len(judged) == len(answers.judgments) == reading.n_judgments
    assert reading.n_people == len({who for who, _ in judged})
    return judged, reading


def accounted(columns, reading):
    """Whether every column is in one part of the reading."""
    named = [name for names in reading.roles.values() for name in names]
    return sorted([*named, *reading.unused, *reading.written]) == sorted(columns)


LAYOUTS = st.tuples(st.sampled_from(",;\t"), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))


@settings(deadline=None)
@given(data=st.data())
def test_answers_in_rows_are_read_as_they_were_in_any_layout(data):
    order = data.draw(st.permutations(list(LONG)))
    names = {role: data.draw(st.sampled_from(NAMED[role])) for role in order}
    case = data.draw(st.sampled_from([str, str.capitalize, str.upper]))
    laid_out = {case(names[role]): LONG[role] for role in order}
    assume(len(laid_out) == len(LONG))
    separator, encoding = data.draw(LAYOUTS)
    judged, reading = read(laid_out, separator=separator, encoding=encoding)
    assert judged == EXPECTED
    assert accounted(laid_out, reading)


@pytest.mark.parametrize("program", WIDE)
@settings(deadline=None)
@given(data=st.data())
def test_answers_in_columns_are_read_as_they_were_in_any_layout(program, data):
    columns = {**WIDE[program], **ASKED}
    laid_out = {name: columns[name] for name in data.draw(st.permutations(list(columns)))}
    separator, encoding = data.draw(LAYOUTS)
    judged, reading = read(laid_out, separator=separator, encoding=encoding)
    assert judged == EXPECTED
    assert reading.program == program.partition(",")[0]
    assert accounted(laid_out, reading)


@pytest.mark.parametrize("program", WIDE)
@settings(deadline=None)
@given(data=st.data())
def test_a_column_of_anything_else_changes_no_judgment_and_is_named(program, data):
    more = data.draw(st.lists(st.sampled_from(sorted(OTHERS)), unique=True, min_size=1, max_size=5))
    columns = {**WIDE[program], **ASKED, **{name: OTHERS[name] for name in more}}
    laid_out = {name: columns[name] for name in data.draw(st.permutations(list(columns)))}
    assume(len({name.casefold() for name in laid_out}) == len(laid_out))
    judged, reading = read(laid_out)
    assert judged == EXPECTED
    assert {*more} <= {*reading.unused, *reading.written}
    assert accounted(laid_out, reading)


@settings(deadline=None)
@given(data=st.data())
def test_so_it_does_where_each_row_is_an_answer(data):
    more = data.draw(st.lists(st.sampled_from(sorted(OTHERS)), unique=True, min_size=1, max_size=5))
    cells = {name: [cell for cell in OTHERS[name] for _ in SENTENCES] for name in more}
    columns = {**LONG, **cells}
    laid_out = {name: columns[name] for name in data.draw(st.permutations(list(columns)))}
    judged, reading = read(laid_out)
    assert judged == EXPECTED
    assert {*more} == {*reading.unused}


FILLINGS = ("giorno", "Durata", "dati")


@pytest.mark.parametrize("filling", [*FILLINGS, "Media"])
@pytest.mark.parametrize("role", LONG)
def test_no_column_has_a_role_that_its_cells_do_not_fit(role, filling):
    if (role, filling) == ("answer", "Media"):
        return  # a slider's answers are such numbers
    cells = [cell for cell in OTHERS[filling] for _ in SENTENCES]
    with pytest.raises(CimentoError) as refused:
        read({**LONG, role: cells})
    if role != "sentence":
        assert f"{role!r} holds" in str(refused.value)


@pytest.mark.parametrize("filling", FILLINGS)
def test_a_question_that_got_no_answers_is_no_item(filling):
    judged, reading = read({**WIDE[""], **ASKED, SENTENCES[0]: OTHERS[filling]})
    assert judged == {key: value for key, value in EXPECTED.items() if key[1] != SENTENCES[0]}
    assert reading.unused[SENTENCES[0]]


@pytest.mark.parametrize("filling", FILLINGS)
def test_a_chosen_column_that_does_not_fit_needs_a_mark(filling):
    cells = [cell for cell in OTHERS[filling] for _ in SENTENCES]
    with TemporaryDirectory() as folder:
        path = written(folder, {**LONG, "Chi": cells})
        with pytest.raises(CimentoError, match=r"'Chi' holds .* give participant=Chi!"):
            read_answers([path], ImportOptions(columns=map_of_options("participant=Chi")))
        answers = read_answers([path], ImportOptions(columns=map_of_options("participant=Chi!")))
    (reading,) = answers.readings
    assert reading.forced == ("Chi",)
    assert {judgment.annotator for judgment in answers.judgments} == {*OTHERS[filling]}


def test_two_columns_that_may_be_the_answers_are_refused_with_an_option_for_each():
    columns = {**LONG, "rating": [str(8 - int(rating)) for rating in LONG["answer"]]}
    with TemporaryDirectory() as folder:
        path = written(folder, columns)
        with pytest.raises(CimentoError, match=r"answer=answer' or .*answer=rating'"):
            read_answers([path], ImportOptions())
        for name in ("answer", "rating"):
            chosen = map_of_options(f"answer={name}")
            answers = read_answers([path], ImportOptions(columns=chosen))
            assert [judgment.value for judgment in answers.judgments] == columns[name]


def test_a_form_that_asks_twice_about_a_sentence_gives_its_marks_and_leaves_texts_out(tmp_path):
    path = tmp_path / "form.csv"
    rows = [["Timestamp", *SENTENCES, *SENTENCES]]
    for stamp, marks in zip(STAMPS, ("✓*✓", "✓?✓", "✓*?", "?*✓"), strict=True):
        rows.append([stamp, *marks, *(f"vuol dire che {text.lower()}" for text in SENTENCES)])
    path.write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
    answers = read_answers([path], ImportOptions())
    (reading,) = answers.readings
    assert [one.value for one in answers.judgments[:3]] == ["✓", "*", "✓"]
    assert reading.roles["answers"] == tuple(SENTENCES)
    assert set(reading.unused) == {f"{text} (2)" for text in SENTENCES}
    rows[1:] = [[stamp, *"717", *"112"] for stamp in STAMPS]
    path.write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
    with pytest.raises(CimentoError, match="appears twice, with answers both times"):
        read_answers([path], ImportOptions())


@pytest.mark.parametrize("heading", ["Nota (1-7)", "Julgamento [1 a 7]", "Valoración (1 = mal)"])
def test_a_heading_of_answers_may_have_its_scale_behind_it(tmp_path, heading):
    path = tmp_path / "papel.csv"
    rows = [["Participante", "Item", "Frase", heading]]
    rows += [[who, str(n), text, "5"] for who in ("P01", "P02") for n, text in enumerate(SENTENCES)]
    path.write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
    answers = read_answers([path], ImportOptions())
    (reading,) = answers.readings
    assert reading.roles["answer"] == (heading,)
    assert [one.value for one in answers.judgments] == ["5"] * 2 * len(SENTENCES)
