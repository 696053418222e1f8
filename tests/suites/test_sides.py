"""Columns that ask what is wrong, and words for good and bad with their inflections."""

import pytest

from cimento import CimentoError, load_suite
from cimento.intake.marks import numbers_for, sides_of
from cimento.intake.names import meaning, split_side
from tests.suites.test_suite_bare_tables import NUMBERS, good_texts, written

PAIR = (("1", "Il gatto dorme."), ("1", "Il gatto dormono."), ("2", "Canta."), ("2", "Cantano."))


@pytest.mark.parametrize(
    ("header", "good", "bad"),
    [
        ("Agrammaticale", "no", "sì"), ("Ungrammatical", "no", "yes"), ("Agramatical", "0", "1"),
        ("Inaceitável?", "não", "sim"), ("Неграмматично", "нет", "да"), ("Errato", "no", "sì"),
        ("Incorrecto", "no", "sí"), ("Agramatical", "", "x"), ("Violación", "0", "1"),
        ("Errore (1=sì)", "0", "1"), ("Ungrammaticality", "-", "+"), ("Non grammaticale", "n", "s"),
        ("Agrammaticale", "ok", "*"), ("Judgment (1 = bad)", "0", "1"), ("Sgrammaticata", "", "1"),
    ],
)  # fmt: skip
def test_a_column_that_asks_what_is_wrong_is_inverted(tmp_path, header, good, bad):
    rows = tuple((*row, cell) for row, cell in zip(PAIR, (good, bad) * 2, strict=True))
    loaded = load_suite(written(tmp_path / "c.csv", ("Item", "Frase", header), rows), language="it")
    assert good_texts(loaded, good, bad) == ["Il gatto dorme.", "Canta."]


def test_ticks_in_a_column_that_asks_what_is_wrong_decide_nothing():
    assert sides_of("Agrammaticale", ["✓", "✗"]) == {}
    assert numbers_for(["sì", "no"], "Agrammaticale") == {"no": 1, "sì": 0}


@pytest.mark.parametrize("header", ["Program", "Island", "Error type", "Acceptability"])
def test_other_columns_do_not_ask_what_is_wrong(header):
    assert sides_of(header, ["yes", "no"]).get("yes") != "bad"


WORDS = (
    ("corretto", "errato"), ("giusto", "sbagliato"), ("certo", "errado"), ("bien", "mal"),
    ("Правильно", "Неправильно"), ("Грамматично", "Неграмматично"), ("Верно", "Неверно"),
    ("correct", "incorrect"), ("accettabile", "inaccettabile"), ("ok", "*"), ("gram", "ungram"),
    ("gramm", "agramm"), ("buono", "non buono"), ("correcto", "incorrecto"), ("bene", "male"),
)  # fmt: skip


@pytest.mark.parametrize(("good", "bad"), WORDS)
def test_every_shape_knows_the_same_words(tmp_path, good, bad):
    header = tuple(f"{number} {side}" for number in ("Sing.", "Plur.") for side in (good, bad))
    rows = tuple(row[-4:] for row in NUMBERS)
    loaded = load_suite(written(tmp_path / "quattro.csv", header, rows), language="it")
    assert [fault.code for fault in loaded.reading.faults] == ["CIM-S063"]
    assert loaded.suite.condition_names == ("good", "bad")
    first = loaded.suite.items[0]
    assert first.id == "1-Sing"
    assert [text.regions[0].text for text in first.conditions] == [rows[0][0], rows[0][1]]
    two = written(tmp_path / "due.csv", (good, bad), tuple(row[:2] for row in rows))
    assert load_suite(two, language="it").suite.condition_names == ("good", "bad")
    long = tuple((n, cell, text) for n, *texts in (("1", *rows[0][:2]), ("2", *rows[1][:2]))
                 for cell, text in zip((good, bad), texts, strict=True))  # fmt: skip
    three = written(tmp_path / "tre.csv", ("Item", "Condizione", "Frase"), long)
    assert len(load_suite(three, language="it").suite.predictions) == 1


def test_a_word_with_another_meaning_is_a_side_only_where_no_other_word_is():
    assert split_side("Good male") == ("good", "male")
    assert split_side("Male incorrect") == ("bad", "Male")
    assert split_side("Fem male") == ("bad", "Fem")
    assert meaning("Non corretta") == "bad"
    assert split_side("Sing. agramm.") == ("bad", "Sing")


