"""Which columns of a table of reading times say which word it is; what the table was read as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.intake.chosen import with_chosen
from cimento.intake.reading import TableReading, reading_of
from cimento.intake.roles import ROLES, Role, find, fits, parse_choice, seen_in
from cimento.intake.shapes import MEASURED, as_option
from cimento.intake.table import Table
from cimento.intake.words import NAMES, PARTICIPANTS, PEOPLE
from cimento.people.word_positions import WordColumns

if TYPE_CHECKING:
    import polars as pl

_KNOWN: Mapping[str, tuple[str, ...]] = {
    "text": ("text", *NAMES["passage"]),
    "position": ("position", *NAMES["position"]),
    "word": ("word", *NAMES["word"]),
    "rt": ("rt", *NAMES["rt"]),
    "participant": ("participant", *PARTICIPANTS, *PEOPLE),
}
_ALSO = {"subject": "participant"}
READING_ROLES: Mapping[str, Role] = {
    **{role: ROLES[role] for role in _KNOWN},
    **{other: ROLES[role] for other, role in _ALSO.items()},
}
"""The roles of columns of reading times; a subject is a participant."""


def chosen_columns(text: str) -> dict[str, str]:
    """The columns that an option chooses, by their roles, participants under one name.

    Args:
        text: roles and columns, as for `parse_choice`.

    Raises:
        UsageError: a table of reading times has no such role, or roles and columns cannot be told.
    """
    chosen = parse_choice(text, READING_ROLES)
    return {_ALSO.get(role, role): column for role, column in chosen.items()}


def possible_participants(
    observations: pl.DataFrame, names: WordColumns, among: Sequence[str]
) -> list[str]:
    """The columns whose cells may be participants: words are shared, and each reads a word once.

    Args:
        observations: the table.
        names: the columns that say which word an observation is of.
        among: columns without a role.
    """
    import polars as pl

    text = observations.select(pl.all().cast(pl.String).fill_null(""))
    table = Table(
        "", tuple(among), range(2, len(text) + 2), text.select(among).to_dict(as_series=False)
    )
    if not text.select(names.text, names.position).is_duplicated().any():
        return []
    return [
        name
        for name in among
        if fits(table, name, "participant")
        and 2 * text[name].n_unique() <= len(text)
        and text.select(names.text, names.position, name).is_unique().all()
    ]


def word_columns(
    observations: pl.DataFrame, chosen: Mapping[str, str], *, where: str
) -> tuple[WordColumns, TableReading]:
    """The columns that say which word an observation is of, and the table's reading.

    A column that the table has under a known name counts if its cells fit: positions are whole
    numbers, and no times are in the place of words.

    Args:
        observations: the table.
        chosen: the name of a column for each role that somebody has chosen.
        where: its name, for messages.

    Raises:
        UsageError: there is no such column, or it holds something else than its role needs.
    """
    import polars as pl

    text = observations.select(pl.all().cast(pl.String).fill_null(""))
    cells = {name: text[name].to_list() for name in text.columns}
    table = Table(where, tuple(cells), range(2, len(text) + 2), cells)
    table, missing, misfits = with_chosen(table, chosen)
    for column in missing:
        todo = did_you_mean(column, observations.columns)
        raise UsageError(where=where, seen=f"it has no column {column!r}", todo=todo)
    for role, seen in misfits.items():
        todo = f"If you mean it nevertheless, give {as_option({role: f'{chosen[role]}!'})}."
        raise UsageError(where=where, seen=seen.rstrip("."), todo=todo)
    columns = {role: find(table, role, *names) for role, names in _KNOWN.items()}
    for role in MEASURED.needs:
        if columns[role] is None:
            named = table.find(*_KNOWN[role])
            seen = (
                seen_in(table, named, role).rstrip(".") if named else f"it has no column {role!r}"
            )
            near = did_you_mean(role, observations.columns)
            todo = f"{near} Give {as_option({role: 'COLUMN'})}."
            raise UsageError(where=where, seen=seen, todo=todo)
    names = WordColumns(**{role: table.shown(columns[role] or "") for role in MEASURED.needs})
    read = reading_of(table, MEASURED, columns, n_items=len(text), own={"row"})
    return names, replace(read, what="observation")
