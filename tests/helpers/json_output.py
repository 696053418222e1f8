"""Every ``--json`` that a test prints is one object, as the shipped schema of its command says."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from typer.main import get_command

from cimento.cli import console, main

SCHEMAS = resources.files("cimento") / "data" / "schemas"


@functools.cache
def read_schema(name: str) -> dict[str, Any]:
    """A schema that comes with cimento."""
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))


@functools.cache
def commands_with_json() -> tuple[str, ...]:
    """The commands that have ``--json``, in words."""
    root = get_command(main.app)

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[str]:
        if hasattr(command, "list_commands"):
            context = root.make_context("cimento", [], resilient_parsing=True)
            for name in command.list_commands(context):
                yield from walk(command.get_command(context, name), (*path, name))
        elif any("--json" in parameter.opts for parameter in command.params):
            yield " ".join(path)

    return tuple(walk(root, ()))


@functools.cache
def validator(command: str) -> Draft202012Validator:
    """What checks the output of a command."""
    schemas = [read_schema("summary"), read_schema("commands"), read_schema("language")]
    registry = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas
    )
    name = command.replace(" ", "-")
    return Draft202012Validator({"$ref": f"{schemas[1]['$id']}#/$defs/{name}"}, registry=registry)


def command_in(arguments: Sequence[str]) -> str:
    """The command of a command line."""
    names = (
        name
        for name in sorted(commands_with_json(), key=len, reverse=True)
        if list(arguments[: len(name.split())]) == name.split()
    )
    return next(names, "")


KEYWORDS = {
    "$comment", "$defs", "$id", "$ref", "$schema", "additionalProperties", "anyOf", "default",
    "description", "enum", "items", "properties", "required", "title", "type",
}  # fmt: skip
"""What the schemas ask; none of it but ``enum`` looks at a value beyond its type."""


@functools.cache
def enumerated() -> frozenset[str]:
    """The words of all ``enum`` of the schemas."""

    def walk(schema: Any) -> Iterator[str]:
        if isinstance(schema, dict):
            yield from schema.get("enum", ())
        for value in schema.values() if isinstance(schema, dict) else schema:
            if isinstance(value, dict | list):
                yield from walk(value)

    return frozenset(walk([read_schema("summary"), read_schema("commands")]))


def _kind(value: Any) -> object:
    """What a schema could tell apart in a value."""
    match value:
        case dict():
            return frozenset((key, _kind(child)) for key, child in value.items())
        case list():
            return (list, frozenset(map(_kind, value)))
        case str():
            return value if value in enumerated() else str
        case float():
            return (float, value.is_integer())
        case _:
            return type(value)


def one_of_each_kind(value: Any) -> Any:
    """A document whose lists hold one of each kind of elements, as valid as the whole.

    Checking a list of a hundred equal records takes longer than most commands.
    """
    if isinstance(value, dict):
        return {key: one_of_each_kind(child) for key, child in value.items()}
    if isinstance(value, list):
        return [
            one_of_each_kind(element)
            for element in {_kind(element): element for element in value}.values()
        ]
    return value


def checking(invoke: Callable[[Sequence[str]], int]) -> Callable[[Sequence[str]], int]:
    """`invoke`, and a check of what it prints where ``--json`` is among the arguments."""

    def run(arguments: Sequence[str]) -> int:
        command = command_in(arguments) if "--json" in arguments else ""
        if command.replace(" ", "-") not in read_schema("commands")["$defs"]:
            return invoke(arguments)
        printed: list[str] = []
        write = console._write

        def keep(text: str, stream: Any) -> None:
            if stream is not console.sys.stderr:
                printed.append(text)
            write(text, stream)

        console._write = keep
        try:
            code = invoke(arguments)
        finally:
            console._write = write
        if printed:
            validator(command).validate(one_of_each_kind(json.loads("\n".join(printed))))
        return code

    return run
