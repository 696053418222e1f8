"""What a list calls its sentences: in results, their files and the comparison with a model."""

import io
import statistics
from functools import partial

import openpyxl
import pytest

from cimento.app.frame import Text
from cimento.judgments import BETTER, Judgment, judgments_of, read_judgments
from cimento.kinds.registry import load_suite
from cimento.paradigms.regions.people_rates import counts_of_choices
from cimento.people.annotate.importing import apply_judgments
from cimento.people.surveys import read_design
from cimento.people.surveys.building import build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.suite_workbook import fold
from tests.app.test_people_page import answer_all
from tests.helpers.app_user import visit
from tests.helpers.command_line import invoke

pytest.importorskip("nicegui")

from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload

SENTENCES = {
    "Il gatto che miagola vuole uscire.": "grammaticale",
    "Il gatto che miagolano vuole uscire.": "agrammaticale",
    "Le zie hanno preparato la torta.": "grammaticale",
    "Le zie ha preparato la torta.": "agrammaticale",
    "Forse domani nevica anche in pianura.": "riempitivo",
}
TWO = {text: label for text, label in SENTENCES.items() if label != "riempitivo"}


def listed(folder, sentences=SENTENCES, name="elenco.csv"):
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{text};{label}" for text, label in sentences.items()]
    (folder / name).write_text("\n".join(["Frase;Tipo", *rows, ""]), encoding="utf-8")
    return folder / name


def surveyed(tmp_path, sentences=SENTENCES):
    path = listed(tmp_path / "suites", sentences)
    plan = SurveyPlan(language="it", contact="Rosa Bini, rosa@example.org", checks=1)
    write_survey(build_design(path, plan), tmp_path / "surveys" / "elenco")
    return tmp_path / "surveys" / "elenco"


def sheet(data):
    head, *rows = openpyxl.load_workbook(io.BytesIO(data)).active.iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rows]


@pytest.mark.parametrize("sentences", [SENTENCES, TWO], ids=["three", "two"])
def test_a_design_has_labels_and_nothing_that_people_open_has_them(tmp_path, sentences):
    survey = surveyed(tmp_path, sentences)
    design = read_design(survey)
    asked = {one.candidate: one.labels for one in design.questions if not one.expected}
    assert asked == {text: {"Tipo": label} for text, label in sentences.items()}
    shown = [
        path for path in survey.rglob("*")
        if path.is_file() and path.suffix in (".js", ".html", ".csv", ".txt", ".qsf", ".tsv")
    ]  # fmt: skip
    assert shown
    for path in shown:
        assert b"grammaticale" not in path.read_bytes(), path


def test_means_by_label_are_shown_and_every_file_has_the_labels(tmp_path):
    survey = surveyed(tmp_path)
    for rating in (1, 2, 3):
        answer_all(survey, rating)
    files, shown = {}, []

    async def flow(user):
        await user.open("/it/people?survey=surveys/elenco")
        user.find("Leggi le risposte").click()
        await user.should_see("Medie per «Tipo»", retries=300)
        await user.should_see("3 persone: per un intervallo che valga per altre ne servono")
        texts = sorted(user.find(Text).elements, key=lambda text: text.id)
        shown.extend(str(text.text) for text in texts)
        for name in ("Risposte (Excel)", "Medie per frase (Excel)", "Medie per gruppo (Excel)"):
            user.find(name).click()
            files[name] = (await user.download.next()).content

    visit(tmp_path, flow)
    answers, means, labels = (sheet(data) for data in files.values())
    of_test = [row for row in answers if row["Tipo di domanda"] == "accettabilità"]
    assert len(of_test) == 15
    assert all(row["Tipo"] == SENTENCES[row["Frase o parola"]] for row in of_test)
    assert {row["Frase"]: row["Tipo"] for row in means} == SENTENCES
    assert [row["Gruppo"] for row in labels] == ["grammaticale", "agrammaticale", "riempitivo"]
    for row in labels:
        of_label = [one for one in of_test if one["Tipo"] == row["Gruppo"]]
        by_sentence = {one["Frase o parola"]: [] for one in of_label}
        for one in of_label:
            by_sentence[one["Frase o parola"]].append(one["Risposta"])
        mean = statistics.fmean(map(statistics.fmean, by_sentence.values()))
        assert row["Media"] == pytest.approx(mean)
        assert (row["N di frasi"], row["N di persone"]) == (len(by_sentence), 3)
        place = shown.index(row["Gruppo"])
        assert shown[place + 1 : place + 5] == [
            str(len(by_sentence)), "3", str(len(of_label)), f"{mean:.2f}".replace(".", ","),
        ]  # fmt: skip


