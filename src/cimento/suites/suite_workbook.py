"""Suites as single workbooks with the sheets *about*, *items*, *predictions* and *how to*.

The workbook has the same content as a suite folder, so that authors need not see suite.toml:
*about* has a row for each setting, *predictions* has one for each formula, and *items* (with
*seeds*, if a suite has them) is the table of the folder. Stories are records and have a column for
each field. A suite that could not be read back without loss is refused. docs/formats.md has
the rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cimento.errors import Fault, InputError, SuiteError
from cimento.faults import EXAMPLE, errors
from cimento.intake.decoding import decode_table, open_json_lines, reading_language
from cimento.intake.delimited import split_plain
from cimento.intake.read_once import sheet_names
from cimento.intake.roles import number_columns
from cimento.intake.table import Table, column_name
from cimento.intake.tables import read_suite_table
from cimento.intake.words import DESCRIBED
from cimento.intake.workbooks import write_sheets
from cimento.io.files import read_bytes, write_bytes, write_text
from cimento.io.parsing import parse_json, read_toml
from cimento.suites import JsonValue
from cimento.suites.cloze import CLOZE_KINDS
from cimento.suites.reading import TOML
from cimento.suites.story_rows import (
    is_column_of_story,
    is_story_row,
    story_columns,
    story_record,
    story_row,
)
from cimento.suites.workbook_words import (
    ABOUT,
    COLUMNS,
    DESCRIBED_WORDS,
    ENGLISH,
    HOW_TO,
    ITEMS,
    MORE,
    PREDICTIONS,
    SEEDS,
    SETTING_WORDS,
    has_lines_for,
    how_to,
    in_language,
    language_of_sheet,
    setting_called,
    setting_meant,
    sheet_called,
    sheets_by_name,
    what_it_is,
)

RECORDS = "items.jsonl"
_TOP = ("kind", "regions")
"""Settings at the top level of suite.toml, which *about* names without a table."""

SETTINGS = (
    *("name", "version", "language", "phenomenon", "license", "citation", "status", "author"),
    *("reference", "comment", "tags", "kind", "regions"),
)
"""The settings that *about* has a row for, in order, whether a suite has them or not."""
_LISTS = ("tags", "regions")
_HEADERS = (
    *("setting", *DESCRIBED["setting"].values()),
    *("impostazione", "ajuste", "parámetro", "параметр"),
)
_FORMULA = ("name", "formula", "comment")
_FORMULA_WORDS = {
    word: name for word, name in DESCRIBED_WORDS.items() if name in (*_FORMULA, MORE)
} | {"имя": "name"}
_JSON_BEGINS = re.compile(r'[\[{"\-0-9]|(?:true|false|null|Infinity|NaN)$')
_NUMBERED = re.compile(r"(.+) ([1-9][0-9]*)")


def suite_sheets(path: Path) -> dict[str, str]:
    """What the sheets of a suite's workbook are called, by their names in English.

    Empty for any other path.
    """
    if path.suffix.lower() != ".xlsx" or path.name.startswith("~$") or not path.is_file():
        return {}
    return sheets_by_name(sheet_names(read_bytes(path)))


def fold(folder: Path, path: Path, *, language: str = ENGLISH) -> Path:
    """Write a suite folder as one workbook.

    Args:
        folder: a suite folder written by a paradigm.
        path: path of the workbook.
        language: the language of what cimento itself writes in it, the headings of the items
            included; see `cimento.suites.workbook_words`.

    Raises:
        InputError: the folder has other files, or a text that cells cannot hold.
        StorageError: the workbook cannot be written.
    """
    written = in_language(folder_sheets(folder), language, with_items=True)
    items = sheet_called(ITEMS, language)
    numbers = {items: _numbers(written[items])}
    return write_bytes(write_sheets(written, where=str(path), numbers=numbers), path)


def _numbers(rows: Sequence[Sequence[str]]) -> set[int]:
    """The columns of the items whose cells a workbook stores as numbers."""
    head, *body = rows
    cells = {name: [row[n] for row in body] for n, name in enumerate(head)}
    return number_columns(head, Table("", tuple(head), (), cells))


def folder_sheets(folder: Path) -> dict[str, list[list[str]]]:
    """The rows of each sheet of a suite folder's workbook, by the sheet's name.

    Args:
        folder: a suite folder written by a paradigm.

    Raises:
        InputError: the folder has files or fields that no workbook can hold.
        SuiteError: a table is in no encoding that is known.
    """
    known = {TOML, f"{ITEMS}.tsv", f"{SEEDS}.tsv", RECORDS}
    if others := sorted({file.name for file in folder.iterdir()} - known):
        raise InputError(where=str(folder), seen=f"has {others[0]}, which no workbook can hold")
    settings = read_toml(folder / TOML)
    predictions = settings.pop(PREDICTIONS, [])
    if not _are_records(predictions):
        settings[PREDICTIONS], predictions = predictions, []
    meta = settings.get("meta")
    language = meta.get("language") if isinstance(meta, dict) else ""
    with reading_language(language if isinstance(language, str) else ""):
        sheets = {ABOUT: list(_about(settings)), ITEMS: _items(folder)}
        if (folder / f"{SEEDS}.tsv").exists():
            sheets[SEEDS] = _table_rows(folder / f"{SEEDS}.tsv")
    sheets[PREDICTIONS] = list(_prediction_rows(predictions))
    of_sentences = "pairs" if {"good", "bad"} <= {*sheets[ITEMS][0]} else "sentences"
    sheets[HOW_TO] = how_to(has_lines_for(settings.get("kind")) or of_sentences)
    return sheets


def _are_records(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(element, dict) and element for element in value
    )


def unfold(path: Path, folder: Path) -> None:
    """Write the content of a workbook as a suite folder, in which tables are workbooks.

    Raises:
        InputError: there is no sheet *items*.
        SuiteError: a sheet cannot be read.
        StorageError: the folder cannot be written.
    """
    import tomli_w

    data = read_bytes(path)
    names = sheet_names(data)
    sheets = sheets_by_name(names)
    if ITEMS not in sheets:
        others = [name for name in names if name not in sheets.values()]
        wanted = sheet_called(ITEMS, language_of_sheet(sheets[ABOUT]))
        raise InputError(
            where=str(path),
            seen=f"has a sheet {sheets[ABOUT]!r} and no sheet {wanted!r}",
            todo=f"Call the sheet with the sentences {wanted}"
            + (f": it may be {others[0]!r}." if others else "."),
        )
    settings = _settings(_sheet(data, ABOUT, path))
    if PREDICTIONS in sheets:
        predictions = list(_predictions(_sheet(data, PREDICTIONS, path)))
        settings.update({PREDICTIONS: predictions} if predictions else {})
    write_text(tomli_w.dumps(settings), folder / TOML)
    items = _sheet(data, ITEMS, path)
    is_record = any(map(_NUMBERED.fullmatch, items.columns)) and not items.find("item")
    if is_record and settings.get("kind") not in CLOZE_KINDS:
        write_text(_record_lines(items), folder / RECORDS)
    else:
        write_bytes(data, folder / f"{ITEMS}.xlsx")
    if SEEDS in sheets:
        write_bytes(data, folder / f"{SEEDS}.xlsx")


def place_in_workbook(where: str, path: Path, called: Mapping[str, str]) -> str:
    """A place in an unfolded folder in terms of the workbook: its name, the sheet, the row.

    Args:
        where: the place.
        path: path of the workbook.
        called: what its sheets are called, as `suite_sheets` gives it.
    """
    sheet_of = {TOML: ABOUT, RECORDS: ITEMS, f"{ITEMS}.xlsx": ITEMS, f"{SEEDS}.xlsx": SEEDS}
    for file, sheet in sheet_of.items():
        where = where.replace(file, f"{path.name}, sheet {called.get(sheet, sheet)},")
    return where.replace(",:", ":").removesuffix(",")


def advice_in_workbook(fault: Fault, called: Mapping[str, str]) -> str:
    """What to do about a fault, in terms of the sheets of a workbook in place of suite.toml.

    Args:
        fault: the fault.
        called: what the sheets are called, as `suite_sheets` gives it.
    """
    about = called.get(ABOUT, ABOUT)
    language = language_of_sheet(about)
    if fault.code == "CIM-S023":
        _, mark, example = fault.todo.partition(f" {EXAMPLE}")
        sheet = called.get(PREDICTIONS) or sheet_called(PREDICTIONS, language)
        return f'To have the items judged, add a row to the sheet "{sheet}".{mark}{example}'
    if fault.seen.startswith("A list should be here"):
        return "Write the values into one cell, with | between: short | long."
    todo = fault.todo.replace(", under [meta] in suite.toml", "")
    regions = setting_called("regions", language)
    todo = _SETTING.sub(
        lambda m: (
            f'{m[1]} {m[3]}, in the row "{setting_called(m[2], language)}" of the sheet "{about}"'
        ),
        todo,
    )
    todo = todo.replace("regions in suite.toml", f'the row "{regions}" of the sheet "{about}"')
    return todo.replace("suite.toml", f'the sheet "{about}"')


_SETTING = re.compile(r'(such as) (\w+) = "(\w+)"')
"""Advice on a setting of suite.toml, which is a row in a workbook."""


def _sheet(data: bytes, name: str, path: Path) -> Table:
    table, faults = read_suite_table(data, Path(f"{name}.xlsx"))
    if name == ABOUT and table is None and not errors(faults):
        return Table(name, (), (), {})
    if table is None or errors(faults):
        raise SuiteError(where=str(path), faults=faults)
    return table


# --- The sheet about


def _about(settings: Mapping[str, JsonValue]) -> Iterator[list[str]]:
    """A row for each setting; settings that rows cannot hold go into the last one as JSON."""
    yield ["setting", "value", "what it is"]
    meta = settings.get("meta", {})
    said: dict[str, JsonValue] = {}
    if isinstance(meta, dict):
        said = {name: meta[name] for name in SETTINGS if name in meta and name not in _TOP}
        said |= {name: value for name, value in meta.items() if _is_plain_name(name)}
    for name in _TOP:
        value = settings.get(name)
        if value is not None and isinstance(value, list if name in _LISTS else str):
            said[name] = value
    for table, values in settings.items():
        if table == "meta" or not isinstance(values, dict) or not _is_plain_name(table):
            continue
        if values and all(map(_is_plain_name, values)):
            said |= {f"{table}.{name}": value for name, value in values.items()}
    for name in dict.fromkeys((*SETTINGS, *said)):
        if name in said or name not in _TOP:
            # An unwritten known setting is an empty text, so its empty text has an empty cell.
            is_empty = name in SETTINGS and said.get(name, "") == ""
            cell = "" if is_empty else _cell(said[name], partial(_value_of, name))
            yield [name, cell, what_it_is(name)]
    if left := _left(settings, said):
        yield [MORE, json.dumps(left, ensure_ascii=False), what_it_is(MORE)]


def _left(settings: Mapping[str, JsonValue], said: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The settings that rows do not hold."""
    left: dict[str, JsonValue] = {}
    for name, value in settings.items():
        if name in _TOP and name in said:
            continue
        if name != "meta" and isinstance(value, dict):
            if not value or not all(f"{name}.{key}" in said for key in value):
                left[name] = value
        elif name == "meta" and isinstance(value, dict):
            rest = {key: child for key, child in value.items() if key not in said or key in _TOP}
            left.update({"meta": rest} if rest else {})
        else:
            left[name] = value
    return left


