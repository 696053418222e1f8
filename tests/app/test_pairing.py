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


PAIRS_OF_NAMES = [
    ("Frase di prova grammaticale", "Frase di prova agrammaticale"),
    ("Frasi di prova grammaticali", "Frasi di prova agrammaticali"),
    ("Frasi di prova accettabili", "Frasi di prova non accettabili"),
    ("Stimolo-corretto", "Stimolo-scorretto"),
    ("Oración de prueba gramatical", "Oración de prueba agramatical"),
    ("Oraciones de prueba gramaticales", "Oraciones de prueba agramaticales"),
    ("Oraciones buenas (sí)", "Oraciones buenas (no)"),
    ("Estímulos aceptables", "Estímulos inaceptables"),
    ("Frase de teste gramatical", "Frase de teste agramatical"),
    ("Frases de teste aceitáveis", "Frases de teste não aceitáveis"),
    ("Правильный стимул", "Неправильный стимул"),
    ("Правильные стимулы", "Не правильные стимулы"),
    ("Grammatical stimulus", "Ungrammatical stimulus"),
    ("Possible stimuli", "Impossible stimuli"),
    ("Acceptable test sentences", "Unaceptable test sentences"),
]
"""Names that are no words for good and bad, and of which the second negates the first."""


@pytest.mark.parametrize(("good", "bad"), PAIRS_OF_NAMES)
def test_the_name_that_negates_the_other_is_that_of_the_bad_sentences(good, bad):
    assert guess_pair(grid((good, bad), (GOOD, BAD))) == (0, 1)
    assert guess_pair(grid((bad, good), (BAD, GOOD))) == (1, 0)
    assert guess_pair(grid(("n", bad, "nota", good), ("1", BAD, "x", GOOD))) == (3, 1)


@pytest.mark.parametrize(
    "names",
    [
        ("Oraciones gramaticales", "Oraciones agramaticales"),
        ("Frasi agrammaticali", "Frasi grammaticali"),
        ("Предложения неправильные", "Предложения правильные"),
    ],
)
def test_plural_names_of_good_and_bad_sentences_need_no_question(names):
    assert guess_pair(grid(names, (GOOD, BAD))) is None


def test_sentences_with_an_asterisk_are_the_bad_ones_where_names_do_not_say_it():
    starred = (f"*{BAD}", GOOD)
    assert guess_pair(grid(("Frase A", "Frase B"), starred, starred)) == (1, 0)
    assert guess_pair(grid(("Frase A", "Frase B"), starred[::-1], starred[::-1])) == (0, 1)


def test_names_that_are_hardly_more_alike_one_way_do_not_swap_the_columns():
    assert guess_pair(grid(("Gramatika", "Agramatika2"), (GOOD, BAD))) == (0, 1)
    assert guess_pair(grid(("badly", "goody"), (BAD, GOOD))) == (1, 0)


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


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("Sin error", "Con error"),
        ("Correctas", "Erróneas"),
        ("Correcta", "Con error"),
        ("Versione corretta", "Versione errata"),
        ("Bien formada", "Mal formada"),
        ("Frase ben formata", "Frase mal formata"),
        ("Esempio buono", "Esempio cattivo"),
        ("gramaticales", "*"),
        ("match", "mismatch"),
    ],
)
def test_a_word_that_says_a_side_outright_decides_in_either_order(good, bad):
    assert guess_pair(grid((good, bad), (GOOD, BAD))) == (0, 1)
    assert guess_pair(grid((bad, good), (BAD, GOOD))) == (1, 0)
