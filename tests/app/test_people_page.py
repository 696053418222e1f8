"""Step 5 in the hands of a user: a survey is made, opened, answered, closed, and read."""

import io
import re
import statistics
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from cimento.app import people
from cimento.app.frame import Text
from cimento.judgments import judgments_of, read_judgments
from cimento.judgments.summaries import mean_ratings
from cimento.people.surveys import DATABASE, read_design, storage
from cimento.people.surveys.building import build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.builtin import find_suite
from tests.helpers.app_user import look_often, until, visit
from tests.helpers.survey_help import hidden, refusal, small

pytest.importorskip("nicegui")
pytest.importorskip("starlette")

from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload
from nicegui.testing import User


@pytest.fixture
def folder(tmp_path):
    write_survey(small("it-acceptability", limit=3), tmp_path / "surveys" / "frasi")
    return tmp_path


@pytest.fixture(autouse=True)
def _closed():
    yield
    for served in (*people._running.values(), *people._closed.values()):
        served.stop()
    people._running.clear()
    people._closed.clear()


@pytest.fixture
def _looking_often(monkeypatch):
    """The page asks how far the survey is as often as a test wants to see it."""
    monkeypatch.setattr(people, "SECONDS", 0.05)


def fill(user, kind, label, value):
    """Fill in the field of a kind with a label."""
    fields = {field.props.get("label"): field for field in user.find(kind).elements}
    fields[label].value = value


def answer_all(survey, rating):
    """Answer everything as one person, on the disk."""
    design, database = read_design(survey), survey / DATABASE
    storage.prepare(database, design)
    ((person, _),) = storage.invite_participants(database, design, 1)
    with storage.opened_database(database) as connection:
        storage.store_consent(connection, person.id, design)
        for number, question in enumerate(person.questions):
            asked = design.by_id[question]
            name = design.fields_of(asked)[0].name
            value = asked.expected or str((number * rating) % 5 + 1)
            storage.store_answer(
                connection, person.id, question, {name: value}, remark="", seconds=2.0,
                asked=person.questions,
            )  # fmt: skip


def test_a_survey_is_made_from_a_suite_with_the_command_that_does_the_same(folder):
    async def flow(user):
        await user.open("/en/people?suite=it-connectives")
        fill(user, ui.number, "Points of the scale", 7)
        fill(user, ui.number, "Largest number of items", 4)
        command = "cimento annotate survey build it-connectives -o surveys/it-connectives"
        await user.should_see(f"{command} --scale 7 --limit 4")
        user.find("Make the survey").click()
        await user.should_see("have to know whom to ask", retries=300)
        fill(user, ui.input, "Who is responsible (name and e-mail)", "Anna Bianchi")
        fill(user, ui.number, "Points of the scale", 1)
        user.find("Make the survey").click()
        await user.should_see("Points of the scale: From 2 to 11", retries=300)
        fill(user, ui.number, "Points of the scale", 7)
        user.find("Make the survey").click()
        await user.should_see("About it-connectives.", retries=300)
        await user.should_see("Scale of 7 points: 1 is")

    visit(folder, flow)
    design = read_design(folder / "surveys" / "it-connectives")
    assert design.task == "likert"
    assert len(design.fields[0].choices) == 7


