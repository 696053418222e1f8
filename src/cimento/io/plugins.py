"""Models, readers and measures of other packages, found by their entry points.

A package names them in its ``pyproject.toml``; docs/plugins.md has an example. They are looked for
only when a name is none of cimento's own, so that they cost nothing until they are used and none
can replace a built-in one. A plug-in that cannot be used is skipped with a warning.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeGuard, TypeVar

from cimento.errors import CimentoError, PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PluginGroup: TypeAlias = Literal[
    "cimento.models", "cimento.readers", "cimento.measures", "cimento.paradigms"
]
PluginT = TypeVar("PluginT")

_LOG = logging.getLogger("cimento")
_SHOWN = 300


def plugin_names(group: PluginGroup) -> frozenset[str]:
    """The names of what the installed packages bring; nothing is imported."""
    return frozenset(entry.name for entry in _entries(group))


def find_plugin(
    group: PluginGroup,
    name: str,
    *,
    expected: str,
    is_right: Callable[[object], TypeGuard[PluginT]],
) -> PluginT | None:
    """What an installed package brings under a name; None where none does, or it cannot be used.

    Where several packages bring the same name, the first by alphabet that can be used is taken.

    Args:
        group: what is looked for.
        name: as the user gave it.
        expected: what it must be, in words.
        is_right: whether it is that.
    """
    for entry in _entries(group):
        if entry.name != name:
            continue
        try:
            found = entry.load()
        # Importing another's package runs its code, which may fail in any way.
        except Exception as error:  # noqa: BLE001
            _warn_once(f"{_described(entry)} cannot be loaded ({_reason(error)})")
            continue
        if is_right(found):
            return found
        _warn_once(f"{_described(entry)} is not {expected}")
    return None


@contextlib.contextmanager
def blamed(group: PluginGroup, name: str, *, but: type[Exception] = CimentoError) -> Iterator[None]:
    """While a plug-in runs: its own mistakes become an error that names it.

    Args:
        group: what the plug-in is.
        name: its name.
        but: what it may raise, besides the exceptions of `cimento.errors`.

    Raises:
        PluginError: it failed in a way that is not one of `cimento.errors`.
    """
    try:
        yield
    except (CimentoError, but):
        raise
    except Exception as error:
        raise PluginError(
            where=f"the plug-in {name!r} of {_packages(group, name)}",
            seen=f"it failed ({_reason(error)})",
            todo="Please tell its author; CIMENTO_DEBUG=1 shows where it happened.",
        ) from error


def _entries(group: PluginGroup) -> Iterator[EntryPoint]:
    from importlib.metadata import entry_points

    yield from sorted(entry_points(group=group), key=lambda entry: (entry.name, _package(entry)))


def _described(entry: EntryPoint) -> str:
    return f"the plug-in {entry.name!r} of {_package(entry)}"


def _packages(group: PluginGroup, name: str) -> str:
    return " or ".join(dict.fromkeys(_package(e) for e in _entries(group) if e.name == name))


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown package"


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()[:_SHOWN]}"


@functools.cache
def _warn_once(message: str) -> None:
    # Where nobody set up logging, Python writes warnings to standard error as they are.
    _LOG.warning("cimento: %s; it is skipped.", message)
