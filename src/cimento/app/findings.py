"""What is beside the grid: findings of the checks, and shortcuts of the audit.

Findings have links to the rows and to the pages of the checks; shortcuts are what makes a suite
easier, or harder, than it seems.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any

from nicegui import ui

from cimento.app.checking import Finding, page_of
from cimento.app.editing import Grid, workbook_of
from cimento.app.frame import Text, english
from cimento.app.parts import opened_dialog, plain_table
from cimento.app.words import USUAL, Words, advice_of, by_menus, said, without_commands, words
from cimento.errors import MissingDependencyError
from cimento.faults import CHECKS, EXAMPLE, NO_PLAIN_LEVEL, NO_PREDICTIONS
from cimento.intake.words import SHEETS
from cimento.io.files import write_bytes
from cimento.kinds.registry import load_suite
from cimento.paradigms import regions
from cimento.suites.crossed import AS_DESIGN
from cimento.suites.workbook_words import sheet_called

STYLE = Path(__file__).with_name("edit.css")
"""The style of steps 2 and 5."""

MOST_FINDINGS = 100
"""Findings that are listed one by one."""
MOST_ROWS_OF_ONE = 5
MOST_ITEMS = 12


def button(
    text: str, action: Callable[[], Any], *, icon: str | None = None, flat: bool = False
) -> ui.button:
    """A button in the style of the pages.

    Args:
        text: what it says.
        action: what it does.
        icon: name of an icon; None for none.
        flat: whether it looks like a link.
    """
    made = ui.button(text, on_click=action, icon=icon)
    return made.props("no-caps unelevated " + ("flat dense" if flat else "outline"))


def sheet_title(sheet: str, say: Words) -> str:
    """The title of a sheet; one that only this suite has keeps its name."""
    called = sheet_called(sheet, say.language)
    return called[:1].upper() + called[1:] if sheet in SHEETS else sheet


def show_findings(
    findings: Sequence[Finding], say: Words, *, go: Callable[[Finding], None],
    is_for_people: bool = False,
) -> None:  # fmt: skip
    """List findings in the place where the page is being built.

    Args:
        findings: the findings, the most severe first.
        say: the words of the page.
        go: shows the rows of a finding.
        is_for_people: whether people can be asked as it is, so that errors are for models only.
    """
    if not findings:
        ui.label(say("edit.no-findings"))
        return
    with ui.element("ul").classes("findings"):
        for finding in findings[:MOST_FINDINGS]:
            is_error = finding.severity == "error"
            kind = "for-models" if is_error and is_for_people else finding.severity
            with ui.element("li").classes(f"finding {kind}"):
                _show(finding, say, go, kind)
    if len(findings) > MOST_FINDINGS:
        ui.label(say("edit.more", count=len(findings) - MOST_FINDINGS))


def _show(finding: Finding, say: Words, go: Callable[[Finding], None], kind: str) -> None:
    """One finding, which is an error, a warning, or only for models."""
    with ui.element("div").classes("finding-head"):
        ui.label(say(f"edit.{kind}")).classes("severity")
        if finding.rows:
            count = len(finding.rows)
            rows = ", ".join(str(row + 1) for row in finding.rows[:MOST_ROWS_OF_ONE])
            rows += " ..." if count > MOST_ROWS_OF_ONE else ""
            sheet = sheet_title(finding.sheet, say)
            place = (
                say("edit.go", sheet=sheet, rows=rows)
                if count == 1
                else say("edit.go-several", sheet=sheet, rows=rows, count=say.number(count))
            )
            button(place, lambda: go(finding), flat=True)
        if finding.code:
            code = button(finding.code, lambda: explain(finding.code, say), flat=True)
            code.props(f'aria-label="{say("edit.explain", code=finding.code)}"')
    if title := title_of(finding.code, say):
        ui.label(title).classes("check-title")
    # What is not a check says of which file it is, and has no subject without it.
    show_translated(finding.seen, say, where="" if finding.code else finding.where).classes("seen")
    is_asked = finding.todo.startswith(AS_DESIGN)
    here = "edit.here-as_design" if is_asked else f"edit.here-{finding.code}"
    if here in say.texts:
        ui.label(say(here)).classes("small")
        _show_example(finding.todo, say)
    else:
        show_advice(finding.code, finding.todo, say)


def _show_example(todo: str, say: Words) -> None:
    """Show the example behind advice, if it has one."""
    _, mark, example = todo.partition(EXAMPLE)
    if mark:
        show_translated(mark + example, say).classes("small")


def show_advice(code: str, todo: str, say: Words) -> None:
    """Show what to do about a fault: the advice of its check, or closer advice of its own.

    Closer advice names what is in the file. The advice of the check comes before it where it is
    not known in the language of the page; else it replaces it.

    Args:
        code: code of the check; empty for other faults.
        todo: advice of the fault.
        say: the words of the page.
    """
    check = CHECKS.get(code)
    if code == NO_PREDICTIONS:
        # The example stands behind the steps of this page, not behind files and commands.
        ui.label(say(f"advice.{code}")).classes("small")
        _show_example(todo, say)
        return
    if code == NO_PLAIN_LEVEL:
        # Step 2 asks for it; the closer advice is for those who have no window.
        ui.label(say(f"advice.{code}")).classes("small")
        return
    usual = words(USUAL).texts.get(f"advice.{code}", "")
    closer = "" if todo in {usual, check.todo if check else usual} else todo
    if usual and not (closer and said(closer, say.language)):
        ui.label(say(f"advice.{code}")).classes("small")
    if closer and advice_of(closer, say.language):
        show_translated(closer, say).classes("small")


def show_translated(text: str, say: Words, *, where: str = "") -> ui.element:
    """A text of cimento in the language of the page, and below it a formula with a mark under it.

    Where it is not known in that language it is shown in English, as a screen reader has to know.

    Args:
        text: the text in English.
        say: the words of the page.
        where: the place that it is about, which comes before it.
    """
    translated = said(text, say.language)
    told = without_commands(by_menus(text if translated is None else translated, say))
    place = where if translated is None else said(where, say.language) or where
    first, *formula = told.split("\n")
    with ui.element("div") as shown:
        ui.label(f"{place}: {first}" if place else first)
        if formula:
            Text(dedent("\n".join(formula)), "pre").classes("formula")
    return shown if translated is not None else shown.props(f"lang={USUAL}")


def title_of(code: str, say: Words) -> str:
    """The title of a check in the language of the page; empty for other faults."""
    key = f"check.{code}"
    return say(key) if key in say.texts else ""


def explain(code: str, say: Words) -> None:
    """Show the page of a check in a dialog."""
    with opened_dialog("check-page") as dialog:
        english(say, "frame.english_text")
        with ui.element("div").props("lang=en"):
            ui.markdown(page_of(code) or code)
        button(say("frame.close"), dialog.close)


async def show_shortcuts(grid: Grid, shown: ui.element, say: Words) -> None:
    """Audit a suite of sentences, and show what is found.

    Args:
        grid: a grid without errors.
        shown: the element to show it in.
        say: the words of the page.
    """
    audit = await asyncio.to_thread(audited, grid)
    with shown:
        if audit is None:
            ui.label(say("edit.audit-kind"))
            return
        _conditions(audit, say)
        with ui.element("ul").classes("plain-list"):
            for line in lines(audit, say):
                with ui.element("li"):
                    ui.label(line)


def audited(grid: Grid) -> regions.Audit | None:
    """The audit of a suite of sentences; None for a suite of another kind."""
    from cimento.measures.normalizing import zipf_frequencies

    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_bytes(workbook_of(grid), Path(temporary) / f"{grid.name}.xlsx")
        suite = load_suite(path).sentences
    if suite is None:
        return None
    try:
        frequency = zipf_frequencies(suite.meta.language, purpose="frequencies of words")
    except MissingDependencyError:
        frequency = None
    return regions.audit_region_suite(suite, frequency=frequency)


def lines(audit: regions.Audit, say: Words) -> list[str]:
    """What an audit found, a line for each kind of finding that there is."""
    made = []
    for name, items in audit.remarks().items():
        if items:
            listed = ", ".join(items[:MOST_ITEMS]) + (" ..." if len(items) > MOST_ITEMS else "")
            made.append(say(f"edit.audit-{name}", count=len(items), items=listed))
    made += [
        say(
            "edit.audit-solved",
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
    cancels = [say("edit.audit-cancels")] * (audit.confounds is not None)
    return [*(made or [say("edit.audit-nothing")]), *cancels]


def _said(text: str, say: Words) -> str:
    """What an audit names, in the language of the page."""
    return said(text, say.language) or text


def _conditions(audit: regions.Audit, say: Words) -> None:
    """The mean length of the sentences of each condition."""
    plain_table(
        (say(f"edit.audit-{name}") for name in ("condition", "words", "characters")),
        (
            (
                say.named("role", facts.condition),
                say.number(facts.words, ".2f"),
                say.number(facts.characters, ".2f"),
            )
            for facts in audit.conditions
        ),
    )
