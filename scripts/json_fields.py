"""Descriptions and types of JSON fields, from the records that are printed.

    python scripts/json_fields.py            write them into the schemas of commands and manifests
    python scripts/json_fields.py --check    fail if a schema would change

An object of a schema whose ``$comment`` names a class (``cimento.compare.ways:WayComparison``)
has the descriptions of the class's attributes. An attribute that the schema calls an array or an
object, and no more, has the items or the fields that the class's annotations say; one without a
type has theirs, and all may be null where the annotation has None; a command may print null for
more. Fields that a command adds have theirs in the schema. In the schema of manifests, such an
object has all fields of its class and no other.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "src" / "cimento" / "data" / "schemas"
SCHEMAS = tuple(FOLDER / f"{name}.schema.json" for name in ("commands", "manifest"))
MANIFEST = "urn:cimento:manifest:1"

_SECTION = re.compile(r"^(?:Attributes|Args):\n(.*?)(?=^\S|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)


def attributes_of(record: type) -> dict[str, str]:
    """The descriptions of a class's attributes, inherited ones too, by name, each in one line."""
    section = _SECTION.search(inspect.cleandoc(record.__doc__ or ""))
    inherited = [attributes_of(base) for base in record.__bases__ if base is not object]
    merged = {name: text for texts in inherited for name, text in texts.items()}
    entries = _ENTRY.findall(section[1]) if section else []
    return merged | {name: " ".join(text.split()) for name, text in entries}


def descriptions_of(record: type) -> dict[str, str]:
    """The descriptions of a class's attributes, by name, as JSON has the values."""
    return {name: _in_json(text) for name, text in attributes_of(record).items()}


def _in_json(text: str) -> str:
    """A description of a Python value as one of a JSON value."""
    line = re.sub(r"\bNone\b", "null", text.replace("``", "`"))
    return line if line.startswith("d'") else line[:1].upper() + line[1:]


def _objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas of all objects in a schema, at any depth."""
    if {"properties", "$comment"} & schema.keys():
        yield schema
    children = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    children += schema.get("anyOf", [])
    children += [schema.get(name) for name in ("items", "additionalProperties")]
    for child in children:
        if isinstance(child, dict):
            yield from _objects(child)


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose objects are described as their records are; it is changed in place."""
    is_whole = schema.get("$id") == MANIFEST
    for part in _objects(schema):
        module, _, name = part.get("$comment", "").partition(":")
        if not name:
            continue
        record = getattr(importlib.import_module(module), name)
        if is_whole:
            part["properties"] = _record(record, (record,))["properties"]
        texts, hints = descriptions_of(record), hints_of(record)
        for field, child in part["properties"].items():
            shape = shape_of(hints[field], (record,)) if field in hints else {}
            if _is_bare(child):
                _fill(child, shape)
            _set_null(child, shape)
            if field in texts:
                child["description"] = texts[field]
    return schema


def _set_null(schema: dict[str, Any], shape: dict[str, Any]) -> None:
    """Let a value be null where the shape of its annotation is; without a type it has the shape's.

    Alternatives stay as they are.
    """
    if "type" not in shape or {"anyOf", "$ref"} & schema.keys():
        return
    if "type" not in schema:
        schema["type"] = shape["type"]
    elif "null" in _kinds(shape):
        schema["type"] = sorted({*_kinds(schema), "null"})


def _kinds(schema: dict[str, Any]) -> list[str]:
    stated = schema["type"]
    return [stated] if isinstance(stated, str) else stated


def _is_bare(schema: dict[str, Any]) -> bool:
    """Whether a schema says that there is an array or an object, and not what is in it."""
    named = schema.get("type", ())
    has = {"array": ("items",), "object": ("properties", "additionalProperties")}
    inside = (schema.get(name) for name in ("items", "additionalProperties"))
    return "anyOf" not in schema and (
        any(isinstance(part, dict) and _is_bare(part) for part in inside)
        or any(
            kind in named and not any(part in schema for part in parts)
            for kind, parts in has.items()
        )
    )


