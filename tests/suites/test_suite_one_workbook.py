"""Suites as one workbook: both ways without loss, faults by sheet, headers in four languages."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings

import cimento
from cimento.errors import InputError, SuiteError
from cimento.kinds.registry import load_suite, save_suite
from cimento.suites.builtin import builtin_names, new_suite, template_kinds
from cimento.suites.formats.native import read_native, write_native
from cimento.suites.suite_workbook import fold, unfold
from tests.helpers.command_line import invoke
from tests.helpers.some_slow import some_slow
from tests.suites.test_suite_roundtrip import suites


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("name", some_slow(builtin_names(), quick=6))
def test_a_suite_that_comes_with_cimento_goes_into_a_workbook_and_back(tmp_path, name):
    there = save_suite(load_suite(name), tmp_path / "a")
    book = save_suite(load_suite(there), tmp_path / "s.xlsx")
    back = save_suite(load_suite(book), tmp_path / "b")
    assert content(there) == content(back)


def test_an_empty_setting_that_cimento_does_not_know_is_kept(tmp_path):
    pairs = cimento.pairs([("They sing.", "They sings."), ("We run.", "We runs.")], name="p")
    meta = dataclasses.replace(pairs.meta, extra={"metric": "", "license_note": ""})
    write_native(dataclasses.replace(pairs, meta=meta), tmp_path / "p")
    fold(tmp_path / "p", tmp_path / "p.xlsx")
    assert load_suite(tmp_path / "p.xlsx").suite.meta.extra == meta.extra


@pytest.mark.parametrize("name", ["0\r0", "0\n0", "0 \r\n 0", " 0"])
def test_a_field_of_a_prediction_whose_name_is_not_one_line_is_kept(tmp_path, name):
    pairs = cimento.pairs([("They sing.", "They sings."), ("We run.", "We runs.")], name="p")
    prediction = dataclasses.replace(pairs.predictions[0], extra={name: ["a"]})
    write_native(dataclasses.replace(pairs, predictions=(prediction,)), tmp_path / "p")
    fold(tmp_path / "p", tmp_path / "p.xlsx")
    assert load_suite(tmp_path / "p.xlsx").suite.predictions == (prediction,)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), "Infinity", "-Infinity", "NaN"])
def test_an_infinite_setting_stays_a_number_and_its_name_a_text(tmp_path, value):
    pairs = cimento.pairs([("They sing.", "They sings."), ("We run.", "We runs.")], name="p")
    write_native(dataclasses.replace(pairs, extra={"scale": {"high": value}}), tmp_path / "p")
    fold(tmp_path / "p", tmp_path / "p.xlsx")
    assert load_suite(tmp_path / "p.xlsx").suite.extra == {"scale": {"high": value}}


@pytest.mark.slow
@given(suites())
@settings(deadline=None)
def test_any_suite_goes_into_a_workbook_and_back(suite):
    with tempfile.TemporaryDirectory() as name:
        folder, back = Path(name) / "a", Path(name) / "b"
        back.mkdir()
        written = read_native(write_native(suite, folder)).suite
        unfold(fold(folder, Path(name) / "s.xlsx"), back)
        assert read_native(back).suite == written == suite


@pytest.mark.parametrize(
    ("words", "language"),
    [
        (("Nome", "Lingua", "Fenomeno"), "it"),
        (("Nombre", "Idioma", "Fenómeno"), "es"),
        (("Nome", "Idioma", "Fenômeno"), "pt"),
        (("Название", "Язык", "Явление"), "ru"),
    ],
)
def test_the_settings_may_be_in_the_language_of_the_author(tmp_path, words, language):
    [path] = new_suite("pairs", tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(path)
    del book["about"]
    sheet = book.create_sheet("About")
    for row in zip(words, ("mia", language, "x"), strict=True):
        sheet.append(row)
    book.save(path)
    meta = load_suite(path).suite.meta
    assert (meta.name, meta.language, meta.phenomenon) == ("mia", language, "x")


def test_a_fault_names_the_workbook_and_the_sheet(tmp_path, capsys):
    [path] = new_suite("agreement", tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(path)
    book["items"]["C2"] = "Le lampade | sono  | accese."
    book.save(path)
    assert invoke(["suites", "check", str(path)]) == 0
    assert "s.xlsx, sheet items, row 2" in capsys.readouterr().out
    book["predictions"]["A2"] = "(2;%match%) <"
    book["about"]["B2"] = None
    book.save(path)
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    assert any("s.xlsx, sheet about" in fault.where for fault in caught.value.faults)
    assert "cimento-" not in str(caught.value)


def test_formulas_of_spreadsheets_stay_text(tmp_path):
    folder = tmp_path / "a"
    new_suite("pairs", folder)
    table = folder / "items.tsv"
    table.write_text("item\tgood\tbad\n1\t=1+1.\t@SUM(A1).\n", encoding="utf-8")
    book = save_suite(load_suite(folder), tmp_path / "s.xlsx")
    sheet = openpyxl.load_workbook(book)["items"]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n"}
    assert load_suite(book).suite == load_suite(folder).suite


@pytest.mark.slow
def test_every_command_takes_a_workbook_in_place_of_a_folder(tmp_path, capsys):
    for kind in template_kinds():
        path = str(new_suite(kind, tmp_path / f"{kind}.xlsx")[0])
        assert invoke(["suites", "show", path]) == 0
        assert invoke(["suites", "check", path]) == 0
        assert invoke(["suites", "audit", path]) == 0
        # Three stories are too few for the worked examples of the default prompt.
        shots = ["--set", "shots=0"] if kind == "stories" else []
        assert invoke(["plan", path, "-m", "demo-causal", *shots]) == 0
    assert "0 errors" in capsys.readouterr().err
    names = {loaded_suite.suite.name for loaded_suite in map(load_suite, tmp_path.glob("*.xlsx"))}
    assert names == set(template_kinds())


def test_what_no_cell_can_hold_is_refused(tmp_path):
    folder = tmp_path / "a"
    new_suite("pairs", folder)
    table = folder / "items.tsv"
    table.write_text(f"item\tgood\tbad\n1\t{'a' * 40_000}.\tb.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"40,001 characters is too long for a cell"):
        save_suite(load_suite(folder), tmp_path / "s.xlsx")
    assert not (tmp_path / "s.xlsx").exists()


def test_a_workbook_without_its_sentences_says_how_the_sheet_is_called(tmp_path, capsys):
    [path] = new_suite("pairs", tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(path)
    book["items"].title = "Frasi"
    book.save(path)
    assert invoke(["suites", "check", str(path)]) == 2
    assert "no sheet 'items'. Call the sheet" in (said := capsys.readouterr().err)
    assert "it may be 'frasi'" in said


def test_advice_is_about_the_sheets_of_a_workbook(tmp_path, capsys):
    [path] = new_suite("regions", tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(path)
    for row in book["items"].iter_rows(min_row=2):
        row[2].value = row[2].value.replace(" | ", " ")
    [language] = [row for row in book["about"].iter_rows() if row[0].value == "language"]
    language[1].value = None
    book.save(path)
    assert invoke(["suites", "check", str(path)]) == 2
    shown = capsys.readouterr().out
    assert 'delete the row "regions" of the sheet "about"' in shown
    assert 'such as it, in the row "language" of the sheet "about"' in shown
    assert "suite.toml" not in shown


def test_stories_of_a_workbook_are_plain_rows(tmp_path, capsys):
    [path] = new_suite("stories", tmp_path / "s.xlsx", language="it")
    book = openpyxl.load_workbook(path)
    header, *rows = [[cell.value or "" for cell in row] for row in book["items"].iter_rows()]
    assert header[:2] == ["story", "version"]
    assert header[2:10] == [
        *(f"sentence {k}" for k in range(1, 6)), "conflicting sentence", "revealing sentence",
        "state",
    ]  # fmt: skip
    assert [row[1] for row in rows] == ["plausible", "order 1", "cloze 1"]
    assert rows[1][7:10] == ["1", "2", "temperature"]
    assert not any(cell[:1] in "[{" for row in rows for cell in row if cell)
    stories = load_suite(path).suite.stories
    assert [(story.example_id, story.pair) for story in stories] == [
        ("1", None), ("1-O0", (0, 1)), ("1-C0", (1, 2)),
    ]  # fmt: skip

    assert invoke(["suites", "check", str(path)]) == 0
    assert f"Next: cimento run {path} -m MODEL --set shots=0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cell", "value", "said"),
    [
        ("B3", "riordino", "version is 'riordino'. Write plausible, order 1 or cloze 1."),
        ("I3", "9", "revealing sentence is '9'. Write a whole number from 1 to 5."),
        ("A3", "", "story is empty. Number your stories 1, 2, 3."),
    ],
)
def test_a_wrong_cell_of_a_story_is_named_with_its_row(tmp_path, cell, value, said):
    [path] = new_suite("stories", tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(path)
    book["items"][cell] = value
    book.save(path)
    with pytest.raises(InputError) as caught:
        load_suite(path)
    assert str(caught.value).endswith(f"s.xlsx, sheet items, row 3: {said}")


def test_check_says_what_a_workbook_of_blanks_has(tmp_path, capsys):
    [path] = new_suite("cloze", tmp_path / "s.xlsx")
    assert invoke(["suites", "check", str(path)]) == 0
    assert "4 items, 4 with an expected answer. Next: cimento run" in capsys.readouterr().err


def test_the_first_of_several_columns_need_not_have_a_number(tmp_path):
    folder = tmp_path / "blanks"
    folder.mkdir()
    (folder / "suite.toml").write_text('name = "b"\nparadigm = "cloze"\n', encoding="utf-8")
    item = {"id": "1", "text": "The [MASK] barks.", "answers": ["dog"]}
    line = json.dumps(item | {"implausible": ["shoe", "cloud"]})
    (folder / "items.jsonl").write_text(line + "\n", encoding="utf-8")
    fold(folder, tmp_path / "b.xlsx")
    book = openpyxl.load_workbook(tmp_path / "b.xlsx")
    (sheet,) = (sheet for sheet in book if any(c.value == "implausible 1" for c in sheet[1]))
    (cell,) = (cell for cell in sheet[1] if cell.value == "implausible 1")
    cell.value = "implausible"
    book.save(tmp_path / "b.xlsx")
    unfold(tmp_path / "b.xlsx", tmp_path / "back")
    back = json.loads((tmp_path / "back" / "items.jsonl").read_text(encoding="utf-8"))
    assert back["implausible"] == ["shoe", "cloud"]


def test_the_next_step_of_a_suite_without_predictions_is_to_write_one(tmp_path, capsys):
    [path] = new_suite("factorial", tmp_path / "s.xlsx", language="it")
    book = openpyxl.load_workbook(path)
    book["predictions"].delete_rows(2, book["predictions"].max_row)
    book.save(path)
    assert invoke(["suites", "check", str(path)]) == 0
    said = capsys.readouterr()
    assert "CIM-S023" in said.out
    assert "Next: write a prediction. Without one, a run judges nothing." in said.err
    assert "cimento run" not in said.err
