"""The keys of suite.toml, table by table: which are known, and where a misplaced one belongs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields

from cimento.errors import Fault, did_you_mean
from cimento.faults import fault
from cimento.suites import Meta
from cimento.suites.reading import TOML

EXTRA = "_extra"
"""The key, and column of items, with JSON of values that have no other place."""
META_KEYS = tuple(field.name for field in fields(Meta) if field.name != "extra")
OPTION_KEYS = ("metric", "join", "cluster", "leading_blank")
PREDICTION_KEYS = ("formula", "name", "comment")
PREDICTIONS = "predictions"

_TABLES: Mapping[str, Collection[str]] = {
    "": (
        "kind", "regions", "meta", "options", "factors", PREDICTIONS, "ratings", "design",
        "licensing", "explain", "provenance", "asked_about", EXTRA,
    ),
    "meta": (*META_KEYS, "canary", "reviewed_by", EXTRA),
    "options": OPTION_KEYS,
    PREDICTIONS: (*PREDICTION_KEYS, EXTRA),
    "ratings": ("low", "high", "by"),
    "design": ("unacceptable", "windows"),
    "licensing": ("filler", "gap", "island"),
}  # fmt: skip
"""The known keys of each table; the empty name is the top of the file."""
_OWN_WORDS = {*_TABLES["licensing"], *_TABLES["design"], "by"}
"""Keys that an author may also have given to a table for a purpose of their own."""


def key_faults(settings: Mapping[str, object]) -> list[Fault]:
    """The faults of keys that have no effect: known in another table, or misspelled.

    Other unknown keys are the author's own, and are kept.

    Args:
        settings: the content of suite.toml, of a suite of any kind.
    """
    return list(_faults(settings))


def is_taken(table: str, key: str) -> bool:
    """Whether an own key of a table would be read as a mistake.

    Args:
        table: the name of the table; empty for the top of the file.
        key: the key.
    """
    return _advice(table, key) != ""


def _faults(settings: Mapping[str, object]) -> Iterator[Fault]:
    for table in _TABLES:
        for shown, content in _contents(settings, table):
            for key in content:
                if todo := _advice(table, key):
                    seen = f"The key {shown}{key} is unknown, so it has no effect."
                    yield fault("CIM-S007", where=TOML, seen=seen, todo=todo)


def _contents(
    settings: Mapping[str, object], table: str
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The tables of a name, each with the way in which it is shown before a key."""
    if not table:
        yield "", settings
        return
    content = settings.get(table)
    if table == PREDICTIONS:
        for number, entry in enumerate(content if isinstance(content, list) else [], start=1):
            if isinstance(entry, dict):
                yield f"[[{PREDICTIONS}]] {number} ", entry
    elif isinstance(content, dict):
        yield f"[{table}] ", content


def _advice(table: str, key: str) -> str:
    """What to do about a key of a table; empty for known keys and for the author's own."""
    if key in _TABLES[table]:
        return ""
    homes = [name for name in _TABLES if key in _TABLES[name] and name != table]
    if homes and not (table and key in _OWN_WORDS):
        return f"Write it {_place(homes[0], key)}."
    hint = did_you_mean(key, _TABLES[table])
    return hint if hint.startswith("Did you mean") else ""


def _place(table: str, key: str) -> str:
    """Where a key belongs, in words."""
    if table == PREDICTIONS:
        return f"under one of [[{PREDICTIONS}]]"
    if table:
        return f"under [{table}]"
    is_table = key not in ("kind", "regions", EXTRA)
    return (
        f"as a table of its own, [{key}]"
        if is_table
        else "at the top of the file, above all names in brackets"
    )
