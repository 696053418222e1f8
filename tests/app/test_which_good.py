"""Forms in which people chose a sentence, in the window: which one is good, said afterwards."""

import csv
import io

import openpyxl
import pytest

from cimento.app.answer_tables import Beyond, answers_csv
from cimento.app.incoming import answers_file
from cimento.judgments import (
    Judgment,
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.kinds.registry import load_suite
from cimento.kinds.run import open_run
from cimento.suites.stimuli import stimulus_text
from tests.helpers.app_user import visit
from tests.helpers.command_line import invoke

pytest.importorskip("nicegui")

from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload

PAIRS = [
    ("As casas são bonitas.", "As casas é bonitas."),
    ("O menino dorme cedo.", "O menino dormem cedo."),
    ("Eles chegaram ontem.", "Eles chegou ontem."),
]
(HOUSES, _), (BOY, _), (THEY, THEY_BAD) = PAIRS
STAMPS = [
    "2026/03/20 10:00:11 da manhã GMT-3", "2026/03/20 3:05:11 da tarde GMT-3",
    "2026/03/20 9:30:02 da noite GMT-3",
]  # fmt: skip
CHOSEN = [(HOUSES, BOY, THEY), (PAIRS[0][1], BOY, "As duas"), (HOUSES, BOY, THEY_BAD)]


def rows(*of_rows):
    text = io.StringIO()
    csv.writer(text).writerows(of_rows)
    return text.getvalue()


def form(stamp="Carimbo de data/hora"):
    headings = [f"Qual soa melhor? [{number}]" for number in (1, 2, 3)]
    return rows(
        [stamp, *headings], *([at, *cells] for at, cells in zip(STAMPS, CHOSEN, strict=True))
    )


async def choose(user, content, name="formulario.csv"):
    (upload,) = user.find(ui.upload).elements
    await upload.handle_uploads([SmallFileUpload(name, "", content.encode())])


def fill(user, label, value, kind=ui.select):
    """Fill the last field of a name, which is the one in the results."""
    fields = [one for one in user.find(kind).elements if one.props.get("label") == label]
    max(fields, key=lambda one: one.id).value = value


async def read_it(user):
    await user.open("/en/people")
    fill(user, "Language of the sentences", "pt")
    await choose(user, form())
    await user.should_see(marker="which-good", retries=300)
    await user.should_see(marker="counts", retries=300)


def stored(folder):
    return judgments_of(read_judgments(folder / "judgments" / "formulario.parquet"))


def chosen(judgments):
    return sorted((one.item, one.condition or one.value) for one in judgments)


EXPECTED = sorted(
    [
        *(("1", side) for side in ("good", "bad", "good")),
        *(("2", side) for side in ("good", "good", "good")),
        *(("3", side) for side in ("good", "both", "bad")),
    ]
)


@pytest.mark.parametrize("where", ["above", "below"])
def test_a_test_that_is_chosen_afterwards_says_which_sentence_is_good(tmp_path, where):
    (tmp_path / "pares.csv").write_text(
        rows(["item", "good", "bad"], *([n, *pair] for n, pair in enumerate(PAIRS, 1))),
        encoding="utf-8",
    )

    async def flow(user):
        await read_it(user)
        user.find("Compare with runs").click()
        await user.should_see("Say it first", kind=ui.notification, retries=300)
        if where == "above":
            of_page = "Test that people were asked about"
            fields = [
                one for one in user.find(ui.select).elements if one.props.get("label") == of_page
            ]
            min(fields, key=lambda one: one.id).value = "pares.csv"
        else:
            fill(user, "Test that people were asked about", "pares.csv")
            user.find("Take this test").click()
        await user.should_not_see(marker="which-good", retries=30)
        await user.should_see(marker="counts", retries=300)
        user.find("Put them into a copy").click()
        await user.should_see("suites/pares-judged", retries=300)

    visit(tmp_path, flow)
    assert {one.suite for one in stored(tmp_path)} == {"pares"}
    assert chosen(stored(tmp_path)) == EXPECTED
    assert {one.at for one in stored(tmp_path)} == {*STAMPS}
    with (tmp_path / "suites" / "pares-judged" / "items.tsv").open(encoding="utf-8") as file:
        counts = {(row["item"], row["condition"]): row["chosen_by"]
                  for row in csv.DictReader(file, delimiter="\t")}  # fmt: skip
    assert (counts["1", "good"], counts["1", "bad"]) == ("2", "1")


def test_a_test_without_these_sentences_is_refused_and_changes_nothing(tmp_path):
    (tmp_path / "outros.csv").write_text("good,bad\nA porta abriu.,A porta abriram.\n")

    async def flow(user):
        await read_it(user)
        fill(user, "Test that people were asked about", "outros.csv")
        user.find("Take this test").click()
        await user.should_see("none of the sentences", kind=ui.notification, retries=300)

    visit(tmp_path, flow)
    assert {one.suite for one in stored(tmp_path)} == {""}


def test_whoever_marks_the_good_sentences_has_a_test_of_pairs(tmp_path):
    typed = "O menino dormem cedo."

    async def flow(user):
        await read_it(user)
        marks = sorted(user.find(ui.radio).elements, key=lambda one: one.id)
        asked = [one for one in marks if one.props.get("aria-label") == "The good sentence"]
        for radio, good in zip(asked, (HOUSES, BOY, THEY), strict=True):
            radio.value = next(k for k, text in radio.options.items() if text == good)
        fill(user, "Language of the sentences", "pt")
        user.find(kind=ui.button, content="Make the test").click()
        await user.should_see("Type the sentence that", kind=ui.notification, retries=300)
        fill(user, "Sentence that nobody chose", typed, ui.input)
        user.find(kind=ui.button, content="Make the test").click()
        await user.should_not_see(marker="which-good", retries=30)

    visit(tmp_path, flow)
    made = load_suite(tmp_path / "suites" / "formulario.xlsx")
    texts = {
        (item.id, one.name): stimulus_text(one)
        for item in made.sentences.items
        for one in item.conditions
    }
    assert texts == {
        (str(n), name): text
        for n, pair in enumerate(PAIRS, 1)
        for name, text in zip(("good", "bad"), pair, strict=True)
    }
    assert made.sentences.meta.language == "pt"
    assert chosen(stored(tmp_path)) == EXPECTED


@pytest.mark.parametrize("stamp", ["Carimbo de data/hora", "Quando"])
def test_choices_of_people_are_no_test_also_where_no_program_is_known(stamp):
    assert answers_file("x.csv", form(stamp).encode()) is not None


@pytest.mark.parametrize(
    ("heading", "stamp"),
    [
        ("Carimbo de data/hora", STAMPS[0]),
        ("Carimbo de data/hora", "2026/03/20 10:00:11 AM GMT-3"),
        ("Marca temporal", "2026/03/20 9:40:00 p.\u00a0m. GMT-5"),
        ("Informazioni cronologiche", "20/03/2026 13.49.22"),
        ("Отметка времени", "20.03.2026 9:14:47"),
    ],
)
def test_a_form_of_google_is_known_by_its_times_in_each_language(heading, stamp):
    cells = [["Qual soa melhor?", "Idade"], [HOUSES, "30"], [PAIRS[0][1], "41"]]
    stamped = rows(*([one, *row] for one, row in zip((heading, stamp, stamp), cells, strict=True)))
    found = answers_file("x.csv", stamped.encode())
    assert found is not None
    assert found.program == "Google Forms"


@pytest.mark.parametrize(
    "table",
    [
        ["good", "bad"],
        ["Quem você viu ontem?", "Quem você viram ontem?"],
        ["frase boa de verdade 1", "frase boa de verdade 2"],
    ],
)
def test_a_table_of_pairs_holds_no_answers_whatever_heads_it(table):
    assert answers_file("x.csv", rows(table, *PAIRS).encode()) is None


def test_step_two_leads_from_answers_to_step_five_and_gives_no_false_advice(tmp_path):
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "respostas.csv").write_text(form("Quando"), encoding="utf-8")

    async def flow(user):
        await user.open("/pt/edit?suite=suites%2Frespostas.csv")
        await user.should_see(marker="to-answers", retries=300)
        await user.should_not_see("Ponha uma linha assim acima")
        (link,) = user.find(marker="to-answers").elements
        await user.open(link.props["href"])
        await user.should_see("“respostas.csv” já está aqui", retries=300)

    visit(tmp_path, flow)


