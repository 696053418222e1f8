"""Inventories of connectives, in cimento's TOML or made from lexicons.

An inventory holds spellings, syntactic classes and senses. DiMLex (Stede 2002; Scheffler and Stede
2016) is the XML of connective-lex.info: DiMLex itself, LICO (Feltracco et al. 2016), LDM-PT and
others. LexConn is the French one (Roze, Danlos and Muller 2012), NVdB the Nuovo vocabolario di base
della lingua italiana (De Mauro and Chiari 2016).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cimento.errors import InputError, did_you_mean, need_known
from cimento.io.files import expanded, read_bytes, read_utf8
from cimento.io.parsing import MAX_DEPTH, read_json, read_toml
from cimento.suites.tables import Row, Table, open_table

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


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


_DECLARATION = re.compile(rb"<!(DOCTYPE[^<>\[]*\[|ENTITY)", re.IGNORECASE)
_LEXCONN = {"cco": "CCONJ", "csu": "SCONJ", "adv": "ADV", "prep": "ADP"}
_NAMES = ("connective", "name", "lemma", "word")
_CATEGORIES = ("category", "class", "syn", "cat")
_CONJUNCTION = "cong."


def open_inventory(name: str) -> Inventory:
    """A built-in inventory by its name, or an inventory in a file.

    Args:
        name: a built-in name, or a path: ``.toml`` as in docs/corpus.md, ``.tsv`` or ``.csv``,
            ``.xml`` (DiMLex and LexConn), ``.json`` (Nuovo vocabolario di base), ``.txt`` with one
            connective a line.

    Raises:
        InputError: there is no such inventory, or it cannot be used.
    """
    if name in builtin_inventories():
        return read_inventory(FOLDER / f"{name}.toml")
    path = expanded(name)
    readers = {
        ".toml": read_inventory,
        ".tsv": read_table_lexicon,
        ".csv": read_table_lexicon,
        ".xlsx": read_table_lexicon,
        ".xml": read_xml_lexicon,
        ".json": read_nvdb,
        ".txt": read_line_lexicon,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            where="inventory",
            seen=f"got {name!r}",
            todo=did_you_mean(name, builtin_inventories())
            + f" Or give a file: {', '.join(readers)}.",
        )
    return reader(path)


def read_xml_lexicon(path: Path) -> Inventory:
    """A lexicon in the XML of DiMLex or LexConn, which is detected.

    Raises:
        InputError: the file is neither.
    """
    root = parse_xml(path)
    if root.tag == "liste" or root.find(".//connecteur") is not None:
        entries = list(_lexconn(root))
    else:
        entries = list(_dimlex(root))
    if not entries:
        raise InputError(
            where=str(path),
            seen=f"there is no connective in <{root.tag}>",
            todo="It should have <entry> as in DiMLex or <connecteur> as in LexConn.",
        )
    return make_inventory(_merged(entries), name=path.stem, where=str(path))


def read_table_lexicon(path: Path) -> Inventory:
    """A lexicon in a table with one row for each spelling.

    The columns are ``connective`` (or ``lemma``) and, if present, ``category`` (or ``syn``),
    ``senses`` separated by semicolons, ``spellings`` separated by bars, and ``entry_id``: rows that
    share it are spellings of one connective, the first of which is its name. In NVdB tables with a
    column ``features``, only lemmas with ``cong.`` in it are taken.

    Raises:
        InputError: the table cannot be read or has no such column.
    """
    table = open_table(path)
    column = _first(table, _NAMES)
    if column is None:
        raise InputError(
            where=table.name,
            seen=f"there are the columns {', '.join(table.columns)}",
            todo="Name the column of connectives 'connective'.",
        )
    groups: dict[str, list[Row]] = {}
    for row in table.rows:
        if "features" in table.columns and not _is_conjunction(row.cells["features"]):
            continue
        text = row.cells[column].strip()
        if text:
            key = row.cells.get("entry_id", "").strip() or text
            groups.setdefault(key, []).append(row)
    entries = [_from_rows(table, rows, column) for rows in groups.values()]
    return make_inventory(_merged(entries), name=path.stem, where=str(path))


def read_nvdb(path: Path) -> Inventory:
    """The conjunctions of the Nuovo vocabolario di base, from its JSON.

    The file is an object from lemmas to lists of ``{"cat": band, "features": "avv. , cong."}``.

    Raises:
        InputError: the file has another form.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(
            where=str(path), seen="is no object of lemmas", todo="Give the JSON of the NVdB."
        )
    entries = []
    for lemma, readings in content.items():
        kept = [
            reading
            for reading in (readings if isinstance(readings, list) else [])
            if isinstance(reading, dict) and _is_conjunction(str(reading.get("features", "")))
        ]
        if kept and lemma.strip():
            band, features = (str(kept[0].get(key, "")) for key in ("cat", "features"))
            entries.append(_entry([lemma], comment=f"NVdB: {features} ({band})"))
    return make_inventory(_merged(entries), name=path.stem, language="it", where=str(path))


