"""Steps 2 and 5 in headless Chromium: typing, pasting, keys, and the rules of axe-core."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cimento.app.opening import open_grid
from cimento.intake.workbooks import write_sheets
from cimento.kinds.registry import load_suite, save_suite
from cimento.people.surveys.exports import write_survey
from tests.helpers.survey_help import small

pytest.importorskip("nicegui")

pytestmark = pytest.mark.slow

AXE = Path(os.environ.get("AXE_CORE", "axe.min.js"))
"""The file of axe-core; without it, its checks are skipped."""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

ROWS = [
    ["good", "bad"],
    ["Il cane dorme in cucina.", "Il cane dormono in cucina."],
    ["", "Le rane salta nello stagno."],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("app")
    (folder / "frasi.xlsx").write_bytes(write_sheets({"Foglio1": ROWS}, where="frasi"))
    save_suite(load_suite("it-islands"), folder / "isole.xlsx")
    write_survey(small("it-acceptability", limit=3), folder / "surveys" / "giudizi")
    return folder


def status(tab, text):
    """Wait until the state of the suite says something."""
    tab.wait_for_function(
        "text => document.querySelector('[role=status]')?.innerText.includes(text)", arg=text
    )


def cell(tab, row, column):
    return tab.locator(f'.ag-row[row-id="{row}"] [col-id="c{column}"]')


def test_a_cell_is_typed_undone_by_a_key_and_pasted_from_a_spreadsheet(opened, folder):
    tab = opened("en/edit?suite=frasi.xlsx")
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    status(tab, "Errors: 1")
    cell(tab, 2, 0).dblclick()
    tab.keyboard.type("Le rane saltano nello stagno.")
    tab.keyboard.press("Enter")
    status(tab, "can be used")
    tab.keyboard.press("Control+z")
    status(tab, "Errors: 1")
    tab.keyboard.press("Control+y")
    status(tab, "can be used")
    tab.locator(".row-mark.error").wait_for(state="detached")
    cell(tab, 2, 0).click()
    text = "La gatta morde il topo.\tLa gatta mordono il topo.\nAnna ride.\tAnna ridono."
    tab.evaluate("text => navigator.clipboard.writeText(text)", text)
    tab.keyboard.press("Control+v")
    tab.wait_for_selector('.ag-row[row-id="3"]')
    assert cell(tab, 3, 1).inner_text() == "Anna ridono."
    tab.get_by_role("button", name="Save in your folder").click()
    tab.wait_for_function("document.querySelector('.suite-name').innerText === 'frasi'")
    assert open_grid(folder / "frasi.xlsx").grid.items.rows[3] == ("Anna ride.", "Anna ridono.")


def test_a_menu_above_each_column_says_what_it_is(opened, folder):
    rows = [["Frase A", "Frase B", "Note"], ["Il cane dorme.", "Il cane dormono.", "facile"]]
    (folder / "colonne.xlsx").write_bytes(write_sheets({"Foglio1": rows}, where="colonne"))
    tab = opened("en/edit?suite=colonne.xlsx")
    status(tab, "cannot be used")
    for column, role in ((0, "bad"), (1, "good")):
        menu = tab.locator(f'.ag-header-cell[col-id="c{column}"] select')
        menu.focus()
        menu.select_option(role)
        tab.wait_for_selector(f'.ag-header-cell[col-id="c{column}"] select.chosen')
    read = 'Read as pairs: good = "Frase B", bad = "Frase A"; 1 item; kept, not scored: "Note".'
    status(tab, read)


def test_regions_are_colored_and_items_become_rows(opened):
    tab = opened("it/edit?suite=isole.xlsx")
    tab.wait_for_selector(".region-1")
    assert tab.locator(".legend .region").all_inner_texts() == ["main_clause", "embedded_clause"]
    tab.get_by_text("Una riga per item").click()
    tab.wait_for_selector('.ag-header-cell:has-text("long_island")')
    assert tab.locator(".ag-center-cols-container .ag-row").count() > 1


def test_a_cell_of_a_factor_offers_the_levels_of_the_suite(opened):
    tab = opened("en/edit?suite=isole.xlsx")
    tab.wait_for_selector(".region-1")
    distance = cell(tab, 1, 4)
    assert distance.inner_text() == "short"
    distance.dblclick()
    assert tab.locator(".choice [role=option]").all_inner_texts() == ["short", "long"]
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    status(tab, "Errors")  # the condition is not that of the level
    assert cell(tab, 1, 4).inner_text() == "long"
    cell(tab, 1, 1).dblclick()
    tab.get_by_role("option", name="long_island", exact=True).click()
    status(tab, "Errors")
    assert cell(tab, 1, 1).inner_text() == "long_island"


def test_a_text_of_a_file_is_never_markup(opened, folder):
    rows = [["good", "bad"], ["<img src=x onerror=alert(1)> | dorme.", "<b>x</b> | dormono."]]
    (folder / "markup.xlsx").write_bytes(write_sheets({"items": rows}, where="markup"))
    tab = opened("en/edit?suite=markup.xlsx")
    tab.wait_for_selector(".ag-row")
    assert tab.locator(".suite-grid img, .findings img, .suite-grid b").count() == 0
    assert "<img src=x onerror=alert(1)>" in cell(tab, 1, 0).inner_text()


PLACES = ["en/edit?suite=frasi.xlsx", "ru/edit?suite=isole.xlsx", "it/edit", "es/people",
          "pt/people?survey=surveys/giudizi", "it/run", "ru/read",
          "pt/start"]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_keep_the_rules_of_axe(opened, place, scheme):
    if not AXE.is_file():
        pytest.skip("axe-core is not there: npm install axe-core, and $AXE_CORE for its axe.min.js")
    tab = opened(place, color_scheme=scheme, bypass_csp=True)
    if "suite=" in place:
        tab.wait_for_selector(".ag-row")
    if "survey=" in place and scheme == "light":
        tab.get_by_role("button", name="Abrir o questionário").click()
        tab.wait_for_selector(".room a")
    tab.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    tab.wait_for_timeout(500)
    tab.add_script_tag(path=str(AXE))
    report = tab.evaluate(
        "tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", RULES
    )
    faults = [
        f"{fault['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for fault in report["violations"]
        for node in fault["nodes"]
    ]
    assert faults == []


CONTROLS = """() => [...document.querySelectorAll(
  '#content a[href], #content button, #content input, #content select, #content textarea,'
  + '#content [role=switch], #content [role=combobox]')]
  .filter(e => !e.disabled && e.getAttribute('aria-disabled') !== 'true' && e.checkVisibility()
    && !e.closest('.ag-root-wrapper') && e.tabIndex >= 0)
  .map((e, n) => { e.dataset.control = n; return n; }).length"""

SEEN = """() => {
  const element = document.activeElement;
  const parts = [element, element.closest('.q-field')?.querySelector('.q-field__control')];
  return [element.dataset.control ?? '', parts.filter(Boolean).map(part => getComputedStyle(part))
    .some(style => style.outlineStyle !== 'none' || style.boxShadow !== 'none')]; }"""


@pytest.mark.parametrize("place", PLACES)
def test_every_control_is_reached_by_the_keyboard_and_shows_the_focus(opened, place):
    tab = opened(place)
    tab.wait_for_timeout(1500)
    tab.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    count = tab.evaluate(CONTROLS)
    assert count
    reached, unmarked = set(), set()
    tab.evaluate("document.querySelector('#content').focus()")
    for _ in range(count * 2 + 60):
        tab.keyboard.press("Tab")
        control, is_marked = tab.evaluate(SEEN)
        if control:
            reached.add(control)
            if not is_marked:
                unmarked.add(control)
    assert len(reached) == count, tab.evaluate(
        "seen => [...document.querySelectorAll('[data-control]')]"
        ".filter(e => !seen.includes(e.dataset.control)).map(e => e.outerHTML.slice(0, 200))",
        sorted(reached),
    )
    assert unmarked == set()


@pytest.mark.parametrize("place", PLACES)
def test_a_narrow_window_needs_no_scrolling_to_the_side(opened, place):
    tab = opened(place, viewport={"width": 400, "height": 800})
    tab.wait_for_timeout(800)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