@pytest.mark.parametrize(
    ("columns", "more"),
    [
        (("Sentence", "Frase"), {"Condizione": ("grammaticale", "agrammaticale")}),
        (("Frase", "Text"), {"Giudizio": ("7", "2")}),
        (("Oración (español)", "Sentence"), {"Juicio": ("7", "2")}),
        (("Frase (italiano)", "Frase (inglese)"), {"Condizione": ("grammaticale", "agramm.")}),
    ],
)
def test_two_columns_that_may_be_the_sentences_are_a_question(tmp_path, columns, more):
    header = ("Item", *columns, *more)
    rows = tuple(
        (n, text, "It is a cat.", *(cells[k % 2] for cells in more.values()))
        for k, (n, text) in enumerate(PAIR)
    )
    with pytest.raises(CimentoError) as caught:
        load_suite(written(tmp_path / "c.csv", header, rows), language="it")
    [fault] = caught.value.faults
    assert fault.code == "CIM-S004"
    assert f"The columns {columns[0]!r} and {columns[1]!r} may both be the sen" in fault.seen
    assert "such as translation" in fault.todo


@pytest.mark.parametrize(
    "other",
    [
        "Sentence (English)",
        "Frase (traduzione)",
        "Text EN",
        "Frase inglese",
        "Glossa",
        "Gloss sent",
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_translations_are_never_the_sentences(tmp_path, other, first):
    columns = (other, "Frase")[:: 1 if first else -1]
    rows = tuple(
        (*(("A cat.", text) if first else (text, "A cat.")), rating)
        for (_, text), rating in zip(PAIR, "7272", strict=True)
    )
    path = written(tmp_path / "c.csv", (*columns, "Giudizio"), rows)
    suite = load_suite(path, language="it").suite
    assert suite.items[0].conditions[0].regions[0].text == "Il gatto dorme."


@pytest.mark.parametrize("other", ["Good (English)", "Frase gramatical (tradução)"])
def test_pairs_beside_their_translations_are_those_scored(tmp_path, other):
    bad = other.replace("Good", "Bad").replace("gramatical", "agramatical")
    header = (other, bad, "Frase gramatical", "Frase agramatical")
    rows = (("It sleeps.", "It sleep.", "O gato dorme.", "O gato dormem."),)
    suite = load_suite(written(tmp_path / "c.csv", header, rows), language="pt").suite
    assert suite.items[0].conditions[0].regions[0].text == "O gato dorme."


def test_a_language_in_the_name_does_no_harm(tmp_path):
    rows = (("The cat sleeps.", "7"), ("The cat sleep.", "2"))
    path = written(tmp_path / "c.csv", ("Sentence (English)", "Rating"), rows)
    assert len(load_suite(path, language="en").suite.items) == 2


@pytest.mark.parametrize(
    ("options", "header", "cells"),
    [
        (("Frase A", "Frase B"), "Correta", "AB"), (("A", "B"), "Key", "ab"),
        (("Oración 1", "Oración 2"), "Gramatical", "12"),
        (("sentence_a", "sentence_b"), "Better", "AB"), (("Frase A", "Frase B"), "Errada", "BA"),
    ],
)  # fmt: skip
def test_a_key_says_which_of_two_sentences_is_good(tmp_path, options, header, cells):
    rows = (("1", "O cão late.", "O cão latem.", cells[0]),
            ("2", "O gato dormem.", "O gato dorme.", cells[1]))  # fmt: skip
    loaded = load_suite(written(tmp_path / "c.csv", ("nº", *options, header), rows), language="pt")
    assert [item.conditions[0].regions[0].text for item in loaded.suite.items] == [
        "O cão late.", "O gato dorme.",
    ]  # fmt: skip
    [fault] = loaded.reading.faults
    assert f"The column {header!r} is read as the key" in fault.seen


@pytest.mark.parametrize(
    ("columns", "last", "seen"),
    [(("good", "bad"), "B", "says A or B, but 'good' is read as good"),
     (("Frase A", "Frase B"), "C", "'Correta' has 'C' and names neither")],
)  # fmt: skip
def test_a_key_that_contradicts_its_table_is_refused(tmp_path, columns, last, seen):
    rows = (("O cão late.", "O cão latem.", "A"), ("O rei saem.", "O rei sai.", last),
            ("O rei saem.", "O rei sai.", "B"))  # fmt: skip
    with pytest.raises(CimentoError, match=seen):
        load_suite(written(tmp_path / "c.csv", (*columns, "Correta"), rows), language="pt")


def test_groups_of_items_are_no_key(tmp_path):
    rows = (("O cão late.", "O cão latem.", "A"), ("O rei sai.", "O rei saem.", "B"))
    path = written(tmp_path / "c.csv", ("good", "bad", "Lista"), rows)
    assert len(load_suite(path, language="pt").suite.items) == 2


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        (("Distance", "Island"), [("short", "no"), ("long", "no"), ("short", "yes"),
                                  ("long", "yes")]),
        (("Island", "Distance"), [("island", "long"), ("island", "short"), ("non-island", "long"),
                                  ("non-island", "short")]),
        (("Island", "Gap"), [("-", "-gap"), ("-", "+gap"), ("+", "-gap"), ("+", "+gap")]),
        (("Island", "Complexity"), [("weak", "control"), ("weak", "high"), ("no", "control"),
                                    ("no", "high")]),
    ],
)  # fmt: skip
def test_island_may_be_a_factor(tmp_path, header, cells):
    rows = tuple((n, *cell, f"Who {n} thinks {k}?") for n in "12" for k, cell in enumerate(cells))
    path = written(tmp_path / "isles.csv", ("Item", *header, "Sentence"), rows)
    suite = load_suite(path, language="en").suite
    assert [item.id for item in suite.items] == ["1", "2"]
    assert len(suite.condition_names) == 4
    assert suite.predictions[0].name == "DD"
    assert "structure" in suite.factors
    if "Distance" in header:
        assert {*suite.condition_names} & {"long_island", "island_long"}
        assert suite.factors == {
            "distance": ("short", "long"),
            "structure": ("nonisland", "island"),
        }


