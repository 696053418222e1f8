"""The form for a new survey: what people do, who is responsible, and what is asked besides."""

from __future__ import annotations

import asyncio
import re
import shutil
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from nicegui import ui

from cimento.app.fillers import LabeledFillers
from cimento.app.findings import button
from cimento.app.frame import CommandLine, Text, Visit, guarded, heading, withdraw
from cimento.app.maze import Distractors
from cimento.app.parts import refused, searched
from cimento.app.shown import survey_command
from cimento.app.suiting import RATED_ONE_BY_ONE, Suited, seen_by_each, suited_to
from cimento.app.words import reason_of
from cimento.app.workspace import SURVEYS
from cimento.errors import CimentoError
from cimento.io.files import write_bytes, write_text
from cimento.judgments import COMPREHENSION
from cimento.kinds.base import TIMED_TASKS, SurveyTask
from cimento.people.surveys import AfterError
from cimento.people.surveys.building import USUAL, build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.material import ANSWER, CHOICES, languages
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.builtin import find_suite
from cimento.suites.filler_rows import fillers_in

_USUAL = SurveyPlan()
_OPTIONS = (
    "task", "surveys", "scale", "contact", "title", "language", "break_every", "limit", "checks",
    "completion", "after_error", "all_conditions",
)  # fmt: skip
"""The options that the form has, as the command lists them."""

_NUMBERS = {
    "surveys": ("lists", 1, 100), "limit": ("limit", 1, 100_000), "checks": ("checks", 0, 20),
    "scale": ("scale", 2, 11), "break_every": ("break-every", 0, 1000),
}  # fmt: skip
"""Options that are numbers: what the page calls them, least and most."""

_TEXTS = {
    "practice": "practice.tsv", "fillers": "fillers.tsv", "background_file": "background.tsv",
    "consent": "consent.txt",
}  # fmt: skip
"""Options that are files, which are written from what is typed."""

_READ, _KINDS_READ = ("practice", "fillers"), ("practice", "filler")
"""Those with sentences, which in timed tasks have questions about them."""

_UNTIMED = ("scale", "checks")
"""Options without use where sentences are read word by word."""

_SHOWN_ITEMS = 3

MATERIAL = "material"
"""The folder of a survey with what was typed into the form."""


