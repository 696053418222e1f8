"""Sentences that are read word by word, in the hands of a user: made, proposed, answered, shown."""

import io

import polars as pl
import pytest

from cimento import score
from cimento.app.survey_form import sentences_table
from cimento.judgments import judgments_of, read_judgments
from cimento.people.surveys import DATABASE, read_design, storage
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.times import word_times
from tests.helpers.app_user import visit
from tests.helpers.reading_help import maze_design, reading_design, times_of, written

pytest.importorskip("nicegui")
pytest.importorskip("openpyxl")

import openpyxl
from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload


def fill(user, kind, label, value):
    """Fill in the field of a kind with a label."""
    fields = {field.props.get("label"): field for field in user.find(kind).elements}
    fields[label].value = value


@pytest.fixture
def folder(tmp_path):
    suites = tmp_path / "suites"
    suites.mkdir()
    written(suites)
    return tmp_path


def answer_all(survey, people, *, wrong_at=None):
    """Have people read everything, on the disk, and answer every question with its first choice."""
    design, database = read_design(survey), survey / DATABASE
    storage.prepare(database, design)
    for person, _ in storage.invite_participants(database, design, people):
        with storage.opened_database(database) as connection:
            storage.store_consent(connection, person.id, design)
            for id_ in person.questions:
                asked = design.by_id[id_]
                times, *others = design.fields_of(asked)
                values = {times.name: times_of(asked, wrong_at=wrong_at)}
                values |= {one.name: one.choices[0].value for one in others}
                storage.store_answer(
                    connection, person.id, id_, values, remark="", seconds=2.0,
                    asked=person.questions,
                )  # fmt: skip


async def begin(user, language, task, responsible):
    """Open the form for a survey of the small suite."""
    await user.open(f"/{language}/people?suite=suites/frasi.csv")
    fill(user, ui.input, responsible, "Anna Bianchi, anna@example.org")
    labels = {"en": ("Task", "Language of the instructions"),
              "it": ("Compito", "Lingua delle istruzioni")}[language]  # fmt: skip
    fill(user, ui.select, labels[0], task)
    fill(user, ui.select, labels[1], "it")


def test_self_paced_reading_is_made_with_typed_practice_and_its_question(folder):
    async def flow(user):
        await begin(user, "it", "reading", "Responsabile (nome ed e-mail)")
        await user.should_see("Le parole vengono cronometrate")
        await user.should_not_see("Punti della scala")
        await user.should_not_see(marker="distractors")
        fill(user, ui.textarea, "Frasi di prova, chieste per prime",
             "Il treno parte alle otto. | Si parla di un treno? | sì\n"
             "La nonna cuce. | Chi cuce? | la nonna | il gatto")  # fmt: skip
        await user.should_see("--task reading")
        user.find("Crea il questionario").click()
        await user.should_see("Su frasi.", retries=300)
        await user.should_see("Script per PCIbex")
        await user.should_not_see("Pagine da stampare")

    visit(folder, flow)
    design = read_design(folder / "surveys" / "frasi")
    assert design.task == "reading"
    practice = [one for one in design.questions if one.kind == "practice"]
    assert [one.comprehension for one in practice] == ["Si parla di un treno?", "Chi cuce?"]
    assert [choice.label for choice in practice[1].choices] == ["il gatto", "la nonna"]
    assert [one.correct for one in practice] == ["yes", "la nonna"]


def test_the_right_answer_of_a_typed_question_is_not_always_the_first():
    table = sentences_table("Il cane dorme. | Chi? | il cane | il gatto | Anna\nPiove.\n\n")
    assert table.split("\n") == [
        "text\tcomprehension\tcomprehension_answer\tcomprehension_choices",
        "Il cane dorme.\tChi?\til cane\tAnna | il cane | il gatto",
        "Piove.\t\t\t",
        "",
    ]


def test_a_maze_has_distractors_that_a_model_proposes_and_a_person_corrects(folder):
    given = {}

    async def flow(user):
        await begin(user, "en", "maze", "Who is responsible (name and e-mail)")
        user.find("Make the survey").click()
        await user.should_see("Distractors: None are chosen", kind=ui.notification, retries=300)
        user.find("Propose distractors").click()
        await user.should_see("Words: ", retries=600)
        user.find("Sheet of distractors (Excel)").click()
        content = (await user.download.next()).content
        book = openpyxl.load_workbook(io.BytesIO(content))
        sheet = book.active
        header = [cell.value for cell in sheet[1]]
        column, position = header.index("distractor") + 1, header.index("position") + 1
        for row in range(2, sheet.max_row + 1):
            if int(sheet.cell(row, position).value) == 2:  # a person corrects these
                sheet.cell(row, column).value = f"xyz{row}"
            elif not sheet.cell(row, column).value:
                sheet.cell(row, column).value = f"abc{row}"
        corrected = io.BytesIO()
        book.save(corrected)
        _, back, *_ = sorted(user.find(ui.upload).elements, key=lambda one: one.id)
        await back.handle_uploads([SmallFileUpload("corrette.xlsx", "", corrected.getvalue())])
        await user.should_see("In use: corrette.xlsx", retries=300)
        await user.should_see("--distractors surveys/frasi/material/distractors.xlsx")
        fill(user, ui.select, "After a wrong choice", "correct")
        user.find("Make the survey").click()
        await user.should_see("About frasi.", retries=300)
        given["bytes"] = corrected.getvalue()

    visit(folder, flow)
    design = read_design(folder / "surveys" / "frasi")
    assert (design.task, design.after_error) == ("maze", "correct")
    assert {question.foils[0] for question in design.questions} == {"x-x-x"}
    assert all(question.foils[1].startswith("xyz") for question in design.questions)
    kept = folder / "surveys" / "frasi" / "material" / "distractors.xlsx"
    assert kept.read_bytes() == given["bytes"]


