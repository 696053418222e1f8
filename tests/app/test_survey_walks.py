"""Surveys of pairs, blanks and stories in the window, from the test to the results of three people.

As for ratings: practice, fillers, breaks, consent, questions about people, checks, the order of
each person, a preview, links, answers, rules with their log, results beside a model, and the files
for paper and other programs.
"""

import json
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from cimento.app import people
from cimento.cli.main import invoke
from cimento.judgments import judgments_of, read_judgments
from cimento.people.surveys import DATABASE, read_design, storage
from tests.app.test_people_page import fill
from tests.app.test_people_results import said_on
from tests.helpers.app_user import until, visit

pytest.importorskip("nicegui")
pytest.importorskip("starlette")

from nicegui import ui

PAIRS = [
    ("Le chiavi sono nel cassetto.", "Le chiavi è nel cassetto."),
    ("Il treno parte alle otto.", "Il treno partono alle otto."),
    ("I ragazzi giocano in cortile.", "I ragazzi gioca in cortile."),
    ("Mia sorella studia a Pisa.", "Mia sorella studiano a Pisa."),
    ("Le finestre restano aperte.", "Le finestre resta aperte."),
    ("Il sindaco ha firmato.", "Il sindaco hanno firmato."),
]
BLANKS = [
    ("Il contadino munge la ___ ogni mattina.", "mucca", "sedia"),
    ("La porta si apre con la ___.", "chiave", "nuvola"),
    ("L'uccello ha fatto il ___ sul ramo.", "nido", "treno"),
    ("D'inverno accendiamo il ___.", "camino", "pesce"),
    ("Il pane si compra dal ___.", "fornaio", "vulcano"),
]


