"""Designs and spreads of ratings in the window: read by what they hold, kept in one column each."""

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.checking import check_grid
from cimento.app.columns import OFFERED, heads_of, is_known, unheeded, with_role
from cimento.app.describing import describe
from cimento.app.editing import set_cells
from cimento.app.frame import Text
from cimento.app.opening import open_grid
from cimento.app.proposing import question_of
from cimento.app.views import view_of
from cimento.app.words import LANGUAGES, said, words
from cimento.intake.roles import ROLES, seen_in
from cimento.intake.table import Table
from cimento.kinds.registry import load_suite
from tests.helpers.app_user import visit
from tests.helpers.grids import grid

DESIGN = [
    ("Quem disse que o padeiro fechou a loja?", "O que disseste que o padeiro fechou?",
     "Quem sorri se o padeiro fecha a loja?", "O que sorris se o padeiro fecha?"),
    ("Quem acha que a vizinha regou as flores?", "O que achas que a vizinha regou?",
     "Quem descansa se a vizinha rega as flores?", "O que descansas se a vizinha rega?"),
    ("Quem sabe que o neto perdeu as chaves?", "O que sabes que o neto perdeu?",
     "Quem se zanga se o neto perde as chaves?", "O que te zangas se o neto perde?"),
]  # fmt: skip
LEVELS = [("curta", "completiva"), ("longa", "completiva"), ("curta", "ilha"), ("longa", "ilha")]
RATED = [
    ("La nonna prepara il sugo.", "6,9", "0,31", "24"),
    ("Il treno parte alle otto.", "6,7", "0,52", "24"),
    ("Ho visto un bel film ieri sera.", "6,4", "0,83", "23"),
    ("La ragazza che gli ho parlato ride.", "2,9", "1,64", "24"),
    ("Domani ieri piove il tetto.", "1,3", "0,48", "22"),
]


def design(name="Série", ids="123", text="Frase"):
    rows = [
        (id_, *levels, sentence)
        for id_, texts in zip(ids, DESIGN, strict=True)
        for levels, sentence in zip(LEVELS, texts, strict=True)
    ]
    return grid((name, "Dependência", "Estrutura", text), *rows)


def roles_shown(made):
    return [head.role for head in heads_of(made, view_of(made, "items"), check_grid(made).read)]


def test_a_design_under_an_unknown_heading_is_read_and_the_menus_say_how():
    made = design()
    assert roles_shown(made) == ["item", "factors", "factors", "sentence"]
    assert "factors" in OFFERED
    assert is_known(made, check_grid(made).findings)


def test_factors_keep_their_names_and_places_whichever_column_is_chosen_as_condition():
    made = design()
    one = with_role(made, "Estrutura", "condition")
    assert check_grid(one).read.roles["factors"] == ("Dependência", "Estrutura")
    assert roles_shown(one) == ["item", "factors", "condition", "sentence"]
    assert "“Estrutura”" in unheeded(one, check_grid(one).read, words("pt"))
    both = with_role(one, "Dependência", "condition")
    assert both.roles == {"factors": "Estrutura", "factors 2": "Dependência"}
    assert roles_shown(both) == ["item", "factors", "factors", "sentence"]
    assert unheeded(both, check_grid(both).read, words("pt")) == ""
    described = describe(both, language="pt")
    assert {"Dependência", "Estrutura"} <= {*described.items.columns}
    assert check_grid(described).read.roles["factors"] == ("Dependência", "Estrutura")


def test_a_set_without_a_known_heading_of_sentences_is_proposed_with_one_button():
    made = design("Grupo", text="Material")
    report = check_grid(made)
    proposal = question_of(made, report.findings)
    assert proposal.kind == "roles"
    assert proposal.choices == ({"item": "Grupo", "sentence": "Material"},)
    assert not is_known(made, report.findings)  # no description before the columns are known
    chosen = with_role(with_role(made, "Grupo", "item"), "Material", "sentence")
    assert check_grid(chosen).read.roles["factors"] == ("Dependência", "Estrutura")
    assert is_known(chosen, check_grid(chosen).findings)


def test_numbers_of_sets_are_refused_as_ratings_in_the_language_of_the_page():
    made = with_role(with_role(design(), "Série", "rating"), "Frase", "sentence")
    report = check_grid(made)
    [wrong] = [one for one in report.findings if one.severity == "error"]
    assert said(wrong.seen, "pt").startswith("A coluna 'Série' numera os conjuntos")
    assert not is_known(made, report.findings)


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
@pytest.mark.parametrize("role", sorted({*OFFERED} & {*ROLES}))
def test_what_a_column_cannot_be_is_said_in_every_language(role, language):
    cells = ["2026-03-01", "2026-03-02", "2026-03-03"]
    made = Table("t.csv", ("Giorno",), range(2, 5), {"Giorno": cells})
    told = said(seen_in(made, "Giorno", role), language)
    assert told is not None
    assert ROLES[role].what not in told