def test_a_proposal_that_lacks_words_is_not_used_unread(folder):
    lines = "item,good,bad\n1,Il gatto dorme.,Il gatto dormono.\n"
    (folder / "suites" / "corta.csv").write_text(lines, encoding="utf-8")

    async def flow(user):
        await user.open("/it/people?suite=suites/corta.csv")
        fill(user, ui.select, "Compito", "maze")
        fill(user, ui.select, "Lingua delle istruzioni", "it")
        user.find("Proponi i distrattori").click()
        await user.should_see("nessuna parola trovata: scrivine una", retries=600)
        user.find(marker="maze-read").click()
        await user.should_see("dev'essere una sola parola", kind=ui.notification, retries=300)
        await user.should_not_see("In uso:")

    visit(folder, flow)


def test_words_of_ones_own_are_counted_and_a_file_without_any_is_refused(folder):
    async def flow(user):
        await begin(user, "en", "maze", "Who is responsible (name and e-mail)")
        words = min(user.find(ui.upload).elements, key=lambda one: one.id)
        await words.handle_uploads([SmallFileUpload("vuoto.txt", "", b"1 2 3\n")])
        await user.should_see("there are no words in it", kind=ui.notification, retries=300)
        text = b"il pane e il sale e il vino"
        await words.handle_uploads([SmallFileUpload("testo.txt", "", text)])
        await user.should_see("testo.txt: 5 words, with their frequencies.", retries=300)

    visit(folder, flow)


def test_times_are_shown_with_what_is_left_out_and_beside_a_model(folder):
    survey = folder / "surveys" / "lette"
    design = reading_design(folder / "suites")
    write_survey(design, survey)
    answer_all(survey, 6)
    got = []

    async def flow(user):
        await user.open("/en/people?survey=surveys/lette")
        user.find("Read the answers").click()
        await user.should_see("Show the times", retries=300)
        await user.should_not_see("Compare with runs")
        fill(user, ui.number, "Leave out times above (ms)", 304)
        await user.should_not_see("What a wrong choice leaves out")
        user.find("Show the times").click()
        await user.should_see("Left out (longer than 304 ms):", retries=300)
        await user.should_see("--design surveys/lette -o judgments/lette-times.csv --longest 304")
        await user.should_see("fewer than five people or items")
        fill(user, ui.number, "Leave out times above (ms)", None)
        user.find("Show the times").click()
        await user.should_not_see("Left out (longer", retries=300)
        for name in ("Times by word (Excel)", "Times by word (CSV)"):
            user.find(name).click()
            got.append((await user.download.next()).content)
        user.find("Ask the model").click()
        await user.should_see("Surprisal (bits per word)", retries=600)
        await user.should_see("demo-causal: Spearman's rho")
        user.find("Times with surprisals (CSV)").click()
        got.append((await user.download.next()).content)

    visit(folder, flow)
    judgments = judgments_of(read_judgments(folder / "judgments" / "lette.parquet"))
    words = word_times(judgments, design).words
    sheet = openpyxl.load_workbook(io.BytesIO(got[0])).active
    header, *rows = sheet.iter_rows(values_only=True)
    assert len(rows) == len(words) == got[1].decode().count("\n") - 1
    assert [row[header.index("rt")] for row in rows] == [word.rt for word in words]
    joined = (
        pl.read_csv(got[2])
        .filter(pl.col("text") == "1/good")
        .unique("position", maintain_order=True)
    )
    alone = score("Le finestre della scuola erano aperte.", "demo-causal", level="word")
    expected = alone["surprisal_bits"].to_list()[:5]
    assert joined["surprisal_bits"].to_list()[:5] == pytest.approx(expected)


def test_the_means_on_the_page_are_those_of_the_times(folder):
    """By hand: the second word of every sentence took 302 ms."""
    survey = folder / "surveys" / "lette"
    write_survey(reading_design(folder / "suites"), survey)
    answer_all(survey, 2)

    async def flow(user):
        await user.open("/it/people?survey=surveys/lette")
        user.find("Leggi le risposte").click()
        await user.should_see("Mostra i tempi", retries=300)
        user.find("Mostra i tempi").click()
        await user.should_see("Parola numero", retries=300)
        rows = [
            [cell.text for cell in row.default_slot.children]
            for row in user.find(kind=ui.element).elements
            if row.tag == "tr" and len(row.default_slot.children) == 8
        ]
        second = [row for row in rows if row[0] == "2"]
        assert {row[1] for row in second} == {"good", "bad"}
        assert {row[2] for row in second} == {"302"}

    visit(folder, flow)


def test_a_wrong_choice_in_a_maze_leaves_the_rest_out_or_nothing(folder, tmp_path_factory):
    survey = folder / "surveys" / "labirinto"
    write_survey(maze_design(tmp_path_factory.mktemp("maze")), survey)
    answer_all(survey, 2, wrong_at=2)

    async def flow(user):
        await user.open("/ru/people?survey=surveys/labirinto")
        user.find("Прочитать ответы").click()
        await user.should_see("Показать время", retries=300)
        user.find("Показать время").click()
        await user.should_see("не прочитано после неверного выбора", retries=300)
        await user.should_see("Исключено (неверный выбор): 6.")
        fill(user, ui.select, "Что исключается после неверного выбора", "keep")
        user.find("Показать время").click()
        await user.should_not_see("Исключено (неверный выбор): 6.", retries=300)
        await user.should_see("--errors keep")

    visit(folder, flow)
