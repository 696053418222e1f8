"""Workbooks with the cells of designs side by side, each sentence behind its code."""

from __future__ import annotations

import pytest
import xlsxwriter

from cimento import CimentoError, load_suite
from cimento.suites import sentence

NAMES = ("non.sh", "non.lg", "isl.sh", "isl.lg")
TEXTS = (
    "Who thinks that {} fed the cat?",
    "What does the boy think that {} fed?",
    "Who wonders whether {} fed the cat?",
    "What does the boy wonder whether {} fed?",
)


def workbook_of(path, sheets):
    with xlsxwriter.Workbook(str(path)) as book:
        for title, rows in sheets.items():
            page = book.add_worksheet(title)
            for number, row in enumerate(rows):
                page.write_row(number, 0, row)
    return path


def sheet(island, *, names=NAMES):
    """Two cells of a design side by side, and two below them, with headings; two items."""
    rows = [["wh-movement"], [f"{island} islands"], []]
    for half in (0, 2):
        rows.append(["", "short", "", "", "long"])
        for number, noun in enumerate(("Ann", "Tom"), start=1):
            row = list[str]()
            for name, text in zip(names[half : half + 2], TEXTS[half : half + 2], strict=True):
                row += [f"WH.{island}.{name}.{number:02}", text.format(noun), ""]
            rows.append(row)
        rows.append([])
    return rows


def test_sentences_behind_codes_are_the_cells_of_an_island_design(tmp_path):
    path = workbook_of(
        tmp_path / "islands.xlsx",
        {
            "practice": [["G", "What did you get in chemistry?"]],
            "Exp 1": sheet("whe"),
            "Exp 2": sheet("adj"),
        },
    )
    loaded = load_suite(path, language="en")
    suite = loaded.suite
    assert [item.id for item in suite.items] == ["wh_whe-01", "wh_whe-02", "wh_adj-01", "wh_adj-02"]
    assert suite.condition_names == (
        "short_nonisland",
        "long_nonisland",
        "short_island",
        "long_island",
    )
    assert sentence(suite.items[1].conditions[3]) == "What does the boy wonder whether Tom fed?"
    # DD as in Sprouse, Wagers and Phillips 2012: long minus short, in islands minus elsewhere.
    assert suite.predictions[0].name == "DD"
    assert "(*;%long_island%) - (*;%short_island%)" in suite.predictions[0].formula
    read = loaded.reading.table
    assert (read.roles["sheets"], read.unused) == (("Exp 1", "Exp 2"), ("practice",))
    said = " ".join(fault.seen for fault in loaded.reading.faults)
    assert "not 'practice'" in said
    assert "skipped: wh-movement; whe islands; short; long" in said


def test_codes_that_lack_a_condition_everywhere_are_no_design(tmp_path):
    names = ("non.sh", "non.lg", "non.sh", "non.lg")
    path = workbook_of(tmp_path / "islands.xlsx", {"Exp 1": sheet("whe", names=names)})
    with pytest.raises(CimentoError):
        load_suite(path, language="en")
