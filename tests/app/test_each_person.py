"""What is shown of each person before any rule, and the deletion of one person's answers."""

import statistics

import pytest

from cimento.app.frame import Text
from cimento.app.sentence_means import sentence_means
from cimento.judgments import judgments_of, read_judgments
from cimento.kinds.registry import load_suite
from cimento.people.surveys import DATABASE, read_design, storage
from cimento.people.surveys.administration import judgments_in
from cimento.people.surveys.building import build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.builtin import find_suite
from cimento.suites.ratings import rated_of
from tests.app.test_people_page import fill
from tests.helpers.app_user import until, visit
from tests.helpers.command_line import invoke

pytest.importorskip("nicegui")
pytest.importorskip("starlette")

from nicegui import ui

SECONDS = (2.0, 4.0, 9.0)


@pytest.fixture
def survey(tmp_path):
    """A survey that three people have answered; the last answers 3 to all, checks too."""
    plan = SurveyPlan(checks=2, limit=4, contact="Ana, ana@example.org", surveys=1)
    design = build_design(find_suite("it-acceptability"), plan)
    folder = tmp_path / "surveys" / "frasi"
    write_survey(design, folder)
    storage.prepare(folder / DATABASE, design)
    invited = storage.invite_participants(folder / DATABASE, design, 3)
    with storage.opened_database(folder / DATABASE) as connection:
        for number, (person, _) in enumerate(invited):
            storage.store_consent(connection, person.id, design)
            asked = [design.by_id[question] for question in person.questions]
            places = {one.id: place for place, one in enumerate(o for o in asked if not o.expected)}
            for one in asked:
                value = one.expected or str(places[one.id] % 5 + 1)
                wrong = "2" if one.expected == "1" else "1"
                if number == 2:
                    value = wrong if one.expected else "3"
                storage.store_answer(
                    connection, person.id, one.id, {design.fields_of(one)[0].name: value},
                    remark="", seconds=SECONDS[number], asked=person.questions,
                )  # fmt: skip
    return folder


def codes(survey):
    return [person.id for person in storage.participants(survey / DATABASE)]


def shown_on(user):
    texts = sorted(user.find(Text).elements, key=lambda text: text.id)
    return [str(text.text) for text in texts]


def test_failed_checks_and_all_that_rules_measure_are_shown_before_any_rule(tmp_path, survey):
    shown = []

    async def flow(user):
        await user.open("/pt/people?survey=surveys/frasi")
        user.find("Ler as respostas").click()
        await user.should_see("Pessoa por pessoa", retries=300)
        await user.should_see(marker="failed", retries=300)
        shown.extend(shown_on(user))

    visit(tmp_path, flow)
    *careful, careless = codes(survey)
    start = shown.index("Testes corretos")
    for person, seconds in zip((*careful, careless), SECONDS, strict=True):
        place = shown.index(person, start)
        cells = shown[place + 1 : place + 8]
        assert cells[0] == "100%"
        assert cells[1] == ("0 de 2" if person == careless else "2 de 2")
        assert cells[3] == f"{seconds:g}"  # median answer
    run, share, rest = shown[shown.index(careless, start) + 5 :][:3]
    assert (share, rest) == ("100%", "–")  # a constant correlates with nothing
    assert run == str(sum(not one.is_check for one in judgments_of(
        read_judgments(tmp_path / "judgments" / "frasi.parquet")) if one.annotator == careless
    ))  # fmt: skip
    assert f"Não acertaram todos os testes de atenção: {careless} (0 de 2)." in " ".join(shown)
    whole = float(shown[shown.index(careful[0], start) + 3].replace(",", "."))
    with storage.opened_database(survey / DATABASE) as connection:
        begun, ended = connection.execute(
            "SELECT julianday(consented_at), julianday(finished_at) FROM participants WHERE id = ?",
            (careful[0],),
        ).fetchone()
    assert whole == pytest.approx((ended - begun) * 86_400, abs=0.01)


def test_what_a_rule_did_is_said_wherever_its_table_is_shown(tmp_path, survey):
    careless = codes(survey)[-1]
    before, after, again = [], [], []

    async def flow(user):
        await user.open("/es/people?survey=surveys/frasi")
        user.find("Leer las respuestas").click()
        await user.should_see(marker="failed", retries=300)
        await user.should_see(marker="no-z")
        before.extend(shown_on(user))
        fill(user, ui.input, "Proporción mínima de controles correctos", "0,5")
        user.find(kind=ui.button, content="Excluir").click()
        await user.should_see("Valor medido", retries=300)
        await user.should_not_see(marker="no-z")
        after.extend(shown_on(user))

    async def open_again(user):
        await user.open("/es/people?survey=surveys/frasi")
        user.find(marker="table frasi-kept").click()
        await user.should_see(marker="logged", retries=300)
        again.extend(shown_on(user))

    visit(tmp_path, flow)
    visit(tmp_path, open_again)
    assert f"Personas sin z: 1 ({careless})." in " ".join(before)
    assert "No se excluye a nadie mientras no indiques una regla." in " ".join(before)
    rule = "Regla ya aplicada a esta tabla: Proporción mínima de controles correctos 0,50. Personas"
    for shown in (after, again):
        assert "No se excluye a nadie" not in " ".join(shown)
        assert f"{rule} excluidas: {careless}." in shown
        assert f"{careless} (excluida: Controles correctos)" in shown  # on opening it again too
    assert careless not in again


