"""Registries of published sets: our own, and files of users in the same form.

A registry is TOML with a table for each set, whose keys are those of `PublishedDataset`; the
comment at the top of ``data/published.toml`` describes them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path

from cimento.errors import InputError, need_known
from cimento.io.files import read_utf8
from cimento.io.parsing import parse_toml
from cimento.suites.published import PublishedDataset, frozen, published

_FIELDS = {one.name: one for one in fields(PublishedDataset) if one.name != "name"}
_REQUIRED = tuple(
    name
    for name, one in _FIELDS.items()
    if one.default is MISSING and one.default_factory is MISSING
)
_WAYS = ("hub", "archive", "files", "zenodo", "by_hand")
_KINDS = {"tuple": (list, "a list"), "str": (str, "a text"), "Mapping": (dict, "a table")}


def read_registry(path: Path | None) -> Mapping[str, PublishedDataset]:
    """The entries of a registry by name.

    Args:
        path: a registry in the form of our own; None for ours.

    Raises:
        InputError: it cannot be read, or an entry lacks a key, has an unknown one, or a value of
            another type.
    """
    if path is None:
        return published()
    try:
        tables = parse_toml(read_utf8(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(where=str(path), seen=f"is not TOML ({error})") from error
    return {name: _entry(table, name=name, path=path) for name, table in tables.items()}


def _entry(table: object, *, name: str, path: Path) -> PublishedDataset:
    where = f"{path}, {name}"
    if not isinstance(table, dict):
        raise InputError(where=where, seen="is not a table", todo=f"Write [{name}] above its keys.")
    for key, value in table.items():
        need_known(key, _FIELDS, where=where, seen=f"has an unknown key {key!r}", error=InputError)
        kind, called = _KINDS[str(_FIELDS[key].type).partition("[")[0]]
        if not isinstance(value, kind):
            raise InputError(where=f"{where}, {key}", seen=f"got {value!r}", todo=f"Give {called}.")
    lacking = [key for key in _REQUIRED if not table.get(key)]
    if lacking:
        raise InputError(where=where, seen=f"has no {lacking[0]}", todo="Add it.")
    if sum(bool(table.get(way)) for way in _WAYS) != 1:
        raise InputError(where=where, seen="has not one source", todo=f"Give one of {_WAYS}.")
    return PublishedDataset(name=name, **frozen(table))
