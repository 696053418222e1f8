"""Four conditions called A to D: their levels are asked, and make a design."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui

from cimento.app.checking import check_grid
from cimento.app.columns import with_role
from cimento.app.describing import describe
from cimento.app.levels_named import Levels, with_levels
from cimento.app.opening import open_grid, save_grid
from cimento.app.words import words
from cimento.kinds.registry import load_suite
from cimento.suites.design import Differing, squares
from tests.helpers.app_user import visit
from tests.helpers.grids import FOUR, grid, stored

FACTORS = {"Struttura": ("isola", "no"), "Distanza": ("breve", "lunga")}
CELLS = {
    "A": ("no", "breve"), "B": ("no", "lunga"), "C": ("isola", "breve"), "D": ("isola", "lunga"),
}  # fmt: skip
TOLD = Levels(FACTORS, CELLS, "D")


def wide():
    made = replace(grid(("Item", "A", "B", "C", "D"), *FOUR), words="it")
    for name in "ABCD":
        made = with_role(made, name, "conditions")
    return made


def long():
    rows = [
        (row[0], name, text) for row in FOUR for name, text in zip("ABCD", row[1:], strict=True)
    ]
    return replace(grid(("Item", "Condizione", "Frase"), *rows), words="it")


@pytest.mark.parametrize("table", [wide, long])
@pytest.mark.parametrize("is_described", [False, True])
def test_levels_make_a_design_and_the_table_stays(table, is_described, tmp_path):
    made = table()
    given = describe(made, language="it") if is_described else made
    designed = with_levels(given, TOLD)
    assert designed.items == made.items
    report = check_grid(designed)
    assert report.usable
    assert "least acceptable: D, where Struttura is isola and Distanza is lunga" in report.holds
    path = save_grid(designed, tmp_path / "disegno.xlsx")
    suite = load_suite(path).suite
    assert suite.factors == {"Struttura": ("no", "isola"), "Distanza": ("breve", "lunga")}
    (square,) = squares(suite)
    assert [*square.conditions] == ["A", "C", "B", "D"]
    again = open_grid(path).grid
    assert again.settings()["cells.D"] == "isola | lunga"
    assert check_grid(again).holds == report.holds


@pytest.mark.parametrize(
    ("faulty", "reason"),
    [
        (replace(TOLD, least=""), "what you expect, in the menu"),
        (replace(TOLD, cells={**CELLS, "A": ("isola", "lunga")}),
         "A and D have the same cell (isola, lunga); each cell is one of the four."),
        (replace(TOLD, cells={**CELLS, "A": ("", "breve")}), "Still missing: the levels of A."),
        (replace(TOLD, factors={"Struttura": ("isola", "Isola"), "Distanza": ("breve", "lunga")}),
         '"isola" is there twice'),
        (replace(TOLD, factors={"": ("isola", "no"), "Distanza": ("breve", "lunga")}),
         "the names of both factors"),
        (replace(TOLD, factors={"Item": ("isola", "no"), "Distanza": ("breve", "lunga")}),
         '"Item" is the name of a column'),
        (replace(TOLD, factors={"Strutt.ura": ("isola", "no"), "Distanza": ("breve", "lunga")}),
         'Write "Strutt.ura" without a full stop'),
        (replace(TOLD, factors={"Struttura": ("isola", "no")}), "the names of both factors"),
    ],
)  # fmt: skip
def test_what_is_not_a_design_yet_is_said(faulty, reason):
    say = words("en")
    assert TOLD.lacking(say, ("Item", "A")) == ""
    assert reason in faulty.lacking(say, ("Item", "A"))


@pytest.mark.parametrize("two", [("gramatical", "agramatical"), ("sí", "no"), ("ok", "*")])
def test_of_good_and_bad_sentences_it_is_asked_where_they_differ_more(two):
    good, bad = two
    cells = {
        "A": (good, "plural"), "B": (good, "singular"), "C": (bad, "plural"), "D": (bad, "singular")
    }  # fmt: skip
    told = Levels({"Gramatical": two, "Núcleo": ("singular", "plural")}, cells, "D")
    # C and D are bad: DD is how much more good and bad differ in their number than in the other.
    assert told.expected() == {
        "C": Differing(good, bad, "plural", "singular"),
        "D": Differing(good, bad, "singular", "plural"),
    }
    assert replace(told, least="A").lacking(words("en")) != ""
    table = replace(wide(), words="en")
    designed = with_levels(table, told)
    predicted = designed.sheets["predictions"]
    formulas = [predicted.rows[row][1] for row in predicted.body]
    assert formulas == [
        "((*;%D%) - (*;%B%)) - ((*;%C%) - (*;%A%)) > 0",
        "(*;%A%) < (*;%C%)",  # the good and the bad sentence of each number
        "(*;%B%) < (*;%D%)",
    ]


def test_the_page_asks_for_the_levels_and_chooses_none(tmp_path):
    stored(long(), tmp_path / "suites" / "lettere.csv")

    async def flow(user):
        await user.open("/it/edit?suite=suites/lettere.csv")
        await user.should_see("Nome del fattore 1", retries=100)
        fields = {one.props["label"]: one for one in user.find(kind=ui.input).elements}
        menus = {one.props["label"]: one for one in user.find(kind=ui.select).elements}
        go = next(iter(user.find("Leggi come questo disegno 2×2").elements))
        assert not go.enabled
        for number, (name, two) in enumerate(FACTORS.items(), 1):
            fields[f"Nome del fattore {number}"].set_value(name)
            for level, text in enumerate(two, 1):
                fields[f"Fattore {number}, livello {level}"].set_value(text)
        assert {menu.value for menu in menus.values() if "fattore" in menu.props["label"]} == {None}
        for name, both in CELLS.items():
            for number, level in enumerate(both, 1):
                menus[f"«{name}», fattore {number}"].set_value(level)
        assert not go.enabled
        await user.should_see("Manca ancora che cosa ti aspetti")
        await user.should_see("Chi pensa che Ugo corra?")  # the first sentence of A
        menus["La meno accettabile"].set_value("D")
        assert go.enabled
        user.find("Leggi come questo disegno 2×2").click()
        await user.should_see("dove Struttura è isola e Distanza è lunga", retries=100)

    visit(tmp_path, flow)
