"""Lines of progress, and what is read from them again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import UsageError
from cimento.records.progress import (
    EVERY,
    LineClock,
    RunProgress,
    RunTimes,
    last_progress,
    seconds_between_lines,
)

TITLES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1).map(lambda a: f"{a} x m")


@given(TITLES, st.integers(0, 10**6), st.integers(1, 10**6), st.booleans())
def test_a_line_says_again_what_it_was_made_of(title, done, left, known):
    progress = RunProgress(title, done, done + left, 2.5 if known else None)
    assert last_progress(f"first\n{progress}\nlast\n") == progress


def test_the_last_line_counts_and_other_lines_say_nothing():
    lines = [RunProgress("a x b", 1, 9), RunProgress("a x b", 5, 9, 0.5)]
    progress = last_progress("\n".join(map(str, lines)))
    assert progress == lines[1]
    assert progress.left_s == 8.0
    assert last_progress("") is None
    assert last_progress("cimento: it-islands: 3 of 9 items are wrong") is None


def test_lines_come_no_more_often_than_wanted(monkeypatch):
    clock = LineClock(every_s=10.0, last_s=0.0)
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    timed = RunTimes("a x b", clock)
    messages = []
    for second in range(0, 41, 2):
        now = float(second)
        messages.append(timed.due(second * 10, 500))
    lines = [line for line in messages if line]
    assert [line.done for line in lines] == [100, 200, 300, 400]
    assert lines[-1].texts_per_s == pytest.approx(10.0)
    assert timed.due(500, 500) is None


@pytest.mark.parametrize("given", ["often", "-1", "nan", "inf"])
def test_another_number_of_seconds_must_be_one(monkeypatch, given):
    monkeypatch.setenv(EVERY, given)
    with pytest.raises(UsageError, match=EVERY):
        seconds_between_lines()


def test_the_environment_says_another_number_of_seconds(monkeypatch):
    monkeypatch.delenv(EVERY, raising=False)
    assert seconds_between_lines() == 10.0
    monkeypatch.setenv(EVERY, "0.5")
    assert seconds_between_lines() == 0.5
