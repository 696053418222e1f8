"""Columns of answers in the window: corrected, refused, about people, and with conditions."""

import io
import json

import openpyxl
import pytest

from cimento.judgments import judgments_of, read_judgments
from cimento.kinds.registry import load_suite
from cimento.suites.stimuli import stimulus_texts
from tests.helpers.app_user import visit

pytest.importorskip("nicegui")

from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload

SENTENCES = ["Cheguei tarde.", "Tarde cheguei eu não.", "O pão queimou.", "Queimou-se do pão."]
FORM = [
    ["Carimbo de data/hora", "E-mail", "Qual é a sua região?", "Quantas línguas fala?", *SENTENCES],
    ["2026/03/02 10:02:11", "ana@exemplo.pt", "Porto", "2", "5", "1", "4", "2"],
    ["2026/03/02 10:05:40", "rui@exemplo.pt", "Bahia", "3", "4", "2", "5", "1"],
    ["2026/03/02 10:06:03", "bia@exemplo.br", "Porto", "1", "5", "1", "5", "3"],
]
LONG = [
    ["Participante", "Item", "Condição", "Frase", "Julgamento"],
    *[
        [person, str(1 + number // 2), ("plena", "negada")[number % 2], text, answer]
        for person, answers in (("P01", "5142"), ("P02", "4251"), ("P03", "5153"))
        for number, (text, answer) in enumerate(zip(SENTENCES, answers, strict=True))
    ],
]
YES_NO = [[*row[:4], {"1": "Não", "2": "Não"}.get(row[4], "Sim")] for row in LONG[1:]]


def table(rows):
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows) + "\n"


async def read(user, name, rows):
    """Choose a file whose sentences are in Portuguese."""
    await user.open("/pt/people")
    fields = {one.props.get("label"): one for one in user.find(ui.select).elements}
    fields["Língua das frases"].value = "pt"
    (upload,) = user.find(ui.upload).elements
    await upload.handle_uploads([SmallFileUpload(name, "", table(rows).encode())])


def menu(user, column):
    (found,) = user.find(marker=f"column {column}").elements
    return found


def stored(folder, name):
    return judgments_of(read_judgments(folder / "judgments" / f"{name}.parquet"))


def test_columns_of_a_table_that_was_read_are_corrected_and_its_test_with_them(tmp_path):
    seen = {}

    async def flow(user):
        await read(user, "forma.csv", FORM)
        await user.should_see("Respostas: 12, de pessoas: 3", retries=300)
        user.find("Corrigir as colunas").click()
        await user.should_see("O que há em cada coluna?", retries=100)
        seen["menus"] = {name: menu(user, name).value for name in FORM[0]}
        menu(user, SENTENCES[3]).value = ""
        menu(user, "Quantas línguas fala?").value = "answers"
        user.find("Ler assim").click()
        await user.should_see('"Quantas línguas fala?", "Cheguei tarde."', retries=300)
        await user.should_see(f'não usadas: "{SENTENCES[3]}"')

    visit(tmp_path, flow)
    assert seen["menus"] == {
        "Carimbo de data/hora": "", "E-mail": "participant", "Qual é a sua região?": "told",
        "Quantas línguas fala?": "told", **dict.fromkeys(SENTENCES, "answers"),
    }  # fmt: skip
    suites = [path.name for path in (tmp_path / "suites").iterdir()]
    assert suites == ["forma.xlsx"]  # the test that was made first is replaced
    made = load_suite(tmp_path / "suites" / "forma.xlsx").sentences
    texts = ["Quantas línguas fala?", *SENTENCES[:3]]
    assert [*stimulus_texts(made).values()] == texts
    assert {one.candidate for one in stored(tmp_path, "forma")} == {*texts}


def test_a_test_that_somebody_changed_is_kept_when_columns_are_corrected(tmp_path):
    async def flow(user):
        await read(user, "forma.csv", FORM)
        await user.should_see("Respostas: 12, de pessoas: 3", retries=300)
        book = openpyxl.load_workbook(tmp_path / "suites" / "forma.xlsx")
        book.create_sheet("Notas")
        book.save(tmp_path / "suites" / "forma.xlsx")
        user.find("Corrigir as colunas").click()
        await user.should_see("O que há em cada coluna?", retries=100)
        user.find("Ler assim").click()
        await user.should_see("Respostas: 12, de pessoas: 3", retries=300)

    visit(tmp_path, flow)
    names = sorted(path.name for path in (tmp_path / "suites").iterdir())
    assert names == ["forma-2.xlsx", "forma.xlsx"]
    assert {one.suite for one in stored(tmp_path, "forma")} == {"forma-2"}


def test_a_reading_that_is_refused_says_so_and_keeps_the_menus_and_the_answers(tmp_path):
    async def flow(user):
        await read(user, "longa.csv", LONG)
        await user.should_see("Respostas: 12, de pessoas: 3", retries=300)
        user.find("Corrigir as colunas").click()
        await user.should_see("O que há em cada coluna?", retries=100)
        menu(user, "Julgamento").value = ""
        menu(user, "Item").value = ""
        user.find("Ler assim").click()
        await user.should_see("Não está claro", kind=ui.notification, retries=300)
        assert [menu(user, name).value for name in ("Item", "Frase")] == ["", "sentence"]
        user.find("Deixar como estão").click()
        await user.should_see("Respostas: 12, de pessoas: 3", retries=300)

    visit(tmp_path, flow)
    assert len(stored(tmp_path, "longa")) == 12


def downloaded(folder, name, table, told):
    """The headings and the rows of the workbook of answers that the page gives of a table."""
    files = []

    async def flow(user):
        await read(user, name, table)
        await user.should_see(told, retries=300)
        user.find("Respostas (Excel)").click()
        files.append(await user.download.next())

    visit(folder, flow)
    sheet = openpyxl.load_workbook(io.BytesIO(files[0].content)).active
    header, *rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    return header, rows


def test_what_people_said_of_themselves_is_beside_their_answers_and_no_address(tmp_path):
    header, rows = downloaded(
        tmp_path, "forma.csv", FORM, "sobre as pessoas, nos arquivos de respostas"
    )
    about = json.loads((tmp_path / "judgments" / "forma.about.json").read_text(encoding="utf-8"))
    assert [*about] == ["Qual é a sua região?", "Quantas línguas fala?"]
    people = list(dict.fromkeys(one.annotator for one in stored(tmp_path, "forma")))
    assert about["Qual é a sua região?"] == dict(
        zip(people, ["Porto", "Bahia", "Porto"], strict=True)
    )
    region, languages = map(header.index, about)
    told = [("Porto", 2)] * 4 + [("Bahia", 3)] * 4 + [("Porto", 1)] * 4
    assert [(row[region], row[languages]) for row in rows] == told
    assert not any("exemplo" in str(cell) for row in rows for cell in row)


def test_conditions_of_sentences_have_means_and_stay_in_the_files(tmp_path):
    header, rows = downloaded(tmp_path, "longa.csv", LONG, "Médias por “Condição”")
    assert header.count("Condição") == 1
    assert [row[header.index("Condição")] for row in rows] == ["plena", "negada"] * 6
    made = load_suite(tmp_path / "suites" / "longa.xlsx").sentences
    assert [*stimulus_texts(made).values()] == SENTENCES  # not the names of items


def test_answers_yes_and_no_make_a_test_and_have_a_proportion_for_each_sentence(tmp_path):
    seen = {}

    async def flow(user):
        await read(user, "simnao.csv", [LONG[0], *YES_NO])
        await user.should_see("Aceitação por frase", retries=300)
        await user.should_see("aceitável ou não")
        seen["rows"] = [
            [cell.text for cell in row.default_slot.children if hasattr(cell, "text")]
            for row in user.find(ui.element).elements
            if row.tag == "tr"
        ]
        user.find("Respostas (Excel)").click()
        seen["file"] = await user.download.next()

    visit(tmp_path, flow)
    # R: prop.test(3, 3, correct = FALSE)$conf.int, and of 0 of 3 and 1 of 3; Wilson 1927.
    shares = {tuple(row[2:]) for row in seen["rows"] if row[1:3] and row[2] in SENTENCES}
    assert (SENTENCES[0], "3/3", "100%", "44% – 100%") in shares
    assert (SENTENCES[1], "0/3", "0%", "0% – 56%") in shares
    assert (SENTENCES[3], "1/3", "33%", "6% – 79%") in shares
    sheet = openpyxl.load_workbook(io.BytesIO(seen["file"].content)).active
    header, *rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert {row[header.index("Resposta")] for row in rows} == {"sim", "não"}
