"""Plug-ins: models, readers and measures of other packages, found by their entry points.

A package names its plug-ins in its ``pyproject.toml``; docs/plugins.md has an example. They are
looked up only for a name that is not built in, so that they cost nothing until they are used, and
none can replace a built-in. A plug-in that cannot be used is skipped with a warning.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
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
    """The names of the plug-ins of installed packages, found without importing them."""
    return frozenset(entry.name for entry in _entries(group))


def find_plugin(
    group: PluginGroup,
    name: str,
    *,
    expected: str,
    is_right: Callable[[object], TypeGuard[PluginT]],
) -> PluginT | None:
    """The plug-in of a name; None where no package has it, or it cannot be used.

    If several packages use the same name, the first one by alphabet that can be used is taken.

    Args:
        group: the kind of plug-in.
        name: the name as the user gave it.
        expected: description of a right plug-in, for the warning.
        is_right: whether an object is a right plug-in.
    """
    for entry in _entries(group):
        if entry.name != name:
            continue
        try:
            plugin = entry.load()
        # Importing another package runs its code, which may fail in any way.
        except Exception as error:  # noqa: BLE001
            _warn_once(f"{_described(entry)} cannot be loaded ({_reason(error)})")
            continue
        if is_right(plugin):
            return plugin
        _warn_once(f"{_described(entry)} is not {expected}")
    return None


@contextlib.contextmanager
def blamed(group: PluginGroup, name: str, *, but: type[Exception] = CimentoError) -> Iterator[None]:
    """A context for running a plug-in, whose failures become an error that names it.

    Args:
        group: the kind of plug-in.
        name: its name.
        but: an exception that it may raise, besides those of `cimento.errors`.

    Raises:
        PluginError: it raised any other exception.
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


def _entries(group: PluginGroup) -> Sequence[EntryPoint]:
    return _entries_on(group, tuple(sys.path))


# Each look reads the metadata of all packages that are installed.
@functools.lru_cache(maxsize=64)
def _entries_on(group: PluginGroup, _path: tuple[str, ...]) -> Sequence[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=lambda entry: (entry.name, _package(entry)))


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
    # Unless logging is set up, Python writes this to standard error as it is.
    _LOG.warning("cimento: %s; it is skipped.", message)
