"""Step 1, Start: built-in suites, a file of one's own, a new suite, and a sentence to try."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from nicegui import ui

from cimento.app import sentences
from cimento.app.columns import read_line
from cimento.app.findings import show_advice, show_translated, title_of
from cimento.app.frame import (
    CommandLine,
    Text,
    Visit,
    attend,
    file_choice,
    guarded,
    heading,
    withdraw,
)
from cimento.app.incoming import AnswersFile, answers_file, bring
from cimento.app.parts import ask_deletion, delete_button
from cimento.app.words import Words, message_of
from cimento.app.workspace import SUITES, superseded_by
from cimento.errors import CimentoError, Fault
from cimento.faults import UNUSABLE_NAME, WITHOUT_LANGUAGE
from cimento.intake.tables import SUFFIXES
from cimento.io.files import read_bytes, write_bytes
from cimento.kinds.registry import audit_suite
from cimento.statistics.intervals import items_for_width
from cimento.suites import new_canary
from cimento.suites.builtin import (
    TEMPLATE_LANGUAGES,
    WORKBOOK,
    BuiltinSuite,
    example_of,
    list_builtin,
    new_suite,
)
from cimento.suites.formats import SUITE_SUFFIXES, plugged_reader
from cimento.suites.load import ARCHIVE_SUFFIX, opened, suite_paths
from cimento.suites.sentence_list import labels_named, sentence_list

if TYPE_CHECKING:
    from nicegui.events import UploadEventArguments

    from cimento.kinds.base import SuiteAudit

MOST_FAULTS = 12
"""The number of faults that are shown of one file; step 2 shows all."""

KINDS = (
    *("pairs", "agreement", "regions", "factorial"),
    *("cloze", "templates", "ratings", "stories"),
)
"""The kinds of templates, in the order in which they are offered."""

_RATE_KINDS = frozenset(KINDS) - {"ratings", "factorial"}
"""The kinds whose result is a proportion of correct items."""

ALL = ""

_SHEETS = frozenset({".xls", ".xlsb", ".xlsm", ".ods", ".numbers", ".gsheet"})
"""The suffixes of workbooks that spreadsheet programs can save in another form."""


@functools.cache
def listed_suites() -> Mapping[BuiltinSuite, str]:
    """The built-in suites, by name, each with one of its sentences."""
    return {suite: example_of(suite.path) for suite in list_builtin()}


@functools.cache
def example_of_kind(kind: str, language: str) -> str:
    """A sentence of a template."""
    with TemporaryDirectory(prefix="cimento-") as name:
        folder = Path(name) / kind
        new_suite(kind, folder, language=language)
        return example_of(folder)


def build(visit: Visit) -> None:
    """Build the page."""
    say = visit.say
    heading(say("start.heading"), level=1)
    Text(say("start.lead")).classes("lead")
    parts: Sequence[Callable[[Visit], None]] = (sentences.build, _own, _builtin, _new)
    for part in parts:
        with ui.element("section"):
            part(visit)


def _builtin(visit: Visit) -> None:
    """The built-in suites, to choose by language, kind and phenomenon."""
    say = visit.say
    heading(say("start.builtin"))
    Text(say("start.builtin_lead")).classes("lead")
    every = listed_suites()
    tongues = dict.fromkeys(suite.language for suite in every)
    first = say.language if say.language in tongues else ALL
    with ui.element("div").classes("fields"):
        language = _filter(visit, "language", tongues)
        language.value = first
        kind = _filter(visit, "kind", (suite.kind for suite in every))
        phenomenon = _filter(visit, "phenomenon", (suite.phenomenon for suite in every))
    shown = ui.element("div").props("aria-live=polite")

    def show() -> None:
        shown.clear()
        matching = [
            suite
            for suite in every
            if language.value in (ALL, suite.language)
            and kind.value in (ALL, suite.kind)
            and phenomenon.value in (ALL, suite.phenomenon)
        ]
        with shown:
            Text(say("start.found", count=len(matching))).classes("small").props("role=status")
            with ui.element("ul").classes("suites"):
                for suite in matching:
                    _listed(visit, suite, every[suite])

    for field in (language, kind, phenomenon):
        field.on_value_change(show)
    show()
    CommandLine(visit, ["suites", "list"])


def _capital(text: str) -> str:
    """A text that begins a line."""
    return text[:1].upper() + text[1:]


def _filter(visit: Visit, name: str, values: Iterable[str]) -> ui.select:
    """A field that reduces the list to one value, or to none."""
    options = {value: visit.say.named(name, value) for value in values if value}
    ordered = dict(sorted(options.items(), key=lambda option: option[1]))
    field = ui.select(
        {ALL: visit.say("start.all"), **ordered}, label=visit.say(f"start.{name}"), value=ALL
    )
    return field.props("outlined dense").mark(f"filter-{name}")


def _listed(visit: Visit, suite: BuiltinSuite, example: str) -> None:
    say = visit.say
    with ui.element("li"):
        with ui.element("div"):
            Text(suite.name, "b")
            about = (
                say.named("language", suite.language),
                say.named("kind", suite.kind),
                say.named("phenomenon", suite.phenomenon),
                say("start.items", count=suite.items),
            )
            Text(" · ".join(filter(None, about)), "span").classes("small")
        Text(example).classes("example").props(f"lang={suite.language}")
        _next_steps(visit, suite.name)


def _next_steps(visit: Visit, name: str) -> ui.element:
    """The links from a suite to the steps that go on with it."""
    with ui.element("div").classes("links") as links:
        for step in ("edit", "run", "people"):
            link = ui.link(visit.say(f"{step}.title"), visit.address(step, suite=name))
            link.props(f'aria-label="{visit.say(f"{step}.title")}: {name}"')
    return links


def _own(visit: Visit) -> None:
    """A file to open, and the files that are there."""
    say = visit.say
    heading(say("start.own"))
    Text(say("start.own_lead")).classes("lead")

    def show() -> None:
        files.clear()
        with files:
            _files(visit, show)

    async def take(event: UploadEventArguments) -> None:
        report.clear()
        refused = refusal(event.file.name, say)
        if refused:
            with report, ui.element("div").classes("mend"):
                Text(refused)
            attend(report)
            return
        data = await event.file.read()
        answers = await asyncio.to_thread(answers_file, PurePath(event.file.name).name, data)
        if answers is not None:
            with report:
                _to_answers(visit, answers)
            attend(report)
            return
        path = visit.workspace.new(SUITES, event.file.name)
        first = visit.workspace.new(SUITES, event.file.name, free=False)
        if first.is_file() and read_bytes(first) == data:
            path = first
        else:
            write_bytes(data, path)
        with report:
            if path != first:
                Text(say("start.taken", name=first.name, new=path.name))
            await _audited(visit, path)
        show()
        attend(report)

    file_choice(visit, take)
    report = ui.element("div").props("aria-live=polite").mark("opened")
    files = ui.element("div")
    show()


def refusal(name: str, say: Words) -> str:
    """Why a file is not taken, and what to do instead; empty if its suffix is that of a test.

    Args:
        name: name of the file.
        say: the words of the page.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix in {*SUITE_SUFFIXES, *SUFFIXES, ARCHIVE_SUFFIX} or plugged_reader(suffix) is not None:
        return ""
    todo = say("start.todo_sheet" if suffix in _SHEETS else "start.todo_other")
    return say("start.not_read", file=name, suffix=suffix or "-", todo=todo)


