"""Step 2 in the hands of a user: findings, undo, description, other sheets, saving."""

import shutil

import pytest

from cimento.app.describing import describe
from cimento.app.opening import open_grid
from cimento.app.words import words
from cimento.kinds.registry import load_suite, save_suite
from tests.helpers.app_user import until, visit

pytest.importorskip("nicegui")

from nicegui import ui

from cimento.intake.workbooks import write_sheets

ROWS = [
    ["good", "bad"],
    ["Il cane dorme in cucina.", "Il cane dormono in cucina."],
    ["", "Le rane salta nello stagno."],
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "frasi.xlsx").write_bytes(write_sheets({"Foglio1": ROWS}, where="frasi"))
    save_suite(load_suite("it-subject-verb"), tmp_path / "verbi.xlsx")
    return tmp_path


def grid_of(user):
    """The options of the grid on the page."""
    (grid,) = user.find(ui.aggrid).elements
    return grid


async def seen(user, text):
    await user.should_see(text, retries=200)


def edit(user, row, column, text):
    """Edit a cell as the browser does."""
    grid = grid_of(user)
    (listener,) = [e for e in grid._event_listeners.values() if e.type == "cellValueChanged"]
    grid._handle_event(
        {
            "listener_id": listener.id,
            "args": {"rowId": str(row), "colId": f"c{column}", "newValue": text},
        }
    )


def test_a_fault_is_named_beside_its_row_and_goes_when_it_is_mended(folder):
    async def flow(user):
        await user.open("/en/edit?suite=frasi.xlsx")
        await seen(user, "Errors: 1")
        rows = grid_of(user).options["rowData"]
        assert [row["mark"] for row in rows] == ["", "error"]
        assert rows[1]["named"] == {"c0": "error"}
        await user.should_see("Items, row 3")
        edit(user, 2, 0, "Le rane saltano nello stagno.")
        await seen(user, "The test can be used.")
        assert [row["c0"] for row in grid_of(user).options["rowData"]] == [
            "Il cane dorme in cucina.", "Le rane saltano nello stagno.",
        ]  # fmt: skip
        user.find("Undo").click()
        await seen(user, "Errors: 1")
        user.find("Redo").click()
        await seen(user, "The test can be used.")

    visit(folder, flow)


def test_a_table_whose_names_say_nothing_is_asked_which_column_is_which(folder):
    rows = [["frase 1", "frase 2"], ["Il cane dormono.", "Il cane dorme."], ["", ""]]
    (folder / "refusi.xlsx").write_bytes(write_sheets({"Foglio1": rows}, where="refusi"))

    async def flow(user):
        await user.open("/it/edit?suite=refusi.xlsx")
        await seen(user, "Quale colonna ha le frasi buone")
        await user.should_see("Colonna frase 1")
        good, bad = (
            next(e for e in user.find(ui.select).elements if e.props["label"] == label)
            for label in ("Frasi buone", "Frasi cattive")
        )
        (use,) = user.find("Usa queste colonne").elements
        assert (good.value, bad.value, use.enabled) == (None, None, False)
        good.value = 1
        assert (bad.value, use.enabled) == (0, True)
        user.find("Usa queste colonne").click()
        await seen(user, "Il test si può usare.")
        await user.should_not_see("Quale colonna ha le frasi buone")
        assert grid_of(user).options["rowData"][0]["c1"] == "Il cane dorme."

    visit(folder, flow)


MESSY = [
    ["N.", "Frase A", "Frase B", "Frase C", "Punti"],
    ["1", "Il cane dorme in cucina.", "Il cane dormono in cucina.", "Un cane dorme.", "5"],
    ["2", "La zia legge un libro.", "La zia leggono un libro.", "Zia legge.", "3"],
    ["Totale", "", "", "", "8"],
]


def choose(user, column, role):
    """Choose a role in the menu above a column as the browser does."""
    grid = grid_of(user)
    (holder,) = (e for e in user.find(ui.element).elements if "grid-holder" in e.classes)
    (listener,) = [e for e in holder._event_listeners.values() if e.type == "role"]
    assert ":headerComponent" in grid.options["columnDefs"][1 + column]
    holder._handle_event(
        {"listener_id": listener.id, "args": {"column": f"c{column}", "role": role}}
    )