def test_sentences_with_a_label_of_fillers_are_fillers_once_somebody_says_so(tmp_path):
    listed(tmp_path / "suites")

    async def flow(user):
        await user.open("/it/people?suite=suites/elenco.csv")
        await user.should_see(
            "Frasi con l'etichetta «riempitivo»: 1. Sono riempitivi?", retries=300
        )
        fields = {field.props.get("label"): field for field in user.find(ui.input).elements}
        fields["Responsabile (nome ed e-mail)"].value = "Rosa Bini"
        (language,) = [one for one in user.find(ui.select).elements
                       if one.props.get("label") == "Lingua delle istruzioni"]  # fmt: skip
        language.value = "it"
        boxes = [one for one in user.find(ui.checkbox).elements if "in mezzo" in one.text]
        assert [one.value for one in boxes] == [False]
        boxes[0].value = True
        user.find("Crea il questionario").click()
        await user.should_see("riempitivi: 1", retries=300)
        await user.should_see("domande del test: 4")
        await user.should_not_see("Frasi con l'etichetta «riempitivo»")

    visit(tmp_path, flow)
    [survey] = (tmp_path / "surveys").iterdir()
    kinds = {one.lines[0]: one.kind for one in read_design(survey).questions if not one.expected}
    assert kinds == {text: "filler" if label == "riempitivo" else ""
                     for text, label in SENTENCES.items()}  # fmt: skip


def test_results_say_how_many_sentences_may_be_fillers_and_leave_them_out_at_a_press(tmp_path):
    survey = surveyed(tmp_path)
    for rating in (1, 2, 3):
        answer_all(survey, rating)

    async def flow(user):
        await user.open("/it/people?survey=surveys/elenco")
        await user.should_see("Sono domande del test ed entrano in medie")
        user.find("Leggi le risposte").click()
        await user.should_see("Frasi giudicate con l'etichetta «riempitivo»: 1.", retries=300)
        user.find("Sì, lasciale fuori").click()
        await user.should_see("Lasciate fuori come riempitivi: 1 frase", retries=300)
        await user.should_not_see("Frasi giudicate con l'etichetta")

    visit(tmp_path, flow)
    left = judgments_of(read_judgments(tmp_path / "judgments" / "elenco-test.parquet"))
    rated = [one for one in left if one.counts]
    assert {one.candidate for one in rated} == {*TWO}
    assert len(rated) == 12


async def beside(got, user):
    await user.open("/it/people?survey=surveys/elenco")
    user.find("Leggi le risposte").click()
    await user.should_see("Medie per «Tipo»", retries=300)
    user.find("Confronta con le esecuzioni").click()
    await user.should_see("Valore medio del modello", retries=300)
    user.find("Frase per frase (Excel)").click()
    got.append((await user.download.next()).content)


@pytest.mark.slow
def test_the_sentences_beside_a_model_are_downloaded_with_their_labels(tmp_path):
    survey = surveyed(tmp_path)
    for rating in (1, 2, 3):
        answer_all(survey, rating)

    async def copy(user):
        await user.open("/it/people?survey=surveys/elenco")
        user.find("Leggi le risposte").click()
        await user.should_see("Medie per «Tipo»", retries=300)
        user.find("Inseriscili in una copia del test").click()
        await user.should_see("suites/elenco-con-risposte.xlsx", retries=300)

    visit(tmp_path, copy)
    made = tmp_path / "suites" / "elenco-con-risposte.xlsx"
    assert invoke(["run", str(made), "-m", "demo-causal", "-o", str(tmp_path / "runs")]) == 0
    got: list[bytes] = []
    visit(tmp_path, partial(beside, got))
    rows = sheet(got[0])
    assert {row["Frase"]: row["Tipo"] for row in rows} == SENTENCES
    for row in rows:
        assert isinstance(row["log-probabilità in bit"], float)
        assert (
            row["Differenza di rango"] == row["Rango per le persone"] - row["Rango per il modello"]
        )
    header = openpyxl.load_workbook(made)["item"][1]
    heads = [cell.value for cell in header]
    assert heads == ["item", "frase", "Tipo", "giudizi", "codici dei partecipanti"]


