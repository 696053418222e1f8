"""Suites of every kind opened into the grid, checked, and written from it without loss."""

import json
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xlsxwriter import Workbook

from cimento import InputError, SuiteError, UsageError
from cimento.app.checking import check_grid, page_of
from cimento.app.describing import describe
from cimento.app.editing import (
    Grid,
    delete_rows,
    one_line,
    plain_rows,
    remove_titles,
    rename_column,
    set_cells,
    sheet_of,
)
from cimento.app.opening import open_grid, save_grid, write_folder, write_grid
from cimento.intake.workbooks import write_sheets
from cimento.kinds.registry import load_suite, save_suite
from cimento.suites.builtin import find_suite, new_suite, template_kinds

PAIRS_OF = (
    ("Il cane dorme in cucina.", "Il cane dormono in cucina."),
    ("La zia legge un libro.", "La zia leggono un libro."),
)

KINDS = ("it-subject-verb", "it-acceptability", "it-connectives-cloze", "es-stories",
         "pt-grammar-templates", "it-islands", "es-object-clitic")  # fmt: skip


def book(path, **sheets):
    path.write_bytes(write_sheets(sheets, where=path.name))
    return path


def places(report, code, severity=None):
    return [
        (finding.sheet, [row + 1 for row in finding.rows], finding.column)
        for finding in report.findings
        if finding.code == code and severity in (None, finding.severity)
    ]


@pytest.mark.parametrize("name", KINDS)
def test_a_starter_suite_of_every_kind_goes_through_the_grid_without_loss(tmp_path, name):
    opened = open_grid(find_suite(name))
    report = check_grid(opened.grid, opened.notes)
    assert report.usable
    assert report.holds
    written = write_folder(opened.grid, tmp_path / name)
    assert load_suite(written).suite == load_suite(name).suite
    again = open_grid(write_grid(opened.grid, tmp_path / f"{name}.xlsx"))
    assert again.grid.sheets.keys() == opened.grid.sheets.keys()
    assert {s: again.grid.sheets[s].rows for s in again.grid.sheets} == {
        s: opened.grid.sheets[s].rows for s in opened.grid.sheets
    }


@pytest.mark.parametrize("kind", template_kinds())
def test_a_new_suite_of_every_kind_opens_without_errors(tmp_path, kind):
    new_suite(kind, tmp_path / "new.xlsx")
    assert check_grid(open_grid(tmp_path / "new.xlsx").grid).usable


def beginner(path):
    """A workbook with what beginners do: a title, empty and merged cells, dates, notes aside."""
    with Workbook(path) as workbook:
        sheet = workbook.add_worksheet("Foglio1")
        day = workbook.add_format({"num_format": "dd/mm/yyyy"})
        rows = [
            ["Le mie frasi"],
            ["n.", "Frase corretta", "Frase sbagliata", "verbo"],
            [1, "Il cane dorme in cucina.", "Il cane dormono in cucina.", "dormire"],
            [1, "La gatta mangia il pesce.", "La gatta mangiano il pesce.", "mangiare", "", "boh"],
            [],
            [3, "  Maria legge un libro.", "Maria leggono un libro.", "leggere"],
            [4, "", "Luca corrono al parco.", "correre"],
            [5, "anna canta una canzone", "Anna cantano una canzone.", "cantare"],
            [6, "Paolo dorme sul divano.", "Paolo dorme sul divano.", "dormire"],
            [7, "L'amica\u200b arriva\u00a0domani.", "L'amica arrivano domani.", "arrivare"],
            [8, "Marco parte  oggi.", "Marco partono oggi.", ""],
        ]
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                sheet.write(number, column, cell)
        sheet.write_number(10, 3, 45292, day)
    return path


