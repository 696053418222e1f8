"""Progress on standard error: bars with rate and time left at a terminal, else lines."""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
from typing import TYPE_CHECKING

from cimento import open_run
from cimento.cli import evaluating
from cimento.cli.main import invoke
from cimento.runs.store import find_runs

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    """Standard error as a terminal is."""

    def isatty(self) -> bool:
        return True


def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """To be called in the test itself: pytest changes standard error after fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stream


def test_a_bar_has_title_share_time_left_and_rate(monkeypatch):
    terminal = at_a_terminal(monkeypatch)
    seconds = itertools.count(1.0)
    monkeypatch.setattr("rich.console.monotonic", lambda: next(seconds))
    with evaluating.progress_bars() as progress:
        assert progress is not None
        bar = progress("it-islands", "demo-causal")
        for done in (100, 200, 300):
            bar(done, 400)

    said = terminal.getvalue()
    assert "it-islands x demo-causal" in said
    assert "75%" in said
    assert "texts/s" in said
    assert "0:00:" in said


def test_a_run_says_how_far_it_is_at_a_terminal(monkeypatch, tmp_path):
    terminal = at_a_terminal(monkeypatch)
    run = ["run", "it-islands", "-m", "demo-causal", "--limit", "3", "--no-cache"]

    assert invoke([*run, "-o", str(tmp_path)]) == 0
    assert "it-islands x demo-causal" in terminal.getvalue()


def test_elsewhere_a_short_run_says_nothing(tmp_path, capsys):
    run = ["run", "it-islands", "-m", "demo-causal", "--limit", "3", "--no-cache"]

    assert invoke([*run, "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert "it-islands x demo-causal" not in said
    assert "\r" not in said


def test_texts_are_counted_and_not_units_of_work(monkeypatch, tmp_path):
    told = []

    @contextlib.contextmanager
    def recording():
        yield lambda _suite, _model: lambda done, total: told.append((done, total))

    monkeypatch.setattr(evaluating, "progress_bars", recording)
    run = ["run", "it-islands", "-m", "demo-causal", "--limit", "3", "--no-cache"]

    assert invoke([*run, "-o", str(tmp_path)]) == 0
    [folder] = find_runs(tmp_path)
    texts = open_run(folder.path).table("requests")["request"].n_unique()
    assert texts > 3
    assert {total for _, total in told} == {texts}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (texts, texts)


def test_no_time_left_is_given_before_it_can_be_estimated(monkeypatch, capsys):
    seconds = iter([0.0, 0.0, 15.0, 30.0])
    monkeypatch.setattr(evaluating.time, "monotonic", lambda: next(seconds))
    with evaluating.progress_bars() as progress:
        assert progress is not None
        line = progress("it-stories", "demo-causal")
        for done in (0, 1, 61):  # the first text takes 15 s, since the model is loaded
            line(done, 121)

    first, second = capsys.readouterr().err.splitlines()
    assert first == "cimento: it-stories x demo-causal: 1 of 121 texts"
    assert second.endswith("61 of 121 texts, 2.0 a second, 30 s left")


def test_a_bar_gives_no_time_left_after_one_text(monkeypatch):
    terminal = at_a_terminal(monkeypatch)
    seconds = itertools.count(1.0)
    monkeypatch.setattr("rich.console.monotonic", lambda: next(seconds))
    with evaluating.progress_bars() as progress:
        assert progress is not None
        bar = progress("it-islands", "demo-causal")
        for done in (1, 2):
            bar(done, 400)

    assert "it-islands x demo-causal" in terminal.getvalue()
    assert "left" not in terminal.getvalue()
