"""What a survey asks beside its sentences, and the proportions of choices, as a user sees them."""

import csv
import io

import pytest

from cimento.app.frame import Text
from cimento.judgments import BETTER, judgments_of, read_judgments
from cimento.people.surveys import DATABASE, storage
from cimento.people.surveys.building import build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.builtin import find_suite
from tests.app.test_people_page import answer_all, fill
from tests.helpers.app_user import visit

pytest.importorskip("nicegui")
pytest.importorskip("starlette")

from nicegui import ui


def test_a_typed_line_with_one_answer_is_named_as_it_was_typed(tmp_path):
    async def flow(user):
        await user.open("/es/people?suite=it-acceptability")
        fill(user, ui.input, "Responsable (nombre y correo electrónico)", "Ana, ana@example.org")
        fill(user, ui.textarea, "Oraciones de relleno, mezcladas con las demás",
             "\nEl tren llega.\nEl niño come pan. | El niño comen pan.")  # fmt: skip
        user.find("Crear el cuestionario").click()
        await user.should_see(
            "línea 3: «El niño come pan. | El niño comen pan.»: no hay dos respuestas distintas"
            " entre las que elegir.",
            retries=300,
        )
        await user.should_not_see("fila 3")

    visit(tmp_path, flow)
    assert not (tmp_path / "surveys" / "it-acceptability").exists()


def test_of_choices_the_share_of_each_sentence_is_shown_and_no_empty_mean(tmp_path):
    survey = tmp_path / "surveys" / "pares"
    plan = SurveyPlan(checks=0, limit=2, contact="Ana, ana@example.org", task="choice", surveys=1)
    design = build_design(find_suite("it-connectives"), plan)
    write_survey(design, survey)
    storage.prepare(survey / DATABASE, design)
    invited = storage.invite_participants(survey / DATABASE, design, 4)
    items = sorted({asked.item for asked in design.questions})
    options = {
        asked.item: sorted(choice.value for choice in asked.choices) for asked in design.questions
    }
    with storage.opened_database(survey / DATABASE) as connection:
        for number, (person, _) in enumerate(invited):
            storage.store_consent(connection, person.id, design)
            for question in person.questions:
                item = design.by_id[question].item
                # Three of four people take the first sentence of one item, all that of the other.
                last = item == items[0] and number == 3
                storage.store_answer(
                    connection, person.id, question, {BETTER: options[item][last]}, remark="",
                    seconds=2.0, asked=person.questions,
                )  # fmt: skip
    shown = []

    async def flow(user):
        await user.open("/es/people?survey=surveys/pares")
        user.find("Leer las respuestas").click()
        await user.should_see("Elecciones por oración", retries=300)
        await user.should_not_see("Media de las medias de los estímulos")
        texts = sorted(user.find(Text).elements, key=lambda text: text.id)
        shown.extend(str(text.text) for text in texts)

    visit(tmp_path, flow)
    for item, counts in ((items[0], (3, 1)), (items[1], (4, 0))):
        for sentence, n in zip(options[item], counts, strict=True):
            place = shown.index(sentence)
            assert shown[place - 2] == item
            assert shown[place : place + 3] == [sentence, f"{n}/4", f"{25 * n}\xa0%"]


def test_files_of_answers_have_those_to_fillers_and_of_people_about_themselves(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    (tmp_path / "fillers.tsv").write_text("text\nAyer llovió.\n", encoding="utf-8")
    (tmp_path / "asked.tsv").write_text(
        "name\ttext\tchoices\nown-1\t¿Dónde vives?\t\nown-2\tvalue\tsí | no\n", encoding="utf-8"
    )
    plan = SurveyPlan(
        checks=0, limit=3, contact="Ana, ana@example.org", surveys=1,
        fillers=tmp_path / "fillers.tsv", background_file=tmp_path / "asked.tsv",
    )  # fmt: skip
    survey = tmp_path / "surveys" / "frasi"
    write_survey(build_design(find_suite("it-acceptability"), plan), survey)
    for rating in (1, 2):
        answer_all(survey, rating)
    first, second = (person.id for person in storage.participants(survey / DATABASE))
    with storage.opened_database(survey / DATABASE) as connection:
        storage.store_background(connection, first, {"own-1": "Lugo", "own-2": "sí"})
        storage.store_background(connection, second, {"own-1": "Jaén", "own-2": "no"})
    got = []

    async def flow(user):
        await user.open("/es/people?survey=surveys/frasi")
        user.find("Leer las respuestas").click()
        await user.should_see("Los archivos de respuestas contienen también", retries=300)
        for name in ("Respuestas (Excel)", "Respuestas (CSV)"):
            user.find(name).click()
            got.append((await user.download.next()).content)

    visit(tmp_path, flow)
    head, *cells = openpyxl.load_workbook(io.BytesIO(got[0])).active.iter_rows(values_only=True)
    of_excel = [dict(zip(head, row, strict=True)) for row in cells]
    of_csv = [*csv.DictReader(io.StringIO(got[1].decode("utf-8-sig")), delimiter=";")]
    judgments = judgments_of(read_judgments(tmp_path / "judgments" / "frasi.parquet"))
    for rows in (of_excel, of_csv):
        assert len(rows) == len(judgments) + 2
        told = {(row["Participante"], row["¿Dónde vives?"], row["value (own-2)"]) for row in rows}
        assert told == {(first, "Lugo", "sí"), (second, "Jaén", "no")}
        fillers = [row for row in rows if row["Tipo de pregunta"] == "relleno"]
        assert [row["Oración o palabra"] for row in fillers] == ["Ayer llovió."] * 2
        assert {row["Participante"] for row in fillers} == {first, second}
    assert all(one.question != "filler" for one in judgments)
