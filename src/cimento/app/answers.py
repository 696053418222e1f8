"""The results of a survey: its answers as a table, filters, agreement, ratings beside models."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePath
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from nicegui import ui

from cimento.app.findings import button, show_translated
from cimento.app.frame import CommandLine, Text, Visit, english, file_choice, guarded, heading
from cimento.app.incoming import asked_in, read_upload, remarks_on
from cimento.app.parts import ends, plain_table, save
from cimento.app.shown import BesideModel, beside_models
from cimento.app.times import ReadingTimes
from cimento.app.words import Words, said
from cimento.app.workspace import JUDGMENTS, SECRET, SUITES
from cimento.documents import grid_file
from cimento.errors import CimentoError, InputError
from cimento.judgments import (
    Judgment,
    csv_of,
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.judgments.filters import ExclusionRules, write_filtered
from cimento.judgments.summaries import (
    QuestionSummary,
    is_rated,
    once,
    rating_of,
    summarize,
)
from cimento.kinds.registry import load_suite
from cimento.kinds.run import Run, open_run
from cimento.measures.participants import z_by_participant
from cimento.people.annotate.importing import apply_judgments
from cimento.people.surveys import DATABASE, read_design
from cimento.people.surveys.administration import write_results
from cimento.report.cells import Shown, count, printed
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.suites.builtin import find_suite
from cimento.suites.ratings import Rating

if TYPE_CHECKING:
    from nicegui.events import UploadEventArguments

_RULES = (
    ("answered", "answered", 0.0, 1.0, 0.05),
    ("attention", "attention", 0.0, 1.0, 0.05),
    ("seconds", "min-seconds", 0.0, 36_000.0, 1.0),
    ("median_seconds", "min-median-seconds", 0.0, 3_600.0, 0.1),
    ("same_run", "same-run", 1.0, 1000.0, 1.0),
    ("same_share", "same-share", 0.0, 1.0, 0.05),
    ("with_rest", "with-rest", -1.0, 1.0, 0.05),
)
"""Rules that leave people out: field of `ExclusionRules`, flag, least, most and step."""


class Results:
    """The results of one survey, or of a form of one's own.

    Args:
        visit: what the page is built for.
        name: of the survey or the form, which begins the names of its tables.
        survey: the survey's folder; None for a form, whose answers are read already.
    """

    def __init__(self, visit: Visit, name: str, survey: Path | None) -> None:
        self._visit, self._say, self._name, self._survey = visit, visit.say, name, survey
        self._design = None if survey is None else read_design(survey)
        self._judgments: list[Judgment] = []
        self._place = self._table(name)
        self._kept = self._place

    def _table(self, name: str) -> Path:
        """The place of a judgments table in the workspace.

        Raises:
            UsageError: it is behind a link.
        """
        return self._visit.workspace.inside(f"{JUDGMENTS}/{name}.parquet")

    def build(self) -> None:
        """Build the part of the page in the place where it is called."""
        say, visit = self._say, self._visit
        command: list[str] = []
        if self._survey is not None:
            Text(say("people.results-what"))
            fetch = guarded(visit, partial(self._fetch, self._survey))
            button(say("people.fetch"), fetch, icon="table_view")
            command = [
                "annotate", "serve", "export", visit.workspace.name_of(self._survey),
                "-o", visit.workspace.name_of(self._place),
            ]  # fmt: skip
        self._command = CommandLine(visit)
        self._command.show(command, whole=bool(command))
        if self._survey is not None:
            Text(say("people.import-what"))
            file_choice(visit, partial(self._import, self._survey))
        self._earlier = ui.element("div").classes("tools")
        self._build_earlier()
        self._summary = ui.element("div").props("aria-live=polite")
        self._more = ui.element("div")
        self._more.set_visibility(False)
        with self._more:
            heading(say("people.filter"), level=3)
            Text(say("people.filter-what"))
            self._build_filter()
            self._times = self._build_times()
            if self._times is None:
                self._build_models()

    def _build_times(self) -> ReadingTimes | None:
        """The part about the times of words, of a survey that has any."""
        if self._survey is None or self._design is None or not self._design.is_timed:
            return None
        times = ReadingTimes(self._visit, self._survey, self._design)
        times.build()
        return times

    def _build_models(self) -> None:
        """The part about models, which are compared with people."""
        say, visit = self._say, self._visit
        heading(say("people.models"), level=3)
        Text(say("people.models-what"))
        with ui.element("div").classes("tools"):
            if self._survey is None:
                self._ends = [ui.number(say(f"people.{key}")).classes("end") for key in _SCALE_ENDS]
            button(say("people.compare"), guarded(visit, self._compare), icon="insights")
            button(say("people.apply"), guarded(visit, self._apply), icon="note_add")
        self._models = ui.element("div").props("aria-live=polite")

    def _build_earlier(self) -> None:
        """The tables that were made of answers from elsewhere, or by rules, to be opened again."""
        parts = self._visit.workspace.judgments_of(self._name)
        tables = [path for path in parts if path.suffix == ".parquet"]
        others = [path for path in tables if path.stem != self._name]
        self._earlier.clear()
        with self._earlier:
            if others:
                Text(self._say("people.earlier"))
            for path in others:
                button(path.stem, guarded(self._visit, partial(self.take, path)))

    def _build_filter(self) -> None:
        say = self._say
        with ui.element("div").classes("form-grid"):
            self._limits = {
                name: ui.number(say(f"people.rule-{flag}"), min=least, max=most, step=step)
                for name, flag, least, most, step in _RULES
            }
        button(say("people.filter-do"), guarded(self._visit, self._filter), icon="filter_alt")
        self._english = ui.element("div")
        with self._english:
            english(say)
        self._english.set_visibility(False)
        self._log = Text(tag="pre").classes("pre").props("lang=en tabindex=0")
        self._log.set_visibility(False)

    async def _fetch(self, survey: Path) -> None:
        """Write the answers so far as the judgments table, and describe them."""
        place = self._table(self._name)
        self._visit.workspace.plain(survey)
        database = survey / DATABASE  # made when the survey is first opened
        written = (
            await asyncio.to_thread(write_results, database, place) if database.is_file() else 0
        )
        if not written:
            raise InputError(where=self._name, seen=self._say("people.no-answers"))
        await self.take(place)

    async def _import(self, survey: Path, event: UploadEventArguments) -> None:
        """Read answers to the survey from another program, and describe them."""
        name, data = PurePath(event.file.name).name, await event.file.read()
        place = self._table(f"{self._name}-{PurePath(name).stem}")
        secret = self._visit.workspace.inside(f"{JUDGMENTS}/{self._name}{SECRET}")
        asked = asked_in(self._design or read_design(survey))
        came = await asyncio.to_thread(read_upload, name, data, asked=asked, secret=secret)
        if came is None:
            raise InputError(where=name, seen=self._say("people.import-unclear"))
        await asyncio.to_thread(write_judgments, table_of(came.judgments), place)
        await self.take(place, remarks_on(came))

    async def take(self, place: Path, remarks: Sequence[str] = ()) -> None:
        """Go on with a judgments table.

        Args:
            place: of the table.
            remarks: what there is to say of it.
        """
        self._place = place
        self._use(place, await asyncio.to_thread(_read, place))
        self._more.set_visibility(True)
        self._build_earlier()
        await self._describe()
        with self._summary:
            for remark in remarks:
                show_translated(remark, self._say).classes("small")

    def _use(self, place: Path, judgments: list[Judgment]) -> None:
        """Go on with some judgments, which are in a table."""
        self._kept, self._judgments = place, judgments
        if self._times is not None:
            self._times.take(judgments, self._visit.workspace.name_of(place))

    async def _describe(self) -> None:
        """The questions with their means and agreement."""
        summaries = await asyncio.to_thread(summarize, self._judgments)
        self._summary.clear()
        with self._summary:
            ui.label(
                self._say("people.fetched", count=len(self._judgments),
                          file=self._visit.workspace.name_of(self._kept))
            )  # fmt: skip
            self._build_downloads()
            names = ("question", "participants", "places", "judgments", "mean", "sd", "alpha")
            rows = [_summary_row(summary, self._say) for summary in summaries]
            if rows:  # times answer no question
                table([self._say(f"people.of-{name}") for name in names], rows)
            for summary in summaries:
                if len(summary.by_condition) > 1:
                    means = [[name, _number(mean, self._say)]
                             for name, mean in summary.by_condition.items()]  # fmt: skip
                    table([self._say(f"people.of-{name}") for name in ("condition", "mean")], means)

    def _build_downloads(self) -> None:
        """The answers, and the mean of each sentence, for spreadsheet programs."""
        judgments, name = self._judgments, self._kept.stem
        files = [
            ("answers-xlsx", f"{name}.xlsx", lambda: grid_file(answers_grid(judgments), ".xlsx")),
            ("answers-csv", f"{name}.csv", lambda: csv_of(table_of(judgments)).encode()),
        ]
        if any(is_rated(judgment.question) for judgment in judgments):
            means = partial(grid_file, means_grid(judgments), ".xlsx")
            files.append(("means-xlsx", f"{name}-means.xlsx", means))
        with ui.element("div").classes("tools"):
            for key, file, make in files:
                button(
                    self._say(f"people.{key}"),
                    guarded(self._visit, partial(save, file, make)),
                    icon="download",
                )

    async def _filter(self) -> None:
        """Leave people out by rules, with a log beside the table that is left."""
        given = {
            name: field.value for name, field in self._limits.items() if field.value is not None
        }
        if not given:
            raise InputError(where=self._say("people.filter"), seen=self._say("people.no-rule"))
        for name, flag, least, most, _ in _RULES:
            # No answers could have such a limit, a share in percent, say.
            if not least <= given.get(name, least) <= most:
                ends = self._say("people.limits", least=self._say.number(least, ",g"),
                                 most=self._say.number(most, ",g"))  # fmt: skip
                raise InputError(where=self._say(f"people.rule-{flag}"), seen=ends)
        if "same_run" in given:
            given["same_run"] = int(given["same_run"])
        rules = ExclusionRules(**given)
        output = self._table(f"{self._place.stem}-kept")
        whole = await asyncio.to_thread(_read, self._place)
        filtered, text = await asyncio.to_thread(
            write_filtered, whole, rules, output, source=self._place, by=""
        )
        self._use(output, list(filtered.judgments))
        flags = {name: flag for name, flag, *_ in _RULES}
        words = [
            part for name, value in given.items() for part in (f"--{flags[name]}", f"{value:g}")
        ]
        inner = self._visit.workspace.name_of
        self._command.show(["annotate", "filter", inner(self._place), "-o", inner(output), *words])
        self._log.text = text
        self._log.set_visibility(True)
        self._english.set_visibility(True)
        self._build_earlier()
        await self._describe()

    async def _compare(self) -> None:
        """The ratings beside the scores of the workspace's runs."""
        runs = await asyncio.to_thread(self._runs)
        rows = await asyncio.to_thread(beside_models, self._judgments, runs)
        self._models.clear()
        with self._models:
            if not rows:
                Text(self._say("people.no-runs"))
                return
            names = ("model", "measure", "sentences", "rho", "interval")
            cells = [_model_row(row, self._say) for row in rows]
            titles = [self._say("people.suite"), *(self._say(f"people.of-{n}") for n in names)]
            table(titles, cells)
            for row in rows:
                if row.others:
                    Text(self._say("people.other-sentences", suite=row.suite, model=row.model,
                                   items=", ".join(row.others))).classes("small")  # fmt: skip

    def _runs(self) -> list[Run]:
        """The stored runs of the suites that people were asked about."""
        suites = {judgment.suite for judgment in self._judgments}
        return [open_run(run.path) for run in self._visit.workspace.runs() if run.suite in suites]

    async def _apply(self) -> None:
        """A copy of the suite with the ratings, which runs are then compared with."""
        visit = self._visit
        suite = next((one.suite for one in self._judgments if one.suite), "")
        if self._design is not None:
            suite = self._design.source.suite
        scale = self._scale()
        place = await asyncio.to_thread(_suite_of, visit, suite)
        output = visit.workspace.new(SUITES, f"{suite}-judged")
        applied = await asyncio.to_thread(
            apply_judgments, place, self._judgments, output, scale=scale
        )
        name = visit.workspace.name_of(output)
        words = ["annotate", "apply", suite, visit.workspace.name_of(self._kept)]
        ends = ["--scale", "{:g},{:g}".format(*scale)] if scale else []
        self._command.show([*words, *ends, "-o", name])
        self._models.clear()
        with self._models:
            Text(self._say("people.applied", count=applied.used, file=name))
            for why, number in applied.passed.items():
                show_translated(f"{number} skipped: {why}", self._say).classes("small")
            ui.link(self._say("edit.to-run"), visit.address("run", suite=name))

    def _scale(self) -> tuple[float, float] | None:
        """The ends of the form's scale, the worst first; None where they are known otherwise.

        Raises:
            InputError: one of the two is missing.
        """
        if self._survey is not None:
            return None
        worst, best = (end.value for end in self._ends)
        if worst is None and best is None:
            return None
        if worst is None or best is None:
            missing = _SCALE_ENDS[0 if worst is None else 1]
            raise InputError(
                where=self._say(f"people.{missing}"), seen=self._say("people.both-ends")
            )
        return worst, best


