"""The page of what commands print with ``--json``: every field of the shipped schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cells import filled, prose, table
from schemas import HEAD, Schema, refers, rows, schema_of, unique

from cimento.cli.tree import walk

PAGE = "reference/json.md"


def printed_page() -> str:
    """The page in Markdown."""
    commands: Mapping[str, Schema] = schema_of("commands")["$defs"]
    lines = (line for name in commands for line in _section(name, commands))
    return filled(PAGE, {"commands": "\n".join(lines)})


def _section(name: str, commands: Mapping[str, Schema]) -> Iterator[str]:
    """The section of a command: a row for each field, or the page that describes the object."""
    yield f"## {command_of(name)}\n"
    if described := commands[name].get("description"):
        yield f"{prose(described)}\n"
    if refers(commands[name]):
        yield "The object is [the JSON summary](../tables.md#the-json-summary).\n"
    if found := unique(rows(commands[name])):
        yield table(HEAD, found)


def command_of(name: str) -> str:
    """The command of a definition: ``suites-build-query`` is ``cimento suites build query``."""
    return next(f"cimento {' '.join(words)}" for words in walk() if "-".join(words) == name)
