"""The native format: a folder with suite.toml and a table of items (docs/suite-format.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import Fault, did_you_mean
from cimento.files import read_bytes
from cimento.parsing import parse_json, parse_toml
from cimento.suites.faults import fault
from cimento.suites.model import Item, JsonValue, Meta, Prediction, Suite
from cimento.suites.readers.items import EXTRA, PAIR_PREDICTION, read_items
from cimento.suites.reading import Reading, decode, sha256_of, unusable
from cimento.suites.tables import read_table

if TYPE_CHECKING:
    from cimento.suites.schema import TomlSuite

TOML = "suite.toml"
TABLES = ("items.tsv", "items.csv", "items.xlsx", "items.txt")
META_KEYS = (
    "name", "version", "language", "phenomenon", "licence", "citation", "status", "author",
    "reference", "comment", "tags",
)  # fmt: skip
TOP_KEYS = ("regions", "meta", "options", "factors", "predictions", EXTRA)
OPTION_KEYS = ("metric", "join", "cluster", "leading_blank")
PREDICTION_KEYS = ("formula", "comment")


def read_native(folder: Path) -> Reading:
    """Read a suite folder.

    Args:
        folder: with suite.toml and a table of items.

    Raises:
        InputError: a file is missing or may not be read.
        SuiteError: no suite can be made of what the files hold.
    """
    toml = read_bytes(folder / TOML)
    table_path, faults = _find_table(folder)
    if table_path is None:
        raise unusable(folder, [*_parse_toml(toml)[1], *faults])
    items = read_bytes(table_path)
    settings, more = _parse_toml(toml)
    faults += more
    table, more = read_table(items, table_path)
    faults += more
    rows = None
    if table is not None:
        rows, more = read_items(table)
        faults += more
    if settings is None or rows is None:
        raise unusable(folder, faults)
    suite = _with_settings(rows.items(), settings, pairs=rows.pairs)
    return Reading(suite, sha256_of(toml, items), rows.places(), tuple(faults))


def _find_table(folder: Path) -> tuple[Path | None, list[Fault]]:
    found = [folder / name for name in TABLES if (folder / name).exists()]
    if len(found) == 1:
        return found[0], []
    names = ", ".join(path.name for path in found)
    seen = f"There are several tables: {names}." if found else "There is no table of items."
    todo = "Keep one of them." if found else f"Add one of {', '.join(TABLES)}."
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
        return None, [fault("CIM-S002", where=TOML, seen=f"Not TOML: {error}.", todo="Correct it.")]
    try:
        _decode_extras(parsed)
    except ValueError as error:
        seen = f"A key {EXTRA} does not hold JSON: {error}."
        return None, [fault("CIM-S003", where=TOML, seen=seen)]
    settings, faults = validate(TomlSuite, parsed, where=TOML)
    return settings, faults + (_misspelt(settings) if settings is not None else [])


def _decode_extras(parsed: dict[str, object]) -> None:
    """Replace the text under each key ``_extra`` by the JSON that it holds."""
    meta, predictions = parsed.get("meta"), parsed.get("predictions")
    for table in (parsed, meta, *(predictions if isinstance(predictions, list) else [])):
        if isinstance(table, dict) and isinstance(table.get(EXTRA), str):
            table[EXTRA] = parse_json(table[EXTRA])


def _misspelt(settings: TomlSuite) -> list[Fault]:
    """Unknown keys that are nearly known ones: ``license`` for ``licence``."""
    groups = [
        ("", settings.rest(), TOP_KEYS),
        ("[meta] ", settings.meta.rest(), (*META_KEYS, EXTRA)),
        ("[options] ", settings.options.rest(), OPTION_KEYS),
        *(
            (f"[[predictions]] {number} ", prediction.rest(), (*PREDICTION_KEYS, EXTRA))
            for number, prediction in enumerate(settings.predictions, start=1)
        ),
    ]
    return [
        fault("CIM-S007", where=TOML, seen=f"The key {where}{key} is unknown.", todo=hint)
        for where, rest, known in groups
        for key in rest
        if key not in known and (hint := did_you_mean(key, known)).startswith("Did you mean")
    ]


def _extra(rest: dict[str, JsonValue]) -> dict[str, JsonValue]:
    kept = rest.pop(EXTRA, {})
    return {**rest, **(kept if isinstance(kept, dict) else {EXTRA: kept})}


def _with_settings(items: Sequence[Item], settings: TomlSuite, *, pairs: bool) -> Suite:
    known = {key: getattr(settings.meta, key) for key in META_KEYS if key != "tags"}
    meta = Meta(**known, tags=tuple(settings.meta.tags), extra=_extra(settings.meta.rest()))
    extra = _extra(settings.rest())
    if settings.options.rest():
        extra.setdefault("options", settings.options.rest())
    predictions = tuple(
        Prediction(each.formula, comment=each.comment, extra=_extra(each.rest()))
        for each in settings.predictions
    )
    if pairs and not predictions:
        predictions = (PAIR_PREDICTION,)
    return Suite(
        meta=meta,
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