def test_practice_fillers_consent_and_questions_about_people_are_typed(folder):
    async def flow(user):
        await user.open("/it/people?suite=it-acceptability")
        fill(user, ui.input, "Responsabile (nome ed e-mail)", "Anna Bianchi, anna@example.org")
        fill(user, ui.number, "Numero massimo di item", 4)
        fill(user, ui.textarea, "Frasi di prova, chieste per prime", "Il treno è in orario.\n\n")
        fill(user, ui.textarea, "Riempitivi, mescolati alle altre frasi",
             "Ieri ha piovuto.\nLa piove ieri.")  # fmt: skip
        fill(
            user,
            ui.textarea,
            "Altre domande sui partecipanti, scritte da te",
            "Studi linguistica? | sì | no\nDove vivi?",
        )
        fill(user, ui.textarea, "Un tuo testo per il consenso, con una riga vuota tra i paragrafi",
             "Partecipi per libera scelta.\n\nPuoi smettere quando vuoi.")  # fmt: skip
        fill(user, ui.select, "Che cosa si chiede alle persone su di sé", ["region"])
        material = "surveys/it-acceptability/material"
        await user.should_see(
            f"--practice {material}/practice.tsv --fillers {material}/fillers.tsv"
        )
        await user.should_see("--background region")
        user.find("Crea il questionario").click()
        await user.should_see("Da leggere: circa", retries=300)

    visit(folder, flow)
    design = read_design(folder / "surveys" / "it-acceptability")
    kinds = [question.kind for question in design.questions]
    assert (kinds.count("practice"), kinds.count("filler")) == (1, 2)
    assert design.consent[:2] == ("Partecipi per libera scelta.", "Puoi smettere quando vuoi.")
    assert "anna@example.org" in design.consent[2]
    asked = {one.name: one for one in design.background}
    assert [*asked] == ["region", "own-1", "own-2"]
    assert asked["own-1"].choices[:2] == ("sì", "no")
    assert asked["own-2"].choices == ()


def test_what_was_typed_wrongly_is_told_and_nothing_is_left(folder):
    async def flow(user):
        await user.open("/en/people?suite=it-acceptability")
        fill(user, ui.input, "Who is responsible (name and e-mail)", "Anna Bianchi")
        fill(user, ui.textarea, "Questions of your own about people", "Dialect? | yes | yes")
        user.find("Make the survey").click()
        await user.should_see("a choice is there twice", kind=ui.notification, retries=300)

    visit(folder, flow)
    assert [path.name for path in (folder / "surveys").iterdir()] == ["frasi"]


def test_a_preview_shows_the_survey_and_keeps_no_answers(folder):
    links = []

    async def flow(user):
        await user.open("/en/people?survey=surveys/frasi")
        for _ in range(2):
            user.find("Look at it as a participant").click()
            await user.should_see(marker="preview", retries=300)
            (link,) = user.find(marker="preview").elements
            links.append(str(link.props["href"]))
            browser = build_opener(HTTPCookieProcessor())
            with browser.open(links[-1], timeout=20) as page:
                assert "Press the button" in page.read().decode() or page.status == 200

    visit(folder, flow)
    assert not (folder / "surveys" / "frasi" / DATABASE).exists()


def test_a_wish_that_cannot_be_fulfilled_is_told_and_nothing_is_written(folder):
    async def flow(user):
        await user.open("/en/people?suite=it-subject-verb")
        fill(user, ui.select, "Task", "story")
        fill(user, ui.input, "Who is responsible (name and e-mail)", "Anna Bianchi")
        user.find("Make the survey").click()
        await user.should_see(kind=ui.notification, retries=200)
        await user.open("/en/people")
        user.find("Make the survey").click()
        await user.should_see("Choose a test", kind=ui.notification, retries=200)

    visit(folder, flow)
    assert [path.name for path in (folder / "surveys").iterdir()] == ["frasi"]


@pytest.mark.usefixtures("_looking_often")
def test_people_join_by_the_link_of_the_room_and_are_counted_as_they_answer(folder):
    async def flow(user):
        await user.open("/en/people?survey=surveys/frasi")
        await user.should_see("People with a link: 0")
        user.find("Open the survey").click()
        await user.should_see("Open this address on this computer", retries=300)
        (link,) = [link.text for link in user.find(ui.link).elements if "/room/" in str(link.text)]
        assert link.startswith("http://127.0.0.1:")
        await user.should_see("whoever opens a link reads that the survey is closed")
        browser = build_opener(HTTPCookieProcessor())
        form = hidden(browser.open(link).read().decode())
        page = browser.open(Request(link, data=urlencode(form).encode()))  # noqa: S310  # of a test, on this machine
        assert re.search(r"/p/[\w-]+$", page.url)
        await user.should_see("People with a link: 1; begun: 0", retries=300)
        user.find("Close the survey").click()
        await until(lambda: folder / "surveys" / "frasi" in people._closed)
        assert "Questo questionario è chiuso" in refusal(link)
        user.find("Open the survey").click()
        await user.should_see("Open this address on this computer", retries=300)
        assert hidden(browser.open(link).read().decode())  # by the same link

    visit(folder, flow)


