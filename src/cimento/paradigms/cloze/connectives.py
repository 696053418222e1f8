"""The cloze section of the Italian connectives resource (ceur-ws.org/Vol-3033), as a table.

Ids end in the connective, a number and ``cl``; three dots are the blank; options are separated by
commas, and ``choices`` says how many people chose each. docs/ratings.md describes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from cimento.errors import InputError, SuiteError
from cimento.intake.reading import TableReading, reading_of
from cimento.intake.shapes import BLANKS, Shape
from cimento.intake.table import Row, Table
from cimento.intake.tables import open_table, read_header
from cimento.io.files import file_digest, read_bytes
from cimento.io.parsing import whole_number
from cimento.judgments import NONE
from cimento.kinds.base import SuiteReading
from cimento.paradigms.cloze.reading import SUFFIXES
from cimento.suites import Meta
from cimento.suites.cells import need_columns, text_of
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option, OptionRole
from cimento.suites.formats.ratings import CONNECTIVES_FORM, ConnectiveId, parse_id
from cimento.suites.letters import folded_text

COLUMNS = ("id", "sentence", "target", "plausible", "implausible")
CHOICES = "choices"
"""Column that says how many people chose each option."""
_SHAPE = Shape(name=BLANKS.name, needs=BLANKS.needs, may=(*BLANKS.may, CHOICES))
KIND = "cl"
"""Of the ids of cloze items."""
CONNECTIVE = "connective"
"""Column whose value the items of one connective share."""

_VARIANTS: Mapping[str, tuple[str, ...]] = {
    "e": ("ed",), "o": ("od",), "dove": ("dov'", "dov’"), "anche": ("anch'", "anch’"),
    "come": ("com'", "com’"), "quando": ("quand'", "quand’"),
    "perché": ("perchè", "perche'", "perche’"), "però": ("pero'", "pero’"),
}  # fmt: skip
"""Spellings that count as equal; those of a suite are in the suite."""

_DOTS = re.compile(r"\.{3}|…")


def is_connective_blanks(path: Path) -> bool:
    """Whether a file is the cloze section of a copy of the resource, by its columns and ids."""
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    try:
        header, _ = read_header(read_bytes(path), path)
        if header is None or not {*COLUMNS} <= {*header.columns}:
            return False
        table = open_table(path)
    except SuiteError:
        return False
    ids = (parse_id(text_of(row, "id")) for row in table.rows)
    return any(known is not None and known.kind == KIND for known in ids)


def read_connective_blanks(path: Path) -> SuiteReading[ClozeSuite]:
    """The cloze section of a copy of the resource as a suite; what people chose is a column.

    Raises:
        InputError: it cannot be read, or a row is not as documented.
    """
    items, read = connective_items(open_table(path))
    suite = suite_of_connectives(path.stem, items)
    return SuiteReading(suite=suite, faults=(), sha256=file_digest(path), path=path, table=read)


def suite_of_connectives(
    name: str, items: Sequence[tuple[ClozeItem, Mapping[str, int]]]
) -> ClozeSuite:
    """A suite of items, those of one connective in one cluster."""
    meta = Meta(name, language="it")
    return ClozeSuite(meta, items=tuple(item for item, _ in items), cluster=CONNECTIVE)


def connective_items(
    table: Table,
) -> tuple[list[tuple[ClozeItem, Counter[str]]], TableReading]:
    """The items of a table with the numbers of people who chose each option; how it was read.

    Raises:
        InputError: a column is missing, or a row is not as documented.
    """
    need_columns(table, COLUMNS)
    pairs = [_item(table, row) for row in table.rows]
    ids = Counter(item.id for item, _ in pairs)
    twice = next((id_ for id_, times in ids.items() if times > 1), None)
    if twice is not None:
        raise InputError(
            where=table.name, seen=f"the id {twice!r} is there twice", todo="Give each its own."
        )
    roles = {"item": "id", "text": "sentence", **{name: name for name in (*COLUMNS[2:], CHOICES)}}
    read = reading_of(table, _SHAPE, roles, n_items=len(pairs), known=CONNECTIVES_FORM)
    return pairs, read


def _item(table: Table, row: Row) -> tuple[ClozeItem, Counter[str]]:
    """An item, and how many people chose each of its options."""
    text, known = _id(table, row)
    before, after = _around_blank(text, text_of(row, "sentence"))
    target, plausible = text_of(row, "target"), text_of(row, "plausible")
    words = [target, plausible, *_list(text_of(row, "implausible"))]
    roles: list[OptionRole] = ["target", "plausible"]
    roles += ["implausible"] * (len(words) - len(roles))
    options = tuple(
        _option(word, role, initial=not before.strip())
        for word, role in zip(words, roles, strict=True)
    )
    folded = [folded_text(option.text) for option in options]
    if len(set(folded)) < len(folded) or "" in folded:
        raise InputError(
            where=table.where(row),
            seen=f"the options are {', '.join(folded)}",
            todo="Give each option once.",
        )
    columns = {CONNECTIVE: known.connective}
    if chosen := text_of(row, CHOICES):
        columns[CHOICES] = chosen
    item = ClozeItem(text, before, after, options, none_option=True, columns=columns)
    return item, people_choices(item, where=table.where(row))


def _id(table: Table, row: Row) -> tuple[str, ConnectiveId]:
    text = text_of(row, "id")
    known = parse_id(text)
    if known is None or known.kind != KIND:
        raise InputError(
            where=table.where(row),
            seen=f"the id is {text!r}",
            todo="It ends in the connective, a number and cl, such as 'se 23cl'.",
        )
    return text, known


def _around_blank(name: str, sentence: str) -> tuple[str, str]:
    parts = _DOTS.split(sentence)
    if len(parts) != 2:  # noqa: PLR2004  # before and after
        raise InputError(
            where=f"cloze item {name!r}",
            seen=f"there are {len(parts) - 1} blanks in {sentence!r}",
            todo="Write one, as three dots.",
        )
    return parts[0], parts[1]


def _option(word: str, role: OptionRole, *, initial: bool) -> Option:
    """An option as it is in the text, with the spellings that count as equal."""
    plain = folded_text(word)
    base = next((name for name, others in _VARIANTS.items() if plain in others), plain)
    spellings = list(dict.fromkeys((plain, base, *_VARIANTS.get(base, ()))))
    first, *others = (text.capitalize() if initial else text for text in spellings)
    return Option(first, role, tuple(others))


def people_choices(item: ClozeItem, *, where: str) -> Counter[str]:
    """How many people chose each option of an item, as its column says: ``se=18, none=2``.

    Args:
        item: the item; nobody answered it if it has no such column.
        where: what to call its row in messages.

    Raises:
        InputError: something in the column is no option and a number.
    """
    texts = {folded_text(text): option.text for option in item.options for text in option.spellings}
    texts[NONE] = NONE
    counts: Counter[str] = Counter()
    for part in _list(item.columns.get(CHOICES, "")):
        written, equals, count = part.partition("=")
        option = texts.get(folded_text(written))
        number = whole_number(count.strip())
        if not equals or number is None or option is None or option in counts:
            named = ", ".join(sorted({folded_text(text) for text in texts.values()}))
            raise InputError(
                where=where,
                seen=f"choices has {part!r}",
                todo=f"Write OPTION=NUMBER with each of {named} once at most.",
            )
        counts[option] = number
    return counts


def _list(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,;]", text) if part.strip()]
