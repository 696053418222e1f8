"""Tables with a column that judges their sentences: pairs, ratings, and what is neither."""

import pytest

from cimento import CimentoError, load_suite
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


TWICE = (("1", "El niño duerme."), ("1", "El niño duermen."), ("2", "Canta."), ("2", "Cantan."))


@pytest.mark.parametrize(
    ("judgments", "code", "said"),
    [
        (("ok", "*"), "CIM-S037", "such as 1 for 'ok' and 0 for '*'."),
        (("1", "0"), "CIM-S011", "one sentence; item '1' has 2. To correlate with the"),
    ],
)  # fmt: skip
def test_two_judged_sentences_of_an_item_may_be_a_pair(tmp_path, judgments, code, said):
    rows = tuple((*row, cell) for row, cell in zip(TWICE, judgments * 2, strict=True))
    path = written(tmp_path / "juicios.csv", ("Ítem", "Oración", "Juicio"), rows)
    with pytest.raises(CimentoError) as caught:
        load_suite(path, language="es")
    message = " ".join(str(caught.value).split())
    assert message.count("CIM-") == message.count(code) == 1
    assert said in message
    assert "are a pair, call 'Juicio' condition instead, and write good and bad" in message


def test_ratings_beside_a_design_are_one_fault_that_says_how_to_have_either(tmp_path):
    rows = tuple((item, *cells, f"{n}.5") for n, (item, *cells) in enumerate(LONG))
    header = ("Ítem", "Distancia", "Estructura", "Oración", "Juicio medio")
    path = written(tmp_path / "islas.csv", header, rows)
    with pytest.raises(CimentoError) as caught:
        load_suite(path, language="es")
    [fault] = caught.value.faults
    assert (fault.code, len(fault.places)) == ("CIM-S011", 4)
    assert "The column 'Juicio medio' makes this a suite of ratings" in fault.seen
    assert "delete that column. To correlate" in fault.todo


def test_advice_names_the_column_that_judges_the_sentences(tmp_path):
    rows = tuple((item, number, judged[0], text) for item, number, judged, text in LONG[:-1])
    header = ("Ítem", "Número", "Gramaticalidad", "Oración")
    with pytest.raises(CimentoError, match="If 'Gramaticalidad' says which sentences"):
        load_suite(written(tmp_path / "numero.csv", header, rows), language="es")
