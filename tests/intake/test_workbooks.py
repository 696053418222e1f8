"""Workbooks read as rows of text, beside openpyxl, and written so that every cell is text."""

from __future__ import annotations

import io
import warnings
import zipfile
from datetime import date, datetime, time, timedelta

import openpyxl
import pytest
import xlsxwriter
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cimento import InputError, SuiteError, load_suite
from cimento.intake import workbooks
from cimento.intake.workbooks import read_workbook, write_sheets, write_workbook
from tests.fuzzing.seeds import workbook, zipped
from tests.helpers.shapes import with_part
from tests.security.test_hostile_files import sheet_xml

VALUES = (
    "a", " a ", "=1+1", "a\nb", "007", "null", "", 0, 3, -2, 2.5, 3.0, 1e20, 1e-7, 0.1 + 0.2,
    123456789012345678, True, False, None, "è", "\u65e5\u672c", "<&>", "_x", "#N/A",
)  # fmt: skip
FORMATS = (
    "General", "0", "0.00", "@", "#,##0", "0%", "0.00E+00", "# ?/?", "yyyy-mm-dd", "d/m/yy", "mmm",
    "h:mm AM/PM", "mm:ss", "mm:ss.0", "[h]:mm", "[hh]:mm:ss", "[mm]:ss", "[ss].00", '"day" 0',
    "[Red]0", "[$-410]d mmmm yyyy", "[$EUR] 0", "0_d", "0\\d", '[h]"h"', '0.0"m"', "d;@",
    "General;[Red]yyyy", *range(50),
)  # fmt: skip
DAYS = (0, 0.25, 0.999999, 1, 1.5, 59.99, 60, 61, 45293, 45293.75, -1, 2_958_466, 1e12, 1e-7)


def by_openpyxl(data: bytes) -> list[list[str]]:
    """What openpyxl reads in the sheet that we would take, as we show it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = book["items"] if "items" in book.sheetnames else book.worksheets[0]
        sheet.reset_dimensions()
        rows = [[*map(shown, row)] for row in sheet.iter_rows(values_only=True)]
        book.close()
    return rows


def shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def filled(rows: list[list[str]]) -> list[list[str]]:
    """The rows without what is empty at their ends."""
    rows = [list(row) for row in rows]
    for row in rows:
        while row and not row[-1]:
            row.pop()
    while rows and not rows[-1]:
        rows.pop()
    return rows


def made(write, **options) -> bytes:
    """A workbook that a function writes with xlsxwriter."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True, **options}) as book:
        write(book)
    return buffer.getvalue()


def of_openpyxl(rows, *, epoch=None) -> bytes:
    book = openpyxl.Workbook()
    book.epoch = epoch or book.epoch
    for row in rows:
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def sheet(body: bytes) -> bytes:
    return workbook(sheet_xml(body, 1))


def assert_as_openpyxl(data: bytes) -> None:
    rows, _ = read_workbook(data, name="a.xlsx")
    assert filled(rows) == filled(by_openpyxl(data))


def test_values_of_every_kind_are_those_of_openpyxl():
    rows = [[value, other] for value in VALUES for other in VALUES]
    assert_as_openpyxl(of_openpyxl(rows))

    def write(book):
        page = book.add_worksheet()
        for number, row in enumerate(rows):
            page.write_row(number, 0, ["" if cell is None else cell for cell in row])

    assert_as_openpyxl(made(write, strings_to_formulas=False))


@pytest.mark.parametrize("mac", [False, True])
def test_dates_are_those_of_openpyxl_in_every_format(mac):
    def write(book):
        page = book.add_worksheet()
        for column, code in enumerate(FORMATS):
            style = book.add_format({"num_format": code})
            for row, days in enumerate(DAYS):
                page.write_number(row, column, days, style)
            for row in (len(DAYS), len(DAYS) + 1):
                page.write_string(row, column, "among texts")

    data = made(write, date_1904=mac)
    assert_as_openpyxl(data)
    rows, faults = read_workbook(data, name="a.xlsx")
    assert {fault.code for fault in faults} == {"CIM-S003"}
    assert len(faults) == sum(":" in cell for row in rows for cell in row)


