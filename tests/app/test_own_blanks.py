"""Tables of blanks as people bring them, in the window, when their language is set."""

from dataclasses import replace

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.checking import check_grid
from cimento.app.columns import role_name, roles_in
from cimento.app.describing import describe
from cimento.app.words import LANGUAGES, words
from tests.helpers.grids import grid


@pytest.mark.parametrize("is_chosen", [True, False])
def test_full_sentences_and_their_words_are_called_as_before_when_their_language_is_set(is_chosen):
    head = ("Item", "Frase completa", "Parola critica", "Rivale", "Tipo di errore")
    made = replace(
        grid(
            head,
            ("it1", "I vicini hanno un'auto.", "hanno", "ha", "genere"),
            ("it2", "La torta è buona.", "buona", "buono", "genere"),
            ("it3", "La zia chiama ___ nonna.", "la", "lo", "genere"),
        ),
        words="it",
    )
    if is_chosen:
        roles = ("item", "sentence", "target", "implausible", "phenomenon")
        made = replace(made, roles=dict(zip(roles, head, strict=True)))
    described = describe(made, language="it")
    assert described.items.columns == head
    assert described.items.rows[1] == made.items.rows[1]
    (warning,) = check_grid(described).findings
    assert (warning.code, warning.rows) == ("CIM-C021", (1,))
    assert "'Parola critica'" in warning.seen


def test_a_list_with_the_right_word_keeps_its_heading_and_faults_without_ids_have_rows():
    made = grid(
        ("Frase", "Opzioni", "Corretta"),
        ("Il treno è ___.", "partito, partita", "partito"),
        ("Anna ___ a Roma.", "abita, abitano", "abita"),
    )
    assert describe(made, language="it").items.columns == made.items.columns
    twice = grid(
        ("frase", "risposta", "implausibile"),
        ("Il treno è ___.", "partito", "partita"),
        ("Anna ___ a Roma.", "abita", "abita"),
        ("Eva ___ qui.", "sta", "sto"),
    )
    found = {finding.code: finding.rows for finding in check_grid(twice).findings}
    assert found["CIM-C007"] == (2,)


OF_BLANKS = ("item", "sentence", "target", "implausible", "phenomenon")
"""The roles in the menus above the columns of such a table."""
ROWS = (
    ("1", "I vicini ___ un'auto.", "hanno", "ha", "verbo"),
    ("2", "La torta è ___.", "buona", "buono", "genere"),
    ("3", "Le zie ___ la nonna.", "chiamano", "chiama", "verbo"),
)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("is_full", [True, False])
def test_what_the_menus_call_the_columns_is_read_as_a_heading(code, is_full):
    say = words(code)
    head = tuple(role_name(role, say).capitalize() for role in OF_BLANKS)
    rows = [
        (number, text.replace("___", right) if is_full else text, right, *rest)
        for number, text, right, *rest in ROWS
    ]
    made = grid(head, *rows)
    checked = check_grid(made)
    assert [one.code for one in checked.findings if one.severity == "error"] == []
    read = roles_in(checked.read)
    assert {role: read[role] for role in OF_BLANKS} == {
        role: (name,) for role, name in zip(OF_BLANKS, head, strict=True)
    }


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Palavra-alvo", "Rival"),
        ("Palavra-alvo", "Distrator"),
        ("Palavra-alvo", "Palavra errada"),
        ("Palavra crítica", "Palavra rival"),
        ("Palavra crítica", "Concorrente"),
        ("Parola bersaglio", "Concorrente"),
        ("Palabra meta", "Competidor"),
        ("Целевое слово", "Конкурент"),
        ("Target word", "Competitor"),
    ],
)
@pytest.mark.parametrize("is_full", [True, False])
def test_other_names_for_the_right_word_and_its_rival_are_known(right, wrong, is_full):
    rows = [
        (text.replace("___", due) if is_full else text, due, rival)
        for _, text, due, rival, _ in ROWS
    ]
    checked = check_grid(grid(("Frase", right, wrong), *rows))
    read = roles_in(checked.read)
    assert (read["target"], read["implausible"]) == ((right,), (wrong,))
    assert not any(one.severity == "error" for one in checked.findings)


def test_codes_are_items_and_are_not_taken_for_options():
    head = ("Código", "Frase", "Palavra-alvo", "Rival")
    rows = [(f"S{number}", *rest) for number, *rest, _ in ROWS]
    checked = check_grid(grid(head, *rows))
    assert roles_in(checked.read)["item"] == ("Código",)
    assert not any(one.code == "CIM-C017" for one in checked.findings)
    other = check_grid(grid(("Etiqueta", *head[1:]), *rows))
    assert not any(one.code == "CIM-C017" for one in other.findings)


def test_chosen_roles_of_blanks_decide_beside_a_column_of_conditions():
    roles = ("sentence", "target", "implausible")
    head = ("Frase", "W1", "W2", "Condição")
    rows = [
        (text.replace("___", right), right, wrong, kind)
        for _, text, right, wrong, kind in (*ROWS, ("4", "Eva ___.", "dorme", "dormi", "verbo"))
    ]
    made = grid(head, *rows)
    (refused,) = check_grid(made).findings
    assert "sentence=Frase,target=W1,implausible=W2" in refused.todo
    read = check_grid(replace(made, roles=dict(zip(roles, head, strict=False)))).read
    assert [roles_in(read)[role] for role in roles] == [(name,) for name in head[:3]]
