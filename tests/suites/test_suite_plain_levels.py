"""Which condition of a design in a table should be the worst: words say it, and no order does."""

from __future__ import annotations

import re
from itertools import product

import pytest

from cimento import load_suite
from cimento.suites.design import squares
from cimento.suites.plain_levels import plain_first


def _written(path, header, cells):
    rows = [f"{item};{first};{second};Frase {first} {second} numero {item}."
            for item in (1, 2) for first, second in cells]  # fmt: skip
    path.write_text("\n".join([f"Item;{';'.join(header)};Frase", *rows]), "utf-8")
    return path


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 3, 0, 1), (1, 0, 3, 2)])
@pytest.mark.parametrize(
    ("header", "levels", "worst"),
    [
        (("Distanza", "Isola"), (("breve", "lunga"), ("no", "sì")), "lunga_sì"),
        (("Estructura", "Distancia"), (("no isla", "isla"), ("corta", "larga")), "isla_larga"),
        (("Extraction", "Clause"), (("matrix", "embedded"), ("control", "island")),
         "embedded_island"),
    ],
)  # fmt: skip
def test_words_for_levels_say_which_condition_is_the_worst(tmp_path, order, header, levels, worst):
    cells = list(product(*levels))
    path = _written(tmp_path / "isole.csv", header, [cells[place] for place in order])
    reading = load_suite(path).reading
    [square] = squares(reading.suite)
    assert square.unacceptable.name == worst
    assert "CIM-S067" not in {fault.code for fault in reading.faults}


def test_columns_named_after_cells_are_ordered_by_their_words_too(tmp_path):
    path = tmp_path / "wide.csv"
    sentences = ["What wonders he if she saw?", "Who wonders if she saw it?",
                 "What thinks he that she saw?", "Who thinks that she saw it?"]  # fmt: skip
    names = "island_long,island_short,nonisland_long,nonisland_short"
    path.write_text(f"{names}\n{','.join(sentences)}\n", "utf-8")
    [square] = squares(load_suite(path).suite)
    assert square.unacceptable.name == "island_long"


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0)])
def test_the_order_of_rows_makes_no_level_plain_and_the_advice_does(tmp_path, order):
    cells = list(product(("long", "short"), ("whether", "that")))
    cells = [cells[place] for place in order]
    reading = load_suite(_written(tmp_path / "a.csv", ("Distance", "Clause"), cells)).reading
    assert (reading.suite.factors, reading.suite.predictions) == ({}, ())
    [said] = [fault for fault in reading.faults if fault.code == "CIM-S067"]
    assert "which level of 'Clause' is the plain one" in said.seen
    for plain, worst in (("that", "long_whether"), ("whether", "long_that")):
        [level] = re.findall(rf"'({plain} control)'", said.todo)
        told = [(first, level if second == plain else second) for first, second in cells]
        [square] = squares(load_suite(_written(tmp_path / "b.csv", ("A", "B"), told)).suite)
        assert square.unacceptable.name == worst


@pytest.mark.parametrize(
    ("factor", "levels", "plain"),
    [
        ("Licensed", ("yes", "no"), None),
        ("Gap", ("+gap", "-gap"), "-gap"),
        ("Gap", ("+gap", "-wh"), None),
        ("Ambiguity", ("ambiguous", "unambiguous"), "unambiguous"),
        ("Violazione", ("sì", "no"), "no"),
        ("a", ("nonisola", "isola"), "nonisola"),
        ("a", ("wh-island", "non-wh-island"), "non-wh-island"),
        ("a", ("weak island", "island"), None),
        ("a", ("whether island", "adjunct island", "no island"), "no island"),
    ],
)
def test_the_plain_level_is_found_by_words_or_not_at_all(factor, levels, plain):
    factors, unknown = plain_first({factor: levels})
    assert factors[factor][0] == (plain or levels[0])
    assert (factor in unknown) is (plain is None)


@pytest.mark.parametrize(
    ("factor", "two", "good"),
    [("Gramatical", ("no", "sí"), "sí"), ("Agrammaticale", ("sì", "no"), "no"),
     ("Correct", ("0", "1"), "1")],
)  # fmt: skip
def test_words_that_judge_under_their_heading_are_judgments_in_a_design_too(factor, two, good):
    ordered, unknown = plain_first({factor: two, "Attractor": ("singular", "plural")})
    assert ordered[factor][0] == good
    assert ordered["Attractor"] == ("plural", "singular")  # the plain level of the other is last
    assert not unknown


def test_yes_and_no_under_another_heading_judge_nothing():
    ordered, _ = plain_first({"Isla": ("sí", "no"), "Attractor": ("singular", "plural")})
    assert ordered["Isla"] == ("no", "sí")
    assert ordered["Attractor"][0] == "singular"
