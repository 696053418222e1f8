"""The types that signatures of public names name, as the source says, without running it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

import griffe
from cells import ROOT

_SENTENCE = re.compile(r"(?<=[.!?])(?<!\be\.g\.) (?=[A-Z`])")
_NO_TYPES = ("TypeVar", "ParamSpec")


def types_named_by(paths: Iterable[str]) -> list[str]:
    """The types of cimento that the signatures of these objects name.

    Args:
        paths: dotted paths of functions, classes and constants.

    Returns:
        path of each type, where it is written, in the order of their names.
    """
    named = {type_ for path in paths for type_ in _types(_found(path))}
    return sorted(named, key=lambda path: (path.rpartition(".")[2].lower(), path))


def written_at(path: str) -> str:
    """The path of the object where it is written, which may be imported elsewhere."""
    found = _found(path)
    return path if found is None else found.path


def summary(path: str) -> str:
    """The first sentence about an object; empty where nothing is said of it."""
    found = _found(path)
    said = found.docstring.value if found is not None and found.docstring is not None else ""
    first = " ".join(said.partition("\n\n")[0].split())
    return _SENTENCE.split(first, maxsplit=1)[0]


def is_module(path: str) -> bool:
    """Whether an object is a module, which has no entry of its own."""
    return isinstance(_found(path), griffe.Module)


@functools.cache
def _found(path: str) -> griffe.Object | None:
    """The object of a path where it is written; None for a name of another package."""
    try:
        found = _package().modules_collection.get_member(path)
        return found.final_target if isinstance(found, griffe.Alias) else found
    except (KeyError, griffe.GriffeError):
        return None


@functools.cache
def _package() -> griffe.Object | griffe.Alias:
    return griffe.load("cimento", search_paths=[ROOT / "src"])


def _types(owner: griffe.Object | None) -> Iterator[str]:
    """The paths of the types that the signature of an object names."""
    for expression in _expressions(owner):
        for part in expression.iterate(flat=True):
            if isinstance(part, griffe.ExprName) and part.canonical_path.startswith("cimento."):
                found = _found(part.canonical_path)
                if found is not None and _is_type(found):
                    yield found.path


def _expressions(owner: griffe.Object | griffe.Alias | None) -> Iterator[griffe.Expr]:
    """The annotations of an object and of its public members; of an alias, what it is for."""
    written: list[object] = []
    if isinstance(owner, griffe.Function):
        written = [*(parameter.annotation for parameter in owner.parameters), owner.returns]
    elif isinstance(owner, griffe.Attribute):
        written = [owner.value if _is_type(owner) else owner.annotation]
    elif isinstance(owner, griffe.Class):
        written = [*owner.bases]
        for name, member in owner.members.items():
            if not name.startswith("_") or name == "__init__":
                yield from _expressions(member)
    yield from (one for one in written if isinstance(one, griffe.Expr))


def _is_type(found: griffe.Object) -> bool:
    """Whether it is a class or another name for a type."""
    if isinstance(found, griffe.Attribute) and not found.name.isupper():
        value = found.value
        is_variable = isinstance(value, griffe.ExprCall) and str(value.function) in _NO_TYPES
        return isinstance(found.parent, griffe.Module) and not is_variable
    return isinstance(found, griffe.Class) and not found.name.startswith("_")