SPREADS = ["DS", "Dev. std.", "Dev. st.", "Deviazione standard", "SD", "DE",
           "desv. est.", "Desviación estándar", "desvio padrão", "Desvio-padrão", "ст. откл.",
           "Std. Dev."]  # fmt: skip


@pytest.mark.parametrize("name", SPREADS)
def test_standard_deviations_are_one_column_before_and_after_the_language_is_set(name):
    made = grid(("Frase", "Giudizio medio (1-7)", name, "N. giudizi"), *RATED)
    read = check_grid(made).read
    assert (read.roles["rating_sd"], read.roles["rating_n"]) == ((name,), ("N. giudizi",))
    assert read.unused == ()
    described = describe(made, language="it")
    assert described.items.width == made.items.width
    assert described.items.values(2) == [row[2] for row in RATED]
    # An edit in that column counts: nothing else holds the number.
    wrong = check_grid(set_cells(described, "items", {(1, 2): "molto"}))
    assert not wrong.usable
    assert any("molto" in one.seen for one in wrong.findings)


def test_a_column_of_standard_deviations_can_be_chosen_in_the_menu():
    made = grid(("Frase", "Giudizio medio (1-7)", "Quanto variano"), *(row[:3] for row in RATED))
    assert check_grid(made).read.unused == ("Quanto variano",)
    chosen = with_role(made, "Quanto variano", "rating_sd")
    read = check_grid(chosen).read
    assert read.roles["rating_sd"] == ("Quanto variano",)
    assert unheeded(chosen, read, words("it")) == ""


def test_what_is_called_a_standard_deviation_and_exceeds_the_ratings_is_none():
    rows = [(text, mean, f"{n}50") for n, (text, mean, *_) in enumerate(RATED, 1)]
    read = check_grid(grid(("Frase", "Giudizio medio (1-7)", "Dev. std."), *rows)).read
    assert "rating_sd" not in read.roles
    assert read.unused == ("Dev. std.",)


def written(folder, name, made, between=";"):
    path = folder / "suites" / name
    path.parent.mkdir(exist_ok=True)
    rows = (between.join(row) + "\n" for row in made.items.rows)
    path.write_text("".join(rows), encoding="utf-8")
    return path


def test_a_table_with_an_apostrophe_is_read_saved_and_said_to_be_superseded(tmp_path):
    written(tmp_path, "ilhas d'água.csv", design())

    async def flow(user):
        await user.open("/pt/edit?suite=suites/ilhas d'água.csv")
        await user.should_see("fatores = “Dependência”, “Estrutura”", retries=100)
        await user.should_see("clique nela duas vezes")
        user.find("Definir a língua").click()
        await user.should_not_see("Definir a língua", retries=100)
        user.find("Salvar na sua pasta").click()
        await user.should_see("suites/ilhas d'água.xlsx foi feito de uma tabela", retries=100)
        await user.open("/pt/start")
        await user.should_see("foi feito de uma tabela que se chama como suites/ilhas d'água.csv")

    visit(tmp_path, flow)
    suite = load_suite(tmp_path / "suites" / "ilhas d'água.xlsx").suite
    assert [*suite.factors] == ["Dependência", "Estrutura"]
    assert suite.meta.name == "ilhas d'água"


def test_what_is_not_read_is_told_with_the_name_of_the_file_and_the_language_is_not_asked(tmp_path):
    rows = [("Riga", "Forma", "Nota"), ("a", "uno", "x"), ("b", "due", "y"), ("c", "tre", "z")]
    path = written(tmp_path, "forme d'uso.csv", grid(*rows))
    opened = open_grid(path, language="it").grid
    [wrong] = [one for one in check_grid(opened).findings if one.severity == "error"]
    assert wrong.where == "forme d'uso.csv"

    async def flow(user):
        await user.open("/it/edit?suite=suites/forme d'uso.csv")
        await user.should_see("forme d'uso.csv", retries=100)
        await user.should_see("Il test non si può", retries=100)
        await user.should_not_see("Imposta la lingua")

    visit(tmp_path, flow)


def test_the_question_of_the_scale_shows_no_heading_as_a_sentence(tmp_path):
    made = grid(("Frase", "Media", "Dev. std.", "N"), *RATED)
    written(tmp_path, "medie.csv", made)

    async def flow(user):
        await user.open("/it/edit?suite=suites/medie.csv")
        await user.should_see("Colonna Media", retries=100)
        shown = {one.text for one in user.find(kind=Text).elements}
        assert "La nonna prepara il sugo." in shown
        assert shown.isdisjoint({"Frase", "Media"})

    visit(tmp_path, flow)