ALL_FORMS = (
    "Esperimento jsPsych", "Script per PCIbex", "Questionario per Qualtrics", "Pagine da stampare",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _closed():
    yield
    for served in (*people._running.values(), *people._closed.values()):
        served.stop()
    people._running.clear()
    people._closed.clear()


def write(folder, name, *rows):
    (folder / "suites").mkdir(exist_ok=True)
    text = "".join("\t".join(row) + "\n" for row in rows)
    (folder / "suites" / name).write_text(text, encoding="utf-8")
    return f"suites/{name}"


def answered_by(survey, choose):
    """Answer everything as one person: `choose` gives the value for a question and its number."""
    design, database = read_design(survey), survey / DATABASE
    storage.prepare(database, design)
    ((person, _),) = storage.invite_participants(database, design, 1)
    with storage.opened_database(database) as connection:
        storage.store_consent(connection, person.id, design)
        for number, question in enumerate(person.questions):
            asked = design.by_id[question]
            field = design.fields_of(asked)[0]
            choices = asked.choices or field.choices
            value = asked.expected or choose(number, asked, [one.value for one in choices])
            storage.store_answer(
                connection, person.id, question, {field.name: value}, remark="", seconds=3.0,
                asked=person.questions,
            )  # fmt: skip
    return [design.by_id[question] for question in person.questions]


async def made(user, suite, *, task, practice, filler):
    """Make a survey with all that a survey may have, and see what is said of it."""
    await user.open(f"/it/people?suite={suite}")
    fill(user, ui.input, "Responsabile (nome ed e-mail)", "Anna Bianchi, anna@example.org")
    fill(user, ui.select, "Compito", task)
    if not suite.startswith("it-"):
        fill(user, ui.select, "Lingua delle istruzioni", "it")
    else:
        fill(user, ui.number, "Numero massimo di item", 4)
    fill(user, ui.textarea, "Frasi di prova, chieste per prime", practice)
    fill(user, ui.textarea, "Riempitivi, mescolati alle altre frasi", filler)
    fill(user, ui.textarea, "Un tuo testo per il consenso, con una riga vuota tra i paragrafi",
         "Partecipi per libera scelta.")  # fmt: skip
    fill(user, ui.select, "Che cosa si chiede alle persone su di sé", ["region"])
    fill(user, ui.number, "Domande tra due pause", 3)
    user.find("Crea il questionario").click()
    await user.should_see("Da leggere: circa", retries=300)
    await user.should_see("La lista più lunga ha domande del test:")
    await user.should_see("riempitivi: 1; frasi di prova: 1.")


async def opened(user):
    """Look at the survey as a participant, open it, make links, and close it."""
    user.find("Guardalo come partecipante").click()
    await user.should_see(marker="preview", retries=300)
    (link,) = user.find(marker="preview").elements
    with build_opener(HTTPCookieProcessor()).open(str(link.props["href"]), timeout=20) as page:
        assert page.status == 200
    user.find("Apri il questionario").click()
    await user.should_see("Apri questo indirizzo", retries=300)
    user.find("Crea i link e scaricali").click()
    links = await user.download.next(timeout=30)
    assert links.content.count(b"/p/") == 10
    user.find("Chiudi il questionario").click()
    await until(lambda: not people._running)


async def downloaded(user, *forms):
    for form in forms:
        user.find(form).click()
        assert (await user.download.next(timeout=30)).content.startswith(b"PK")


async def read_and_filtered(user, kept):
    user.find("Leggi le risposte").click()
    await user.should_see("Alfa di Krippendorff (scala nominale)", retries=300)
    fill(user, ui.input, "Serie più lunga ammessa di risposte uguali", "50")
    user.find(kind=ui.button, content="Escludi").click()
    await user.should_see("Rimaste: ", retries=300)
    assert kept.is_file()


def walk(tmp_path, suite, *, practice, filler, choose, apply, forms, task=""):
    """Make, open, answer, read and filter a survey, and set it beside a model; what is shown."""
    name = Path(suite).stem
    survey = tmp_path / "surveys" / name
    shown: list[str] = []

    async def make(user):
        await made(user, suite, task=task, practice=practice, filler=filler)
        await opened(user)
        await downloaded(user, *forms)

    async def read(user):
        await user.open(f"/it/people?survey=surveys/{name}")
        await user.should_see("hanno finito: 3")
        await read_and_filtered(user, tmp_path / "judgments" / f"{name}-kept.log.json")
        user.find("Confronta con le esecuzioni").click()
        await user.should_see("Nessun modello è ancora stato eseguito", retries=300)
        if apply:
            user.find("Inseriscili in una copia del test").click()
            await user.should_see("La copia è", retries=300)

    async def beside(user):
        await user.open(f"/it/people?survey=surveys/{name}")
        user.find("Leggi le risposte").click()
        await user.should_see(marker="counts", retries=300)
        user.find("Confronta con le esecuzioni").click()
        await user.should_see("Modello nel giusto", retries=300)
        shown.extend(said_on(user))

    visit(tmp_path, make)
    orders = [answered_by(survey, choose(person)) for person in range(3)]
    assert all(order[0].kind == "practice" for order in orders)
    assert len({tuple(one.id for one in order) for order in orders}) > 1  # of each person
    visit(tmp_path, read)
    log = json.loads((tmp_path / "judgments" / f"{name}-kept.log.json").read_text("utf-8"))
    assert log["source"] == f"{name}.parquet"
    copies = sorted((tmp_path / "suites").glob("*-con-risposte*"))
    assert bool(copies) == apply
    place = str(copies[0]) if apply else suite
    options = ["run", place, "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    assert invoke(options) == 0
    visit(tmp_path, beside)
    return shown


@pytest.mark.slow
def test_a_survey_of_pairs_from_the_table_to_results_beside_a_model(tmp_path):
    suite = write(tmp_path, "coppie.tsv", ("good", "bad"), *PAIRS)

    def choose(person):
        def choice(number, asked, values):
            good = next((one.value for one in asked.choices if one.condition == "good"), values[0])
            return good if person < 2 or number % 2 else next(v for v in values if v != good)

        return choice

    shown = walk(
        tmp_path, suite, task="choice", choose=choose, apply=True,
        practice="Quale frase è migliore? | Il sole splende. | Il sole splendono.",
        filler="Quale frase è migliore? | Anna ride. | Ride anna.",
        forms=ALL_FORMS,
    )  # fmt: skip
    judged = judgments_of(read_judgments(tmp_path / "judgments" / "coppie.parquet"))
    answers = [one for one in judged if one.counts]
    right = [one.condition == "good" for one in answers]
    assert len(answers) == 3 * len(PAIRS)
    # Every item has three answers, so that the mean over items is that over answers.
    assert f"{sum(right) / len(right):.1%}".replace(".", ",") in shown
    assert f"su {len(PAIRS)}" in " ".join(shown)


@pytest.mark.slow
def test_a_survey_of_blanks_from_the_table_to_results_beside_a_model(tmp_path):
    suite = write(tmp_path, "vuoti.tsv", ("frase", "atteso", "distrattore"), *BLANKS)
    targets = {target for _, target, _ in BLANKS}

    def choose(person):
        def choice(number, _, values):
            target = next((value for value in values if value in targets), values[0])
            return target if person or number % 2 else next(v for v in values if v != target)

        return choice

    shown = walk(
        tmp_path, suite, choose=choose, apply=True,
        practice="Il sole è ___. | caldo | quadrato",
        filler="Bevo un ___ d'acqua. | bicchiere | mare",
        forms=ALL_FORMS,
    )  # fmt: skip
    judged = judgments_of(read_judgments(tmp_path / "judgments" / "vuoti.parquet"))
    answers = [one for one in judged if one.counts]
    right = [one.value in targets for one in answers]
    assert len(answers) == 3 * len(BLANKS)
    assert f"{sum(right) / len(right):.1%}".replace(".", ",") in shown


@pytest.mark.slow
def test_a_survey_of_stories_from_the_test_to_results_beside_a_model(tmp_path):
    def choose(person):
        return lambda number, _, values: values[(number + person) % 2]

    shown = walk(
        tmp_path, "it-stories", choose=choose, apply=False,
        practice="Anna apre l'ombrello perché piove. | sì | no",
        filler="Il gatto dorme sul divano. | sì | no",
        forms=("Esperimento jsPsych", "Pagine da stampare"),
    )  # fmt: skip
    judged = judgments_of(read_judgments(tmp_path / "judgments" / "it-stories.parquet"))
    assert {one.question for one in judged if one.counts} >= {"story_class"}
    assert any(" su " in text for text in shown)


def test_blanks_without_other_words_are_refused_with_what_to_do_in_the_window(tmp_path):
    rows = [(text, target) for text, target, _ in BLANKS]
    suite = write(tmp_path, "vuoti.tsv", ("frase", "atteso"), *rows)

    async def flow(user):
        await user.open(f"/it/people?suite={suite}")
        fill(user, ui.input, "Responsabile (nome ed e-mail)", "Anna Bianchi")
        fill(user, ui.select, "Lingua delle istruzioni", "it")
        user.find("Crea il questionario").click()
        await user.should_see("non ci sono opzioni tra cui scegliere", kind=ui.notification,
                              retries=300)  # fmt: skip
        await user.should_see("Aggiungi al passo 2 una colonna di altre parole")

    visit(tmp_path, flow)
    assert not (tmp_path / "surveys" / "vuoti").exists()
