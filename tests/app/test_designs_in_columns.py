"""Designs whose cells are columns or labels: what the page asks, and where it marks a slip."""

from dataclasses import replace

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui

from cimento.app.checking import check_grid
from cimento.app.conditions import cells_in, factors_of, with_least
from cimento.app.describing import describe, with_names_of_factors, with_plain_levels
from cimento.app.opening import open_grid, write_grid
from cimento.app.proposing import with_roles
from cimento.app.words import LANGUAGES, advice_of, words
from cimento.kinds.registry import load_suite
from tests.helpers.app_user import visit
from tests.helpers.grids import SETS, asked, grid, stored

TEXTS = (
    "¿Quién cree que {} {} {}?", "¿Qué cree Ana que {1} {0}?",
    "¿Quién se enfada si {} {} {}?", "¿Qué se enfada Ana si {1} {0}?",
)  # fmt: skip
KNOWN = ("Control, matriz", "Control, subordinada", "Complejo, matriz", "Complejo, subordinada")
OPEN = ("Que, sujeto", "Que, objeto", "SN complejo, sujeto", "SN complejo, objeto")
LETTERS = ("A", "B", "C", "D")


def sentences():
    return [[text.format(*of) for text in TEXTS] for of in SETS]


def wide(names, *, item="Ítem", slip=()):
    rows = sentences()
    for row, column, text in slip:
        rows[row][column] = text
    return grid((item, *names), *((str(n), *texts) for n, texts in enumerate(rows, 1)))


def long(names, *, head=("Ítem", "Condición", "Oración")):
    return grid(
        head,
        *((str(n), name, text) for n, texts in enumerate(sentences(), 1)
          for name, text in zip(names, texts, strict=True)),
    )  # fmt: skip


def saved(made, tmp_path):
    return load_suite(write_grid(made, tmp_path / "suite.xlsx")).sentences


# --- Names of factors


@pytest.mark.parametrize("form", [wide, long])
def test_the_factors_of_a_design_without_names_for_them_get_those_that_somebody_types(
    tmp_path, form
):
    made = form(KNOWN)
    question = asked(made)
    assert question.kind == "called"
    assert question.factors == {
        "first_factor": ("Control", "Complejo"), "second_factor": ("matriz", "subordinada"),
    }  # fmt: skip
    names = {"first_factor": "Isla", "second_factor": "Distancia"}
    called = with_names_of_factors(made, names)
    assert check_grid(called).usable
    assert asked(called) is None
    suite = saved(called, tmp_path)
    assert suite.factors == {
        "Isla": ("Control", "Complejo"), "Distancia": ("matriz", "subordinada"),
    }  # fmt: skip
    assert len(suite.predictions) == 4
    assert suite.predictions[0].comment.endswith("(DD > 0) of Isla and Distancia.")
    levels = {one.name: one.columns for one in suite.items[3].conditions}
    assert levels["Complejo_matriz"].items() >= {"Isla": "Complejo", "Distancia": "matriz"}.items()


@pytest.mark.parametrize(
    ("names", "factors"),
    [(("No isla, corta", "No isla, larga", "Isla, corta", "Isla, larga"),
      {"estructura": ("No-isla", "Isla"), "distancia": ("corta", "larga")}),
     (("curta sem ilha", "longa sem ilha", "curta ilha", "longa ilha"),
      {"distância": ("curta", "longa"), "estrutura": ("sem-ilha", "ilha")}),
     (("breve senza isola", "lunga senza isola", "breve isola", "lunga isola"),
      {"distanza": ("breve", "lunga"), "struttura": ("senza-isola", "isola")})],
)  # fmt: skip
@pytest.mark.parametrize("form", [wide, long])
def test_words_for_levels_name_their_factors_so_that_nothing_is_asked(
    tmp_path, form, names, factors
):
    made = form(names)
    assert asked(made) is None
    assert saved(made, tmp_path).factors == factors


@pytest.mark.parametrize("form", [wide, long])
@pytest.mark.parametrize("is_described", [False, True])
def test_the_worst_cell_and_the_names_of_the_factors_are_asked_together(
    tmp_path, form, is_described
):
    made = form(OPEN)
    made = describe(made, language="es") if is_described else made
    assert asked(made).kind == "worst"
    cell = cells_in(factors_of(made))["SN-complejo, objeto"]
    designed = with_plain_levels(made, cell, {"first_factor": "Isla"})
    assert check_grid(designed).usable
    suite = saved(designed, tmp_path)
    assert suite.factors == {"Isla": ("Que", "SN-complejo"), "second_factor": ("sujeto", "objeto")}
    assert suite.predictions[0].formula == (
        "((*;%SN-complejo_objeto%) - (*;%Que_objeto%))"
        " - ((*;%SN-complejo_sujeto%) - (*;%Que_sujeto%)) > 0"
    )


def test_predictions_of_ones_own_stay_where_factors_get_other_names(tmp_path):
    made = describe(wide(OPEN), language="es")
    made = with_least(made, "Que_objeto", ("Que_sujeto", "Que_objeto"))
    suite = saved(made, tmp_path)
    from cimento.suites.renamed_factors import with_factors_called

    given = replace(suite, factors={"first_factor": ("Que", "SN-complejo")})
    called = with_factors_called(given, {"first_factor": "Isla"})
    assert [*called.factors] == ["Isla"]
    assert [one.formula for one in called.predictions] == ["(*;%Que_sujeto%) < (*;%Que_objeto%)"]


