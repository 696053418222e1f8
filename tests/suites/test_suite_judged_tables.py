"""Tables with a column that judges their sentences: pairs, ratings, and what is neither."""

import pytest

from cimento import CimentoError, load_suite
from tests.suites.test_suite_bare_tables import LONG, good_texts, written


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


@pytest.mark.parametrize(("good", "bad"), [("ok", "*"), ("1", "0"), ("✓", "✗"), ("", "*")])
@pytest.mark.parametrize("header", ["Juicio", "Gramatical?"])
def test_two_judged_sentences_of_an_item_are_a_pair(tmp_path, header, good, bad):
    rows = tuple((*row, cell) for row, cell in zip(TWICE, (good, bad) * 2, strict=True))
    path = written(tmp_path / "juicios.csv", ("Ítem", "Oración", header), rows)
    loaded = load_suite(path, language="es")
    assert good_texts(loaded, good, bad) == ["El niño duerme.", "Canta."]
    [fault] = loaded.reading.faults
    assert ("To correlate with the ratings" in fault.todo) is (header == "Juicio")


def judged(path, *marks, header="Juicio", more=()):
    """A table of two items in both numbers, each sentence with its mark."""
    rows = tuple(
        (item, *(number for _ in more), marks[n % len(marks)], text)
        for n, (item, number, _, text) in enumerate(LONG)
    )
    return written(path, ("Ítem", *more, header, "Oración"), rows)


@pytest.mark.parametrize("marks", [("ok", "*"), ("1", "0"), ("sí", "no"), ("✓", "✗"), ("", "*")])
@pytest.mark.parametrize("header", ["Juicio", "Giudizio", "Judgment"])
def test_two_marks_beside_another_factor_are_pairs_whatever_their_column(tmp_path, marks, header):
    path = judged(tmp_path / "juicios.csv", *marks, header=header, more=("Número",))
    loaded = load_suite(path, language="es")
    assert [item.id for item in loaded.suite.items] == [
        "singular-1", "plural-1", "singular-2", "plural-2",
    ]  # fmt: skip
    assert [fault.code for fault in loaded.reading.faults] == ["CIM-S063"]


@pytest.mark.parametrize("header", ["Juicio", "Gramaticalidad", "Condición", "Aceptable?"])
@pytest.mark.parametrize("marks", [("ok", "*"), ("gramatical", "agramatical")])
def test_four_judged_sentences_without_another_factor_are_one_question(tmp_path, header, marks):
    with pytest.raises(CimentoError) as caught:
        load_suite(judged(tmp_path / "juicios.csv", *marks, header=header), language="es")
    [fault] = caught.value.faults
    assert fault.code == "CIM-S011"
    assert f"in the column {header!r}, item '1' has {marks[0]!r} 2 times." in fault.seen
    assert "a column that differs from pair to pair, such as number" in fault.todo
    assert len(fault.places) == 4


@pytest.mark.parametrize("judged", ["Juicio", "Gramaticalidad"])
def test_columns_that_disagree_on_the_pairs_are_one_question(tmp_path, judged):
    rows = tuple(
        (item, number, ("sg", "pl", "pl", "sg")[n % 4], ("ok", "*")[n % 2], text)
        for n, (item, number, _, text) in enumerate(LONG)
    )
    header = ("Ítem", "Sujeto", "Verbo", judged, "Oración")
    with pytest.raises(CimentoError, match="'Sujeto' and 'Verbo' pair the sentences of an item"):
        load_suite(written(tmp_path / "juicios.csv", header, rows), language="es")


def test_subject_and_verb_in_both_numbers_are_no_design_with_a_worst_cell(tmp_path):
    rows = tuple(
        (item, number, ("singular", "plural", "plural", "singular")[n % 4], text)
        for n, (item, number, _, text) in enumerate(LONG)
    )
    with pytest.raises(CimentoError, match="'Sujeto' and 'Verbo' have the same levels, and noth"):
        load_suite(written(tmp_path / "c.csv", ("Ítem", "Sujeto", "Verbo", "Oración"), rows))


