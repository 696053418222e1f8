"""Answers to a form of one's own in the window: read, described, rated against a model, deleted."""

import json
import math

import pytest

from cimento.app.workspace import Workspace
from cimento.judgments import judgments_of, read_judgments
from cimento.kinds.registry import load_suite
from cimento.people.surveys.exports import write_survey
from cimento.suites.stimuli import stimulus_texts
from tests.helpers.app_user import visit

pytest.importorskip("nicegui")

from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload

SENTENCES = ["Le finestre erano aperte.", "Le finestre era aperte.", "La neve cade piano."]
FORM = "\n".join(
    [
        ",".join(["Informazioni cronologiche", "Codice", "Età", *SENTENCES]),
        "2026/03/02 10:02:11 AM CET,rosa,23,5,1,4",
        "2026/03/02 10:05:40 AM CET,tullio,31,4,2,3",
        "2026/03/02 10:06:03 AM CET,irma,27,5,1,5",
        "",
    ]
)


async def choose(user, name, content):
    (upload,) = user.find(ui.upload).elements
    await upload.handle_uploads([SmallFileUpload(name, "", content.encode())])


def fill(user, kind, label, value):
    fields = {field.props.get("label"): field for field in user.find(kind).elements}
    fields[label].value = value


def test_a_form_becomes_a_test_its_answers_are_described_and_go_into_a_copy(tmp_path):
    async def flow(user):
        await user.open("/en/people")
        await choose(user, "modulo.csv", FORM)
        await user.should_see('"modulo.csv" is here', retries=300)
        fill(user, ui.select, "Language of the sentences", "it")  # the file is not chosen again
        await user.should_see(marker="counts", retries=300)
        await user.should_see('about the people, in the files of answers: "Età"')
        await user.should_see("Krippendorff's alpha")
        fill(user, ui.input, "Worst rating possible", 1)
        user.find("Put them into a copy").click()
        await user.should_see("both ends of the scale", kind=ui.notification, retries=200)
        fill(user, ui.input, "Best rating possible", 5)
        user.find("Put them into a copy").click()
        await user.should_see("suites/modulo-judged", retries=300)

    visit(tmp_path, flow)
    made = load_suite(tmp_path / "suites" / "modulo.xlsx").sentences
    assert made.meta.language == "it"
    assert [*stimulus_texts(made).values()] == SENTENCES
    judgments = judgments_of(read_judgments(tmp_path / "judgments" / "modulo.parquet"))
    assert len(judgments) == 9
    assert not {"rosa", "tullio", "irma"} & {one.annotator for one in judgments}
    judged = (tmp_path / "suites" / "modulo-judged" / "items.tsv").read_text(encoding="utf-8")
    assert f"{SENTENCES[0]}\t5; 4; 5\t" in judged


def test_codes_that_count_people_stay_with_what_they_said_of_themselves(tmp_path):
    form = FORM.replace("rosa", "P01").replace("tullio", "P02").replace("irma", "P03")

    async def flow(user):
        await user.open("/it/people")
        fill(user, ui.select, "Lingua delle frasi", "it")
        await choose(user, "modulo.csv", form)
        await user.should_see("I codici dei partecipanti, come 'P01', non dicono", retries=300)

    visit(tmp_path, flow)
    table = tmp_path / "judgments" / "modulo.parquet"
    assert {one.annotator for one in judgments_of(read_judgments(table))} == {"P01", "P02", "P03"}
    about = json.loads((tmp_path / "judgments" / "modulo.about.json").read_text(encoding="utf-8"))
    assert about == {"Età": {"P01": "23", "P02": "31", "P03": "27"}}


def test_a_file_that_was_read_is_not_read_twice_and_another_of_its_name_is_said_to_be_new(tmp_path):
    async def flow(user):
        await user.open("/pt/people")
        fill(user, ui.select, "Língua das frases", "it")
        await choose(user, "modulo.csv", FORM)
        await user.should_see(marker="counts", retries=300)
        await choose(user, "modulo.csv", FORM)
        await user.should_see("já foi lido, com as mesmas respostas", retries=300)
        assert Workspace(tmp_path).forms() == ["modulo"]
        await choose(user, "modulo.csv", FORM.replace(",31,4,", ",31,5,"))
        await user.should_see("estas respostas se chamam “modulo-2”", retries=300)
        assert sorted(Workspace(tmp_path).forms()) == ["modulo", "modulo-2"]

    visit(tmp_path, flow)