def test_a_page_that_is_opened_again_finds_the_survey_open(folder):
    async def flow(user):
        await user.open("/en/people?survey=surveys/frasi")
        user.find("Open the survey").click()
        await user.should_see("Open this address on this computer", retries=300)
        await user.open("/en/people")
        await user.should_see("open now")
        await user.open("/en/people?survey=surveys/frasi")
        await user.should_see("Open this address on this computer")
        assert len(people._running) == 1

    visit(folder, flow)


def test_a_survey_that_another_tab_has_opened_is_shown_and_not_opened_twice(folder, monkeypatch):
    monkeypatch.setattr(people, "SECONDS", 3600)  # the button is what shows it

    async def flow(user):
        tabs = [user, User(user.http_client)]
        look_often(tabs[1])
        for tab in tabs:
            await tab.open("/en/people?survey=surveys/frasi")
        for tab in tabs:
            with tab:
                tab.find("Open the survey").click()
                await tab.should_see("Open this address on this computer", retries=300)
        assert len(people._running) == 1

    visit(folder, flow)


@pytest.mark.usefixtures("_looking_often")
def test_a_survey_that_another_tab_closes_is_shown_closed(folder):
    async def flow(user):
        await user.open("/en/people?survey=surveys/frasi")
        await user.should_see("People with a link: 0")
        user.find("Open the survey").click()
        await user.should_see("Open this address on this computer", retries=300)
        for served in (*people._running.values(), *people._closed.values()):
            served.stop()
        await user.should_not_see("Open this address on this computer", retries=300)
        user.find("Open the survey").click()
        await user.should_see("Open this address on this computer", retries=300)

    visit(folder, flow)


def test_a_survey_is_deleted_once_it_is_closed_and_somebody_agrees(folder):
    answer_all(folder / "surveys" / "frasi", 1)

    async def flow(user):
        await user.open("/it/people?survey=surveys/frasi")
        user.find("Leggi le risposte").click()
        await user.should_see(marker="counts", retries=300)
        # Its name is in the command before it is written.
        await until((folder / "judgments" / "frasi.parquet").is_file)
        user.find("Apri il questionario").click()
        await user.should_see("Apri questo indirizzo", retries=300)
        (delete,) = user.find(marker="delete surveys/frasi").elements
        assert delete.text == "Elimina il questionario"
        user.find(marker="delete surveys/frasi").click()
        await user.should_see("Chiudilo prima di eliminarlo", kind=ui.notification, retries=200)
        user.find("Chiudi il questionario").click()
        await until(lambda: not people._running)
        await user.open("/it/people")
        user.find(marker="delete surveys/frasi").click()
        await user.should_see("judgments/frasi.parquet", retries=200)
        user.find(marker="delete-do").click()
        await user.should_not_see(marker="delete surveys/frasi", retries=200)

    visit(folder, flow)
    assert [*(folder / "surveys").iterdir(), *(folder / "judgments").iterdir()] == []


def test_answers_become_a_table_are_filtered_and_go_into_a_copy_of_the_suite(folder):
    survey = folder / "surveys" / "frasi"

    async def flow(user):
        await user.open("/en/people?survey=surveys/frasi")
        user.find("Read the answers").click()
        await user.should_see("Nobody has answered", kind=ui.notification, retries=200)
        for rating in (1, 2, 3):
            answer_all(survey, rating)
        user.find("Read the answers").click()
        await user.should_see("Krippendorff's alpha", retries=300)
        await user.should_see("acceptability")
        user.find("Leave them out").click()
        await user.should_see("at least one rule", kind=ui.notification, retries=200)
        fill(user, ui.input, "Longest run of equal answers", 100)
        user.find("Leave them out").click()
        await user.should_see("Left: ", retries=300)
        await user.should_see("--same-run 100")
        user.find("Compare with runs").click()
        await user.should_see("No model has been run on this test yet", retries=300)
        user.find("Put them into a copy").click()
        await user.should_see("suites/it-acceptability-judged", retries=300)

    visit(folder, flow)
    table = judgments_of(read_judgments(folder / "judgments" / "frasi.parquet"))
    assert len({judgment.annotator for judgment in table}) == 3
    assert (folder / "judgments" / "frasi-kept.log.json").is_file()
    assert (folder / "suites" / "it-acceptability-judged" / "suite.toml").is_file()


