"""Answers in the window beside a model: sentences alone, ratings in words, scales, rules, means."""

import statistics
from functools import partial

import pytest
from openpyxl import load_workbook
from scipy import stats

from cimento.app import people
from cimento.app.frame import Text
from cimento.app.jobs import Job, Queue
from cimento.app.wanted import RunRequest
from cimento.app.words import without_commands
from cimento.judgments import how_read, judgments_of, read_judgments
from cimento.kinds.registry import load_suite
from cimento.kinds.run import open_runs
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.participants import EVERYWHERE
from cimento.suites.ratings import Scale, rated_of
from tests.app.test_people_page import answer_all
from tests.helpers.app_user import visit
from tests.helpers.command_line import invoke
from tests.helpers.survey_help import small

pytest.importorskip("nicegui")
pytest.importorskip("starlette")

from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload

SENTENCES = [
    "La maestra ha corretto i compiti.",
    "Le chiavi è nel cassetto.",
    "Di chi pensi che Luca ha parlato?",
    "I ragazzi giocano in cortile.",
    "Il treno partono alle otto.",
]
FORM = "Informazioni cronologiche," + ",".join(f'"{text}"' for text in SENTENCES)
IN_WORDS = [
    ["Accettabile", "Per niente accettabile", "Poco accettabile", "Accettabile",
     "Per niente accettabile"],
    ["Molto accettabile", "Poco accettabile", "Poco accettabile", "Molto accettabile",
     "Per niente accettabile"],
    ["Molto accettabile", "Per niente accettabile", "Accettabile", "Accettabile", "Non so"],
]  # fmt: skip


def a_form(rows):
    lines = [f"2026/03/0{n} 10:02:11 AM CET,{','.join(row)}" for n, row in enumerate(rows, 1)]
    return "\n".join([FORM, *lines, ""])


def fill(user, kind, label, value):
    fields = {
        name: field
        for field in user.find(kind).elements
        for name in (field.props.get("label"), field.props.get("aria-label"))
    }
    fields[label].value = value
    return fields[label]


def said_on(user):
    return [str(text.text) for text in user.find(Text).elements]


async def choose(user, name, content):
    (upload,) = user.find(ui.upload).elements
    await upload.handle_uploads([SmallFileUpload(name, "", content.encode())])


def items_of(path):
    (sheet,) = [one for one in load_workbook(path) if one.title == "item"]
    return [*sheet.iter_rows(values_only=True)]


@pytest.fixture(autouse=True)
def _closed():
    yield
    for served in (*people._running.values(), *people._closed.values()):
        served.stop()
    people._running.clear()
    people._closed.clear()


async def compared_in_italian(shown, user):
    await user.open("/it/people?survey=surveys/frasi")
    user.find("Leggi le risposte").click()
    await user.should_see(marker="counts", retries=300)
    user.find("Confronta con le esecuzioni").click()
    await user.should_see("log-probabilità in bit", retries=300)
    await user.should_not_see("surprisal in bit")
    await user.should_see("Con meno di 10 frasi non fidarti")
    shown.extend(said_on(user))


