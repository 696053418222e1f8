"""What ``cimento demo`` runs; the command itself is run on a clean clone."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from cimento import open_runs
from cimento.cli import demo
from cimento.cli.main import invoke
from cimento.documents.findings import findings_of
from cimento.suites.builtin import list_builtin


def test_the_demo_has_a_suite_of_each_kind_in_each_language():
    kinds = {suite.name: (suite.kind, suite.language) for suite in list_builtin()}
    assert {kinds[name] for name in demo._DEMO} == set(kinds.values())


@pytest.mark.slow
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
    assert short.split()[:3] == ["es-subject-verb", "accuracy", "24"]
    assert short.endswith("0.500")
    plain = " ".join(shown.split())
    assert "What they show" in plain
    assert "Accuracy, es-subject-verb. demo-causal gets " in plain
    assert "above chance in" not in plain
    for following in (str(folder / "report.html"), f"cimento compare {folder}", "suites new pairs"):
        assert following in shown
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<h1><bdi>2 demo models on 2 suites</bdi></h1>" in page
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
    # Never chance alone where always the same answer gets more items right.
    assert "above chance" not in shown
    header, row = (line.split() for line in demo._in_short(stories).splitlines()[2:4])
    assert (header[-1], row[-1]) == ("chance", "0.500")
    page = " ".join(str(part.sentences) for part in findings_of(stories).parts)
    assert page[2:40] in shown


def called(run, label):
    """The run with another model."""
    return replace(run, manifest={**run.manifest, "label": label})


def test_what_has_no_number_has_its_reason(runs_of_every_kind):
    runs = [run for run in open_runs(runs_of_every_kind)
            if run.suite.name in {"es-stories", "it-connectives-cloze"}]  # fmt: skip
    [cloze, stories] = sorted(runs, key=lambda run: run.paradigm.name)
    shown = demo._in_short([stories, called(cloze, "other@1")])
    rows = {line.split()[0]: line for line in shown.splitlines() if line.startswith("  ")}
    assert rows["es-stories"].split()[:3] == ["es-stories", "story_class", "3"]
    assert rows["es-stories"].split()[-3:] == ["not", "run", "0.500"]
    assert rows["it-connectives-cloze"].split()[1:5] == ["hit@1", "3", "not", "run"]
    assert rows["it-connectives-cloze"].split()[-1] == "none"
    assert "chance none: any word may be a candidate." in shown
    assert "not run: see the messages above." in shown
    assert "  hit@1: the word that the model finds likeliest" in shown
    reason = cloze.summary().headline.reason
    assert ("no interval" in rows["it-connectives-cloze"]) == bool(reason)
    assert "No interval: fewer than 5" in " ".join(shown.split())
    alone = called(stories, "a@1")
    longer = demo._in_short([alone, called(cloze, "a@1"), called(cloze, "b@1")])
    assert "not run: the prompts are longer than this model can read." in longer


@pytest.mark.slow
def test_a_constant_answer_is_not_above_chance(tmp_path, monkeypatch, capsys):
    # The demo model calls every Spanish story false, which two of three are.
    monkeypatch.setattr(demo, "_DEMO", ("es-subject-verb",))
    monkeypatch.setattr(demo, "_LONG", ("es-stories",))
    assert invoke(["demo", "-o", str(tmp_path / "runs")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "is not distinguishable from the best constant answer (always false, 0.667)" in shown