def test_a_share_in_percent_leaves_nobody_out(folder):
    survey = folder / "surveys" / "frasi"
    answer_all(survey, 1)

    async def flow(user):
        await user.open("/en/people?survey=surveys/frasi")
        user.find("Read the answers").click()
        await user.should_see("Krippendorff's alpha", retries=300)
        fill(user, ui.input, "Smallest proportion of checks passed", 80)
        user.find("Leave them out").click()
        await user.should_see("From 0 to 1", kind=ui.notification, retries=200)

    visit(folder, flow)
    assert not (folder / "judgments" / "frasi-kept.parquet").exists()


def test_what_other_programs_need_is_downloaded(folder):
    async def flow(user):
        await user.open("/pt/people?survey=surveys/frasi")
        user.find("Experimento jsPsych").click()
        reply = await user.download.next()
        assert reply.content.startswith(b"PK")

    visit(folder, flow)


def test_a_folder_that_is_no_survey_or_outside_is_refused_on_the_page(folder):
    async def flow(user):
        for name in ("surveys/none", "../..", "judgments"):
            await user.open(f"/en/people?survey={name}")
            await user.should_see("This did not work")

    visit(folder, flow)


def test_answers_from_elsewhere_are_read_by_choosing_their_file(folder):
    design = read_design(folder / "surveys" / "frasi")
    asked = [q for q in design.questions if not q.expected]
    rows = [
        ",".join((person, question.item, question.condition, str(number % 5 + 1)))
        for person in ("Anna", "Bruno")
        for number, question in enumerate(asked)
    ]
    table = "\n".join(["participant,item,condition,answer", *rows]).encode()

    async def flow(user):
        await user.open("/it/people?survey=surveys/frasi")
        for name, content, text in (
            ("note.csv", b"eins,zwei\n1,2\n", "Non è chiaro come sono disposte le risposte"),
            ("modulo.csv", table, f"Risposte: {len(rows)}, di persone: 2"),
        ):
            (upload,) = user.find(ui.upload).elements
            await upload.handle_uploads([SmallFileUpload(name, "", content)])
            await user.should_see(text, retries=300)
        await user.should_not_see("cimento annotate import")

    visit(folder, flow)
    judgments = judgments_of(read_judgments(folder / "judgments" / "frasi-modulo.parquet"))
    assert len(judgments) == len(rows)
    assert not {"Anna", "Bruno"} & {judgment.annotator for judgment in judgments}


def test_answers_that_were_read_from_a_file_are_opened_again_on_another_day(folder):
    asked = [q for q in read_design(folder / "surveys" / "frasi").questions if not q.expected]
    rows = [f'{who},"{q.lines[0]}",4' for who in ("Anna", "Bruno") for q in asked]

    async def read(user):
        await user.open("/it/people?survey=surveys/frasi")
        await user.should_not_see("Già lette:")
        (upload,) = user.find(ui.upload).elements
        content = "\n".join(["Partecipante,Frase,Giudizio", *rows]).encode()
        await upload.handle_uploads([SmallFileUpload("aula.csv", "", content)])
        await user.should_see("Già lette:", retries=300)

    async def another_day(user):
        await user.open("/it/people?survey=surveys/frasi")
        await user.should_see("Già lette:")
        user.find("frasi-aula").click()
        await user.should_see(f"Risposte: {len(rows)}, di persone: 2", retries=300)

    visit(folder, read)
    visit(folder, another_day)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "language"),
    [("Participant,Sentence,Rating", "en"), ("Partecipante,Frase,Giudizio", "it"),
     ("Участник,Предложение,Оценка", "ru")],
)  # fmt: skip
def test_a_table_with_ordinary_names_of_columns_is_read(folder, header, language):
    asked = [q for q in read_design(folder / "surveys" / "frasi").questions if not q.expected]
    rows = [f'{who},"{q.lines[0]}",{n % 5 + 1}' for who in ("Anna", "Bruno")
            for n, q in enumerate(asked)]  # fmt: skip

    async def flow(user):
        await user.open(f"/{language}/people?survey=surveys/frasi")
        (upload,) = user.find(ui.upload).elements
        content = "\n".join([header, *rows]).encode()
        await upload.handle_uploads([SmallFileUpload("a.csv", "", content)])
        await user.should_see("frasi-a", kind=ui.button, retries=300)

    visit(folder, flow)
    judgments = judgments_of(read_judgments(folder / "judgments" / "frasi-a.parquet"))
    assert len(judgments) == len(rows)
    assert len({judgment.annotator for judgment in judgments}) == 2