_SCALE_ENDS = ("worst", "best")
"""The ends of a form's scale, which nothing in its answers says."""

_NUMBERS = ("value", "position", "seconds", "session_seconds")


def answers_grid(judgments: Sequence[Judgment]) -> Grid:
    """The answers as a table, one in a row, with the columns of numbers last.

    Args:
        judgments: the answers.
    """
    present = table_of(judgments).columns
    labels = [name for name in present if name not in _NUMBERS]
    columns = [*labels, *(name for name in _NUMBERS if name in present)]
    return Grid(
        title="answers", header=tuple(columns), labels=len(labels),
        rows=tuple(tuple(_cell(getattr(one, name), name) for name in columns) for one in judgments),
    )  # fmt: skip


def _cell(value: str | float | None, column: str) -> str:
    text = "" if value is None else str(value)
    return printed(text) if column in _NUMBERS else Shown(text, value)


def means_grid(judgments: Sequence[Judgment]) -> Grid:
    """The ratings of each sentence: number, mean, standard deviation (n - 1) and mean z-score.

    Args:
        judgments: the answers; those that are not ratings are left out, and of repeated ones of one
            person all but the first. A z-score is within all that a person rated.
    """
    ratings: dict[tuple[str, str, str, str], list[Rating]] = {}
    for one in once(judgments):
        if is_rated(one.question) and one.counts and (value := rating_of(one)) is not None:
            place = (one.suite, one.item, one.condition, one.candidate or "")
            ratings.setdefault(place, []).append(Rating(value, one.annotator or ""))
    z, _, _ = z_by_participant(ratings)
    return Grid(
        title="means",
        # The names of a suite of ratings, so that the file can be run as one.
        header=(
            "suite", "item", "condition", "sentence", "rating_n", "rating", "rating_sd", "mean_z"
        ),
        labels=4,
        rows=tuple(
            (
                *place,
                count(len(given)),
                number(fmean(values), digits=4),
                number(stdev(values) if values[1:] else None, digits=4, absent=""),
                number(fmean(z[place]) if place in z else None, digits=4, absent=""),
            )
            for place, given in ratings.items()
            if (values := [rating.value for rating in given])
        ),
    )  # fmt: skip