class SurveyForm:
    """The form for a new survey.

    Args:
        visit: what the page is built for.
        is_folded: whether it opens only when it is asked for, or when the page is about a test.
    """

    def __init__(self, visit: Visit, *, is_folded: bool = False) -> None:
        self._visit, self._say = visit, visit.say
        self._is_folded = is_folded
        self._suited: Suited | None = None
        self._read: str | None = None  # the suite that the fields are about

    def build(self) -> None:
        """Build the form in the place where it is called."""
        wanted = self._visit.query.get("suite", "")
        if not self._is_folded:
            heading(self._say("people.new"))
            self._build_fields(wanted)
            return
        with ui.element("details").classes("more").props("open" if wanted else ""):
            with ui.element("summary"):
                heading(self._say("people.new"))
            self._build_fields(wanted)

    def _build_fields(self, wanted: str) -> None:
        """Build the fields, with a test that is chosen already; empty for none."""
        say, visit = self._say, self._visit
        suites = list(dict.fromkeys([*filter(None, [wanted]), *visit.workspace.suite_names()]))
        tongues = {"": say("people.language-suite")} | {
            code: say.named("language", code) for code in languages()
        }
        with ui.element("div").classes("form-grid"):
            self._suite = searched(
                dict(zip(suites, suites, strict=True)), label=say("people.suite"),
                value=wanted or None,
            )  # fmt: skip
            self._fields: dict[str, Any] = {
                "task": ui.select(self._tasks(), label=say("people.task"), value=""),
                "contact": ui.input(say("people.contact")),
                "title": ui.input(say("people.title-of")),
                "language": ui.select(tongues, label=say("people.language"), value=""),
            }
            for name, (key, _, _) in _NUMBERS.items():
                usual = getattr(_USUAL, name) or None
                field = ui.number(say(f"people.{key}"), value=usual, precision=0)
                if usual is None:
                    field.props["hint"] = say(f"people.usual-{name}")
                self._fields[name] = field
        Text(say("people.empty-fields")).classes("small")
        self._apart = Text(say("people.not-two")).classes("small").mark("seen-by-each")
        self._fields["all_conditions"] = ui.checkbox(say("people.all-conditions"))
        self._alone = Text(say("people.each-alone")).classes("small").mark("each-alone")
        self._fillers = LabeledFillers(visit, self._show)
        self._fillers.build()
        self._build_timed()
        with ui.element("details").classes("more"):
            Text(say("people.more"), "summary")
            self._build_more()
        self._command = CommandLine(visit)
        for field in (self._suite, self._background, *self._fields.values(), *self._texts.values()):
            field.on_value_change(self._changed)
        self._suite.on_value_change(guarded(visit, self._take))
        if wanted:
            ui.timer(0, guarded(visit, self._take), once=True)
        self._show()
        button(say("people.make"), guarded(visit, self._make), icon="poll")

    def _build_timed(self) -> None:
        """What is said and asked where sentences are read word by word."""
        say = self._say
        self._timed = Text(say("people.timed-what"))
        with ui.element("div") as self._maze:
            after = {name: say(f"people.after-{name}") for name in get_args(AfterError)}
            self._fields["after_error"] = ui.select(
                after, label=say("people.after-error"), value=_USUAL.after_error
            )
            self._distractors = Distractors(self._visit, self._material, self._show)
            self._distractors.build()

    def _build_more(self) -> None:
        """What most surveys do without: practice, fillers, questions about people, own consent."""
        say = self._say
        asked = {name: say(f"people.background-{name}") for name in USUAL}
        self._background = ui.select(
            asked, label=say("people.background"), multiple=True, value=[]
        ).classes("wide")
        self._fields["completion"] = ui.input(say("people.completion")).classes("wide")
        self._texts = {
            name: ui.textarea(say(f"people.text-{name}")).props("autogrow").classes("wide")
            for name in _TEXTS
        }
        self._taken = Text("").classes("small").mark("fillers-taken")
        self._lines = Text(say("people.lines")).classes("small")
        self._lines_timed = Text(say("people.lines-timed")).classes("small")

    def _tasks(self) -> dict[str, str]:
        """The tasks, and what suits the suite as soon as it is chosen."""
        say, suited = self._say, self._suited
        named = {task: say(f"people.task-{task}") for task in get_args(SurveyTask)}
        usual = say("people.task-suits", task=named[suited.task]) if suited else ""
        return {"": usual or say("people.task-usual")} | named

    @property
    def _task(self) -> str:
        """The task; empty as long as no suite says what suits it."""
        suited = self._suited.task if self._suited else ""
        return str(self._fields["task"].value or suited)

    @property
    def _chosen(self) -> str:
        """The name of the suite.

        Raises:
            InputError: none is chosen.
        """
        if not self._suite.value:
            raise refused(self._suite, self._say("people.choose-suite"))
        return str(self._suite.value)

    async def _take(self) -> None:
        """Take from a suite what suits it, and its practice and fillers where nothing is typed."""
        name = str(self._suite.value or "")
        path = find_suite(self._visit.workspace.suite(name)) if name else None
        self._suited = await asyncio.to_thread(suited_to, path) if path else None
        self._fields["task"].set_options(self._tasks(), value=self._fields["task"].value)
        if self._suited and not self._suited.language and not self._fields["language"].value:
            self._fields["language"].value = self._say.language
        self._show()
        await self._fillers.ask(path, str(self._fields["language"].value or self._say.language))
        self._read = name
        if path is None or any(self._texts[kind].value for kind in _READ):
            return
        found = await asyncio.to_thread(fillers_in, path)
        for option, kind in zip(_READ, _KINDS_READ, strict=True):
            self._texts[option].value = "\n".join(found.get(kind, ()))
        self._taken.text = self._say("people.fillers-taken") if found else ""

    def _changed(self) -> None:
        """Take away what was wrong with a field, and show the command as it is now."""
        for field in (self._suite, *self._fields.values()):
            field.error = None
        self._show()

    def _show(self) -> None:
        """Show the fields that the task has, and the command that does the same."""
        withdraw(self._visit)
        is_timed = self._task in TIMED_TASKS
        for name in _UNTIMED:
            self._fields[name].set_visibility(name not in self._unused())
        is_alone = bool(self._suited and self._suited.is_each_alone)
        self._alone.set_visibility(is_alone)
        self._apart.set_visibility(not is_alone)
        self._apart.text = self._seen()
        self._fields["all_conditions"].set_visibility(self._has_lists)
        for part in (self._timed, self._lines_timed):
            part.set_visibility(is_timed)
        self._lines.set_visibility(not is_timed)
        self._maze.set_visibility(self._task == "maze")
        name = str(self._suite.value or "")
        folder = f"{SURVEYS}/{_plain(name)}"
        files = {option: f"{folder}/{MATERIAL}/{_TEXTS[option]}" for option in self._typed()}
        if self._task == "maze" and self._distractors.ending:
            files["distractors"] = f"{folder}/{MATERIAL}/{_SHEET}{self._distractors.ending}"
        words = survey_command(name, self._given() | files, folder)
        for asked in self._background.value:
            words += ["--background", asked]
        for label in self._fillers.chosen:
            words += ["--filler-label", label]
        self._command.show(words, whole=bool(name))

    @property
    def _has_lists(self) -> bool:
        """Whether an item has several conditions, of which people see one if nothing is chosen."""
        sizes = self._suited.sizes.values() if self._suited else ()
        return self._task in (RATED_ONE_BY_ONE, *TIMED_TASKS) and max(sizes, default=0) > 1

    def _seen(self) -> str:
        """How many of the sentences a participant sees, and why."""
        say, given = self._say, self._given()
        if self._task == "choice":
            return say("people.together")
        is_plain = not self._fillers.chosen and "limit" not in given
        if self._suited is None or not self._has_lists or not is_plain:
            return say("people.not-two")
        sizes = self._suited.sizes
        total = say.number(sum(sizes.values()))
        if "all_conditions" in given:
            return say("people.seen-all", total=total)
        lists, *ends = seen_by_each([*sizes.values()], given.get("surveys"))
        names = ", ".join(
            [*islice(sizes, _SHOWN_ITEMS), *(["..."] if len(sizes) > _SHOWN_ITEMS else [])]
        )
        seen = "–".join(dict.fromkeys(map(say.number, ends)))
        return say(
            "people.seen-some", seen=seen, total=total, lists=lists, count=len(sizes), items=names
        )

    def _unused(self) -> set[str]:
        """The options without use in the task."""
        unused = {*_UNTIMED} if self._task in TIMED_TASKS else set()
        if not self._has_lists:
            unused.add("all_conditions")
        if self._task not in ("", RATED_ONE_BY_ONE):
            unused.add("scale")
        return unused if self._task == "maze" else unused | {"after_error"}

    def _given(self) -> dict[str, Any]:
        """The options that are not as usual for the command."""
        given: dict[str, Any] = {}
        unused = self._unused()
        for name in (name for name in _OPTIONS if name not in unused):
            usual, value = getattr(_USUAL, name), self._fields[name].value
            if name == "task" and not value and self._task == "choice":
                value = self._task  # of pairs the command has the sentences rated
            if name in _NUMBERS:
                value = whole(value) if usual is None else whole(value) or 0
            elif isinstance(usual, bool):
                value = bool(value)
            else:
                value = str(value or "").strip()
            if value not in ("", None, usual):
                given[name] = value
        return given

    def _typed(self) -> dict[str, str]:
        """The contents of the files that were typed, by option."""
        texts = {name: str(field.value or "").strip() for name, field in self._texts.items()}
        return {name: self._file_of(name, text) for name, text in texts.items() if text}

    def _file_of(self, name: str, text: str) -> str:
        """The content of a file from what was typed for it."""
        if name == "consent":
            return text + "\n"
        if name in _READ and self._task in TIMED_TASKS:
            return sentences_table(text)
        return table_of(text, named=name == _OWN)

    def _material(self, folder: Path) -> tuple[Path, SurveyPlan]:
        """The suite and the plan; what was typed is written into a folder.

        Raises:
            CimentoError: no suite is chosen, or there is no such suite.
        """
        path = find_suite(self._visit.workspace.suite(self._chosen))
        files = {
            name: write_text(text, folder / _TEXTS[name]) for name, text in self._typed().items()
        }
        return path, SurveyPlan(
            **self._given() | files, background=tuple(self._background.value),
            filler_label=self._fillers.chosen,
        )  # fmt: skip

    def _refuse_fields(self) -> None:
        """Refuse numbers that no survey can have, and a survey that nobody is responsible for.

        Raises:
            InputError: there is such a thing.
        """
        say, given = self._say, self._given()
        for name, (_, least, most) in _NUMBERS.items():
            if not least <= given.get(name, least) <= most:
                limits = say("people.limits", least=say.number(least), most=say.number(most))
                raise refused(self._fields[name], limits)
        if "contact" not in given:
            raise refused(self._fields["contact"], say("people.name-contact"))

    async def _make(self) -> None:
        """Make the survey and show it; if it cannot be made, nothing is left of it."""
        workspace, suite = self._visit.workspace, self._chosen
        if self._read != suite:  # a click came before the file was read
            await self._take()
        self._refuse_fields()
        sheet = self._distractors.sheet if self._task == "maze" else None
        folder = workspace.new(SURVEYS, _plain(suite))
        try:
            path, plan = self._material(folder / MATERIAL)
            if sheet is not None:
                file = write_bytes(sheet[1], folder / MATERIAL / f"{_SHEET}{sheet[0]}")
                plan = plan.model_copy(update={"distractors": file})
            design = await asyncio.to_thread(build_design, path, plan)
            await asyncio.to_thread(write_survey, design, folder)
        except CimentoError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise self._of_field(error) from error
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        ui.navigate.to(self._visit.address("people", survey=workspace.name_of(folder)))

    def _of_field(self, error: CimentoError) -> CimentoError:
        """An error about an option as one about its field, which is marked; others as they are."""
        for option, file in _TEXTS.items():
            row = re.fullmatch(rf"(?:.*/)?{re.escape(file)} row (\d+)", error.where)
            if row is not None:
                return self._of_line(option, int(row[1]) - 1, error)
        name = error.where.partition("=")[0].removeprefix("--").replace("-", "_")
        if not error.where.startswith("--") or name not in self._fields:
            return error
        seen, field = reason_of(error.seen, self._say), self._fields[name]
        marked = refused(field, f"{seen[:1].upper()}{seen[1:]}.")
        marked.todo = "" if isinstance(field, ui.select) else error.todo  # a menu says it
        return marked

    def _of_line(self, option: str, place: int, error: CimentoError) -> CimentoError:
        """An error about a typed line, of those that are not empty, as one of its field."""
        field = self._texts[option]
        lines = enumerate(str(field.value or "").splitlines(), start=1)
        number, line = [(number, line) for number, line in lines if line.strip()][place - 1]
        seen = reason_of(error.seen, self._say)
        text = self._say("people.line-refused", number=number, line=line.strip(), seen=seen)
        marked = refused(field, text)
        marked.todo = error.todo
        return marked


