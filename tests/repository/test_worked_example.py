"""The page of treebanks: its commands work, and print what the page says they print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import simulated_answers
from cimento.cli.main import invoke
from cimento.judgments import read_judgments

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "treebanks.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(sh|text)\n(.*?)```", PAGE, re.DOTALL)


def plain(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def run(line, capsys):
    """What a line of the page prints, on either stream."""
    words = shlex.split(line)
    if words[0] == "cimento":
        words = [
            path for word in words[1:] for path in sorted(map(str, Path().glob(word))) or [word]
        ]
        code = invoke(words)
        said = capsys.readouterr()
        assert code == 0, said.err
        return said.out + said.err
    words = [sys.executable, *words[1:]] if words[0] == "python" else ["sh", "-c", line]
    done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603  # our own page
    return done.stdout


@pytest.mark.slow
def test_every_command_prints_what_the_page_says(tmp_path, monkeypatch, capsys):
    for name in ("src", "examples", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    printed = ""
    for kind, text in BLOCKS:
        if kind == "sh":
            printed = "".join(run(line, capsys) for line in text.strip().splitlines())
            continue
        known = plain(printed)
        for line in plain(text):
            assert line in known, f"{line!r} is not printed"
    assert len(BLOCKS) == 22
    for name in ("scatter.svg", "report.html", "kept.log.json"):
        assert (tmp_path / name).stat().st_size > 100
    kept = read_judgments(tmp_path / "kept.parquet")
    assert set(kept["remark"]) == {"simulated"}
    assert not any("SIMULATED" in name for name in kept["annotator"])


FORM = [
    {"item": str(n), "condition": "acceptable", "expected": "", "question": "acceptability"}
    | {f"value_{k}": str(k) for k in range(1, 6)}
    for n in range(8)
]


def test_invented_answers_are_the_same_with_the_same_seed_and_say_so():
    def made(seed):
        return list(simulated_answers.answers([FORM], {}, people=4, seed=seed))

    assert made(1) == made(1)
    assert made(1) != made(2)
    assert {row["remark"] for row in made(1)} == {"simulated"}
    assert all(row["annotator"].startswith("SIMULATED-") for row in made(1))
    same = [row["value"] for row in made(1) if row["annotator"] == "SIMULATED-03"]
    assert set(same) == {"3"}