def _files(visit: Visit, show: Callable[[], None]) -> None:
    """The suites of the workspace, which `show` shows again."""
    say = visit.say
    suites = visit.workspace.suites()
    if not suites:
        Text(say("start.no_files")).classes("small")
        return
    heading(say("start.files"), level=3)
    with ui.element("ul").classes("suites"):
        for suite in suites:
            with ui.element("li"):
                Text(suite.name, "b")
                if (new := superseded_by(suite.name)) in {one.name for one in suites}:
                    Text(say("start.superseded", name=suite.name, new=new)).classes("small")
                links = _next_steps(visit, suite.name)
                with links:
                    delete_button(
                        visit, suite.name, functools.partial(_ask, visit, suite.name, show)
                    )


def _ask(visit: Visit, name: str, show: Callable[[], None]) -> None:
    """Ask whether a suite is to be deleted."""

    def delete() -> None:
        visit.workspace.delete_suite(name)
        show()

    ask_deletion(visit, visit.say("start.delete_ask"), [name], delete)


async def _audited(visit: Visit, path: Path) -> None:
    """Show what a file holds, and what is wrong with it."""
    say, name = visit.say, visit.workspace.name_of(path)
    try:
        audits = await asyncio.to_thread(audit_all, path)
    except CimentoError as error:
        if (listed := sentence_list(path)) is not None:
            _to_people(visit, name, labels=labels_named(listed))
            return
        error.where = error.where.replace(str(path), name)
        _to_mend(visit, name)
        Text(message_of(error, say.language)).classes("small")
        return
    if any(fault.severity == "error" for audit in audits for fault in audit.faults):
        if (listed := sentence_list(path)) is not None:
            _to_people(visit, name, labels=labels_named(listed))
            return
        codes = {one.code for one in audits[0].faults if one.severity == "error"}
        _to_mend(visit, name, is_askable=len(audits) == 1 and codes == {UNUSABLE_NAME})
    for audit in audits:
        faults = audit.faults
        errors = sum(fault.severity == "error" for fault in faults)
        heading(name, level=3)
        if line := read_line(audit.read, say):
            Text(line).classes("small")
        if audit.holds:
            show_translated(audit.holds, say)
        else:
            Text(say("start.unusable", count=errors))
        _faults(visit, faults)
    _next_steps(visit, name)
    CommandLine(visit, ["suites", "check", name])