def test_moments_are_faults_of_their_rows():
    moments = [datetime(2024, 3, 1), date(2024, 3, 1), time(10, 30), timedelta(1.5)]  # noqa: DTZ001
    rows = [["a"], [moments[0], "b", moments[1]], [], [moments[2]], [moments[3]], ["text"]]
    read, faults = read_workbook(of_openpyxl(rows), name="a.xlsx")
    assert read[1] == ["2024-03-01 00:00:00", "b", "2024-03-01 00:00:00"]
    assert [row[0] for row in read[3:5]] == ["10:30:00", "1 day, 12:00:00"]
    assert [fault.where for fault in faults] == [f"a.xlsx row {n}" for n in (2, 2, 4, 5)]
    assert "2024-03-01 00:00:00, which is a date or a time" in faults[0].seen


def test_a_column_of_dates_alone_is_one_of_dates():
    rows = [["good", "bad", "day"], ["Piove.", "Piovono.", date(2026, 3, 1)], ["Va.", "Vanno."]]
    read, faults = read_workbook(of_openpyxl(rows), name="a.xlsx")
    assert (read[1][2], faults) == ("2026-03-01 00:00:00", [])
    among_texts = [*rows, ["Sa.", "Sanno.", "ieri"]]
    [fault] = read_workbook(of_openpyxl(among_texts), name="a.xlsx")[1]
    assert fault.where == "a.xlsx row 2"


def test_many_dates_are_not_all_told(monkeypatch):
    monkeypatch.setattr(workbooks, "MOST_FAULTS", 3)
    rows = [[date(2024, 3, 1), date(2024, 3, 2)]] * 4
    assert len(read_workbook(of_openpyxl(rows), name="a.xlsx")[1]) == 3


@pytest.mark.parametrize(
    "body",
    [
        (
            b'<row r="1"><c r="A1"><v>1</v></c><c r="C1"><v>2</v></c></row>'
            b'<row r="4"><c r="B4"><v>3</v></c></row>'
        ),
        b'<row/><row/><row><c><v>1</v></c></row><row r="5"/>',
        b'<row r="1"><c r="B1"><v>1</v></c><c><v>2</v></c></row>',
        (
            b'<row r="3"><c r="A3"><v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c></row>'
            b'<row r="3"><c r="A3"><v>3</v></c></row>'
        ),
        b'<row><c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="e"><v>#DIV/0!</v></c></row>',
        b'<row><c t="str"><f>A2&amp;"b"</f><v> a b </v></c><c><f>1+1</f><v>2</v></c></row>',
        b"<row><c><f>1+1</f></c><c><v/></c><c><v>1</v></c></row>",
        (
            b'<row><c t="inlineStr"><is><r><t>a</t></r><r><rPr><b/></rPr>'
            b'<t xml:space="preserve"> b</t></r><rPh sb="0" eb="1"><t>no</t></rPh></is></c></row>'
        ),
        b'<row><c t="inlineStr"><is><t>a&#10;&lt;b&gt;</t></is></c></row>',
        b"<row><c><v>1E3</v></c><c><v>-0.0</v></c><c><v>1e999</v></c><c><v> 12 </v></c></row>",
        b'<row><c s="0" t="n"><v>1</v></c></row><mergeCells><mergeCell ref="A1:B2"/></mergeCells>',
    ],
)
def test_a_sheet_as_other_programs_write_it_is_read_as_by_openpyxl(body):
    assert_as_openpyxl(sheet(body))


@given(
    st.lists(
        st.lists(
            st.one_of(
                st.none(),
                st.booleans(),
                st.integers(-(10**15), 10**15),
                st.floats(allow_nan=False, allow_infinity=False),
                st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), max_size=8),
            ),
            max_size=5,
        ),
        max_size=8,
    )
)
@example([[False, True], [None, False, True], [None, 0, 0]])
@settings(deadline=None)
def test_any_table_is_read_as_by_openpyxl(rows):
    plain = [[c.replace("_x", "") if isinstance(c, str) else c for c in row] for row in rows]
    data = of_openpyxl([["head"], *plain])
    read, faults = read_workbook(data, name="a.xlsx")
    # Texts above numbers may be names of columns that take two rows, which is said.
    if [fault.code for fault in faults] == ["CIM-S009"]:
        assert "are read as the column names" in faults[0].seen
        assert len(filled(read)) == len(filled(by_openpyxl(data)))
    else:
        assert_as_openpyxl(data)


