"""Signatures without names that a reader cannot import: what such a name stands for is there."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import griffe

UNSAID = "..."
"""What a signature has instead of a value that is made by a private function."""


class PrivateNames(griffe.Extension):
    """Replaces private names of modules in annotations, defaults and values of public objects.

    A parameter that is unused, which a leading underscore marks, has its name without the mark.
    """

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
        """Go through all objects of the package."""
        for found in _objects(pkg):
            if isinstance(found, griffe.Function):
                for parameter in found.parameters:
                    parameter.name = parameter.name.lstrip("_") or parameter.name
                    parameter.annotation = _public(parameter.annotation)
                    parameter.default = _public(parameter.default)
                found.returns = _public(found.returns)
            elif isinstance(found, griffe.Attribute):
                found.annotation = _public(found.annotation)
                found.value = _public(found.value)


def private_names(expression: object) -> list[str]:
    """The private names of modules in an expression."""
    if not isinstance(expression, griffe.Expr):
        return []
    parts = expression.iterate(flat=True)
    return [part.name for part in parts if isinstance(part, griffe.ExprName) and _meant(part)]


def _objects(owner: griffe.Module | griffe.Class) -> Iterable[griffe.Object]:
    for member in owner.members.values():
        if not isinstance(member, griffe.Alias):
            yield member
            if isinstance(member, griffe.Module | griffe.Class):
                yield from _objects(member)


def _public(value: object) -> object:
    """An expression without private names; anything else as it is."""
    match value:
        case list() | tuple():
            public: object = type(value)(_public(part) for part in value)
        case griffe.ExprName() if meant := _meant(value):
            public = _public(_value_of(meant))
        case griffe.ExprParameter():
            public = dataclasses.replace(value, name=value.name.lstrip("_") or value.name)
        case griffe.ExprKeyword() if private_names(value.value):
            public = _made(value)
        case griffe.ExprCall() if private_names(value.function):
            public = UNSAID
        case griffe.ExprSubscript() if value.canonical_path == "typing.Annotated":
            public = _annotated(value)
        case griffe.Expr():
            public = _within(value)
        case _:
            public = value
    return public


def _made(keyword: griffe.ExprKeyword) -> griffe.Expr:
    """A keyword with a private value; a private maker of a default is a default not said."""
    if keyword.name == "default_factory":
        return dataclasses.replace(keyword, name="default", value=UNSAID)
    return _within(keyword)


def _annotated(type_: griffe.ExprSubscript) -> object:
    """A type with annotations, without these where they are private."""
    if private_names(type_.slice) and isinstance(type_.slice, griffe.ExprTuple):
        return _public(type_.slice.elements[0])
    return _within(type_)


def _within(value: griffe.Expr) -> griffe.Expr:
    """An expression whose parts are without private names."""
    changed = {
        field.name: _public(getattr(value, field.name))
        for field in dataclasses.fields(value)
        if field.name != "parent"
    }
    return dataclasses.replace(value, **changed)


def _meant(name: griffe.ExprName) -> griffe.Object | None:
    """What a private name of a module of the package is of; None for any other name."""
    if not name.name.startswith("_") or not isinstance(name.parent, griffe.Object):
        return None
    found = name.parent.module.members.get(name.name)
    return None if found is None or isinstance(found, griffe.Alias) else found


def _value_of(found: griffe.Object) -> object:
    """The value of a constant or of another name for a type; of anything else nothing is said."""
    value = found.value if isinstance(found, griffe.Attribute) else None
    is_variable = isinstance(value, griffe.ExprCall) and str(value.function) == "ParamSpec"
    return UNSAID if value is None or is_variable else value
