"""Ratings of people beside models: in a copy of the test, and against runs of it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nicegui import ui

from cimento.app.answer_tables import Labels
from cimento.app.beside_ratings import BesideModel, beside_models
from cimento.app.beside_sentences import BesideSentences, measure_of
from cimento.app.choice_shares import has_ties
from cimento.app.choices import beside_choices, show_items
from cimento.app.findings import button, show_translated
from cimento.app.frame import CommandLine, Text, Visit, guarded, heading
from cimento.app.jobs import BUSY
from cimento.app.labels import suite_of
from cimento.app.parts import ends, show_demo, table
from cimento.app.rated import ratings_of
from cimento.app.scales import scale_of
from cimento.app.words import USUAL, Words, percent, reason_of, two_decimals
from cimento.app.workspace import SUITES
from cimento.errors import InputError
from cimento.judgments import Judgment
from cimento.judgments.chosen import is_of_no_suite
from cimento.kinds.run import Run, open_run
from cimento.people.annotate.importing import apply_judgments
from cimento.people.surveys import SurveyDesign
from cimento.suites.builtin import WORKBOOK
from cimento.suites.suite_workbook import fold

FEWEST = 10
"""Sentences below which neither a correlation nor its interval is to be trusted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The answers that are looked at.

    Attributes:
        judgments: the answers.
        place: the table with them.
        name: of the table, as the page calls it.
        labels: of their sentences.
    """

    judgments: Sequence[Judgment]
    place: Path
    name: str
    labels: Labels


class BesideModels:
    """The part of a page that puts ratings beside models.

    Args:
        visit: what the page is built for.
        design: what a survey asked; None for a form.
        asked: gives the answers that are looked at.
        settle: keeps what was typed about their scale; raises an error where that is unknown.
    """

    def __init__(
        self,
        visit: Visit,
        design: SurveyDesign | None,
        *,
        asked: Callable[[], Asked],
        settle: Callable[[], Awaitable[None]],
    ) -> None:
        self._visit, self._say, self._design = visit, visit.say, design
        self._asked, self._settle = asked, settle

    def build(self) -> None:
        """Build the part in the place where it is called."""
        say, visit = self._say, self._visit
        heading(say("people.models"), level=3)
        Text(say("people.models-what"))
        with ui.element("div").classes("tools"):
            if self._design is None or self._design.task != "story":  # which no copy holds
                button(say("people.apply"), guarded(visit, self._apply), icon="note_add")
            button(say("people.compare"), guarded(visit, self._compare), icon="insights")
        self._command = CommandLine(visit)
        self._command.show([], whole=False)
        self._shown = ui.element("div").props("aria-live=polite").mark("beside")

    async def _compare(self) -> None:
        """The ratings beside the scores of the workspace's runs."""
        judgments = self._asked().judgments
        self._refuse_unplaced(judgments)
        runs = await asyncio.to_thread(self._runs, judgments)
        rows = await asyncio.to_thread(beside_models, judgments, runs)
        say = self._say
        self._shown.clear()
        with self._shown:
            if not ratings_of(judgments):
                await self._compare_choices(judgments, runs)
                return
            if not rows:
                Text(self._no_runs())
                return
            names = ("suite", *(f"of-{n}" for n in ("model", "measure", "sentences", "rho")))
            titles = [say(f"people.{name}") for name in (*names, "of-interval")]
            table(titles, [_row(row, say) for row in rows])
            Text(say("people.rho-sign")).classes("small")
            if any(row.correlation.n < FEWEST for row in rows):
                Text(say("people.few-sentences", fewest=FEWEST)).classes("mend")
            show_demo((row.model for row in rows), say)
            people = {one.annotator: None for one in judgments if one.annotator and one.counts}
            count, file = say.number(len(people)), self._asked().name
            used = say("people.ratings-of", count=count, file=file, people=", ".join(people))
            Text(used).mark("ratings-of")
            for row in rows:
                BesideSentences(self._visit, row, self._asked().labels).build(
                    used=self._asked().name
                )
                if row.others:
                    Text(say("people.other-sentences", suite=row.suite, model=row.model,
                             items=", ".join(row.others))).classes("small")  # fmt: skip

    def _no_runs(self) -> str:
        """That no model has been run, or that a run is still going on."""
        if any(job.state in (*BUSY, "waiting") for job in self._visit.queue.jobs()):
            return self._say("people.runs-going")
        return self._say("people.no-runs", step=self._say("people.apply"))

    async def _compare_choices(self, judgments: Sequence[Judgment], runs: Sequence[Run]) -> None:
        """The choices of people beside the outcomes of runs."""
        say, rows = self._say, await asyncio.to_thread(beside_choices, judgments, runs)
        with self._shown:
            if not rows:
                step = say("people.apply")
                Text(say("people.no-ratings", step=step) if runs else self._no_runs())
                return
            names = (
                "suite",
                "of-model",
                "of-items",
                "of-people-right",
                "of-model-right",
                "of-same",
            )
            table(
                [say(f"people.{name}") for name in names],
                [
                    [
                        row.suite, row.model, say.number(len(row.items)),
                        *(
                            "" if value is None else percent(100 * value, say, ".1f")
                            for value in (row.people_right, row.model_right)
                        ),
                        say("people.of-of", part=row.same, whole=len(row.items)),
                    ]
                    for row in rows
                ],
            )  # fmt: skip
            Text(say("people.choices-what")).classes("small")
            show_demo((row.model for row in rows), say)
            people = {one.annotator for one in judgments if one.annotator and one.counts}
            file, count = self._asked().name, say.number(len(people))
            Text(say("people.choices-of", file=file, count=count)).classes("small")
            if any(len(row.items) < FEWEST for row in rows):
                Text(say("people.few-items", fewest=FEWEST)).classes("mend")
            for row in rows:
                show_items(row, self._visit, used=file, labels=self._asked().labels)

    def _refuse_unplaced(self, judgments: Sequence[Judgment]) -> None:
        """Refuse choices of which no test says what is good.

        Raises:
            InputError: there are no other answers.
        """
        if all(map(is_of_no_suite, filter(lambda one: one.counts, judgments))):
            seen = self._say("people.good-first", part=self._say("people.good"))
            raise InputError(where=self._asked().name, seen=seen)

    def _runs(self, judgments: Sequence[Judgment]) -> list[Run]:
        """The stored runs of the suites that people were asked about."""
        suites = {judgment.suite for judgment in judgments}
        return [open_run(run.path) for run in self._visit.workspace.runs() if run.suite in suites]

    async def _apply(self) -> None:
        """A copy of the suite with the ratings, which runs are then compared with."""
        await self._settle()
        visit, asked = self._visit, self._asked()
        self._refuse_unplaced(asked.judgments)
        suite, language = next((one.suite for one in asked.judgments if one.suite), ""), ""
        if self._design is not None:
            suite, language = self._design.source.suite, self._design.language
        place = await asyncio.to_thread(suite_of, visit, suite, language)
        output = visit.workspace.new(SUITES, self._say("people.copy-name", suite=suite))
        applied = await asyncio.to_thread(
            apply_judgments, place, asked.judgments, output, language=language
        )
        output = await asyncio.to_thread(_in_words, visit, output)
        name, inner = visit.workspace.name_of(output), visit.workspace.name_of
        of = inner(place) if place.is_relative_to(visit.workspace.folder) else suite
        words = ["annotate", "apply", of, inner(asked.place), "-o", name]
        self._command.show([*words, *(["--language", language] if language else [])])
        self._shown.clear()
        with self._shown:
            Text(self._say("people.applied", count=applied.used, file=name))
            for why, number in applied.passed.items():
                show_translated(f"{number} skipped: {why}", self._say).classes("small")
            if has_ties(asked.judgments):
                Text(self._say("people.ties-what")).classes("small")
            if scale_of(asked.judgments) or not ratings_of(asked.judgments):
                Text(self._say("people.then-run", compare=self._say("people.compare")))
            ui.link(self._say("edit.to-run"), visit.address("run", suite=name))


def _in_words(visit: Visit, copy: Path) -> Path:
    """A copy as a workbook in the language of the page; in English, and of blanks, the folder."""
    if visit.say.language == USUAL:
        return copy
    path = visit.workspace.new(SUITES, f"{copy.name}{WORKBOOK}")
    try:
        made = fold(copy, path, language=visit.say.language)
    except InputError:  # beside blanks there is a table of what was chosen
        return copy
    shutil.rmtree(copy)
    return made


def _row(row: BesideModel, say: Words) -> list[str]:
    correlation = row.correlation
    interval = ends(correlation.low, correlation.high, say)
    return [
        row.suite, row.model, measure_of(row, say), say.number(correlation.n),
        two_decimals(correlation.r, say), interval or reason_of(correlation.reason, say),
    ]  # fmt: skip
