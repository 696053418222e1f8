"""The native format: a folder with suite.toml and a table of items (docs/formats.md)."""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise, repeat
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.errors import Fault, FormulaError, did_you_mean
from cimento.faults import errors, fault
from cimento.intake.decoding import decode, reading_language, unusable
from cimento.intake.labels import LABEL
from cimento.intake.reading import TableReading, with_role
from cimento.intake.roles import FORCED, ROLES, alone
from cimento.intake.table import Table
from cimento.intake.tables import is_spreadsheet, read_suite_table
from cimento.io.clusters import columns_named, columns_said
from cimento.io.files import read_bytes, write_lines, write_text
from cimento.io.parsing import parse_json, parse_toml
from cimento.io.values import grouped
from cimento.suites import (
    NOTHING,
    PAIR_PREDICTION,
    Item,
    ItemColumns,
    JsonValue,
    Meta,
    Prediction,
    Suite,
)
from cimento.suites.crossed import (
    CLUSTER,
    Arranged,
    crossed_columns,
    filled_down,
    named_by_levels,
    paired,
)
from cimento.suites.formats.items import escape, escaped, read_items, write_regions
from cimento.suites.formula import regions_used
from cimento.suites.level_words import island_factors, level_columns
from cimento.suites.reading import TOML, Reading, sha256_of
from cimento.suites.settings import (
    EXTRA,
    META_KEYS,
    OPTION_KEYS,
    PREDICTION_KEYS,
    PREDICTIONS,
    is_taken,
    key_faults,
)

if TYPE_CHECKING:
    from cimento.suites.schema import TomlMeta, TomlSuite


TABLES = ("items.tsv", "items.csv", "items.xlsx", "items.txt")
TOP_KEYS = ("regions", "meta", "options", "factors", "columns", "cells", "predictions", EXTRA)


def read_native(folder: Path) -> Reading:
    """Read a suite folder.

    Args:
        folder: a folder with suite.toml and a table of items.

    Raises:
        InputError: a file is missing or may not be read.
        SuiteError: the files do not make a suite.
    """
    toml = read_bytes(folder / TOML)
    table_path, faults = _find_table(folder)
    if table_path is None:
        raise unusable(folder, [*_parse_toml(toml)[1], *faults])
    data = read_bytes(table_path)
    settings, more = _parse_toml(toml)
    faults += more
    columns = settings.columns if settings is not None else {}
    faults += _unknown_roles(columns)
    with reading_language(settings.meta.language if settings is not None else "", columns):
        table, more = read_suite_table(data, table_path)
    faults += more
    rows, own, makers = None, tuple[str, ...](), tuple[str, ...]()
    if table is not None:
        own = tuple(map(table.shown, table.columns))
        table, more, makers = _with_conditions(table)
        faults += more
        rows, more = read_items(table, _named_conditions(settings))
        faults += more
    if settings is None or rows is None:
        raise unusable(folder, faults)
    items: Sequence[Item] = rows.items
    factors_known = settings.factors or _unpredicted(settings, items)
    if factors_known and (rows.wide or settings.cells):
        items = tuple(_with_levels(item, factors_known, settings.cells) for item in items)
    suite = _with_settings(items, settings, pairs=rows.pairs)
    factors: Collection[str] = settings.factors or makers
    if table is not None and not factors and not suite.predictions:
        # They are not a design yet, since nothing says which of their levels are plain.
        factors = crossed_columns(table, besides=table.find("condition") or "")
    read = with_role(_with_said_roles(rows.read, columns, own), "factors", factors)
    groups = (name for name in columns_named(settings.options.cluster) if name in own)
    read = with_role(read, "cluster", groups)
    return Reading(suite, sha256_of(toml, data), rows.places, tuple(faults), read)


def _with_conditions(table: Table) -> Arranged:
    """A table without a column of conditions, which the columns that are chosen for it make.

    These are two factors, or labels that tell the good sentences of items from the bad.
    """
    if table.find("condition"):
        return Arranged(table, [])
    if table.factors:
        return Arranged(named_by_levels(filled_down(table), table.factors), [], table.factors)
    made = paired(filled_down(table)) if LABEL in table.chosen else None
    if made is None:
        return Arranged(table, [])
    cells = dict(made.table.cells)
    if CLUSTER in cells:  # an item has a pair for each level, which is its phenomenon
        both = zip(cells["phenomenon"], cells[item := table.find("item") or ""], strict=True)
        cells[item] = ["-".join(parts) for parts in both]
    own = {table.shown(name) if name == LABEL else name: cells[name] for name in cells}
    return Arranged(made.table.with_cells(own), [*errors(made.faults)], made.makers)


