"""Views of the grid: roles of columns, items as rows, edits and pastes through them."""

from cimento.app.checking import check_grid
from cimento.app.describing import describe
from cimento.app.editing import Grid, sheet_of
from cimento.app.opening import open_grid
from cimento.app.table import options
from cimento.app.views import (
    edit_cell,
    has_conditions,
    letters,
    marks,
    paste_cells,
    region_names,
    view_of,
)
from cimento.app.words import words
from cimento.suites.builtin import find_suite
from cimento.suites.formats.items import read_regions

ROWS = [
    ["item", "condition", "text", "distance", "verb"],
    ["1", "near", "Chi | dorme?", "short", "dormire"],
    ["1", "far", "Chi credi | che dorma?", "long", "dormire"],
    ["2", "near", "Chi | parte?", "short", "partire"],
]


def grid(rows=ROWS):
    return Grid("g", {"items": sheet_of(rows)}, described=False)


def roles(name):
    columns = view_of(open_grid(find_suite(name)).grid, "items").columns
    return {column.name: column.role for column in columns}


def test_columns_have_the_roles_of_each_kind_of_test():
    assert roles("it-subject-verb") == {
        "item": "id", "condition": "choice", "text": "regions", "number": "text",
    }  # fmt: skip
    islands = view_of(open_grid(find_suite("it-islands")).grid, "items").columns
    choices = {column.name: column.choices for column in islands if column.role == "choice"}
    assert choices["distance"] == ("short", "long")
    assert set(choices["condition"]) == {
        "short_nonisland", "long_nonisland", "short_island", "long_island"
    }  # fmt: skip
    assert (
        roles("it-acceptability")["rating" if "rating" in roles("it-acceptability") else "ratings"]
        == "number"
    )
    assert roles("it-connectives-cloze")["text"] == "text"
    assert roles("es-stories")["sentence 1"] == "text"
    predictions = view_of(open_grid(find_suite("it-subject-verb")).grid, "predictions").columns
    assert [column.role for column in predictions] == ["text", "formula", "text"]


def test_items_are_rows_with_a_column_for_each_condition():
    view = view_of(grid(), "items", wide=True)
    assert [column.name for column in view.columns] == ["item", "near", "far", "verb"]
    assert [row.cells for row in view.rows] == [
        ("1", "Chi | dorme?", "Chi credi | che dorma?", "dormire"),
        ("2", "Chi | parte?", "", "partire"),
    ]
    assert not has_conditions(grid([["good", "bad"], ["a", "b"]]))


def test_an_edit_of_an_item_writes_to_all_its_rows():
    view = view_of(grid(), "items", wide=True)
    edited = edit_cell(grid(), view, 0, 3, "russare")
    assert [row[4] for row in edited.items.rows[1:]] == ["russare", "russare", "partire"]
    edited = edit_cell(grid(), view, 0, 2, "Chi | dirà?")
    assert edited.items.rows[2][2] == "Chi | dirà?"


def test_a_sentence_for_a_missing_condition_becomes_a_row():
    view = view_of(grid(), "items", wide=True)
    edited = edit_cell(grid(), view, 1, 2, "Chi credi | che parta?")
    assert edited.items.rows[4] == ("2", "far", "Chi credi | che parta?", "", "")
    assert edit_cell(grid(), view, 1, 2, "  ") == grid()


def test_items_pasted_below_the_last_get_a_row_for_each_condition_with_its_levels():
    view = view_of(grid(), "items", wide=True)
    pasted = [
        "2\tChi | sale?\tChi credi | che salga?\tsalire",
        "7\tChi | va?\tChi credi | che vada?\tandare",
    ]
    edited = paste_cells(grid(), view, 0, 0, "\n".join(pasted))
    assert edited.items.rows[1:] == (
        ("2", "near", "Chi | sale?", "short", "salire"),
        ("2", "far", "Chi credi | che salga?", "long", "salire"),
        ("7", "near", "Chi | va?", "short", "andare"),
        ("7", "far", "Chi credi | che vada?", "", ""),
    )
    edited = paste_cells(
        grid(ROWS[:3]), view_of(grid(ROWS[:3]), "items", wide=True), 1, 0, pasted[1]
    )
    assert [row[:3] for row in edited.items.rows[-2:]] == [
        ("7", "near", "Chi | va?"), ("7", "far", "Chi credi | che vada?"),
    ]  # fmt: skip
    assert [row[3:] for row in edited.items.rows[-2:]] == [("short", "andare"), ("long", "andare")]


def test_a_paste_into_rows_goes_below_the_last_row_too():
    view = view_of(grid(), "items")
    edited = paste_cells(grid(), view, 3, 0, "3\tnear\tChi | vola?")
    assert edited.items.rows[4] == ("3", "near", "Chi | vola?", "", "")


def test_regions_are_the_texts_between_bars():
    regions = [region.text for region in read_regions("L'|uomo | che \\| dorme")[0]]
    assert regions == ["L'", "uomo", "che | dorme"]
    assert region_names(open_grid(find_suite("it-subject-verb")).grid) == (
        "subject",
        "verb",
        "rest",
    )


def test_findings_stand_beside_rows_of_both_views():
    described = describe(grid(), language="it")
    faulty = edit_cell(described, view_of(described, "items"), 0, 2, "")
    report = check_grid(faulty)
    by_row = marks(view_of(faulty, "items"), report.findings)
    assert by_row[0].severity == "error"
    assert 2 in by_row[0].columns
    wide = marks(view_of(faulty, "items", wide=True), report.findings)
    assert wide[0].severity == "error"
    assert 1 in wide[0].columns


def test_columns_have_letters_as_in_a_spreadsheet_program():
    assert [letters(n) for n in (0, 25, 26, 51, 52, 701, 702)] == [
        "A", "Z", "AA", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip


def test_a_word_of_a_condition_is_not_broken():
    """A letter is about 7.5 pixels wide, and a cell has 18 on each side: 15 letters need 149."""
    view = view_of(open_grid(find_suite("it-subject-verb")).grid, "items")
    made = {column["headerName"]: column for column in options(view, {}, words("en"))["columnDefs"]}
    assert max(len(row.cells[1]) for row in view.rows) == len("mismatch_number")
    assert made["condition"]["minWidth"] >= 149
    short = options(view_of(grid(), "items"), {}, words("en"))["columnDefs"]
    assert [column["minWidth"] for column in short if column["headerName"] == "condition"] == [120]
