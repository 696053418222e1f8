r"""The native format of cloze suites, read: suite.toml, a table of items and one of seeds.

In a cell three underscores or more are the blank, braces mark the words of an expression, ``|``
separates options and ``/`` the spellings of one. A backslash before a sign takes that meaning away;
``\t``, ``\n``, ``\r`` and ``\s`` are a tab, a line break, a carriage return and a blank at the end
of a cell, ``\e`` is an empty text. docs/cloze.md has the rules.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from cimento.errors import Fault, Severity, SuiteError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_toml
from cimento.paradigms.base import SuiteReading
from cimento.paradigms.cloze.suite import (
    ROLES,
    ClozeItem,
    ClozeSuite,
    MultiwordItem,
    Option,
    Role,
    SeedSet,
    Sentence,
    Template,
)
from cimento.suites.faults import fault as file_fault
from cimento.suites.model import Meta
from cimento.suites.reading import decode, sha256_of
from cimento.suites.schema import Open, TomlMeta
from cimento.suites.tables import Row, Table, read_table

_CODES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
_MEANINGS = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\s": " ", "\\e": ""}
_PIECE = re.compile(r"\\.|.|\\$", re.DOTALL)
_BLANK_LENGTH = 3


def write_cell(text: str, *, signs: str = "") -> str:
    """A text as a cell.

    Args:
        text: anything.
        signs: those that would mean something in this cell.
    """
    return _end(_start(_coded(text, signs)))


def read_cell(cell: str) -> str:
    """The text of a cell in which no sign means anything."""
    return _text(_stripped(_pieces(cell)))


def write_blank(before: str, after: str) -> str:
    """A text with its blank as a cell."""
    return f"{_start(_coded(before, '_{}'))}___{_end(_coded(after, '_{}'))}"


def read_blanks(cell: str) -> list[str]:
    """What stands before, between and after the blanks of a cell: two texts where there is one."""
    found: list[list[str]] = [[]]
    run = 0
    for piece in [*_stripped(_pieces(cell)), ""]:
        if piece == "_":
            run += 1
            continue
        if run >= _BLANK_LENGTH:
            found.append([])
        else:
            found[-1] += ["_"] * run
        run = 0
        found[-1].append(piece)
    return [_text(part) for part in found]


def write_marked(text: str) -> str:
    """A text with marked words as a cell; its braces stay what they are."""
    return write_cell(text, signs="_")


def has_braces(cell: str) -> bool:
    """Whether there are braces that mean something."""
    return not {"{", "}"}.isdisjoint(_pieces(cell))


def write_options(options: Iterable[Option]) -> str:
    """Options of one role as a cell."""
    return " | ".join(
        "/".join(write_cell(text, signs="|/") or "\\e" for text in option.spellings)
        for option in options
    )


def read_options(cell: str, role: Role) -> tuple[Option, ...]:
    """The options in a cell, each with its variants."""
    pieces = _stripped(_pieces(cell))
    if not pieces:
        return ()
    found = []
    for part in _split(pieces, "|"):
        first, *others = (_text(text) for text in _split(_stripped(part), "/"))
        found.append(Option(first, role, tuple(others)))
    return tuple(found)


def read_parts(cell: str) -> tuple[str, ...]:
    """The texts in a cell, with bars between them."""
    pieces = _stripped(_pieces(cell))
    return tuple(_text(_stripped(part)) for part in _split(pieces, "|")) if pieces else ()


# --- Pieces: a character, or a backslash with the character after it


def _pieces(cell: str) -> list[str]:
    return _PIECE.findall(cell)


def _stripped(pieces: list[str]) -> list[str]:
    """Without plain blanks at the ends."""
    first = next((place for place, piece in enumerate(pieces) if piece != " "), len(pieces))
    last = next((place for place, piece in enumerate(reversed(pieces)) if piece != " "), 0)
    return pieces[first : len(pieces) - last]


def _split(pieces: list[str], sign: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for piece in pieces:
        if piece == sign:
            found.append([])
        else:
            found[-1].append(piece)
    return found


def _text(pieces: Iterable[str]) -> str:
    return "".join(_MEANINGS.get(piece, piece[-1:]) for piece in pieces)


def _coded(text: str, signs: str) -> str:
    return "".join(
        _CODES.get(character) or (f"\\{character}" if character in signs else character)
        for character in text
    )


def _start(cell: str) -> str:
    return "\\s" + cell[1:] if cell.startswith(" ") else cell


def _end(cell: str) -> str:
    return cell[:-1] + "\\s" if cell.endswith(" ") else cell


CHECKS: Mapping[str, tuple[Severity, str]] = {
    "CIM-C001": ("error", "Write the blank once, as three underscores: ___"),
    "CIM-C002": ("error", "Add rows for it to seeds.tsv, or name the set in the column `seeds`."),
    "CIM-C003": ("warning", "Write <SEED> where the forms belong, or remove the forms."),
    "CIM-C004": ("error", "Give every item an id of its own."),
    "CIM-C005": ("error", "Correct the header line or the row."),
    "CIM-C006": ("error", "Put each word of the expression in braces: {testa} al {toro}."),
    "CIM-C007": ("error", "Give each option one role."),
    "CIM-C008": ("error", "Give all rows of a template the same options."),
    "CIM-C009": ("error", "Add at least one item."),
    "CIM-C010": ("warning", 'Add the ISO 639-1 code, such as language = "it".'),
    "CIM-C011": ("warning", "Remove one of the two."),
    "CIM-C012": ("warning", "The item of such a form belongs to all of them; is that meant so?"),
    "CIM-C013": ("error", "Correct the column `expected`."),
    "CIM-C014": ("error", "Name a column that every item has."),
    "CIM-C015": ("warning", "Write one blank, or none."),
    "CIM-C016": ("warning", "Remove one, or give them one cluster."),
}
"""Code to severity and to what can be done about it."""


def fault(code: str, *, where: str, seen: str) -> Fault:
    """A fault of a known code."""
    severity, todo = CHECKS[code]
    return Fault(code, severity, where, seen, todo)


class TomlClozeOptions(Open):
    """``[options]`` of suite.toml."""

    cluster: str = ""


class TomlCloze(Open):
    """suite.toml of kind ``cloze`` or ``templates``."""

    kind: Literal["cloze", "templates"]
    meta: TomlMeta
    options: TomlClozeOptions = Field(default_factory=TomlClozeOptions)

    def suite_meta(self) -> Meta:
        """Who made the suite, about what, and on which terms."""
        known = {name: getattr(self.meta, name) for name in TomlMeta.model_fields if name != "tags"}
        return Meta(**known, tags=tuple(self.meta.tags), extra=self.meta.rest())


TOML = "suite.toml"
KINDS = ("cloze", "templates")
ITEMS, SEEDS = "items", "seeds"
SUFFIXES = (".tsv", ".csv", ".xlsx", ".txt")

ITEM_COLUMNS = ("item", "text", *ROLES, "none", "expression", "seeds")
SEED_COLUMNS = ("set", "category", "form", *ROLES)
YES = ("yes", "true", "1", "x")

_ID = "item"


def read_folder(folder: Path) -> SuiteReading[ClozeSuite]:
    """Read a suite folder of kind ``cloze`` or ``templates``.

    Raises:
        InputError: a file is missing or may not be read.
        SuiteError: no suite can be made of what the files hold.
    """
    toml = read_bytes(folder / TOML)
    settings, faults = _settings(toml)
    items, data, more = _table(folder, ITEMS)
    faults += more
    seeds, seed_data, more = _table(folder, SEEDS, needed=False)
    faults += more
    if settings is None or items is None:
        raise SuiteError(where=str(folder), faults=faults)
    sha256 = sha256_of(toml, data, seed_data)
    if settings.kind == KINDS[1]:
        sets, more = _seed_sets(seeds)
        faults += more
        templates, more = _templates(items, sets)
        suite = ClozeSuite(settings.suite_meta(), templates=templates)
    else:
        written, multiwords, more = _items(items)
        suite = ClozeSuite(settings.suite_meta(), items=written, multiwords=multiwords)
    suite = replace(suite, cluster=settings.options.cluster, extra=settings.rest())
    return SuiteReading(suite=suite, faults=(*faults, *more), sha256=sha256, path=folder)


def folder_files(folder: Path) -> tuple[Path, ...]:
    """The files of a suite folder that `read_folder` reads, in its order; none of anything else."""
    names = (TOML, *(name + suffix for name in (ITEMS, SEEDS) for suffix in SUFFIXES))
    return tuple(file for name in names if (file := folder / name).is_file())


def read_item_table(path: Path) -> SuiteReading[ClozeSuite]:
    """Read a table of cloze items that stands alone; its name is the suite's.

    Raises:
        InputError: it may not be read.
        SuiteError: no suite can be made of it.
    """
    data = read_bytes(path)
    table, faults = read_table(data, path)
    if table is None:
        raise SuiteError(where=str(path), faults=faults)
    items, multiwords, more = _items(table)
    suite = ClozeSuite(Meta(path.stem), items=items, multiwords=multiwords)
    return SuiteReading(suite=suite, faults=(*faults, *more), sha256=sha256_of(data), path=path)


# --- Files


def _settings(data: bytes) -> tuple[TomlCloze | None, list[Fault]]:

    from cimento.suites.schema import validate

    text, faults = decode(data, name=TOML)
    if text is None:
        return None, faults
    try:
        parsed = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        return None, [file_fault("CIM-S002", where=TOML, seen=f"Not TOML: {error}.")]
    return validate(TomlCloze, parsed, where=TOML)


def _table(
    folder: Path, name: str, *, needed: bool = True
) -> tuple[Table | None, bytes, list[Fault]]:
    found = [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").exists()]
    if len(found) > 1 or (needed and not found):
        names = ", ".join(path.name for path in found)
        seen = f"There are several tables: {names}." if found else f"There is no {name}.tsv."
        return None, b"", [file_fault("CIM-S002", where=str(folder), seen=seen)]
    if not found:
        return None, b"", []
    data = read_bytes(found[0])
    table, faults = read_table(data, found[0])
    return table, data, faults


def _lacking(table: Table, names: Sequence[str]) -> list[Fault]:
    return [
        fault("CIM-C005", where=table.name, seen=f"There is no column {name!r}.")
        for name in names
        if name not in table.columns
    ]


# --- Rows


def _cell(row: Row, name: str) -> str:
    return read_cell(row.cells.get(name, ""))


def _options(row: Row) -> tuple[Option, ...]:
    return tuple(option for role in ROLES for option in read_options(row.cells.get(role, ""), role))


def _free(row: Row, known: Sequence[str]) -> dict[str, str]:
    cells = {name: read_cell(cell) for name, cell in row.cells.items() if name not in known}
    return {name: text for name, text in cells.items() if text}


def _none(row: Row) -> bool:
    return _cell(row, "none").lower() in YES


def _at_blank(row: Row, where: str, faults: list[Fault]) -> tuple[str, str] | None:
    """What stands before and after the blank; a fault is added where there is not one of it."""
    parts = read_blanks(row.cells["text"])
    if len(parts) == 2:  # noqa: PLR2004  # before and after
        return parts[0], parts[1]
    number = len(parts) - 1
    seen = (
        f"There are {number} blanks in {row.cells['text']!r}."
        if number
        else (f"There is no blank in {row.cells['text']!r}.")
    )
    faults.append(fault("CIM-C001", where=where, seen=seen))
    return None


def _identity(table: Table, row: Row, faults: list[Fault]) -> str:
    name = _cell(row, _ID)
    if not name.strip():
        faults.append(fault("CIM-C005", where=table.where(row), seen="The row has no item."))
    return name


def _items(
    table: Table,
) -> tuple[tuple[ClozeItem, ...], tuple[MultiwordItem, ...], list[Fault]]:
    faults = _lacking(table, (_ID, "text"))
    items: list[ClozeItem] = []
    multiwords: list[MultiwordItem] = []
    for row in [] if faults else table.rows:
        name, where = _identity(table, row, faults), table.where(row)
        if has_braces(row.cells["text"]):
            multiwords.append(_multiword(name, row))
            continue
        parts = _at_blank(row, where, faults)
        if parts is not None:
            before, after = parts
            columns = _free(row, tuple(c for c in ITEM_COLUMNS if c not in ("expression", "seeds")))
            items.append(ClozeItem(name, before, after, _options(row), _none(row), columns))
    return tuple(items), tuple(multiwords), faults


def _multiword(name: str, row: Row) -> MultiwordItem:
    made = MultiwordItem(name, _cell(row, "expression"), read_cell(row.cells["text"]))
    columns = _free(row, tuple(column for column in ITEM_COLUMNS if column != "seeds"))
    expression = made.expression or " ".join(made.words).lower()
    return replace(made, expression=expression, columns=columns)


# --- Templates


def _seed_sets(table: Table | None) -> tuple[dict[str, list[SeedSet]], list[Fault]]:
    """Name of a set to its categories; the rows of a category share its options and columns."""
    if table is None:
        return {}, []
    faults = _lacking(table, ("set", "category", "form"))
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in [] if faults else table.rows:
        grouped.setdefault((_cell(row, "set"), _cell(row, "category")), []).append(row)
    found: dict[str, list[SeedSet]] = {}
    for (name, category), rows in grouped.items():
        columns: dict[str, str] = {}
        options: tuple[Option, ...] = ()
        for row in rows:
            columns = {**_free(row, SEED_COLUMNS), **columns}
            options = options or _options(row)
        forms = tuple(_cell(row, "form") for row in rows)
        found.setdefault(name, []).append(SeedSet(category, forms, options, columns))
    return found, faults


def _templates(
    table: Table, sets: Mapping[str, Sequence[SeedSet]]
) -> tuple[tuple[Template, ...], list[Fault]]:
    faults = _lacking(table, (_ID, "text"))
    grouped: dict[str, list[Row]] = {}
    for row in [] if faults else table.rows:
        grouped.setdefault(_identity(table, row, faults), []).append(row)
    return tuple(_template(table, name, rows, sets, faults) for name, rows in grouped.items()), (
        faults
    )


def _template(
    table: Table,
    name: str,
    rows: Sequence[Row],
    sets: Mapping[str, Sequence[SeedSet]],
    faults: list[Fault],
) -> Template:
    first, where = rows[0], table.where(rows[0])
    wanted = _cell(first, "seeds")
    if wanted and wanted not in sets:
        faults.append(
            fault("CIM-C002", where=where, seen=f"There is no seed set {wanted!r} in seeds.tsv.")
        )
    options = _options(first)
    columns = [_free(row, tuple(c for c in ITEM_COLUMNS if c != "expression")) for row in rows]
    common = {
        key: value
        for key, value in columns[0].items()
        if all(other.get(key) == value for other in columns)
    }
    sentences = []
    for row, own in zip(rows, columns, strict=True):
        if _options(row) != options:
            seen = f"Its options are not those of row {first.number}, of the same template."
            faults.append(fault("CIM-C008", where=table.where(row), seen=seen))
        parts = _at_blank(row, table.where(row), faults)
        if parts is not None:
            rest = {key: value for key, value in own.items() if key not in common}
            sentences.append(Sentence(*parts, columns=rest))
    seeds = tuple(sets.get(wanted or name, ()))
    return Template(name, tuple(sentences), seeds, options, _none(first), common)
