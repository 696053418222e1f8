"""Which columns of a table hold the good and the bad sentences, where the names do not say it."""

import pytest

pytest.importorskip("nicegui")

from cimento.app.checking import check_grid
from cimento.app.editing import Grid, sheet_of
from cimento.app.findings import guess_pair, named_pair
from cimento.app.opening import open_grid

GOOD, BAD = "Le rane saltano.", "Le rane salta."


def grid(*rows):
    return Grid("g", {"items": sheet_of([list(row) for row in rows])}, described=False)


@pytest.mark.parametrize(
    ("names", "guess"),
    [
        (("Grammaticle", "Sgrammaticale"), (0, 1)),
        (("sbaliata", "giusta"), (1, 0)),
        (("Frase A", "Frase B"), (0, 1)),
        (("goood", "badd"), (0, 1)),
        (("good", "bad"), None),
        (("Frase", "altra"), None),  # a list of sentences
    ],
)
def test_the_columns_of_a_pair_are_guessed_from_names_that_are_nearly_right(names, guess):
    assert guess_pair(grid(names, (GOOD, BAD))) == guess


def test_columns_of_single_words_or_numbers_are_not_asked_about():
    made = grid(("n", "uno", "due", "verbo"), ("1", GOOD, BAD, "saltare"))
    assert guess_pair(made) == (1, 2)
    assert guess_pair(grid(("uno", "verbo"), (GOOD, "saltare"))) is None


def test_four_columns_of_sentences_are_a_design_and_no_pair():
    assert guess_pair(grid(("A", "B", "C", "D"), (GOOD, BAD, GOOD, BAD))) is None


def test_names_in_two_rows_of_a_workbook_become_a_design(tmp_path):
    from tests.suites.test_suite_workbooks import JOINED, of_two_rows

    opened = open_grid(of_two_rows(tmp_path / "isole.xlsx")).grid
    assert list(opened.items.columns) == JOINED
    assert guess_pair(opened) is None
    assert check_grid(opened).usable


def test_named_columns_make_a_suite_that_can_be_used():
    made = named_pair(grid(("sbaliata", "giust", "nota"), (BAD, GOOD, "")), 1, 0)
    assert made.items.columns == ("bad", "good", "nota")
    assert check_grid(made).usable


def test_a_first_row_that_is_a_pair_stays_one():
    made = grid((GOOD, BAD), ("Il gatto dorme.", "Il gatto dormono."))
    assert guess_pair(made) == (0, 1)
    named = named_pair(made, 0, 1)
    assert named.items.rows[:2] == (("good", "bad"), (GOOD, BAD))
    assert check_grid(named).usable
