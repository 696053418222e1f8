"""Designs in the window: three factors, sets with a slip, and sets that lack sentences."""

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui

from cimento.app.checking import check_grid
from cimento.app.describing import describe
from cimento.app.designing import Predicted, with_predicted
from cimento.app.editing import delete_rows
from cimento.app.words import LANGUAGES, said
from cimento.kinds.registry import load_suite
from cimento.suites.design import squares
from tests.helpers.app_user import visit
from tests.helpers.grids import SETS, asked, grid, stored

HEAD = ("Grupo de frases", "Cláusula", "Enlace", "Hueco", "Oración")
ISLANDS = [
    ("Distanza", "Struttura", "Frase"),
    ("corta", "frase", "Chi dice che {} {} {}?"),
    ("lunga", "frase", "Che cosa dici che {} {}?"),
    ("corta", "isola", "Chi ride se {} {} {}?"),
    ("lunga", "isola", "Che cosa ridi se {} {}?"),
]
ITALIAN = [
    ("il sarto", "cuce", "la giacca"),
    ("la postina", "porta", "il pacco"),
    ("mio zio", "pota", "la vite"),
    ("la guida", "perde", "le chiavi"),
    ("il coro", "canta", "un inno"),
]


def three_factors():
    link_words, clauses = {"qu": "qué", "que": "que"}, {"simple": "dijo ", "isla": "vino por"}
    rows = [
        (str(number), clause, link, gap,
         f"Sé {link_words[link]} {who} {begun}que Ana {verb}{f' {what}' * (gap == 'lleno')} ayer.")
        for number, (who, verb, what) in enumerate(SETS, 1)
        for clause, begun in clauses.items()
        for link in link_words
        for gap in ("hueco", "lleno")
    ]  # fmt: skip
    return grid(HEAD, *rows)


def islands(change=()):
    """A design of four cells under a heading that no one knows, with some cells changed."""
    head, *cells = ISLANDS
    rows = [
        [str(number), distance, structure, text.format(*words)]
        for number, words in enumerate(ITALIAN, 1)
        for distance, structure, text in cells
    ]
    for row, column, cell in change:
        rows[row - 2][column] = cell
    return grid(("Quartetto", *head), *rows)


def errors(made):
    return [one for one in check_grid(made).findings if one.severity == "error"]


# --- Three factors


def test_three_crossed_factors_are_read_and_nothing_is_predicted_before_it_is_asked():
    made = three_factors()
    report = check_grid(made)
    assert report.usable
    assert report.read.roles["item"] == ("Grupo de frases",)
    assert report.read.roles["factors"] == ("Cláusula", "Enlace", "Hueco")
    assert "CIM-S023" in {one.code for one in report.findings}
    question = asked(made)
    assert question.kind == "three"
    assert question.factors == {
        "Cláusula": ("simple", "isla"), "Enlace": ("qu", "que"), "Hueco": ("hueco", "lleno"),
    }  # fmt: skip


def test_an_interaction_of_two_factors_is_predicted_for_each_level_of_the_third(tmp_path):
    made = three_factors()
    cell = {"Enlace": "que", "Hueco": "hueco"}
    designed = with_predicted(made, asked(made).factors, Predicted(cell=cell, greater="simple"))
    assert check_grid(designed).usable
    assert asked(designed) is None
    suite = load_suite(written(designed, tmp_path)).sentences
    assert [(one.name, one.unacceptable.condition) for one in squares(suite)] == [
        ("simple", "simple_que_hueco"), ("isla", "isla_que_hueco"),
    ]  # fmt: skip
    names = [prediction.name for prediction in suite.predictions]
    assert len(names) == 9  # DD and three comparisons in each clause, and which DD is greater
    assert names[-1] == "DD of simple over isla"
    dd = "((*;%{0}_que_hueco%) - (*;%{0}_qu_hueco%)) - ((*;%{0}_que_lleno%) - (*;%{0}_qu_lleno%))"
    assert suite.predictions[-1].formula == f"({dd.format('simple')}) - ({dd.format('isla')}) > 0"


def test_a_level_that_is_worse_is_predicted_in_each_combination_of_the_others(tmp_path):
    made = three_factors()
    worse = Predicted(worse=("Hueco", "hueco"))
    designed = with_predicted(made, asked(made).factors, worse)
    suite = load_suite(written(designed, tmp_path)).sentences
    assert squares(suite) == ()
    assert {prediction.formula for prediction in suite.predictions} == {
        f"(*;%{one}_lleno%) < (*;%{one}_hueco%)"
        for one in ("simple_qu", "simple_que", "isla_qu", "isla_que")
    }


