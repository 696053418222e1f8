"""The columns of a table on the page: what they were read as, and the menu above each.

A choice is that of ``--columns`` on the command line. It is kept with the table until this gets a
description, which names its columns by their roles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nicegui import ui

from cimento.app.checking import Finding
from cimento.app.editing import Grid, delete_column, insert_column, rename_column
from cimento.app.findings import button
from cimento.app.frame import heading
from cimento.app.parts import opened_dialog
from cimento.app.views import View, letters
from cimento.app.words import Words
from cimento.intake.numbered import sets_of
from cimento.intake.reading import TableReading
from cimento.intake.roles import FACTORS, FORCED, ROLES, alone, numbered
from cimento.intake.shapes import BLANKS

OFFERED = (
    "good", "bad", "prefix", "suffix", "sentence", "label", "rating", "rating_sd", "rating_n",
    "person", "participant", "item", "condition", "factors", "conditions", "phenomenon",
    "context", "target", "plausible", "implausible", "key",
)  # fmt: skip
"""The roles in the menu above a column."""
MISFIT = "CIM-S081"
_UNKNOWN = ("", MISFIT, "CIM-S004")
"""The codes of errors of tables whose columns are not known, or not those that are chosen."""
_CHOICES = {role for role in OFFERED if role in ROLES}

HEAD = """class {
  init(params) {
    this.box = document.createElement('div');
    this.box.className = 'column-head';
    const name = document.createElement('span');
    name.textContent = params.displayName;
    name.title = params.displayName;
    const menu = document.createElement('select');
    menu.setAttribute('aria-label', params.label);
    for (const [role, text] of params.roles) {
      const option = document.createElement('option');
      option.value = role;
      option.textContent = text;
      option.selected = role === params.role;
      menu.append(option);
    }
    if (params.chosen) menu.className = 'chosen';
    const column = params.column.getColId();
    const give = () => {
      if (menu.value === params.role) return;
      window.headOfChoice = column;
      setTimeout(() => { window.headOfChoice = ''; }, 3000);
      const detail = {column, role: menu.value};
      menu.dispatchEvent(new CustomEvent('role', {bubbles: true, detail}));
    };
    // Keys reach the head, and from there the menu. Arrows only look through it: Enter chooses.
    let typed = false;
    params.eGridHeader.addEventListener('keydown', (event) => {
      if (event.target === menu || !['Enter', ' ', 'F2'].includes(event.key)) return;
      event.preventDefault();
      menu.focus();
    });
    menu.addEventListener('keydown', (event) => {
      event.stopPropagation();
      typed = event.key !== 'Enter';
      if (event.key === 'Enter') give();
      if (event.key === 'Escape') {
        menu.value = params.role;
        params.eGridHeader.focus();
      }
    });
    menu.addEventListener('pointerdown', () => { typed = false; });
    menu.addEventListener('change', () => typed || give());
    menu.addEventListener('blur', give);
    this.box.append(name, menu);
    // A choice has the grid made anew, once or twice: the focus goes back to where it was made.
    if (window.headOfChoice === column) setTimeout(() => params.eGridHeader.focus(), 100);
  }
  getGui() { return this.box; }
  refresh() { return false; }
}"""
"""The head of a column with a menu of roles, whose choice is an event of the page."""

CHOSEN = "(event) => emit(event.detail)"
HEIGHT, LEAST_WIDTH = 88, 150
"""Height of heads with a menu, and the least width of their columns, in pixels."""


@dataclass(frozen=True, slots=True)
class Head:
    """The role of a column in a bare table.

    Attributes:
        role: the role that it was read as or chosen for; empty without one.
        chosen: whether somebody chose it.
    """

    role: str = ""
    chosen: bool = False


def heads_of(grid: Grid, view: View, read: TableReading | None) -> tuple[Head, ...]:
    """The role of each column of a view; none for a suite with a description.

    Args:
        grid: the table.
        view: what is shown of it.
        read: what the table was last read as; None where it never could be.
    """
    if grid.described:
        return ()
    chosen = {name.removesuffix(FORCED): alone(role) for role, name in grid.roles.items()}
    roles = {
        name: role
        for role, names in roles_in(read).items()
        for name in names
        if role not in chosen.values() or {*names} & chosen.keys()
    }
    names = (column.name.strip() for column in view.columns)
    return tuple(Head(chosen.get(name, roles.get(name, "")), name in chosen) for name in names)


_IN_MENUS = {"people": "person"}
"""What the menus call a role of several columns, one of which they are above."""


def roles_in(read: TableReading | None) -> Mapping[str, tuple[str, ...]]:
    """The columns of each role, by the names of the menus; none where nothing was read."""
    if read is None:
        return {}
    is_blanks = read.shape == BLANKS.name
    return {
        _IN_MENUS.get(role, role) if not (is_blanks and role == "text") else "sentence": names
        for role, names in read.roles.items()
    }


def with_heads(options: dict[str, Any], heads: Sequence[Head], say: Words) -> dict[str, Any]:
    """The options of a grid with a menu above each column, as far as it has a name.

    Args:
        options: the options, in which the first column is that of the rows' numbers.
        heads: the roles of the others; none for a grid without menus.
        say: the words of the page.
    """
    if not heads:
        return options
    for column, head in zip(options["columnDefs"][1:], heads, strict=True):
        # A role that the menu lacks, such as those of stories, is shown as it is.
        others = [] if head.role in ("", *OFFERED) else [(head.role, role_name(head.role, say))]
        listed = [(role, role_name(role, say)) for role in OFFERED]
        column[":headerComponent"] = HEAD
        column["minWidth"] = max(column.get("minWidth", 0), LEAST_WIDTH)
        column.pop("maxWidth", None)
        column["headerComponentParams"] = {
            "label": say("edit.role", name=column["headerName"]),
            "roles": [("", say("edit.role-none")), *others, *listed],
            "role": head.role,
            "chosen": head.chosen,
        }
    return {**options, "headerHeight": HEIGHT}


def role_name(role: str, say: Words) -> str:
    """What a role is called on the page."""
    return say.named("role", role)


def with_role(grid: Grid, column: str, role: str) -> Grid:
    """The grid with a role that somebody chose for a column; empty for none.

    Another column that had the role loses it, unless several may have it. Two columns of conditions
    that are crossed are the factors of a design.
    """
    earlier = grid.roles.get("condition", "").removesuffix(FORCED)
    if role == "condition" and earlier and _are_crossed(grid, earlier, column):
        rest = {role: name for role, name in grid.roles.items() if role != "condition"}
        return with_role(with_role(replace(grid, roles=rest), earlier, FACTORS), column, FACTORS)
    others = {
        other: name for other, name in grid.roles.items() if name.removesuffix(FORCED) != column
    }
    if role not in _CHOICES:
        return replace(grid, roles=others)
    return replace(grid, roles={**others, numbered(role, others): column})


def _are_crossed(grid: Grid, *factors: str) -> bool:
    """Whether columns are crossed once within each value of another one."""
    sheet = grid.items.table
    return {*factors} <= {*sheet.columns} and bool(sets_of(replace(sheet, factors=factors)))


def is_known(grid: Grid, findings: Iterable[Finding]) -> bool:
    """Whether it is known what the columns of a table are, so that it can get a description.

    The menus go with the description, whose columns are called by their roles.

    Args:
        grid: the table.
        findings: what the checks have found in it.
    """
    wrong = (one for one in findings if one.severity == "error" and not one.rows)
    return grid.described or not any(one.code in _UNKNOWN for one in wrong)


def insisted(grid: Grid) -> Grid:
    """The grid whose chosen columns have their roles whatever they hold."""
    roles = {role: f"{name.removesuffix(FORCED)}{FORCED}" for role, name in grid.roles.items()}
    return replace(grid, roles=roles)


def unheeded(grid: Grid, read: TableReading | None, say: Words) -> str:
    """What is to be said of choices that a table was not read by; empty where there are none.

    Args:
        grid: the table.
        read: what it was read as; None where it could not be, for which there are faults.
        say: the words of the page.
    """
    if read is None:
        return ""
    return " ".join(
        say("edit.role-unheeded", column=column, role=role_name(alone(role), say),
            shape=say.named("shape", read.shape))
        for role, name in grid.roles.items()
        if (column := name.removesuffix(FORCED)) not in roles_in(read).get(alone(role), ())
    )  # fmt: skip


def still_read(read: TableReading | None, column: str, say: Words) -> str:
    """What is to be said of a column that has a role although none was chosen; else empty."""
    role = next((role for role, names in roles_in(read).items() if column in names), "")
    return say("edit.role-still", column=column, role=role_name(role, say)) if role else ""


def read_line(read: TableReading | None, say: Words) -> str:
    """What a table was read as, in the words of the page; empty where it was not read."""
    if read is None:
        return ""
    if say.language == "en":
        return read.said()
    roles = ", ".join(
        f"{role_name(role, say)} = {_listed(names, say)}" for role, names in roles_in(read).items()
    )
    count = "" if read.n_items is None else say("edit.read-items", count=read.n_items)
    parts = [
        say("edit.read", shape=say.named("shape", read.shape), roles=roles or count),
        count if roles else "",
        say("edit.read-unused", names=_listed(read.unused, say)) if read.unused else "",
        say("edit.read-left", rows=", ".join(str(row) for row, _ in read.left_out))
        if read.left_out
        else "",
        say("edit.read-forced", names=_listed(read.forced, say)) if read.forced else "",
    ]
    return "; ".join(filter(None, parts)) + "."


def made_line(before: Grid, after: Grid, say: Words) -> str:
    """What is to be said of columns that a description adds or calls otherwise; else empty.

    Args:
        before: the table.
        after: the same with a description.
        say: the words of the page.
    """
    own = [before.items.rows[row] for row in before.read_rows()]
    renamed = [
        f"{say.quoted(old)} → {say.quoted(new.strip())}"
        for n, (name, new) in enumerate(
            zip(before.items.columns, after.items.columns, strict=False)
        )
        if (old := name.strip())
        and old != new.strip()
        and [row[n] for row in own] == after.items.values(n)
    ]
    new = [name for name in after.items.columns[before.items.width :] if name.strip()]
    lines = [
        say("edit.renamed", columns=", ".join(renamed)) if renamed else "",
        say("edit.added", columns=_listed(new, say)) if new else "",
    ]
    return " ".join(filter(None, lines))


def _listed(names: Sequence[str], say: Words) -> str:
    return ", ".join(map(say.quoted, names))


def columns_dialog(grid: Grid, sheet: str, say: Words, *, done: Callable[[Grid], Any]) -> None:
    """A dialog to add, rename and remove columns.

    Args:
        grid: the suite.
        sheet: name of the sheet.
        say: the words of the page.
        done: called with the grid that results.
    """
    names: Mapping[int, str] = {
        n: name.strip() or letters(n) for n, name in enumerate(grid.sheets[sheet].columns)
    }
    with opened_dialog() as dialog:
        heading(say("edit.columns"))
        which = ui.select(dict(names), label=say("edit.column"), value=0)
        name = ui.input(say("edit.column-name"))

        async def do(edit: Callable[[int, str], Grid]) -> None:
            dialog.close()
            await done(edit(int(which.value or 0), str(name.value or "")))

        with ui.element("div").classes("tools"):
            for key, edit in (
                ("rename", lambda at, to: rename_column(grid, sheet, at, to)),
                ("add", lambda at, to: insert_column(grid, sheet, at + 1, to)),
                ("delete", lambda at, _: delete_column(grid, sheet, at)),
            ):
                button(say(f"edit.column-{key}"), lambda edit=edit: do(edit))  # type: ignore[misc]
            button(say("frame.close"), dialog.close, flat=True)