def read_line_lexicon(path: Path) -> Inventory:
    """A lexicon with one connective a line; ``/`` separates spellings, ``#`` begins a remark.

    Raises:
        InputError: the file cannot be read or is empty.
    """
    lines = (line.partition("#")[0].split("/") for line in read_utf8(path).splitlines())
    entries = [_entry(parts) for parts in lines if any(part.strip() for part in parts)]
    return make_inventory(_merged(entries), name=path.stem, where=str(path))


# --- XML


def parse_xml(path: Path) -> Element:
    """The root of an XML file.

    Raises:
        InputError: the file cannot be read, is not XML, or declares entities.
    """
    from xml.etree import ElementTree as ET

    data = read_bytes(path)
    if _DECLARATION.search(data.replace(b"\0", b"")):  # UTF-16 has zero bytes between ASCII letters
        # Entities could fill the memory, and no real lexicon declares any.
        raise InputError(
            where=str(path), seen="the file declares XML entities", todo="Remove them."
        )
    try:
        root = ET.fromstring(data)  # noqa: S314  # without declared entities there is nothing to expand
    except (ET.ParseError, LookupError, ValueError) as error:
        raise InputError(
            where=str(path), seen=f"is not XML: {error}", todo="Correct it."
        ) from error
    level: list[Element] = [root]
    for _ in range(MAX_DEPTH):
        level = [child for element in level for child in element]
    if level:
        raise InputError(where=str(path), seen=f"elements are nested more than {MAX_DEPTH} deep")
    return root


def _dimlex(root: Element) -> Iterator[Connective]:
    for entry in root.iter("entry"):
        spellings = [
            " ... ".join(_text(part) for part in orth.iter("part") if _text(part))
            for orth in entry.iter("orth")
            if orth.find("part") is not None
        ]
        name = entry.get("word", "").strip()
        if name or any(spellings):
            relations = (
                element.get("sense", "").strip()
                for element in entry.iter()
                if element.tag.endswith("relation")
            )
            yield _entry(
                [name, *spellings],
                category="; ".join(dict.fromkeys(filter(None, map(_text, entry.iter("cat"))))),
                senses=tuple(dict.fromkeys(filter(None, relations))),
            )


def _lexconn(root: Element) -> Iterator[Connective]:
    for entry in root.iter("connecteur"):
        forms = [_text(form) for form in entry.iter("forme") if _text(form)]
        if forms:
            relations = entry.get("relations", "").split(",")
            code = entry.get("cat", "")
            yield _entry(
                forms,
                category=_LEXCONN.get(code, code),
                senses=tuple(relation.strip() for relation in relations if relation.strip()),
            )


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


# --- Entries


def _entry(
    texts: Iterable[str], *, category: str = "", senses: tuple[str, ...] = (), comment: str = ""
) -> Connective:
    """A connective with some spellings, the first of which is its name."""
    written = [unicodedata.normalize("NFC", text.strip()) for text in texts if text.strip()]
    spellings: dict[Spelling, None] = dict.fromkeys(filter(None, map(read_spelling, written)))
    return Connective(written[0], tuple(spellings), category, senses, comment=comment)


def _merged(entries: Iterable[Connective]) -> list[Connective]:
    """Entries with those of the same name merged, since LexConn has one for each sense."""
    by_name: dict[str, list[Connective]] = {}
    for entry in entries:
        by_name.setdefault(entry.name, []).append(entry)
    return [alike[0] if len(alike) == 1 else _joined(alike) for alike in by_name.values()]


def _joined(entries: Sequence[Connective]) -> Connective:
    """The entries of one name merged into one."""
    categories = [part for entry in entries for part in entry.category.split("; ") if part]
    return Connective(
        entries[0].name,
        tuple(dict.fromkeys(spelling for entry in entries for spelling in entry.spellings)),
        "; ".join(dict.fromkeys(categories)),
        tuple(dict.fromkeys(sense for entry in entries for sense in entry.senses)),
        comment=next((entry.comment for entry in entries if entry.comment), ""),
    )


def _from_rows(table: Table, rows: list[Row], column: str) -> Connective:
    texts = [row.cells[column] for row in rows]
    texts += [text for row in rows for text in row.cells.get("spellings", "").split("|")]
    category = _first(table, _CATEGORIES)
    senses = (sense.strip() for row in rows for sense in row.cells.get("senses", "").split(";"))
    return _entry(
        texts,
        category=rows[0].cells[category].strip() if category else "",
        senses=tuple(dict.fromkeys(filter(None, senses))),
        comment=rows[0].cells.get("comment", "").strip(),
    )


def _first(table: Table, names: Iterable[str]) -> str | None:
    return next((element for name in names if (element := table.find(name))), None)


def _is_conjunction(features: str) -> bool:
    return _CONJUNCTION in (part.strip() for part in features.split(","))