def test_every_fault_of_a_beginner_is_named_beside_its_row(tmp_path):
    opened = open_grid(beginner(tmp_path / "frasi.xlsx"))
    report = check_grid(opened.grid, opened.notes)
    assert opened.grid.items.rows[0][0] == "Le mie frasi"
    assert places(report, "CIM-S009") == [("items", [1], None)]
    assert places(report, "CIM-S010", "error") == [("items", [3, 4], None)]
    assert places(report, "CIM-S004", "error") == [("items", [4], None)]
    assert places(report, "CIM-S040") == [("items", [6], 1)]
    assert places(report, "CIM-S017", "error") == [("items", [7], 1)]
    assert ("items", [8], 1) in places(report, "CIM-S053")
    assert ("items", [8], 1) in places(report, "CIM-S054")
    assert places(report, "CIM-S050") == [("items", [9], 2)]
    assert ("items", [10], 1) in places(report, "CIM-S043")
    assert places(report, "CIM-S041") == [("items", [11], 1)]
    assert places(report, "CIM-S003", "error") == [("items", [11], None)]
    assert not report.usable


def test_a_beginner_mends_the_file_in_the_grid_and_it_becomes_a_suite(tmp_path):
    opened = open_grid(beginner(tmp_path / "frasi.xlsx"))
    grid = delete_rows(opened.grid, "items", [6])
    texts = {
        (3, 0): "2", (3, 5): "", (5, 1): "Maria legge un libro.",
        (6, 1): "Anna canta una canzone.", (7, 2): "Paolo dormono sul divano.",
        (8, 1): "L'amica arriva domani.", (9, 1): "Marco parte oggi.", (9, 3): "partire",
    }  # fmt: skip
    grid = delete_rows(remove_titles(set_cells(grid, "items", texts), "items"), "items", [3])
    report = check_grid(grid, opened.notes)
    assert [finding.code for finding in report.findings if finding.severity == "error"] == []
    described = describe(grid, language="it")
    assert described.settings()["language"] == "it"
    assert places(check_grid(described), "CIM-S033") == []
    folder = write_folder(described, tmp_path / "frasi")
    assert [item.id for item in load_suite(folder).suite.items] == [
        "1",
        "2",
        "3",
        "5",
        "6",
        "7",
        "8",
    ]


def test_a_date_is_named_until_its_row_is_changed(tmp_path):
    opened = open_grid(beginner(tmp_path / "frasi.xlsx"))
    moved = delete_rows(opened.grid, "items", [4])
    assert places(check_grid(moved, opened.notes), "CIM-S003") == [("items", [10], None)]
    mended = set_cells(opened.grid, "items", {(10, 3): "partire"})
    assert places(check_grid(mended, opened.notes), "CIM-S003") == []


def test_faults_of_conditions_formulas_and_settings_have_their_rows(tmp_path):
    path = book(
        tmp_path / "s.xlsx",
        about=[["setting", "value"], ["name", "s"], ["language", "italian"], ["regions", "a | b"]],
        items=[
            ["item", "condition", "text"],
            ["1", "match", "Il cane | dorme."],
            ["1", "mis match", "Il cane | dormono."],
            ["2", "match", "Il cane dorme."],
            ["2", "match", "Il | cane | dorme."],
        ],
        predictions=[
            ["name", "formula", "comment"],
            ["agrees", "(2;%match%) < (2;%foo%)"],
            ["", "(2;%match%) <"],
        ],
    )
    report = check_grid(open_grid(path).grid)
    assert places(report, "CIM-S033") == [("about", [3], None)]
    assert places(report, "CIM-S015") == [("items", [3], 1)]
    assert places(report, "CIM-S013") == [("items", [4], 2), ("items", [5], 2)]
    assert places(report, "CIM-S011") == [("items", [4, 5], 2)]
    assert places(report, "CIM-S021") == [("predictions", [2], None)]
    assert places(report, "CIM-S020") == [("predictions", [3], None)]


PAIRS = [
    ("Il cane dorme.", "Il cane dormono."),
    ("La rana salta.", "La rana saltano."),
    ("I gatti ridono.", "I gatti ride."),
]


@pytest.mark.parametrize("name", ["id", "item", "N.", "numero"])
def test_all_rows_with_one_id_are_marked(name):
    cells = [[str(number), *pair] for number, pair in zip((1, 2, 1), PAIRS, strict=True)]
    grid = Grid("g", {"items": sheet_of([[name, "good", "bad"], *cells])}, described=False)
    assert places(check_grid(grid), "CIM-S010") == [("items", [2, 4], None)]