@pytest.mark.slow
def test_a_list_of_sentences_is_asked_and_its_ratings_go_beside_a_model(tmp_path):
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "frasi.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    copy, survey = tmp_path / "suites" / "frasi-con-risposte.xlsx", tmp_path / "surveys" / "frasi"

    async def ask(user):
        await user.open("/it/people?suite=suites/frasi.txt")
        fill(user, ui.input, "Responsabile (nome ed e-mail)", "Anna Bianchi")
        # The form takes the language of the page for a list, but not before it has read the list.
        language = fill(user, ui.select, "Lingua delle istruzioni", "it")
        user.find("Crea il questionario").click()
        await user.should_not_see("--language: ")
        assert language.error is None
        await user.should_see("Su frasi.", retries=300)
        for rating in (1, 2, 3):
            answer_all(survey, rating)
        await user.open("/it/people?survey=surveys/frasi")
        await user.should_see("a domande del test 15; a controlli di attenzione 6")
        user.find("Leggi le risposte").click()
        await user.should_see("A domande del test: 15; a controlli di attenzione: 6.", retries=300)
        user.find("Confronta con le esecuzioni").click()
        await user.should_see("Premi «Inseriscili in una copia del test»", retries=300)
        user.find("Inseriscili in una copia del test").click()
        await user.should_see("La copia è suites/frasi-con-risposte.xlsx", retries=300)
        await user.should_see("Ora esegui un modello sulla copia")

    shown: list[str] = []
    visit(tmp_path, ask)
    made = tmp_path / "runs"
    assert invoke(["run", str(copy), "-m", "demo-causal", "-o", str(made)]) == 0
    visit(tmp_path, partial(compared_in_italian, shown))
    (run,) = open_runs(made)
    surprisals = {row["item"]: row["value"] for row in run.paradigm.judge.scores(run).to_dicts()}
    ratings: dict[str, list[float]] = {}
    for one in judgments_of(read_judgments(tmp_path / "judgments" / "frasi.parquet")):
        if one.counts:
            ratings.setdefault(one.item, []).append(float(one.value))
    rho = stats.spearmanr(
        [statistics.fmean(ratings[item]) for item in surprisals],
        [-bits for bits in surprisals.values()],
    ).statistic
    assert f"{rho:.2f}".replace(".", ",").replace("-", "−") in shown


def test_a_list_of_sentences_leads_to_the_survey_first(tmp_path):
    async def flow(user):
        await user.open("/en/start")
        await choose(user, "frasi.txt", "\n".join(SENTENCES))
        await user.should_see("people can rate them", retries=300)
        (first, second) = (
            link.props["href"] for link in user.find(ui.link).elements
            if str(link.text).endswith(": suites/frasi.txt")
        )  # fmt: skip
        assert sorted((first, second)) == [
            "/en/edit?suite=suites%2Ffrasi.txt", "/en/people?suite=suites%2Ffrasi.txt",
        ]  # fmt: skip
        await user.should_not_see("suites convert")

    visit(tmp_path, flow)


def test_ratings_in_words_have_no_means_until_each_word_has_its_number(tmp_path):
    async def read(user):
        await user.open("/it/people")
        fill(user, ui.select, "Lingua delle frasi", "it")
        await choose(user, "parole.csv", a_form(IN_WORDS))
        await user.should_see(marker="rating-words", retries=300)
        for text in ("mapping", "[values]", "Alfa di Krippendorff", "Medie per frase"):
            await user.should_not_see(text)
        proposed = {
            field.props.get("aria-label"): field.value
            for field in user.find(ui.input).elements
            if "Numero per" in str(field.props.get("aria-label"))
        }
        assert {*proposed.values()} == {""}  # "Non so" is not on any scale
        for number, word in enumerate(("Per niente", "Poco", "", "Molto"), 1):
            fill(user, ui.input, f"Numero per «{f'{word} accettabile'.strip().capitalize()}»",
                 str(number))  # fmt: skip
        fill(user, ui.input, "Numero per «Non so»", "boh")
        user.find("Usa questi numeri").click()
        await user.should_see("Questo non è un numero", kind=ui.notification, retries=200)
        fill(user, ui.input, "Numero per «Non so»", "")
        user.find("Usa questi numeri").click()
        await user.should_see("Medie per frase", retries=300)
        shown.extend(said_on(user))
        fill(user, ui.input, "Il giudizio peggiore possibile", "1")
        fill(user, ui.input, "Il giudizio migliore possibile", "5")
        user.find("Inseriscili in una copia").click()
        await user.should_see("suites/parole-con-risposte.xlsx", retries=300)

    async def again(user):
        await user.open("/it/people")
        user.find(marker="open parole").click()
        await user.should_see('"Molto accettabile" = 4', retries=300)
        await user.should_see("La scala, conservata con le risposte")
        await user.should_see("Lette come risposte")
        user.find(marker="table parole-words").click()
        await user.should_see("Molto accettabile", kind=Text, retries=300)

    shown: list[str] = []
    visit(tmp_path, read)
    # By hand: 3, 4 and 4; "Non so" leaves the last sentence two.
    assert {"3,67", "1,33", "2,33", "3,33", "1,00"} <= {*shown}
    judgments = judgments_of(read_judgments(tmp_path / "judgments" / "parole.parquet"))
    assert {one.scale for one in judgments} == {"1 to 5"}  # nobody chose the best word
    header, first, *_ = items_of(tmp_path / "suites" / "parole-con-risposte.xlsx")
    assert header == ("item", "frase", "giudizi", "codici dei partecipanti")
    assert first[1:3] == (SENTENCES[0], "3; 4; 4")
    made = load_suite(tmp_path / "suites" / "parole-con-risposte.xlsx").sentences
    assert [one.value for one in rated_of(made).sentences[0].ratings] == [3, 4, 4]
    visit(tmp_path, again)


