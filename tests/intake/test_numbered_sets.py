"""Designs whose column of sets has a heading that nobody knows: the crossing shows what it is."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import CimentoError
from cimento.intake.numbered import sets_of
from cimento.intake.table import Table
from cimento.kinds.registry import audit_suite, load_suite
from cimento.suites.formats.advice import names_advised

SENTENCES = [
    ("Chi dice che il postino abbia suonato?", "Che cosa dici che abbia portato il postino?",
     "Chi esce se il postino suona?", "Che cosa esci se porta il postino?"),
    ("Chi spera che la sarta finisca in tempo?", "Che cosa speri che la sarta finisca?",
     "Chi si calma se la sarta finisce?", "Che cosa ti calmi se la sarta finisce?"),
    ("Chi teme che il nipote venda la barca?", "Che cosa temi che il nipote venda?",
     "Chi protesta se il nipote vende la barca?", "Che cosa protesti se il nipote vende?"),
]  # fmt: skip
LEVELS = [("breve", "completiva"), ("lunga", "completiva"), ("breve", "isola"), ("lunga", "isola")]
NAMES = ["Gruppo", "Serie", "ID", "Lessicalizzazione", "Quartetto"]


def rows_of(ids):
    return [
        [id_, *levels, text]
        for id_, texts in zip(ids, SENTENCES, strict=True)
        for levels, text in zip(LEVELS, texts, strict=True)
    ]


def written(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def table(header, rows):
    cells = {name: [row[n] for row in rows] for n, name in enumerate(header)}
    return Table("t.csv", tuple(header), range(2, len(rows) + 2), cells)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ids", [("1", "2", "3"), ("sa", "sb", "sc"), ("af1", "af2", "af3")])
def test_a_column_within_whose_values_two_others_are_crossed_numbers_the_items(tmp_path, name, ids):
    header = [name, "Distanza", "Struttura", "Frase"]
    path = written(tmp_path / "s.csv", header, rows_of(ids))
    audit = audit_suite(path)
    assert audit.read.roles["item"] == (name,)
    assert audit.read.roles["factors"] == ("Distanza", "Struttura")
    said = [fault.seen for fault in audit.faults if fault.seen.startswith(f"The column {name!r} n")]
    assert len(said) == 1
    suite = load_suite(path).sentences
    assert [item.id for item in suite.items] == [*ids]
    assert {len(item.conditions) for item in suite.items} == {4}
    assert len(suite.predictions) == 4  # the design's: DD, and each good cell over the bad one


@given(order=st.permutations(range(12)), columns=st.permutations(range(4)))
def test_neither_the_order_of_rows_nor_that_of_columns_decides(order, columns):
    header, rows = ["Gruppo", "Distanza", "Struttura", "Frase"], rows_of(("1", "2", "3"))
    made = table([header[n] for n in columns], [[rows[r][n] for n in columns] for r in order])
    [sets] = sets_of(made)
    assert sets.column == "Gruppo"
    assert {*sets.factors} == {"Distanza", "Struttura"}


@given(row=st.integers(0, 11), other=st.integers(1, 2))
def test_one_wrong_number_leaves_no_sets(row, other):
    rows = rows_of(("1", "2", "3"))
    rows[row] = [str((int(rows[row][0]) - 1 + other) % 3 + 1), *rows[row][1:]]
    assert sets_of(table(["Gruppo", "Distanza", "Struttura", "Frase"], rows)) == []


def test_lists_do_not_number_what_another_column_numbers():
    rows = [[*row, str((n % 4 + n // 4) % 3)] for n, row in enumerate(rows_of("123"))]
    made = table(["Serie", "Distanza", "Struttura", "Frase", "Lista"], rows)
    assert [sets.column for sets in sets_of(made)] == ["Serie"]
    # Called otherwise, either may number the items: both are proposed, and none is taken.
    made = table(["Serie", "Distanza", "Struttura", "Frase", "Turno"], rows)
    assert [sets.column for sets in sets_of(made)] == ["Serie", "Turno"]
    assert "item=Serie,sentence=Frase" in (advice := names_advised(made, []))
    assert "item=Turno,sentence=Frase" in advice


def test_numbers_of_sets_are_refused_as_ratings_unless_one_insists(tmp_path):
    header = ["Quartetto", "Distanza", "Struttura", "Frase"]
    path = written(tmp_path / "s.csv", header, rows_of(("1", "2", "3")))
    roles = {"sentence": "Frase", "rating": "Quartetto"}
    with pytest.raises(CimentoError, match=r"'Quartetto' numbers sets: in each, every combination"):
        load_suite(path, columns=roles)
    insisted = audit_suite(path, columns={**roles, "rating": "Quartetto!"})
    assert insisted.read.roles["rating"] == ("Quartetto",)
    assert insisted.read.forced == ("Quartetto",)


def test_sets_beside_sentences_without_a_known_heading_are_proposed_as_items_and_not_as_ratings():
    made = table(["Gruppo", "Distanza", "Struttura", "Stringa"], rows_of(("1", "2", "3")))
    advice = names_advised(made, [])
    assert advice.startswith("The column 'Gruppo' numbers sets")
    assert "--columns='item=Gruppo,sentence=Stringa'" in advice
    assert "rating" not in advice


def test_real_ratings_beside_two_factors_are_no_numbers_of_sets():
    points = ["7", "5", "6", "2", "7", "6", "6", "1", "6", "5", "7", "2"]
    rows = [[point, *row[1:]] for point, row in zip(points, rows_of("123"), strict=True)]
    made = table(["Gruppo", "Distanza", "Struttura", "Frase"], rows)
    assert sets_of(made) == []
