"""Repairs work on what was read: headings, sums and legends of a table are never items."""

import pytest

pytest.importorskip("nicegui")

from openpyxl import Workbook

from cimento.app.checking import check_grid
from cimento.app.describing import describe
from cimento.app.editing import (
    Grid,
    add_item,
    delete_rows,
    insert_column,
    remove_titles,
    rename_column,
    set_cells,
    sheet_of,
)
from cimento.app.marked import unmarked
from cimento.app.opening import open_grid, write_grid
from cimento.app.pairing import (
    named_pair,
    paired_lines,
    question_of,
    with_column,
    with_names,
    with_prediction,
)
from cimento.app.views import paste_cells, view_of
from cimento.intake.decoding import reading_language
from cimento.kinds.registry import paradigm_of
from cimento.suites.load import unfolded
from tests.helpers.grids import grid

WORDS = [("La zia", "canta", "cantano"), ("Il cane", "dorme", "dormono"),
         ("La rana", "salta", "saltano"), ("Il vento", "soffia", "soffiano"),
         ("La neve", "cade", "cadono")]  # fmt: skip
PAIRS = [(f"{who} {good}.", f"{who} {bad}.") for who, good, bad in WORDS]
LEGEND = [["", "", ""], ["* = agrammaticale", "", ""]]


def of_pairs(head=("N.", "Frase grammaticale", "Frase agrammaticale"), mark=""):
    """Five pairs, one of them incomplete, with a title, a heading, a sum and a legend."""
    rows = [[str(n), good, mark + bad] for n, (good, bad) in enumerate(PAIRS, start=1)]
    rows[2][2] = ""
    rows.insert(3, ["Accordo del verbo", "", ""])
    table = [["Prova di novembre"], head, *rows, ["Totale", "5", "5"], *LEGEND]
    return Grid("g", {"items": sheet_of(table, head=1)}, described=False)


def of_conditions(second="not good"):
    """Five items with a row for each of two conditions, and a heading and a sum."""
    rows = [
        [str(n), name, text]
        for n, pair in enumerate(PAIRS, start=1)
        for name, text in zip(("fine", second), pair, strict=True)
    ]
    rows.insert(4, ["Accordo del verbo", "", ""])
    return grid(("item", "condition", "sentence"), *rows, ["Totale", "", "10"], *LEGEND)


def ids_of(made, tmp_path):
    """The items of a grid as `cimento suites check` reads them, faults or none."""
    written = write_grid(made, tmp_path / "made.xlsx")
    with unfolded(written) as path, reading_language("", made.roles):
        reading = paradigm_of(path).reader.read(path)
    assert reading.suite is not None, [fault.seen for fault in reading.faults]
    return [item.id for item in reading.suite.items]


def texts_of(made):
    return {cell for row in made.items.rows for cell in row}


def pasted(made):
    view = view_of(made, "items", wide=True)
    return paste_cells(made, view, len(view.rows), 0, "6\tIl sole splende.\tIl sole splendono.")


FIVE = ["1", "2", "3", "4", "5"]
REPAIRS = {
    "language": (of_pairs(), lambda made: describe(made, language="it"), FIVE),
    "language, unread names": (
        of_pairs(("N.", "good", "bad")), lambda made: describe(made, language="it"), FIVE,
    ),
    "language of conditions": (
        of_conditions("poor"), lambda made: describe(made, language="it"), FIVE,
    ),
    "prediction": (of_conditions("poor"), lambda made: with_prediction(made, "fine", "poor"), FIVE),
    "names of conditions": (of_conditions(), with_names, FIVE),
    "names, then language": (
        of_conditions(), lambda made: describe(with_names(made), language="it"), FIVE,
    ),
    "columns of a pair": (
        of_pairs(("N.", "Colonna uno", "Colonna due")), lambda made: named_pair(made, 1, 2), FIVE,
    ),
    "columns, then language": (
        of_pairs(("N.", "Colonna uno", "Colonna due")),
        lambda made: describe(named_pair(made, 1, 2), language="it"),
        FIVE,
    ),
    "marks": (of_pairs(mark="*"), unmarked, FIVE),
    "marks, then language": (
        of_pairs(mark="(2b) *"), lambda made: describe(unmarked(made), language="it"), FIVE,
    ),
    "an item more": (of_pairs(), add_item, [*FIVE, "6"]),
    "an item more in rows": (of_conditions("poor"), add_item, [*FIVE, "6"]),
    "pasted items": (of_conditions("poor"), pasted, [*FIVE, "6"]),
    "a column more": (of_pairs(), lambda made: insert_column(made, "items", 3, "note"), FIVE),
    "another name": (of_pairs(), lambda made: rename_column(made, "items", 0, "item"), FIVE),
    "titles": (of_pairs(), lambda made: remove_titles(made, "items"), FIVE),
    "a row less": (of_pairs(), lambda made: delete_rows(made, "items", [2]), FIVE[1:]),
}  # fmt: skip
"""Every edit that a button of the page makes: the table before, the edit, the items after."""


@pytest.mark.parametrize("name", REPAIRS)
def test_no_repair_makes_items_of_headings_sums_and_legends(name, tmp_path):
    before, repair, items = REPAIRS[name]
    made = repair(before)
    assert ids_of(made, tmp_path) == items
    if made.described:
        assert texts_of(made).isdisjoint({"Totale", "Accordo del verbo", "* = agrammaticale"})