def test_words_that_are_known_come_with_a_proposal(tmp_path):
    rows = [[word if word != "Non so" else "Accettabile" for word in row] for row in IN_WORDS]

    async def flow(user):
        await user.open("/en/people")
        fill(user, ui.select, "Language of the sentences", "it")
        await choose(user, "words.csv", a_form(rows))
        await user.should_see(marker="rating-words", retries=300)
        user.find("Use these numbers").click()
        await user.should_see("Means by sentence", retries=300)

    visit(tmp_path, flow)
    kept = judgments_of(read_judgments(tmp_path / "judgments" / "words.parquet"))
    by_word = dict(
        zip((word for row in rows for word in row), (j.value for j in kept), strict=True)
    )
    assert by_word == {
        "Per niente accettabile": "1", "Poco accettabile": "2", "Accettabile": "3",
        "Molto accettabile": "4",
    }  # fmt: skip


def test_a_word_among_numbers_is_left_out_of_means_until_it_has_one(tmp_path):
    rows = [["5", "1", "boh", "4", "2"], ["4", "boh", "1", "5", "2"]]

    async def flow(user):
        await user.open("/it/people")
        fill(user, ui.select, "Lingua delle frasi", "it")
        await choose(user, "misto.csv", a_form(rows))
        await user.should_see("Alcuni giudizi sono parole", retries=300)
        await user.should_see("Medie per frase")
        await user.should_see("I giudizi dati vanno da 1 a 5")
        fill(user, ui.input, "Numero per «boh»", "3")
        user.find("Usa questi numeri").click()
        await user.should_not_see("Alcuni giudizi sono parole", retries=300)

    visit(tmp_path, flow)
    kept = judgments_of(read_judgments(tmp_path / "judgments" / "misto.parquet"))
    expected = [value.replace("boh", "3") for row in rows for value in row]
    assert [one.value for one in kept] == expected
    assert {one.scale for one in kept} == {None}  # the word says nothing of the ends


