"""Inventories of connectives: spellings, syntactic class and senses; read and written as TOML."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TypeAlias

from cimento.errors import InputError, did_you_mean
from cimento.io.parsing import read_toml

Part: TypeAlias = tuple[str, ...]
"""A part of a spelling: adjacent words."""

Spelling: TypeAlias = tuple[Part, ...]
"""A spelling of a connective in parts, between which other words may stand."""

FOLDER = Path(__file__).parents[2] / "data" / "inventories"

_GAP = re.compile(r"…|\[\.\.\.\]|\.\.\.")
_WORD = re.compile(r"[^\s'’]+['’]?|['’]")
_KEYS = {
    "name", "spellings", "category", "senses", "comment", "interrogative",
    "elided", "elided_before", "euphonic", "euphonic_before",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Connective:
    """An entry of an inventory.

    Attributes:
        name: name, which is also the usual spelling.
        spellings: all spellings, the usual one first.
        category: syntactic class: ``CCONJ``, ``SCONJ``, ``ADV``, or the class in the lexicon.
        senses: senses as named in the lexicon, such as ``Contingency.Cause.Reason``.
        interrogative: whether the same word also asks questions (``quando``).
        elided: its form before some vowels (``dov'``); empty for none.
        elided_before: beginnings of words before which it is elided.
        euphonic: its other form before some vowels (``ed``); empty for none.
        euphonic_before: beginnings of words before which it has that form.
        comment: any other remark.
    """

    name: str
    spellings: tuple[Spelling, ...]
    category: str = ""
    senses: tuple[str, ...] = ()
    interrogative: bool = False
    elided: str = ""
    elided_before: tuple[str, ...] = ()
    euphonic: str = ""
    euphonic_before: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """A list of connectives.

    Attributes:
        name: name of the list.
        language: ISO 639-1 code; empty if the file does not state it.
        connectives: the connectives in the order of the list.
        licence: licence of the list.
        source: origin of the list.
    """

    name: str
    language: str
    connectives: tuple[Connective, ...]
    licence: str = ""
    source: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the connectives."""
        return tuple(connective.name for connective in self.connectives)

    def __getitem__(self, name: str) -> Connective:
        """The connective of a name; raises KeyError if there is none."""
        for connective in self.connectives:
            if connective.name == name:
                return connective
        raise KeyError(name)


def normal(text: str) -> str:
    """A text in the form for comparing words: NFC, lower case, one kind of apostrophe."""
    return unicodedata.normalize("NFC", text).lower().replace("’", "'")


def read_spelling(text: str) -> Spelling:
    """The spelling of a text: ``a meno che`` has one part, ``sia ... sia`` has two."""
    parts = (tuple(_WORD.findall(normal(part))) for part in _GAP.split(text.strip()))
    return tuple(part for part in parts if part)


def builtin_inventories() -> list[str]:
    """The names of the built-in inventories."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_inventory(path: Path) -> Inventory:
    """An inventory in cimento's own format.

    Raises:
        InputError: it cannot be read or used.
    """
    settings = read_toml(path)
    entries = settings.get("connectives")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(
            where=str(path),
            seen="there are no [[connectives]]",
            todo='Write one [[connectives]] with name = "..." for each.',
        )
    return make_inventory(
        [_from_toml(entry, f"{path}, connective {n}") for n, entry in enumerate(entries, start=1)],
        name=str(settings.get("name", path.stem)),
        language=str(settings.get("language", "")),
        licence=str(settings.get("licence", "")),
        source=str(settings.get("source", "")),
        where=str(path),
    )


def make_inventory(
    connectives: Sequence[Connective],
    *,
    where: str,
    name: str,
    language: str = "",
    licence: str = "",
    source: str = "",
) -> Inventory:
    """Make an inventory in which every name occurs once.

    Raises:
        InputError: the inventory is empty, or a name occurs twice.
    """
    if not connectives:
        raise InputError(where=where, seen="there is no connective", todo="Add one at least.")
    times = Counter(connective.name for connective in connectives)
    twice = next((name for name, number in times.items() if number > 1), None)
    if twice is not None:
        raise InputError(
            where=where, seen=f"the connective {twice!r} is there twice", todo="Remove one."
        )
    return Inventory(name, language, tuple(connectives), licence, source)


@dataclass(frozen=True, slots=True)
class _Entry:
    """Keys of an entry of a TOML file, with their types."""

    values: Mapping[str, object]
    where: str
    known: frozenset[str] = field(default=frozenset(_KEYS))

    def text(self, key: str) -> str:
        value = self.values.get(key, "")
        if not isinstance(value, str):
            raise self._wrong(key, "a text in quotation marks")
        return unicodedata.normalize("NFC", value.strip())

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(key, 'a list of texts, such as ["a", "b"]')
        return tuple(value)

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def _wrong(self, key: str, wanted: str) -> InputError:
        return InputError(
            where=self.where, seen=f"{key} is {self.values[key]!r}", todo=f"It is {wanted}."
        )


def _from_toml(values: Mapping[str, object], where: str) -> Connective:
    entry = _Entry(values, where)
    unknown = [key for key in values if key not in entry.known]
    if unknown or not entry.text("name"):
        raise InputError(
            where=where,
            seen=f"the key {unknown[0]!r} is unknown" if unknown else "there is no name",
            todo=did_you_mean(unknown[0], _KEYS) if unknown else 'Write name = "..."',
        )
    name = entry.text("name")
    spellings = dict.fromkeys(map(read_spelling, (name, *entry.texts("spellings"))))
    return Connective(
        name=name,
        spellings=tuple(spellings),
        category=entry.text("category"),
        senses=entry.texts("senses"),
        interrogative=entry.flag("interrogative"),
        elided=entry.text("elided"),
        elided_before=entry.texts("elided_before"),
        euphonic=entry.text("euphonic"),
        euphonic_before=entry.texts("euphonic_before"),
        comment=entry.text("comment"),
    )


def write_inventory(inventory: Inventory, path: Path) -> Path:
    """Write an inventory in cimento's TOML format.

    Raises:
        StorageError: the file cannot be written.
    """
    import tomli_w

    from cimento.io.files import write_text

    head = {key: getattr(inventory, key) for key in ("name", "language", "licence", "source")}
    keys = [each.name for each in fields(Connective)]
    entries = [
        {key: _plain(value) for key in keys if (value := getattr(each, key))}
        # The first spelling is the name.
        for each in (
            replace(connective, spellings=connective.spellings[1:])
            for connective in inventory.connectives
        )
    ]
    content = {**{key: value for key, value in head.items() if value}, "connectives": entries}
    return write_text(tomli_w.dumps(content), path)


def write_spelling(spelling: Spelling) -> str:
    """The text of a spelling; the inverse of `read_spelling`."""
    parts = (" ".join(part).replace("' ", "'") for part in spelling)
    return " ... ".join(parts)


def _plain(value: object) -> object:
    """A field as a TOML value."""
    if not isinstance(value, tuple):
        return value
    return [each if isinstance(each, str) else write_spelling(each) for each in value]