def test_questions_that_are_no_sentences_make_no_test_and_leave_nothing(tmp_path):
    form = "Timestamp,Code,q1,q2\n2026/03/02 10:02:11,a,5,1\n2026/03/02 10:03:11,b,4,2\n"

    async def flow(user):
        await user.open("/en/people")
        fill(user, ui.select, "Language of the sentences", "it")
        await choose(user, "form.csv", form)
        await user.should_see(kind=ui.notification, retries=300)

    visit(tmp_path, flow)
    assert list((tmp_path / "judgments").glob("*")) == []
    assert list((tmp_path / "suites").glob("*")) == []


def test_a_form_about_a_test_is_opened_again_and_deleted(tmp_path):
    (tmp_path / "coppie.csv").write_text(
        "good,bad\n" + ",".join(SENTENCES[:2]) + "\n", encoding="utf-8"
    )
    form = FORM.replace(f",{SENTENCES[2]}", "")
    form = "\n".join(
        line.rpartition(",")[0] if "2026" in line else line for line in form.split("\n")
    )

    async def read(user):
        await user.open("/it/people")
        fill(user, ui.select, "Test su cui sono state interrogate le persone", "coppie.csv")
        await choose(user, "risposte.csv", form)
        await user.should_see(marker="counts", retries=300)

    async def open_again(user):
        await user.open("/it/people")
        user.find(marker="open risposte").click()
        await user.should_see("Risposte: 6, di persone: 3", retries=300)
        await user.should_see("Lette come risposte")
        user.find(marker="delete risposte").click()
        await user.should_see("judgments/risposte.secret", retries=200)
        user.find(marker="delete-do").click()
        await user.should_not_see("judgments/risposte.parquet", retries=200)

    visit(tmp_path, read)
    judgments = judgments_of(read_judgments(tmp_path / "judgments" / "risposte.parquet"))
    assert {one.suite for one in judgments} == {"coppie"}
    visit(tmp_path, open_again)
    assert list((tmp_path / "judgments").glob("*")) == []
    assert (tmp_path / "coppie.csv").exists()


def test_a_form_takes_the_place_of_no_survey_and_of_no_table(tmp_path):
    from tests.helpers.survey_help import small

    write_survey(small("it-acceptability", limit=3), tmp_path / "surveys" / "frasi")
    (tmp_path / "judgments").mkdir()
    tables = [tmp_path / "judgments" / name for name in ("frasi.parquet", "altre.csv")]
    for table in tables:
        table.write_text("of somebody", encoding="utf-8")

    async def flow(user):
        await user.open("/en/people")
        fill(user, ui.select, "Language of the sentences", "it")
        for name in ("frasi", "altre"):
            await choose(user, f"{name}.csv", FORM)
            await user.should_see(marker=f"open {name}-2", retries=300)

    visit(tmp_path, flow)
    assert [table.read_text(encoding="utf-8") for table in tables] == ["of somebody"] * 2
    assert Workspace(tmp_path).forms() == ["altre-2", "frasi-2"]


def test_means_have_z_scores_within_all_that_a_person_rated():
    from cimento.app.answer_tables import means_grid
    from cimento.judgments import Judgment

    given = {"a": (1, 3, 5), "b": (2, 2, 5)}
    grid = means_grid(
        [
            Judgment(suite="s", item=str(number), annotator=who, value=str(value))
            for who, values in given.items()
            for number, value in enumerate(values)
        ],
        "en",
    )
    # By hand: a has mean 3 and sd 2; b has mean 3 and sd sqrt(3).
    expected = [(-1 - 1 / math.sqrt(3)) / 2, (0 - 1 / math.sqrt(3)) / 2, (1 + 2 / math.sqrt(3)) / 2]
    shown = [float(str(row[-1]).replace("\N{MINUS SIGN}", "-")) for row in grid.rows]
    assert shown == pytest.approx(expected, abs=5e-5)