def test_islands_of_several_types_are_groups_as_before(tmp_path):
    cells = [(isle, *cell) for isle in ("whether", "adjunct") for cell in
             (("short", "nonisland"), ("long", "nonisland"), ("short", "island"),
              ("long", "island"))]  # fmt: skip
    rows = tuple(
        (n, *cell, "_".join(cell[1:]), f"Who {n} thinks {k}?")
        for n in "12" for k, cell in enumerate(cells)
    )  # fmt: skip
    header = ("item", "island", "distance", "structure", "condition", "sentence")
    suite = load_suite(written(tmp_path / "isles.csv", header, rows), language="en").suite
    assert [item.id for item in suite.items] == ["whether-1", "adjunct-1", "whether-2", "adjunct-2"]


@pytest.mark.parametrize("header", ["Set", "Coppia", "Pair", "Par", "Пара", "Conjunto"])
def test_sets_and_pairs_name_items(tmp_path, header):
    rows = tuple(
        (n, head, local, mark, f"{n} {head} {local} {mark} is old.")
        for n in "12" for head in ("sg", "pl") for local in ("sg", "pl") for mark in ("yes", "no")
    )  # fmt: skip
    header = (header, "Head", "Local noun", "Grammatical?", "Sentence")
    loaded = load_suite(written(tmp_path / "attraction.csv", header, rows), language="en")
    assert (len(loaded.suite.items), loaded.suite.condition_names) == (8, ("good", "bad"))
    assert loaded.suite.items[1].id == "sg-pl-1"
    assert loaded.reading.faults[0].code == "CIM-S063"


def test_a_set_of_a_corpus_is_no_item(tmp_path):
    rows = (("train", "Il gatto dorme.", "7"), ("train", "Il gatto dormono.", "2"))
    path = written(tmp_path / "c.csv", ("Set", "Frase", "Giudizio"), rows)
    assert len(load_suite(path, language="it").suite.items) == 2


@pytest.mark.parametrize(("column", "marks"), [("Cond", "ab"), ("Condizione", ("ok", "*"))])
def test_ids_that_differ_in_their_letter_are_told_to_be_one(tmp_path, column, marks):
    rows = tuple((f"{n}{'ab'[k % 2]}", marks[k % 2], text) for k, (n, text) in enumerate(PAIR))
    with pytest.raises(CimentoError) as caught:
        load_suite(written(tmp_path / "c.csv", ("Item", column, "Sentence"), rows), language="it")
    [fault] = caught.value.faults
    assert "The sentences '1a' and '1b' count as two items" in fault.seen
    assert "write 1 for both" in fault.todo