def test_all_sentences_after_an_asterisk_are_marked():
    cells = [[good, f"*{bad}"] for good, bad in PAIRS]
    grid = Grid("g", {"items": sheet_of([["good", "bad"], *cells])}, described=False)
    assert places(check_grid(grid), "CIM-S061") == [("items", [2, 3, 4], 1)]


def test_stories_of_which_reading_stops_at_the_first_fault_have_all_of_them_named(tmp_path):
    path = book(
        tmp_path / "s.xlsx",
        about=[["setting", "value"], ["name", "s"], ["language", "it"], ["kind", "stories"]],
        items=[
            ["story", "version", "sentence 1", "sentence 2", "conflicting sentence"],
            ["1", "plausible", "Ugo apre.", "Ugo esce.", ""],
            ["1", "order 1", "Ugo esce.", "Ugo apre.", "9"],
            ["2", "boh", "Ugo entra.", "Ugo chiude.", ""],
        ],
    )
    report = check_grid(open_grid(path).grid)
    stopped = [(finding.rows, finding.seen) for finding in report.findings if not finding.code]
    assert [rows for rows, _ in stopped] == [(2,), (3,)]
    assert not report.usable
    assert report.holds == ""


def test_a_table_of_unknown_columns_opens_and_says_what_to_rename(tmp_path):
    path = book(
        tmp_path / "t.xlsx", Foglio1=[["a", "b"], ["Il cane dorme qui.", "Il cane dormi qui."]]
    )
    grid = open_grid(path).grid
    (finding,) = check_grid(grid).findings
    assert (finding.rows, finding.code) == ((), "")
    assert "rename 'a' and 'b'" in finding.todo
    renamed = rename_column(rename_column(grid, "items", 0, "good"), "items", 1, "bad")
    assert check_grid(renamed).usable