def in_portuguese(folder):
    """Answers about a test: one person likes both sentences, one leaves out the last pair."""
    (folder / "pares.csv").write_text(
        rows(["item", "good", "bad"], *([n, *pair] for n, pair in enumerate(PAIRS, 1))),
        encoding="utf-8",
    )
    (folder / "judgments").mkdir()
    (folder / "judgments" / "formulario.secret").write_text("0" * 64)
    sides = {
        "p1": ("good", "good", "bad"),
        "p2": ("good", "good", "good"),
        "p3": ("bad", "good", ""),
        "p4": ("good", "good"),
    }
    answers = [
        Judgment(
            suite="pares", item=str(item + 1), condition=side, annotator=person,
            question="which is better",
            value=dict(zip(("good", "bad"), PAIRS[item], strict=True)).get(side, "both"),
        )
        for person, chosen_sides in sides.items()
        for item, side in enumerate(chosen_sides)
    ]  # fmt: skip
    write_judgments(table_of(answers), folder / "judgments" / "formulario.parquet")
    return answers


def cells_of(user):
    """The cells of the tables on the page, by row."""
    return [
        [cell.text for cell in row.default_slot.children if hasattr(cell, "text")]
        for row in user.find(ui.element).elements
        if row.tag == "tr"
    ]


