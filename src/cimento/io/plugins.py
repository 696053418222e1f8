"""Plug-ins: models, readers, measures and kinds of test of other packages.

A package names its plug-ins as entry points; docs/extending.md has an example. They are looked up
only for a name that is not built in, so that they cost nothing until they are used, and none can
replace a built-in. A plug-in that cannot be used is skipped with a warning.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from traceback import format_exception
from types import FunctionType, MappingProxyType, MethodType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard, TypeVar, cast

from cimento.errors import CimentoError, PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PluginGroup: TypeAlias = Literal[
    "cimento.models", "cimento.readers", "cimento.measures", "cimento.paradigms"
]
PluginT = TypeVar("PluginT")

_LOG = logging.getLogger("cimento")
_SHOWN = 300
_FUNCTIONS = (FunctionType, MethodType, functools.partial)


def plugin_names(group: PluginGroup) -> frozenset[str]:
    """The names of the plug-ins of installed packages, found without importing them."""
    return frozenset(entry.name for entry in _entries(group))


def proposed_names(group: PluginGroup) -> list[str]:
    """The names of plug-ins that a message may propose: none that was skipped."""
    return sorted(name for name in plugin_names(group) if not why_skipped(group, name))


@dataclass(frozen=True, slots=True)
class PluginPackage:
    """A package that a plug-in comes from, as it is installed.

    Attributes:
        package: its name.
        version: its version.
    """

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


def package_of_plugin(
    group: PluginGroup,
    name: str,
    *,
    expected: str,
    is_right: Callable[[object], TypeGuard[PluginT]],
) -> PluginPackage | None:
    """The package of the plug-in that `find_plugin` finds; None where it finds none.

    Args:
        group: the kind of plug-in.
        name: the name as the user gave it.
        expected: description of a right plug-in, for the warning.
        is_right: whether an object is a right plug-in.
    """
    found = _usable(group, name, expected, is_right)
    distribution = None if found is None else found[0].dist
    if distribution is None:
        return None
    return PluginPackage(distribution.name, distribution.version)


def find_plugin(
    group: PluginGroup,
    name: str,
    *,
    expected: str,
    is_right: Callable[[object], TypeGuard[PluginT]],
) -> PluginT | None:
    """The plug-in of a name; None where no package has it, or it cannot be used.

    If several packages use the same name, the first one by alphabet that can be used is taken, with
    a warning that names the others.

    Args:
        group: the kind of plug-in.
        name: the name as the user gave it.
        expected: description of a right plug-in, for the warning.
        is_right: whether an object is a right plug-in.
    """
    found = _usable(group, name, expected, is_right)
    return None if found is None else found[1]


def _usable(
    group: PluginGroup,
    name: str,
    expected: str,
    is_right: Callable[[object], TypeGuard[PluginT]],
) -> tuple[EntryPoint, PluginT] | None:
    """The first plug-in of a name that can be used, with its entry point."""
    entries = [entry for entry in _entries(group) if entry.name == name]
    for place, entry in enumerate(entries):
        try:
            plugin = entry.load()
        # Importing another package runs its code, which may fail in any way.
        except Exception as error:  # noqa: BLE001
            seen = f"{_described(entry)} cannot be loaded ({_reason(error)})"
            _skip(group, name, seen, error)
            continue
        if is_right(plugin):
            _SKIPPED.pop((group, name), None)
            others = {_package(other) for other in entries[place + 1 :]} - {_package(entry)}
            if others:
                _warn_once(
                    f"{_described(entry)} is used, and not that of {' or '.join(sorted(others))};"
                    " to choose, uninstall a package"
                )
            return entry, plugin
        _skip(group, name, f"{_described(entry)} is not {expected}")
    return None


def _skip(group: PluginGroup, name: str, seen: str, error: Exception | None = None) -> None:
    _SKIPPED[group, name] = seen
    shown = "".join(format_exception(error)) if error and os.environ.get("CIMENTO_DEBUG") else ""
    _warn_once(f"{seen}; it is skipped", shown)


_SKIPPED: dict[tuple[PluginGroup, str], str] = {}


def why_skipped(group: PluginGroup, name: str) -> str:
    """Why the plug-in of a name was skipped when it was looked for; empty where none was."""
    return _SKIPPED.get((group, name), "")


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


@contextlib.contextmanager
def blamed_for(
    group: PluginGroup, code: type, *, but: type[Exception] = CimentoError
) -> Iterator[None]:
    """A context like `blamed` for running a class of which only its module is known.

    Args:
        group: the kind of plug-in.
        code: the class; the plug-in is one whose entry point is in the same package.
        but: an exception that it may raise, besides those of `cimento.errors`.

    Raises:
        PluginError: it raised any other exception, and a plug-in of the group has such a package.
    """
    try:
        yield
    except (CimentoError, but):
        raise
    except Exception:
        package = code.__module__.partition(".")[0]
        entries = [e for e in _entries(group) if e.module.partition(".")[0] == package]
        nearest = min(entries, key=lambda e: e.module != code.__module__, default=None)
        if nearest is None:
            raise
        with blamed(group, nearest.name):
            raise


_NO_EXCEPTIONS: Mapping[str, type[Exception]] = MappingProxyType({})
# By the identity of the plug-in, which the value keeps alive: a plug-in need not be hashable.
_BLAMING: dict[int, _Blaming] = {}


def blaming(
    plugin: PluginT,
    group: PluginGroup,
    name: str,
    *,
    but: Mapping[str, type[Exception]] = _NO_EXCEPTIONS,
) -> PluginT:
    """A stand-in for a plug-in object, whose failing methods raise errors that name it.

    Every attribute is that of the plug-in. A method runs in `blamed`; so do the iterators and
    functions that it returns, alone or as fields of one of cimento's records. There is one
    stand-in for a plug-in.

    Args:
        plugin: the object of the entry point.
        group: the kind of plug-in.
        name: its name.
        but: by method, an exception that it may raise, besides those of `cimento.errors`.
    """
    made = _BLAMING.setdefault(id(plugin), _Blaming(plugin, group, name, but))
    return cast("PluginT", made)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Blaming:
    _plugin: object
    _group: PluginGroup
    _name: str
    _but: Mapping[str, type[Exception]]

    def __getattr__(self, name: str) -> object:
        with blamed(self._group, self._name, but=AttributeError):
            value = getattr(self._plugin, name)
        # A class, such as the one of its options, is not a method.
        if isinstance(value, type) or not callable(value):
            return value
        return self._watched(value, self._but.get(name, CimentoError))

    def __repr__(self) -> str:
        return repr(self._plugin)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _again, (self._plugin, self._group, self._name, dict(self._but))

    def _watched(
        self, function: Callable[..., object], but: type[Exception]
    ) -> Callable[..., object]:
        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> object:
            with blamed(self._group, self._name, but=but):
                result = function(*args, **kwargs)
            return self._later(result, but)

        return call

    def _later(self, result: object, but: type[Exception]) -> object:
        """A result, with what runs only when it is used blamed too."""
        if isinstance(result, _FUNCTIONS):
            return self._watched(result, but)
        if isinstance(result, Iterator):
            return self._steps(result, but)
        if is_dataclass(result) and type(result).__module__.startswith("cimento."):
            lazy = {
                field.name: self._later(value, but)
                for field in fields(result)
                if field.init and _runs_later(value := getattr(result, field.name))
            }
            return replace(cast("Any", result), **lazy) if lazy else result
        return result

    def _steps(self, steps: Iterator[object], but: type[Exception]) -> Iterator[object]:
        with blamed(self._group, self._name, but=but):
            yield from steps


def _again(
    plugin: object, group: PluginGroup, name: str, but: Mapping[str, type[Exception]]
) -> object:
    return blaming(plugin, group, name, but=but)


def _runs_later(value: object) -> bool:
    return isinstance(value, (*_FUNCTIONS, Iterator))


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
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()[:_SHOWN]}"


@functools.cache
def _warn_once(message: str, traceback: str = "") -> None:
    # Unless logging is set up, Python writes this to standard error as it is.
    _LOG.warning("%scimento: %s.", traceback, message)
