"""Columns whose roles somebody has chosen, as with ``--columns good=A,bad=B``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cimento.errors import UsageError
from cimento.intake.numbered import sets_numbered_by
from cimento.intake.roles import (
    CONDITIONS,
    FACTORS,
    FORCED,
    ROLES,
    Role,
    alone,
    refuse_unknown,
    seen_in,
)
from cimento.intake.table import Table, as_cell


def with_chosen(
    table: Table, chosen: Mapping[str, str], known: Mapping[str, Role] = ROLES
) -> tuple[Table, list[str], dict[str, str]]:
    """A table whose chosen columns are called by their roles; some keep their names.

    Args:
        table: the table.
        chosen: the name of a column for each role; one that ends in `FORCED` has its role whatever
            it holds.
        known: the roles that there are.

    Returns:
        The table; the names of columns that it lacks; and what the columns hold
        that do not fit, by their roles.

    Raises:
        UsageError: a column is chosen for two roles.
    """
    missing, misfits = list[str](), dict[str, str]()
    names, forced = dict[str, str](), set[str]()
    for role, given in chosen.items():
        if role not in known:
            continue  # somebody else says so
        column = given if given in table.cells else given.removesuffix(FORCED)
        if column not in table.cells:
            missing.append(column)
        elif column != given:
            forced.add(role)
        elif role == "rating" and (sets := sets_numbered_by(table, column)):
            misfits[role] = f"{sets.said} Such numbers are not ratings."
        elif len(table.numbers) and not known[role].fits(table.profile(column)):
            misfits[role] = seen_in(table, column, role, known)
        if column in names:
            raise UsageError(
                where="--columns",
                seen=f"the column {column!r} is given for {names[column]} and for {role}",
                todo="Give each column one role.",
            )
        names[column] = role
    if missing or misfits:
        return table, missing, misfits
    return _renamed(table, names, frozenset(forced)), [], {}


_N_FACTORS = 2
"""Factors of a design; one that is chosen alone leaves open which is the other."""


def _renamed(table: Table, names: Mapping[str, str], forced: frozenset[str]) -> Table:
    """A table with other names of columns: their roles, which no other column is called by.

    Factors, and columns that are a condition each, keep their names, which results are told by.
    """
    factors, conditions = (
        tuple(name for name, role in names.items() if alone(role) == several)
        for several in (FACTORS, CONDITIONS)
    )
    own = (*factors, *conditions)
    forced = frozenset(
        name if name in own else role for name, role in names.items() if role in forced
    )
    names = {name: role for name, role in names.items() if name not in own}
    # Another column that is called like a role has not got it.
    others = {name for name in table.columns if name in names.values() and name not in names}
    renamed = {
        name: names.get(name, f"{name} (2)" if name in others else name) for name in table.columns
    }
    # An address in a heading would be a name of a person beside each rating: the role is one too.
    shown = {new: table.shown(old) for old, new in renamed.items() if new != old and "@" not in old}
    return replace(
        table,
        columns=tuple(renamed.values()),
        cells={renamed[name]: table.cells[name] for name in table.columns},
        origin={**table.origin, **shown},
        chosen=table.chosen | {*names.values()},
        forced=table.forced | forced,
        factors=factors if len(factors) == _N_FACTORS else (),
        conditions=conditions if len(conditions) > 1 else (),
    )


_ROLES = {"item": "id"}
"""The names here of columns by their roles; all others are called like these."""


def rows_with_roles(rows: Sequence[object], columns: Mapping[str, str]) -> list[object]:
    """Dictionaries whose columns are called by the roles that are chosen for them.

    Args:
        rows: dictionaries of columns; others are unchanged.
        columns: the name of a column for each role, as for `with_chosen`.

    Raises:
        UsageError: there is no such role or column, or a column holds something else.
    """
    refuse_unknown(columns)
    names = dict.fromkeys(str(key) for row in rows if isinstance(row, Mapping) for key in row)
    cells = {
        name: [as_cell(row.get(name)) if isinstance(row, Mapping) else "" for row in rows]
        for name in names
    }
    table = Table("pairs", tuple(names), range(1, len(rows) + 1), cells)
    renamed, missing, misfits = with_chosen(table, columns)
    for column in missing:
        seen = f"there is no column {column!r}; there are {', '.join(names)}"
        raise UsageError(where="pairs, columns=", seen=seen, todo="Name one of these.")
    for role, seen in misfits.items():
        todo = f'If you mean it nevertheless, give {{"{role}": "{columns[role]}!"}}.'
        raise UsageError(where="pairs, columns=", seen=seen.rstrip("."), todo=todo)
    ours = {renamed.shown(name): _ROLES.get(name, name) for name in renamed.columns}
    return [
        {ours.get(str(key), str(key)): value for key, value in row.items()}
        if isinstance(row, Mapping)
        else row
        for row in rows
    ]
