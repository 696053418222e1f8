"""Tables of form programs: what they write around answers is nobody's answer, and is not kept."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError
from cimento.judgments import read_judgments
from cimento.judgments.roles import map_of_options
from cimento.people.annotate.importing import questions_by_name, read_answers
from cimento.people.annotate.rows import ImportOptions
from tests.helpers.command_line import invoke

GOOD, BAD, THIRD = "The door is shut.", "The doors is shut.", "The lamp was new."
SENTENCES = (GOOD, BAD, THIRD)


def write(path, header, *rows):
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def read(tmp_path, header, *rows, columns="", **options):
    path = write(tmp_path / "form.csv", header, *rows)
    return read_answers(
        [path], ImportOptions(form="wide", columns=map_of_options(columns), **options)
    )


def said(imported):
    return {(j.item, j.annotator): j.value for j in imported.judgments}


def items(imported):
    return {judgment.item for judgment in imported.judgments}


CODED = ["Code", *SENTENCES]
THREE = (["p1", "5", "1", "4"], ["p2", "4", "2", "5"], ["p3", "5", "1", "3"])

STAMPS = ["2026/01/05 10:02:01", "2026/01/05 10:03:11", "2026/01/05 10:07:41"]
ASIDE = {
    # What is above it, what in it, and what is said of it.
    "Informazioni cronologiche": (STAMPS, "kept as the time of the answers"),
    "Quando": (["10:02", "10:04", "11:15"], "it has dates, times or durations"),
    "Età": (["23", "31", "58"], "it has ages or years of birth"),
    "Год рождения": (["1990", "2001", "1985"], "it has ages or years of birth"),
    "Quantos anos você tem?": (["23", "31", "58"], "it has ages or years of birth"),
    "Minutes": (["1200", "84", "300"], "its numbers (84 to 1200) are off the scale"),
    "Place": (["192.0.2.1", "192.0.2.7", "2001:db8::1"], "it has addresses"),
    "Contact": (["a@example.org", "b@example.org", ""], "it has addresses"),
    "Notes": (["the second was odd", "none", "I was tired"], "its answers are all different"),
    "Language": (["English", "English", "Welsh"], "are words, and those to the others numbers"),
    "Empty": (["", "", ""], "it has no answers"),
    "№": (["1", "2", "3"], "it counts the rows"),
}


@pytest.mark.parametrize("name", ASIDE)
def test_a_column_that_is_no_item_changes_no_judgment_and_is_named(tmp_path, name):
    cells, why = ASIDE[name]
    plain = read(tmp_path, CODED, *THREE)
    for place in (0, 2, 4):
        header = [*CODED[:place], name, *CODED[place:]]
        rows = [[*row[:place], cell, *row[place:]] for row, cell in zip(THREE, cells, strict=True)]
        more = read(tmp_path, header, *rows)
        assert said(more) == said(plain)
        (reading,) = more.readings
        kept = {"at": (name,)} if why.startswith("kept") else {}
        assert reading.roles == {"participant": ("Code",), "answers": SENTENCES} | kept
        assert kept or why in reading.unused[name]
        assert {j.at for j in more.judgments} == ({*cells} if kept else {None})
        assert name in reading.said()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from(sorted(ASIDE)), unique=True),
    st.lists(st.lists(st.sampled_from("1234567"), min_size=3, max_size=3), min_size=3, max_size=3),
    st.randoms(use_true_random=False),
)
def test_metadata_in_any_place_change_no_judgment(tmp_path_factory, names, ratings, random):
    folder = tmp_path_factory.mktemp("wide")
    table = {"Code": ["p1", "p2", "p3"]} | dict(zip(SENTENCES, ratings, strict=True))
    plain = read(folder, [*table], *zip(*table.values(), strict=True))
    table |= {name: ASIDE[name][0] for name in names}
    order = random.sample([*table], len(table))
    more = read(folder, order, *zip(*(table[name] for name in order), strict=True))
    assert said(more) == said(plain)
    assert len(plain.judgments) == 9
    (reading,) = more.readings
    assert {*reading.unused, *reading.roles.get("at", ())} == {*names}


def test_a_sentence_about_age_and_a_column_of_full_marks_are_items(tmp_path):
    header = ["Code", "The age of the tree is known.", "All right?", THIRD]
    answers = read(tmp_path, header, ["p1", "5", "7", "1"], ["p2", "3", "7", "1"])
    assert items(answers) == {*header[1:]}


def test_two_scales_in_one_table_are_refused_until_the_items_are_named(tmp_path):
    header = ["Code", *SENTENCES]
    rows = (["p1", "5", "1", "88"], ["p2", "4", "2", "93"])
    with pytest.raises(InputError, match=r"on one scale: those to 'The lamp was new\.' \(88 to"):
        read(tmp_path, header, *rows)
    assert items(read(tmp_path, header, *rows, items=("The *",))) == {*SENTENCES}
    assert items(read(tmp_path, header, *rows, items=(GOOD, BAD))) == {GOOD, BAD}


def test_times_and_addresses_are_no_items_even_if_asked_for(tmp_path):
    header = ["Code", "IP", GOOD]
    answers = read(tmp_path, header, ["p1", "192.0.2.1", "5"], ["p2", "192.0.2.2", "4"], items="*")
    assert items(answers) == {GOOD}


def test_words_that_are_no_numbers_are_counted(tmp_path):
    header = ["Code", GOOD, BAD]
    answers = read(tmp_path, header, ["p1", "fine", "bad"], ["p2", "fine", "awful"])
    assert len(answers.judgments) == 4
    assert any(
        note.startswith(
            "4 ratings are not a number ('fine', 'bad', 'awful'), and left out of means"
        )
        for note in answers.notes
    )


def test_na_is_an_empty_cell(tmp_path):
    answers = read(tmp_path, CODED, ["p1", "5", "NA", "4"], ["p2", "4", "2", "N/A"])
    assert sorted(said(answers).values()) == ["2", "4", "4", "5"]


NAMES = ["StartDate", "Status", "IPAddress", "Progress", "Finished", "ResponseId",
         "LocationLatitude", "DistributionChannel", "Q1", "Q2_1", "Q2_2", "Q2_3",
         "Q3_Page Submit"]  # fmt: skip
READ = [
    "Start Date",
    "Response Type",
    "IP Address",
    "Progress",
    "Finished",
    "Response ID",
    "Location Latitude",
    "Distribution Channel",
    "Which word did you get?",
    *(f"How good is it? - {sentence}" for sentence in SENTENCES),
    "Timing - Page Submit",
]
_IDS = (
    "startDate status ipAddress progress finished _recordId locationLatitude distributionChannel"
    " QID1_TEXT QID2_1 QID2_2 QID2_3 QID3_PAGE_SUBMIT"
)
IDS = [json.dumps({"ImportId": name}) for name in _IDS.split()]


def response(*ratings, status="IP Address", finished="True", number="R_1", code="c1"):
    progress = "100" if finished == "True" else "40"
    return ["2026-01-05 10:00:00", status, "192.0.2.9", progress, finished, number, "48.85",
            "anonymous", code, *ratings, "12.7"]  # fmt: skip


def test_the_three_headings_of_qualtrics_are_read(tmp_path):
    answers = read(tmp_path, NAMES, READ, IDS, response("5", "1", "4"),
                   response("4", "2", "5", number="R_2", code="c2"))  # fmt: skip
    assert said(answers)[GOOD, "R_1"] == "5"
    assert items(answers) == {*SENTENCES}
    assert "No column names the participants: each submission is one, by 'ResponseId'." in (
        answers.notes
    )
    # The columns may be named by either heading.
    for name in ("Q1", "Which word did you get?"):
        mapped = read(tmp_path, NAMES, READ, IDS, response("5", "1", "4"),
                      columns=f"participant={name}")  # fmt: skip
        assert {j.annotator for j in mapped.judgments} == {"c1"}


def test_two_headings_without_ids_are_read_too(tmp_path):
    answers = read(tmp_path, NAMES, READ, response("5", "1", "4"))
    assert items(answers) == {*SENTENCES}


def test_the_names_of_old_exports_of_qualtrics_stand_in_the_second_row(tmp_path):
    names = ["ResponseID", "IPAddress", "Status", "Finished", "How old are you?"]
    header = [*(f"V{n}" for n in range(1, 5)), "Q1", "Q2_1", "Q2_2"]
    texts = [*names, *(f"How good is it? - {sentence}" for sentence in (GOOD, BAD))]
    rows = (["R_1", "192.0.2.1", "0", "1", "31", "5", "1"],
            ["R_2", "192.0.2.2", "1", "1", "40", "3", "3"])  # fmt: skip
    answers = read(tmp_path, header, texts, *rows)
    assert said(answers) == {(GOOD, "R_1"): "5", (BAD, "R_1"): "1"}
    (reading,) = answers.readings
    assert reading.roles["participant"] == ("V1",)
    assert reading.written == ("V2", "V3", "V4")
    chosen = read(tmp_path, header, texts, *rows, columns="participant=V2!")
    assert {judgment.annotator for judgment in chosen.judgments} == {"192.0.2.1"}


@pytest.mark.parametrize(
    "status",
    [
        "Survey Preview",
        "Survey Test",
        "Spam",
        "1",
        "2",
        "8",
        "9",
        "17",
        "Anteprima sondaggio",
        "Vista previa de la encuesta",
        "Pré-visualização",
        "Предварительный просмотр",
    ],
)
def test_trial_runs_of_qualtrics_are_nobody(tmp_path, status):
    rows = (response("3", "3", "3", status=status, number="R_0"), response("5", "1", "4"))
    answers = read(tmp_path, NAMES, READ, IDS, *rows)
    assert {j.annotator for j in answers.judgments} == {"R_1"}
    assert "left out: rows 2 and 3" in answers.readings[0].said().replace(", 3", " and 3")
    assert "row 4 (a preview, a test or spam)" in answers.readings[0].said()


@pytest.mark.parametrize("status", ["IP Address", "Imported", "0", "4", "16"])
def test_other_submissions_are_people(tmp_path, status):
    answers = read(tmp_path, NAMES, READ, IDS, response("5", "1", "4", status=status))
    assert len(answers.judgments) == 3


@pytest.mark.parametrize("no", ["False", "FALSE", "0", "Falso", "Ложь"])
def test_what_was_never_submitted_is_left_out_unless_it_is_asked_for(tmp_path, no):
    rows = (response("5", "1", "4"), response("2", "", "", finished=no, number="R_2"))
    answers = read(tmp_path, NAMES, READ, IDS, *rows)
    assert {j.annotator for j in answers.judgments} == {"R_1"}
    assert "the answers in the row were never submitted (--unsubmitted keep reads them)" in (
        answers.passed
    )
    kept = read(tmp_path, NAMES, READ, IDS, *rows, unsubmitted="keep")
    assert said(kept)[GOOD, "R_2"] == "2"


@pytest.mark.parametrize(
    ("number", "sent", "page"),
    [
        ("id", "submitdate", "lastpage"),
        ("Response ID", "Date submitted", "Last page"),
        ("ID risposta", "Data invio", "Ultima pagina"),
        ("ID de respuesta", "Fecha de envío", "Última página"),
        ("ID da resposta", "Data de envio", "Última página"),
        ("ID ответа", "Дата отправки", "Последняя страница"),
    ],
)
def test_limesurvey_is_known_in_five_languages(tmp_path, number, sent, page):
    header = [number, sent, page, *(f"Rate [{sentence}]" for sentence in SENTENCES)]
    rows = (
        ["1", "2026-01-05 10:00:00", "3", "5", "1", "4"],
        ["2", "", "1", "4", "", ""],
        ["3", "2026-01-05 10:00:00", "3", "4", "2", "5"],
    )
    suite = tmp_path / "doors.tsv"
    suite.write_text(f"item\tgood\tbad\n1\t{GOOD}\t{BAD}\n", encoding="utf-8")
    answers = read(tmp_path, header, *rows, places=questions_by_name([suite]))
    assert {(j.condition, j.annotator, j.value) for j in answers.judgments} == {
        ("good", "1", "5"), ("bad", "1", "1"), ("good", "3", "4"), ("bad", "3", "2"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "header",
    [
        ["ID", "Start time", "Completion time", "Email", "Name"],
        ["ID", "Ora di inizio", "Ora di completamento", "Posta elettronica", "Nome"],
        ["ID", "Hora de inicio", "Hora de finalización", "Correo electrónico", "Nombre"],
        ["ID", "Hora de início", "Hora de conclusão", "Email", "Nome"],
        ["Идентификатор", "Время начала", "Время выполнения", "Адрес электронной почты", "Имя"],
    ],
)
def test_microsoft_forms_is_known_in_five_languages(tmp_path, header):
    rows = [
        [str(n), "1/5/26 10:00:00", "1/5/26 10:04:00", f"p{n}@example.org", f"Person {n}",
         "5", str(n)]
        for n in (1, 2)
    ]  # fmt: skip
    answers = read(tmp_path, [*header, GOOD, BAD], *rows)
    assert items(answers) == {GOOD, BAD}
    # Names that are kept as they are are not addresses.
    assert not any("@" in (judgment.annotator or "") for judgment in answers.judgments)


def test_nothing_that_a_program_wrote_of_people_is_stored(tmp_path, capsys):
    header = [*NAMES[:8], "RecipientEmail", "RecipientLastName", "UserAgent", "remark?",
              *SENTENCES]  # fmt: skip
    secret = ["192.0.2.9", "48.85", "e@example.org", "Rossi", "Mozilla/5.0 (X11)", "R_1", "12:00"]
    row = ["2026-01-05 12:00:00", "IP Address", "192.0.2.9", "100", "True", "R_1", "48.85",
           "email", "e@example.org", "Rossi", "Mozilla/5.0 (X11)", "hm", "5", "1", "4"]  # fmt: skip
    path = write(tmp_path / "form.csv", header, row)
    for suffix in (".csv", ".tsv", ".parquet"):
        out = tmp_path / f"out{suffix}"
        command = ["annotate", "import", str(path), "--form", "wide", "-o", str(out),
                   "--secret", str(tmp_path / "secret")]  # fmt: skip
        assert invoke(command) == 0
        stored = read_judgments(out).write_csv() + capsys.readouterr().err
        assert not [word for word in secret if word in stored]
        assert read_judgments(out)["value"].to_list() == ["5", "1", "4"]


def test_addresses_of_participants_are_not_kept_from_an_export_of_prolific(tmp_path, capsys):
    answers = write(tmp_path / "a.csv", ["annotator", "item", "value"], ["5e90", "x", "4"])
    export = write(
        tmp_path / "prolific.csv",
        ["Participant id", "Status", "Age", "Place", "Again"],
        ["5e90", "APPROVED", "30", "192.0.2.1", "id 5e90"],
    )
    command = ["annotate", "import", str(answers), "--form", "long", "-o", str(tmp_path / "o.csv"),
               "--secret", str(tmp_path / "secret"), "--prolific", str(export),
               "--participants", str(tmp_path / "p.tsv")]  # fmt: skip
    assert invoke([*command, "--keep", "Age"]) == 0
    for name in ("Place", "Again"):
        capsys.readouterr()
        assert invoke([*command, "--keep", name]) == 2
        assert "tells who they are" in capsys.readouterr().err
    assert "192.0.2.1" not in (tmp_path / "p.tsv").read_text("utf-8")


def test_a_column_that_is_called_as_the_answers_are_in_another_table_is_named(tmp_path):
    answers = read(tmp_path, [*CODED, "Nota"], *([*row, "3"] for row in THREE))
    assert items(answers) == {*SENTENCES}
    assert "Nota" in answers.readings[0].unused
    chosen = read(tmp_path, [*CODED, "Nota"], *([*row, "3"] for row in THREE), items=("Nota", GOOD))
    assert items(chosen) == {"Nota", GOOD}


def test_of_two_columns_with_one_heading_each_is_looked_at(tmp_path):
    names, texts = [*NAMES], [*READ]
    texts[NAMES.index("Q1")] = texts[NAMES.index("Q2_3")]
    answers = read(tmp_path, names, texts, IDS, response("5", "1", "4", code="fine"),
                   response("4", "2", "5", number="R_2", code="odd"),
                   response("4", "2", "5", number="R_3", code="hm"))  # fmt: skip
    assert "Q1" in answers.readings[0].unused
    assert len(answers.judgments) == 9


def questionnaire(tmp_path, *sentences):
    """A suite of two pairs, and a form in which two people rated some sentences."""
    suite = tmp_path / "doors.csv"
    suite.write_text(
        "item,good,bad\n1,Le porte sono aperte.,Le porte è aperte.\n"
        "2,Il cane abbaia.,Il cane abbaiano.\n",
        encoding="utf-8",
    )
    rows = [[who, *("4" for _ in sentences)] for who in ("s1", "s2")]
    return suite, write(tmp_path / "form.csv", ["Code", *sentences], *rows)


def test_a_sentence_that_the_form_spells_otherwise_is_named_with_the_nearest_question(tmp_path):
    asked = ["Le porte sono aperte.", "Le porte e aperte.", "Il cane abbaia.", "Quanti anni hai?"]
    suite, form = questionnaire(tmp_path, *asked)
    imported = read_answers([form], ImportOptions(places=questions_by_name([suite])))
    [lost] = [note for note in imported.notes if "no answers" in note]
    assert lost == (
        "2 sentences have no answers: item 1, bad: 'Le porte è aperte.' (the nearest unused"
        " question is 'Le porte e aperte.'); item 2, bad: 'Il cane abbaiano.'. If they are the"
        " same, write them alike, and import again."
    )
    # Nothing is taken for the sentence because it is nearly the same.
    assert {(j.item, j.condition) for j in imported.judgments} == {
        ("1", "good"), ("2", "good"),
    }  # fmt: skip


def test_nothing_is_said_where_every_sentence_has_an_answer(tmp_path):
    asked = ["Le porte sono aperte.", "Le porte è aperte.", "Il cane abbaia.", "Il cane abbaiano."]
    suite, form = questionnaire(tmp_path, *asked)
    imported = read_answers([form], ImportOptions(places=questions_by_name([suite])))
    assert not [note for note in imported.notes if "no answers" in note]
    [reading] = imported.readings
    assert '"Le porte è aperte.", "Il cane abbaia.", "Il cane abbaiano.";' in reading.said()


def test_apply_counts_the_sentences_without_ratings(tmp_path, capsys):
    suite, form = questionnaire(tmp_path, "Le porte sono aperte.", "Il cane abbaia.")
    judgments, copy = str(tmp_path / "j.csv"), str(tmp_path / "rated")
    given = ["annotate", "import", str(form), "--suite", str(suite), "--names", "keep"]
    assert invoke([*given, "-o", judgments]) == 0
    capsys.readouterr()
    scale = ["--scale", "1,5", "--language", "it"]
    assert invoke(["annotate", "apply", str(suite), judgments, *scale, "-o", copy]) == 0
    said = capsys.readouterr().err
    assert "2 sentences of the suite without ratings" in said
    # Runs of the suite itself are not where those of the copy go.
    assert f"cimento run {copy} -m MODEL -o {copy}-runs" in said


@pytest.mark.parametrize("keeps", [True, False])
def test_addresses_that_are_not_taken_are_said_where_names_are_kept(tmp_path, keeps):
    header = ["Timestamp", "Email Address", GOOD, BAD]
    rows = [["2026/03/02 10:02:11", "ada@example.org", "5", "1"],
            ["2026/03/02 10:04:11", "bea@example.org", "4", "2"]]  # fmt: skip
    secret = None if keeps else b"x" * 32
    imported = read(tmp_path, header, *rows, secret=secret)
    said = [note for note in imported.notes if "--secret FILE instead of --names keep" in note]
    assert len(said) == keeps
    assert all("'Email Address' is not used" in note for note in said)
    assert not any("@" in (judgment.annotator or "") for judgment in imported.judgments)


@pytest.mark.parametrize("number", ["{}. ", "{}) ", "({}) ", "Q{}: ", "{}."])
def test_questions_with_a_number_before_the_sentence_are_matched_and_counted(tmp_path, number):
    suite = write(tmp_path / "pairs.csv", ["item", "good", "bad"], ["1", GOOD, BAD])
    heads = [number.format(n) + text for n, text in enumerate((BAD, GOOD), start=1)]
    rows = [["p1", "1", "5"], ["p2", "2", "4"]]
    imported = read(tmp_path, ["Code", *heads], *rows, places=questions_by_name([suite]))
    given_by = {(j.condition, j.annotator): j.value for j in imported.judgments}
    assert given_by == {
        ("bad", "p1"): "1", ("good", "p1"): "5", ("bad", "p2"): "2", ("good", "p2"): "4"
    }  # fmt: skip
    assert any(note.startswith("2 questions were matched without") for note in imported.notes)


def test_a_sentence_that_begins_with_a_number_is_found_with_it_first(tmp_path):
    texts = ("10. August was wet.", "10. August were wet.", "August was wet.", "August were wet.")
    header = ["item", "good", "bad"]
    suite = write(tmp_path / "pairs.csv", header, ["1", *texts[:2]], ["2", *texts[2:]])
    rows = [["p1", "5", "1", "4", "2"], ["p2", "5", "1", "4", "2"]]
    imported = read(tmp_path, ["Code", *texts], *rows, places=questions_by_name([suite]))
    assert {(j.item, j.condition): j.value for j in imported.judgments} == {
        ("1", "good"): "5", ("1", "bad"): "1", ("2", "good"): "4", ("2", "bad"): "2"
    }  # fmt: skip
    assert not any("without the number" in note for note in imported.notes)


GRID = [f"How natural is it? [{text}]" for text in SENTENCES]


def test_a_question_of_other_words_than_all_sentences_is_no_sentence(tmp_path):
    header = ["Timestamp", "Is English your first language?", *GRID]
    rows = [
        ["2026/03/02 10:02:11", "Yes", "very natural", "not natural", "very natural"],
        ["2026/03/02 10:05:40", "Yes", "very natural", "not natural", "quite natural"],
        ["2026/03/02 10:06:03", "No", "quite natural", "not natural", "very natural"],
    ]
    imported = read(tmp_path, header, *rows)
    assert {one.item for one in imported.judgments} == {*SENTENCES}  # all say of one "not natural"
    (reading,) = imported.readings
    assert "('Yes' ...) are none of those to the others" in reading.unused[header[1]]


def test_questions_that_share_their_words_are_items_though_they_ask(tmp_path):
    header = ["Timestamp", "Is it right: the door are shut?", "Is it right: the lamp is on?"]
    rows = [
        ["2026/03/02 10:02:11", "no", "yes"],
        ["2026/03/02 10:05:40", "no", "yes"],
        ["2026/03/02 10:06:03", "yes", "no"],
    ]
    assert {one.item for one in read(tmp_path, header, *rows).judgments} == {*header[1:]}