FORM = "\n".join(
    [
        "Informazioni cronologiche,Sei madrelingua?,"
        + ",".join(f"Quanto è naturale? [{text}]" for text in SENTENCES),
        "2026/03/02 10:02:11 AM CET,Sì,5,1,4,2,5",
        "2026/03/02 10:05:40 AM CET,Sì,4,2,5,1,4",
        "",
    ]
)


def test_answers_at_the_first_step_lead_to_the_step_that_reads_them(tmp_path):
    links, files = [], []

    async def bring(user):
        await user.open("/it/start")
        (upload,) = user.find(ui.upload).elements
        await upload.handle_uploads([SmallFileUpload("modulo.csv", "", FORM.encode())])
        await user.should_see("contiene risposte di persone, non un test", retries=300)
        links.extend(
            str(link.props["href"]) for link in user.find(ui.link).elements
            if "answers=" in str(link.props["href"])
        )  # fmt: skip
        await user.open(links[0])
        await user.should_see("«modulo.csv» è qui", retries=300)
        (field,) = [
            one for one in user.find(ui.select).elements
            if one.props.get("label") == "Lingua delle frasi"
        ]  # fmt: skip
        field.value = "it"
        await user.should_see("Medie per frase", retries=300)
        user.find("Risposte (Excel)").click()
        files.append((await user.download.next()).content)

    visit(tmp_path, bring)
    assert len(links) == 1
    assert not (tmp_path / "suites" / "modulo.csv").exists()
    rows = sheet(files[0])
    assert len(rows) == 10
    sent = {row["Partecipante"]: row["Data e ora dell'invio"] for row in rows}
    assert sorted(sent.values()) == ["2026/03/02 10:02:11 AM CET", "2026/03/02 10:05:40 AM CET"]


def test_a_form_about_a_list_has_its_labels(tmp_path):
    listed(tmp_path / "suites")

    async def flow(user):
        await user.open("/it/people")
        fields = {field.props.get("label"): field for field in user.find(ui.select).elements}
        fields["Test su cui sono state interrogate le persone"].value = "suites/elenco.csv"
        (upload,) = user.find(ui.upload).elements
        await upload.handle_uploads([SmallFileUpload("modulo.csv", "", FORM.encode())])
        await user.should_see("Medie per «Tipo»", retries=300)

    visit(tmp_path, flow)


def test_the_trial_of_a_survey_is_a_link_in_words(tmp_path):
    surveyed(tmp_path)

    async def flow(user):
        await user.open("/pt/people?survey=surveys/elenco")
        user.find("Ver como participante").click()
        await user.should_see("Abrir o ensaio: Questionario linguistico", retries=300)

    visit(tmp_path, flow)


@pytest.mark.parametrize("language", ["it", "es", "pt", "ru"])
def test_a_copy_of_pairs_with_choices_is_read_in_every_language(tmp_path, language):
    good, bad = list(TWO)[:2]
    (tmp_path / "coppie.csv").write_text(f"good,bad\n{good},{bad}\n", encoding="utf-8")
    chosen = {"ada": ("good", good), "bea": ("good", good), "ciro": ("bad", bad)}
    judgments = [
        Judgment(suite="coppie", item="1", condition=condition, annotator=who, question=BETTER,
                 value=text)
        for who, (condition, text) in chosen.items()
    ]  # fmt: skip
    apply_judgments(tmp_path / "coppie.csv", judgments, tmp_path / "copia")
    made = fold(tmp_path / "copia", tmp_path / "copia.xlsx", language=language)
    heads = [cell.value for cell in openpyxl.load_workbook(made).worksheets[1][1]]
    assert "chosen_by" not in heads
    counts, unread = counts_of_choices(load_suite(made).suite)
    assert (counts, unread) == ({"1": {"good": 2, "bad": 1}}, "")