def _to_mend(visit: Visit, name: str, *, is_askable: bool = False) -> None:
    """Lead to step 2 with a file that has errors, perhaps for models only."""
    say = visit.say
    with ui.element("div").classes("mend"):
        Text(say("start.askable" if is_askable else "start.mend"))
        ui.link(f"{say('edit.title')}: {name}", visit.address("edit", suite=name))


def _to_people(visit: Visit, name: str, *, labels: Sequence[str]) -> None:
    """Lead to step 5 with a list of sentences, which people can rate; perhaps with labels."""
    say = visit.say
    with ui.element("div").classes("mend"):
        column = ", ".join(map(say.quoted, labels))
        Text(say("start.list_label", column=column) if labels else say("start.list"))
        ui.link(f"{say('people.title')}: {name}", visit.address("people", suite=name))
        Text(say("start.list_pairs")).classes("small")
        ui.link(f"{say('edit.title')}: {name}", visit.address("edit", suite=name))


def _to_answers(visit: Visit, file: AnswersFile) -> None:
    """Lead to step 5 with people's answers, which make no test."""
    say, wrote = visit.say, f" ({file.program})" if file.program else ""
    with ui.element("div").classes("mend"):
        Text(say("start.answers", file=f"{file.name}{wrote}"))
        there = visit.address("people", answers=bring(file))
        ui.link(f"{say('people.own-forms')}: {file.name}", there)


def audit_all(path: Path) -> list[SuiteAudit]:
    """The audits of the suite at a path, or of all suites in an archive.

    Raises:
        InputError: nothing there can be read.
    """
    with opened(path) as folder:
        return [audit_suite(place) for place in suite_paths(folder)]


