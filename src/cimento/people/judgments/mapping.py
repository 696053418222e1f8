"""The mapping of answers: columns to fields of a judgment, and names to items of a suite."""

from __future__ import annotations

import difflib
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cimento.errors import InputError, UsageError, did_you_mean, need_known
from cimento.io.files import live
from cimento.io.parsing import read_toml
from cimento.people.judgments.records import FIELDS

TEXT = "text"
"""Not a column of the table: the text that was shown, by which the item can be found."""

MILLISECONDS = "milliseconds"
"""Not a column of the table either: ``seconds``, in the unit of many survey programs."""

KNOWN = (*FIELDS, TEXT, MILLISECONDS)


@dataclass(frozen=True, slots=True)
class RawRow:
    """One answer as a file has it.

    Attributes:
        where: place in the file, for messages.
        cells: column to text.
    """

    where: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """The map from the columns of a file to the fields of judgments.

    Attributes:
        columns: field to the columns it may stand in; the first that is not empty counts.
        fixed: field to a value that all answers have.
        values: answer as the file has it to the answer as it is kept.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    def cell(self, row: RawRow, name: str) -> str:
        """The text of a field in a row; empty where there is none."""
        for column in self.columns.get(name, ()):
            if text := row.cells.get(column, "").strip():
                return live(text)
        return self.fixed.get(name, "")

    def value(self, text: str) -> str:
        """An answer as it is kept."""
        return self.values.get(text, text)

    def with_own(self, chosen: ColumnMap) -> ColumnMap:
        """The map with a user's columns in place of the usual ones."""
        return replace(
            self,
            columns={**self.columns, **chosen.columns},
            fixed={**self.fixed, **chosen.fixed},
            values={**self.values, **chosen.values},
        )

    @property
    def taken(self) -> frozenset[str]:
        """Every column that a field may stand in."""
        return frozenset(column for columns in self.columns.values() for column in columns)


def usual_map(**more: tuple[str, ...]) -> ColumnMap:
    """Every field in the column of its own name, with other columns for some fields."""
    return ColumnMap(columns={name: (name, *more.get(name, ())) for name in KNOWN})


def map_of_options(columns: Iterable[str], fixed: Iterable[str]) -> ColumnMap:
    """A map as options give it: ``item=Stimulus`` and ``question=acceptability``.

    Raises:
        UsageError: there is no such field, or nothing behind the sign.
    """
    return ColumnMap(
        columns={name: (column,) for name, column in _pairs(columns, "--map")},
        fixed=dict(_pairs(fixed, "--fixed")),
    )


def read_map(path: Path) -> ColumnMap:
    """A map in a TOML file, with the tables ``[columns]``, ``[fixed]`` and ``[values]``.

    Raises:
        InputError: it cannot be read, or has other tables, fields or values.
    """
    content = read_toml(path)
    tables = ("columns", "fixed", "values")
    for name in content:
        need_known(name, tables, where=str(path), seen=f"there is a key {name!r}", error=InputError)
    columns, fixed, values = (_texts(content.get(name, {}), f"{path} [{name}]") for name in tables)
    for name in (*columns, *fixed):
        _refuse_field(name, str(path))
    return ColumnMap(
        columns={name: (column,) for name, column in columns.items()}, fixed=fixed, values=values
    )


def _texts(table: object, where: str) -> dict[str, str]:
    if not isinstance(table, dict) or not all(isinstance(cell, str) for cell in table.values()):
        raise InputError(where=where, seen="is no table of texts", todo='Write name = "text".')
    return {str(name): str(text) for name, text in table.items()}


def _pairs(given: Iterable[str], option: str) -> Sequence[tuple[str, str]]:
    pairs = []
    for entry in given:
        name, _, text = entry.partition("=")
        if not (name.strip() and text.strip()):
            raise UsageError(
                where=option, seen=f"got {entry!r}", todo=f"Write {option} value=Answer, say."
            )
        _refuse_field(name.strip(), option)
        pairs.append((name.strip(), text.strip()))
    return pairs


def _refuse_field(name: str, where: str) -> None:
    need_known(name, KNOWN, where=where, seen=f"judgments have no field {name!r}")


_TAG = re.compile(r"<[^<>]*>")
_BRACKETED = re.compile(r".*\[(?P<row>[^\[\]]+)\]\s*")
"""The heading of a column of a grid in form programs: the question, its row in brackets."""

_SHOWN_NAMES = 3


@dataclass(frozen=True, slots=True)
class AskedItem:
    """A question of a suite.

    Attributes:
        suite: name of the suite.
        item: id of the item.
        condition: of the item; empty for blanks.
        text: what was shown.
    """

    suite: str
    item: str
    condition: str
    text: str


class AskedItems:
    """The index of the questions of suites by all names that answers may use.

    Args:
        named: each place with its names: an id, an id with its condition, the text.
    """

    def __init__(self, named: Iterable[tuple[AskedItem, Iterable[str]]]) -> None:
        self._by_name: dict[str, set[AskedItem]] = {}
        self._hints: dict[str, str] = {}
        for place, names in named:
            for name in names:
                if key := comparable_text(name):
                    self._by_name.setdefault(key, set()).add(place)

    def __bool__(self) -> bool:
        """Whether there is any place."""
        return bool(self._by_name)

    def find(self, *names: str, where: str) -> AskedItem | None:
        """The place of the first known name; None where none is known.

        Raises:
            InputError: a name means more than one place.
        """
        for name in (variant for shown in names for variant in _variants(shown)):
            meant = self._by_name.get(name, set())
            if len(meant) > 1:
                shown = ", ".join(sorted(f"{p.item} {p.condition}".strip() for p in meant)[:3])
                raise InputError(
                    where=where,
                    seen=f"{name!r} may be any of {shown} ...",
                    todo="Say which by the item's id and its condition.",
                )
            if meant:
                return next(iter(meant))
        return None

    def hint(self, name: str) -> str:
        """A hint for an unknown name: similar names, else the first known ones."""
        if name not in self._hints:
            key, known = comparable_text(name), self._by_name
            close = difflib.get_close_matches(key, known, n=1)
            examples = ", ".join(map(repr, itertools.islice(known, _SHOWN_NAMES)))
            self._hints[name] = (
                did_you_mean(key, known)
                if close
                else f"Is it the suite that was asked? Its items are called {examples} ..."
            )
        return self._hints[name]


def comparable_text(text: str) -> str:
    """A text as places are compared: NFC, without tags, with single blanks, one apostrophe."""
    bare = unicodedata.normalize("NFC", _TAG.sub(" ", text)).replace("’", "'")
    return " ".join(bare.split())


def _variants(name: str) -> Iterator[str]:
    whole = comparable_text(name)
    if whole:
        yield whole
    if match := _BRACKETED.fullmatch(whole):
        yield comparable_text(match["row"])
