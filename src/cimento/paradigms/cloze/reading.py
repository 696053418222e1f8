r"""The native format of cloze suites, read: suite.toml, a table of items and one of seeds.

In a cell three underscores or more are the blank, braces mark the words of an expression, ``|``
separates options and ``/`` the spellings of one. A backslash before a sign takes that meaning away;
``\t``, ``\n``, ``\r`` and ``\s`` are a tab, a line break, a carriage return and a blank at the end
of a cell, ``\e`` is an empty text. docs/cloze.md has the rules.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from cimento.errors import Fault, InputError, SuiteError, did_you_mean
from cimento.faults import fault as file_fault
from cimento.intake.decoding import decode, reading_language
from cimento.intake.reading import reading_of, with_role
from cimento.intake.shapes import BLANKS
from cimento.intake.table import Row, Table
from cimento.intake.tables import read_suite_table
from cimento.io.clusters import columns_named
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_toml
from cimento.io.values import grouped
from cimento.kinds.base import SuiteReading
from cimento.paradigms.cloze.codes import cloze_fault
from cimento.paradigms.cloze.row_checks import row_faults
from cimento.suites import Meta
from cimento.suites.cloze import (
    CLOZE_KINDS,
    ROLES,
    BaseSentence,
    ClozeItem,
    ClozeSuite,
    MultiwordItem,
    Option,
    OptionRole,
    SeedSet,
    Template,
)
from cimento.suites.formats.native import meta_of
from cimento.suites.reading import TOML, sha256_of
from cimento.suites.schema import Open, TomlMeta, validate
from cimento.suites.settings import key_faults

ITEMS, SEEDS = "items", "seeds"
SUFFIXES = (".tsv", ".csv", ".xlsx", ".txt")

ITEM_COLUMNS = ("item", "text", *ROLES, "none")
SEED_COLUMNS = ("set", "category", "form", *ROLES)
YES = ("yes", "true", "1", "x")

_MEANINGS = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\s": " ", "\\e": ""}
_PIECE = re.compile(r"\\.|.|\\$", re.DOTALL)
_BLANK_LENGTH = 3
_BLANK = re.compile(rf"_{{{_BLANK_LENGTH},}}")


def read_cell(cell: str) -> str:
    """The text of a cell in which no sign means anything."""
    return _text(_stripped(_pieces(cell))) if "\\" in cell else cell.strip(" ")


def read_blanks(cell: str) -> list[str]:
    """The texts before, between and after the blanks of a cell: two where there is one blank."""
    if "\\" not in cell:
        return _BLANK.split(cell.strip(" "))
    parts: list[list[str]] = [[]]
    run = 0
    for piece in [*_stripped(_pieces(cell)), ""]:
        if piece == "_":
            run += 1
            continue
        if run >= _BLANK_LENGTH:
            parts.append([])
        else:
            parts[-1] += ["_"] * run
        run = 0
        parts[-1].append(piece)
    return [_text(part) for part in parts]


def has_braces(cell: str) -> bool:
    """Whether there are braces that mean something."""
    if "\\" not in cell:
        return "{" in cell or "}" in cell
    return not {"{", "}"}.isdisjoint(_pieces(cell))


def read_options(cell: str, role: OptionRole) -> tuple[Option, ...]:
    """The options in a cell, each with its variants."""
    options = []
    for first, *others in _option_texts(cell):
        options.append(Option(first, role, tuple(others)))
    return tuple(options)


def _option_texts(cell: str) -> list[list[str]]:
    """The texts of each option in a cell, the variants after the first."""
    if "\\" not in cell:
        cell = cell.strip(" ")
        return [part.strip(" ").split("/") for part in cell.split("|")] if cell else []
    pieces = _stripped(_pieces(cell))
    parts = _split(pieces, "|") if pieces else []
    return [[_text(text) for text in _split(_stripped(part), "/")] for part in parts]


def mark_between(cell: str) -> str:
    """The mark that people write between options instead of a bar; empty if a cell has none.

    A mark at an end separates nothing: a comma may itself be due in a blank.
    """
    inside = cell.strip(f" {''.join(_MARKS)}")
    return next((mark for mark in _MARKS if mark in inside), "")


_MARKS = (";", ",")
"""The marks, the first that a cell has."""


def read_parts(cell: str) -> tuple[str, ...]:
    """The texts in a cell, with bars between them."""
    pieces = _stripped(_pieces(cell))
    return tuple(_text(_stripped(part)) for part in _split(pieces, "|")) if pieces else ()


# --- Pieces: a character, or a backslash with the character after it; most cells have no backslash,
# --- and are not taken apart


def _pieces(cell: str) -> list[str]:
    return _PIECE.findall(cell)


def _stripped(pieces: list[str]) -> list[str]:
    """Without plain blanks at the ends."""
    first = next((place for place, piece in enumerate(pieces) if piece != " "), len(pieces))
    last = next((place for place, piece in enumerate(reversed(pieces)) if piece != " "), 0)
    return pieces[first : len(pieces) - last]


def _split(pieces: list[str], sign: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for piece in pieces:
        if piece == sign:
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def _text(pieces: Iterable[str]) -> str:
    return "".join(_MEANINGS.get(piece, piece[-1:]) for piece in pieces)


class TomlClozeOptions(Open):
    """``[options]`` of suite.toml."""

    cluster: str | list[str] = ""


class TomlCloze(Open):
    """suite.toml of kind ``cloze`` or ``templates``."""

    kind: Literal["cloze", "templates"]
    meta: TomlMeta
    options: TomlClozeOptions = Field(default_factory=TomlClozeOptions)
    columns: dict[str, str] = Field(default_factory=dict)


Named = Callable[[Table, list[Fault]], tuple[Table, Mapping[str, Sequence[str | None]]]]
"""What gives a table our names of columns, and says which of its own columns have which role."""


def read_folder(folder: Path, *, named: Named) -> SuiteReading[ClozeSuite]:
    """Read a suite folder of kind ``cloze`` or ``templates``.

    Args:
        folder: the folder.
        named: gives the table of written items our names; faults are added to those it is given.

    Raises:
        InputError: a file is missing or may not be read.
        SuiteError: no suite can be made of what the files hold.
    """
    toml = read_bytes(folder / TOML)
    settings, faults = _settings(toml)
    said = settings.columns if settings is not None else {}
    with reading_language(settings.meta.language if settings is not None else "", said):
        items, data = _find_table(folder, ITEMS, faults)
    seeds, seed_data = _find_table(folder, SEEDS, faults, needed=False)
    if settings is None or items is None:
        raise SuiteError(where=str(folder), faults=faults)
    meta = meta_of(settings.meta)
    roles: Mapping[str, Sequence[str | None]] = {
        name: [name] for name in (*BLANKS.needs, *BLANKS.may)
    }
    if settings.kind == CLOZE_KINDS[1]:
        sets = {} if seeds is None else _seed_sets(seeds, faults)
        suite = ClozeSuite(meta, templates=tuple(_templates(items, sets, faults)))
    else:
        ours, roles = named(items, faults)
        suite = suite_of_items(meta, ours, faults, roles=roles)
        here = {items.shown(name): name for name in items.columns}
        roles = {role: [here.get(name or "", name) for name in roles[role]] for role in roles}
    read = reading_of(items, BLANKS, roles, n_items=suite.n_written)
    read = with_role(read, "cluster", columns_named(settings.options.cluster))
    return SuiteReading(
        suite=replace(suite, cluster=settings.options.cluster, extra=settings.rest()),
        faults=tuple(faults),
        sha256=sha256_of(toml, data, seed_data),
        path=folder,
        table=replace(read, what="template") if suite.templates else read,
    )


def folder_files(folder: Path) -> tuple[Path, ...]:
    """The files of a suite folder that `read_folder` reads, in its order; none of anything else."""
    names = (TOML, *(name + suffix for name in (ITEMS, SEEDS) for suffix in SUFFIXES))
    return tuple(file for name in names if (file := folder / name).is_file())


# --- Files


def table_with(path: Path, *columns: str, todo: str = "") -> Table:
    """A table that has some columns.

    Args:
        path: of the file.
        columns: that it must have.
        todo: what is to be done about one that is missing; empty for a similar name.

    Raises:
        InputError: it cannot be read, or lacks a column.
    """
    table, faults = read_suite_table(read_bytes(path), path)
    if table is None:
        seen = "; ".join(fault.seen for fault in faults)
        raise InputError(where=path.name, seen=seen, todo=todo)
    for name in columns:
        if name not in table.columns:
            table.need(name, todo=todo or did_you_mean(name, table.columns))
    return table


def _settings(data: bytes) -> tuple[TomlCloze | None, list[Fault]]:
    """The content of suite.toml, and its faults."""
    text, faults = decode(data, name=TOML)
    if text is None:
        return None, faults
    try:
        parsed = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        return None, [file_fault("CIM-S002", where=TOML, seen=f"Not TOML: {error}.")]
    settings, faults = validate(TomlCloze, parsed, where=TOML)
    return settings, [*faults, *key_faults(parsed)]


def _find_table(
    folder: Path, name: str, faults: list[Fault], *, needed: bool = True
) -> tuple[Table | None, bytes]:
    paths = [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").exists()]
    if len(paths) > 1 or (needed and not paths):
        names = ", ".join(path.name for path in paths)
        seen = f"There are several tables: {names}." if paths else f"There is no {name}.tsv."
        faults.append(file_fault("CIM-S002", where=str(folder), seen=seen))
    if len(paths) != 1:
        return None, b""
    data = read_bytes(paths[0])
    table, more = read_suite_table(data, paths[0])
    faults += more
    return table, data


# --- Rows


def _rows_with(table: Table, columns: Sequence[str], faults: list[Fault]) -> Sequence[Row]:
    """The rows of a table; none, and faults, where it lacks a column."""
    missing = [name for name in columns if name not in table.columns]
    faults += (
        cloze_fault("CIM-C005", where=table.name, seen=f"There is no column {name!r}.")
        for name in missing
    )
    return () if missing else table.rows


def _named_rows(table: Table, faults: list[Fault]) -> Iterator[tuple[str, Row]]:
    """The rows of a table of items with their ids; a fault is added where a row has none."""
    for row in _rows_with(table, ("item", "text"), faults):
        name = _cell(row, "item")
        if not name.strip():
            faults.append(
                cloze_fault("CIM-C005", where=table.where(row), seen="The row has no item.")
            )
        yield name, row


def _cell(row: Row, name: str) -> str:
    return read_cell(row.cells.get(name, ""))


def _options(row: Row) -> tuple[Option, ...]:
    return tuple(option for role in ROLES for option in read_options(row.cells.get(role, ""), role))


def _free(row: Row, known: Sequence[str]) -> dict[str, str]:
    cells = {name: read_cell(cell) for name, cell in row.cells.items() if name not in known}
    return {name: text for name, text in cells.items() if text}


def _has_none(row: Row) -> bool:
    return _cell(row, "none").lower() in YES


def _around_blank(table: Table, row: Row, faults: list[Fault]) -> tuple[str, str] | None:
    """The texts before and after the blank; a fault is added unless there is exactly one blank."""
    text = row.cells["text"]
    todo = ""
    match read_blanks(text):
        case [_] if not text.strip():
            seen = "The sentence is empty."
            todo = "Write it with ___ in the place of the word, or leave the row out."
        case [before, after]:
            return before, after
        case [_]:
            seen = f"There is no blank in {text!r}."
        case parts:
            seen = f"There are {len(parts) - 1} blanks in {text!r}."
            todo = "Write a row for each blank, with the other words in their places."
    told = (place for known in faults if known.code == "CIM-C001" for place in known.places)
    if table.where(row) in told:
        return None
    faults.append(cloze_fault("CIM-C001", where=table.where(row), seen=seen, todo=todo))
    return None


def suite_of_items(
    meta: Meta,
    table: Table,
    faults: list[Fault],
    *,
    roles: Mapping[str, Sequence[str | None]],
) -> ClozeSuite:
    """The suite of a table of items with our names; what is wrong in its rows adds faults.

    Args:
        meta: of the suite.
        table: with our names.
        faults: the faults so far; a row that one says has no blank is not said to again.
        roles: the columns of each role, as the file calls them.
    """
    items: list[ClozeItem] = []
    item_rows: list[Row] = []
    multiwords: list[MultiwordItem] = []
    for name, row in _named_rows(table, faults):
        if has_braces(row.cells["text"]):
            item = MultiwordItem(name, _cell(row, "expression"), read_cell(row.cells["text"]))
            # One word is an expression only if it is said to be one.
            marked = " ".join(item.words).lower() if len(item.words) > 1 else ""
            expression = item.expression or marked
            columns = _free(row, (*ITEM_COLUMNS, "expression"))
            multiwords.append(replace(item, expression=expression, columns=columns))
        elif around := _around_blank(table, row, faults):
            columns = _free(row, ITEM_COLUMNS)
            items.append(ClozeItem(name, *around, _options(row), _has_none(row), columns))
            item_rows.append(row)
    faults += row_faults(table, items, item_rows, roles)
    return ClozeSuite(meta, items=tuple(items), multiwords=tuple(multiwords))


# --- Templates


def _seed_sets(table: Table, faults: list[Fault]) -> dict[str, list[SeedSet]]:
    """Name of a set to its categories; the rows of a category share its options and columns."""
    rows_with_set = _rows_with(table, ("set", "category", "form"), faults)
    by_group = grouped(((_cell(row, "set"), _cell(row, "category")), row) for row in rows_with_set)
    sets: dict[str, list[SeedSet]] = {}
    for (name, category), rows in by_group.items():
        columns: dict[str, str] = {}
        for row in rows:
            columns = {**_free(row, SEED_COLUMNS), **columns}
        options = next(filter(None, map(_options, rows)), ())
        forms = tuple(_cell(row, "form") for row in rows)
        sets.setdefault(name, []).append(SeedSet(category, forms, options, columns))
    return sets


def _templates(
    table: Table, sets: Mapping[str, Sequence[SeedSet]], faults: list[Fault]
) -> list[Template]:
    templates = []
    for name, rows in grouped(_named_rows(table, faults)).items():
        first, options = rows[0], _options(rows[0])
        wanted = _cell(first, "seeds")
        if wanted and wanted not in sets:
            seen = f"There is no seed set {wanted!r} in seeds.tsv."
            faults.append(cloze_fault("CIM-C002", where=table.where(first), seen=seen))
        columns = [_free(row, (*ITEM_COLUMNS, "seeds")) for row in rows]
        common = {
            key: value
            for key, value in columns[0].items()
            if all(other.get(key) == value for other in columns)
        }
        sentences = []
        for row, cells in zip(rows, columns, strict=True):
            if _options(row) != options:
                seen = f"Its options are not those of row {first.number}, of the same template."
                faults.append(cloze_fault("CIM-C008", where=table.where(row), seen=seen))
            if around := _around_blank(table, row, faults):
                rest = {key: value for key, value in cells.items() if key not in common}
                sentences.append(BaseSentence(*around, columns=rest))
        seeds = tuple(sets.get(wanted or name, ()))
        template = Template(name, tuple(sentences), seeds, options, _has_none(first), common)
        templates.append(template)
    return templates