def test_a_missing_sentence_typed_after_the_language_makes_a_suite_of_five(tmp_path):
    """The workbook of the review: five pairs, one empty cell, a row of totals that are numbers."""
    book = Workbook()
    rows = [[n, *pair] for n, pair in enumerate(PAIRS, start=1)]
    rows[2][2] = None
    table = [["N.", "Frase grammaticale", "Frase agrammaticale"], *rows, ["Totale", 5, 5]]
    for row in table:
        book.active.append(row)
    book.save(tmp_path / "totale_err.xlsx")
    made = describe(open_grid(tmp_path / "totale_err.xlsx").grid, language="it")
    [fault] = [finding for finding in check_grid(made).findings if finding.code == "CIM-S017"]
    whole = set_cells(made, "items", {(fault.rows[0], made.items.width - 1): PAIRS[2][1]})
    report = check_grid(whole)
    assert report.usable
    assert report.holds.startswith("5 items in the conditions good, bad; 1 prediction")
    assert ids_of(whole, tmp_path) == FIVE


def test_a_table_that_is_no_suite_gets_a_description_without_its_sums():
    odd = of_pairs(("N.", "Parte", "Altra"))
    made = describe(odd, language="it")
    assert [row[0] for row in made.items.rows] == ["N.", *FIVE]
    assert made.settings()["language"] == "it"


def test_sums_below_conditions_do_not_keep_the_question_from_being_asked():
    assert question_of(of_conditions("poor")).kind == "conditions"
    assert question_of(of_pairs(("N.", "Colonna uno", "Colonna due"))).columns == (1, 2)


def test_a_list_below_a_title_becomes_pairs_without_its_title(tmp_path):
    cells = [[text] for good, bad in PAIRS for text in (good, f"*{bad}")]
    made = grid(["Frase"], *cells)
    assert ids_of(paired_lines(made, 0), tmp_path) == FIVE
    rated = with_column(made, 0, "sentence", "rating")
    assert [row[0] for row in rated.items.rows[1:]] == [cell for [cell] in cells]


# --- marks and numbers


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("(12a) La zia canta.", "(12b) *La zia cantano."),
        ("a. La zia canta.", "b. ??La zia cantano."),
        ("La zia canta.", "La zia *cantano."),
        ("Ex. (1) La zia canta.", "Ex. (2) #La zia cantano."),
        ("(1) a. La zia canta.", "    b. *La *zia cantano."),
        ("La zia canta.", "* La zia cantano."),
    ],
)  # fmt: skip
def test_after_the_button_the_file_is_clean(good, bad):
    made = unmarked(grid(("N.", "good", "bad"), ("1", good, bad), *LEGEND))
    assert made.items.rows[1] == ("1", "La zia canta.", "La zia cantano.")
    assert made.items.rows[-1][0] == "* = agrammaticale"
    assert {f.code for f in check_grid(made).findings}.isdisjoint({"CIM-S061", "CIM-S071"})


def test_the_button_cleans_rows_of_conditions_and_leaves_hashtags_and_initials():
    rows = [("1", "good", "A. Rossi #twitta."), ("1", "bad", "A. Rossi #twitta *male."),
            ("2", "good", "(2a) Piove."), ("2", "bad", "(2b) *Piovono.")]  # fmt: skip
    made = unmarked(grid(("item", "condition", "text"), *rows))
    assert made.items.values(2) == [
        "A. Rossi #twitta.", "A. Rossi #twitta male.", "Piove.", "Piovono.",
    ]  # fmt: skip


def test_advice_for_excel_is_not_given_beside_the_button():
    findings = check_grid(grid(("good", "bad"), ("La zia canta.", "*La zia cantano."))).findings
    [todo] = [finding.todo for finding in findings if finding.code == "CIM-S061"]
    assert todo == "Delete them from the sentences."


# --- lists with example numbers


@pytest.mark.parametrize(
    "rows",
    [
        [("(1a)", "Piove forte."), ("(1b)", "*Piovono forte."), ("(2a)", "La zia ride."),
         ("(2b)", "*La zia ridono.")],
        [("(1a)", "Piove forte."), ("(1b) *", "Piovono forte."), ("(2a)", "La zia ride."),
         ("*(2b)", "La zia ridono.")],
        [("1a.", "Piove forte."), ("1b.", "??Piovono forte."), ("2a.", "La zia ride."),
         ("2b.", "La zia *ridono.")],
        [("1", "Piove forte."), ("1", "*Piovono forte."), ("2", "La zia ride."),
         ("2", "*La zia ridono.")],
        [("", "(1a) Piove forte."), ("", "(1b) *Piovono forte."), ("", "(2a) La zia ride."),
         ("", "(2b) *La zia ridono.")],
    ],
)  # fmt: skip
def test_numbered_lists_are_offered_as_pairs_which_keep_their_number(rows):
    made = grid(("Es.", "Frase"), *rows)
    question = question_of(made)
    assert (question.kind, question.columns) == ("lines", (1,))
    paired = paired_lines(made, 1)
    assert paired.items.rows == (
        ("item", "good", "bad"),
        ("1", "Piove forte.", "Piovono forte."),
        ("2", "La zia ride.", "La zia ridono."),
    )
    assert check_grid(describe(paired, language="it")).usable


def test_running_numbers_make_pairs_without_them_and_other_columns_none():
    running = [("(1)", "Piove forte."), ("(2)", "*Piovono forte."), ("(3)", "La zia ride."),
               ("(4)", "*La zia ridono.")]  # fmt: skip
    made = grid(("Es.", "Frase"), *running)
    assert paired_lines(made, 1).items.columns == ("good", "bad")
    crossed = [
        ("(1a)", "Piove forte."),
        ("(2a)", "*Piovono."),
        ("(1b)", "La zia."),
        ("(1a)", "*Le zia."),
    ]
    assert question_of(grid(("Es.", "Frase"), *crossed)).kind == "list"
    words = [("verbo", "Piove forte."), ("nome", "*Piovono forte.")]
    assert question_of(grid(("Tipo", "Frase"), *words)) is None
