"""Tables with a column that judges their sentences: pairs, ratings, and what is neither."""

import pytest

from cimento import load_suite
from tests.suites.test_suite_bare_tables import LONG, written


@pytest.mark.parametrize(
    ("header", "good", "bad"),
    [
        ("Grammaticality", "yes", "no"), ("Gramaticalidad", "sí", "no"), ("Gramatical?", "1", "0"),
        ("Accettabilità", "si", "no"), ("Tipo", "ok", "*"), ("Tipo", "gramm.", "agramm."),
        ("Приемлемость", "да", "нет"), ("Aceitabilidade", "+", "-"), ("Gramaticalidad", "G", "U"),
    ],
)  # fmt: skip
def test_judgments_crossed_with_numbers_are_pairs_whatever_they_are_called(
    tmp_path, header, good, bad
):
    side = {"gramatical": good, "agramatical": bad}
    # The number of an item is in its first row only.
    rows = tuple(
        (item if n % 4 == 0 else "", number, side[judged], text)
        for n, (item, number, judged, text) in enumerate(LONG)
    )
    path = written(tmp_path / "numero.csv", ("Ítem", "Número", header, "Oración"), rows)
    loaded = load_suite(path, language="es")
    assert [fault.code for fault in loaded.reading.faults] == ["CIM-S063"]
    assert loaded.suite.condition_names == ("good", "bad")
    assert [item.id for item in loaded.suite.items] == [
        f"{number}-{item}" for item in "12" for number in ("singular", "plural")
    ]
    # The same words are the levels of any other factor.
    path = written(tmp_path / "isla.csv", ("Ítem", "Número", "Isla", "Oración"), rows)
    is_clear = header == "Tipo"
    assert (len(load_suite(path, language="es").suite.condition_names) == 2) is is_clear
