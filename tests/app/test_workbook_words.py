"""Suite workbooks in every language of the window: back without loss, places as they are called."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings, strategies

from cimento.app.checking import check_grid
from cimento.app.describing import describe
from cimento.app.editing import set_cells
from cimento.app.opening import open_grid, write_grid
from cimento.app.words import LANGUAGES
from cimento.errors import InputError
from cimento.intake.words import DESCRIBED, HEADINGS, SETTINGS, SHEETS, STORIES, VERSIONS
from cimento.intake.workbooks import write_sheets
from cimento.kinds.registry import load_suite, save_suite
from cimento.suites.builtin import builtin_names, new_suite, template_kinds
from cimento.suites.formats.native import read_native, write_native
from cimento.suites.ratings import rated_of
from cimento.suites.suite_workbook import fold, unfold
from cimento.suites.workbook_words import (
    how_to,
    in_english,
    in_language,
    setting_called,
    setting_meant,
    what_it_is,
)
from tests.helpers.app_user import until, visit
from tests.helpers.command_line import invoke
from tests.helpers.some_slow import some_slow
from tests.suites.test_suite_roundtrip import suites

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

ENGLISH_SAID = re.compile(
    "Examples|less surprising|island than|subject-verb|commonsense|such as"
    "|'(?:setting|value|what it is|license|comment|good sentence|condition|story|version)'"
)
"""What the workbooks in English say."""
OTHERS = [code for code in LANGUAGES if code != "en"]
STARTERS = [(kind, language) for kind in template_kinds() for language in OTHERS]


def cells_of(path):
    """The cells of each sheet of a workbook, as another program reads them."""
    book = openpyxl.load_workbook(path)
    return {
        sheet.title: [[cell.value or "" for cell in row] for row in sheet.iter_rows()]
        for sheet in book
    }


def numbered(suite):
    """A suite whose conditions, regions, factors and levels are called by their numbers."""
    names = {name: f"c{n}" for n, name in enumerate(suite.condition_names)}
    levels = {
        (factor, level): f"l{n}"
        for factor, known in suite.factors.items()
        for n, level in enumerate(known)
    }
    factors = {factor: f"f{n}" for n, factor in enumerate(suite.factors)}
    return replace(
        suite,
        region_names=tuple(f"r{n}" for n, _ in enumerate(suite.region_names)),
        factors={f"f{n}": len(known) for n, known in enumerate(suite.factors.values())},
        predictions=tuple(
            replace(
                one,
                name="",
                comment="",
                formula=re.sub(r"%(.+?)%", lambda name: f"%{names[name[1]]}%", one.formula),
            )
            for one in suite.predictions
        ),
        items=tuple(
            replace(
                item,
                conditions=tuple(
                    replace(
                        one,
                        name=names[one.name],
                        columns={
                            factors.get(key, key): levels.get((key, cell), cell)
                            for key, cell in one.columns.items()
                        },
                    )
                    for one in item.conditions
                ),
            )
            for item in suite.items
        ),
    )


def content(loaded):
    """What a suite says; of rated sentences what people gave, whatever their column is called.

    What a template says of its examples in words is left out, and names are numbers.
    """
    suite = loaded.suite
    suite = replace(suite, meta=replace(suite.meta, phenomenon="", comment=""))
    if hasattr(suite, "predictions"):
        suite = numbered(suite)
    try:
        rated = rated_of(suite)
    except (InputError, AttributeError, TypeError):
        return suite
    return suite.meta, suite.predictions, suite.extra, rated


@pytest.mark.parametrize("starter", some_slow(STARTERS, quick=8))
def test_a_starter_in_a_language_is_the_suite_that_it_is_in_english(tmp_path, starter):
    kind, language = starter
    [english] = new_suite(kind, tmp_path / "en" / "s.xlsx", language=language)
    [other] = new_suite(kind, tmp_path / language / "s.xlsx", language=language, words=language)
    assert content(load_suite(other)) == content(load_suite(english))
    assert ENGLISH_SAID.findall(repr(cells_of(other))) == []
    assert ENGLISH_SAID.findall(repr(cells_of(english)))
    assert set(cells_of(other)) == {SHEETS[name][language] for name in cells_of(english)}


@pytest.mark.parametrize("starter", some_slow(STARTERS, quick=8))
def test_the_window_saves_what_it_opened(tmp_path, starter):
    kind, language = starter
    [path] = new_suite(kind, tmp_path / "s.xlsx", language=language, words=language)
    opened = open_grid(path, words="en").grid
    assert opened.words == language
    assert check_grid(opened).usable
    assert cells_of(write_grid(opened, tmp_path / "again.xlsx")) == cells_of(path)


@pytest.mark.parametrize("words", ["en", "pt", "ru"])
def test_ratings_are_numbers_in_the_workbook_that_the_window_saves(tmp_path, words):
    path = tmp_path / "notas.csv"
    path.write_text(
        "N.;Frase;Média;DP;N.º de avaliadores\n"
        "01;Ninguém não viu o acidente.;2,2;1,2;22\n"
        "02;A menina comeu o bolo.;6;0,4;24\n"
        "03;O livro que ela leu é antigo.;;;\n",
        encoding="utf-8",
    )
    grid = open_grid(path, words=words).grid
    saved = write_grid(describe(grid, language="pt"), tmp_path / "notas.xlsx")
    sheet = openpyxl.load_workbook(saved)[SHEETS["items"].get(words, "items")]
    head, *rows = sheet.iter_rows(values_only=True)
    values = dict(zip(head, zip(*rows, strict=True), strict=True))
    assert list(values.values())[-3:] == [(2.2, 6, None), (1.2, 0.4, None), (22, 24, None)]
    assert "01" in values[head[0]]
    [first, second, third] = rated_of(load_suite(saved).suite).sentences
    assert (first.mean, first.sd, first.n) == (2.2, 1.2, 22)
    assert (second.mean, second.n, third.mean) == (6.0, 24, None)


@pytest.mark.parametrize("language", OTHERS)
def test_a_suite_of_a_folder_is_saved_in_the_language_of_the_window(tmp_path, language):
    folder = tmp_path / "s"
    new_suite("pairs", folder, language=language)
    grid = open_grid(folder, words=language).grid
    there = cells_of(write_grid(grid, tmp_path / "s.xlsx"))
    assert [*there] == [
        SHEETS[name][language] for name in ("about", "items", "predictions", "how to")
    ]
    labels = [row[0] for row in there[SHEETS["about"][language]]]
    known = ("name", "version", "language", "phenomenon", "license", "citation", "status",
             "author", "reference", "comment", "tags")  # fmt: skip
    written = [SETTINGS[name][language][0] for name in known]
    assert labels == [DESCRIBED["setting"][language], *written]
    # The table of the folder is its author's, and its headings stay.
    assert there[SHEETS["items"][language]][0][:3] == ["item", "good", "bad"]
    assert load_suite(tmp_path / "s.xlsx").suite == load_suite(folder).suite


@pytest.mark.slow
@pytest.mark.parametrize("name", some_slow(builtin_names(), quick=4))
def test_a_suite_of_cimento_is_saved_in_a_language_without_loss(tmp_path, name):
    for language in OTHERS:
        folder = save_suite(load_suite(name), tmp_path / language)
        book = fold(folder, tmp_path / f"{language}.xlsx", language=language)
        again = save_suite(load_suite(book), tmp_path / f"{language}-again")
        assert (again / "suite.toml").read_bytes() == (folder / "suite.toml").read_bytes()
        assert content(load_suite(again)) == content(load_suite(folder))


@pytest.mark.slow
@given(suites(), strategies.sampled_from(OTHERS))
@settings(deadline=None)
def test_any_suite_is_saved_in_any_language_and_back(suite, language):
    with tempfile.TemporaryDirectory() as name:
        folder, back = Path(name) / "a", Path(name) / "b"
        back.mkdir()
        write_native(suite, folder)
        grid = open_grid(folder, words=language).grid
        unfold(write_grid(grid, Path(name) / "s.xlsx"), back)
        assert read_native(back).suite == suite
        again = open_grid(Path(name) / "s.xlsx").grid
        assert again.sheets["about"].rows == grid.sheets["about"].rows
        assert again.sheets["predictions"].rows == grid.sheets["predictions"].rows


@pytest.mark.parametrize("language", OTHERS)
def test_words_of_an_author_stay_between_those_of_cimento(language):
    sheets = {
        "about": [["setting", "value", "what it is"], ["name", "name", "mine"],
                  ["factors.a", "b | c"], ["Nome proprio", "x", ""],
                  ["more", "{}", "other settings, as JSON"]],
        "predictions": [["name", "formula", "comment", "value"],
                        ["a", "(1;%a%) < (1;%b%)", "name"]],
        "my notes": [["setting", "name"]],
        "how to": how_to("pairs"),
    }  # fmt: skip
    made = in_language(sheets, language)
    about = made[SHEETS["about"][language]]
    assert about[1] == [SETTINGS["name"][language][0], "name", "mine"]
    assert about[2][0] == f"{SETTINGS['factors'][language][0]}.a"
    assert about[3] == ["Nome proprio", "x", ""]
    assert made[SHEETS["predictions"][language]][0][3] == "value"
    assert made[SHEETS["predictions"][language]][1] == sheets["predictions"][1]
    assert made["my notes"] == sheets["my notes"]
    assert made[SHEETS["how to"][language]] == how_to("pairs", language) != how_to("pairs")
    assert in_english(made, language) == sheets


def test_no_word_names_two_things_and_none_is_missing():
    for table in (SHEETS, DESCRIBED, HEADINGS, STORIES, VERSIONS, SETTINGS):
        assert all(set(OTHERS) <= {*words} for words in table.values())
    for language in OTHERS:
        for table in (SHEETS, DESCRIBED, STORIES, VERSIONS):
            assert len({words[language] for words in table.values()}) == len(table)
        for name in SETTINGS:
            if name != "factors":
                assert setting_meant(setting_called(name, language)) == name
                assert what_it_is(name, language)


@pytest.mark.parametrize(
    ("language", "place", "row"),
    [("it", "sheet item, row 2", "lingua"), ("es", "sheet ítems, row 2", "idioma"),
     ("pt", "sheet itens, row 2", "idioma"), ("ru", "sheet пункты, row 2", "язык")],
)  # fmt: skip
def test_a_fault_names_the_sheet_as_the_file_calls_it(tmp_path, capsys, language, place, row):
    [path] = new_suite("agreement", tmp_path / "s.xlsx", language=language, words=language)
    book = openpyxl.load_workbook(path)
    about, items = (book[SHEETS[name][language]] for name in ("about", "items"))
    items["C2"] = "Le lampade | sono  | accese."
    [own] = [cells for cells in about.iter_rows() if cells[0].value == row]
    own[1].value = None
    book.save(path)
    assert invoke(["suites", "check", str(path)]) == 0
    shown = capsys.readouterr().out
    assert f"s.xlsx, {place}" in shown
    assert f'in the row "{row}" of the sheet "{SHEETS["about"][language]}"' in shown
    report = check_grid(open_grid(path).grid)
    assert {finding.sheet for finding in report.findings} == {"about", "items"}
    assert (1,) in [finding.rows for finding in report.findings if finding.sheet == "items"]


@pytest.mark.parametrize(
    ("cell", "value", "said"),
    [
        ("B3", "permuta", "versione is 'permuta'. Write plausibile, ordine 1 or sostituzione 1."),
        ("I3", "9", "frase rivelatrice is '9'. Write a whole number from 1 to 5."),
        ("A3", "", "storia is empty. Number your stories 1, 2, 3."),
    ],
)
def test_a_wrong_cell_of_a_story_is_named_as_its_column_is_called(tmp_path, cell, value, said):
    [path] = new_suite("stories", tmp_path / "s.xlsx", language="it", words="it")
    book = openpyxl.load_workbook(path)
    book["item"][cell] = value
    book.save(path)
    with pytest.raises(InputError) as caught:
        load_suite(path)
    assert str(caught.value).endswith(f"s.xlsx, sheet item, row 3: {said}")


def test_a_renamed_sheet_of_sentences_is_asked_for_by_its_name_in_the_file(tmp_path, capsys):
    [path] = new_suite("pairs", tmp_path / "s.xlsx", words="it")
    book = openpyxl.load_workbook(path)
    book["item"].title = "Frasi"
    book.save(path)
    assert invoke(["suites", "check", str(path)]) == 2
    said = capsys.readouterr().err
    assert "has a sheet 'descrizione' and no sheet 'item'" in said
    assert "it may be 'frasi'" in said


def test_a_sheet_with_a_common_name_alone_describes_no_suite(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Descrizione"
    book.active.append(["Frasi raccolte in classe"])
    rows = book.create_sheet("Frasi")
    for row in (("buona", "cattiva"), ("Il cane dorme.", "Il cane dormono."),
                ("Le rane saltano.", "Le rane salta.")):  # fmt: skip
        rows.append(row)
    book.save(tmp_path / "p.xlsx")
    assert len(load_suite(tmp_path / "p.xlsx", language="it").suite.items) == 2


def test_an_edit_beside_the_words_of_cimento_is_kept(tmp_path):
    [path] = new_suite("ratings", tmp_path / "s.xlsx", language="it", words="it")
    grid = open_grid(path).grid
    row = [cells[0] for cells in grid.sheets["about"].rows].index("name")
    changed = set_cells(grid, "about", {(row, 1): "giudizi di classe", (row, 2): "come si chiama"})
    book = write_grid(changed, tmp_path / "t.xlsx")
    assert ["nome", "giudizi di classe", "come si chiama"] in cells_of(book)["descrizione"]
    assert load_suite(book).suite.meta.name == "giudizi di classe"


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (  # the cells of a design keep their columns
            [["item", "corta_isola", "corta_no", "lunga_isola", "lunga_no"],
             ["1", "Chi sa se Ada dorme?", "Chi dice che Ada dorme?",
              "Chi sai se dorme?", "Chi dici che dorme?"],
             ["2", "Chi vede se Ugo salta?", "Chi pensa che Ugo salti?",
              "Chi vedi se salta?", "Chi pensi che salti?"]],
            ("item", "corta_isola", "corta_no", "lunga_isola", "lunga_no"),
        ),
        (
            [["text", "Frase scorretta"], ["Il cane dorme.", "Il cane dormono."]],
            ("text", "Frase scorretta"),
        ),
    ],
)  # fmt: skip
def test_only_headings_that_the_window_makes_are_in_its_language(tmp_path, rows, columns):
    path = tmp_path / "t.xlsx"
    path.write_bytes(write_sheets({"Foglio1": rows}, where="t"))
    described = describe(open_grid(path, words="it").grid, language="it")
    book = write_grid(described, tmp_path / "d.xlsx")
    there = cells_of(book)
    assert [*there][:2] == ["descrizione", "item"]
    assert tuple(there["item"][0][: len(columns)]) == columns
    assert ["lingua", "it"] in [row[:2] for row in there["descrizione"]]


def test_the_window_makes_a_new_test_and_saves_it_in_its_language(tmp_path):
    async def flow(user):
        await user.open("/it/start")
        user.find(marker="make").click()
        await until((tmp_path / "suites").is_dir)
        await until(lambda: any((tmp_path / "suites").glob("*.xlsx")))
        [path] = (tmp_path / "suites").glob("*.xlsx")
        await user.open(f"/it/edit?suite=suites/{path.name}")
        await user.should_see("i fogli si chiamano descrizione, item, previsioni", retries=100)
        user.find("Salva nella tua cartella").click()
        await user.should_see("Salvato", retries=100)

    visit(tmp_path, flow)
    [path] = (tmp_path / "suites").glob("*.xlsx")
    there = cells_of(path)
    assert [*there] == ["descrizione", "item", "previsioni", "istruzioni"]
    assert there["item"][0][:3] == ["item", "accettabile", "inaccettabile"]
    assert ENGLISH_SAID.findall(repr(there)) == []
    assert load_suite(path).suite.meta.language == "it"