_SHEET = "distractors"
_OWN = "background_file"


def table_of(typed: str, *, named: bool) -> str:
    """What was typed line by line as a table: a text, and after bars the answers to choose from.

    Args:
        typed: the lines.
        named: whether the table has a column with a name for each line.
    """
    header = ["name", "text", "choices"] if named else ["text", "choices"]
    rows = ["\t".join(header)]
    lines = [" ".join(line.split()) for line in typed.splitlines() if line.strip()]
    for number, line in enumerate(lines, start=1):
        text, _, choices = (part.strip() for part in line.partition("|"))
        rows.append("\t".join([*([f"own-{number}"] if named else []), text, choices]))
    return "\n".join(rows) + "\n"


def sentences_table(typed: str) -> str:
    """Sentences that are read word by word as a table: a text, and perhaps a question about it.

    Args:
        typed: the lines; after bars the question, its correct answer, and the others. With no
            others, answers are yes and no.
    """
    rows = ["\t".join(("text", COMPREHENSION, ANSWER, CHOICES))]
    for line in filter(str.strip, typed.splitlines()):
        parts = [" ".join(part.split()) for part in line.split("|")]
        text, asked, right = (*parts, "", "")[:3]
        # In the order of letters, which says nothing about which one is right.
        choices = sorted({right, *parts[3:]} - {""}) if any(parts[3:]) else []
        rows.append("\t".join((text, asked, right, " | ".join(choices))))
    return "\n".join(rows) + "\n"


def whole(value: object) -> int | None:
    """The value of a field of numbers as a whole number; None if it is empty."""
    return int(value) if isinstance(value, int | float) else None


def _plain(suite: str) -> str:
    """The usual name of a suite's survey."""
    return Path(suite).stem or "survey"