def _with_said_roles(
    read: TableReading, columns: Mapping[str, str], own: Collection[str]
) -> TableReading:
    """What a table was read as, with the roles that suite.toml says of its columns.

    Args:
        read: what it was read as, with columns that were made of others.
        columns: the columns by their roles.
        own: the columns of the file.
    """
    there = {
        role: names
        for role, several in read.roles.items()
        if (names := tuple(name for name in several if name in own))
    }
    read = replace(read, roles=there, unused=tuple(name for name in read.unused if name in own))
    named = grouped((alone(role), name.removesuffix(FORCED)) for role, name in columns.items())
    for role, said in named.items():
        read = with_role(read, role, said)
    return read


def _unknown_roles(columns: Iterable[str]) -> list[Fault]:
    """The faults of roles in ``[columns]`` that there are not."""
    return [
        fault(
            "CIM-S007",
            where=f"{TOML}: columns.{role}",
            seen=f"There is no role {role!r} of a column.",
            todo=did_you_mean(role, ROLES),
        )
        for role in columns
        if role not in ROLES
    ]


def _unpredicted(settings: TomlSuite, items: Sequence[Item]) -> Mapping[str, Sequence[str]]:
    """The factors in the names of conditions about which nothing is predicted yet; may be empty."""
    names = dict.fromkeys(one.name for item in items for one in item.conditions)
    return {} if settings.predictions else island_factors([*names])


def _with_levels(
    item: Item, factors: Mapping[str, Sequence[str]], cells: Mapping[str, Sequence[str]]
) -> Item:
    """An item with the levels of its conditions, as ``[cells]`` says, or read from their names."""
    conditions = tuple(
        replace(
            condition,
            columns={
                **level_columns(condition.name, factors),
                **dict(zip(factors, cells.get(condition.name, ()), strict=False)),
                **condition.columns,
            },
        )
        for condition in item.conditions
    )
    return replace(item, conditions=conditions)


def _find_table(folder: Path) -> tuple[Path | None, list[Fault]]:
    tables = [folder / name for name in TABLES if (folder / name).exists()]
    if len(tables) == 1:
        return tables[0], []
    names = ", ".join(path.name for path in tables)
    seen = f"There are several tables: {names}." if tables else "There is no table of items."
    todo = "Keep one of them." if tables else f"Add one of {', '.join(TABLES)}."
    others = sorted(filter(is_spreadsheet, folder.iterdir()))
    if not tables and len(others) == 1:
        suffix = others[0].suffix.lower()
        seen = f"There is no table of items, but {others[0].name}."
        todo = f"If that is the table, rename it to items{suffix}."
        if f"items{suffix}" not in TABLES:
            todo = "If that is the table, save it in your spreadsheet program as items.xlsx."
    elif not tables and any(folder.glob("~$*")):
        seen = "There is no table of items, but the lock of an open workbook."
        todo = "Save the workbook in this folder as items.xlsx and close it."
    return None, [fault("CIM-S002", where=str(folder), seen=seen, todo=todo)]


# --- suite.toml