def test_the_menu_above_a_column_says_what_it_is(folder):
    (folder / "prove.xlsx").write_bytes(write_sheets({"Foglio1": MESSY}, where="prove"))

    async def flow(user):
        await user.open("/it/edit?suite=prove.xlsx")
        await seen(user, "Quale colonna ha le frasi buone")
        choose(user, 1, "good")
        choose(user, 4, "bad")
        await seen(user, "La colonna 'Punti' contiene numeri")
        await user.should_see("Prendi le colonne come scelte")
        choose(user, 2, "bad")
        await seen(user, "Letto come coppie: frasi buone = «Frase A», frasi cattive = «Frase B»")
        await user.should_see(
            "altre colonne, che restano accanto agli item e non influiscono sul punteggio:"
            " «Frase C», «Punti»; righe tralasciate: 4."
        )
        await user.should_not_see("Quale colonna ha le frasi buone")
        heads = grid_of(user).options["columnDefs"][1:]
        assert [head["headerComponentParams"]["role"] for head in heads] == [
            "item", "good", "bad", "", "",
        ]  # fmt: skip
        user.find("Salva nella tua cartella").click()
        await seen(user, "Salvato")

    visit(folder, flow)
    suite = load_suite(folder / "prove.xlsx").suite
    texts = [[c.regions[0].text for c in item.conditions] for item in suite.items]
    assert texts == [[row[1], row[2]] for row in MESSY[1:3]]


def test_a_choice_that_has_no_effect_is_said_to_have_none(folder):
    rows = [["good", "bad", "voto"], *([row[1], row[2], row[4]] for row in MESSY[1:3])]
    (folder / "coppie.xlsx").write_bytes(write_sheets({"Foglio1": rows}, where="coppie"))

    async def flow(user):
        await user.open("/it/edit?suite=coppie.xlsx")
        await seen(user, "Letto come coppie")
        choose(user, 2, "rating")
        await seen(user, "La tua scelta «voto» = giudizi per ora non ha effetto")
        choose(user, 2, "")
        await user.should_not_see("per ora non ha effetto", retries=200)
        choose(user, 0, "")
        await seen(user, "La colonna «good» è ancora letta come frasi buone")
        heads = grid_of(user).options["columnDefs"][1:]
        assert [head["headerComponentParams"]["role"] for head in heads] == ["good", "bad", ""]

    visit(folder, flow)


def test_an_empty_workbook_opens_as_a_table_to_fill(folder):
    (folder / "vuoto.xlsx").write_bytes(write_sheets({"Foglio1": []}, where="vuoto"))

    async def flow(user):
        await user.open("/it/edit?suite=vuoto.xlsx")
        await seen(user, "Aggiungi almeno un item.")
        names = [column["headerName"] for column in grid_of(user).options["columnDefs"]]
        assert names == ["Riga", "accettabile", "inaccettabile"]

    visit(folder, flow)


def test_the_advice_of_a_check_is_in_the_language_of_the_page(folder):
    async def flow(user):
        for language, advice in (
            ("es", "Escribe la oración, o quita la fila."),
            ("ru", "Напишите предложение или уберите строку."),
        ):
            await user.open(f"/{language}/edit?suite=frasi.xlsx")
            await seen(user, advice)
            await user.should_not_see("Write the sentence")

    visit(folder, flow)


def test_a_described_table_is_called_as_its_file_is(folder):
    path = folder / "мои примеры (черновик).xlsx"
    path.write_bytes(write_sheets({"Foglio1": ROWS[:2]}, where="frasi"))
    described = describe(open_grid(path).grid, language="it")
    assert described.settings()["name"] == described.name == path.stem


FAULTY = {
    "about": [
        ["setting", "value"], ["name", "prova"], ["language", "italiano"],
        ["regions", "soggetto | verbo"], ["factors.number", "sg | pl"], ["canary", "abc"],
    ],
    "items": [
        ["item", "condition", "text", "number"],
        ["1", "match", "Il cane  dorme | dorme.", "sg"], ["1", "mism atch", "il cane", "due"],
        ["2", "match", "Il perchÃ© | è chiaro.", "sg"], ["2", "match", "", "pl"],
        ["", "mismatch", "L’albero | sono alti.", "pl"], ["3", "match", "L'albero | è alto.", "sg"],
    ],
    "predictions": [
        ["name", "formula"], ["one", "(2;%match%) <= (2;%mismatch%)"],
        ["two", "(4;%match%) < (2;%matc%)"],
    ],
}  # fmt: skip


