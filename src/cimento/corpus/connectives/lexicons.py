"""Lexicons of connectives, opened by name or by file, as inventories.

DiMLex (Stede 2002; Scheffler and Stede 2016) is the XML of connective-lex.info: DiMLex itself, LICO
(Feltracco et al. 2016), LDM-PT and others. LexConn is the French one (Roze, Danlos and Muller
2012), NVdB the Nuovo vocabolario di base della lingua italiana (De Mauro and Chiari 2016).
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.corpus.connectives.inventories import (
    FOLDER,
    Connective,
    Inventory,
    Spelling,
    builtin_inventories,
    make_inventory,
    read_inventory,
    read_spelling,
)
from cimento.errors import InputError, did_you_mean
from cimento.intake.table import Row, Table
from cimento.intake.tables import open_table
from cimento.io.files import expanded, read_bytes, read_utf8
from cimento.io.parsing import MAX_DEPTH, read_json
from cimento.io.values import grouped

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DECLARATION = re.compile(rb"<!(DOCTYPE[^<>\[]*\[|ENTITY)", re.IGNORECASE)
_LEXCONN = {"cco": "CCONJ", "csu": "SCONJ", "adv": "ADV", "prep": "ADP"}
_NAMES = ("connective", "name", "lemma", "word")
_CATEGORIES = ("category", "class", "syn", "cat")
_CONJUNCTION = "cong."


def open_inventory(name: str) -> Inventory:
    """A built-in inventory by its name, or an inventory in a file.

    Args:
        name: a built-in name, or a path: ``.toml`` as in docs/treebanks.md, ``.tsv`` or ``.csv``,
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
    groups = grouped(
        (row.cells.get("entry_id", "").strip() or text, row)
        for row in table.rows
        if "features" not in table.columns or _is_conjunction(row.cells["features"])
        if (text := row.cells[column].strip())
    )
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
            where=str(path), seen="is not an object of lemmas", todo="Give the JSON of the NVdB."
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


def merge_inventories(
    inventories: Sequence[Inventory], *, name: str
) -> tuple[Inventory, dict[str, tuple[str, ...]]]:
    """One inventory of several, in which connectives that several have stand once.

    Two entries are the same connective if the usual spelling of one is a spelling of the other,
    capitals and kinds of apostrophe aside: *perchè* is *perché* if a list says so.

    Args:
        inventories: the first has the say about names, and about what lists contradict.
        name: of the merged inventory.

    Returns:
        The inventory, and each connective to the names of the lists that have it.

    Raises:
        InputError: the inventories are of several languages.
    """
    languages = [inventory.language for inventory in inventories if inventory.language]
    if len(set(languages)) > 1:
        raise InputError(
            where="inventories",
            seen=f"they are of the languages {', '.join(dict.fromkeys(languages))}",
            todo="Merge those of one language.",
        )
    groups: list[list[tuple[str, Connective]]] = []
    for inventory in inventories:
        for entry in inventory.connectives:
            same = [group for group in groups if any(_same(entry, one) for _, one in group)]
            # The first of them stays where it is in its list.
            kept, *others = same or [[]]
            kept += [*itertools.chain(*others), (inventory.name, entry)]
            groups = [group for group in groups if not any(group is one for one in others)]
            groups += [] if same else [kept]
    merged = {
        group[0][1].name: (_joined([entry for _, entry in group]), tuple(dict(group)))
        for group in groups
    }
    licenses = dict.fromkeys(filter(None, (inventory.license for inventory in inventories)))
    sources = dict.fromkeys(filter(None, (inventory.source for inventory in inventories)))
    merged_inventory = make_inventory(
        [connective for connective, _ in merged.values()],
        where="inventories",
        name=name,
        language=next(iter(languages), ""),
        terms=" AND ".join(licenses),
        source="; ".join(sources),
    )
    return merged_inventory, {name: lists for name, (_, lists) in merged.items()}


def _same(one: Connective, other: Connective) -> bool:
    """Whether the usual spelling of an entry is a spelling of the other."""
    usual, others = read_spelling(one.name), read_spelling(other.name)
    return usual in other.spellings or others in one.spellings


def _merged(entries: Iterable[Connective]) -> list[Connective]:
    """Entries with those of the same name merged, since LexConn has one for each sense."""
    by_name = grouped((entry.name, entry) for entry in entries)
    return [_joined(alike) for alike in by_name.values()]


def _joined(entries: Sequence[Connective]) -> Connective:
    """The entries of one connective merged into one; the first has the say about the rest."""
    categories = [part for entry in entries for part in entry.category.split("; ") if part]
    first = max(entries, key=lambda entry: bool(entry.elided or entry.euphonic))
    return replace(
        first,
        name=entries[0].name,
        spellings=tuple(
            dict.fromkeys(spelling for entry in entries for spelling in entry.spellings)
        ),
        category="; ".join(dict.fromkeys(categories)),
        senses=tuple(dict.fromkeys(sense for entry in entries for sense in entry.senses)),
        interrogative=any(entry.interrogative for entry in entries),
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
