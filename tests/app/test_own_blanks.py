"""Tables of blanks as people bring them, in the window, when their language is set."""

from dataclasses import replace

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.checking import check_grid
from cimento.app.columns import OFFERED, heads_of, role_name, roles_in, with_role
from cimento.app.describing import describe, write_grid
from cimento.app.views import view_of
from cimento.app.words import LANGUAGES, said, words
from cimento.kinds.registry import load_suite
from cimento.suites.workbook_words import ITEMS
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


FAULTY = (
    ("Os meninos ___ cansados.", "estavam", "estavam; estava", "concordância"),
    ("Talvez ela ___ amanhã ___.", "venha", "venha; vem", "modo"),
    ("As portas ___ abertas.", "ficaram", "ficaram; ficou; ficou", "concordância"),
    ("O preço ___ muito.", "Subiu", "subiu; sobe", "concordância"),
    ("", "mora", "mora; moram", "modo"),
    ("A casa ___ longe.", "fica", "fica; ficam", "modo"),
    ("Se eu ___ dinheiro, viajaria.", "tivesse", "tivesse; tinha", "modo"),
    ("Espero que eles ___.", "digam", "digam; dizem", "modo"),
)
SAID_OF_FAULTY = (
    (2, "CIM-C001", "2 blanks"),
    (3, "CIM-C007", "'ficou' is twice in 'Opções'"),
    (4, "CIM-C019", "'Subiu' is written 'subiu' in 'Opções'"),
    (5, "CIM-C001", "The sentence is empty."),
)


@pytest.mark.parametrize("code", LANGUAGES)
def test_each_mistake_in_a_table_of_options_is_said_once_with_its_row(code):
    rows = [(f"B{n}", *row) for n, row in enumerate(FAULTY, 1)]
    made = grid(("Código", "Frase", "Palavra certa", "Opções", "Tipo"), *rows)
    checked = check_grid(made)
    named = [(one.rows, one.code, one.seen) for one in checked.findings if one.rows]
    assert len(named) == len(SAID_OF_FAULTY)
    for row, fault, seen in SAID_OF_FAULTY:
        (found,) = [said for rows, known, said in named if (rows, known) == ((row,), fault)]
        assert seen in found
    texts = [text for one in checked.findings if one.rows for text in (one.seen, one.todo)]
    assert all(code == "en" or said(text, code) for text in texts)


def test_full_sentences_without_word_or_with_its_capital_are_said_with_their_rows():
    rows = [
        ("O menino comprou uma rede.", "rede", "sopa"),
        ("A moça leu a carta.", "", "nuvem"),
        ("O médico deu um remédio.", "remédio", "Remédio"),
        ("O gato viu a porta.", "porta", "lua"),
        ("As flores murcharam cedo.", "murcharam", "murchou"),
    ]
    found = check_grid(grid(("Frase", "Palavra-alvo", "Rival"), *rows)).findings
    by_row = {(one.code, one.rows): one.seen for one in found if one.code != "CIM-C021"}
    assert "neither a blank nor a word in 'Palavra-alvo': 3" in by_row["CIM-C001", (2,)]
    assert "'remédio' and 'Remédio' differ in nothing" in by_row["CIM-C019", (3,)]


@pytest.mark.parametrize("kind", ["Tipo", "Condição", "Categoria", "Тип"])
@pytest.mark.parametrize("is_full", [True, False])
def test_few_words_that_come_again_beside_blanks_are_phenomena(kind, is_full):
    rows = [
        (f"S{n}", text.replace("___", due) if is_full else text, due, wrong, "ab"[n % 2] * 4)
        for n, (_, text, due, wrong, _) in enumerate((*ROWS, *ROWS), 1)
    ]
    head = ("Código", "Frase", "Palavra-alvo", "Rival", kind)
    checked = check_grid(grid(head, *rows))
    assert roles_in(checked.read)["phenomenon"] == (kind,)
    assert not any(one.severity == "error" for one in checked.findings)
    each = [(*row[:4], f"nota {n}") for n, row in enumerate(rows)]
    if not is_full:
        assert "phenomenon" not in roles_in(check_grid(grid(head, *each)).read)


def test_codes_of_which_one_comes_twice_are_items_and_the_second_is_an_error():
    rows = [(f"S{n}", *row[1:4]) for n, row in enumerate((*ROWS, *ROWS), 1)]
    rows[5] = ("S1", *rows[5][1:])
    found = check_grid(grid(("Código", "Frase", "Palavra-alvo", "Rival"), *rows))
    assert roles_in(found.read)["item"] == ("Código",)
    (twice,) = [one for one in found.findings if one.code == "CIM-C004"]
    assert (twice.rows, twice.seen) == ((1, 6), "'S1' names the items of 2 rows: 2, 7.")


FREQUENT = (
    ("F1", "O cachorro ___ atrás do gato.", "correu", "correu; miou", "alta"),
    ("F2", "A professora escreveu no ___.", "quadro", "quadro; mar", "alta"),
    ("F3", "O ferreiro bateu na ___.", "bigorna", "bigorna; sopa", "baixa"),
    ("F4", "A rendeira perdeu o ___.", "bilro", "bilro; trovão", "baixa"),
)
HEAD = ("Código", "Frase", "Resposta", "Opções", "Frequência")


def test_a_column_chosen_as_phenomena_keeps_its_heading_in_what_is_run(tmp_path):
    made = with_role(grid(HEAD, *FREQUENT), "Frequência", "phenomenon")
    described = describe(made, language="pt")
    (path,) = [write_grid(described, tmp_path / "lacunas.xlsx")]
    items = load_suite(path).suite.items
    assert [item.columns for item in items] == [{"Frequência": row[-1]} for row in FREQUENT]
    assert not check_grid(described).findings  # a list of options that has the due one is sound


def test_a_wrong_role_changes_no_other_menu_and_never_ends_the_page():
    made = grid(HEAD, *FREQUENT)
    read = check_grid(made).read
    view = view_of(made, ITEMS, wide=False)
    before = dict(zip(HEAD, (head.role for head in heads_of(made, view, read)), strict=True))
    assert before == dict(zip(HEAD, ("item", "sentence", "target", "implausible", ""), strict=True))
    for column in HEAD:
        for role in OFFERED:
            chosen = with_role(made, column, role)
            report = check_grid(chosen)
            heads = heads_of(chosen, view, report.read or read)
            roles = dict(zip(HEAD, (head.role for head in heads), strict=True))
            if report.read is None:
                taken = {name for name, was in before.items() if was == role}
                assert roles == {**before, **dict.fromkeys(taken, ""), column: role}
            named = [one.seen for one in report.findings if "with the columns" in one.seen]
            assert all(seen.endswith(", ".join(HEAD)) for seen in named)


def test_advice_on_a_wrong_role_names_the_heading():
    rows = [row[:3] for row in FREQUENT]
    made = with_role(grid(("Item", *HEAD[1:3]), *rows), "Resposta", "good")
    texts = [text for one in check_grid(made).findings for text in (one.seen, one.todo)]
    assert any("If 'Resposta' holds" in text for text in texts)
    assert not any("'good'" in text for text in texts)