def test_other_formats_and_archives_open_too(tmp_path):
    lines = [{"sentence_good": "Il cane dorme.", "sentence_bad": "Il cane dormono.", "UID": "u"}]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert "Il cane dorme." in open_grid(path).grid.items.rows[1]
    folder = save_suite(load_suite("it-subject-verb"), tmp_path / "sv")
    with zipfile.ZipFile(tmp_path / "sv.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"sv/{file.name}")
    assert open_grid(tmp_path / "sv.zip").grid.items == open_grid(folder).grid.items
    (folder / "README.md").write_text("Chi ha scritto le frasi.", encoding="utf-8")
    assert open_grid(folder).grid.described


def test_what_is_no_table_is_refused_with_the_reason(tmp_path):
    (tmp_path / "x.xlsx").write_bytes(b"no workbook")
    with pytest.raises(SuiteError, match="Not an Excel workbook"):
        open_grid(tmp_path / "x.xlsx")
    with pytest.raises(InputError):
        open_grid(tmp_path / "none.xlsx")


def test_a_suite_with_errors_is_written_as_a_workbook_and_not_as_a_folder(tmp_path):
    grid = set_cells(open_grid(find_suite("it-subject-verb")).grid, "items", {(1, 2): ""})
    assert open_grid(write_grid(grid, tmp_path / "x.xlsx")).grid.items == grid.items
    with pytest.raises(SuiteError):
        write_folder(grid, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_table_of_conditions_is_described_before_it_is_a_suite(tmp_path):
    rows = [
        ["item", "condition", "text"],
        ["1", "a", "Il cane | dorme."],
        ["1", "b", "Il cane | dormono."],
    ]
    grid = open_grid(book(tmp_path / "t.xlsx", Foglio1=[["Titolo"], *rows])).grid
    assert not check_grid(grid).usable
    described = describe(grid, language="it")
    assert described.settings() | {"name": "t", "language": "it"} == described.settings()
    assert check_grid(described).usable
    with pytest.raises(UsageError):
        describe(grid, language="italiano")


POLISH = [
    ["good", "bad"],
    ["Łódź śpi całą noc.", "Łódź śpią całą noc."],
    ["Kobieta pisze książkę.", "Kobieta piszą książkę."],
]


def polish_bytes():
    """As a spreadsheet program of Polish Windows saves CSV."""
    return "\n".join(";".join(row) for row in POLISH).encode("cp1250")


SLOVENE = [["good", "bad"], ["Maček čaka.", "Maček čakajo."], ["Pes čuva sod.", "Pes čuvajo sod."]]


def test_letters_that_no_western_language_has_tell_the_encoding(tmp_path):
    path = tmp_path / "zdania.csv"
    path.write_bytes(polish_bytes())
    opened = open_grid(path, language="it")
    assert plain_rows(opened.grid.items) == POLISH
    assert any("read as cp1250; 'Łódź' should look right" in one.seen for _, one in opened.notes)


def test_letters_of_central_europe_are_read_when_the_language_is_chosen(tmp_path):
    path = tmp_path / "stavki.csv"
    path.write_bytes("\n".join(";".join(row) for row in SLOVENE).encode("cp1250"))
    assert plain_rows(open_grid(path, language="sl").grid.items) == SLOVENE
    opened = open_grid(path).grid
    assert plain_rows(opened.items) != SLOVENE  # as cp1252 it has the letters of Italian
    edited = set_cells(opened, "items", {(2, 0): "Pes čuva jamo."})
    described = describe(edited, language="sl", path=path)
    texts = {cell for row in plain_rows(described.items) for cell in row}
    assert texts > {*SLOVENE[1], "Pes čuva jamo.", SLOVENE[2][1]}
    assert describe(edited, language="it", path=path).items == describe(edited, language="it").items


def test_a_folder_that_names_its_language_is_read_in_its_letters(tmp_path):
    toml = '[meta]\nname = "zdania"\nlanguage = "pl"\n'
    (tmp_path / "suite.toml").write_text(toml, encoding="utf-8")
    (tmp_path / "items.tsv").write_bytes(polish_bytes().replace(b";", b"\t"))
    assert plain_rows(open_grid(tmp_path).grid.items) == POLISH


def test_every_check_has_a_page_that_the_app_shows():
    assert page_of("CIM-S004").startswith("# CIM-S004")
    assert page_of("CIM-X999") == ""
    assert page_of("../CIM-S004") == ""


@settings(deadline=None)
@given(st.lists(st.lists(st.text(max_size=12).map(one_line), min_size=2, max_size=3), max_size=4))
def test_whatever_is_typed_comes_back_from_the_workbook(tmp_path_factory, cells):
    grid = Grid("g", {"items": sheet_of([["good", "bad"], *cells])}, described=False)
    path = write_grid(grid, tmp_path_factory.mktemp("g") / "g.xlsx")
    again = open_grid(path).grid.items
    assert again.head == 0
    rows = plain_rows(grid.items)
    while not rows[-1]:
        rows.pop()
    assert plain_rows(again) == rows


@pytest.mark.parametrize(
    ("rows", "roles", "columns"),
    [
        ([["frase corretta", "frase sbagliata", "tipo"], *[[*pair, "verbo"] for pair in PAIRS_OF]],
         {}, ("frase corretta", "frase sbagliata", "tipo")),
        ([["Frase", "Media"], *[[good, "5,9"] for good, _ in PAIRS_OF]], {}, ("Frase", "Media")),
        ([["uno", "due"], *map(list, PAIRS_OF)], {"good": "uno", "bad": "due!"}, ("uno", "due")),
    ],
)  # fmt: skip
def test_a_table_with_a_language_stays_a_row_for_each_of_its_rows(tmp_path, rows, roles, columns):
    path = tmp_path / "mie.xlsx"
    path.write_bytes(write_sheets({"Foglio1": rows}, where="mie"))
    grid = replace(open_grid(path).grid, roles=roles)
    described = describe(grid, language="it", path=path)
    assert described.items.columns == columns
    assert described.items.rows[1:] == tuple(map(tuple, rows[1:]))
    assert described.settings()["language"] == "it"
    assert check_grid(described).usable
    saved = save_grid(described, path)
    assert load_suite(saved).suite.meta.language == "it"
