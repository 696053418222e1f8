"""One format of rated sentences a file; `read_rated` finds which one a file is in."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.acceptability.readers.cells import need_columns
from cimento.acceptability.records import RatedSet
from cimento.errors import InputError, UsageError, did_you_mean
from cimento.suites.tables import SUFFIXES, Table, open_table


@dataclass(frozen=True, slots=True)
class RatedFormat:
    """A format that rated sentences are published in.

    Attributes:
        title: for messages.
        module: of this package, which reads it.
        columns: name of the module's constant with the columns that tell the format.
        reader: name of the module's function.
    """

    title: str
    module: str
    columns: str = "COLUMNS"
    reader: str = "read"

    def _get(self, name: str) -> object:
        return getattr(importlib.import_module(f"{__name__}.{self.module}"), name)

    @property
    def needed(self) -> Sequence[str]:
        """The columns that tell the format."""
        found = self._get(self.columns)
        return found if isinstance(found, tuple) else ()

    def fits(self, table: Table) -> bool:
        """Whether a table is in this format, by its columns and what the module makes of them."""
        recognises: Callable[[Table], bool] | None
        recognises = getattr(
            importlib.import_module(f"{__name__}.{self.module}"), "recognises", None
        )
        return set(self.needed) <= set(table.columns) and (recognises is None or recognises(table))

    def read(self, table: Table) -> RatedSet:
        """The sentences of a table.

        Raises:
            InputError: something in it is not what it should be.
        """
        function: Callable[[Table], RatedSet] = self._get(self.reader)  # type: ignore[assignment]  # a function of that type, by the table below
        need_columns(table, self.needed)
        return function(table)


FORMATS: Mapping[str, RatedFormat] = {
    "accomplit": RatedFormat("AcCompl-it", "accomplit"),
    "discotex": RatedFormat("DisCoTEX, sub-task 2", "discotex"),
    "lau2020": RatedFormat("Lau et al. 2020", "lau2020"),
    "itacola-players": RatedFormat(
        "ItaCoLA, answers of players", "itacola", "PLAYERS", "read_players"
    ),
    "itacola-phenomena": RatedFormat(
        "ItaCoLA, phenomena", "itacola", "PHENOMENA", "read_phenomena"
    ),
    "itacola": RatedFormat("ItaCoLA", "itacola", "CORPUS", "read_corpus"),
    "escola": RatedFormat("EsCoLA or CatCoLA", "escola"),
    "connectives": RatedFormat("the connectives resource", "connectives"),
}
"""Name to format; the first that a table fits is the one it is in."""


def read_rated(path: Path, format_: str = "") -> RatedSet:
    """The rated sentences of a file.

    Args:
        path: a ``.tsv`` (never quoted), ``.csv`` or ``.xlsx``.
        format_: a key of `FORMATS`; empty to find it by the columns.

    Raises:
        InputError: the file is in no known format, or something in it is not what it should be.
        UsageError: there is no such format.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            where=str(path),
            seen=f"has the suffix {path.suffix!r}",
            todo=f"Rated sentences are read from {', '.join(SUFFIXES)}.",
        )
    table = open_table(path)
    if format_:
        return _format(format_).read(table)
    for each in FORMATS.values():
        if each.fits(table):
            return each.read(table)
    raise InputError(
        where=str(path),
        seen=f"is a table with the columns {', '.join(table.columns)}",
        todo="Rated sentences are: " + "; ".join(each.title for each in FORMATS.values()) + ".",
    )


def merge(sets: Sequence[RatedSet], *, name: str) -> RatedSet:
    """Several sets as one; an id that is in more than one gets its set's name before it.

    Raises:
        UsageError: there is none, or they are not all on one scale.
    """
    if not sets or any(each.scale != sets[0].scale for each in sets):
        raise UsageError(
            where=name,
            seen="sets that are not on one scale cannot be put together",
            todo="Give those on one scale.",
        )
    homes: dict[str, set[str]] = {}
    for each in sets:
        for sentence in each.sentences:
            homes.setdefault(sentence.id, set()).add(each.name)
    sentences = tuple(
        replace(sentence, id=f"{each.name}:{sentence.id}")
        if len(homes[sentence.id]) > 1
        else sentence
        for each in sets
        for sentence in each.sentences
    )
    return replace(
        sets[0],
        name=name,
        sentences=sentences,
        warnings=tuple(warning for each in sets for warning in each.warnings),
    )


def _format(name: str) -> RatedFormat:
    if name not in FORMATS:
        raise UsageError(
            where=f"format {name!r}",
            seen="there is no such format of rated sentences",
            todo=did_you_mean(name, FORMATS),
        )
    return FORMATS[name]
