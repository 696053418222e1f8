"""Step 3, Run: suites and models, what a run takes, and the queue of runs with their progress."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from nicegui import ui

from cimento.app.frame import Text, Visit, english, guarded, heading
from cimento.app.jobs import BUSY, Job
from cimento.app.language_run import build_language
from cimento.app.parts import named_languages, opened_dialog, refused
from cimento.app.planning import amount, fetch_all, plan_and_queue, show_models
from cimento.app.sentences import model_choice
from cimento.app.wanted import RunRequest
from cimento.app.words import Words, said, translated_line
from cimento.app.workspace import Workspace
from cimento.errors import CimentoError, UsageError
from cimento.faults import NO_PREDICTIONS
from cimento.kinds.registry import audit_suite, load_suite
from cimento.records.usage import duration
from cimento.suites.published import published
from cimento.suites.sentence_list import sentence_list

if TYPE_CHECKING:
    from cimento.evaluation.planning import RunPlan

REFRESH_S = 1.0


def plan(workspace: Workspace, wanted: RunRequest) -> RunPlan:
    """What the runs take; no model is loaded.

    Raises:
        CimentoError: a suite or an option cannot be used.
    """
    from cimento.evaluation.planning import plan_named

    return plan_named(wanted.options(workspace))


def build(visit: Visit) -> None:
    """Build the page."""
    say = visit.say
    heading(say("run.heading"), level=1)
    Text(say("run.lead")).classes("lead")
    show = partial(show_models, say)
    plan_and_queue(visit, _Fields(visit), names=("plan", "run"), plan=plan, show=show)
    with ui.element("section"):
        build_language(visit)
    with ui.element("section"):
        heading(say("run.queue"))
        Text(say("run.queue_lead")).classes("lead")
        _queue(visit)


def _predicting_nothing(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """The suites of the workspace, among those with some names, that predict nothing."""
    silent = []
    for name in names:
        try:
            path = workspace.suite(name)
            faults = audit_suite(path).faults if isinstance(path, Path) else ()
        except CimentoError:
            continue  # planning and running say what is wrong
        if any(fault.code == NO_PREDICTIONS for fault in faults):
            silent.append(name)
    return silent


def _listed(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """The lists of sentences, among what has some names, which no model can be compared with."""
    listed = []
    for name in names:
        try:
            path = workspace.suite(name)
        except CimentoError:
            continue  # planning and running say what is wrong
        if isinstance(path, Path) and path.is_file() and sentence_list(path) is not None:
            with contextlib.suppress(CimentoError):
                load_suite(path)
                continue  # it is a suite too, such as of what its author expects
            listed.append(name)
    return listed


class _Fields:
    """The fields of a run.

    Args:
        visit: what the page is built for.
    """

    def __init__(self, visit: Visit) -> None:
        say = visit.say
        self._lists: list[str] = []
        names = {name: name for name in visit.workspace.suite_names()}
        for entry in published().values():
            if not entry.by_hand:
                names.setdefault(entry.name, f"{entry.name} ({say('run.to_fetch')})")
        asked = visit.query.get("suite", "")
        with ui.element("div").classes("fields"):
            self._suites = ui.select(
                names, label=say("run.suites"), multiple=True, with_input=True,
                value=[asked] if asked in names else [], new_value_mode="add-unique",
            ).props("outlined use-chips").classes("wide").mark("suites")  # fmt: skip
            self._suites.props(f'hint="{say("run.addresses")}"')
            self._suites.on_value_change(self._warn)
            self._models = model_choice(visit, say("run.models"), ["demo-causal"]).mark("models")
        self._visit, self._unjudged = visit, Text().props("role=status").mark("unjudged")
        self._unjudged.set_visibility(False)
        ui.timer(0.0, self._warn, once=True)
        with ui.expansion(say("run.more")).classes("more"), ui.element("div").classes("fields"):
            self._language = ui.select(
                {"": say("run.stated"), **named_languages(say)}, label=say("run.language"), value=""
            ).props("outlined dense")
            self._limit = ui.number(say("run.limit"), min=1, step=1, precision=0).mark("limit")
            self._limit.props("outlined dense")
            with ui.element("div").classes("wide"):
                self._trusted = ui.checkbox(say("run.trust")).mark("trust")
                Text(say("run.trust_lead")).classes("small")

    @property
    def wanted(self) -> RunRequest:
        """What the fields say.

        Raises:
            InputError: a list of sentences is among the suites.
        """
        if self._lists:
            raise refused(self._suites, self._told_lists())
        return RunRequest(
            tuple(self._suites.value),
            tuple(self._models.value),
            self._language.value,
            int(self._limit.value) if self._limit.value else None,
            trusted=bool(self._trusted.value),
        )

    async def _warn(self) -> None:
        """Say in which of the suites nothing will be judged."""
        asked = tuple(self._suites.value)
        self._suites.error = None
        names = await asyncio.to_thread(_predicting_nothing, self._visit.workspace, asked)
        lists = await asyncio.to_thread(_listed, self._visit.workspace, asked)
        if asked == tuple(self._suites.value):
            self._lists = lists
            said = self._visit.say("run.unjudged", names=", ".join(names)) if names else ""
            self._unjudged.text = self._told_lists() if lists else said
            self._unjudged.set_visibility(bool(lists or names))

    def _told_lists(self) -> str:
        """That lists of sentences have nothing to compare a model with."""
        return self._visit.say("run.listed", names=", ".join(self._lists))

    def agree(self) -> None:
        """Nothing is agreed to but what the fields say."""

    def on_change(self, action: Callable[[], None]) -> None:
        """Have something done whenever a field changes."""
        fields = (self._suites, self._models, self._language, self._limit, self._trusted)
        for field in fields:
            field.on_value_change(action)


def _queue(visit: Visit) -> None:
    """The jobs, the last first, which are brought up to date every second."""
    nothing = Text(visit.say("run.nothing")).classes("small")
    place = ui.element("ul").classes("jobs").props("aria-live=off").mark("jobs")
    cards: dict[int, _Card] = {}

    def refresh() -> None:
        jobs = {job.number: job for job in visit.queue.jobs()}
        nothing.set_visibility(not jobs)
        for number in [number for number in cards if number not in jobs]:
            cards.pop(number).delete()
        for number, job in jobs.items():
            if number not in cards:
                with place:
                    cards[number] = _Card(visit, number)
                cards[number].root.move(target_index=0)
            cards[number].show(job)

    refresh()
    ui.timer(REFRESH_S, refresh)


async def _go_on(visit: Visit, number: int) -> None:
    """Put a job back into the queue; what a file of the folder asks for is asked of the user first.

    Raises:
        CimentoError: the runs cannot be made from here.
    """
    job = next((job for job in visit.queue.jobs() if job.number == number), None)
    if job is None:
        return
    wanted = job.wanted.checked(visit.workspace)
    needs = wanted.needs(visit.workspace)
    if not job.is_agreed and (needs or wanted.with_code):
        _ask(visit, number, wanted, needs)
        return
    visit.queue.go_on(number)


def _title(say: Words, wanted: RunRequest) -> str:
    """What is run, in the words of the page."""
    if wanted.budget is None:
        return wanted.title
    language, models = say.named("language", wanted.language), ", ".join(wanted.models)
    return say("run.sets_of", language=language, models=models)


def _ask(visit: Visit, number: int, wanted: RunRequest, needs: Mapping[str, str]) -> None:
    """Ask whether to use what a file of the folder names; nothing is agreed to beforehand."""
    say = visit.say

    async def agreed() -> None:
        if not all(box.value for box in boxes):
            raise UsageError(where=say("run.ask_title"), seen=say("run.ask_all"))
        dialog.close()
        await asyncio.to_thread(fetch_all, visit.workspace, wanted)
        visit.queue.agree(number, trusted=code is not None and code.value)
        visit.queue.go_on(number)

    with opened_dialog() as dialog:
        heading(say("run.ask_title"))
        Text(say("run.ask_lead"))
        Text(_title(say, wanted))
        boxes = [
            ui.checkbox(f"{name}: {said(what, say.language) or what}").mark(f"agree {name}")
            for name, what in needs.items()
        ]
        code = None
        if wanted.with_code:
            named = ", ".join(wanted.with_code)
            code = ui.checkbox(f"{say('run.trust')}: {named}").mark("agree-code")
            Text(say("run.trust_lead")).classes("small")
        with ui.element("div").classes("buttons"):
            ui.button(say("run.go_on"), on_click=guarded(visit, agreed)).props(
                "no-caps unelevated"
            ).mark("agree-do")
            ui.button(say("frame.cancel"), on_click=dialog.close).props("no-caps flat")


class _Card:
    """A job of the queue, with its progress and its buttons.

    Args:
        visit: what the page is built for.
        number: the number of the job.
    """

    def __init__(self, visit: Visit, number: int) -> None:
        say, queue = visit.say, visit.queue
        self._visit, self._number = visit, number
        with ui.element("li").mark(f"job-{number}") as self.root:
            with ui.element("div").classes("state"):
                self._state = Text(tag="b").props("role=status")
                self._told = Text(tag="span").classes("small")
            self._title = Text()
            self._command = Text(tag="code")
            self._reason = Text().classes("small").mark(f"reason-{number}")
            self._bar = ui.linear_progress(0.0, show_value=False).props("rounded")
            self._bar.props(f'aria-label="{say("run.progress", number=number)}"')
            with ui.element("div").classes("buttons"):
                self._stop = self._button("stop", lambda: queue.stop(number))
                self._again = self._button("go_on", partial(_go_on, visit, number))
                self._forget = self._button("forget", lambda: queue.forget(number))
                self._read = ui.link(say("run.read"), visit.address("read"))
            with ui.expansion(say("run.log")).classes("more") as self._opened:
                english(say, "frame.english_text")
                self._log = Text(tag="pre").classes("log").props("lang=en")

    def _button(self, name: str, action: object) -> ui.button:
        say = self._visit.say
        button = ui.button(say(f"run.{name}"), on_click=guarded(self._visit, action))  # type: ignore[arg-type]
        button.props(f'no-caps flat dense aria-label="{say(f"run.{name}")}: {self._number}"')
        return button.mark(f"{name}-{self._number}")

    def show(self, job: Job) -> None:
        """Show how far the job is."""
        say, queue = self._visit.say, self._visit.queue
        self._state.text = say(f"run.state_{job.state}")
        self._title.text = _title(say, job.wanted)
        self._command.text = join(["cimento", *job.wanted.arguments])
        progress = queue.progress(self._number) if job.state in BUSY else None
        line = ""
        if progress is not None:
            line = say("run.texts", title=progress.title, done=progress.done, total=progress.total)
            if progress.left_s is not None:
                line += " " + say("run.left", time=amount(say, duration(progress.left_s)))
            self._bar.value = progress.done / max(progress.total, 1)
        self._told.text = line
        reason = queue.reason(self._number) if job.state in ("partly", "failed") else ""
        self._reason.text = "\n".join(
            translated_line(part, say.language) for part in reason.splitlines()
        )
        self._reason.set_visibility(bool(reason))
        self._bar.set_visibility(job.state in BUSY)
        self._bar.props("indeterminate" if progress is None else "", remove="indeterminate")
        self._stop.set_visibility(job.state in ("waiting", "running"))
        self._again.set_visibility(job.state in ("stopped", "failed", "partly"))
        self._forget.set_visibility(job.state not in BUSY)
        self._read.set_visibility(job.state in ("done", "partly"))
        asked = {"job": str(self._number)}
        if job.wanted.budget is not None:
            asked = {"answer": job.wanted.language}
        self._read.props["href"] = self._visit.address("read", **asked)
        if self._opened.value:
            self._log.text = queue.log(self._number)

    def delete(self) -> None:
        """Take it off the page."""
        self.root.delete()
