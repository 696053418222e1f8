"""The JSON schemas that come with cimento, as rows of tables: a row for each field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, TypeAlias

from cells import prose

Schema: TypeAlias = "dict[str, Any]"
Row: TypeAlias = tuple[str, str, str]
HEAD = ("field", "type", "content")


def schema_of(name: str) -> Schema:
    """A schema by its name: ``summary``, ``commands`` or ``table``."""
    path = files("cimento") / "data" / "schemas" / f"{name}.schema.json"
    schema: Schema = json.loads(path.read_text(encoding="utf-8"))
    return schema


def alternatives(schema: Schema) -> list[Schema]:
    """A schema, and those of its ``anyOf``, at any depth."""
    return [schema, *(part for one in schema.get("anyOf", []) for part in alternatives(one))]


def rows(schema: Schema, path: str = "") -> Iterator[Row]:
    """Path, type and content of each field below a schema, at any depth."""
    for part in alternatives(schema):
        for name, child in part.get("properties", {}).items():
            at = f"{path}.{name}" if path else name
            content = prose(child.get("description", "")).removesuffix(".")
            yield f"`{at}`", type_of(child), content[:1].upper() + content[1:]
            yield from rows(child, at)
        if isinstance(part.get("items"), dict):
            yield from rows(part["items"], f"{path}[]")
        if isinstance(part.get("additionalProperties"), dict):
            yield from rows(part["additionalProperties"], f"{path}.NAME")


def type_of(schema: Schema) -> str:
    """The type of a field in words, with what an array or an object holds; empty for any type.

    The words of an enumeration are in code, as they are printed.
    """
    names: list[str] = []
    for part in alternatives(schema):
        if "enum" in part:
            names += ["null" if one is None else f'`"{one}"`' for one in part["enum"]]
        stated = part.get("type", [])
        kinds = [stated] if isinstance(stated, str) else stated
        plain = [kind for kind in kinds if kind == "null" or "enum" not in part]
        names += [f"{kind}{_held(kind, part)}" for kind in plain]
    found = sorted(dict.fromkeys(names), key=lambda name: (name == "null", name))
    return " or ".join(f"({one})" if " of " in one and len(found) > 1 else one for one in found)


def _held(kind: str, schema: Schema) -> str:
    """What an array or an object of names holds; records are not named, their fields follow."""
    inside = {"array": schema.get("items"), "object": schema.get("additionalProperties")}.get(kind)
    held = type_of(inside) if isinstance(inside, dict) else ""
    return f" of ({held})" if " " in held else f" of {held}" if held else ""


def refers(schema: Schema) -> bool:
    """Whether a schema has another one, by its name, among its alternatives."""
    return any(str(part.get("$ref", "")).startswith("urn:") for part in alternatives(schema))


def unique(found: Iterator[Row]) -> Mapping[Row, None]:
    """Rows, each once, in their order."""
    return dict.fromkeys(found)
