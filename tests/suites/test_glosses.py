"""Glosses and translations below sentences are not items."""

from __future__ import annotations

import pytest

from cimento.intake.glosses import gloss_rows
from cimento.intake.tables import read_suite_table
from cimento.kinds.registry import paradigm_of

GLOSS, OTHER_GLOSS = "DEF.M.SG child sleep.PRS.3SG", "DEF.F.SG girl sing-3SG"


def rows_found(tmp_path, *rows, header="sentence\trating"):
    path = tmp_path / "t.tsv"
    text = "\n".join([header, *("\t".join(row) for row in rows)])
    table, _ = read_suite_table(text.encode(), path)
    return [*gloss_rows(table)]


@pytest.mark.parametrize(
    "translation", ["The child sleeps.", "'The child sleeps.'", "“The child sleeps”."]
)
def test_a_gloss_and_a_translation_below_a_rated_sentence_are_found(tmp_path, translation):
    rows = [("El niño duerme.", "6"), (GLOSS, ""), (translation, ""), ("La niña canta.", "2")]
    assert rows_found(tmp_path, *rows) == [1, 2]


def test_lines_of_a_bare_list_are_found_where_they_come_in_threes_or_in_single_quotes(tmp_path):
    first = ["El niño duerme.", GLOSS, "The child sleeps."]
    second = ["*La niña cantan.", OTHER_GLOSS, "The girl sing."]
    listed = [(line,) for line in (*first, *second)]
    assert rows_found(tmp_path, *listed, header="sentence") == [1, 2, 4, 5]
    quoted = [("El niño duerme.",), ("‘The child sleeps.’",), ("La niña canta.",)]
    assert rows_found(tmp_path, *quoted, header="sentence") == [1]


def test_both_lines_of_a_pair_are_found_and_a_number_that_is_repeated_is_no_more(tmp_path):
    pairs = [
        ("1", "El niño duerme.", "El niño duermen."),
        ("1", GLOSS, "DEF.M.SG child sleep.PRS.3PL"),
        ("1", "‘The child sleeps.’", "‘The child sleep.’"),
        ("2", "La niña canta.", "La niña cantan."),
    ]
    assert rows_found(tmp_path, *pairs, header="item\tgood\tbad") == [1, 2]


@pytest.mark.parametrize(
    "rows",
    [
        [("Il treno parte.", "6"), ("L'e-mail è in formato ISO-PL.", "5"), ("È un ex-ALL.", "4")],
        [("'Vieni!'", "6"), ("'Vai via!'", "5"), ("'Resta.'", "2")],
        [("Dice: vieni.", "6"), ("«Vieni qui»", "5"), ("Il sub-TOP è qui.", "4")],
        [("Il cane dorme.", "6"), ("Il gatto dorme.", ""), ("Il topo dorme.", "")],
    ],
)
def test_sentences_of_their_own_are_none(tmp_path, rows):
    assert rows_found(tmp_path, *rows) == []


def test_they_are_no_items_of_the_suite_and_it_says_so(tmp_path):
    path = tmp_path / "es.tsv"
    lines = [
        "Oración\tJuicio (1-7)", "El niño duerme.\t6", f"{GLOSS}\t", "The child sleeps.\t",
        "La niña cantan.\t2", f"{OTHER_GLOSS}\t", "The girl sing.\t",
    ]  # fmt: skip
    path.write_text("\n".join(lines), encoding="utf-8")
    reading = paradigm_of(path).reader.read(path)
    texts = [c.regions[0].text for item in reading.suite.items for c in item.conditions]
    assert texts == ["El niño duerme.", "La niña cantan."]
    [said] = [fault for fault in reading.faults if fault.code == "CIM-S085"]
    assert "3 ('DEF.M.SG child sleep.PRS.3SG'); 4 ('The child sleeps.')" in said.seen
