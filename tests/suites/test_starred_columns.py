"""Columns of ungrammatical sentences whose heading has a star, or whose cells have one."""

from __future__ import annotations

import io

import pytest
import xlsxwriter

from cimento import InputError
from cimento.kinds.registry import load_suite
from tests.helpers.command_line import invoke

PAIRS = [
    ("Le finestre erano aperte.", "Le finestre era aperte."),
    ("La città è bella.", "La città è bello."),
    ("I bambini dormono già.", "I bambini dorme già."),
    ("Le amiche sono arrivate.", "Le amiche sono arrivati."),
]
READ = [
    ("grammaticale", "*agrammaticale"),
    ("gramatical", "*agramatical"),
    ("accettabile", "*inaccettabile"),
    ("grammaticale", "* agrammaticale"),
    ("grammaticale", "*grammaticale"),
    ("ok", "*"),
    ("bien", "mal"),
]
"""Headings that say which sentences are good and which are not."""
PROPOSED = [("frase", "*frase"), ("frase", "*"), ("ben formata", "*mal formata")]
"""Headings of which only the star says so."""


def written(tmp_path, header, *, star="", ending="csv"):
    rows = [header, *((good, star + bad) for good, bad in PAIRS)]
    path = tmp_path / f"frasi.{ending}"
    if ending == "csv":
        path.write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
        return path
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer) as book:
        sheet = book.add_worksheet("Foglio1")
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    path.write_bytes(buffer.getvalue())
    return path


def pairs_of(loaded):
    return [
        tuple(
            next(one.regions[0].text for one in item.conditions if one.name == side)
            for side in ("good", "bad")
        )
        for item in loaded.suite.items
    ]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("header", READ, ids=" ".join)
def test_a_star_before_a_heading_is_that_of_the_ungrammatical_sentences(tmp_path, header, ending):
    assert pairs_of(load_suite(written(tmp_path, header, ending=ending), language="it")) == PAIRS
    swapped = written(tmp_path, header[::-1], ending="csv")
    assert pairs_of(load_suite(swapped, language="it")) == [pair[::-1] for pair in PAIRS]


@pytest.mark.parametrize("header", READ, ids=" ".join)
def test_stars_in_the_cells_are_to_be_deleted_and_change_no_role(tmp_path, capsys, header):
    path = written(tmp_path, header, star="*")
    assert invoke(["suites", "check", str(path), "--language", "it"]) == 2
    printed = capsys.readouterr()
    said = printed.out + printed.err
    assert f'good = "{header[0]}", bad = "{header[1]}"; 4 items' in said
    assert said.count("CIM-S061") == 1
    assert "in 4 of 4 sentences of condition 'bad', and in no other" in said


@pytest.mark.parametrize("star", ["", "*"])
@pytest.mark.parametrize("header", PROPOSED, ids=" ".join)
def test_where_only_the_star_tells_the_sides_they_are_proposed(tmp_path, header, star):
    path = written(tmp_path, header, star=star)
    with pytest.raises(InputError) as error:
        load_suite(path)
    assert f"--columns='good={header[0]},bad={header[1]}'" in error.value.todo
    assert "label=" not in error.value.todo


@pytest.mark.parametrize("header", [("frase A", "frase B"), ("prima", "dopo")], ids=" ".join)
def test_stars_in_the_cells_of_one_column_propose_it_as_the_bad_one(tmp_path, header):
    with pytest.raises(InputError) as error:
        load_suite(written(tmp_path, header, star="*"))
    assert f"--columns='good={header[0]},bad={header[1]}'" in error.value.todo
    assert "the other way round" not in error.value.todo


def test_no_column_of_sentences_is_proposed_as_its_own_label(tmp_path, capsys):
    path = tmp_path / "frasi.csv"
    rows = ["prima,gramatical"] + [",".join(pair) for pair in PAIRS]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert invoke(["suites", "check", str(path), "--language", "it"]) == 2
    assert "label=gramatical" not in capsys.readouterr().err
