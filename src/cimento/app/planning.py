"""The buttons below a form for runs: one shows the plan of them, one puts them into the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from nicegui import ui

from cimento.app.findings import show_translated
from cimento.app.frame import CommandLine, Text, Visit, guarded, withdraw
from cimento.app.parts import table_of
from cimento.app.wanted import RunRequest
from cimento.app.words import Words, said
from cimento.app.workspace import SUITES, Workspace
from cimento.evaluation.planning import RunPlan
from cimento.records.usage import duration, gigabytes
from cimento.suites.builtin import find_suite
from cimento.suites.published import is_address

T = TypeVar("T")


class RunFields(Protocol):
    """The fields of a form for runs."""

    @property
    def wanted(self) -> RunRequest:
        """What they say."""

    def on_change(self, action: Callable[[], None]) -> None:
        """Have something done whenever a field changes."""

    def agree(self) -> None:
        """Remember what was agreed to with the runs that are now wanted."""


def plan_and_queue(
    visit: Visit,
    fields: RunFields,
    *,
    names: tuple[str, str],
    plan: Callable[[Workspace, RunRequest], T],
    show: Callable[[T], None],
) -> None:
    """Build the buttons of a form, and the command that does the same.

    Args:
        visit: what the page is built for.
        fields: of the form.
        names: of the words on the buttons, and of their marks: to plan, and to run.
        plan: makes the plan of runs, in a thread of its own.
        show: shows a plan in the place where the page is being built.
    """
    say, (to_plan, to_run) = visit.say, names
    with ui.element("div").classes("buttons"):
        planned = ui.button(say(f"run.{to_plan}")).props("no-caps outline").mark(to_plan)
        begun = ui.button(say(f"run.{to_run}")).props("no-caps unelevated").mark(to_run)
    waiting = Text().props("role=status").classes("small")
    waiting.set_visibility(False)
    result = ui.element("div").props("aria-live=polite").mark(f"{to_plan}-shown")
    command = CommandLine(visit)

    def describe() -> None:
        withdraw(visit)
        result.clear()
        wanted = fields.wanted
        command.show(wanted.arguments, before=wanted.before, whole=wanted.is_whole)

    async def show_plan() -> None:
        result.clear()
        wanted = await _brought(visit, fields, waiting)
        with _waited(waiting, say("run.planning")):
            made = await asyncio.to_thread(plan, visit.workspace, wanted)
        with result:
            show(made)

    async def begin() -> None:
        wanted = await _brought(visit, fields, waiting)
        fields.agree()
        visit.queue.add(wanted)
        ui.notify(say("run.added"))

    planned.on_click(guarded(visit, show_plan))
    begun.on_click(guarded(visit, begin))
    fields.on_change(describe)
    describe()


async def _brought(visit: Visit, fields: RunFields, waiting: Text) -> RunRequest:
    """The runs that are wanted, with all of their suites on this machine."""
    wanted = fields.wanted.checked(visit.workspace)
    with _waited(waiting, visit.say("run.fetching" if wanted.is_remote else "run.planning")):
        await asyncio.to_thread(fetch_all, visit.workspace, wanted)
    return wanted


@contextmanager
def _waited(waiting: Text, text: str) -> Iterator[None]:
    """A context in which the page says what is being done."""
    waiting.text = text
    waiting.set_visibility(True)
    try:
        yield
    finally:
        waiting.set_visibility(False)


def fetch_all(workspace: Workspace, wanted: RunRequest) -> None:
    """Fetch the datasets of some runs that are not on this machine, so that a run needs no network.

    Published ones come into the workspace, those given by address into the cache.

    Raises:
        CimentoError: one cannot be reached or stored, or was changed since.
    """
    from cimento.suites.fetching import fetch

    for entry, language in wanted.to_get:
        fetch(entry, workspace.plain(f"{SUITES}/{entry.folder}"), language=language)
    for suite in filter(is_address, wanted.suites):
        find_suite(suite)


def show_models(say: Words, named_plan: RunPlan) -> None:
    """What runs take, as a table with a row for each model, and what is in the way."""
    stored = sum(len(suite.stored) for suite in named_plan.suites)
    names = (say(f"run.{name}") for name in ("model", "requests", "kept", "time", "memory"))
    with ui.element("div").classes("scroll"), table_of(names, "plan"):
        for model in named_plan.models:
            cells = (
                say.number(model.requests),
                "–" if model.kept is None else say.number(model.kept),
                "–" if model.seconds is None else amount(say, duration(model.seconds)),
                "–" if model.memory_bytes is None else amount(say, gigabytes(model.memory_bytes)),
            )
            with ui.element("tr"):
                Text(model.model, "th").props("scope=row")
                for cell in cells:
                    Text(cell, "td")
    if stored:
        Text(say("run.stored", count=stored)).classes("small")
    lines = [model.problem for model in named_plan.models if model.problem]
    lines += [suite.problem for suite in named_plan.suites if suite.problem]
    for line in dict.fromkeys([*lines, *named_plan.unused]):
        show_translated(line, say).classes("small")
    Text(say("run.rough")).classes("small")


def amount(say: Words, text: str) -> str:
    """A time or a size in the units of the page's language."""
    less, known = ("< ", text[2:]) if text.startswith("< ") else ("", text)
    return less + (said(known, say.language) or known)