def test_truth_values_and_numbers_are_no_names_of_columns_in_two_rows():
    for upper, lower in (([False, True], [None, False, True]), (["a", "b"], [None, 1, 2])):
        rows = [upper, lower, [None, 0, 0]]
        assert_as_openpyxl(of_openpyxl(rows))


def test_what_xml_cannot_hold_is_read_where_openpyxl_leaves_the_escape():
    body = (
        b'<row><c t="inlineStr"><is><t>a_x000D_b _x005F_x000D_ _xD83D_ _x0000_</t></is></c></row>'
    )
    assert read_workbook(sheet(body), name="a")[0] == [["a\rb _x000D_ _xD83D_ _x0000_"]]


def test_tags_with_prefixes_and_paths_from_the_root_are_read():
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    page = (
        f'<x:worksheet xmlns:x="{main}"><x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c></x:row>'
        "</x:sheetData></x:worksheet>"
    ).encode()
    strings = f'<x:sst xmlns:x="{main}"><x:si><x:t>shared</x:t></x:si></x:sst>'.encode()
    data = with_part("xl/sharedStrings.xml", strings, page)
    assert read_workbook(data, name="a")[0] == [["shared"]]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    rels = "xl/_rels/workbook.xml.rels"
    parts[rels] = parts[rels].replace(b'Target="', b'Target="/xl/')
    parts["XL/Workbook.xml"] = parts.pop("xl/workbook.xml")
    assert read_workbook(zipped(parts), name="a")[0] == [["shared"]]


def test_charts_are_no_sheets_and_hidden_sheets_are():
    def write(book):
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=hidden!$A$1:$A$1"})
        book.add_chartsheet("chart").set_chart(chart)
        page = book.add_worksheet("hidden")
        page.write_string(0, 0, "first")
        page.hide()
        book.add_worksheet("more").write_string(0, 0, "second")

    data = made(write)
    assert read_workbook(data, name="a")[0] == [["first"]] == filled(by_openpyxl(data))


def test_two_rows_are_read_where_only_the_header_is_asked_for():
    rows = [[], ["", " "], ["item", "good"], *[["1", "a"]] * 9]
    data = of_openpyxl(rows)
    assert filled(read_workbook(data, name="a", only_header=True)[0]) == [[], ["", " "], *rows[2:4]]


@pytest.mark.parametrize(
    "body",
    [
        b'<row r="1048577"><c><v>1</v></c></row>',
        b'<row r="x"><c><v>1</v></c></row>',
        b'<row><c r="XFE1"><v>1</v></c></row>',
        b'<row><c r="1A"><v>1</v></c></row>',
        b"<row><c><v>abc</v></c></row>",
        b'<row><c t="s"><v>0</v></c></row>',
        b'<row><c t="b"><v>yes</v></c></row>',
        b"<row><c><v>1</v></c>",
    ],
)
def test_a_sheet_that_is_none_is_refused(body):
    rows, [fault] = read_workbook(sheet(body), name="a.xlsx")
    assert rows == []
    assert (fault.code, fault.where) == ("CIM-S002", "a.xlsx")
    assert "damaged" in fault.seen


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("_rels/.rels", b"officeDocument", b"thumbnail"),
        ("_rels/.rels", b"Target=", b"Aim="),
        ("xl/_rels/workbook.xml.rels", b'Id="r1"', b'Id="r2"'),
        ("xl/_rels/workbook.xml.rels", b"worksheet", b"chartsheet"),
        ("xl/workbook.xml", b"<sheet ", b"<page "),
        ("xl/workbook.xml", b"<workbook", b"<<workbook"),
    ],
)
def test_a_workbook_whose_parts_do_not_hold_together_is_refused(part, old, new):
    with zipfile.ZipFile(io.BytesIO(sheet(b"<row><c><v>1</v></c></row>"))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new)
    rows, [fault] = read_workbook(zipped(parts), name="a.xlsx")
    assert (rows, fault.code) == ([], "CIM-S002")
    assert "damaged" in fault.seen


CORNERS = (
    b'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
)


def test_two_cells_in_far_corners_take_no_room():
    rows, faults = read_workbook(sheet(CORNERS), name="a.xlsx")
    assert not faults
    assert len(rows) == workbooks.MOST_ROWS
    assert (rows[0], rows[1], len(rows[-1])) == (["1"], [], workbooks.MOST_COLUMNS)


