"""Lines that tell the progress of a run, written by a command and read by whoever shows its log."""

from __future__ import annotations

import math
import os
import re
import time
from dataclasses import dataclass

from cimento.errors import UsageError
from cimento.io.parsing import number_in

LINES_EVERY_S = 10.0
"""Seconds between two lines, so that a log shows the progress and stays short."""
EVERY = "CIMENTO_PROGRESS_SECONDS"
"""The variable that says another number of seconds."""

FEWEST_TIMED = 20
"""Fewest texts from which the time left is estimated: the first ones include a slow start."""
SHORTEST_S = 3.0
"""Shortest time, in seconds, from which it is estimated."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a line says.

    Attributes:
        title: the suite and the model.
        done: number of texts that are answered.
        total: number of texts.
        texts_per_s: texts a second; None where it is not known yet.
    """

    title: str
    done: int
    total: int
    texts_per_s: float | None = None

    @property
    def left_s(self) -> float | None:
        """Seconds that are left, as an estimate; None where it is not known yet."""
        return None if self.texts_per_s is None else (self.total - self.done) / self.texts_per_s

    def __str__(self) -> str:
        """The line."""
        rate = ""
        if self.texts_per_s is not None and self.left_s is not None:
            rate = f", {self.texts_per_s:.1f} a second, {self.left_s:.0f} s left"
        return f"cimento: {self.title}: {self.done} of {self.total} texts answered{rate}"


_LINE = re.compile(
    r"cimento: (?P<title>.+): (?P<done>\d+) of (?P<total>\d+) texts answered"
    r"(?:, (?P<rate>\d+\.\d) a second, \d+ s left)?"
)


def last_progress(log: str) -> RunProgress | None:
    """What the last line of progress in a log says; None where there is none."""
    for line in reversed(log.splitlines()):
        if match := _LINE.fullmatch(line.strip()):
            rate = float(match["rate"] or 0) or None
            return RunProgress(match["title"], int(match["done"]), int(match["total"]), rate)
    return None


def seconds_between_lines() -> float:
    """Seconds between two lines: those of the environment, else `LINES_EVERY_S`.

    Raises:
        UsageError: the environment says something else.
    """
    given = os.environ.get(EVERY, "")
    if not given:
        return LINES_EVERY_S
    seconds = number_in(given)
    if not 0 <= seconds < math.inf:
        raise UsageError(where=EVERY, seen=f"got {given!r}", todo="Give a number of seconds.")
    return seconds


@dataclass(slots=True)
class LineClock:
    """The time of the last line, in seconds; shared by the runs of a command."""

    every_s: float
    last_s: float


class RunTimes:
    """The times of one run, from which its progress is told.

    Args:
        title: the suite and the model.
        clock: the clock of the command.
    """

    def __init__(self, title: str, clock: LineClock) -> None:
        self._title = title
        self._clock = clock
        self._first: tuple[float, int] | None = None

    def due(self, done: int, total: int) -> RunProgress | None:
        """The progress, if it is time for a line.

        Args:
            done: number of texts that are answered.
            total: number of texts.
        """
        now_s = time.monotonic()
        first_s, before = self._first = self._first or (now_s, done)
        if done == total or now_s - self._clock.last_s < self._clock.every_s:
            return None
        self._clock.last_s = now_s
        rate = None
        if done - before >= FEWEST_TIMED and now_s - first_s >= SHORTEST_S:
            rate = (done - before) / (now_s - first_s)
        return RunProgress(self._title, done, total, rate)