def _fill(schema: dict[str, Any], shape: dict[str, Any]) -> None:
    """Add what is in an array or an object to a schema; its type stays as it is."""
    for part in (shape, *shape.get("anyOf", ())):
        for name in ("items", "properties", "additionalProperties", "$comment"):
            if name in schema and name in part and _is_bare(schema[name]):
                _fill(schema[name], part[name])
            elif name in part:
                schema.setdefault(name, part[name])


@functools.cache
def _names_in(module: str) -> dict[str, Any]:
    """The names of a module, with those that it imports for annotations only."""
    loaded = importlib.import_module(module)
    names = dict(vars(loaded))
    for branch in ast.walk(ast.parse(inspect.getsource(loaded))):
        if not (isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"):
            continue
        for line in branch.body:
            if isinstance(line, ast.ImportFrom) and line.module:
                source = importlib.import_module(line.module)
                for one in line.names:
                    names.setdefault(one.asname or one.name, getattr(source, one.name, Any))
    return names


def hints_of(record: type) -> dict[str, Any]:
    """The annotations of a class's attributes, inherited ones too, by name."""
    found: dict[str, Any] = {}
    for base in reversed(record.__mro__):
        for name, hint in vars(base).get("__annotations__", {}).items():
            known = _names_in(base.__module__)
            found[name] = eval(hint, known) if isinstance(hint, str) else hint  # noqa: S307 - ours
    return found


_PLAIN = {
    float: "number", int: "integer", str: "string", bool: "boolean", type(None): "null",
    Path: "string",
}  # fmt: skip


_AGAIN = {"type": "object", "additionalProperties": True}
"""A record inside itself."""


def shape_of(hint: object, within: tuple[type, ...] = ()) -> dict[str, Any]:
    """The schema of a value with an annotation; empty where that says nothing of its JSON.

    Args:
        hint: the annotation.
        within: the records around it, which are not described again inside themselves.
    """
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    shape: dict[str, Any] = {}
    if isinstance(hint, type) and is_dataclass(hint):
        shape = _AGAIN if hint in within else _record(hint, (*within, hint))
    elif isinstance(hint, type) and hint in _PLAIN:
        shape = {"type": _PLAIN[hint]}
    elif origin in (typing.Union, types.UnionType):
        shape = _one_of([shape_of(part, within) for part in inside])
    elif origin is typing.Literal and all(isinstance(one, str) for one in inside):
        shape = {"type": "string", "enum": list(inside)}
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        shape = {"type": "object", "additionalProperties": shape_of(inside[1], within)}
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        parts = [shape_of(part, within) for part in inside if part is not ...]
        shape = {"type": "array", "items": _one_of(parts)}
    return shape


def _record(record: type, within: tuple[type, ...]) -> dict[str, Any]:
    texts, hints = descriptions_of(record), hints_of(record)
    properties = {}
    for field in fields(record):
        shape = shape_of(hints[field.name], within)
        text = texts.get(field.name)
        properties[field.name] = shape | ({"description": text} if text else {})
    comment = f"{record.__module__}:{record.__qualname__}"
    return {"type": "object", "properties": properties, "$comment": comment}


def _one_of(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The schema of a value that is one of several; plain types are one list."""
    different = [part for k, part in enumerate(parts) if part not in parts[:k]]
    if {} in different:
        return {}
    if len(different) == 1:
        return different[0]
    if all(part.keys() == {"type"} for part in different):
        return {"type": sorted(part["type"] for part in different)}
    rich = [part for part in different if part != {"type": "null"}]
    if len(rich) == 1 and len(rich) < len(different):
        named = rich[0].get("type")
        if isinstance(named, str) and "enum" not in rich[0]:
            return rich[0] | {"type": sorted([named, "null"])}
    return {"anyOf": different}


def main() -> int:
    """Write the schema, or check it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    is_check = parser.parse_args().check
    before = {path: path.read_text(encoding="utf-8") for path in SCHEMAS}
    after = {
        path: json.dumps(described(json.loads(text)), ensure_ascii=False, indent=1) + "\n"
        for path, text in before.items()
    }
    if is_check:
        return int(before != after)
    for path, text in after.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
