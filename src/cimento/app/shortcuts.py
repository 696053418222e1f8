"""The audit on the page: what makes a suite easier, or harder, than it seems."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from nicegui import ui

from cimento.app.editing import Grid, workbook_of
from cimento.app.said import said
from cimento.app.words import Words
from cimento.errors import InputError, MissingDependencyError
from cimento.io.files import write_bytes
from cimento.paradigms.registry import load_suite
from cimento.suites.model import Suite

if TYPE_CHECKING:
    from cimento.paradigms.regions.audit import Audit

MOST_NAMED = 12


async def show_shortcuts(grid: Grid, shown: ui.element, say: Words) -> None:
    """Audit a suite of sentences, and show what is found.

    Args:
        grid: a grid without errors.
        shown: the element to show it in.
        say: the words of the page.

    Raises:
        InputError: the suite is of another kind, whose checks are all that there is.
    """
    audit = await asyncio.to_thread(audited, grid)
    if audit is None:
        raise InputError(where=grid.name, seen=say("edit.audit-kind"))
    with shown:
        _conditions(audit, say)
        with ui.element("ul").classes("plain-list"):
            for line in lines(audit, say):
                with ui.element("li"):
                    ui.label(line)


def audited(grid: Grid) -> Audit | None:
    """The audit of a suite of sentences; None for a suite of another kind."""
    from cimento.measures.normalising import zipf_frequencies
    from cimento.paradigms.regions.audit import audit_suite

    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_bytes(workbook_of(grid), Path(temporary) / f"{grid.name}.xlsx")
        suite = load_suite(path).suite
    if not isinstance(suite, Suite):
        return None
    try:
        frequency = zipf_frequencies(suite.meta.language, purpose="frequencies of words")
    except MissingDependencyError:
        frequency = None
    return audit_suite(suite, frequency=frequency)


def lines(audit: Audit, say: Words) -> list[str]:
    """What an audit found, a line for each kind of finding that there is."""
    from cimento.paradigms.regions.audit import remarks

    made = []
    for name, items in remarks(audit).items():
        if items:
            listed = ", ".join(items[:MOST_NAMED]) + (" ..." if len(items) > MOST_NAMED else "")
            made.append(say(f"edit.audit-{name}", count=len(items), items=listed))
    made += [
        say(
            "edit.audit-solved",
            name=_said(baseline.name, say),
            solved=len(baseline.solved),
            count=baseline.n,
        )
        for baseline in audit.baselines
        if not baseline.reason
    ]
    made += [
        say("edit.audit-confound", condition=confound.condition, region=confound.region_name,
            detail=_said(confound.detail, say), count=len(confound.items))
        for confound in audit.confounds or ()
    ]  # fmt: skip
    return made or [say("edit.audit-nothing")]


def _said(text: str, say: Words) -> str:
    """What an audit names, in the language of the page."""
    return said(text, say.language) or text


def _conditions(audit: Audit, say: Words) -> None:
    """The mean length of the sentences of each condition."""
    with ui.element("table").classes("plain-table"):
        with ui.element("thead"), ui.element("tr"):
            for name in ("condition", "words", "characters"):
                with ui.element("th").props("scope=col"):
                    ui.label(say(f"edit.audit-{name}"))
        with ui.element("tbody"):
            for facts in audit.conditions:
                with ui.element("tr"):
                    for cell in (
                        facts.condition,
                        say.number(facts.words, ".2f"),
                        say.number(facts.characters, ".2f"),
                    ):
                        with ui.element("td"):
                            ui.label(cell)
