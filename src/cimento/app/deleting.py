"""Deleting from the workspace: what is to go is named, and somebody agrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui import ui

from cimento.app.frame import Text, Visit, guarded


def ask_deletion(
    visit: Visit, question: str, names: Sequence[str], delete: Callable[[], None]
) -> None:
    """Ask whether something is to be deleted, and delete it.

    Args:
        visit: what the page is built for.
        question: what is asked.
        names: what would be deleted.
        delete: deletes it and shows what is left.
    """
    say = visit.say

    def agreed() -> None:
        dialog.close()
        delete()

    with ui.dialog() as dialog, ui.card().classes("form"):
        Text(question)
        with ui.element("ul"):
            for name in names:
                Text(name, "li")
        with ui.element("div").classes("buttons"):
            ui.button(say("frame.delete"), on_click=guarded(visit, agreed)).props(
                "no-caps unelevated color=negative"
            ).mark("delete-do")
            ui.button(say("frame.cancel"), on_click=dialog.close).props("no-caps flat")
    dialog.on("hide", dialog.delete)
    dialog.open()


def delete_button(visit: Visit, name: str, ask: Callable[[], None]) -> ui.button:
    """A button that asks before something is deleted.

    Args:
        visit: what the page is built for.
        name: what would be deleted, for screen readers.
        ask: asks.
    """
    delete = visit.say("frame.delete")
    made = ui.button(delete, on_click=guarded(visit, ask)).props("no-caps flat dense")
    made.props["aria-label"] = f"{delete}: {name}"
    return made.mark(f"delete {name}")
