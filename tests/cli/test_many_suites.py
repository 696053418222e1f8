"""What the program prints of many suites: a row for each; of few, everything."""

from __future__ import annotations

import pytest

from cimento import evaluate, pairs
from cimento.cli.evaluating import report_failures
from cimento.errors import UsageError
from cimento.evaluation import Failure
from cimento.kinds.run import open_runs
from cimento.testing import FakeScorer
from tests.helpers.command_line import invoke

SUITES = ("it-subject-verb", "it-islands", "it-clitic-participle", "it-subject-predicative")

WORSE = {"dormono", "case"}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    scorer = FakeScorer(lambda text, *_: -1.0 - len(str(text)) % 5, name="uno")
    for suite in SUITES:
        evaluate(suite, scorer, output=tmp_path / "runs", limit=4)
    return tmp_path / "runs"


def test_many_suites_judged_are_a_row_each(runs, capsys):
    assert invoke(["judge", str(runs)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    for run in open_runs([runs]):
        (row,) = (line for line in lines if line.startswith(f"{run.suite.name} "))
        (headline,) = (one for one in run.estimates() if one.role == "headline")
        assert row.split()[-1] == f"{100 * headline.value:.1f}"
    assert "pred." not in out
    assert "a row for each suite" in err


def test_each_measure_has_a_column(tmp_path, capsys):
    """Four tokens at -1 lose to three by their sum, and win by their mean."""
    rows = [("il gatto nero dorme", "il gatto dormono"), ("la casa è grande", "le case grande")]
    scorer = FakeScorer(lambda tokens, k: -1.2 if tokens[k] in WORSE else -1.0, name="uno")
    for name in ("prima", "seconda", "terza", "quarta"):
        suite = pairs(rows, name=name, language="it")
        evaluate(suite, scorer, measures="lp", output=tmp_path / "runs")
    capsys.readouterr()
    assert invoke(["judge", str(tmp_path / "runs"), "--measure", "lp,meanlp"]) == 0
    out = capsys.readouterr().out
    for name in ("prima", "seconda", "terza", "quarta"):
        (row,) = (line.split() for line in out.splitlines() if line.startswith(f"{name} "))
        assert row[-2:] == ["0.0", "100.0"]


def test_remarks_of_many_suites_are_below_their_rows(runs, capsys):
    said = [warning for run in open_runs([runs]) for warning in run.summary().warnings]
    assert said, "runs to be remarked on"
    assert invoke(["judge", str(runs)]) == 0
    out = capsys.readouterr().out
    assert any(warning.split(": ", 1)[-1] in out for warning in said)


def test_few_suites_have_everything(runs, capsys):
    assert invoke(["judge", *(str(runs / suite) for suite in SUITES[:3])]) == 0
    out, err = capsys.readouterr()
    assert "pred." in out
    assert "a row for each suite" not in err
    assert invoke(["show", str(runs)]) == 0
    assert "pred." in capsys.readouterr().out


def test_many_runs_that_failed_are_counted_by_model(capsys):
    """An array of jobs without the device of its run file has thousands of them."""
    error = UsageError(where="device", seen="cuda cannot be used here")
    failures = [
        Failure(suite=f"suite-{suite}", model=f"out/checkpoint-{step}", error=error)
        for step in range(1, 9)
        for suite in range(12)
    ]
    assert report_failures(["a share"], failures) == 3
    said = capsys.readouterr().err.splitlines()
    listed = ", ".join(f"12 suites on out/checkpoint-{step}" for step in range(1, 7))
    assert said == [
        "cimento: device: cuda cannot be used here.",
        f"cimento: not run: {listed} and on 2 more models, 96 runs in all",
    ]
    assert report_failures(["a share"], failures[:2]) == 3
    few = "not run: suite-0 on out/checkpoint-1, suite-1 on out/checkpoint-1\n"
    assert capsys.readouterr().err.endswith(few)
