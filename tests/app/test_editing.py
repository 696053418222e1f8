"""Edits of the grid: cells, rows, columns, paste, undo and redo."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.app.editing import (
    MOST_STEPS,
    Grid,
    History,
    add_item,
    delete_column,
    delete_rows,
    insert_column,
    insert_rows,
    paste,
    pasted_cells,
    remove_titles,
    rename_column,
    set_cells,
    sheet_of,
)

PAIRS = [
    ["item", "good", "bad"],
    ["1", "Il cane dorme.", "Il cane dormono."],
    ["2", "Le rane saltano.", "Le rane salta."],
]
CONDITIONS = [
    ["item", "condition", "text", "distance", "note"],
    ["s-9", "near", "Chi | dorme?", "short", "da rivedere"],
    ["s-9", "far", "Chi credi | che dorma?", "long", "da rivedere"],
]


def grid(rows, head=0):
    return Grid("verbi", {"items": sheet_of(rows, head=head)}, described=False)


def rows_of(grid):
    return [list(row) for row in grid.items.rows]


def test_a_cell_beyond_the_end_makes_the_sheet_grow():
    edited = set_cells(grid(PAIRS), "items", {(4, 3): "nuovo"})
    assert rows_of(edited)[1] == ["1", "Il cane dorme.", "Il cane dormono.", ""]
    assert rows_of(edited)[3:] == [["", "", "", ""], ["", "", "", "nuovo"]]


def test_a_text_of_several_lines_becomes_one_line():
    edited = set_cells(grid(PAIRS), "items", {(1, 1): "Il cane\r\ndorme.\x07"})
    assert edited.items.rows[1][1] == "Il cane dorme."


def test_rows_above_the_names_are_titles_and_can_be_removed():
    titled = grid([["Le mie frasi"], [], *PAIRS], head=2)
    assert titled.items.columns == ("item", "good", "bad")
    assert rows_of(remove_titles(titled, "items")) == PAIRS
    assert insert_rows(titled, "items", 0, [["3"]]).items.rows[3][0] == "3"
    assert delete_rows(titled, "items", [2]).items == titled.items


def test_a_new_item_has_the_conditions_and_levels_of_the_last_one_and_no_sentences():
    added = rows_of(add_item(grid(CONDITIONS)))[3:]
    assert added == [["s-10", "near", "", "short", ""], ["s-10", "far", "", "long", ""]]
    assert rows_of(add_item(grid(PAIRS)))[-1] == ["3", "", ""]
    assert rows_of(add_item(grid(PAIRS[:1])))[-1] == ["1", "", ""]


def test_columns_are_added_renamed_and_removed():
    edited = insert_column(grid(PAIRS), "items", 1, "verbo")
    edited = rename_column(edited, "items", 1, " lemma ")
    assert edited.items.columns == ("item", "lemma", "good", "bad")
    assert delete_column(edited, "items", 1) == grid(PAIRS)
    assert delete_column(grid([["a"]]), "items", 0) == grid([["a"]])


def test_only_cells_with_breaks_or_tabs_are_quoted_on_the_clipboard():
    assert pasted_cells('"Ciao" disse Anna.\tsì\r\n"due\nrighe"\t"a ""b""\tc"\r\n') == [
        ['"Ciao" disse Anna.', "sì"],
        ["due righe", 'a "b" c'],
    ]
    assert pasted_cells("una sola") == [["una sola"]]
    assert pasted_cells("a\t\n\t") == [["a", ""], ["", ""]]


def test_a_paste_fills_a_block_and_adds_rows():
    edited = paste(grid(PAIRS), "items", 2, 1, "Il gatto ronfa.\tIl gatto ronfano.\nA\tB")
    assert rows_of(edited)[2:] == [
        ["2", "Il gatto ronfa.", "Il gatto ronfano."],
        ["", "A", "B"],
    ]


def test_an_edit_that_changes_nothing_is_not_a_step():
    history = History(grid(PAIRS))
    assert history.do(set_cells(history.present, "items", {(1, 0): "1"})) is history
    assert history.undo() is history
    assert history.redo() is history


def test_the_number_of_steps_is_bounded():
    history = History(grid(PAIRS))
    for number in range(MOST_STEPS + 5):
        history = history.do(set_cells(history.present, "items", {(1, 0): str(number + 10)}))
    assert len(history.past) == MOST_STEPS


CELLS = st.text(alphabet="ab |\t\n\"'àя", max_size=6)
EDITS = st.one_of(
    st.tuples(st.just("set"), st.integers(0, 6), st.integers(0, 5), CELLS),
    st.tuples(st.just("insert"), st.integers(0, 6), st.just(0), CELLS),
    st.tuples(st.just("delete"), st.integers(0, 6), st.just(0), st.just("")),
    st.tuples(st.just("column"), st.just(0), st.integers(0, 4), CELLS),
    st.tuples(st.just("drop"), st.just(0), st.integers(0, 4), st.just("")),
    st.tuples(st.just("paste"), st.integers(0, 4), st.integers(0, 4), CELLS),
    st.tuples(st.just("item"), st.just(0), st.just(0), st.just("")),
)


def apply(grid, edit):
    name, row, column, text = edit
    if name == "set":
        return set_cells(grid, "items", {(row, column): text})
    if name == "insert":
        return insert_rows(grid, "items", row, [[text]])
    if name == "delete":
        return delete_rows(grid, "items", [row])
    if name == "column":
        return insert_column(grid, "items", column, text)
    if name == "drop":
        return delete_column(grid, "items", column)
    return paste(grid, "items", row, column, text) if name == "paste" else add_item(grid)


@settings(deadline=None)
@given(st.lists(EDITS, max_size=8), st.sampled_from([PAIRS, CONDITIONS, [["a"]]]))
def test_every_series_of_edits_can_be_undone_and_done_again(edits, rows):
    history = History(grid(rows))
    grids = [history.present]
    for edit in edits:
        history = history.do(apply(history.present, edit))
        if history.present != grids[-1]:
            grids.append(history.present)
        assert {len(row) for row in history.present.items.rows} == {history.present.items.width}
        assert 0 <= history.present.items.head < len(history.present.items.rows)
    for earlier in reversed(grids[:-1]):
        history = history.undo()
        assert history.present == earlier
    assert history.past == ()
    for later in grids[1:]:
        history = history.redo()
        assert history.present == later
    assert history.future == ()


@settings(deadline=None)
@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_what_a_program_quotes_is_pasted_as_it_was_with_breaks_as_blanks(rows):
    # A cell that begins with a quotation mark is not distinguishable from a quoted one.
    rows = [[cell.lstrip('"') for cell in row] for row in rows]

    def on_clipboard(cell):
        return '"' + cell.replace('"', '""') + '"' if {"\t", "\n"} & {*cell} else cell

    text = "\r\n".join("\t".join(map(on_clipboard, row)) for row in rows) + "\r\n"
    expected = [
        [set_cells(grid([["x"]]), "items", {(0, 0): c}).items.rows[0][0] for c in row]
        for row in rows
    ]
    assert pasted_cells(text) == expected
