"""Suites given to a native speaker as a sheet, and corrections taken back."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tomllib
from pathlib import Path

import openpyxl
import pytest

import cimento
from tests.helpers.command_line import invoke

SUITES = Path(cimento.__file__).parent / "data" / "suites"
PAIRS = SUITES / "it-connectives"


def export_review(suite, path) -> int:
    return invoke(["annotate", "review", "export", str(suite), "-o", str(path)])


def import_review(suite, sheet, copy, reviewer="L") -> int:
    return invoke([
        "annotate", "review", "import", str(suite), str(sheet), "-o", str(copy),
        "--reviewer", reviewer,
    ])  # fmt: skip


def meta(folder):
    return tomllib.loads((folder / "suite.toml").read_text(encoding="utf-8"))["meta"]


@pytest.fixture
def refusal(capsys):
    """The message with which a command is refused."""

    def said(command, *arguments) -> str:
        capsys.readouterr()
        assert command(*arguments) == 2
        return capsys.readouterr().err

    return said


@pytest.fixture
def sheet(tmp_path):
    """A sheet of a suite in which cells are what a reviewer leaves."""

    def written(suite=PAIRS, verdict="ok", **changes):
        path = tmp_path / "sheet.tsv"
        path.unlink(missing_ok=True)
        assert export_review(suite, path) == 0
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        for row in rows:
            row["verdict"] = verdict
            row.update(changes.get(f"{row['table'].split('.')[0]}_{row['row']}", {}))
        lines = [list(rows[0]), *([row[name] for name in rows[0]] for row in rows)]
        path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return written


def log(folder):
    lines = (folder / "review.tsv").read_text(encoding="utf-8").splitlines()
    return [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]


def test_a_correction_is_in_the_copy_and_in_the_log(tmp_path, sheet):
    text = "Il nonno si è seduto in poltrona | e | si è subito addormentato."
    path = sheet(items_1={"text": text, "comment": "word order"})
    import_review(PAIRS, path, tmp_path / "copy", "Lia Neri")
    items = cimento.load_suite(tmp_path / "copy").suite.items
    assert items[0].conditions[0].regions[2].text == "si è subito addormentato."
    assert meta(tmp_path / "copy")["status"] == "reviewed by Lia Neri"
    (entry,) = log(tmp_path / "copy")
    assert entry["before"].endswith("si è addormentato subito.")
    assert (entry["after"], entry["column"], entry["comment"]) == (text, "text", "word order")
    assert (entry["reviewer"], entry["item"]) == ("Lia Neri", "e-1")


def test_all_other_rows_stay_as_they_are(tmp_path, sheet):
    import_review(PAIRS, sheet(items_1={"grammaticality": "no"}), tmp_path / "copy")
    before = (PAIRS / "items.tsv").read_text(encoding="utf-8").splitlines()
    after = (tmp_path / "copy" / "items.tsv").read_text(encoding="utf-8").splitlines()
    assert [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rest", "first", "status"),
    [
        ("ok", {"verdict": "wrong"}, "draft, 518 of 518 rows reviewed by L, 1 left open"),
        ("", {"verdict": "ok"}, "draft, 1 of 518 rows reviewed by L, 0 left open"),
        ("ok", {"verdict": "unsure"}, "draft, 518 of 518 rows reviewed by L, 1 left open"),
    ],
)
def test_a_suite_is_reviewed_only_where_nothing_is_left(tmp_path, sheet, rest, first, status):
    path = sheet(verdict=rest, items_1=first)
    assert import_review(PAIRS, path, tmp_path / "copy") == 0
    assert meta(tmp_path / "copy")["status"] == status


def test_a_second_review_is_added_to_the_first(tmp_path, sheet):
    first = tmp_path / "first"
    import_review(PAIRS, sheet(items_1={"verdict": "wrong"}), first, "Lia")
    path = sheet(suite=first, items_1={"text": "Piove | e | tira vento."})
    import_review(first, path, tmp_path / "second", "Ugo")
    assert [entry["reviewer"] for entry in log(tmp_path / "second")] == ["Lia", "Ugo"]
    assert meta(tmp_path / "second")["reviewed_by"] == ["Lia", "Ugo"]


def test_a_workbook_comes_back(tmp_path, capsys):
    path = tmp_path / "sheet.xlsx"
    assert export_review(PAIRS, path) == 0
    assert capsys.readouterr().err.startswith("518 rows: ")
    book = openpyxl.load_workbook(path)
    page = book.active
    head = [cell.value for cell in page[1]]
    page.cell(2, head.index("verdict") + 1).value = "Wrong"
    page.cell(2, head.index("comment") + 1).value = "not what we say"
    book.save(path)
    assert import_review(PAIRS, path, tmp_path / "copy") == 0
    printed = capsys.readouterr()
    assert printed.out == "e-1 is wrong, not changed: not what we say\n"
    assert printed.err.startswith(
        "0 changes, status: draft, 1 of 518 rows reviewed by L, 1 left open"
    )


def test_seeds_of_templates_are_reviewed_too(tmp_path, sheet):
    suite = SUITES / "es-agreement-templates"
    path = sheet(suite=suite, seeds_1={"form": "el palacio"})
    assert import_review(suite, path, tmp_path / "copy") == 0
    (change,) = log(tmp_path / "copy")
    assert (change["table"], change["before"], change["after"]) == (
        "seeds.tsv", "el edificio", "el palacio",
    )  # fmt: skip
    assert invoke(["suites", "check", str(tmp_path / "copy")]) == 0


def test_sentences_of_stories_are_corrected(tmp_path, sheet):
    suite = SUITES / "it-stories"
    record = json.loads((suite / "items.jsonl").read_text(encoding="utf-8").splitlines()[0])
    sentences = ["Nora inserisce la spina della stufetta.", *record["sentences"][1:]]
    path = sheet(suite=suite, items_1={"text": " | ".join(sentences)})
    import_review(suite, path, tmp_path / "copy")
    first, *_ = (tmp_path / "copy" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(first) == {**record, "sentences": sentences}


@pytest.mark.parametrize(
    ("cells", "seen"),
    [
        ({"verdict": "good"}, "the verdict is 'good'"),
        ({"item": "e-9"}, "the item is another one"),
        ({"row": "999"}, "the suite has no row '999'"),
        ({"version": "0" * 12}, "has changed since"),
    ],
)
def test_what_cannot_be_taken_back_is_named(tmp_path, sheet, refusal, cells, seen):
    path = sheet(items_1=cells)
    assert seen in refusal(import_review, PAIRS, path, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_story_keeps_its_number_of_sentences(tmp_path, sheet, refusal):
    suite = SUITES / "it-stories"
    path = sheet(suite=suite, items_1={"text": "Una."})
    assert "another number of sentences" in refusal(import_review, suite, path, tmp_path / "c")


def test_a_folder_that_is_there_is_not_overwritten(tmp_path, sheet, refusal):
    assert "is there already" in refusal(import_review, PAIRS, sheet(), tmp_path)


def test_a_correction_with_a_fault_is_said(tmp_path, sheet, capsys):
    path = sheet(items_1={"text": "Il nonno dorme."})
    assert import_review("it-connectives", path, tmp_path / "copy", "Lia") == 2
    assert "error: CIM-" in capsys.readouterr().out


def test_the_reviewers_are_shown(tmp_path, sheet, capsys):
    import_review(PAIRS, sheet(), tmp_path / "copy", "Lia Neri")
    assert invoke(["suites", "show", str(tmp_path / "copy")]) == 0
    out = capsys.readouterr().out
    assert "reviewed by Lia Neri" in out
    assert "reviewers  Lia Neri" in out
    assert invoke(["suites", "check", str(tmp_path / "copy")]) == 0
    assert export_review("it-connectives", "x.csv") == 2


def test_rows_that_are_no_longer_in_the_sheet_were_not_looked_at(tmp_path, sheet):
    path = sheet()
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    assert import_review(PAIRS, path, tmp_path / "copy") == 0
    assert meta(tmp_path / "copy")["status"] == "draft, 517 of 518 rows reviewed by L, 0 left open"


def test_of_very_many_faults_of_a_sheet_the_first_are_shown(tmp_path, sheet, refusal):
    path = sheet()
    header, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([header, *lines, *lines]), encoding="utf-8")
    said = refusal(import_review, PAIRS, path, tmp_path / "copy")
    assert re.search(r"518 problems:(?s:.*)\.\.\. and 498 more", said)
    assert said.count("is there twice") == 20


def test_a_row_that_is_there_twice_is_refused(tmp_path, sheet, refusal):
    path = sheet()
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines, lines[-1]]), encoding="utf-8")
    said = refusal(import_review, PAIRS, path, tmp_path / "copy")
    assert "row 518 of items.tsv is there twice" in said


@pytest.mark.slow
def test_a_line_break_in_a_cell_is_refused(tmp_path, refusal):
    path = tmp_path / "sheet.xlsx"
    export_review(PAIRS, path)
    book = openpyxl.load_workbook(path)
    header = [cell.value for cell in book.active[1]]
    book.active.cell(2, header.index("text") + 1).value = "Il nonno\n| e | dorme."
    book.save(path)
    said = refusal(import_review, PAIRS, path, tmp_path / "copy")
    assert "row 2: text has a tab or a line break" in said
    assert not (tmp_path / "copy").exists()


def test_a_suite_with_a_column_of_the_sheets_own_is_not_exported(tmp_path, refusal):
    suite = tmp_path / "suite"
    shutil.copytree(PAIRS, suite)
    first, *rest = (suite / "items.tsv").read_text(encoding="utf-8").splitlines()
    lines = [f"{first}\tcomment", *(f"{line}\tx" for line in rest)]
    (suite / "items.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "a column 'comment'" in refusal(export_review, suite, tmp_path / "sheet.tsv")


def test_stories_that_are_no_objects_are_named_with_their_line(tmp_path, refusal):
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "suite.toml").write_text('kind = "stories"\n')
    (suite / "items.jsonl").write_text('{"example_id": 1, "sentences": ["Piove."]}\n[1]\n')
    said = refusal(export_review, suite, tmp_path / "sheet.tsv")
    assert "items.jsonl line 2 is not an object" in said


def test_a_sheet_is_not_overwritten(tmp_path, capsys):
    path = tmp_path / "sheet.xlsx"
    assert export_review("it-connectives", path) == 0
    before = path.read_bytes()
    assert export_review("it-connectives", path) == 2
    assert "may hold verdicts" in capsys.readouterr().err
    assert path.read_bytes() == before
