"""Inventories of connectives: spellings, syntactic class and senses; read and written as TOML."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from cimento.errors import InputError, need_known
from cimento.io.parsing import read_toml

Part: TypeAlias = tuple[str, ...]
"""A part of a spelling: adjacent words."""

Spelling: TypeAlias = tuple[Part, ...]
"""A spelling of a connective in parts, between which other words may stand."""

FOLDER = Path(__file__).parents[2] / "data" / "inventories"

_GAP = re.compile(r"…|\[\.\.\.\]|\.\.\.")
_WORD = re.compile(r"[^\s'’]+['’]?|['’]")


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


def checked_toml(key: str, value: Any, default: object, *, where: str, example: str) -> Any:  # noqa: ANN401  # a text, a flag, or a tuple of texts
    """The value of a key of TOML, a list of texts as a tuple.

    Args:
        key: the key.
        value: its value in the file.
        default: the value of a key that is left out, which has the right type.
        where: place of the key, for the message.
        example: a list of texts, for the message.

    Raises:
        InputError: the value has another type.
    """
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return tuple(value)
        wanted = f"a list of texts, such as {example}"
    elif isinstance(value, type(default)):
        return value
    else:
        wanted = "true or false" if isinstance(default, bool) else "a text in quotation marks"
    raise InputError(where=where, seen=f"{key} is {value!r}", todo=f"It is {wanted}.")


def _from_toml(values: Mapping[str, object], where: str) -> Connective:
    empty = asdict(Connective("", ()))
    read: dict[str, Any] = {}
    for key, value in values.items():
        need_known(key, empty, where=where, seen=f"the key {key!r} is unknown", error=InputError)
        known = checked_toml(key, value, empty[key], where=where, example='["a", "b"]')
        read[key] = unicodedata.normalize("NFC", known.strip()) if isinstance(known, str) else known
    if not read.get("name"):
        raise InputError(where=where, seen="there is no name", todo='Write name = "..."')
    spellings = dict.fromkeys(map(read_spelling, (read["name"], *read.get("spellings", ()))))
    return Connective(**{**read, "spellings": tuple(spellings)})


def write_inventory(inventory: Inventory, path: Path) -> Path:
    """Write an inventory in cimento's TOML format.

    Raises:
        StorageError: the file cannot be written.
    """
    import tomli_w

    from cimento.io.files import write_text

    head = {key: getattr(inventory, key) for key in ("name", "language", "licence", "source")}
    keys = [field.name for field in fields(Connective)]
    entries = [
        {key: _plain(value) for key in keys if (value := getattr(unnamed, key))}
        # The first spelling is the name.
        for unnamed in (
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
    return [part if isinstance(part, str) else write_spelling(part) for part in value]
