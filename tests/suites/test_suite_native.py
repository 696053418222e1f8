"""The native suite folder: what is read, how it may have been saved, what is refused."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cimento import InputError, Region, SuiteError, evaluate, load_suite
from cimento.suites.formats.items import read_regions
from cimento.suites.formats.native import write_native
from cimento.suites.load import open_suite, read_suite
from tests.helpers.suites_on_disk import (
    ITEMS,
    TOML,
    codes_of,
    faults_of,
    write,
    write_folder,
    write_workbook,
)

ROWS = [line.split("\t") for line in ITEMS.splitlines()]


def test_a_folder_is_read(tmp_path):
    loaded = open_suite(write_folder(tmp_path / "s"))
    suite = loaded.suite
    assert suite.name == "lampade"
    assert suite.region_names == ("subject", "verb", "rest")
    assert [item.id for item in suite.items] == ["1", "2"]
    assert suite.items[0].condition("mismatch").regions == (
        Region("Le lampade"),
        Region("è"),
        Region("accese."),
    )
    assert loaded.faults == ()
    assert loaded.format == "native"
    assert loaded.sha256 == hashlib.sha256((TOML + ITEMS).encode()).hexdigest()


def test_everything_in_suite_toml_is_read(tmp_path):
    toml = """
regions = ["all"]
since = 1999-12-31
[meta]
name = "n"
version = "1"
language = "it"
phenomenon = "p"
license = "CC0-1.0"
citation = "c"
status = "draft"
author = "a"
reference = "r"
comment = "k"
tags = ["x", "y"]
funding = "none"
[options]
metric = "mean"
join = "detok"
cluster = "t"
mine = 3
[factors]
f = ["u", "v"]
[[predictions]]
formula = "(1;%a%) < (1;%b%)"
comment = "because"
weight = 2
"""
    items = "item\tcondition\ttext\tf\tt\tnote\n1\ta\tUno.\tu\tk\t\n1\tb\tDue.\tv\tk\tbello\n"
    suite = open_suite(write_folder(tmp_path, toml=toml, items=items)).suite
    meta = suite.meta
    assert (meta.version, meta.phenomenon, meta.license) == ("1", "p", "CC0-1.0")
    assert (meta.citation, meta.status, meta.author) == ("c", "draft", "a")
    assert (meta.reference, meta.comment, meta.tags) == ("r", "k", ("x", "y"))
    assert meta.extra == {"funding": "none"}
    assert (suite.metric, suite.join, suite.cluster) == ("mean", "detok", ("t",))
    assert suite.factors == {"f": ("u", "v")}
    assert suite.extra == {"since": "1999-12-31", "options": {"mine": 3}}
    assert suite.predictions[0].comment == "because"
    assert suite.predictions[0].extra == {"weight": 2}
    first, second = suite.items[0].conditions
    assert first.columns == {"f": "u", "t": "k"}
    assert second.columns == {"f": "v", "t": "k", "note": "bello"}


def test_without_regions_there_is_one(tmp_path):
    items = "item\tcondition\ttext\n1\ta\tUno.\n"
    suite = open_suite(write_folder(tmp_path, toml='[meta]\nname = "n"\n', items=items)).suite
    assert suite.region_names == ("sentence",)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("A | B", [("A", False), ("B", False)]),
        ("l'|uomo", [("l'", False), ("uomo", True)]),
        ("Chi |  | arriva", [("Chi", False), ("", False), ("arriva", False)]),
        ("Chi | | arriva", [("Chi", False), ("", False), ("arriva", False)]),
        ("A| | B", [("A", False), ("", True), ("B", False)]),
        ("A | | | B", [("A", False), ("", False), ("", True), ("B", False)]),
        (" | B", [("", False), ("B", False)]),
        ("| B", [("", False), ("B", False)]),
        ("A | ", [("A", False), ("", False)]),
        ("A |", [("A", False), ("", False)]),
        ("A|", [("A", False), ("", True)]),
        (r"a\|b | c\\|d\te\nf", [("a|b", False), ("c\\", False), ("d\te\nf", True)]),
        (r"\emph | x\y", [("\\emph", False), ("x\\y", False)]),
    ],
)
def test_bars_separate_regions(cell, expected):
    regions, doubtful = read_regions(cell)
    assert [(region.text, region.glued) for region in regions] == expected
    assert doubtful == []


@pytest.mark.parametrize("cell", ["A| B", "A |B", "A | B| C"])
def test_a_bar_with_a_blank_on_one_side_is_doubtful(cell):
    regions, doubtful = read_regions(cell)
    assert len(doubtful) == 1
    assert not any(region.glued for region in regions)


@pytest.mark.parametrize(
    ("table", "content"),
    [
        ("items.tsv", ITEMS.encode("utf-8-sig")),
        ("items.tsv", ITEMS.replace("\n", "\r\n").encode()),
        ("items.tsv", (ITEMS + "\t\t\n\n").encode()),
        ("items.tsv", ITEMS.encode("utf-16")),
        ("items.csv", ITEMS.replace("\t", ";").encode("utf-8-sig")),
        ("items.csv", ITEMS.replace("\t", ",").encode()),
        ("items.csv", ("sep=;\n" + ITEMS.replace("\t", ";")).encode()),
        ("items.txt", ITEMS.encode("utf-16")),
    ],
)
def test_tables_are_read_as_spreadsheets_write_them(tmp_path, table, content):
    expected = open_suite(write_folder(tmp_path / "plain")).suite
    loaded = open_suite(write_folder(tmp_path / "other", items=content, table=table))
    assert loaded.suite == expected
    assert loaded.faults == ()


def test_cp1252_is_read_with_a_warning_that_shows_a_word(tmp_path):
    content = ITEMS.replace("\t", ";").encode("cp1252")
    loaded = open_suite(write_folder(tmp_path, items=content, table="items.csv"))
    assert loaded.suite.items[0].condition("mismatch").regions[1].text == "è"
    [warning] = loaded.faults
    assert warning.code == "CIM-S006"
    assert warning.where == "items.csv row 3"
    assert "'è'" in warning.seen


def test_cp1251_is_read_with_a_warning_that_shows_a_word(tmp_path):
    rows = ["№;условие;предложение", "1;a;Её окна были открыты.", "1;b;Её окна была открыты."]
    content = "\n".join(rows).encode("cp1251")
    loaded = open_suite(
        write_folder(tmp_path, items=content, table="items.csv", toml='[meta]\nname = "окна"\n')
    )
    assert loaded.suite.items[0].condition("b").regions[0].text == "Её окна была открыты."
    first = loaded.faults[0]
    assert (first.code, first.where) == ("CIM-S006", "items.csv row 1")
    assert "cp1251; 'условие' should look right" in first.seen


@pytest.mark.parametrize("sheet", ["items", "Foglio1"])
def test_a_workbook_is_read(tmp_path, sheet):
    expected = open_suite(write_folder(tmp_path / "plain")).suite
    folder = write_folder(tmp_path / "book")
    (folder / "items.tsv").unlink()
    rows = [[int(cell) if cell.isdigit() else cell for cell in row] for row in ROWS]
    write_workbook(folder / "items.xlsx", [*rows, [None, None, None]], sheet=sheet)
    assert open_suite(folder).suite == expected


def test_numbers_and_truth_values_of_a_workbook_become_text(tmp_path):
    folder = write_folder(tmp_path)
    (folder / "items.tsv").unlink()
    rows = [[*ROWS[0], "score", "flag"]] + [[*row, 2.5, True] for row in ROWS[1:]]
    write_workbook(folder / "items.xlsx", rows)
    assert open_suite(folder).suite.items[0].conditions[0].columns == {
        "score": "2.5",
        "flag": "true",
    }


def test_the_sheet_named_items_is_taken(tmp_path):
    import openpyxl

    folder = write_folder(tmp_path)
    (folder / "items.tsv").unlink()
    book = openpyxl.Workbook()
    book.worksheets[0].append(["notes"])
    sheet = book.create_sheet("items")
    for row in ROWS:
        sheet.append(row)
    book.save(folder / "items.xlsx")
    assert len(open_suite(folder).suite.items) == 2


def test_good_and_bad_columns_make_a_suite_of_pairs(tmp_path):
    items = "good\tbad\tnumber\nLe lampade | sono accese.\tLe lampade | è accesa.\tplural\n"
    toml = 'regions = ["a", "b"]\n[meta]\nname = "p"\nlanguage = "it"\n'
    suite = open_suite(write_folder(tmp_path, toml=toml, items=items)).suite
    assert suite.condition_names == ("good", "bad")
    assert [prediction.formula for prediction in suite.predictions] == ["(*;%good%) < (*;%bad%)"]
    assert suite.items[0].id == "1"
    assert suite.items[0].column("number") == "plural"
    assert suite.items[0].condition("bad").regions[1].text == "è accesa."


def test_the_rows_of_an_item_need_not_stand_together(tmp_path):
    header, *lines = ITEMS.splitlines()
    items = "\n".join([header, lines[0], lines[2], lines[1], lines[3]])
    assert open_suite(write_folder(tmp_path, items=items)).suite.items[0].condition("mismatch")


def test_columns_are_found_whatever_their_capitals(tmp_path):
    items = ITEMS.replace("item\tcondition\ttext", "Item\tCondition\tText ")
    assert len(open_suite(write_folder(tmp_path, items=items)).suite.items) == 2


def test_a_file_in_the_folder_stands_for_it(tmp_path):
    folder = write_folder(tmp_path / "s")
    assert open_suite(folder / "suite.toml").path == folder
    assert open_suite(folder / "items.tsv").path == folder


def test_rows_are_named_as_the_spreadsheet_counts_them(tmp_path):
    items = ITEMS.replace("2\tmatch\tIl cane | dorme |", "\n2\tmatch\tIl cane  | dorme  |")
    [fault, other] = faults_of(write_folder(tmp_path, items=items))
    assert (fault.code, other.code) == ("CIM-S040", "CIM-S040")
    assert fault.where == "items.tsv row 5"


BAD_FOLDERS = {
    "empty toml": ({"toml": ""}, "CIM-S002", "suite.toml"),
    "empty table": ({"items": " \n"}, "CIM-S002", "items.tsv"),
    "header only": ({"items": "item\tcondition\ttext\n"}, "CIM-S005", "The suite has no items"),
    "truncated toml": ({"toml": TOML[:-30]}, "CIM-S002", "end of document"),
    "cut in a letter": ({"toml": TOML.encode() + "# è".encode()[:-1]}, "CIM-S001", "0xc3"),
    "no name": ({"toml": "[meta]\n"}, "CIM-S003", "meta, name"),
    "no meta": ({"toml": "regions = ['a']\n"}, "CIM-S003", "meta"),
    "number as version": ({"toml": TOML.replace("language", "version = 1\nlanguage")},
                          "CIM-S003", "quotation marks; it is 1"),
    "unknown metric": ({"toml": TOML + '[options]\nmetric = "total"\n'}, "CIM-S003", "total"),
    "column missing": ({"items": "item\ttext\n1\tUno.\n"}, "CIM-S004", "condition"),
    "column twice": ({"items": "item\tcondition\ttext\ttext\n1\ta\tUno.\tUno.\n"},
                     "CIM-S004", "twice"),
    "tab in a sentence": ({"items": ITEMS.replace("accese.", "accese\tadesso.")},
                          "CIM-S004", "row 2"),
    "broken utf-8": ({"items": ITEMS.encode().replace(b"dorme", b"\xff") }, "CIM-S001", "row 4"),
    "cyrillic koi8-r": ({"items": ITEMS.replace("lampade", "лампы горели вечером")
                         .replace("Le ", "Наши ").replace("è", "и").encode("koi8-r")},
                        "CIM-S001", "row 2"),
    "cyrillic cp866": ({"items": ITEMS.replace("lampade", "лампы горели вечером")
                        .replace("Le ", "Наши ").replace("è", "и").encode("cp866")},
                       "CIM-S001", "row 2"),
    "greek cp1253": ({"items": ITEMS.replace("lampade", "Οι λάμπες ήταν αναμμένες το βράδυ")
                      .replace("è", "και").encode("cp1253")}, "CIM-S001", "row 2"),
    "broken cyrillic utf-8": ({"items": ITEMS.replace("lampade", "лампы горели вечером").encode()
                               .replace(b"\xd0\xb0", b"\xd0", 1)}, "CIM-S001", "row 2"),
    "zero bytes": ({"items": ITEMS.encode("utf-16-le")}, "CIM-S001", "zero bytes"),
    "not cp1252": ({"items": ITEMS.replace("è", "e").encode() + b"3\ta\t\x81\n"},
                   "CIM-S001", "row 6"),
    "bad extra": ({"items": "item\tcondition\ttext\t_extra\n1\ta\tUno.\t{\n"}, "CIM-S003", "JSON"),
    "wrong extra": ({"items": 'item\tcondition\ttext\t_extra\n1\ta\tUno.\t{"item": 3}\n'},
                    "CIM-S003", "_extra"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_FOLDERS)
def test_a_bad_folder_ends_in_one_error_with_its_code_and_place(tmp_path, name):
    files, code, shown = BAD_FOLDERS[name]
    folder = write_folder(tmp_path / "s", **files)
    with pytest.raises(SuiteError) as caught:
        open_suite(folder)
    assert code in {fault.code for fault in caught.value.faults}
    assert shown in str(caught.value)
    assert caught.value.exit_code == 2


def test_both_files_are_reported_at_once(tmp_path):
    folder = write_folder(tmp_path, toml="[meta]\nversion = 1\n", items="item\ttext\n1\tUno.\n")
    assert codes_of(folder) == ["CIM-S003", "CIM-S004"]
    assert len(faults_of(folder)) == 3


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"<html></html>"])
def test_a_damaged_workbook_is_reported(tmp_path, content):
    folder = write_folder(tmp_path, items=content, table="items.xlsx")
    assert codes_of(folder) == ["CIM-S002"]


def test_a_truncated_workbook_is_reported(tmp_path):
    folder = write_folder(tmp_path)
    (folder / "items.tsv").unlink()
    whole = write_workbook(tmp_path / "whole.xlsx", ROWS).read_bytes()
    (tmp_path / "whole.xlsx").unlink()
    for end in (40, len(whole) // 2, len(whole) - 30):
        write(folder / "items.xlsx", whole[:end])
        assert codes_of(folder) == ["CIM-S002"]


def test_a_date_in_a_workbook_is_reported(tmp_path):
    from datetime import datetime

    folder = write_folder(tmp_path)
    (folder / "items.tsv").unlink()
    rows = [*ROWS, [3, "match", datetime(2024, 3, 1)]]  # noqa: DTZ001 - Excel knows no zones
    write_workbook(folder / "items.xlsx", rows)
    [fault, *_] = [fault for fault in faults_of(folder) if fault.code == "CIM-S003"]
    assert fault.where == "items.xlsx row 6"


def test_an_open_quotation_mark_in_csv_is_reported(tmp_path):
    content = ITEMS.replace("\t", ",").replace("Le lampade", '"Le lampade', 1)
    folder = write_folder(tmp_path, items=content, table="items.csv")
    assert codes_of(folder) == ["CIM-S002"]


def test_two_tables_or_none_are_refused(tmp_path):
    folder = write_folder(tmp_path / "s")
    write(folder / "items.csv", ITEMS)
    with pytest.raises(SuiteError, match=r"several tables: items\.tsv, items\.csv"):
        open_suite(folder)
    (folder / "items.csv").unlink()
    (folder / "items.tsv").unlink()
    with pytest.raises(SuiteError, match="no table of items"):
        open_suite(folder)


def test_a_folder_without_suite_toml_is_refused(tmp_path):
    write(tmp_path / "items.tsv", ITEMS)
    with pytest.raises(InputError, match=r"folder without suite\.toml"):
        open_suite(tmp_path)
    with pytest.raises(InputError, match=r"without a suite\.toml beside it"):
        open_suite(tmp_path / "items.tsv")


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    folder = write_folder(tmp_path)

    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    # chmod would not stop a test that runs as root
    monkeypatch.setattr("cimento.io.files.open_plain", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        open_suite(folder)


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    (tmp_path / "suite.toml").write_text(TOML)
    (tmp_path / "items.tsv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        open_suite(tmp_path)


@pytest.mark.parametrize(
    ("toml", "key", "todo"),
    [
        (f'cluster = "lemma"\n{TOML}', "cluster", "Write it under [options]."),
        (TOML.replace("language", 'cluster = "x"\nlanguage'), "[meta] cluster", "[options]"),
        (TOML.replace("language", 'kind = "acceptability"\nlanguage'), "[meta] kind", "at the top"),
        (f"low = 1\n{TOML}", "low", "under [ratings]"),
        (f'language = "it"\n{TOML}', "language", "under [meta]"),
        (f'{TOML}\n[options]\nmeasure = 1\nformula = "x"', "[options] formula", "[[predictions]]"),
        (f'{TOML}\n[options]\nmetrics = "mean"', "[options] metrics", "Did you mean 'metric'?"),
        (f"{TOML}\n[rating]\nlow = 1\nhigh = 7", "rating", "Did you mean 'ratings'?"),
        (f"{TOML}\n[ratings]\nlowest = 1\nhigh = 7", "[ratings] lowest", "Did you mean 'low'?"),
        (f"{TOML}\n[design]\nwindow = 1", "[design] window", "Did you mean 'windows'?"),
        (f'{TOML}\ncommment = "x"', "[[predictions]] 1 commment", "Did you mean 'comment'?"),
    ],
)
def test_a_key_that_is_misspelled_or_misplaced_is_an_error_that_says_where_it_belongs(
    tmp_path, toml, key, todo
):
    (tmp_path / "suite.toml").write_text(toml, encoding="utf-8")
    (tmp_path / "items.tsv").write_text(ITEMS, encoding="utf-8")
    _, faults = read_suite(tmp_path)
    [said] = [fault for fault in faults if fault.code == "CIM-S007"]
    assert said.severity == "error"
    assert said.seen == f"The key {key} is unknown, so it has no effect."
    assert todo in said.todo


@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.dictionaries(
        st.sampled_from(
            ["kind", "low", "licens", "regions", "note", "cluster", "metrics", "canary"]
        ),
        st.text(max_size=3) | st.none() | st.lists(st.integers(0, 3), max_size=2),
    )
)
def test_whatever_another_format_says_of_a_suite_is_written_so_that_it_is_read_again(
    tmp_path, extra
):
    (tmp_path / "suite.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "items.tsv").write_text(ITEMS, encoding="utf-8")
    suite = open_suite(tmp_path).suite
    meta = {**extra, "canary": "x:00000000-0000-4000-8000-000000000000"}
    suite = replace(
        suite,
        meta=replace(suite.meta, extra=meta),
        predictions=tuple(replace(p, extra=extra) for p in suite.predictions),
    )
    folder = tmp_path / f"again-{uuid4()}"
    folder.mkdir()
    write_native(suite, folder)
    assert open_suite(folder).suite == suite


FROM_FILES = {
    "CIM-S006": {"items": ITEMS.encode("cp1252")},
    "CIM-S047": {"items": ITEMS.replace("Le lampade | sono", "Le lampade |sono")},
    "CIM-S048": {"items": ITEMS.replace("accese.", r"\emph{accese}.")},
    "CIM-S049": {"items": ITEMS.replace("Il cane | dorme | in giardino.",
                                        '"Il cane | dorme | ""in giardino""."')},
}  # fmt: skip


@pytest.mark.parametrize("code", FROM_FILES)
def test_what_readers_warn_of(tmp_path, code):
    folder = write_folder(tmp_path, **FROM_FILES[code])
    assert codes_of(folder) == [code]
    assert faults_of(folder)[0].severity == "warning"


def test_places_of_rows_stand_in_messages(tmp_path):
    folder = write_folder(tmp_path, items=ITEMS.replace("in giardino.", "in  giardino."))
    assert [fault.where for fault in faults_of(folder)] == [
        "items.tsv row 4, item 2, condition match",
        "items.tsv row 5, item 2, condition mismatch",
    ]


TWO_BY_TWO = """regions = ["sentence"]
[meta]
name = "wide"
language = "it"
[factors]
distance = ["short", "long"]
structure = ["nonisland", "island"]
[[predictions]]
formula = "(*;%long_island%) > (*;%short_island%)"
[[predictions]]
formula = "(*;%long_nonisland%) > (*;%short_nonisland%)"
"""


def test_conditions_may_have_a_column_each(tmp_path):
    names = ("short_nonisland", "long_nonisland", "short_island", "long_island")
    items = "item\t" + "\t".join(names) + "\nx\tChi legge?\tChi pensi?\tChi chiede?\tChi dici?\n"
    suite = open_suite(write_folder(tmp_path, toml=TWO_BY_TWO, items=items)).suite
    [item] = suite.items
    assert {condition.name for condition in item.conditions} == set(names)
    assert item.condition("long_island").regions[0].text == "Chi dici?"
    assert item.condition("long_island").columns == {"distance": "long", "structure": "island"}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("isole.xlsx", "rename it to items.xlsx"),
        ("items.ods", "save it in your spreadsheet program as items.xlsx"),
    ],
)
def test_a_table_of_another_name_is_named(tmp_path, name, hint):
    folder = write_folder(tmp_path)
    (folder / "items.tsv").rename(folder / name)
    (folder / "~$items.xlsx").write_bytes(b"lock")
    with pytest.raises(SuiteError, match=hint):
        open_suite(folder)


def test_a_text_without_quotation_marks_is_shown_with_them(tmp_path):
    toml = "regions = []\n[meta]\nname = lamps and lights # mine\n"
    with pytest.raises(SuiteError, match='Put quotation marks around the text: name = "lamps and'):
        open_suite(write_folder(tmp_path, toml=toml))


def test_rated_sentences_need_no_item_and_no_condition(tmp_path):
    toml = 'kind = "acceptability"\nregions = ["sentence"]\n[meta]\nname = "r"\nlanguage = "it"\n'
    ratings = '[ratings]\nlow = 1\nhigh = 7\nby = "people"\n'
    items = "sentence;rating\nPiove.;6,7\nPiovono.;1,2\n"
    folder = write_folder(tmp_path, toml=toml + ratings, items=items, table="items.csv")
    suite = load_suite(folder).suite
    assert [suite.items[0].id, suite.items[0].conditions[0].columns["rating"]] == ["1", "6,7"]
    assert not suite.predictions
    rated = evaluate(suite, "demo-causal").outcomes()["reference"]
    assert set(rated.drop_nulls()) == {6.7, 1.2}