@pytest.mark.parametrize("language", ["it", "es", "pt", "ru"])
def test_nothing_that_the_checks_find_is_in_english_on_a_page_that_is_not(folder, language):
    (folder / "errori.xlsx").write_bytes(write_sheets(FAULTY, where="errori"))
    say = words(language)

    async def flow(user):
        await user.open(f"/{language}/edit?suite=errori.xlsx")
        await seen(user, say("edit.error"))
        shown = [element for element in user.client.elements.values() if "seen" in element.classes]
        assert len(shown) > 12
        # The link to the page in English is the only thing that is said to be in English.
        english = [e for e in user.client.elements.values() if e.props.get("lang") == "en"]
        assert [element.props.get("hreflang") for element in english] == ["en"]

    visit(folder, flow)


def test_a_bare_table_gets_a_description_and_is_saved_where_it_was(folder):
    async def flow(user):
        await user.open("/it/edit?suite=frasi.xlsx")
        edit(user, 2, 0, "Le rane saltano nello stagno.")
        await seen(user, "Il test si può usare.")
        user.find("Imposta la lingua").click()
        await user.should_see(ui.toggle, retries=200)
        user.find("Salva nella tua cartella").click()
        await until(lambda: user.notify.messages != [])
        assert user.notify.messages == ["Salvato: frasi.xlsx"]

    visit(folder, flow)
    saved = load_suite(folder / "frasi.xlsx").suite
    assert saved.meta.language == "it"
    assert [len(item.conditions) for item in saved.items] == [2, 2]


def test_a_description_can_be_undone_while_its_sheet_is_shown(folder):
    async def flow(user):
        await user.open("/en/edit?suite=frasi.xlsx")
        await seen(user, "Errors: 1")
        user.find("Set the language").click()
        await user.should_see(ui.toggle, retries=200)
        (toggle,) = user.find(ui.toggle).elements
        toggle.value = "about"
        user.find("Undo").click()
        await user.should_not_see(ui.toggle, retries=200)
        await user.should_see("Set the language")
        assert [row["number"] for row in grid_of(user).options["rowData"]] == ["2", "3"]
        user.find("Redo").click()
        await user.should_see(ui.toggle, retries=200)

    visit(folder, flow)


def test_sheets_and_views_change_what_the_grid_shows(folder):
    async def flow(user):
        await user.open("/en/edit?suite=verbi.xlsx")
        await seen(user, "No problems found.")
        names = [column["headerName"] for column in grid_of(user).options["columnDefs"]]
        assert names == ["Row", "item", "condition", "text", "number"]
        (switch,) = user.find(ui.switch).elements
        switch.value = True
        names = [column["headerName"] for column in grid_of(user).options["columnDefs"]]
        assert names == ["Row", "item", "match", "mismatch_number", "mismatch_person", "number"]
        (toggle,) = user.find(ui.toggle).elements
        toggle.value = "predictions"
        names = [column["headerName"] for column in grid_of(user).options["columnDefs"]]
        assert names == ["Row", "name", "formula", "comment"]

    visit(folder, flow)


def test_a_column_is_added_after_another_with_a_name(folder):
    async def flow(user):
        await user.open("/en/edit?suite=frasi.xlsx")
        await seen(user, "Errors: 1")
        user.find(kind=ui.button, content="Columns").click()
        await seen(user, "New name")
        user.find("New name").type("note")
        user.find("Add a column after it").click()
        await until(lambda: "note" in names_in(grid_of(user)))
        assert names_in(grid_of(user)) == ["Row", "good", "note", "bad"]

    visit(folder, flow)


def names_in(grid):
    return [column["headerName"] for column in grid.options["columnDefs"]]


def test_two_tabs_do_not_overwrite_each_other_unnoticed(folder):
    shutil.copy(folder / "verbi.xlsx", folder / "copia.xlsx")

    async def flow(user):
        await user.open("/en/edit?suite=copia.xlsx")
        await seen(user, "No problems found.")
        shutil.copy(folder / "frasi.xlsx", folder / "copia.xlsx")
        user.find("Save in your folder").click()
        await user.should_see("changed meanwhile", kind=ui.notification, retries=200)

    visit(folder, flow)
    assert not open_grid(folder / "copia.xlsx").grid.described


