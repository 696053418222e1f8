"""The digest of a suite's content, which is the same whichever file the suite was read from."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from cimento.io.clusters import columns_said
from cimento.suites import ItemColumns, Meta, Prediction, Suite
from cimento.suites.stories import StorySuite

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"

_COUNTED: Mapping[type, tuple[str, ...]] = {Meta: (), Prediction: ("formula",)}
"""The fields of records of which only some change a result."""

_EXTRA, _PROVENANCE = "extra", "provenance"
_AT_ONCE = 4096
"""How many elements of a list become one piece of JSON."""


def content_digest(suite: object) -> str:
    """The SHA-256 of everything in a suite that may change a result, in hexadecimal.

    These are its items with all columns, its regions, the formulas of its predictions and its
    settings. Names, authors, terms and comments, and keys that a format keeps for writing, are left
    out, and so is the language, which may be given when the suite is run.

    Args:
        suite: a suite of any kind.

    Returns:
        The digest; empty for an object whose content is not known.
    """
    return _digest(suite, whole=False)


def whole_digest(suite: object) -> str:
    """The SHA-256 of a suite with everything that is shown of it; arguments as above."""
    return _digest(suite, whole=True)


def _digest(suite: object, *, whole: bool) -> str:
    if not dataclasses.is_dataclass(suite):
        return ""
    # What is beside the items, such as the kind of test and its scale, decides how to judge.
    extra = getattr(suite, _EXTRA, {})
    try:
        settings = {key: _plain(extra[key], whole=whole) for key in extra if key != _PROVENANCE}
        record: dict[str, Plain] = {**_record(suite, whole=whole)}
        digest = hashlib.sha256()
        for piece in itertools.chain("[", _pieces(record), [", "], _pieces(settings), "]"):
            digest.update(piece.encode("utf-8", "surrogatepass"))
    except TypeError:
        return ""
    return digest.hexdigest()


def _pieces(value: Plain) -> Iterator[str]:
    """The JSON text of a value in pieces: that of a long suite would double its memory."""
    if isinstance(value, dict) and len(value) <= _AT_ONCE:
        for number, key in enumerate(sorted(value)):
            yield f"{', ' if number else '{'}{_text(key)}: "
            yield from _pieces(value[key])
        yield "}" if value else "{}"
    elif isinstance(value, list) and len(value) > _AT_ONCE:
        for start in range(0, len(value), _AT_ONCE):
            yield (", " if start else "[") + _text(value[start : start + _AT_ONCE])[1:-1]
        yield "]"
    else:
        yield _text(value)


def _text(value: Plain) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _plain(value: object, *, whole: bool) -> Plain:
    """A value of a suite as JSON holds it; equal values give equal texts.

    Raises:
        TypeError: the value is of an unknown type.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, ItemColumns):
        return _columns(value, whole=whole)
    if isinstance(value, Mapping):
        return {str(key): _plain(child, whole=whole) for key, child in value.items()}
    if isinstance(value, Sequence):
        return [_plain(element, whole=whole) for element in value]
    if isinstance(value, frozenset | set):
        return sorted((_plain(element, whole=whole) for element in value), key=repr)
    if dataclasses.is_dataclass(value):
        return _record(value, whole=whole)
    raise TypeError(type(value).__name__)


def _record(record: object, *, whole: bool) -> dict[str, Plain]:
    """The fields of a record that count, without those in which equal records may differ."""
    names = [field.name for field in dataclasses.fields(record) if field.compare]  # type: ignore[arg-type]
    if not whole:
        names = [name for name in _COUNTED.get(type(record), names) if name != _EXTRA]
    plain = {name: _plain(getattr(record, name), whole=whole) for name in names}
    if isinstance(record, Suite):  # one cluster column is its name, as suite.toml has it
        plain["cluster"] = _plain(columns_said(record.cluster), whole=whole)
    if isinstance(record, StorySuite) and not record.cluster:
        del plain["cluster"]
    return plain


def _columns(items: ItemColumns, *, whole: bool) -> dict[str, Plain]:
    """Items as columns; a column that is empty in every row is none."""
    filled = {name: cells for name, cells in items.free.items() if any(cells)}
    plain: dict[str, Plain] = {
        "ids": list(items.ids),
        "shapes": [list(shape) for shape in items.shapes],
        "bounds": list(items.bounds),
        "texts": list(items.texts),
        "free": {name: [cell or "" for cell in cells] for name, cells in filled.items()},
        "glued": [*sorted(items.glued)],
    }
    extras = (items.item_extras, items.condition_extras, items.region_extras)
    return {**plain, "extras": [_plain(extra, whole=True) for extra in extras]} if whole else plain


def digest_of_values(suite: object) -> str:
    """The digest of a suite made in Python that has values of unknown types."""
    values: object = suite
    if dataclasses.is_dataclass(suite):  # what a suite shows as its repr is short
        values = [getattr(suite, field.name) for field in dataclasses.fields(suite)]
    return hashlib.sha256(repr(values).encode()).hexdigest()
