"""Nothing in a suite steers the terminal; a reader that goes away and Ctrl-C end as documented."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cimento.cli import console
from cimento.cli.main import invoke

STEERING = ["\x1b", "\x07", "\x9b", "\u202e", "\x08"]
TOML = """\
regions = ["sub\\u001b[2Jject", "verb"]
[meta]
name = "n\\u001b[2J\\u001b]0;owned\\u0007\\u009b"
language = "it"
citation = "c\\u001b[31m\\u202e"
[[predictions]]
formula = "(2;%good%) < (2;%bad%)"
comment = "x\\u001b[2J\\b"
"""
ITEM = "1\x1b[2J\u202e"
ITEMS = f"item\tcondition\ttext\n{ITEM}\tgood\tLei | dorme.\n{ITEM}\tbad\tLei | dormono.\n"
COMMANDS = [
    "suites show esc",
    "suites check esc",
    "suites audit esc -m demo-causal",
    "run esc -m demo-causal -o again",
    "run esc -m demo-causal -o again --json",
    "cluster collect esc -m demo-causal -o elsewhere --check",
    "judge runs --items",
    "judge runs --scores",
    "show runs",
    "report runs",
    "compare runs",
    "cite runs",
    "cite runs --methods",
    "rerun runs",
    "annotate survey build esc -o survey",
]


def test_no_command_prints_what_steers_a_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("esc").mkdir()
    Path("esc/suite.toml").write_text(TOML, "utf-8")
    Path("esc/items.tsv").write_text(ITEMS, "utf-8")
    assert invoke(["run", "esc", "-m", "demo-causal", "-o", "runs"]) == 0
    capsys.readouterr()
    said = {}
    for command in COMMANDS:
        invoke(command.split())
        printed = capsys.readouterr()
        said[command] = printed.out + printed.err
    steered = [c for c, text in said.items() if any(mark in text for mark in STEERING)]
    assert steered == []
    # It is shown as what it is.
    assert "n\\u001b[2J\\u001b]0;owned\\u0007\\u009b" in said["suites show esc"]
    record = json.loads(
        said["run esc -m demo-causal -o again --json"].partition("\nAll runs were stored")[0]
    )
    assert record["runs"][0]["suite"] == "n\x1b[2J\x1b]0;owned\x07\x9b"


def test_plain_text_is_shown_as_it_is(capsys):
    plain = "a\tb\r\nперо è ל\u200f\u200d\n"
    console.show(plain)
    assert capsys.readouterr().out == plain


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_failure():
    reading, writing = os.pipe()
    os.close(reading)
    code = "from cimento.cli.main import main; main(['suites', 'list'])"
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_was_interrupted_says_that_it_is_kept(monkeypatch, capsys):
    def interrupted(_text: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cimento.cli.suites.show", interrupted)
    assert invoke(["suites", "list"]) == 130
    assert "interrupted; what was scored is kept" in capsys.readouterr().err


@pytest.mark.parametrize("code", [1, 3])
def test_other_ends_stay_what_they_are(code, monkeypatch):
    def ended(_text: str) -> None:
        raise SystemExit(code)

    monkeypatch.setattr("cimento.cli.suites.show", ended)
    with pytest.raises(SystemExit):
        invoke(["suites", "list"])
