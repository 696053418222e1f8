"""Descriptions of JSON fields, from the docstrings of the records that are printed.

    python scripts/json_fields.py            write them into the schema of commands
    python scripts/json_fields.py --check    fail if the schema would change

An object of the schema whose ``$comment`` names a class (``cimento.compare.ways:WayComparison``)
has the descriptions of the class's attributes. Fields that a command adds have theirs in the
schema.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "src" / "cimento" / "data" / "schemas" / "commands.schema.json"

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
    if "properties" in schema:
        yield schema
    children = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    children += schema.get("anyOf", [])
    children += [schema.get(name) for name in ("items", "additionalProperties")]
    for child in children:
        if isinstance(child, dict):
            yield from _objects(child)


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose objects have the descriptions of their records; it is changed in place."""
    for part in _objects(schema):
        module, _, name = part.get("$comment", "").partition(":")
        texts = descriptions_of(getattr(importlib.import_module(module), name)) if name else {}
        for field, child in part["properties"].items():
            if field in texts:
                child["description"] = texts[field]
    return schema


def main() -> int:
    """Write the schema, or check it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    is_check = parser.parse_args().check
    before = SCHEMA.read_text(encoding="utf-8")
    after = json.dumps(described(json.loads(before)), ensure_ascii=False, indent=1) + "\n"
    if is_check:
        return int(before != after)
    SCHEMA.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
