"""Tables of people's own that studies read: columns that somebody chooses, by the same door."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from cimento.errors import UsageError, did_you_mean
from cimento.intake.chosen import with_chosen
from cimento.intake.profile import Profile
from cimento.intake.roles import FORCED, ROLES, Role
from cimento.intake.shapes import as_option
from cimento.intake.table import Table
from cimento.intake.tables import open_table


def _is_text(column: Profile) -> bool:
    return column.kind not in ("moments", "objects")


_NAMES = Role("ids", _is_text)
_WORDS = Role("words", _is_text)
COPY: Mapping[str, Role] = {
    "id": _NAMES,
    "sentence": ROLES["sentence"],
    "grammaticality": Role("yes or no", ROLES["condition"].fits),
    "replacement": _WORDS,
    "ratings": ROLES["ratings"],
    "mean": ROLES["rating"],
    "sd": ROLES["rating_sd"],
    "n": ROLES["rating_n"],
    "ppl": Role("perplexities", ROLES["rt"].fits),
    "target": ROLES["target"],
    "plausible": ROLES["plausible"],
    "implausible": ROLES["implausible"],
    "choices": Role("numbers of people", _is_text),
    "rank": Role("ranks", ROLES["position"].fits),
    "completion": _WORDS,
}
"""The columns of a copy of the connectives resource, and what they hold."""
MODELS: Mapping[str, Role] = {"model": Role("names of models", _is_text)}
"""The column of a table of models."""


def open_own(path: Path, chosen: Mapping[str, str], known: Mapping[str, Role]) -> Table:
    """A table in which the chosen columns have the study's names; those of other files count not.

    Args:
        path: the file.
        chosen: the columns by the study's names for them, which other files may have.
        known: the study's names, and what their columns hold.

    Raises:
        InputError: the file cannot be read.
        UsageError: a chosen column holds something else than its name says.
    """
    table = open_table(path)
    here = {
        role: name
        for role, name in chosen.items()
        if {name, name.removesuffix(FORCED)} & {*table.columns}
    }
    table, _, misfits = with_chosen(table, here, known)
    for role, seen in misfits.items():
        todo = f"If you mean it nevertheless, give {as_option({role: f'{chosen[role]}!'})}."
        raise UsageError(where=path.name, seen=seen.rstrip("."), todo=todo)
    return table


def refuse_absent(chosen: Mapping[str, str], tables: Collection[Table]) -> None:
    """Refuse chosen columns that no table has.

    Raises:
        UsageError: there is no such column.
    """
    names = [table.shown(name) for table in tables for name in table.columns]
    for name in chosen.values():
        if not {name, name.removesuffix(FORCED)} & {*names}:
            where = ", ".join(table.name for table in tables)
            seen = f"there is no column {name!r} (--columns)"
            raise UsageError(where=where, seen=seen, todo=did_you_mean(name, names))
