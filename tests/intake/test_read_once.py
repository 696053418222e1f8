"""Workbooks of several sheets are read once while a file is opened."""

from __future__ import annotations

import io
import zipfile
from collections import Counter

import pytest
import xlsxwriter

from cimento import InputError
from cimento.intake import read_once, workbooks
from cimento.intake.read_once import read_workbook, reading_once, sheet_names
from cimento.kinds.registry import load_suite
from tests.helpers.command_line import invoke

PAIRS = [("Il treno parte.", "Il treno partono."), ("La zia canta.", "La zia cantano.")]
OTHER = [["n", "prima", "dopo"], ["1", "Piove ancora.", "Nevica ancora."],
         ["2", "Fa molto caldo.", "Fa molto freddo."]]  # fmt: skip


def book(sheets):
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer) as made:
        for name, rows in sheets.items():
            sheet = made.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return buffer.getvalue()


MANY = {f"Foglio{n}": OTHER for n in range(1, 4)} | {"Coppie": [["good", "bad"], *PAIRS]}


@pytest.fixture
def times(monkeypatch):
    """How often each sheet of a workbook is opened."""
    counts: Counter[str] = Counter()
    plain = zipfile.ZipFile.open

    def counted(self, name, *rest, **more):
        part = getattr(name, "filename", name)
        counts[part] += part.startswith("xl/worksheets/")
        return plain(self, name, *rest, **more)

    monkeypatch.setattr(zipfile.ZipFile, "open", counted)
    return counts


def test_a_sheet_is_read_three_times_at_most_however_many_readers_look_at_it(tmp_path, times):
    path = tmp_path / "libro.xlsx"
    path.write_bytes(book(MANY))
    loaded = load_suite(path, language="it")
    assert [item.conditions[0].regions[0].text for item in loaded.suite.items] == [
        good for good, _ in PAIRS
    ]
    assert len([part for part in times if times[part]]) == len(MANY)
    assert max(times.values()) <= 3  # the heading alone, the whole sheet, once outside the readers


def test_a_workbook_that_no_reader_knows_is_refused_after_one_reading(tmp_path, times):
    path = tmp_path / "libro.xlsx"
    path.write_bytes(book(dict.fromkeys(("a", "b", "c", "d", "e"), OTHER)))
    with pytest.raises(InputError):
        load_suite(path, language="it")
    assert max(times.values()) <= 3


def test_import_reads_a_sheet_of_answers_once(tmp_path, times):
    path = tmp_path / "risposte.xlsx"
    rows = [["Codice", *(good for good, _ in PAIRS)], ["p1", 5, 4], ["p2", 4, 4], ["p3", 5, 2]]
    path.write_bytes(book({"Foglio1": rows, "Note": [["Appunti"], ["niente"]]}))
    output = str(tmp_path / "giudizi.csv")
    assert invoke(["annotate", "import", str(path), "--names", "keep", "-o", output]) == 0
    assert max(times.values()) <= 2


def test_what_was_read_is_as_it_is_without_and_nothing_is_kept():
    data = book(MANY)
    alone = workbooks.read_workbook(data, name="libro.xlsx", sheet="Coppie")
    with reading_once():
        first = read_workbook(data, name="libro.xlsx", sheet="Coppie")
        first[0][0][0] = "changed"
        first[0].clear()
        assert read_workbook(bytes(bytearray(data)), name="libro.xlsx", sheet="Coppie") == alone
        sheet_names(data).clear()
        assert sheet_names(data) == workbooks.sheet_names(data)
        with reading_once():
            assert read_once._read.get().sheets  # the outer context is that of the inner one
    assert read_once._read.get() is None
    assert read_workbook(data, name="libro.xlsx", sheet="Coppie") == alone


def test_a_changed_file_of_the_same_name_is_read_anew():
    with reading_once():
        for rows in ([["good", "bad"], *PAIRS], OTHER):
            found, _ = read_workbook(book({"Foglio1": rows}), name="libro.xlsx")
            assert found == [list(map(str, row)) for row in rows]


def test_of_sheets_that_are_too_large_together_not_all_are_kept(monkeypatch):
    monkeypatch.setattr(read_once, "_MOST_KEPT", 7)
    data = book({"a": OTHER, "b": OTHER})  # of 9 cells each
    with reading_once():
        for name in ("a", "b", "a"):
            rows, _ = read_workbook(data, name="libro.xlsx", sheet=name)
            assert rows == OTHER
        assert not read_once._read.get().sheets
