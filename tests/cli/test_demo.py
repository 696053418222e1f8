"""What ``cimento demo`` runs; the command itself is run on a clean clone."""

from __future__ import annotations

import json
import re

import pytest

from cimento import open_runs
from cimento.cli import demo
from cimento.cli.main import invoke
from cimento.suites.builtin import list_builtin


def test_the_demo_has_a_suite_of_each_kind_in_each_language():
    kinds = {suite.name: (suite.kind, suite.language) for suite in list_builtin()}
    assert {kinds[name] for name in demo._DEMO} == set(kinds.values())


def test_the_demo_ends_with_what_came_of_it_and_what_to_do_next(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(demo, "_DEMO", ("es-subject-verb", "it-acceptability"))
    monkeypatch.setattr(demo, "_LONG", ())
    folder = tmp_path / "runs"
    assert invoke(["demo", "-o", str(folder)]) == 0
    shown = "".join(capsys.readouterr())
    # The first suite as `cimento run` shows it, then one line for each.
    assert shown.count("es-subject-verb (es), 24 items") == 1
    assert "it-acceptability: demo-causal" not in shown
    [short] = [line for line in shown.splitlines() if line.startswith("  es-subject-verb ")]
    for run in open_runs(folder):
        if run.suite.name == "es-subject-verb":
            assert f"{run.summary().headline.value:.3f} [" in short
    assert short.endswith("0.500")
    assert "above chance in 1 of the 2 suites with a chance level" in shown
    for following in (str(folder / "report.html"), f"cimento compare {folder}", "suites new pairs"):
        assert following in shown
    assert (folder / "report.html").is_file()
    assert not (folder / "site").exists()
    assert invoke(["demo", "-o", str(folder), "--json", "--site"]) == 0
    written = capsys.readouterr()
    assert len(json.loads(written.out)["runs"]) == 4
    board = folder / "site" / "index.html"
    assert str(board.resolve()) in written.err
    assert {"Demo models", "es-subject-verb", "demo-masked"} <= set(
        re.split(r"[<>@]", board.read_text(encoding="utf-8"))
    )


def test_chance_and_what_a_constant_answer_reaches_are_told_apart(runs_of_every_kind):
    stories = [run for run in open_runs(runs_of_every_kind) if run.suite.name == "es-stories"]
    shown = " ".join(demo._in_short(stories).split())
    assert "(and above always the same answer) in 0 of the 0 suites with a chance level" in shown
    assert "the same answer is another baseline, which reaches es-stories 0.667." in shown
    header, row = (line.split() for line in demo._in_short(stories).splitlines()[2:4])
    assert (header[-1], row[-1]) == ("chance", "0.500")
    assert "chance: the accuracy of answers drawn by lot." in shown


@pytest.mark.slow
def test_a_constant_answer_is_not_above_chance(tmp_path, monkeypatch, capsys):
    # The demo model calls every Spanish story false, which two of three are.
    monkeypatch.setattr(demo, "_DEMO", ("es-subject-verb",))
    monkeypatch.setattr(demo, "_LONG", ("es-stories",))
    assert invoke(["demo", "-o", str(tmp_path / "runs")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "(and above always the same answer) in 1 of the 2 suites with a chance level" in shown
    assert "the same answer is another baseline, which reaches es-stories 0.667." in shown
