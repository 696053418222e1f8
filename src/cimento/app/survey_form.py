"""The form for a new survey: what people do, who is responsible, and what is asked besides."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any, get_args

from nicegui import ui

from cimento.app.findings import button
from cimento.app.frame import CommandLine, Text, Visit, guarded, heading, withdraw
from cimento.app.parts import refused
from cimento.app.shown import survey_command
from cimento.app.words import reason_of
from cimento.app.workspace import SURVEYS
from cimento.errors import CimentoError
from cimento.io.files import write_text
from cimento.kinds.base import TIMED_TASKS, SurveyTask
from cimento.people.surveys.building import USUAL, build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.material import SurveyPlan, languages
from cimento.suites.builtin import find_suite

_USUAL = SurveyPlan()
_OPTIONS = (
    "task", "surveys", "scale", "contact", "title", "language", "break_every", "limit", "checks",
    "completion",
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

MATERIAL = "material"
"""The folder of a survey with what was typed into the form."""


class SurveyForm:
    """The form for a new survey.

    Args:
        visit: what the page is built for.
    """

    def __init__(self, visit: Visit) -> None:
        self._visit, self._say = visit, visit.say

    def build(self) -> None:
        """Build the form in the place where it is called."""
        say, visit = self._say, self._visit
        heading(say("people.new"))
        wanted = visit.query.get("suite", "")
        suites = list(dict.fromkeys([*filter(None, [wanted]), *visit.workspace.suite_names()]))
        tasks = {"": say("people.task-usual")} | {
            # A maze needs a sheet of distractors, and times are not what this page shows.
            task: say(f"people.task-{task}")
            for task in get_args(SurveyTask)
            if task not in TIMED_TASKS
        }
        tongues = {"": say("people.language-suite")} | {
            code: say.named("language", code) for code in languages()
        }
        with ui.element("div").classes("form-grid"):
            self._suite = ui.select(
                suites, label=say("people.suite"), value=wanted or None, with_input=True
            )
            self._fields: dict[str, Any] = {
                "task": ui.select(tasks, label=say("people.task"), value=""),
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
        with ui.element("details").classes("more"):
            Text(say("people.more"), "summary")
            self._build_more()
        self._command = CommandLine(visit)
        for field in (self._suite, self._background, *self._fields.values(), *self._texts.values()):
            field.on_value_change(self._changed)
        self._show()
        button(say("people.make"), guarded(visit, self._make), icon="poll")

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
        Text(say("people.lines")).classes("small")

    def _changed(self) -> None:
        """Take away what was wrong with a field, and show the command as it is now."""
        for field in (self._suite, *self._fields.values()):
            field.error = None
        self._show()

    def _show(self) -> None:
        """Show the command that does the same."""
        withdraw(self._visit)
        name = str(self._suite.value or "")
        folder = f"{SURVEYS}/{_plain(name)}"
        files = {option: f"{folder}/{MATERIAL}/{_TEXTS[option]}" for option in self._typed()}
        words = survey_command(name, self._given() | files, folder)
        for asked in self._background.value:
            words += ["--background", asked]
        self._command.show(words, whole=bool(name))

    def _given(self) -> dict[str, Any]:
        """The options that are not as usual."""
        given: dict[str, Any] = {}
        for name in _OPTIONS:
            usual, value = getattr(_USUAL, name), self._fields[name].value
            if name in _NUMBERS:
                value = whole(value) if usual is None else whole(value) or 0
            else:
                value = str(value or "").strip()
            if value not in ("", None, usual):
                given[name] = value
        return given

    def _typed(self) -> dict[str, str]:
        """The contents of the files that were typed, by option."""
        texts = {name: str(field.value or "").strip() for name, field in self._texts.items()}
        return {
            name: text + "\n" if name == "consent" else table_of(text, named=name == _OWN)
            for name, text in texts.items()
            if text
        }

    async def _make(self) -> None:
        """Make the survey and show it; if it cannot be made, nothing is left of it."""
        say, visit = self._say, self._visit
        suite, given, typed = str(self._suite.value or ""), self._given(), self._typed()
        if not suite:
            raise refused(self._suite, say("people.choose-suite"))
        for name, (_, least, most) in _NUMBERS.items():
            if not least <= given.get(name, least) <= most:
                limits = say("people.limits", least=say.number(least), most=say.number(most))
                raise refused(self._fields[name], limits)
        if "contact" not in given:
            raise refused(self._fields["contact"], say("people.name-contact"))
        path = find_suite(visit.workspace.suite(suite))
        folder = visit.workspace.new(SURVEYS, _plain(suite))
        files = {name: folder / MATERIAL / _TEXTS[name] for name in typed}
        try:
            for name, text in typed.items():
                write_text(text, files[name])
            given |= {**files, "background": tuple(self._background.value)}
            plan = SurveyPlan(**given)
            design = await asyncio.to_thread(build_design, path, plan)
            await asyncio.to_thread(write_survey, design, folder)
        except CimentoError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise self._of_field(error) from error
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        ui.navigate.to(visit.address("people", survey=visit.workspace.name_of(folder)))

    def _of_field(self, error: CimentoError) -> CimentoError:
        """An error about an option as one about its field, which is marked; others as they are."""
        name = error.where.partition("=")[0].removeprefix("--").replace("-", "_")
        if not error.where.startswith("--") or name not in self._fields:
            return error
        seen, field = reason_of(error.seen, self._say), self._fields[name]
        marked = refused(field, f"{seen[:1].upper()}{seen[1:]}.")
        marked.todo = "" if isinstance(field, ui.select) else error.todo  # a menu says it
        return marked


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


def whole(value: object) -> int | None:
    """The value of a field of numbers as a whole number; None if it is empty."""
    return int(value) if isinstance(value, int | float) else None


def _plain(suite: str) -> str:
    """The usual name of a suite's survey."""
    return Path(suite).stem or "survey"