def _is_plain_name(name: str) -> bool:
    """Whether a name can be that of a row or column, which readers do not change."""
    words = {*SETTING_WORDS, *DESCRIBED_WORDS}
    reserved = {*_TOP, *_HEADERS, *words, MORE, "meta", "_extra", PREDICTIONS}
    return bool(name) and "." not in name and name == column_name(name) and name not in reserved


def _settings(table: Table) -> dict[str, Any]:
    """The settings of suite.toml, read from the rows of *about*."""
    settings: dict[str, Any] = {"meta": {}}
    for label, cell in _labeled(table):
        name = setting_meant(label)
        group, dot, key = name.partition(".")
        if label.casefold() in _HEADERS or not (label and cell):
            continue
        if name == MORE:
            _merge(settings, _value(cell))
        elif name in _TOP:
            settings[name] = _value_of(name, cell)
        else:
            table_name, key = (group, key) if dot else ("meta", name)
            settings.setdefault(table_name, {})[key] = _value_of(name, cell)
    return settings


def _labeled(table: Table) -> Iterator[tuple[str, str]]:
    """The first two cells of each row of *about*, including its header line."""
    for cells in (table.columns, *(row.cells.values() for row in table.rows)):
        label, cell, *_ = (*cells, "", "")
        yield label.strip(), cell.strip()