def _suite_of(visit: Visit, name: str) -> Path:
    """The suite with a name, in the workspace or among those that come with cimento.

    Raises:
        InputError: there is none.
    """
    # A file that is named like its suite is the likeliest, and only then are others opened.
    suites = sorted(visit.workspace.suites(), key=lambda suite: suite.path.stem != name)
    for suite in suites:
        with contextlib.suppress(CimentoError):
            if load_suite(suite.path).suite.name == name:
                return suite.path
    return find_suite(visit.workspace.suite(name))


def _read(path: Path) -> list[Judgment]:
    return judgments_of(read_judgments(path))


def _summary_row(summary: QuestionSummary, say: Words) -> list[str]:
    alpha = summary.alpha
    shown = _number(alpha.value, say) or _reason(alpha.reason, say)
    if alpha.value is not None:
        shown = " ".join(filter(None, (shown, ends(alpha.low, alpha.high, say))))
    return [
        say.named("question", summary.question), str(summary.people), str(summary.places),
        str(summary.judgments), _number(summary.mean, say), _number(summary.sd, say), shown,
    ]  # fmt: skip


def _model_row(row: BesideModel, say: Words) -> list[str]:
    correlation = row.correlation
    interval = ends(correlation.low, correlation.high, say)
    return [
        row.suite, row.model, say.named("measure", row.measure), str(correlation.n),
        _number(correlation.r, say), interval or _reason(correlation.reason, say),
    ]  # fmt: skip


def _reason(reason: str | None, say: Words) -> str:
    """Why there is no value, in the language of the page."""
    return said(reason or "", say.language) or reason or ""


def _number(value: float | None, say: Words) -> str:
    return "" if value is None else say.number(value, ".2f")


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of texts in the place where the page is being built.

    Args:
        names: the names of the columns.
        rows: the cells of each row.
    """
    with ui.element("div").classes("table-holder").props("tabindex=0"):
        plain_table(names, rows)
