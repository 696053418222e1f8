"""The columns of a table of answers, with a menu above each that says what it is.

A choice is that of ``--columns`` and ``--items`` in a terminal: it is used when the table is read
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nicegui import ui

from cimento.app.columns import role_name
from cimento.app.findings import button
from cimento.app.frame import Text, heading
from cimento.app.incoming import asked_columns
from cimento.app.parts import table_of
from cimento.app.words import Words, choices_in
from cimento.intake.reading import ANSWERS
from cimento.intake.table import Table
from cimento.judgments.roles import role_of, usual_columns, with_roles

OFFERED = ("participant", "answer", "sentence", "item", "condition", ANSWERS)
"""The roles in the menu above a column; the last is that of several columns, one for each item."""
_SHOWN_ROWS = 4


def proposed(table: Table, todo: str = "") -> dict[str, str]:
    """The roles of columns by their names, their cells and advice; others have none.

    Args:
        table: of answers.
        todo: the advice of the error with which the table was refused.
    """
    _, fields = with_roles(table, usual_columns(None))
    roles: dict[str, str] = {}
    for choice in choices_in(todo):
        roles |= {name: role for role, name in choice.items() if name in table.cells}
    for field, columns in fields.columns.items():
        if columns and (role := role_of(field)) in OFFERED and role not in roles.values():
            roles.setdefault(columns[0], role)
    asked = asked_columns(table)
    if len(asked) > 1 and "answer" not in roles.values():
        return roles | {name: ANSWERS for name in asked if name not in roles}
    # What is left and alone of its kind is likely what is lacking; a person confirms it.
    for role, kind in (("sentence", "sentences"), ("answer", "numbers")):
        left = [name for name in table.columns if name not in roles]
        alone = [name for name in left if table.profile(name).kind == kind]
        if role not in roles.values() and len(alone) == 1:
            roles[alone[0]] = role
    return roles


def ask_columns(
    table: Table, todo: str, say: Words, *, done: Callable[[Mapping[str, str]], object]
) -> None:
    """Show the first rows with a menu above each column, in the place that is being built.

    Args:
        table: of answers.
        todo: the advice of the error with which it was refused.
        say: the words of the page.
        done: called with the role of each column that has one.
    """
    heading(say("people.columns"), level=3)
    Text(say("people.columns-what"))
    roles = {"": say("edit.role-none")} | {
        role: say("people.columns-answers") if role == ANSWERS else role_name(role, say)
        for role in OFFERED
    }
    first = proposed(table, todo)
    menus: dict[str, ui.select] = {}
    holder = ui.element("div").classes("table-holder").props("tabindex=0")
    with holder, table_of(table.columns, "plain-table first-rows"):
        with ui.element("tr"):
            for name in table.columns:
                with ui.element("td"):
                    menu = ui.select(roles, value=first.get(name, "")).props("dense")
                    menu.props["aria-label"] = say("edit.role", name=name)
                    menus[name] = menu.mark(f"column {name}")
        for row in table.rows[:_SHOWN_ROWS]:
            with ui.element("tr"):
                for name in table.columns:
                    Text(row.cells[name], "td")
    with ui.element("div").classes("tools"):
        button(
            say("people.columns-do"),
            lambda: done({name: str(menu.value) for name, menu in menus.items() if menu.value}),
            icon="check",
        )