def test_the_scale_of_a_form_is_asked_marked_and_remembered(tmp_path):
    rows = [["6", "1", "3", "7", "2"], ["5", "2", "4", "6", ""], ["7", "1", "5", "6", "1"]]

    async def read(user):
        await user.open("/it/people")
        fill(user, ui.select, "Lingua delle frasi", "it")
        await choose(user, "sette.csv", a_form(rows))
        await user.should_see("I giudizi dati vanno da 1 a 7", retries=300)
        await user.should_see("Celle di risposte vuote: 1 su 15")
        user.find("Inseriscili in una copia").click()
        await user.should_see("entrambi gli estremi", kind=ui.notification, retries=200)
        worst = fill(user, ui.input, "Il giudizio peggiore possibile", "7")
        best = fill(user, ui.input, "Il giudizio migliore possibile", "1")
        user.find("Conserva la scala").click()
        await user.should_see("deve essere il numero più alto", kind=ui.notification, retries=200)
        assert (worst.error, bool(best.error)) == (None, True)
        fill(user, ui.input, "Il giudizio peggiore possibile", "1")
        fill(user, ui.input, "Il giudizio migliore possibile", "6,5")
        user.find("Conserva la scala").click()
        await user.should_see("sono oltre questo estremo", kind=ui.notification, retries=200)
        fill(user, ui.input, "Il giudizio migliore possibile", "7")
        user.find("Inseriscili in una copia").click()
        await user.should_see("suites/sette-con-risposte.xlsx", retries=300)

    async def again(user):
        await user.open("/it/people")
        user.find(marker="open sette").click()
        await user.should_see("La scala, conservata con le risposte", retries=300)
        await user.should_see("Celle di risposte vuote: 1 su 15")
        values = {field.props.get("label"): field.value for field in user.find(ui.input).elements}
        assert values["Il giudizio peggiore possibile"] == "1"
        assert values["Il giudizio migliore possibile"] == "7"

    visit(tmp_path, read)
    assert "Read as answers" in how_read(tmp_path / "judgments" / "sette.parquet")
    made = load_suite(tmp_path / "suites" / "sette-con-risposte.xlsx").sentences
    assert rated_of(made).scale == Scale(1.0, 7.0)
    visit(tmp_path, again)


def test_a_scale_whose_lowest_number_is_the_best_is_inverted_where_somebody_says_so(tmp_path):
    async def read(user):
        await user.open("/es/people")
        fill(user, ui.select, "Lengua de las oraciones", "it")
        await choose(
            user, "notas.csv", a_form([["1", "5", "4", "2", "5"], ["2", "4", "5", "1", "6"]])
        )
        await user.should_see("Las valoraciones dadas van de 1 a 6", retries=300)
        fields = [fill(user, ui.input, f"La {end} valoración posible", value)
                  for end, value in (("peor", "6"), ("mejor", "1"))]  # fmt: skip
        user.find("Guardar la escala").click()
        await user.should_see("marca la casilla", kind=ui.notification, retries=200)
        assert fields[1].error
        user.find("El número más bajo es el mejor").click()
        user.find("Guardar la escala").click()
        await user.should_see("en el archivo 1 es la mejor y 6 la peor", retries=300)
        await user.should_not_see("El número más bajo es el mejor")

    visit(tmp_path, read)
    judgments = judgments_of(read_judgments(tmp_path / "judgments" / "notas.parquet"))
    assert [one.value for one in judgments] == [*"62352", *"53261"]  # 7 less what they gave
    assert {one.scale for one in judgments} == {"1 to 6"}


def test_means_show_z_by_participant(tmp_path):
    rows = [["1", "3", "5", "3", "3"], ["2", "2", "5", "1", "5"]]

    async def flow(user):
        await user.open("/es/people")
        fill(user, ui.select, "Lengua de las oraciones", "it")
        await choose(user, "z.csv", a_form(rows))
        await user.should_see("Media de z por participante", retries=300)
        await user.should_see("después, la media de las personas")
        shown.extend(said_on(user))

    shown: list[str] = []
    visit(tmp_path, flow)
    scored = [stats.zscore([float(value) for value in row], ddof=1) for row in rows]
    for z in map(statistics.fmean, zip(*scored, strict=True)):
        assert f"{z:.2f}".replace(".", ",").replace("-", "−") in shown