@pytest.mark.parametrize(
    ("name", "value", "data", "seen"),
    [
        ("SMALL_CELLS", 9, lambda: sheet(b"<row><c/></row>" * 2_000), "cells or more in"),
        ("MOST_SETTINGS", 0, lambda: sheet(b""), "more than 0 settings"),
        ("MOST_CELLS", 9, lambda: sheet(b'<row><c r="J1"><v>1</v></c></row>'), "damaged"),
        ("SMALL_BYTES", 9, lambda: sheet(b"<row/>" * 90_000), "The workbook grows from"),
    ],
)
def test_a_workbook_beyond_a_bound_is_refused(monkeypatch, name, value, data, seen):
    monkeypatch.setattr(workbooks, name, value)
    rows, [fault] = read_workbook(data(), name="a.xlsx")
    assert rows == []
    assert seen in fault.seen


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_whatever_the_encoding(encoding):
    page = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [<!ENTITY a "a">]><worksheet/>'
    [fault] = read_workbook(workbook(page.encode(encoding)), name="a")[1]
    assert "declares a document type" in fault.seen


def test_what_is_written_is_text_and_comes_back():
    texts = [v for v in VALUES if isinstance(v, str)]
    texts += [
        "10",
        "1e5",
        "true",
        "2024-01-02",
        "http://a.it",
        "a\r\nb",
        "a\x01b",
        "_x000D_",
        "{=1}",
    ]
    rows = [["item", "text"], *([str(n), text] for n, text in enumerate(texts))]
    data = write_workbook(rows, sheet="items")
    read, faults = read_workbook(data, name="a.xlsx")
    assert not faults
    assert [[*row, ""][:2] for row in read] == rows
    page = openpyxl.load_workbook(io.BytesIO(data))["items"]
    cells = [cell for row in page.iter_rows() for cell in row]
    assert {cell.number_format for cell in cells} == {"@"}
    assert {cell.data_type for cell in cells if cell.value} == {"s"}
    assert page.freeze_panes == "A2"
    assert 4 < page.column_dimensions["B"].width < 95


def test_merged_cells_are_filled_down_as_they_look():
    book = openpyxl.Workbook()
    for row in (("item", "text"), (1, "a"), (None, "b"), (2, "c"), (None, None), (None, "d")):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.active.merge_cells("A4:A6")
    buffer = io.BytesIO()
    book.save(buffer)
    rows, _ = read_workbook(buffer.getvalue(), name="a.xlsx")
    expected = [["item", "text"], ["1", "a"], ["1", "b"], ["2", "c"], [], ["2", "d"]]
    assert filled(rows) == expected


def test_overlapping_stretches_and_those_beyond_the_sheet_do_no_harm():
    cells = b"".join(
        b'<row r="%d"><c r="A%d"><v>7</v></c><c r="B%d"/></row>' % (n, n, n) for n in (1, 2)
    )
    merges = b"".join(b'<mergeCell ref="A1:A%d"/>' % (1_048_576 - n) for n in range(1000))
    data = workbook(
        sheet_xml(cells, 1).replace(
            b"</sheetData>", b"</sheetData><mergeCells>" + merges + b"</mergeCells>"
        )
    )
    rows, faults = read_workbook(data, name="a.xlsx")
    assert filled(rows) == [["7"], ["7"]]
    assert not faults


TWO_ROWS = (
    ("Item", "Non isola", None, "Isola", None),
    (None, "corta", "lunga", "corta", "lunga"),
    (1, "Chi dice che è qui?", "Che cosa dice?", "Chi si chiede se è qui?", "Che si chiede?"),
    (2, "Chi sa che è tardi?", "Che cosa sa?", "Chi si chiede se è tardi?", "Che si domanda?"),
)
JOINED = ["Item", "Non-isola corta", "Non-isola lunga", "Isola corta", "Isola lunga"]


def of_two_rows(path, *, title=(), merged=("A1:A2", "B1:C1", "D1:E1")):
    book = openpyxl.Workbook()
    for row in (*title, *TWO_ROWS):
        book.active.append(row)
    for stretch in merged:
        book.active.merge_cells(stretch)
    book.save(path)
    return path