def written(made, folder):
    from cimento.app.opening import write_grid

    return write_grid(made, folder / "suite.xlsx")


def test_predictions_are_named_and_explained_in_the_language_of_the_window():
    from dataclasses import replace

    made = replace(three_factors(), words="es")
    cell = {"Enlace": "que", "Hueco": "hueco"}
    designed = with_predicted(made, asked(made).factors, Predicted(cell=cell))
    rows = [row for row in designed.sheets["predictions"].rows if row[0].startswith("DD")]
    assert rows[0][0] == "DD de simple_que_hueco"
    assert rows[0][2] == (
        "Superaditividad (DD > 0) de Enlace y Hueco, donde el tercer factor es simple."
    )


def test_it_is_asked_on_the_page_what_three_factors_predict(tmp_path):
    stored(three_factors(), tmp_path / "suites" / "huecos.csv")

    async def flow(user):
        await user.open("/es/edit?suite=suites/huecos.csv")
        await user.should_see("Tres factores están cruzados: Cláusula, Enlace, Hueco", retries=100)
        selects = user.find(kind=ui.select).elements
        by_label = {str(one.props["label"])[:2]: one for one in selects}
        assert "Si" not in by_label  # where DD should be greater is asked after the factors of DD
        by_label["2."].set_value((("Enlace", "que"), ("Hueco", "hueco")))
        await user.should_see("Si lo esperas: DD es mayor donde")
        user.find("Predecir esto").click()
        await user.should_see("8 predicciones", retries=100)
        await user.should_not_see("Tres factores están cruzados")

    visit(tmp_path, flow)


# --- Slips


@pytest.mark.parametrize(
    ("change", "row", "seen", "todo"),
    [
        # The long sentence of set 3 (row 11) has the number of set 4, which has one (row 15).
        ((11, 0, "4"), 11, "Item 3 lacks lunga_frase, which this item has in rows 11 and 15.",
         "Did you mean item 3 in row 11?"),
        ((11, 0, "8"), 11, "Item 3 lacks lunga_frase, which is all that this item has (row 11).",
         "Did you mean item 3 in row 11?"),
        ((11, 1, "corta"), 11, "The item has corta_frase in rows 10 and 11, and lacks lunga_frase.",
         "Did you mean lunga_frase in row 11? It has that place in the other items."),
    ],
)  # fmt: skip
def test_a_wrong_cell_is_named_with_what_the_other_rows_suggest(change, row, seen, todo):
    made = islands([change])
    [wrong] = errors(made)
    assert (wrong.code, wrong.seen, wrong.todo) == ("CIM-S012", seen, todo)
    assert f"row {row}," in wrong.where
    assert row - 1 in wrong.rows
    assert all(said(text, language) for text in (seen, todo) for language in LANGUAGES)


def test_a_level_with_a_typo_is_told_by_the_name_that_is_meant():
    [wrong] = errors(islands([(11, 2, "frasse")]))
    assert wrong.todo == "Did you mean 'lunga_frase'?"


# --- Sets that are not whole


def incomplete():
    return delete_rows(islands(), "items", [5, 18])  # of sets 2 and 5


def test_sets_that_lack_sentences_are_named_and_can_be_left_out():
    made = incomplete()
    assert not check_grid(made).usable
    question = asked(made)
    assert question.kind == "incomplete"
    assert [*question.lacking] == ["2", "5"]
    assert question.n_sets == 5
    assert "corta_frase" in question.lacking["2"]
    left = delete_rows(made, "items", question.rows)
    assert check_grid(left).usable
    assert {row[0] for row in left.items.rows[1:]} == {"1", "3", "4"}


def test_no_set_is_left_out_where_most_are_not_whole():
    made = delete_rows(islands(), "items", [1, 5, 9])
    assert getattr(asked(made), "kind", "") != "incomplete"


def test_the_page_goes_on_without_incomplete_sets(tmp_path):
    stored(incomplete(), tmp_path / "suites" / "isole.csv")

    async def flow(user):
        await user.open("/it/edit?suite=suites/isole.csv")
        await user.should_see("A 2 insiemi su 5 mancano frasi", retries=100)
        await user.should_see("2: All'item manca corta_frase")
        user.find("Vai avanti senza 2, 5 (restano 3 insiemi)").click()
        await user.should_see("3 item nelle condizioni", retries=100)
        await user.should_not_see("mancano frasi")

    visit(tmp_path, flow)


def test_a_description_keeps_what_is_said_of_a_slip():
    [wrong] = errors(describe(islands([(11, 0, "4")]), language="it"))
    assert wrong.code == "CIM-S012"
    assert wrong.todo.startswith("Did you mean item 3 in row ")
