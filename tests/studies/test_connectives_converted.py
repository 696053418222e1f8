"""The cloze section of the connectives resource, converted to a suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from cimento.cli.main import invoke
from cimento.studies.connectives.cloze import read_cloze_section

OWN = Path(__file__).parents[1] / "data" / "connectives"


@pytest.mark.parametrize("output", ["suite", "suite.xlsx"])
def test_what_people_chose_is_still_there_after_a_conversion(tmp_path, output):
    written = tmp_path / output
    assert invoke(["suites", "convert", str(OWN / "cloze.tsv"), "-o", str(written)]) == 0
    assert invoke(["suites", "convert", str(written), "-o", str(tmp_path / "again")]) == 0
    table, suite = read_cloze_section(OWN / "cloze.tsv"), read_cloze_section(tmp_path / "again")
    assert suite.choices == table.choices
    assert suite.choices["clz e 1cl"] == {"e": 11, "poi": 8, "none": 1}
    assert suite.items == table.items


def test_a_free_column_of_that_name_with_something_else_is_not_read_as_people(tmp_path):
    assert invoke(["suites", "convert", str(OWN / "cloze.tsv"), "-o", str(tmp_path / "a")]) == 0
    items = tmp_path / "a/items.tsv"
    lines = [line.split("\t") for line in items.read_text("utf-8").splitlines()]
    place = lines[0].index("choices")
    for line in lines[1:]:
        line[place] = "4"
    items.write_text("".join("\t".join(line) + "\n" for line in lines), "utf-8")
    assert read_cloze_section(tmp_path / "a").choices == {}
