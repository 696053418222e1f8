"""Columns that ask what is wrong, and words for good and bad with their inflections."""

import pytest

from cimento import load_suite
from cimento.suites.headers import meaning, split_side
from cimento.suites.marks import numbers_for, sides_of
from tests.suites.test_suite_bare_tables import NUMBERS, written

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
    assert [item.conditions[0].name for item in loaded.suite.items] == ["good", "good"]
    assert [item.conditions[0].regions[0].text for item in loaded.suite.items] == [
        "Il gatto dorme.", "Canta.",
    ]  # fmt: skip
    [fault] = loaded.reading.faults
    shown = repr(good) if good else "an empty cell"
    assert f"{shown} stands for good and {bad!r} for bad." in fault.seen


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
