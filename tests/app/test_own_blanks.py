"""Tables of blanks as people bring them, in the window, when their language is set."""

from dataclasses import replace

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.checking import check_grid
from cimento.app.describing import describe
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
    renamed = "fenomeno" if is_chosen else "Tipo di errore"  # which no word of ours is
    assert described.items.columns == (*head[:-1], renamed)
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
