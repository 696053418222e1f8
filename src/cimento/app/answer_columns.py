"""The columns of a table of answers, with a menu above each that says what it is.

A choice is that of ``--columns`` and ``--items`` in a terminal: it is used when the table is read
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nicegui import ui

from cimento.app.about_people import TOLD, may_tell
from cimento.app.columns import role_name
from cimento.app.findings import button
from cimento.app.frame import Text, heading
from cimento.app.incoming import asked_columns
from cimento.app.parts import table_of
from cimento.app.words import Words, choices_in
from cimento.intake.reading import ANSWERS
from cimento.intake.table import Table
from cimento.judgments.columns import Answers
from cimento.judgments.roles import role_of, usual_columns, with_roles
from cimento.people.annotate.rows import Import

OFFERED = ("participant", "answer", "sentence", "item", "condition", ANSWERS, TOLD)
"""The roles in the menu above a column; the last two are those of several columns: of answers to an
item each, and of what people said of themselves."""
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
    asked = [name for name in asked_columns(table) if not Answers(table.cells[name]).never]
    if len(asked) > 1 and "answer" not in roles.values():
        roles |= {name: ANSWERS for name in asked if name not in roles}
        rest = [name for name in table.columns if name not in roles and may_tell(table, name)]
        return roles | dict.fromkeys(rest, TOLD)
    # What is left and alone of its kind is likely what is lacking; a person confirms it.
    for role, kind in (("sentence", "sentences"), ("answer", "numbers")):
        left = [name for name in table.columns if name not in roles]
        alone = [name for name in left if table.profile(name).kind == kind]
        if role not in roles.values() and len(alone) == 1:
            roles[alone[0]] = role
    return roles


def roles_in(came: Import, about: Sequence[str]) -> dict[str, str]:
    """The role that each column of a file was read in, as far as it has one.

    Args:
        came: the answers.
        about: the columns of what people said of themselves.
    """
    named = came.readings[0].roles if came.readings else {}
    roles = {name: role for role, names in named.items() for name in names}
    return roles | dict.fromkeys(about, TOLD)


def ask_columns(
    table: Table,
    roles: Mapping[str, str],
    say: Words,
    *,
    done: Callable[[Mapping[str, str]], object],
) -> None:
    """Show the first rows with a menu above each column, in the place that is being built.

    Args:
        table: of answers.
        roles: of its columns, as they are chosen at first.
        say: the words of the page.
        done: called with the role of each column; empty for none.
    """
    heading(say("people.columns"), level=3)
    Text(say("people.columns-what"))
    several = {ANSWERS: "people.columns-answers", TOLD: "people.columns-told"}
    offered = {"": say("edit.role-none")} | {
        role: say(several[role]) if role in several else role_name(role, say) for role in OFFERED
    }
    menus: dict[str, ui.select] = {}
    holder = ui.element("div").classes("table-holder").props("tabindex=0")
    with holder, table_of(table.columns, "plain-table first-rows"):
        with ui.element("tr"):
            for name in table.columns:
                with ui.element("td"):
                    first = roles.get(name, "")
                    menu = ui.select(offered, value=first if first in offered else "")
                    menu.props("dense").props["aria-label"] = say("edit.role", name=name)
                    menus[name] = menu.mark(f"column {name}")
        for row in table.rows[:_SHOWN_ROWS]:
            with ui.element("tr"):
                for name in table.columns:
                    Text(row.cells[name], "td")
    with ui.element("div").classes("tools"):
        button(
            say("people.columns-do"),
            lambda: done({name: str(menu.value or "") for name, menu in menus.items()}),
            icon="check",
        )