def test_the_page_asks_for_names_beside_the_worst_cell(tmp_path):
    stored(wide(OPEN), tmp_path / "suites" / "islas.csv")

    async def flow(user):
        await user.open("/es/edit?suite=suites/islas.csv")
        await user.should_see("Dos factores están cruzados", retries=100)
        fields = {one.props["label"]: one for one in user.find(kind=ui.input).elements}
        first, second = (
            fields[f"Nombre del factor {levels}"]
            for levels in ("Que / SN-complejo", "sujeto / objeto")
        )
        first.set_value("Ítem")
        assert first.error == "Ya hay una columna con este nombre."
        first.set_value("Isla")
        assert not first.error
        second.set_value("Hueco")
        user.find("Las menos aceptables: SN-complejo, objeto").click()
        await user.should_see("donde Isla es SN-complejo y Hueco es objeto", retries=100)

    visit(tmp_path, flow)


# --- Columns whose names tell nothing


def test_columns_without_telling_names_are_proposed_as_a_condition_each(tmp_path):
    made = wide(LETTERS)
    proposal = asked(made)
    assert proposal.kind == "roles"
    chosen = with_roles(made, proposal.choices[0])
    report = check_grid(chosen)
    assert report.usable
    assert report.read.roles["conditions"] == LETTERS
    question = asked(chosen)
    assert (question.kind, question.conditions) == ("least", LETTERS)
    suite = saved(with_least(chosen, "D", LETTERS), tmp_path)
    assert [one.formula for one in suite.predictions] == [
        f"(*;%{name}%) < (*;%D%)" for name in "ABC"
    ]
    assert [one.regions[0].text for one in suite.items[1].conditions] == sentences()[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_of_such_columns_names_the_role_once_in_the_language(language):
    [finding] = check_grid(wide(LETTERS)).findings
    told = advice_of(finding.todo, language)
    role = words(language).named("role", "conditions")
    names = ", ".join(map(words(language).quoted, "ABCD"))
    assert f"{role} = {names}" in told
    assert "conditions" not in told.replace(role, "").replace("each of these columns", "")


def test_it_is_said_that_such_conditions_give_no_dd(tmp_path):
    stored(long("abcd"), tmp_path / "suites" / "letras.csv")

    async def flow(user):
        await user.open("/es/edit?suite=suites/letras.csv")
        await user.should_see("así que no se calcula el DD", retries=100)

    visit(tmp_path, flow)


# --- Which columns are what


@pytest.mark.parametrize("head", ["Gruppo", "Grupo", "Группа", "Group", "Lista"])
def test_a_group_with_each_condition_once_is_the_item(head):
    read = check_grid(long(KNOWN, head=(head, "Condición", "Oración"))).read
    assert read.roles["item"] == (head,)
    made = wide(KNOWN, item=head)
    assert check_grid(made).read.roles["item"] == (head,)
    assert asked(long("abcd", head=(head, "Condizione", "Frase"))).kind == "least"


@pytest.mark.parametrize(
    ("factor", "sentence"),
    [("Oración", "Ejemplo"), ("Frase", "Esempio"), ("Frase", "Exemplo"),
     ("Предложение", "Пример"), ("Text", "Example")],
)  # fmt: skip
def test_kinds_of_clauses_are_a_factor_whatever_their_heading(factor, sentence):
    levels = [("completiva", "corta"), ("completiva", "larga"), ("isla", "corta"),
              ("isla", "larga")]  # fmt: skip
    made = grid(
        ("Ítem", factor, "Distancia", sentence),
        *((str(n), *both, text) for n, texts in enumerate(sentences(), 1)
          for both, text in zip(levels, texts, strict=True)),
    )  # fmt: skip
    read = check_grid(made).read
    assert read.roles["factors"] == (factor, "Distancia")
    assert read.roles["sentence"] == (sentence,)


# --- Slips


@pytest.mark.parametrize("names", [KNOWN, LETTERS])
def test_a_slip_is_marked_in_the_cell_of_its_sentence(names):
    cells = sentences()
    slip = [(1, 2, f"*{cells[1][2]}"), (2, 1, f"{cells[2][1]} "), (4, 3, cells[4][3][:-1])]
    made = wide(names, slip=slip)
    if names is LETTERS:
        made = with_roles(made, asked(made).choices[0])
    found = {(one.code, one.rows, one.column) for one in check_grid(made).findings if one.rows}
    assert found >= {
        ("CIM-S061", (2,), 3), ("CIM-S040", (3,), 2), ("CIM-S053", (5,), 4),
    }  # fmt: skip


def test_the_sentence_that_an_item_lacks_is_marked_where_it_should_stand():
    found = check_grid(wide(KNOWN, slip=[(3, 1, "")])).findings
    [lacking] = [one for one in found if one.code == "CIM-S012"]
    assert (lacking.rows, lacking.column) == ((4,), 2)


def test_a_described_table_marks_a_slip_in_its_cell_too(tmp_path):
    made = wide(KNOWN, slip=[(2, 1, "¿Qué cree Ana que pintó  mi prima?")])
    described = describe(made, language="es")
    opened = open_grid(write_grid(described, tmp_path / "islas.xlsx")).grid
    [double] = [one for one in check_grid(opened).findings if one.code == "CIM-S041"]
    assert (double.rows, double.column) == ((3,), 2)
