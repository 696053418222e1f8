"""Which columns of a table hold the good and the bad sentences, where the names do not say it."""

import pytest

pytest.importorskip("nicegui")

from cimento.app.checking import check_grid
from cimento.app.conditions import renamings, with_names, with_prediction
from cimento.app.describing import describe
from cimento.app.editing import delete_rows
from cimento.app.opening import open_grid
from cimento.app.pairing import (
    named_pair,
    paired_lines,
    question_of,
    unmarked,
    with_column,
)
from tests.helpers.grids import grid

GOOD, BAD = "Le rane saltano.", "Le rane salta."


NOTHING = "nothing"
"""In the place of a guess, that nothing is asked."""


def guess_pair(made):
    """The columns that are chosen beforehand; None if the question is open."""
    question = question_of(made)
    return question.guess if question is not None else NOTHING


@pytest.mark.parametrize(
    ("names", "guess"),
    [
        (("Grammaticle", "Sgrammaticale"), (0, 1)),
        (("sbaliata", "giusta"), (1, 0)),
        (("goood", "badd"), (0, 1)),
        (("good", "bad"), NOTHING),
        (("Frase", "altra"), NOTHING),  # sentences with something else
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
"""Names that are not words for good and bad, and of which the second negates the first."""


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
    assert guess_pair(grid(names, (GOOD, BAD))) == NOTHING


@pytest.mark.parametrize("names", [("A", "B"), ("frase 1", "frase 2"), (BAD, GOOD)])
def test_nothing_is_chosen_where_no_name_says_which_sentences_are_the_good_ones(names):
    for rows in ([(GOOD, BAD)], [(BAD, GOOD)]):
        question = question_of(grid(names, *rows))
        assert (question.kind, question.columns, question.guess) == ("pair", (0, 1), None)
    assert question_of(grid(("A", "B", "C"), (GOOD, BAD, GOOD))).guess is None


def test_sentences_with_an_asterisk_are_the_bad_ones_where_names_do_not_say_it():
    starred = (f"*{BAD}", GOOD)
    assert guess_pair(grid(("Frase A", "Frase B"), starred, starred)) == (1, 0)
    assert guess_pair(grid(("Frase A", "Frase B"), starred[::-1], starred[::-1])) == (0, 1)


def test_names_that_are_clearly_more_alike_one_way_are_chosen():
    assert guess_pair(grid(("Gramatika", "Agramatika2"), (GOOD, BAD))) == (0, 1)
    assert guess_pair(grid(("badly", "goody"), (BAD, GOOD))) == (1, 0)


def test_columns_of_single_words_or_numbers_are_not_asked_about():
    made = grid(("n", "uno", "due", "verbo"), ("1", GOOD, BAD, "saltare"))
    assert question_of(made).columns == (1, 2)
    assert question_of(grid(("uno", "verbo"), (GOOD, "saltare"))) is None


def test_four_columns_of_sentences_are_a_design_and_no_pair():
    assert guess_pair(grid(("A", "B", "C", "D"), (GOOD, BAD, GOOD, BAD))) == NOTHING


def test_names_in_two_rows_of_a_workbook_become_a_design(tmp_path):
    from tests.intake.test_workbooks import JOINED, of_two_rows

    opened = open_grid(of_two_rows(tmp_path / "isole.xlsx")).grid
    assert list(opened.items.columns) == JOINED
    assert question_of(opened) is None
    assert check_grid(opened).usable


def test_named_columns_make_a_suite_that_can_be_used():
    made = named_pair(grid(("sbaliata", "giust", "nota"), (BAD, GOOD, "")), 1, 0)
    assert made.items.columns == ("sbaliata", "giust", "nota")
    report = check_grid(made)
    assert report.usable
    assert (report.read.roles["good"], report.read.roles["bad"]) == (("giust",), ("sbaliata",))


def test_a_first_row_that_is_a_pair_stays_one():
    made = grid((GOOD, BAD), ("Il gatto dorme.", "Il gatto dormono."))
    assert guess_pair(made) is None
    named = named_pair(made, 0, 1)
    assert named.items.rows[:2] == (("good", "bad"), (GOOD, BAD))
    assert check_grid(named).usable


OTHER = "I gatti dormono."


@pytest.mark.parametrize("name", ["frase", "Esempi", None])
def test_bad_sentences_below_good_ones_become_pairs_without_asterisks(name):
    made = grid(*[[cell] for cell in (name, GOOD, f"*{BAD}", OTHER, "* I gatti dorme.") if cell])
    assert question_of(made).kind == "lines"
    assert paired_lines(made, 0).items.rows == (
        ("good", "bad"), (GOOD, BAD), (OTHER, "I gatti dorme."),
    )  # fmt: skip


def test_a_list_of_sentences_gets_a_column_for_what_they_are_compared_with():
    made = grid([GOOD], [OTHER])
    assert question_of(made).kind == "list"
    rows = with_column(made, 0, "sentence", "rating").items.rows
    assert rows == (("sentence", "rating"), (GOOD, ""), (OTHER, ""))


LONG = [
    ("item", "condition", "sentence"), ("1", "нетипично", "Il cane dormono."),
    ("1", "типично", "Il cane dorme."), ("2", "нетипично", BAD), ("2", "типично", GOOD),
]  # fmt: skip


def test_of_two_conditions_it_is_asked_which_is_likelier_and_the_answer_is_a_prediction():
    made = grid(*LONG)
    question = question_of(made)
    assert (question.kind, question.columns, question.conditions) == (
        "conditions", (1, 2), ("типично", "нетипично"),
    )  # fmt: skip
    (advice,) = [e.todo for e in check_grid(made).findings if e.code == "CIM-S023"]
    assert "For example, (*;%нетипично%) < (*;%типично%): нетипично should be likelier" in advice
    answered = with_prediction(made, "типично", "нетипично")
    assert answered.sheets["predictions"].rows[1][1] == "(*;%типично%) < (*;%нетипично%)"
    assert question_of(answered) is None
    report = check_grid(describe(answered, language="it"))
    assert report.findings == ()
    assert "1 prediction" in report.holds


def test_conditions_that_are_read_as_good_and_bad_are_predicted_and_not_asked_about():
    named = {"типично": "grammaticale", "нетипично": "agrammaticale"}
    made = grid(*((item, named.get(name, name), text) for item, name, text in LONG))
    assert "1 prediction" in check_grid(made).holds
    assert question_of(made) is None
    described = describe(made, language="it")
    assert "1 prediction" in check_grid(described).holds
    emptied = delete_rows(described, "predictions", [1])
    assert question_of(emptied).conditions == ("grammaticale", "agrammaticale")


@pytest.mark.parametrize(
    "rows",
    [[*LONG, ("3", "other", GOOD)], [*LONG, ("2", "типично", GOOD)],
     [(*row, "rating" if n == 0 else "3") for n, row in enumerate(LONG)]],
)  # fmt: skip
def test_nothing_is_asked_of_other_designs_and_of_ratings(rows):
    assert question_of(grid(*rows)) is None


def test_names_that_formulas_cannot_use_are_changed_in_all_rows_and_no_others():
    rows = [("item", "condition", "sentence"), ("1", "no island", GOOD), ("1", "island", BAD),
            ("2", " no island", OTHER), ("2", "island", BAD)]  # fmt: skip
    made = grid(*rows)
    codes = {finding.code for finding in check_grid(made).findings}
    question = question_of(made, codes)
    assert (question.kind, question.conditions) == ("names", ("no island → no_island",))
    renamed = with_names(made)
    assert renamed.items.values(1) == ["no_island", "island"] * 2
    assert question_of(renamed, codes).kind == "conditions"
    words = {"no island": "not grammatical", "island": "grammatical", "condition": "condition"}
    read = grid(*((item, words[name.strip()], text) for item, name, text in rows))
    assert question_of(read, {finding.code for finding in check_grid(read).findings}) is None
    clash = grid(rows[0], ("1", "a b", GOOD), ("1", "a_b", BAD))
    assert renamings(clash) == {}


def test_answers_to_a_form_are_no_test():
    made = grid(("Informazioni cronologiche", GOOD, BAD), ("2026/11/02 10:12:33", "7", "2"))
    assert question_of(made).kind == "answers"


def test_asterisks_are_removed_from_sentences_and_not_from_names():
    made = grid(("good", "*"), (GOOD, f"* {BAD}"))
    assert unmarked(made).items.rows == (("good", "*"), (GOOD, BAD))
    assert named_pair(made, 0, 1).items.rows == (("good", "*"), (GOOD, BAD))


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("Sin error", "Con error"),
        ("Correcta", "Con error"),
        ("Versione corretta", "Versione errata"),
        ("Bien formada", "Mal formada"),
        ("Frase ben formata", "Frase mal formata"),
        ("Esempio buono", "Esempio cattivo"),
        ("match", "mismatch"),
    ],
)
def test_a_word_that_says_a_side_outright_decides_in_either_order(good, bad):
    assert guess_pair(grid((good, bad), (GOOD, BAD))) == (0, 1)
    assert guess_pair(grid((bad, good), (BAD, GOOD))) == (1, 0)


@pytest.mark.parametrize(("blank", "kind"), [("___", None), ("parque", "conditions")])
def test_in_which_condition_sentences_are_likelier_is_not_asked_of_blanks(blank, kind):
    rows = (
        ("item", "condition", "text", "target"),
        ("1", "esperable", f"Los niños juegan en el {blank}.", "parque"),
        ("1", "inesperable", f"Los peces juegan en el {blank}.", "parque"),
        ("2", "esperable", f"Mi abuela pasea por el {blank}.", "parque"),
        ("2", "inesperable", f"El barco pasea por el {blank}.", "parque"),
    )
    asked = question_of(grid(*rows))
    assert (asked and asked.kind) == kind
