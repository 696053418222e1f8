"""Columns that were chosen or found keep their headings once the table gets a description."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.checking import check_grid
from cimento.app.columns import with_role
from cimento.app.describing import describe
from cimento.app.editing import Grid, rename_column
from cimento.app.opening import open_grid, save_grid
from cimento.kinds.registry import load_suite
from tests.helpers.grids import FOUR, grid

ATTRACTION = (
    ("La zia delle vicine canta.", "plurale", "corretto", "1"),
    ("La zia delle vicine cantano.", "plurale", "errato", "1"),
    ("La zia della vicina canta.", "singolare", "corretto", "1"),
    ("La zia della vicina cantano.", "singolare", "errato", "1"),
    ("Il cane dei pastori abbaia.", "plurale", "corretto", "2"),
    ("Il cane dei pastori abbaiano.", "plurale", "errato", "2"),
    ("Il cane del pastore abbaia.", "singolare", "corretto", "2"),
    ("Il cane del pastore abbaiano.", "singolare", "errato", "2"),
)
RATED = (
    ("Maria ha letto il libro.", "6,8", "0,5", "31"),
    ("Maria il libro ha letto.", "3,1", "1,4", "30"),
    ("Ha Maria letto libro il.", "1,2", "0,6", "31"),
)


def with_roles(made: Grid, roles: dict[str, str]) -> Grid:
    made = replace(made, words="it")
    for column, role in roles.items():
        made = with_role(made, column, role)
    return made


TABLES = {
    "factors": (
        grid(("Stimolo", "Attrattore", "Verbo", "Famiglia"), *ATTRACTION),
        {"Attrattore": "factors", "Verbo": "factors", "Stimolo": "sentence", "Famiglia": "item"},
    ),
    "pairs by level": (grid(("Frase", "Attrattore", "Verbo", "Serie"), *ATTRACTION), {}),
    "ratings": (
        grid(("Enunciato", "Valore", "Scarto", "Quanti"), *RATED),
        {"Enunciato": "sentence", "Valore": "rating", "Scarto": "rating_sd", "Quanti": "rating_n"},
    ),
    "pairs": (
        grid(("Uno", "Due"), *[(row[0], row[0].replace(" ", " non ", 1)) for row in RATED]),
        {"Uno": "good", "Due": "bad"},
    ),
    "conditions": (
        grid(("Quadro", "A", "B", "C", "D"), *FOUR),
        {"A": "conditions", "B": "conditions", "C": "conditions", "D": "conditions",
         "Quadro": "item"},
    ),
    "blanks": (
        grid(("Testo", "Atteso"), ("Il gatto ___ sul letto.", "dorme"), ("Ada ___ qui.", "sta")),
        {"Testo": "sentence", "Atteso": "target"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_headings_and_columns_stay_as_they_are_and_the_file_is_read_the_same(name, tmp_path):
    made, chosen = TABLES[name]
    made = with_roles(made, chosen)
    before = check_grid(made)
    described = describe(made, language="it")
    assert described.items == made.items
    after = check_grid(described)
    assert after.usable
    roles = {column for names in before.read.roles.values() for column in names}
    assert roles == {column for names in after.read.roles.values() for column in names}
    assert not after.read.unused
    path = save_grid(described, tmp_path / "mie.xlsx")
    again = open_grid(path).grid
    shown = again.items.rows  # ratings are numbers in the workbook
    assert [[cell.replace(",", ".") for cell in row] for row in made.items.rows] == [
        [cell.replace(",", ".") for cell in row] for row in shown
    ]
    assert again.known_roles == described.known_roles
    assert after.read.n_items == before.read.n_items
    assert load_suite(path).suite.meta.language == "it"


def test_designs_and_ratings_are_the_same_with_and_without_a_description(tmp_path):
    made = with_roles(*TABLES["factors"])
    path = save_grid(describe(made, language="it"), tmp_path / "disegno.xlsx")
    suite = load_suite(path).suite
    assert {name: {*levels} for name, levels in suite.factors.items()} == {
        "Attrattore": {"singolare", "plurale"}, "Verbo": {"corretto", "errato"},
    }  # fmt: skip
    assert [item.id for item in suite.items] == ["1", "2"]
    texts = {one.regions[0].text for item in suite.items for one in item.conditions}
    assert texts == {row[0] for row in ATTRACTION}
    rated = with_roles(*TABLES["ratings"])
    path = save_grid(describe(rated, language="it"), tmp_path / "giudizi.xlsx")
    from cimento.suites.ratings import rated_of

    assert [(one.mean, one.sd, one.n) for one in rated_of(load_suite(path).suite).sentences] == [
        (6.8, 0.5, 31), (3.1, 1.4, 30), (1.2, 0.6, 31),
    ]  # fmt: skip


def test_a_column_that_is_renamed_keeps_its_role_in_a_described_suite():
    described = describe(with_roles(*TABLES["ratings"]), language="it")
    renamed = rename_column(described, "items", 2, "Dev. tipica del campione")
    report = check_grid(renamed)
    assert report.usable
    assert report.read.roles["rating_sd"] == ("Dev. tipica del campione",)


def test_a_heading_that_a_setting_names_and_the_table_lacks_is_told():
    described = describe(with_roles(*TABLES["ratings"]), language="it")
    rows = described.items.rows
    head = tuple("Altro" if cell == "Scarto" else cell for cell in rows[0])
    lost = described.with_sheet("items", replace(described.items, rows=(head, *rows[1:])))
    assert any("'Scarto'" in finding.seen for finding in check_grid(lost).findings)


def test_the_scale_of_ratings_is_said_and_labels_have_none():
    from cimento.app.words import said

    rated = check_grid(with_roles(*TABLES["ratings"]))
    assert rated.holds == "3 items; rated from 1 to 7"
    assert said(rated.holds, "it") == "3 item; giudizi da 1 a 7"
    labels = grid(
        ("Frase", "Giudizio"), *((row[0], "*" if n else "ok") for n, row in enumerate(RATED))
    )
    assert check_grid(labels).holds == "3 items"