def test_alpha_says_what_it_rests_on_and_why_it_has_no_interval(tmp_path, monkeypatch):
    rows = [["1", "3", "5", "4", ""], ["2", "2", "5", "", ""]]  # three sentences have two answers

    async def flow(user):
        await user.open("/es/people")
        fill(user, ui.select, "Lengua de las oraciones", "it")
        await choose(user, "alfa.csv", a_form(rows))
        await user.should_see("Media de las medias de los estímulos", retries=300)
        await user.should_see("con dos o más respuestas: 3 de 4.")
        await user.should_see("Alfa no tiene intervalo (")
        user.find("Comparar con las ejecuciones").click()
        await user.should_see("Todavía no se ha ejecutado ningún modelo", retries=300)
        going = [Job(1, RunRequest(("suites/alfa",), ("demo-causal",)), state="running")]
        monkeypatch.setattr(Queue, "jobs", lambda _: going)
        user.find("Comparar con las ejecuciones").click()
        await user.should_see("Un modelo se está ejecutando", retries=300)
        await user.should_not_see("Todavía no se ha ejecutado ningún modelo")

    visit(tmp_path, flow)


def test_what_rules_did_is_a_table_in_the_language_of_the_page(tmp_path):
    survey = tmp_path / "surveys" / "frasi"
    write_survey(small("it-acceptability", limit=6), survey)
    for rating in (1, 2, 0):
        answer_all(survey, rating)

    async def flow(user):
        await user.open("/it/people?survey=surveys/frasi")
        user.find("Leggi le risposte").click()
        await user.should_see(marker="counts", retries=300)
        share = fill(user, ui.input, "Quota massima di una stessa risposta", "80")
        user.find(kind=ui.button, content="Escludi").click()
        await user.should_see("da 0 a 1", kind=ui.notification, retries=200)
        assert share.error
        fill(user, ui.input, "Quota massima di una stessa risposta", "0,9")
        user.find(kind=ui.button, content="Escludi").click()
        await user.should_see("Persone escluse", retries=300)
        shown.extend(said_on(user))

    shown: list[str] = []
    visit(tmp_path, flow)
    kept = judgments_of(read_judgments(tmp_path / "judgments" / "frasi-kept.parquet"))
    assert len({one.annotator for one in kept}) == 2  # the third gave one answer to everything
    assert "Quota massima di una stessa risposta" in shown
    assert f"Rimaste: {len(kept)} risposte su {len(kept) * 3 // 2}." in " ".join(shown)
    for english in ("moved most", "left out", "places", "straight-lining"):
        assert english not in " ".join(shown)


def test_only_phones_are_offered_a_code_to_scan(tmp_path, monkeypatch):
    monkeypatch.setattr(people, "network_host", lambda: "192.0.2.7")  # of documentation (RFC 5737)
    write_survey(small("it-acceptability", limit=3), tmp_path / "surveys" / "frasi")

    async def flow(user):
        await user.open("/it/people?survey=surveys/frasi")
        user.find("Apri il questionario").click()
        await user.should_see("Apri questo indirizzo su questo computer", retries=300)
        await user.should_see("chi risponde non ne ha bisogno")
        await user.should_not_see("Inquadra il codice")
        await user.should_not_see(kind=ui.html)
        user.find("Chiudi il questionario").click()
        await user.should_not_see("Apri questo indirizzo", retries=200)
        (where,) = user.find(ui.radio).elements
        where.value = EVERYWHERE
        user.find("Apri il questionario").click()
        await user.should_see("Inquadra il codice", retries=300)

    visit(tmp_path, flow)


FIRST = "All are there, and the first ones count"
WRONG = "Correct it, or leave it empty"
COMMANDS = {
    "Two failed: a, b. `cimento annotate filter --attention 1` drops them.": "Two failed: a, b.",
    f"{FIRST}: `cimento annotate filter --duplicates` keeps others, or none.": f"{FIRST}.",
    f"{WRONG}; `cimento annotate import` can also recode it (--mapping).": f"{WRONG}.",
    "Well-known words - and dashes -- stay.": "Well-known words - and dashes -- stay.",
    "": "",
}


@pytest.mark.parametrize("text", COMMANDS)
def test_messages_of_the_window_name_no_command_and_no_option(text):
    assert without_commands(text) == COMMANDS[text]