def _faults(visit: Visit, faults: Sequence[Fault]) -> None:
    with ui.element("ul").classes("faults"):
        for fault in faults[:MOST_FAULTS]:
            with ui.element("li").classes(fault.severity):
                Text(visit.say(f"start.{fault.severity}"), "b")
                Text(" ".join(filter(None, (fault.code, title_of(fault.code, visit.say)))), "span")
                show_translated(fault.seen, visit.say, where=fault.where).classes("seen")
                # Its closer advice is to give an option of commands.
                todo = "" if fault.code in WITHOUT_LANGUAGE else fault.todo
                show_advice(fault.code, todo, visit.say)
    if len(faults) > MOST_FAULTS:
        Text(visit.say("start.more", count=len(faults) - MOST_FAULTS)).classes("small")


def _new(visit: Visit) -> None:
    """A new suite: kinds, what each can answer, and how many items it wants."""
    say = visit.say
    heading(say("start.new"))
    Text(say("start.new_lead")).classes("lead")
    kind = ui.radio({name: _capital(say.named("kind", name)) for name in KINDS}, value=KINDS[0])
    kind.classes("kinds").mark("kind").props(f'aria-label="{say("start.kind")}"')
    answers = Text()
    example = Text().classes("example")
    tongue = say.language if say.language in TEMPLATE_LANGUAGES else TEMPLATE_LANGUAGES[0]
    with ui.element("div").classes("fields"):
        language = ui.select(
            {code: say.named("language", code) for code in TEMPLATE_LANGUAGES},
            label=say("start.language"), value=tongue,
        ).props("outlined dense")  # fmt: skip
        name = ui.input(say("start.name"), value=say("start.usual_name")).props("outlined dense")
        name.mark("new-name")
        form = ui.select(
            {WORKBOOK: say("start.workbook"), "": say("start.folder")},
            label=say("start.form"), value=WORKBOOK,
        ).props("outlined dense")  # fmt: skip
    precision = _precision(visit)
    go = ui.button(say("start.make")).props("no-caps unelevated").mark("make")
    command = CommandLine(visit)

    def describe() -> None:
        withdraw(visit)
        answers.text = say(f"start.answers_{kind.value}")
        example.text = example_of_kind(str(kind.value), str(language.value))
        example.props(f"lang={language.value}")
        precision.set_visibility(kind.value in _RATE_KINDS)
        target = f"{SUITES}/{name.value}{form.value}"
        command.show(["suites", "new", str(kind.value), target, "--language", str(language.value)])

    def make() -> None:
        path = visit.workspace.new(SUITES, f"{name.value}{form.value}")
        new_suite(
            str(kind.value),
            path,
            language=str(language.value),
            canary=new_canary(),
            words=say.language,
        )
        ui.navigate.to(visit.address("edit", suite=visit.workspace.name_of(path)))

    for field in (kind, language, name, form):
        field.on_value_change(describe)
    go.on_click(guarded(visit, make))
    describe()


def _precision(visit: Visit) -> ui.element:
    """How many items an interval of some width wants."""
    say = visit.say
    with ui.element("div").classes("precision") as part:
        heading(say("start.how_many"), level=3)
        with ui.element("div").classes("fields"):
            points = ui.number(say("start.points"), value=5, min=1, max=40, step=1, suffix="%")
            expected = ui.number(say("start.expected_share"), value=80, min=0, max=100, suffix="%")
            for field in (points, expected):
                field.props("outlined dense")
        needed = Text().props("role=status").mark("needed")

    def tell() -> None:
        try:
            wanted = items_for_width(float(points.value) / 100, share=float(expected.value) / 100)
        except (CimentoError, TypeError, ValueError):
            needed.text = say("start.no_width")
            return
        needed.text = say(
            "start.needed", items=wanted, points=f"{points.value:g}", share=f"{expected.value:g}"
        )

    points.on_value_change(tell)
    expected.on_value_change(tell)
    tell()
    return part
