"""Step 5, Ask people: a survey from a suite, served from here, with its answers coming in."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from nicegui import ui

from cimento.app.answers import Results
from cimento.app.fillers import show_not_declared
from cimento.app.findings import STYLE, button
from cimento.app.forms import OwnForms
from cimento.app.frame import (
    CommandLine,
    Text,
    Visit,
    guarded,
    heading,
    local_time,
    problem,
    tell,
)
from cimento.app.parts import ask_deletion, delete_button, save
from cimento.app.preview import open_preview
from cimento.app.shown import (
    EXPORTS,
    WORDS_PER_MINUTE,
    Progress,
    kinds_in,
    progress,
    qr_code,
    words_to_read,
    zipped_export,
)
from cimento.app.survey_form import SurveyForm, whole
from cimento.app.withdrawal import Withdrawal
from cimento.app.words import Words, message_of
from cimento.errors import CimentoError, UsageError
from cimento.people.surveys import DATABASE, SurveyDesign, read_design, storage
from cimento.people.surveys.administration import MOST_LINKS
from cimento.people.surveys.links import HEADER, link_lines
from cimento.people.surveys.participants import EVERYWHERE, LOCAL, MOST_PEOPLE, network_host
from cimento.people.surveys.server import InThread, Serving

SECONDS = 2.0
"""Seconds between two looks at the answers."""
USUAL_ROOM = 100
PORT = 8000
"""The usual port, as in a terminal, so that a survey that is opened again keeps its links."""

_running: dict[Path, Serving] = {}
"""The surveys that are served from here, by their folders; they end with the program."""
_closed: dict[Path, InThread] = {}
"""What says of surveys that were open that they are closed, by their folders."""


def build(visit: Visit) -> None:
    """Build the page: one survey, or the surveys there are and a form for another."""
    ui.add_css(STYLE.read_text(encoding="utf-8"))
    say = visit.say
    heading(say("people.title"), level=1)
    name = visit.query.get("survey", "")
    if name:
        try:
            folder = visit.workspace.plain(name)
            SurveyPage(visit, folder, read_design(folder)).build()
            label = say("people.delete")
            delete_button(visit, name, partial(_ask, visit, folder), label=label)
        except CimentoError as error:
            problem(visit, error)
        ui.link(say("people.all"), visit.address("people"))
        return
    Text(say("people.lead")).classes("lead")
    if visit.workspace.surveys():
        with ui.element("section"):
            _surveys(visit)
    is_brought = bool(visit.query.get("answers"))
    is_folded = is_brought or bool(visit.workspace.surveys())
    parts = [SurveyForm(visit, is_folded=is_folded).build, OwnForms(visit).build]
    for build_part in reversed(parts) if is_brought else parts:
        with ui.element("section"):
            build_part()


def _surveys(visit: Visit) -> None:
    """The surveys of the workspace, and how far each is."""
    say = visit.say
    heading(say("people.surveys"))
    with ui.element("ul").classes("plain-list"):
        for folder in visit.workspace.surveys():
            name = visit.workspace.name_of(folder)
            with ui.element("li"):
                ui.link(folder.name, visit.address("people", survey=name))
                if folder in _running and _running[folder].is_running:
                    ui.label(say("people.is-running")).classes("small")
                label = say("people.delete")
                delete_button(visit, name, partial(_ask, visit, folder), label=label)
                with contextlib.suppress(CimentoError):  # its own page says what is wrong
                    if (now := progress(folder)).people:
                        Text(_counted(now, say)).classes("small")


def _counted(now: Progress, say: Words) -> str:
    """How many people and answers there are."""
    return say(
        "people.progress", people=now.people, begun=now.begun, finished=now.finished,
        answers=now.answers, wanted=now.wanted,
    )  # fmt: skip


def _ask(visit: Visit, folder: Path) -> None:
    """Ask whether a survey is to be deleted, with its answers.

    Raises:
        UsageError: it is open.
    """
    say, workspace = visit.say, visit.workspace
    if folder in _running and _running[folder].is_running:
        raise UsageError(where=folder.name, seen=say("people.close-first"))

    def delete() -> None:
        workspace.delete_survey(folder)
        ui.navigate.to(visit.address("people"))

    names = [workspace.name_of(path) for path in workspace.parts_of_survey(folder)]
    ask_deletion(visit, say("people.delete-ask"), names, delete)


def _address(label: str, address: str) -> None:
    """An address that people read and type, below what it is for, which its link is called too."""
    Text(label)
    link = ui.link(address, address, new_tab=True).classes("link")
    link.props["aria-label"] = f"{label} {address}"


class SurveyPage:
    """The page of one survey.

    Args:
        visit: what the page is built for.
        folder: the survey's folder.
        design: what is asked.
    """

    def __init__(self, visit: Visit, folder: Path, design: SurveyDesign) -> None:
        self._visit, self._say = visit, visit.say
        self._folder, self._design = folder, design
        self._name = visit.workspace.name_of(folder)
        self._seen: Progress | None = None
        self._shown: Serving | None = None

    def build(self) -> None:
        """Build the page in the place where it is called."""
        say = self._say
        ui.label(self._folder.name).classes("suite-name")
        Text(
            say(
                "people.facts", suite=self._design.source.suite,
                task=say(f"people.task-{self._design.task}"), surveys=len(self._design.surveys),
                questions=max(map(len, self._design.by_survey.values()), default=0),
            )
        )  # fmt: skip
        has_answers = progress(self._folder).answers > 0
        with ui.element("details" if has_answers else "div").classes("more"):
            if has_answers:
                Text(say("people.about"), "summary")
            self._build_about()
        serve, answers, exports, results = (
            self._build_serving, self._build_answers, self._build_exports, self._build_results,
        )  # fmt: skip
        order = [answers, results, serve, exports] if has_answers else [
            serve, answers, exports, results,
        ]  # fmt: skip
        if self._serving() is not None:  # whoever shows the link finds it at the top
            order.insert(0, order.pop(order.index(serve)))
        for build in order:
            with ui.element("section"):
                build()

    def _build_about(self) -> None:
        """What the survey asks, how long it takes, and how people see it."""
        say = self._say
        lists = sorted(self._design.by_survey.values(), key=len)
        counts = kinds_in(lists[-1]) if lists else {}
        if len(counts) > 1:
            kinds = (
                say(f"people.counted-{kind}", count=say.number(n)) for kind, n in counts.items()
            )
            Text(say("people.counted", kinds="; ".join(kinds))).mark("counted")
        show_not_declared(self._design, say)
        self._build_around()
        Text(say("people.fixed")).classes("small")
        for field in self._design.fields:
            if field.low:
                Text(
                    say(
                        "people.scale-is", points=len(field.choices),
                        first=field.choices[0].label, low=field.low,
                        last=field.choices[-1].label, high=field.high,
                    )
                ).mark("scale")  # fmt: skip
        words = words_to_read(self._design)
        minutes = say.number(words / WORDS_PER_MINUTE, ".1f")
        Text(say("people.reading", words=say.number(words), minutes=minutes))
        with ui.element("div").classes("tools"):
            button(say("people.preview"), self._do(self._preview), icon="visibility")
            Text(say("people.preview-what")).classes("small")
        self._trial = ui.element("div").props("aria-live=polite")

    def _build_around(self) -> None:
        """What the survey has beside its sentences: breaks, questions about people, consent."""
        say, every = self._say, self._design.break_every
        asked = "; ".join(say.quoted(one.prompt) for one in self._design.background)
        Text(
            " ".join(
                (
                    say("people.breaks", count=say.number(every))
                    if every
                    else say("people.breaks-none"),
                    say("people.asked-about", questions=asked)
                    if asked
                    else say("people.asked-about-none"),
                )
            )
        ).mark("around")
        with ui.element("details").classes("more"):
            Text(say("people.consent-text"), "summary")
            for each in self._design.consent:
                Text(each).classes("small")

    def _build_results(self) -> None:
        """The answers so far, and the deletion of somebody's."""
        heading(self._say("people.results"))
        results = Results(self._visit, self._folder.name, self._folder)
        results.build()
        Withdrawal(self._visit, self._folder, results.forget).build()

    def _build_answers(self) -> None:
        """How far the survey is, looked at again and again."""
        heading(self._say("people.answers"))
        self._live = ui.label().props("role=status").classes("live")
        self._last = ui.label().classes("small")
        self._bar = ui.linear_progress(show_value=False).props(
            f'aria-label="{self._say("people.answers")}"'
        )
        self._look()
        ui.timer(SECONDS, self._look)

    def _build_exports(self) -> None:
        """The survey for other programs and for paper."""
        say = self._say
        heading(say("people.elsewhere"))
        Text(say("people.elsewhere-what"))
        if self._design.is_timed:
            Text(say("people.timed-what")).classes("small")
        with ui.element("div").classes("tools"):
            for form in EXPORTS:
                if not (self._folder / form).is_dir():  # such as stories for Qualtrics
                    continue
                name = f"{self._folder.name}-{form}.zip"
                give = partial(save, name, partial(zipped_export, self._folder, form))
                button(say(f"people.export-{form}"), guarded(self._visit, give), icon="download")

    async def _preview(self) -> None:
        """Open a trial, and give its link: browsers open no tab of themselves."""
        link = await asyncio.to_thread(open_preview, self._folder, self._design)
        self._trial.clear()
        with self._trial:
            label = self._say("people.preview-link", name=self._design.title)
            ui.link(label, link, new_tab=True).mark("preview")

    # --- Serving

    def _build_serving(self) -> None:
        say = self._say
        heading(say("people.serve"))
        self._where = ui.radio(
            {LOCAL: say("people.only-here"), EVERYWHERE: say("people.in-room")}, value=LOCAL
        ).props(f'aria-label="{say("people.who")}"')
        with ui.element("div").classes("tools"):
            self._most = ui.number(
                say("people.most"), value=USUAL_ROOM, min=1, max=MOST_PEOPLE, precision=0
            ).classes("short")
            self._start = button(say("people.start"), self._do(self._serve), icon="play_arrow")
            self._stop = button(say("people.stop"), self._do(self._end), icon="stop")
        self._room = ui.element("div")
        self._command = CommandLine(self._visit)
        self._where.on_value_change(self._show_command)
        self._most.on_value_change(self._show_command)
        self._show_command()
        self._show_room()

    def _do(self, action: Callable[[], object]) -> Callable[[], object]:
        return guarded(self._visit, action)  # type: ignore[arg-type]  # coroutines too

    def _show_command(self) -> None:
        words = ["annotate", "serve", self._name, "--room", str(whole(self._most.value) or 1)]
        if self._where.value == EVERYWHERE:
            words += ["--host", EVERYWHERE]
        self._command.show(words)

    def _serving(self) -> Serving | None:
        served = _running.get(self._folder)
        return served if served is not None and served.is_running else None

    async def _serve(self) -> None:
        """Start the survey server."""
        if self._serving() is not None:  # another tab has opened it
            self._show_room()
            return
        self._visit.workspace.plain(self._folder)
        usual = PORT
        if (before := _closed.pop(self._folder, None)) is not None:
            usual = before.port  # the links stay the same
            await asyncio.to_thread(before.stop)
        host = str(self._where.value)
        shown = network_host() if host == EVERYWHERE else LOCAL
        most = whole(self._most.value) or 1
        serve = partial(
            Serving, self._design, self._folder / DATABASE, host=host, shown=shown, room=most,
            language=self._say.language,
        )  # fmt: skip
        try:
            served = await asyncio.to_thread(serve, port=usual)
        except UsageError:  # another survey, or another program, listens there
            served = await asyncio.to_thread(serve, port=0)
        _running[self._folder] = served
        self._show_room()

    async def _end(self) -> None:
        """Stop the survey server; all answers so far are in the file."""
        served = _running.pop(self._folder, None)
        if served is not None:
            with contextlib.suppress(UsageError):  # something else has taken the port
                _closed[self._folder] = await asyncio.to_thread(served.close)
        self._show_room()

    def _show_room(self) -> None:
        """The link, its QR code, and links for single people."""
        say, served = self._say, self._serving()
        self._shown = served
        self._start.set_enabled(served is None)
        self._stop.set_enabled(served is not None)
        self._room.clear()
        if served is None:
            return
        with self._room:
            is_here = served.address.startswith(f"http://{LOCAL}:")
            with ui.element("div").classes("room"):
                if not is_here:  # no phone could open it
                    code = ui.html(qr_code(served.room), sanitize=False).classes("code")
                    code.props(f'role=img aria-label="{say("people.code")}"')
                with ui.element("div"):
                    _address(
                        say("people.open-here" if is_here else "people.open-link"), served.room
                    )
                    if not is_here:
                        Text(say("people.plain")).classes("small")
                    _address(say("people.admin"), f"{served.address}/admin")
                    ui.label(say("people.secret", secret=served.secret)).classes("small")
            with ui.element("div").classes("tools"):
                count = ui.number(
                    say("people.links-number"), value=10, min=1, max=MOST_LINKS, precision=0
                ).classes("short")
                make = self._do(lambda: self._links(served, whole(count.value) or 1))
                button(say("people.links"), make, icon="link")
            Text(say("people.closing")).classes("small")

    async def _links(self, served: Serving, number: int) -> None:
        """Make links for single people, which are stored nowhere else."""
        path = self._visit.workspace.plain(self._folder) / DATABASE
        made = await asyncio.to_thread(
            storage.invite_participants, path, self._design, min(number, MOST_LINKS)
        )
        text = "\n".join([HEADER, *link_lines(made, served.address)]) + "\n"
        ui.download.content(text.encode(), f"{self._folder.name}-links.tsv")

    # --- Answers

    def _look(self) -> None:
        """Show how far the survey is, and whether another tab has opened or closed it."""
        if self._serving() is not self._shown:
            self._show_room()
        try:
            now = progress(self._folder)
        except CimentoError as error:
            tell(self._visit, message_of(error, self._say.language))
            return
        if now == self._seen:
            return
        self._seen = now
        say = self._say
        self._live.text = _counted(now, say)
        kinds = "; ".join(
            say(f"people.kind-{kind}", count=say.number(n)) for kind, n in now.kinds.items()
        )
        last = [say("people.of-which", kinds=kinds)] if len(now.kinds) > 1 else []
        if now.begun < now.people:
            last.append(say("people.not-agreed", count=now.people - now.begun))
        if now.last:
            last.append(say("people.last", time=local_time(now.last)))
        if now.minutes is not None:
            last.append(say("people.took", minutes=say.number(now.minutes, ".1f")))
        self._last.text = " ".join(last)
        self._bar.value = now.answers / now.wanted if now.wanted else 0.0
