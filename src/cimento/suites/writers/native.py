"""The native format: suite.toml and items.tsv (docs/suite-format.md), without loss."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cimento.files import write_text
from cimento.suites.model import NOTHING, Condition, Item, JsonValue, Prediction, Suite
from cimento.suites.notation import escape, write_regions
from cimento.suites.readers.items import EXTRA
from cimento.suites.readers.native import META_KEYS, OPTION_KEYS, PREDICTION_KEYS, TOML, TOP_KEYS

TABLE = "items.tsv"

_Object = dict[str, JsonValue]
_COLUMNS = ("item", "condition", "text", EXTRA)
_TOML_INTEGERS = range(-(2**63), 2**63)


def write_native(suite: Suite, folder: Path) -> Path:
    """Write a suite as a folder with suite.toml and items.tsv.

    Raises:
        StorageError: the folder cannot be written.
    """
    import tomli_w

    write_text(tomli_w.dumps(_settings(suite)), folder / TOML)
    write_text("".join("\t".join(row) + "\n" for row in _rows(suite)), folder / TABLE)
    return folder


def _settings(suite: Suite) -> _Object:
    """What suite.toml says; what is as it would be without saying is left out."""
    meta: _Object = {
        key: value for key in META_KEYS if key != "tags" and (value := getattr(suite.meta, key))
    }
    if suite.meta.tags:
        meta["tags"] = list(suite.meta.tags)
    usual = {"metric": "sum", "join": "blank", "cluster": "", "leading_blank": None}
    options: _Object = {
        key: value for key in OPTION_KEYS if (value := getattr(suite, key)) != usual[key]
    }
    extra = dict(suite.extra)
    others = extra.get("options")
    if isinstance(others, dict) and others and _fits(others) and not others.keys() & usual:
        options.update(others)
        del extra["options"]
    settings: _Object = {
        "regions": list(suite.region_names),
        "meta": _table(meta, suite.meta.extra, META_KEYS),
    }
    if options:
        settings["options"] = options
    if suite.factors:
        settings["factors"] = {factor: list(levels) for factor, levels in suite.factors.items()}
    if suite.predictions:
        settings["predictions"] = [_prediction(each) for each in suite.predictions]
    return _table(settings, extra, TOP_KEYS)


def _prediction(prediction: Prediction) -> _Object:
    said: _Object = {"formula": prediction.formula}
    if prediction.comment:
        said["comment"] = prediction.comment
    return _table(said, prediction.extra, PREDICTION_KEYS)


def _table(said: _Object, extra: Mapping[str, JsonValue], known: Sequence[str]) -> _Object:
    """A table with the keys that were kept; what TOML cannot say goes under ``_extra``, as JSON."""
    kept = {
        key: value
        for key, value in extra.items()
        if key not in known and key != EXTRA and _fits(value)
    }
    aside = {key: value for key, value in extra.items() if key not in kept}
    return {**said, **kept, **({EXTRA: _json(aside)} if aside else {})}


def _fits(value: JsonValue) -> bool:
    """Whether TOML can hold a value: it has no null, and its integers have 64 bits."""
    if isinstance(value, dict):
        return all(_fits(each) for each in value.values())
    if isinstance(value, list):
        return all(_fits(each) for each in value)
    if isinstance(value, int):
        return value in _TOML_INTEGERS
    return value is not None


def _rows(suite: Suite) -> Iterator[list[str]]:
    """The lines of items.tsv, cell by cell; the last column is there only where it is needed."""
    cells = _Cells()
    held: dict[str, bool] = {}
    extras = [
        _extra(item if index == 0 else None, condition, cells, held)
        for item in suite.items
        for index, condition in enumerate(item.conditions)
    ]
    columns = [name for name, is_held in held.items() if is_held]
    with_extra = any(extras)
    yield [*_COLUMNS[:3], *map(escape, columns), *([EXTRA] if with_extra else [])]
    for (item, condition), extra in zip(suite.stimuli(), extras, strict=True):
        value_of = condition.columns.get
        row = [escape(item.id), escape(condition.name), write_regions(condition.regions)]
        row += [cells[value_of(name, "")] for name in columns]
        if with_extra:
            row.append(_json(extra) if extra else "")
        yield row


class _Cells(dict[str, str]):
    """Values as cells; an empty cell is no value, and blanks at the ends of one are not kept."""

    def __missing__(self, value: str) -> str:
        cell = self[value] = escape(value) if value == value.strip() else ""
        return cell


def _extra(
    item: Item | None, condition: Condition, cells: _Cells, held: dict[str, bool]
) -> Mapping[str, JsonValue]:
    """What the other columns of a row cannot hold.

    Args:
        item: where the row is its first.
        condition: of the row.
        cells: values as cells, as far as they are known.
        held: column to whether any row has a value that a cell can hold.
    """
    columns = {}
    for name, value in condition.columns.items():
        if not (cells[value] and (held.get(name) or _can_be_column(name))):
            columns[name] = value
            held.setdefault(name, False)
        elif not held.get(name):
            held[name] = True
    extra: _Object = {}
    if item is not None and item.extra:
        extra["item"] = dict(item.extra)
    if condition.extra:
        extra["condition"] = dict(condition.extra)
    if any(region.extra for region in condition.regions):
        extra["regions"] = [dict(region.extra) for region in condition.regions]
    if columns:
        extra["columns"] = dict(columns)
    return extra or NOTHING


def _can_be_column(name: str) -> bool:
    return name not in _COLUMNS and bool(name) and name == name.strip()


def _json(value: Mapping[str, JsonValue]) -> str:
    return json.dumps(value, ensure_ascii=False)
