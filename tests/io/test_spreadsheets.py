"""Cells that a spreadsheet program would take for formulas, neutralized where that is asked for."""

from __future__ import annotations

import csv
import json
import shutil

import pytest
from typer.main import get_command

from cimento.cli.main import app, invoke
from cimento.io.files import inert, make_inert


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

    # Excel reads accents only after a byte order mark; once is enough.
    make_inert(path)
    assert path.read_bytes() == b'\xef\xbb\xbfa,b\r\n"\'=x, y","line\n-two"\r\n-1,\'@z\r\n'


def test_a_report_is_neutralized_on_request(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    row = {"sentence_good": "Il cane dorme.", "sentence_bad": "Il cane dormono.", "UID": "=cmd()"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    runs = str(tmp_path / "runs")
    assert invoke(["run", str(tmp_path / "a.jsonl"), "-m", "demo-causal", "-o", runs]) == 0

    def suites(*more):
        path = tmp_path / "report.csv"
        assert invoke(["report", runs, "-o", str(path), *more]) == 0
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {line["suite"] for line in csv.DictReader(file)}

    assert suites() == {"=cmd()"}
    assert suites("--spreadsheet-safe") == {"'=cmd()"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Runs of a model on a suite whose texts begin as formulas do, and reading times beside."""
    folder = tmp_path_factory.mktemp("made")
    rows = [
        {
            "sentence_good": "=A1 Il cane dorme.",
            "sentence_bad": "Il cane dormono.",
            "UID": "=cmd()",
        },
        {"sentence_good": "@B1 I cani dormono.", "sentence_bad": "I cani dorme.", "UID": "=cmd()"},
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert invoke(["run", "a.jsonl", "-m", "demo-causal", "-o", "runs"]) == 0
    (folder / "times.csv").write_text("text,position,word,note\n1,1,Il,=1+1\n1,2,cane,\n")
    return folder


@pytest.fixture
def runs(made, tmp_path, monkeypatch):
    """The runs, in the folder where commands work."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


COMMANDS = {
    "report": ["report", "runs", "-o", "out.csv"],
    "table of a report": ["report", "runs", "--table", "perplexity", "-o", "out.csv"],
    "figure": ["report", "runs", "--figure", "margins", "-o", "out.csv"],
    "lengths": ["report", "runs", "--figure", "length", "-o", "out.csv"],
    "comparison": ["compare", "runs", "runs", "--items", "-o", "out"],
    "export": ["export", "runs", "--to", "r", "-o", "out"],
    "join": ["analyze", "reading-times", "times.csv", "-m", "demo-causal", "-o", "out.csv"],
}


def cells_of(folder):
    """The cells of all CSV files below a folder that begin as formulas do, and those made text."""
    live, dead = set(), set()
    for path in folder.rglob("out*/*.csv" if (folder / "out").is_dir() else "out*.csv"):
        with path.open(newline="") as file:
            for row in csv.reader(file):
                live |= {cell for cell in row if inert(cell) != cell}
                dead |= {cell for cell in row if cell.startswith(("'=", "'@", "'+", "'-"))}
    return live, dead


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_writes_csv_neutralizes_it_on_request(name, tmp_path):
    assert invoke(COMMANDS[name]) == 0
    live, dead = cells_of(tmp_path)
    assert invoke([*COMMANDS[name], "--spreadsheet-safe"]) == 0
    none, made = cells_of(tmp_path)

    assert not none
    assert not dead
    assert made == {f"'{cell}" for cell in live}


@pytest.mark.usefixtures("runs")
def test_there_is_something_to_neutralize(tmp_path):
    names = set()
    for name in ("report", "lengths", "join", "export"):
        assert invoke(COMMANDS[name]) == 0
        if cells_of(tmp_path)[0]:
            names.add(name)
        for path in tmp_path.glob("out.csv"):
            path.unlink()

    assert names >= {"report", "join", "export"}


def test_every_command_that_can_write_csv_has_the_option():
    """Where a command's help names .csv as what it writes, it has the option, or always does it."""
    # Judgments and answers of people are never written otherwise.
    always = {"annotate import", "annotate filter", "annotate adjudicate", "annotate serve export"}
    missing, having = set(), set()

    def look(command, path):
        for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
            look(command.get_command(None, name), (*path, name))
        options = {option for param in command.params for option in param.opts}
        writes = [
            param
            for param in command.params
            if {"-o", "--output", "--figure"} & set(param.opts)
            and ".csv" in (getattr(param, "help", "") or "")
        ]
        if writes:
            (having if "--spreadsheet-safe" in options else missing).add(" ".join(path))

    look(get_command(app), ())
    assert having >= {"report", "compare", "analyze reading-times", "analyze profile"}
    assert missing <= always
