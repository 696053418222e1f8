"""Templates to fill in, and the suites that come with cimento."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest

from cimento import InputError, UsageError
from cimento.errors import StorageError
from cimento.kinds.registry import load_suite, save_suite
from cimento.suites import builtin
from cimento.suites.builtin import (
    DEFAULT_KIND,
    TEMPLATE_LANGUAGES,
    builtin_names,
    find_suite,
    list_builtin,
    new_suite,
    template_kinds,
)
from cimento.suites.formats import native
from cimento.suites.formats.writing import convert
from cimento.suites.load import open_suite
from tests.helpers.command_line import invoke

KINDS = ("agreement", "factorial", "pairs", "regions")


@pytest.mark.slow
@pytest.mark.parametrize("kind", template_kinds())
@pytest.mark.parametrize("language", TEMPLATE_LANGUAGES)
@pytest.mark.parametrize("name", ["La mia suite", "La mia suite.xlsx"])
def test_a_template_is_a_suite_without_faults(tmp_path, kind, language, name):
    written = new_suite(kind, tmp_path / name, language=language)
    loaded = load_suite(tmp_path / name)
    assert loaded.reading.faults == ()
    assert loaded.suite.meta.language == language
    assert loaded.suite.name == "La mia suite"
    assert all(path.is_file() for path in written)
    if kind in KINDS:
        assert loaded.suite.predictions
        assert len(loaded.suite.items) >= 3


@pytest.mark.parametrize("kind", template_kinds())
def test_examples_of_all_languages_are_alike_but_in_words(tmp_path, kind):
    """As many items, in the same conditions; no example is in two languages."""
    shapes, texts = set(), []
    for language in TEMPLATE_LANGUAGES:
        folder = tmp_path / language
        command = ["suites", "new", kind, str(folder), "--language", language]
        assert invoke(command) == 0
        suite = load_suite(folder).suite
        if kind in (*KINDS, "ratings"):
            shapes.add(tuple((i.id, *(c.name for c in i.conditions)) for i in suite.items))
        tables = (folder / "items.tsv", folder / "items.jsonl")
        texts.append("".join(path.read_text("utf-8") for path in tables if path.exists()))
        assert ("language" in texts[-1]) is False
        is_russian = any("а" <= letter <= "я" for letter in texts[-1])
        assert is_russian is (language == "ru")
    assert len(shapes) == (kind in (*KINDS, "ratings"))
    assert len(set(texts)) == len(TEMPLATE_LANGUAGES)


def test_a_language_without_examples_is_named_with_those_that_have_some(tmp_path, capsys):
    assert invoke(["suites", "new", "pairs", str(tmp_path / "s"), "--language", "fr"]) == 2
    assert "en, es, it, pt, ru" in capsys.readouterr().err


def test_both_forms_of_a_template_say_the_same(tmp_path):
    for kind in template_kinds():
        new_suite(kind, tmp_path / kind)
        new_suite(kind, tmp_path / f"{kind}.xlsx")
        suites = [load_suite(tmp_path / name) for name in (kind, f"{kind}.xlsx")]
        folders = [
            save_suite(loaded_suite, tmp_path / f"{kind}-{n}")
            for n, loaded_suite in enumerate(suites)
        ]
        assert _content(folders[0]) == _content(folders[1])


def _content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_sheet_about_is_empty_where_nothing_is_written_yet(tmp_path):
    [path] = new_suite("pairs", tmp_path / "s.xlsx")
    about = openpyxl.load_workbook(path)["about"]
    cells = {row[0].value: row[1].value for row in about.iter_rows()}
    assert not cells["author"]
    assert cells["language"] == "en"
    assert '""' not in cells.values()


@pytest.mark.parametrize(
    ("kind", "message"),
    [("pairs", "good has the acceptable sentence"), ("agreement", "on both sides ( | )")],
)
def test_the_sheet_how_to_is_about_the_columns_that_there_are(tmp_path, kind, message):
    [path] = new_suite(kind, tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(path)
    said = "\n".join(row[0] for row in book["how to"].iter_rows(values_only=True))
    assert message in said
    columns = [cell.value for cell in book["items"][1]]
    assert ("condition names the version" in said) == ("condition" in columns)


def test_a_workbook_can_be_filled_in(tmp_path):
    [path] = new_suite("agreement", tmp_path / "s.xlsx")
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["about", "items", "predictions", "how to"]
    sheet = book["items"]
    assert {cell.number_format for row in sheet.iter_rows() for cell in row} == {"@"}
    for condition, verb in (("match", "cantano"), ("mismatch", "canta")):
        sheet.append([5, condition, f"Le ragazze | {verb} | una canzone."])
    book.save(path)
    assert [item.id for item in load_suite(path).suite.items] == list("12345")


def test_a_name_with_quotation_marks_is_written_as_toml_wants_it(tmp_path):
    new_suite("pairs", tmp_path / 'The "best"')
    assert open_suite(tmp_path / 'The "best"').suite.name == 'The "best"'


def test_the_current_folder_has_a_name(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    new_suite("pairs", Path())
    assert open_suite(Path()).suite.name == "here"


def test_an_unknown_kind_is_refused(tmp_path):
    with pytest.raises(UsageError, match="Did you mean 'pairs'"):
        new_suite("pair", tmp_path / "s")


def test_nothing_is_written_over(tmp_path):
    new_suite("pairs", tmp_path / "s")
    for place in (tmp_path / "s", tmp_path / "s" / "suite.toml"):
        with pytest.raises(StorageError, match="exists already"):
            new_suite("regions", place)


@pytest.mark.slow
def test_built_in_suites_are_listed_as_they_are():
    listed = list_builtin()
    assert [entry.name for entry in listed] == builtin_names()
    assert builtin_names()
    for entry in list_builtin(kind=DEFAULT_KIND):
        suite = open_suite(entry.path).suite
        assert (entry.name, entry.language) == (suite.name, suite.meta.language)
        assert entry.phenomenon == suite.meta.phenomenon
        assert entry.status.startswith((suite.meta.status, "read by 2 language models"))
        assert entry.items == len(suite.items)


def test_a_suite_is_found_by_name_or_by_path(tmp_path, monkeypatch):
    name = builtin_names()[0]
    assert find_suite(name) == list_builtin()[0].path
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_suite(name) == list_builtin()[0].path
    assert find_suite(f"./{name}") == Path(name)
    assert find_suite(Path(name)) == Path(name)
    with pytest.raises(InputError, match=f"Did you mean '{name}'"):
        find_suite(name + "x")


def test_listing_imports_nothing_heavy():
    code = (
        "import sys; from cimento.suites.builtin import list_builtin; list_builtin();"
        "print([m for m in ('polars', 'pydantic', 'xlsxwriter', 'numpy', 'torch', 'csv')"
        " if m in sys.modules])"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_importing_the_readers_imports_nothing_heavy():
    code = (
        "import sys, cimento.suites.load, cimento.suites.builtin;"
        "import cimento.suites.formats;"
        "print([m for m in ('polars', 'pydantic', 'xlsxwriter', 'tomli_w') if m in sys.modules])"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_call_that_was_interrupted_does_not_block_the_next_one(tmp_path, monkeypatch):
    written = []

    def killed(*given):
        written.append(given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(builtin, "write_bytes", killed)
        with pytest.raises(KeyboardInterrupt):
            new_suite("pairs", tmp_path / "s")
    assert written
    assert list(tmp_path.iterdir()) == []
    new_suite("pairs", tmp_path / "s")
    suite = open_suite(tmp_path / "s").suite
    with monkeypatch.context() as patch:
        patch.setattr(native, "write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            convert(suite, "native", tmp_path / "c")
    assert not (tmp_path / "c").exists()
    convert(suite, "native", tmp_path / "c")
    assert open_suite(tmp_path / "c").suite == suite


def test_the_command_names_the_kinds_that_there_are_templates_for(tmp_path, capsys):
    assert invoke(["suites", "new", "pear", str(tmp_path / "s")]) == 2
    assert "Did you mean 'pairs'?" in capsys.readouterr().err
    assert invoke(["suites", "new", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert all(kind in shown for kind in template_kinds())
