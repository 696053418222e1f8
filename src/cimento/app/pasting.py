"""A dialog to paste cells without the mouse and without a cursor in the grid."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from cimento.app.findings import button
from cimento.app.frame import heading
from cimento.app.parts import opened_dialog
from cimento.app.words import Words


def paste_dialog(say: Words, *, done: Callable[[str], Awaitable[None]]) -> None:
    """Ask for cells.

    Args:
        say: the words of the page.
        done: called with them.
    """
    with opened_dialog() as dialog:
        heading(say("edit.paste"))
        ui.label(say("edit.paste-what"))
        text = ui.textarea(say("edit.paste-cells")).props("rows=8")

        async def do() -> None:
            dialog.close()
            await done(str(text.value or ""))

        with ui.element("div").classes("tools"):
            button(say("edit.paste-do"), do)
            button(say("frame.close"), dialog.close, flat=True)