def test_the_table_of_choices_says_which_is_good_and_lists_what_nobody_chose(tmp_path):
    in_portuguese(tmp_path)
    seen = {}

    async def flow(user):
        await user.open("/pt/people")
        user.find(marker="open formulario").click()
        await user.should_see("Escolhas por frase", retries=300)
        await user.should_see("a cópia do teste conta só quem escolheu uma")
        seen["rows"] = cells_of(user)
        user.find("Escolhas por frase (Excel)").click()
        seen["file"] = await user.download.next()

    visit(tmp_path, flow)
    # R: prop.test(4, 4, correct = FALSE)$conf.int, and of 0 of 4 and 1 of 3; Wilson 1927.
    assert ["2", "boa", BOY, "4/4", "100%", "51% – 100%"] in seen["rows"]
    assert ["2", "ruim", PAIRS[1][1], "0/4", "0%", "0% – 49%"] in seen["rows"]
    assert ["3", "", "ambas", "1/3", "33%", "6% – 79%"] in seen["rows"]
    sheet = openpyxl.load_workbook(io.BytesIO(seen["file"].content)).active
    header, *body = [[cell.value for cell in row] for row in sheet.iter_rows()]
    share = header.index("Proporção")
    by_sentence = {row[3]: row for row in body}
    # R: prop.test(3, 4, correct = FALSE)$conf.int; Wilson 1927.
    assert by_sentence[HOUSES][share : share + 3] == pytest.approx([0.75, 0.3006, 0.9544], abs=1e-4)
    assert by_sentence["ambas"][share] == pytest.approx(1 / 3, abs=1e-4)


def test_a_tie_is_told_in_the_language_of_a_file_and_read_back(tmp_path):
    judgments = in_portuguese(tmp_path)
    written = tmp_path / "respostas.csv"
    written.write_bytes(answers_csv(judgments, Beyond(), "pt"))
    assert ";ambas" in written.read_text(encoding="utf-8")
    back = judgments_of(read_judgments(written))
    assert [one.value for one in back] == [one.value for one in judgments]


def test_a_table_after_rules_is_named_beside_that_of_everybody_and_the_other_way(tmp_path):
    in_portuguese(tmp_path)

    async def flow(user):
        await user.open("/pt/people")
        user.find(marker="open formulario").click()
        await user.should_see(marker="counts", retries=300)
        user.find(kind=ui.button, content="Excluir").click()
        await user.should_see("pelo menos uma regra", kind=ui.notification, retries=300)
        fill(user, "Proporção mínima de perguntas respondidas", "1", ui.input)
        user.find(kind=ui.button, content="Excluir").click()
        await user.should_see("Mostrar todo mundo de novo", retries=300)
        await user.open("/pt/people")
        user.find(marker="open formulario").click()
        await user.should_see("Aqui aparece todo mundo (4)", retries=300)
        user.find("formulario, depois das regras").click()
        await user.should_see("Mostrar todo mundo de novo", retries=300)
        user.find(kind=ui.button, content="Excluir").click()  # without a rule
        await user.should_see("Aqui aparece todo mundo (4)", retries=300)

    visit(tmp_path, flow)


@pytest.mark.slow
def test_choices_are_beside_a_model_item_by_item_on_the_page_and_in_a_file(tmp_path):
    in_portuguese(tmp_path)
    pairs = str(tmp_path / "pares.csv")
    command = ["run", pairs, "--language", "pt", "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    assert invoke(command) == 0
    (manifest,) = (tmp_path / "runs").rglob("manifest.json")
    outcomes = open_run(manifest.parent).outcomes()
    right = dict(outcomes.select("item", "right").iter_rows())
    seen = {}

    async def flow(user):
        await user.open("/pt/people")
        user.find(marker="open formulario").click()
        await user.should_see(marker="counts", retries=300)
        user.find("Comparar com as execuções").click()
        await user.should_see("Escolhas usadas: da tabela “formulario”; pessoas: 4", retries=300)
        seen["rows"] = cells_of(user)
        user.find("Frase por frase (Excel)").click()
        seen["file"] = await user.download.next()

    visit(tmp_path, flow)
    yes_or_no = {item: "sim" if is_right else "não" for item, is_right in right.items()}
    texts = {str(n): " | ".join(pair) for n, pair in enumerate(PAIRS, 1)}
    shown = {row[0]: row for row in seen["rows"] if row[1:2] == [texts.get(row[0])]}
    # Whoever chose both is neither right nor wrong.
    assert {item: row[2:] for item, row in shown.items()} == {
        "1": ["4", "75%", yes_or_no["1"]],
        "2": ["4", "100%", yes_or_no["2"]],
        "3": ["2", "50%", yes_or_no["3"]],
    }
    sheet = openpyxl.load_workbook(io.BytesIO(seen["file"].content)).active
    _, *body = [[cell.value for cell in row] for row in sheet.iter_rows()]
    # R: prop.test(1, 2, correct = FALSE)$conf.int
    assert body[2][5:8] == pytest.approx([0.5, 0.0945, 0.9055], abs=1e-4)
    assert [row[-1] for row in body] == [int(right[row[2]]) for row in body]