def test_names_in_two_rows_are_joined_where_cells_of_the_upper_are_merged(tmp_path):
    loaded = load_suite(of_two_rows(tmp_path / "isole.xlsx"))
    assert [condition.name for condition in loaded.suite.items[0].conditions] == [
        name.replace(" ", "_") for name in JOINED[1:]
    ]
    assert loaded.suite.factors
    [fault] = [fault for fault in loaded.reading.faults if fault.code == "CIM-S009"]
    assert fault.where == "isole.xlsx row 1"
    assert fault.seen == f"Rows 1 and 2 are read as the column names {', '.join(JOINED)}."


def test_a_title_may_stand_above_names_in_two_rows(tmp_path):
    merged = ("A1:E1", "B2:C2", "D2:E2")
    path = of_two_rows(tmp_path / "isole.xlsx", title=[("Le mie isole",)], merged=merged)
    assert read_workbook(path.read_bytes(), name="isole.xlsx")[0][2] == JOINED


def test_names_in_two_rows_are_joined_without_merged_cells_above_sentences(tmp_path):
    loaded = load_suite(of_two_rows(tmp_path / "isole.xlsx", merged=()))
    assert [condition.name for condition in loaded.suite.items[0].conditions] == [
        name.replace(" ", "_") for name in JOINED[1:]
    ]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_names_in_two_rows_of_a_text_file_are_joined_and_said(tmp_path, mark):
    rows = [map(str, ("" if cell is None else cell for cell in row)) for row in TWO_ROWS]
    path = tmp_path / ("isole.tsv" if mark == "\t" else "isole.csv")
    path.write_text("".join(mark.join(row) + "\n" for row in rows))
    loaded = load_suite(path)
    assert [condition.name for condition in loaded.suite.items[0].conditions] == [
        name.replace(" ", "_") for name in JOINED[1:]
    ]
    [fault] = [fault for fault in loaded.reading.faults if fault.code == "CIM-S009"]
    assert fault.seen == f"Rows 1 and 2 are read as the column names {', '.join(JOINED)}."


def test_a_second_row_like_those_below_it_is_none_of_names(tmp_path):
    path = tmp_path / "parole.csv"
    path.write_text("Voce,,Nota\ncasa,nome,forma\ncorre,verbo,forma\nrosso,aggettivo,base\n")
    with pytest.raises(SuiteError, match="take two rows"):
        load_suite(path)


def test_a_merged_name_above_sentences_is_no_name_in_two_rows():
    book = openpyxl.Workbook()
    for row in (("Item", "Frasi", None), (1, "Il gatto dorme.", "Il gatto dormono.")):
        book.active.append(row)
    book.active.merge_cells("B1:C1")
    buffer = io.BytesIO()
    book.save(buffer)
    rows, faults = read_workbook(buffer.getvalue(), name="a.xlsx")
    assert filled(rows) == [["Item", "Frasi"], ["1", "Il gatto dorme.", "Il gatto dormono."]]
    assert faults == []


NOTE = [["Questo file contiene coppie."]]
PAIRS = [["good", "bad"], ["The cat sleeps.", "The cat sleep."]]
OTHER = [["who", "when"], ["Ada", "Monday"]]


@pytest.mark.parametrize(
    ("sheets", "read"),
    [
        ({"Note": NOTE, "Dati": PAIRS}, "'Dati' is read, and not 'Note'"),
        ({"Who": OTHER, "Dati": PAIRS, "Fine": NOTE}, "'Dati' is read, and not 'Who', 'Fine'"),
        ({"Dati": PAIRS, "Note": NOTE, "Altri": PAIRS}, "'Dati' is read, and not 'Altri'"),
        ({"Note": NOTE, "Items": PAIRS, "Altri": PAIRS}, ""),
    ],
)
def test_the_one_sheet_with_known_names_is_read(sheets, read, tmp_path):
    path = tmp_path / "mine.xlsx"
    path.write_bytes(write_sheets(sheets, where="mine.xlsx"))
    loaded = load_suite(path)
    assert len(loaded.suite.items) == 1
    said = [fault.seen for fault in loaded.reading.faults if fault.code == "CIM-S062"]
    assert said == ([f"Of the sheets, {read}."] if read else [])


def test_where_several_sheets_fit_the_message_names_them(tmp_path):
    path = tmp_path / "mine.xlsx"
    path.write_bytes(write_sheets({"Who": OTHER, "A": PAIRS, "B": PAIRS}, where="mine.xlsx"))
    with pytest.raises(InputError, match="'Who' is read, and not 'A', 'B'"):
        load_suite(path)
