"""Cells that a spreadsheet program would take for formulas, neutralised where that is asked for."""

from __future__ import annotations

import csv
import json

import pytest

from cimento.cli.main import invoke
from cimento.files import inert, make_inert


@pytest.mark.parametrize(
    "cell",
    ["=1+1", '=HYPERLINK("http://x.test")', "+a", "-a", "@SUM(A1)", "\t=1", "\r=1", "-2+3+cmd"],
)
def test_what_begins_like_a_formula_gets_an_apostrophe(cell):
    assert inert(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "0.5", "-0.5", "+3", "-1e-9", "a=b", "(1;%a%) < 2", "'=1"])
def test_what_is_a_number_or_text_stays(cell):
    assert inert(cell) == cell


def test_a_file_keeps_its_cells_and_its_line_ends(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'a,b\r\n"=x, y","line\n-two"\r\n-1,@z\r\n')

    make_inert(path)

    assert path.read_bytes() == b'a,b\r\n"\'=x, y","line\n-two"\r\n-1,\'@z\r\n'


def test_a_report_is_neutralised_on_request(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    row = {"sentence_good": "Il cane dorme.", "sentence_bad": "Il cane dormono.", "UID": "=cmd()"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    runs = str(tmp_path / "runs")
    assert invoke(["run", str(tmp_path / "a.jsonl"), "-m", "demo-causal", "-o", runs]) == 0

    def suites(*more):
        path = tmp_path / "report.csv"
        assert invoke(["report", runs, "-o", str(path), *more]) == 0
        with path.open(newline="") as file:
            return {line["suite"] for line in csv.DictReader(file)}

    assert suites() == {"=cmd()"}
    assert suites("--spreadsheet-safe") == {"'=cmd()"}
