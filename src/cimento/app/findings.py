"""The list of what the checks found, with links to the rows and to the pages of the checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nicegui import ui

from cimento.app.checking import Finding, page_of
from cimento.app.frame import english
from cimento.app.said import said
from cimento.app.words import USUAL, Words, words
from cimento.suites.reading import CHECKS

STYLE = Path(__file__).with_name("edit.css")
"""The style of steps 2 and 5."""

MOST_SHOWN = 100
"""Findings that are listed one by one."""
MOST_ROWS = 5
KNOWN_SHEETS = ("about", "items", "predictions", "seeds")


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
    return say(f"edit.sheet-{sheet}") if sheet in KNOWN_SHEETS else sheet


def show_findings(
    findings: Sequence[Finding], say: Words, *, go: Callable[[Finding], None]
) -> None:
    """List findings in the place where the page is being built.

    Args:
        findings: the findings, the most severe first.
        say: the words of the page.
        go: shows the rows of a finding.
    """
    if not findings:
        ui.label(say("edit.no-findings"))
        return
    with ui.element("ul").classes("findings"):
        for finding in findings[:MOST_SHOWN]:
            with ui.element("li").classes(f"finding {finding.severity}"):
                _show(finding, say, go)
    if len(findings) > MOST_SHOWN:
        ui.label(say("edit.more", count=len(findings) - MOST_SHOWN))


def _show(finding: Finding, say: Words, go: Callable[[Finding], None]) -> None:
    """One finding."""
    with ui.element("div").classes("finding-head"):
        ui.label(say(f"edit.{finding.severity}")).classes("severity")
        if finding.rows:
            rows = ", ".join(str(row + 1) for row in finding.rows[:MOST_ROWS])
            rows += " ..." if len(finding.rows) > MOST_ROWS else ""
            place = say("edit.go", sheet=sheet_title(finding.sheet, say), rows=rows)
            button(place, lambda: go(finding), flat=True)
        if finding.code:
            code = button(finding.code, lambda: explain(finding.code, say), flat=True)
            code.props(f'aria-label="{say("edit.explain", code=finding.code)}"')
    if title := title_of(finding.code, say):
        ui.label(title).classes("check-title")
    show_said(finding.seen, say).classes("seen")
    show_advice(finding.code, finding.todo, say)


def show_advice(code: str, todo: str, say: Words) -> None:
    """Show what to do about a fault: the advice of its check, or closer advice of its own.

    Closer advice names what is in the file. The advice of the check stands before it where the page
    is not in English, in which closer advice replaces it.

    Args:
        code: code of the check; empty for other faults.
        todo: advice of the fault.
        say: the words of the page.
    """
    check = CHECKS.get(code)
    usual = words(USUAL).texts.get(f"advice.{code}", "")
    closer = "" if todo in {usual, check.todo if check else usual} else todo
    if usual and not (closer and say.language == USUAL):
        ui.label(say(f"advice.{code}")).classes("small")
    if closer:
        show_said(closer, say).classes("small")


def show_said(text: str, say: Words, *, where: str = "") -> ui.label:
    """A text of cimento in the language of the page.

    Where it is not known in that language it is shown in English, as a screen reader has to know.

    Args:
        text: the text in English.
        say: the words of the page.
        where: the place that it is about, which stands before it.
    """
    translated = said(text, say.language)
    place = where if translated is None else said(where, say.language) or where
    shown = text if translated is None else translated
    label = ui.label(f"{place}: {shown}" if place else shown)
    return label if translated is not None else label.props(f"lang={USUAL}")


def title_of(code: str, say: Words) -> str:
    """The title of a check in the language of the page; empty for other faults."""
    key = f"check.{code}"
    return say(key) if key in say.texts else ""


def explain(code: str, say: Words) -> None:
    """Show the page of a check in a dialog."""
    with ui.dialog() as dialog, ui.card().classes("check-page"):
        english(say, "frame.english_text")
        with ui.element("div").props("lang=en"):
            ui.markdown(page_of(code) or code)
        button(say("frame.close"), dialog.close)
    dialog.on("hide", dialog.delete)
    dialog.open()
