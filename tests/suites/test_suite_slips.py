"""A mistake in one row of a table is reported there, and does not change what the table is."""

from __future__ import annotations

from itertools import product

import pytest

from cimento import SuiteError, load_suite

CELLS = list(product(("breve", "lunga"), ("no", "sì")))
DESIGN = [f"{n};{a};{b};Frase {a} {b} numero {n}." for n in range(1, 6) for a, b in CELLS]
PAIRS = [f"{n};{mark};La frase {mark} è la {n}." for n in range(1, 7) for mark in ("ok", "*")]


def faults_of(tmp_path, header, rows):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *rows]), "utf-8")
    with pytest.raises(SuiteError) as error:
        load_suite(path)
    return [fault for fault in error.value.faults if fault.severity == "error"]


@pytest.mark.parametrize(
    ("row", "number", "seen"),
    [
        ((), 10, "The item lacks lunga_sì, unlike 4 of 5 items."),
        (("3;luga;sì;Frase.",), 13, "The item lacks lunga_sì and has luga_sì"),
        (("3;lunga;;Frase.",), 13, "The item lacks lunga_sì and has lunga_"),
    ],
)
def test_a_slip_in_a_design_is_named_with_its_row_and_item(tmp_path, row, number, seen):
    rows = [*DESIGN[:11], *row, *DESIGN[12:]]
    [fault] = faults_of(tmp_path, "Item;Distanza;Isola;Frase", rows)
    assert (fault.code, fault.where) == ("CIM-S012", f"table.csv row {number}, item 3")
    assert fault.seen.startswith(seen)


def test_a_judgment_twice_in_one_item_names_both_rows(tmp_path):
    rows = [*PAIRS[:5], PAIRS[5].replace("*", "ok", 1), *PAIRS[6:]]
    [fault] = faults_of(tmp_path, "Item;Giudizio;Frase", rows)
    assert (fault.code, fault.where) == ("CIM-S011", "table.csv row 7")
    assert "item '3' has 'ok' in rows 6, 7, unlike" in fault.seen
    assert "delete a row that is there twice" in fault.todo


def test_an_odd_mark_among_two_is_named_with_its_row(tmp_path):
    rows = [*PAIRS[:5], PAIRS[5].replace("*", "x", 1), *PAIRS[6:]]
    [fault] = faults_of(tmp_path, "Item;Giudizio;Frase", rows)
    assert (fault.code, fault.where) == ("CIM-S037", "table.csv row 7")
    assert "Giudizio is 'x', and 'ok' or '*' in nearly all other rows." in fault.seen


ANSWERS = [
    f"{person};{20 + number};{n};Frase numero {n}.;{(n + number) % 7 + 1}"
    for number, person in enumerate(("anna", "bruno", "carla"))
    for n in range(1, 11)
]


@pytest.mark.parametrize(
    ("row", "code", "where", "seen"),
    [
        (
            ANSWERS[3].replace("anna", ""),
            "CIM-S003",
            "table.csv row 5",
            "Nothing in the column 'Partecipante' says who gave this rating.",
        ),
        (
            f"{ANSWERS[3]}\n{ANSWERS[3]}",
            "CIM-S011",
            "table.csv row 6",
            "In the column 'Partecipante', 'anna' rates the same sentence in rows 5, 6.",
        ),
    ],
)
def test_no_other_column_takes_the_place_of_that_of_people(tmp_path, row, code, where, seen):
    rows = [*ANSWERS[:3], row, *ANSWERS[4:]]
    [fault] = faults_of(tmp_path, "Partecipante;Età;Item;Frase;Giudizio", rows)
    assert (fault.code, fault.where, fault.seen) == (code, where, seen)


def test_a_wrong_number_of_an_item_does_not_make_another_table_of_a_design(tmp_path):
    rows = [*DESIGN[:7], DESIGN[7].replace("2;", "3;", 1), *DESIGN[8:]]
    [fault] = faults_of(tmp_path, "Item;Distanza;Isola;Frase", rows)
    assert (fault.code, fault.where.partition(",")[0]) == ("CIM-S012", "table.csv row 9")
    assert "Item 2 lacks lunga_sì, which this item has in rows 9 and 13." in fault.seen


@pytest.mark.parametrize("cell", ["", "10"])
def test_a_cell_that_does_not_judge_is_named_where_all_others_are_0_or_1(tmp_path, cell):
    rows = [row.replace("ok", "1", 1).replace("*", "0", 1) for row in PAIRS]
    rows[5] = rows[5].replace(";0;", f";{cell};")
    [fault] = faults_of(tmp_path, "Item;Giudizio;Frase", rows)
    assert (fault.code, fault.where) == ("CIM-S037", "table.csv row 7")
    assert f"Giudizio is {cell!r}, and " in fault.seen


def test_a_rated_sentence_that_is_there_twice_is_named(tmp_path):
    rows = [f"{n};Frase numero {n}.;{n},5" for n in (1, 2, 3, 4, 4, 5, 6)]
    [fault] = faults_of(tmp_path, "Item;Frase;Media", rows)
    assert (fault.code, fault.where) == ("CIM-S011", "table.csv row 6")
    assert "Item '4' has 2 sentences, and nearly all other items have one." in fault.seen


@pytest.mark.parametrize("cell", ["#N/A", "#RIF!", "#¿NOMBRE?", "#ССЫЛКА!", "#DIV/0!"])
def test_a_formula_that_fails_is_no_mark_before_a_sentence(tmp_path, cell):
    rows = ["1;La zia parte.;La zia partono.", f"2;Il gatto dorme.;{cell}"]
    [fault] = faults_of(tmp_path, "N;good;bad", rows)
    assert (fault.code, fault.where) == ("CIM-S017", "table.csv row 3, item 2, condition bad")
    assert fault.todo == "Correct the formula, or write the sentence."


def test_items_in_another_condition_are_taken_for_fillers(tmp_path):
    rows = [
        *(f"{n};{side};Frase {side} {n}." for n in (1, 2, 3) for side in "ab"),
        "9;filler;Così.",
    ]
    [fault] = faults_of(tmp_path, "Item;Condizione;Frase", rows)
    assert (fault.code, fault.where) == ("CIM-S012", "table.csv row 8, item 9")
    assert "fillers belong in a file of their own" in fault.todo


@pytest.mark.parametrize(
    ("text", "is_joined"),
    [
        ("La zia|canta|in cucina.", True),
        ("L'|uomo | canta qui.", False),
        ("Canta,|credo | in cucina.", False),
    ],
)
def test_bars_without_blanks_between_letters_are_named(tmp_path, text, is_joined):
    path = tmp_path / "table.tsv"
    rows = (f"1\tmatch\t{text}", "1\tmismatch\tLa zia | cantano | in cucina.")
    path.write_text("\n".join(("item\tcondition\tsentence", *rows)), "utf-8")
    found = [fault for fault in load_suite(path).reading.faults if fault.code == "CIM-S070"]
    assert [fault.severity for fault in found] == ["warning"] * is_joined
    if is_joined:
        assert found[0].seen == (
            "No blank separates 'zia' and 'canta', so models read 'La ziacantain cucina.' here."
            " Such bars are in 1 sentence of 2."
        )