def test_a_name_given_to_two_columns_is_one_fault(tmp_path):
    rows = (("1", "Il gatto dorme.", "x", "Il gatto dormono.", "y"),)
    header = ("N.", "Frase corretta", "Glossa", "Frase errata", "Glossa")
    with pytest.raises(CimentoError, match="'Glossa' appears twice"):
        load_suite(written(tmp_path / "glosse.csv", header, rows))


@pytest.mark.parametrize("header", ["Coppia", "Par", "Пара", "Pair"])
def test_a_column_of_pairs_numbers_the_items(tmp_path, header):
    rows = tuple((*row, cell) for row, cell in zip(TWICE, ("ok", "*") * 2, strict=True))
    path = written(tmp_path / "pares.csv", (header, "Oración", "Juicio"), rows)
    assert len(load_suite(path, language="es").suite.items) == 2


def test_a_factor_of_three_levels_has_a_pair_for_each(tmp_path):
    verbs = {"1": ("Yo canto.", "Yo canta."), "2": ("Tú cantas.", "Tú canto."),
             "3": ("Él canta.", "Él cantas.")}  # fmt: skip
    rows = tuple(
        (item, person, mark, text)
        for item in "12"
        for person, texts in verbs.items()
        for mark, text in zip(("sí", "no"), texts, strict=True)
    )
    path = written(tmp_path / "p.csv", ("Ítem", "Persona", "Gramaticalidad", "Oración"), rows)
    suite = load_suite(path, language="es").suite
    assert [item.id for item in suite.items][:3] == ["1-1", "2-1", "3-1"]
    assert suite.condition_names == ("good", "bad")


@pytest.mark.parametrize("marks", [("6.5", "2"), ("7", "1"), ("ok", "*", "ok", "?")])
def test_graded_judgments_stay_ratings(tmp_path, marks):
    path = judged(tmp_path / "juicios.csv", *marks, more=("Número",))
    with pytest.raises(CimentoError, match="makes this a suite of ratings"):
        load_suite(path, language="es")


def test_a_condition_that_repeats_is_a_side_or_a_factor(tmp_path):
    path = judged(tmp_path / "gu.csv", "G", "U", header="Condition", more=("Número",))
    loaded = load_suite(path, language="es")
    assert (len(loaded.suite.items), loaded.suite.condition_names) == (4, ("good", "bad"))
    assert "'G' stands for good and 'U' for bad" in loaded.reading.faults[0].seen
    path = judged(tmp_path / "ab.csv", "A", "B", header="Condition", more=("Número",))
    assert load_suite(path, language="es").suite.condition_names == (
        "singular_A", "singular_B", "plural_A", "plural_B",
    )  # fmt: skip
    path = judged(tmp_path / "ab.csv", "A", "B", header="Condition")
    with pytest.raises(CimentoError, match="which sentences of an item belong") as caught:
        load_suite(path, language="es")
    assert len(caught.value.faults) == 1


@pytest.mark.parametrize(
    ("marks", "is_told"),
    [(("gramm.", "agramm."), True), (("ok", "*"), False),
     (("Frase buona", "Frase cattiva"), False)],
)  # fmt: skip
def test_abbreviated_conditions_are_good_and_bad(tmp_path, marks, is_told):
    rows = tuple((*row, cell) for row, cell in zip(TWICE, marks * 2, strict=True))
    path = written(tmp_path / "pares.csv", ("Ítem", "Oración", "Cond."), rows)
    loaded = load_suite(path, language="es")
    told = [fault for fault in loaded.reading.faults if fault.code == "CIM-S063"]
    assert loaded.suite.condition_names == ("good", "bad")
    assert bool(told) is is_told


def test_a_pair_that_lacks_a_sentence_is_named_as_such(tmp_path):
    rows = tuple((item, number, judged, text) for item, number, judged, text in LONG[:-1])
    header = ("Ítem", "Número", "Gramaticalidad", "Oración")
    with pytest.raises(CimentoError, match="item plural-2: The item lacks bad"):
        load_suite(written(tmp_path / "numero.csv", header, rows), language="es")