def test_sentences_have_their_means_in_the_order_of_the_author(survey):
    design = read_design(survey)
    judgments = judgments_in(survey / DATABASE)
    items = [one.item for one in design.questions if not one.expected]
    assert [one.item for one in sentence_means(judgments, design)] == items
    assert [one.item for one in sentence_means(judgments[::-1], design)] == items
    checks = [one for one in judgments if one.is_check]
    assert {one.candidate for one in checks} == {
        one.lines[0] for one in design.questions if one.expected
    }
    first = sentence_means(judgments, design)[0]
    assert (first.n, first.n_z) == (3, 2)  # the third gave 3 to everything


def test_one_persons_answers_are_deleted_from_the_survey_and_from_all_tables(tmp_path, survey):
    first, second, careless = codes(survey)
    table = tmp_path / "judgments" / "frasi.parquet"
    kept = tmp_path / "judgments" / "frasi-kept.parquet"
    before = []

    async def flow(user):
        await user.open("/es/people?survey=surveys/frasi")
        user.find("Leer las respuestas").click()
        await user.should_see("Persona por persona", retries=300)
        fill(user, ui.input, "Proporción mínima de controles correctos", "0,5")
        user.find(kind=ui.button, content="Excluir").click()
        await until(kept.is_file)
        before.extend(judgments_of(read_judgments(kept)))
        fill(user, ui.input, "Código de la persona", "P-nadie")
        user.find(kind=ui.button, content="Eliminar las respuestas").click()
        await user.should_see("Nadie ha participado con este código", kind=ui.notification,
                              retries=300)  # fmt: skip
        fill(user, ui.input, "Código de la persona", first)
        user.find(kind=ui.button, content="Eliminar las respuestas").click()
        await user.should_see(marker="delete-do", retries=300)
        user.find(marker="delete-do").click()
        await user.should_see(f"Las respuestas de {first} se han eliminado.", retries=300)

    visit(tmp_path, flow)
    assert {one.annotator for one in before} == {first, second}
    assert codes(survey) == [second, careless]
    assert {one.annotator for one in judgments_of(read_judgments(table))} == {second, careless}
    left = judgments_of(read_judgments(kept))
    assert left == [one for one in before if one.annotator == second]
    assert statistics.fmean(float(one.value) for one in left if not one.is_check) == pytest.approx(
        statistics.fmean(float(one.value) for one in before
                         if one.annotator == second and not one.is_check)
    )  # fmt: skip


def test_one_persons_answers_are_deleted_from_the_copy_of_the_test_and_runs_are_named(
    tmp_path, survey
):
    first, *others = codes(survey)
    copy = tmp_path / "suites" / "it-acceptability-con-respuestas.xlsx"

    async def read(user):
        await user.open("/es/people?survey=surveys/frasi")
        user.find("Leer las respuestas").click()
        await user.should_see("Persona por persona", retries=300)

    async def put_in(user):
        await read(user)
        user.find("Ponerlas en una copia de la prueba").click()
        await user.should_see("suites/it-acceptability-con-respuestas.xlsx", retries=300)

    async def withdraw(user):
        await read(user)
        fill(user, ui.input, "Código de la persona", first)
        user.find(kind=ui.button, content="Eliminar las respuestas").click()
        await user.should_see(marker="delete-do", retries=300)
        await user.should_see("suites/it-acceptability-con-respuestas.xlsx", kind=Text)
        await user.should_see("Estas ejecuciones todavía contienen las respuestas")
        user.find(marker="delete-do").click()
        await user.should_see(f"Las respuestas de {first} se han eliminado.", retries=300)

    visit(tmp_path, put_in)
    before = given(copy)
    assert invoke(["run", str(copy), "-m", "demo-causal", "-o", str(tmp_path / "runs")]) == 0
    visit(tmp_path, withdraw)
    assert {who for ratings in before.values() for who, _ in ratings} == {first, *others}
    assert given(copy) == {
        item: [one for one in ratings if one[0] != first] for item, ratings in before.items()
    }


def given(path):
    """The ratings of each sentence of a test, and who gave them."""
    sentences = rated_of(load_suite(path).suite).sentences
    return {one.id: [(each.participant, each.value) for each in one.ratings] for one in sentences}


@pytest.mark.usefixtures("survey")
def test_where_there_are_answers_they_come_before_the_form_and_the_links(tmp_path):
    async def flow(user):
        await user.open("/it/people?survey=surveys/frasi")
        await user.should_see("Risultati", retries=300)
        shown = shown_on(user)
        assert shown.index("Risultati") < shown.index("Chiedi nel browser")
        await user.open("/it/people")
        shown = shown_on(user)
        assert shown.index("I tuoi questionari") < shown.index("Un nuovo questionario")
        assert "hanno finito: 3" in " ".join(shown)

    visit(tmp_path, flow)
