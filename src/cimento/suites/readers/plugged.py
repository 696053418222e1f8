"""Readers that other packages bring: one for each suffix of a file, which is its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias, TypeGuard

from cimento.plugins import blamed, find_plugin, plugin_names
from cimento.suites.reading import Reading

Reader: TypeAlias = Callable[[Path], Reading]


def plugged_reader(suffix: str) -> Reader | None:
    """What reads files of a suffix (``.conllu``), where a plug-in brings it."""
    name = _name(suffix)
    found = find_plugin("cimento.readers", name, expected="a function", is_right=_is_reader)
    if found is None:
        return None

    def read(path: Path) -> Reading:
        with blamed("cimento.readers", name):
            reading = found(path)
            if not isinstance(reading, Reading):
                raise TypeError(f"it gave {type(reading).__name__!r} and not a Reading")
            return reading

    return read


def plugged_suffixes(suffixes: Iterable[str]) -> set[str]:
    """Which of some suffixes have a reader among the plug-ins; nothing is loaded."""
    asked = {suffix.lower() for suffix in suffixes if suffix}
    names = plugin_names("cimento.readers") if asked else frozenset()
    return {suffix for suffix in asked if _name(suffix) in names}


def _name(suffix: str) -> str:
    return suffix.lower().removeprefix(".")


def _is_reader(value: object) -> TypeGuard[Reader]:
    return callable(value)