def test_answers_and_the_mean_of_each_sentence_are_downloaded_with_numbers(folder):
    openpyxl = pytest.importorskip("openpyxl")
    survey = folder / "surveys" / "frasi"
    for rating in (1, 2, 3):
        answer_all(survey, rating)
    got = []

    async def flow(user):
        await user.open("/es/people?survey=surveys/frasi")
        await user.should_not_see("+00:00")
        user.find("Leer las respuestas").click()
        await user.should_see("DT media de las respuestas a un estímulo", retries=300)
        for name in ("Respuestas (Excel)", "Medias por oración (Excel)", "Respuestas (CSV)"):
            user.find(name).click()
            got.append((await user.download.next()).content)
        cells = [str(label.text) for label in user.find(Text).elements]
        assert [text for text in cells if re.fullmatch(r"\d\.\d\d( \[.*)?", text)] == []
        assert [text for text in cells if re.fullmatch(r"\d,\d\d", text)]

    visit(folder, flow)
    sheets = [openpyxl.load_workbook(io.BytesIO(content)).active for content in got[:2]]
    answers, means = (
        [dict(zip([c.value for c in sheet[1]], row, strict=True))
         for row in sheet.iter_rows(min_row=2, values_only=True)] for sheet in sheets
    )  # fmt: skip
    judgments = judgments_of(read_judgments(folder / "judgments" / "frasi.parquet"))
    assert len(answers) == len(judgments) == got[2].decode().count("\n") - 1
    assert all(
        isinstance(row["Respuesta"], int)
        for row in answers
        if not row.get("Respuesta correcta del control")
    )
    for row in means:
        values = [
            float(one.value) for one in judgments
            if one.candidate == row["Oración"] and one.counts
        ]  # fmt: skip
        assert row["N"] == len(values) == 3
        assert row["Media"] == pytest.approx(statistics.fmean(values), abs=1e-4)
        assert row["DT"] == pytest.approx(statistics.stdev(values), abs=1e-4)


def test_the_mean_of_each_condition_is_shown(tmp_path):
    survey = tmp_path / "surveys" / "isole"
    write_survey(small("it-islands", limit=2, task="likert"), survey)
    for rating in (1, 2):
        answer_all(survey, rating)

    async def flow(user):
        await user.open("/it/people?survey=surveys/isole")
        user.find("Leggi le risposte").click()
        await user.should_see("Condizione", retries=300)
        table = judgments_of(read_judgments(tmp_path / "judgments" / "isole.parquet"))
        shown = [str(text.text) for text in user.find(Text).elements]
        by_condition = {}
        for place, mean in mean_ratings(table).items():
            by_condition.setdefault(place[2], []).append(mean)
        assert len(by_condition) > 1
        for condition, means in by_condition.items():
            expected = f"{statistics.fmean(means):.2f}".replace(".", ",")
            assert {condition, expected} <= {*shown}

    visit(tmp_path, flow)


def test_a_survey_that_is_read_word_by_word_can_be_opened_but_not_printed(folder):
    plan = SurveyPlan(task="reading", language="it", limit=2)
    write_survey(build_design(find_suite("it-subject-verb"), plan), folder / "surveys" / "lette")

    async def flow(user):
        await user.open("/en/people?survey=surveys/lette")
        await user.should_see("read a sentence word by word")
        await user.should_see("jsPsych experiment")
        await user.should_not_see("Pages to print")

    visit(folder, flow)