def _parse_toml(data: bytes) -> tuple[TomlSuite | None, list[Fault]]:
    from cimento.suites.schema import TomlSuite, validate

    text, faults = decode(data, name=TOML)
    if text is None:
        return None, faults
    try:
        parsed = parse_toml(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        todo = _with_quotes(text, error) or "Correct it."
        return None, [fault("CIM-S002", where=TOML, seen=f"Not TOML: {error}.", todo=todo)]
    try:
        _decode_extras(parsed)
    except ValueError as error:
        seen = f"A key {EXTRA} does not hold JSON: {error}."
        return None, [fault("CIM-S003", where=TOML, seen=seen)]
    settings, faults = validate(TomlSuite, parsed, where=TOML)
    return settings, [*faults, *key_faults(parsed)]


_UNQUOTED = re.compile(r"""\s*([\w-]+)\s*=\s*([^\s"'\[{#][^#"]*?)\s*(#.*)?""")


def _with_quotes(text: str, error: Exception) -> str:
    """Advice on a text without quotation marks; empty for other faults."""
    place = re.search(r"at line (\d+)", str(error))
    lines = text.splitlines()
    line = lines[int(place[1]) - 1] if place and int(place[1]) <= len(lines) else ""
    match = _UNQUOTED.fullmatch(line)
    return f'Put quotation marks around the text: {match[1]} = "{match[2]}".' if match else ""


def _named_conditions(settings: TomlSuite | None) -> list[str]:
    """The conditions that predictions name, in order; none if a prediction cannot be read."""
    formulas = [prediction.formula for prediction in settings.predictions] if settings else []
    try:
        return list(regions_used(formulas))
    except FormulaError:
        return []


def _decode_extras(parsed: dict[str, object]) -> None:
    """Replace the text under each key ``_extra`` by the JSON that it holds."""
    meta, predictions = parsed.get("meta"), parsed.get("predictions")
    for table in (parsed, meta, *(predictions if isinstance(predictions, list) else [])):
        if isinstance(table, dict) and isinstance(table.get(EXTRA), str):
            table[EXTRA] = parse_json(table[EXTRA])


def _extra(rest: dict[str, JsonValue]) -> dict[str, JsonValue]:
    kept = rest.pop(EXTRA, {})
    return {**rest, **(kept if isinstance(kept, dict) else {EXTRA: kept})}


def meta_of(table: TomlMeta) -> Meta:
    """The authors, the subject and the terms of a suite: its ``[meta]``."""
    texts = {key: getattr(table, key) for key in META_KEYS if key != "tags"}
    return Meta(**texts, tags=tuple(table.tags), extra=table.rest())


def meta_table(meta: Meta) -> dict[str, JsonValue]:
    """The known keys of ``[meta]`` for which a suite has a value."""
    known = {key: value for key in META_KEYS if (value := getattr(meta, key))}
    return known | ({"tags": [*meta.tags]} if meta.tags else {})


def _with_settings(items: Sequence[Item], settings: TomlSuite, *, pairs: bool) -> Suite:
    extra = _extra(settings.rest())
    if settings.options.rest():
        extra.setdefault("options", settings.options.rest())
    predictions = tuple(
        Prediction(
            prediction.formula,
            comment=prediction.comment,
            extra=_extra(prediction.rest()),
            name=prediction.name,
        )
        for prediction in settings.predictions
    )
    if pairs and not predictions:
        predictions = (PAIR_PREDICTION,)
    return Suite(
        meta=replace(meta_of(settings.meta), extra=_extra(settings.meta.rest())),
        region_names=tuple(settings.regions),
        predictions=predictions,
        items=items,
        metric=settings.options.metric,
        join=settings.options.join,
        cluster=settings.options.cluster,
        leading_blank=settings.options.leading_blank,
        factors={name: tuple(levels) for name, levels in settings.factors.items()},
        extra=extra,
    )


TABLE = "items.tsv"

_Object = dict[str, JsonValue]
_COLUMNS = ("item", "condition", "text", EXTRA)
_TOGETHER = 1 << 10
_TOML_INTEGERS = range(-(2**63), 2**63)


def write_native(suite: Suite, folder: Path) -> Path:
    """Write a suite as a folder with suite.toml and items.tsv.

    Raises:
        StorageError: the folder cannot be written.
    """
    import tomli_w

    write_text(tomli_w.dumps(_settings(suite)), folder / TOML)
    rows = map("\t".join, _rows(suite))
    # Many lines in one text are written faster.
    blocks = iter(lambda: list(islice(rows, _TOGETHER)), [])
    write_lines(("\n".join([*block, ""]) for block in blocks), folder / TABLE)
    return folder


def _settings(suite: Suite) -> _Object:
    """The contents of suite.toml, without values that equal their defaults."""
    usual = {"metric": "sum", "join": "blank", "cluster": (), "leading_blank": None}
    options: _Object = {
        key: value for key in OPTION_KEYS if (value := getattr(suite, key)) != usual[key]
    }
    if suite.cluster:
        options["cluster"] = cast("JsonValue", columns_said(suite.cluster))
    extra = dict(suite.extra)
    others = extra.get("options")
    if isinstance(others, dict) and others and _fits(others) and not _clash(others, usual):
        options.update(others)
        del extra["options"]
    settings: _Object = {
        "regions": list(suite.region_names),
        "meta": _table(meta_table(suite.meta), suite.meta.extra, META_KEYS, "meta"),
    }
    if options:
        settings["options"] = options
    if suite.factors:
        settings["factors"] = {factor: list(levels) for factor, levels in suite.factors.items()}
    if suite.predictions:
        settings["predictions"] = [_prediction(prediction) for prediction in suite.predictions]
    return _table(settings, extra, TOP_KEYS, "")


def _clash(options: _Object, usual: Collection[str]) -> bool:
    """Whether own options would be read as those that are known."""
    return any(key in usual or is_taken("options", key) for key in options)


def _prediction(prediction: Prediction) -> _Object:
    said: _Object = {"formula": prediction.formula}
    said |= {key: value for key in PREDICTION_KEYS if (value := getattr(prediction, key))}
    return _table(said, prediction.extra, PREDICTION_KEYS, PREDICTIONS)


def _table(
    said: _Object, extra: Mapping[str, JsonValue], known: Sequence[str], name: str
) -> _Object:
    """A table with the keys that were kept.

    Values that TOML lacks, and keys that would be read as mistakes, go under ``_extra`` as JSON.

    Args:
        said: the known keys and their values.
        extra: the others.
        known: the keys that the format defines.
        name: the name of the table; empty for the top of the file.
    """
    kept = {
        key: value
        for key, value in extra.items()
        if key not in known and key != EXTRA and _fits(value) and not is_taken(name, key)
    }
    aside = {key: value for key, value in extra.items() if key not in kept}
    return {**said, **kept, **({EXTRA: _json(aside)} if aside else {})}


def _fits(value: JsonValue) -> bool:
    """Whether TOML can hold a value: it has no null, and its integers have 64 bits."""
    if isinstance(value, dict | list):
        return all(map(_fits, value.values() if isinstance(value, dict) else value))
    if isinstance(value, int):
        return value in _TOML_INTEGERS
    return value is not None


def _rows(suite: Suite) -> Iterator[Sequence[str]]:
    """The rows of items.tsv as cells; the last column is present only if it is needed."""
    stimuli = suite.columns
    aside: dict[int, dict[str, str]] = {}
    columns: dict[str, list[str]] = {}
    for name, values in stimuli.free.items():
        cells = list(map(_cell_of(values).__getitem__, values))
        if not _can_be_column(name):
            cells = [""] * len(cells)
        for number in () if all(cells) else (n for n, cell in enumerate(cells) if not cell):
            if (value := values[number]) is not None:
                aside.setdefault(number, {})[name] = value
        if any(cells):
            columns[escape(name)] = cells
    ids = map(repeat, escaped(stimuli.ids), map(len, stimuli.shapes))
    names = stimuli.names
    head: dict[str, Iterable[str]] = {
        "item": chain.from_iterable(ids),
        "condition": escaped(names),
        "text": _region_cells(stimuli),
    }
    extras = _extras(stimuli, aside)
    if extras:
        columns[EXTRA] = [
            _json(extras[number]) if number in extras else "" for number in range(len(names))
        ]
    return chain([(*head, *columns)], zip(*head.values(), *columns.values(), strict=True))


def _cell_of(values: Iterable[str | None]) -> dict[str | None, str]:
    """Values to their cells. An empty cell means no value, and surrounding blanks are not kept."""
    return {
        value: escape(value) if value is not None and value == value.strip() else ""
        for value in set(values)
    }


def _region_cells(stimuli: ItemColumns) -> Iterable[str]:
    """The regions of each stimulus as a cell."""
    if stimuli.is_whole:
        return [cell.replace("|", "\\|") for cell in escaped(stimuli.texts)]
    return (
        write_regions((stimuli.texts[n], n in stimuli.glued) for n in range(begin, end))
        for begin, end in pairwise(stimuli.bounds)
    )


def _extras(stimuli: ItemColumns, aside: Mapping[int, Mapping[str, str]]) -> dict[int, _Object]:
    """The values that the other columns cannot hold, by stimulus.

    Args:
        stimuli: all stimuli.
        aside: the values of free columns that no cell can hold.
    """
    items = {
        stimuli.starts[number]: extra
        for number, extra in stimuli.item_extras.items()
        if stimuli.shapes[number]
    }
    regions = {bisect_right(stimuli.bounds, number) - 1 for number in stimuli.region_extras}
    extras: dict[int, _Object] = {}
    for number in sorted({*items, *stimuli.condition_extras, *regions, *aside}):
        extra = extras.setdefault(number, {})
        if number in items:
            extra["item"] = dict(items[number])
        if number in stimuli.condition_extras:
            extra["condition"] = dict(stimuli.condition_extras[number])
        if number in regions:
            places = range(stimuli.bounds[number], stimuli.bounds[number + 1])
            extra["regions"] = [dict(stimuli.region_extras.get(place, NOTHING)) for place in places]
        if number in aside:
            extra["columns"] = dict(aside[number])
    return extras


def _can_be_column(name: str) -> bool:
    return name not in _COLUMNS and bool(name) and name == name.strip()


def _json(value: Mapping[str, JsonValue]) -> str:
    return json.dumps(value, ensure_ascii=False)