def _merge(settings: dict[str, Any], more: object) -> None:
    for name, value in more.items() if isinstance(more, dict) else ():
        if isinstance(value, dict) and isinstance(settings.get(name), dict):
            settings[name].update(value)
        else:
            settings[name] = value


# --- Values in cells


def _cell(value: JsonValue, read: Callable[[str], JsonValue] | None = None) -> str:
    """The cell of a value, which `_value` or another function reads back."""
    cell = value if isinstance(value, str) else ""
    if isinstance(value, list) and all(isinstance(element, str) for element in value):
        cell = " | ".join(map(str, value))
    is_read_back = cell and repr((read or _value)(cell)) == repr(value)
    return cell if is_read_back else json.dumps(value, ensure_ascii=False)


def _value_of(name: str, cell: str) -> JsonValue:
    """The value of a setting: text for settings of text, a list separated by bars, or else JSON."""
    if name.startswith(f"{COLUMNS}."):  # a heading, whatever it looks like
        return cell
    is_list = name in _LISTS and not cell.startswith("[")
    if is_list or (name not in SETTINGS and "|" in cell and not _JSON_BEGINS.match(cell)):
        return [part.strip() for part in cell.split("|")]
    if name in SETTINGS and name not in _LISTS and not cell.startswith('"'):
        return cell.strip()
    value: JsonValue = _value(cell)
    return value