def test_the_table_of_means_can_be_run_as_a_suite_of_ratings(tmp_path):
    from cimento.app.answer_tables import means_grid
    from cimento.documents import grid_file
    from cimento.judgments import Judgment
    from cimento.suites.ratings import rated_of

    given = {SENTENCES[0]: (5, 4, 5), SENTENCES[1]: (1, 2, 1), SENTENCES[2]: (4, 3, 5)}
    means = means_grid(
        [
            Judgment(
                suite="s", item=str(number), condition="sentence", candidate=text,
                annotator=who, value=str(value),
            )
            for number, (text, values) in enumerate(given.items(), 1)
            for who, value in zip("abc", values, strict=True)
        ],
        "en",
    )  # fmt: skip
    path = tmp_path / "means.xlsx"
    path.write_bytes(grid_file(means, ".xlsx"))
    loaded = load_suite(path, language="it")

    # By hand.
    expected = {SENTENCES[0]: 14 / 3, SENTENCES[1]: 4 / 3, SENTENCES[2]: 4}
    rated = rated_of(loaded.suite).sentences
    assert {one.text: one.mean for one in rated} == pytest.approx(expected)
    assert {one.n for one in rated} == {3}
    assert 'rating = "rating"' in loaded.reading.table.said()


def test_answers_that_cannot_be_read_are_read_as_the_menus_above_the_columns_say(tmp_path):
    rows = [f"{who};{text};{n % 5 + 1}" for who in ("A1", "B2")
            for n, text in enumerate(("Il gatto dorme qui.", "Il gatto dormono qui."))]  # fmt: skip
    content = "\n".join(["Codice;Testo mostrato;Voto dato", *rows]).encode()

    async def flow(user):
        await user.open("/it/people")
        fields = {one.props.get("label"): one for one in user.find(ui.select).elements}
        fields["Lingua delle frasi"].value = "it"
        (upload,) = user.find(ui.upload).elements
        await upload.handle_uploads([SmallFileUpload("voti.csv", "", content)])
        await user.should_see("Che cosa c'è in ogni colonna?", retries=300)
        for name, role in (("Codice", "participant"), ("Testo mostrato", "sentence"),
                           ("Voto dato", "answer")):  # fmt: skip
            (menu,) = user.find(marker=f"column {name}").elements
            assert menu.value == role  # proposed by the advice and by what is in the cells
        user.find("Leggi così").click()
        await user.should_see("Risposte: 4, di persone: 2", retries=300)

    visit(tmp_path, flow)
    judgments = judgments_of(read_judgments(tmp_path / "judgments" / "voti.parquet"))
    assert [one.value for one in judgments] == ["1", "2", "1", "2"]


CHOICES = "\n".join(
    [
        "Marca temporal,Código,¿Cuál suena mejor?,¿Cuál suena mejor?",
        "2/3/2026 10:02:11,ana,Las niñas están cansadas.,A Marta le gusta los perros.",
        "2/3/2026 10:05:40,luis,Las niñas están cansadas.,A Marta le gustan los perros.",
        "2/3/2026 10:06:03,eva,Las niñas están cansados.,Ambas",
        "",
    ]
)


def test_choices_say_how_often_each_sentence_was_chosen_with_and_without_a_test(tmp_path):
    (tmp_path / "pares.csv").write_text(
        "good,bad\nLas niñas están cansadas.,Las niñas están cansados.\n"
        "A Marta le gustan los perros.,A Marta le gusta los perros.\n",
        encoding="utf-8",
    )

    async def alone(user):
        await user.open("/es/people")
        fill(user, ui.select, "Lengua de las oraciones", "es")
        await choose(user, "solas.csv", CHOICES)
        await user.should_see("Elecciones por oración", retries=300)
        await user.should_see("No se sabe qué oraciones son buenas")

    async def with_test(user):
        await user.open("/es/people")
        fill(user, ui.select, "Prueba sobre la que se preguntó", "pares.csv")
        await choose(user, "pares-elegidos.csv", CHOICES)
        await user.should_see("Elecciones por oración", retries=300)

    visit(tmp_path, alone)
    visit(tmp_path, with_test)
    assert list((tmp_path / "suites").glob("*")) == []
    read = [
        judgments_of(read_judgments(tmp_path / "judgments" / f"{name}.parquet"))
        for name in ("solas", "pares-elegidos")
    ]
    assert [[one.value for one in answers] for answers in read] == [
        [
            "Las niñas están cansadas.", "A Marta le gusta los perros.",
            "Las niñas están cansadas.", "A Marta le gustan los perros.",
            "Las niñas están cansados.", "both",
        ]
    ] * 2  # fmt: skip
    assert [one.condition for one in read[0]] == [""] * 6
    assert [one.condition for one in read[1]] == ["good", "bad", "good", "good", "bad", ""]
