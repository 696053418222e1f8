"""Runs that formulas do not judge are shown with the text that was printed of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cimento.cli.main import invoke
from cimento.cli.reports import open_reports
from cimento.models.fake import uniform_scorer
from cimento.regions_api import evaluate
from cimento.runs.store import RunFolder
from tests.test_show import SUITE

HOSTILE = "blanks <script>alert(1)</script>\n```\n  hits  3/40 \x1b[31m"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = RunFolder(tmp_path / "runs" / "blanks" / "m@1--2")
    folder.prepare()
    folder.tell(HOSTILE)
    folder.finish({"kind": "stories", "label": "m@1", "suite": {"name": "blanks"}})
    return tmp_path / "runs"


def test_a_text_is_read_with_its_run(other: Path) -> None:
    (told,) = open_reports([other]).told
    assert (told.suite, told.model, told.kind) == ("blanks", "m@1", "stories")
    assert told.text.startswith("blanks <script>")


def test_it_is_shown_beside_runs_that_are_judged(
    other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate(SUITE, uniform_scorer(2), output=other)
    assert invoke(["report", str(other)]) == 0
    shown = capsys.readouterr().out
    assert "verbs (it), 1 item" in shown
    assert "hits  3/40" in shown


@pytest.mark.parametrize("suffix", ["html", "md", "txt"])
def test_a_page_holds_it_as_text(other: Path, tmp_path: Path, suffix: str) -> None:
    page = tmp_path / f"report.{suffix}"
    assert invoke(["report", str(other), "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "hits  3/40" in text
    if suffix == "html":
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text
        # Its tables are not there, which is said.
        assert 'class="note"' in text
    if suffix == "md":
        # The fence is longer than any in the text.
        assert "````text\n" in text


def test_only_other_runs_are_shown_too(other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", str(other)]) == 0
    assert "hits  3/40" in capsys.readouterr().out
    assert invoke(["judge", str(other)]) == 2
    assert "kind stories" in capsys.readouterr().err


def test_json_has_what_formulas_judge(other: Path, tmp_path: Path) -> None:
    evaluate(SUITE, uniform_scorer(2), output=other)
    page = tmp_path / "report.json"
    assert invoke(["report", str(other), "-o", str(page)]) == 0
    assert [run["suite"] for run in json.loads(page.read_text(encoding="utf-8"))["runs"]] == [
        "verbs"
    ]