def _value(cell: str) -> Any:  # noqa: ANN401  # anything JSON has
    """The value of a cell: JSON if it is valid, a number with a decimal comma, or else the text."""
    cell = cell.strip()
    if re.fullmatch(r"-?[0-9]+,[0-9]+", cell):
        return float(cell.replace(",", "."))
    try:
        return parse_json(cell) if _JSON_BEGINS.match(cell) else cell
    except ValueError:
        return cell


def _prediction_rows(predictions: Sequence[Mapping[str, JsonValue]]) -> Iterator[list[str]]:
    """A row for each prediction; fields without a column go into the last cell as JSON."""
    names = dict.fromkeys(name for prediction in predictions for name in prediction)
    others = [n for n in names if _is_plain_name(n) and n.casefold() not in _FORMULA_WORDS]
    columns = list(dict.fromkeys([*_FORMULA, *others]))
    has_more = bool(names.keys() - columns)
    yield [*columns, *([MORE] * has_more)]
    for prediction in predictions:
        rest = {k: v for k, v in prediction.items() if k not in columns}
        more = json.dumps(rest, ensure_ascii=False) if rest else ""
        yield [*(_field(prediction, name) for name in columns), *([more] * has_more)]


def _field(record: Mapping[str, JsonValue], name: str) -> str:
    """A field of a prediction; formulas and comments only lose surrounding blanks."""
    value = record.get(name)
    if name not in record:
        return ""
    if name in _FORMULA and isinstance(value, str) and value and value == value.strip():
        return json.dumps(value, ensure_ascii=False) if value[0] == '"' else value
    return _cell(value)