def test_a_built_in_suite_is_edited_as_a_copy(folder):
    async def flow(user):
        await user.open("/en/edit?suite=it-subject-verb")
        await seen(user, "No problems found.")
        user.find("Save in your folder").click()
        await until(lambda: user.notify.messages != [])
        assert user.notify.messages == ["Saved: suites/it-subject-verb.xlsx"]

    visit(folder, flow)
    assert load_suite(folder / "suites" / "it-subject-verb.xlsx").suite.name == "it-subject-verb"


def test_the_audit_tells_what_gives_an_answer_away(folder):
    async def flow(user):
        await user.open("/ru/edit?suite=verbi.xlsx")
        await seen(user, "Проблем не найдено.")
        user.find("Поискать подсказки").click()
        await seen(user, "Слов в среднем")
        await user.should_see("mismatch_number")

    visit(folder, flow)


def test_a_suite_that_is_not_there_or_outside_is_refused_on_the_page(folder):
    async def flow(user):
        for name in ("none.xlsx", "../../etc/passwd", "/etc/hostname"):
            await user.open(f"/en/edit?suite={name}")
            await user.should_see("This did not work")
            await user.should_see("frasi.xlsx")

    visit(folder, flow)


def test_without_a_suite_there_is_a_choice(folder):
    async def flow(user):
        await user.open("/es/edit")
        await user.should_see("Elige la prueba que quieres editar.")
        await user.should_see("verbi.xlsx")

    visit(folder, flow)


def test_a_folder_that_cannot_be_written_is_told(folder):
    (folder / "suites").write_text("no folder", encoding="utf-8")

    async def flow(user):
        await user.open("/en/edit?suite=it-subject-verb")
        await seen(user, "No problems found.")
        user.find("Save in your folder").click()
        await user.should_see("cannot be written", kind=ui.notification, retries=200)

    visit(folder, flow)


@pytest.mark.parametrize("name", ["Oraciones", "sentence", "El niño duerme."])
def test_a_column_of_sentences_gets_one_for_ratings(tmp_path, name):
    rows = [[name], ["La niña canta."], ["El perro ladra mucho."], ["Los gatos comen."]]
    (tmp_path / "lista.xlsx").write_bytes(write_sheets({"Hoja1": rows}, where="lista"))

    async def flow(user):
        await user.open("/es/edit?suite=lista.xlsx")
        await seen(user, "Añadir una columna para las valoraciones de personas")
        user.find("Añadir una columna para las valoraciones de personas").click()
        await until(lambda: "rating" in str(grid_of(user).options["columnDefs"]), seconds=5)
        assert "sentence" in str(grid_of(user).options["columnDefs"])
        await user.should_not_see("Añadir una columna para las valoraciones de personas")
        await user.should_not_see(kind=ui.notification)

    visit(tmp_path, flow)


def test_ratings_without_a_scale_are_asked_for_its_ends_in_the_window(folder):
    rows = [["Frase", "Giudizio"], [MESSY[1][1], "34"], [MESSY[2][2], "81"]]
    (folder / "voti.xlsx").write_bytes(write_sheets({"Foglio1": rows}, where="voti"))

    async def flow(user):
        await user.open("/it/edit?suite=voti.xlsx")
        await seen(user, "Questi giudizi non dicono su quale scala sono")
        fields = {field.props.get("label"): field for field in user.find(ui.number).elements}
        fields["Il peggiore"].value, fields["Il migliore"].value = 0, 100
        user.find("Imposta la scala").click()
        await user.should_not_see("Questi giudizi non dicono", retries=200)
        await seen(user, "Lingua delle frasi")
        user.find("Imposta la lingua").click()
        await seen(user, "Salva nella tua cartella")
        await user.should_not_see("Lingua delle frasi", retries=200)
        names = [column["headerName"] for column in grid_of(user).options["columnDefs"]]
        assert names == ["Riga", "Frase", "Giudizio"]
        user.find("Salva nella tua cartella").click()
        await seen(user, "Salvato")

    visit(folder, flow)
    load_suite(folder / "voti.xlsx")
    settings = open_grid(folder / "voti.xlsx").grid.settings()
    assert (settings["ratings.low"], settings["ratings.high"]) == ("0", "100")