HEADED = (
    ("Concordanza", "", ""),
    ("1", "Il gatto dorme.", "Il gatto dormono."),
    ("2", "Le zie partono.", "Le zie parte."),
    ("Altro caso", "", ""),
    ("3", "Piove forte.", "Piovono forte."),
    ("Totale", "3", "3 frasi"),
)


@pytest.mark.parametrize("first", [0, 1])
def test_headings_and_sums_between_the_rows_are_skipped_and_named(tmp_path, first):
    """With or without a column of item numbers."""
    header = ("N.", "Frase grammaticale", "Frase agrammaticale")[first:]
    rows = [row if row[1] and row[0] != "Totale" else (row[0], *row[1:-1], row[2])
            for row in HEADED]  # fmt: skip
    if first:
        rows = [row[1:] if row[0].isdigit() else (row[0], row[2]) for row in rows]
    loaded = load_suite(written(tmp_path / "coppie.csv", header, tuple(rows)), language="it")
    assert len(loaded.suite.items) == 3
    [fault] = [fault for fault in loaded.reading.faults if fault.code == "CIM-S009"]
    assert fault.seen.endswith("2 ('Concordanza'); 5 ('Altro caso'); 7 ('Totale').")
    assert fault.places == tuple(f"coppie.csv row {row}" for row in (2, 5, 7))


@pytest.mark.parametrize("label", ["Media", "Total", "Promedio:", "Итого", "Média geral"])
def test_means_below_ratings_are_no_sentences(tmp_path, label):
    rows = (("El niño duerme.", "6,5"), ("El niño duermen.", "2"), (label, "4,25"))
    path = written(tmp_path / "juicios.csv", ("Oración", "Juicio"), rows)
    assert len(load_suite(path, language="es").suite.items) == 2


@pytest.mark.parametrize(
    "odd", [("Media docena ya duerme", "3"), ("Todo bien.", ""), ("Duerme", "5")]
)
def test_sentences_of_few_words_are_no_headings(tmp_path, odd):
    rows = (("El niño duerme.", "6,5"), ("El niño duermen.", "2"), odd, ("Total, nada.", "4"))
    path = written(tmp_path / "juicios.csv", ("Oración", "Juicio"), rows)
    assert len(load_suite(path, language="es").suite.items) == 4


def test_headings_do_not_hide_crossed_columns_or_numbers_that_are_written_once(tmp_path):
    rows = [("Concordancia", "", "", ""), *((a if n % 4 == 0 else "", b, "ok*"[n % 2 * 2:][:2], d)
            for n, (a, b, _, d) in enumerate(LONG))]  # fmt: skip
    header = ("Ítem", "Número", "Juicio", "Oración")
    loaded = load_suite(written(tmp_path / "numero.xlsx", header, tuple(rows)), language="es")
    assert len(loaded.suite.items) == 4


def test_marks_may_name_the_columns(tmp_path):
    path = written(tmp_path / "a.csv", ("Item", "ok", "*"), ((("1", "Il gatto dorme.", "Dormono."))
                   ,))  # fmt: skip
    assert load_suite(path).suite.condition_names == ("good", "bad")
    header = ("Item", "Singolare ok", "Singolare *", "Plurale ok", "Plurale *")
    rows = (("1", "Dorme.", "Dormo.", "Dormono.", "Dormiamo."),)
    assert len(load_suite(written(tmp_path / "b.csv", header, rows)).suite.items) == 2


def test_colors_are_said_not_to_be_read(tmp_path):
    path = written(
        tmp_path / "colori.csv",
        ("Frase", "Note"),
        tuple((f"{t} Sempre piove.", "") for _, t in TWICE),
    )
    with pytest.raises(
        CimentoError, match="Nothing says which are good; colors and bold type are not read"
    ):
        load_suite(path)


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
