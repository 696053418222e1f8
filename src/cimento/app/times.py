"""The reading times of a survey: by region or word, beside a model's surprisals, and as tables."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from nicegui import ui

from cimento.app.csv_files import frame_csv
from cimento.app.findings import button
from cimento.app.frame import CommandLine, Text, Visit, guarded, heading
from cimento.app.parts import ends, plain_table, save, say_csv
from cimento.app.sentences import model_choice, opened_model
from cimento.app.words import said
from cimento.app.workspace import JUDGMENTS
from cimento.documents import grid_file
from cimento.errors import InputError
from cimento.judgments import Judgment
from cimento.people.reading_summary import (
    PlaceTimes,
    surprisals_of,
    times_by_place,
    times_with_surprisal,
    unscored,
)
from cimento.people.reading_times import join_surprisals
from cimento.people.surveys import SurveyDesign
from cimento.people.surveys.times import MazeErrors, TimeRules, WordTimes, word_times
from cimento.report.cells import Shown
from cimento.report.grid import Grid
from cimento.statistics.correlation import Correlation

if TYPE_CHECKING:
    import polars as pl

_LONGEST_MS = 600_000


class ReadingTimes:
    """The part of a survey's results about the times of words.

    Args:
        visit: what the page is built for.
        survey: the survey's folder.
        design: what was asked.
    """

    def __init__(self, visit: Visit, survey: Path, design: SurveyDesign) -> None:
        self._visit, self._say, self._survey, self._design = visit, visit.say, survey, design
        self._judgments: Sequence[Judgment] = ()
        self._table = ""
        self._times: WordTimes | None = None

    def build(self) -> None:
        """Build the part in the place where it is called."""
        say, visit = self._say, self._visit
        heading(say("people.times"), level=3)
        Text(say("people.times-what"))
        errors = {name: say(f"people.times-errors-{name}") for name in get_args(MazeErrors)}
        with ui.element("div").classes("form-grid"):
            self._shortest, self._longest = (
                ui.number(say(f"people.times-{name}"), min=0, max=_LONGEST_MS, step=10)
                for name in ("shortest", "longest")
            )
            self._errors = ui.select(errors, label=say("people.times-errors"), value="rest")
            self._errors.set_visibility(self._design.task == "maze")
        self._correct = ui.checkbox(say("people.times-correct"))
        self._correct.set_visibility(any(one.comprehension for one in self._design.questions))
        button(say("people.times-show"), guarded(visit, self._show), icon="timer")
        self._command = CommandLine(visit)
        self._shown = ui.element("div").props("aria-live=polite").mark("times")
        with ui.element("div") as self._beside:
            heading(say("people.times-model"), level=3)
            Text(say("people.times-model-what"))
            self._model = model_choice(visit, say("start.model"), "demo-causal").mark("times-model")
            button(say("people.times-ask"), guarded(visit, self._ask), icon="insights")
            self._waiting = Text(say("start.waiting")).props("role=status").classes("small")
            self._waiting.set_visibility(False)
            self._surprising = ui.element("div").props("aria-live=polite").mark("times-beside")
        self._beside.set_visibility(False)

    def take(self, judgments: Sequence[Judgment], table: str) -> None:
        """Go on with some answers.

        Args:
            judgments: of the survey.
            table: the path of their table from the workspace.
        """
        self._judgments, self._table, self._times = judgments, table, None
        self._shown.clear()
        self._surprising.clear()
        self._beside.set_visibility(False)

    def _rules(self) -> TimeRules:
        """The rules that the fields say."""
        return TimeRules(
            shortest_ms=self._shortest.value, longest_ms=self._longest.value,
            errors=self._errors.value, correct_only=bool(self._correct.value),
        )  # fmt: skip

    async def _show(self) -> None:
        """Show the times by place, and what was left out."""
        made = partial(word_times, self._judgments, self._design, self._rules())
        times = self._times = await asyncio.to_thread(made)
        places = await asyncio.to_thread(times_by_place, times.words)
        self._show_command()
        self._surprising.clear()
        self._shown.clear()
        with self._shown:
            self._table_of(places)
            if times.comprehension:
                correct, asked = map(sum, zip(*times.comprehension.values(), strict=True))
                shown = {"correct": self._say.number(correct), "asked": self._say.number(asked)}
                Text(self._say("people.times-comprehension", **shown)).classes("small")
            reasons = Counter(
                word.excluded.partition(" (")[0] for word in times.words if word.excluded
            )
            self._reasons("times-excluded", reasons)
            has_intervals = any(place.time.low is not None for place in places)
            Text(self._say(f"people.times-concluded{'' if has_intervals else '-few'}"))
            name = f"{Path(self._table).stem}-times"
            frame = times.frame()
            with ui.element("div").classes("tools"):
                self._download("times-xlsx", f"{name}.xlsx", frame)
                self._download("times-csv", f"{name}.csv", frame)
                say_csv(self._say)
        self._beside.set_visibility(True)

    def _show_command(self) -> None:
        """Show the command that makes the same table."""
        rules = self._rules()
        survey = self._visit.workspace.name_of(self._survey)
        output = f"{JUDGMENTS}/{Path(self._table).stem}-times.csv"
        words = ["annotate", "times", self._table, "--design", survey, "-o", output]
        for flag, limit in (("shortest", rules.shortest_ms), ("longest", rules.longest_ms)):
            words += [] if limit is None else [f"--{flag}", f"{limit:g}"]
        words += [] if rules.errors == TimeRules().errors else ["--errors", rules.errors]
        words += ["--correct-only"] if rules.correct_only else []
        self._command.show(words)

    def _download(self, key: str, name: str, frame: pl.DataFrame) -> None:
        """A button that gives a table in the form of its file's ending."""
        make = partial(table_file, frame, Path(name).suffix, self._say.language)
        button(
            self._say(f"people.{key}"),
            guarded(self._visit, partial(save, name, make)),
            icon="download",
        )

    def _table_of(self, places: Sequence[PlaceTimes]) -> None:
        """A table of the times at each place; with surprisals where a model was asked."""
        say = self._say
        has_bits = any(place.bits is not None for place in places)
        regions = all(question.regions for question in self._design.questions if not question.kind)
        names = [
            say("people.times-region" if regions else "people.times-word"),
            *(say(f"people.{name}") for name in ("of-condition", "times-mean", "of-interval")),
            *(say(f"people.{name}") for name in ("times-n", "of-participants", "times-items")),
            say("people.times-out"),
            *([say("people.times-bits")] if has_bits else []),
        ]
        with ui.element("div").classes("table-holder").props("tabindex=0"):
            plain_table(names, (self._row(place, has_bits=has_bits) for place in places))

    def _row(self, place: PlaceTimes, *, has_bits: bool) -> list[str]:
        say, time = self._say, place.time
        bits = "–" if place.bits is None else say.number(place.bits, ".1f")
        return [
            place.place,
            place.condition,
            "–" if time.value is None else say.number(time.value, ",.0f"),
            ends(time.low, time.high, say, ",.0f") or self._translated(time.reason or ""),
            *map(say.number, (time.n, place.people, place.items, place.left_out)),
            *([bits] if has_bits else []),
        ]

    def _translated(self, reason: str) -> str:
        return said(reason, self._say.language) or reason

    def _reasons(self, key: str, counts: Counter[str]) -> None:
        """Why something is missing, a line for each reason."""
        for reason, number in counts.items():
            shown = {"reason": self._translated(reason), "count": self._say.number(number)}
            Text(self._say(f"people.{key}", **shown)).classes("small")

    async def _ask(self) -> None:
        """Ask a model for the surprisals of the words, and show them beside the times."""
        times, name = self._times, self._visit.workspace.model(str(self._model.value or ""))
        if times is None:
            raise InputError(where=self._say("people.times"), seen=self._say("people.times-show"))
        self._surprising.clear()
        self._waiting.set_visibility(True)
        try:
            joined = await asyncio.to_thread(_joined, times.frame(), name)
        finally:
            self._waiting.set_visibility(False)
        bits = surprisals_of(joined)
        with self._surprising:
            self._table_of(times_by_place(times.words, bits))
            self._correlated(times_with_surprisal(times.words, bits), name)
            self._reasons("times-unscored", unscored(joined))
            with ui.element("div").classes("tools"):
                self._download("times-joined", f"{Path(self._table).stem}-surprisal.csv", joined)
                say_csv(self._say)

    def _correlated(self, found: Correlation, model: str) -> None:
        """The correlation of times and surprisals, and what it says."""
        say = self._say
        if found.r is None:
            Text(self._translated(found.reason or ""))
            return
        shown = ends(found.low, found.high, say, ".2f") or self._translated(found.reason or "")
        r = say.number(found.r, ".2f")
        Text(say("people.times-rho", n=say.number(found.n), model=model, r=r, ends=shown))
        if found.low is not None and found.high is not None and found.low > 0:
            verdict = "slower"
        elif found.low is not None and found.high is not None and found.high < 0:
            verdict = "faster"
        else:
            verdict = "open"
        Text(say(f"people.times-{verdict}"))


def _joined(frame: pl.DataFrame, model: str) -> pl.DataFrame:
    return join_surprisals(frame, opened_model(model))


def table_file(frame: pl.DataFrame, ending: str, language: str) -> bytes:
    """A table of words as a file for a spreadsheet program, or for R.

    Args:
        frame: the table.
        ending: ``.csv``, or ``.xlsx`` with numbers as numbers.
        language: that of the page, ISO 639-1.
    """
    if ending == ".csv":
        return frame_csv(frame, language)
    rows = tuple(
        tuple("" if cell is None else Shown(str(cell), cell) for cell in row)
        for row in frame.iter_rows()
    )
    grid = Grid(title="times", header=tuple(frame.columns), labels=len(frame.columns), rows=rows)
    return grid_file(grid, ending)