def _predictions(table: Table) -> Iterator[dict[str, Any]]:
    for row in table.rows:
        merged: dict[str, Any] = {}
        for column, cell in row.cells.items():
            name = _FORMULA_WORDS.get(column.casefold(), column)
            if name == MORE and cell.strip():
                _merge(merged, _value(cell))
            elif cell.strip():
                is_text = name in _FORMULA and not cell.startswith('"')
                merged[name] = cell.strip() if is_text else _value(cell)
        yield merged


# --- The sheet items


def _items(folder: Path) -> list[list[str]]:
    """The rows of the table of items, or of the records in its place."""
    if (folder / f"{ITEMS}.tsv").exists():
        return _table_rows(folder / f"{ITEMS}.tsv")
    records = open_json_lines(folder / RECORDS)
    stories = [story_row(record) for record in records]
    plain = [cells | _flat(rest) for cells, rest in filter(None, stories)]
    flat = plain if len(plain) == len(records) else [_flat(record) for record in records]
    columns = _columns(flat)
    rows = [columns, *([row.get(name, "") for name in columns] for row in flat)]
    read = [_record(dict(zip(columns, row, strict=True))) for row in rows[1:]]
    if repr([sorted(row.items()) for row in read]) != repr([sorted(e.items()) for e in records]):
        raise InputError(where=str(folder / RECORDS), seen="has fields that no sheet can hold")
    return rows


def _table_rows(path: Path) -> list[list[str]]:
    text, faults = decode_table(read_bytes(path), name=path.name)
    if text is None:
        raise SuiteError(where=path.name, faults=faults)
    return [*split_plain(text.removesuffix("\n"))]


def _flat(record: Mapping[str, JsonValue]) -> dict[str, str]:
    """A record as cells; a list of texts takes one cell for each text."""
    cells: dict[str, str] = {}
    for name, value in record.items():
        if isinstance(value, list) and value and all(isinstance(e, str) and e for e in value):
            cells |= {f"{name} {k}": _cell(element) for k, element in enumerate(value, start=1)}
        else:
            cells[name] = _cell(value)
    return cells


def _columns(flat: Iterable[Mapping[str, str]]) -> list[str]:
    """All columns in order, with the columns of a list next to each other."""
    names = list(dict.fromkeys(name for row in flat for name in row))
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        first.setdefault(_in_list(name)[0], place)

    def order(name: str) -> tuple[int, int]:
        listed, place = _in_list(name)
        return first[listed], place

    return sorted(names, key=order)


def _in_list(name: str) -> tuple[str, int]:
    """The list of which a column has an element, and its place; that of other columns is 0."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)


def _record_lines(table: Table) -> str:
    """The records of a sheet as lines, each on the line with the number of its row."""
    lines: list[str] = []
    meant = story_columns(table.columns)
    called = {name: column for column, name in meant.items()}
    for row in table.rows:
        lines += [""] * (row.number - 1 - len(lines))
        cells = {meant.get(column, column): cell for column, cell in row.cells.items()}
        record = _record(cells, where=table.where(row), called=called)
        lines.append(json.dumps(record, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def _record(
    cells: Mapping[str, str], *, where: str = "", called: Mapping[str, str] | None = None
) -> dict[str, JsonValue]:
    is_story = is_story_row(cells)
    record: dict[str, Any] = story_record(cells, where=where, called=called) if is_story else {}
    # "implausible" beside "implausible 2" is the first of that list, as people number columns.
    lists = {listed for listed, place in map(_in_list, cells) if place}
    for column, cell in cells.items():
        if not cell.strip() or (is_story and is_column_of_story(column)):
            continue
        listed = _in_list(column)[0]
        if listed in lists:
            record.setdefault(listed, []).append(_value(cell))
        else:
            record[column] = _value(cell)
    return record
