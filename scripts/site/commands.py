"""The pages of the commands: a list of all of them, and a page for each command at the top.

The tree of commands is walked as the command line has it, so a command or option that is added
there is on a page at the next build.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, get_origin

from cells import escaped, filled, in_code, table
from typer.main import get_command

from cimento.cli.main import SECTIONS, app

if TYPE_CHECKING:
    from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

AnyCommand: TypeAlias = "TyperCommand | TyperGroup"
Parameter: TypeAlias = "TyperArgument | TyperOption"

PAGE = "commands.md"
FOLDER = "reference/"
COMMANDS = tuple(name for section in SECTIONS.values() for name in section)
"""The commands at the top."""


@functools.cache
def command_at(name: str) -> AnyCommand:
    """A command at the top, by its name."""
    group: Any = get_command(app)
    return group.get_command(None, name)


def children(command: AnyCommand) -> Mapping[str, AnyCommand]:
    """The commands of a group by name; none of a command."""
    listed: Any = getattr(command, "list_commands", None)
    found: Any = command
    if listed is None:
        return {}
    inside = ((name, found.get_command(None, name)) for name in listed(None))
    return {name: child for name, child in inside if not child.hidden}


def commands_page() -> str:
    """The list of all commands, by the sections of the help page."""
    parts = []
    for title, section in SECTIONS.items():
        rows = [row for name in section for row in _listed(command_at(name), name, page=name)]
        parts.append(f"## {title}\n\n{table(('command', 'what it does'), rows)}")
    return filled(PAGE, {"commands": "\n".join(parts)})


def _listed(command: AnyCommand, words: str, *, page: str) -> Iterator[tuple[str, str]]:
    """A row for each command at and below one, which leads to its section."""
    if inside := children(command):
        for name, child in inside.items():
            yield from _listed(child, f"{words} {name}", page=page)
        return
    anchor = f"#{_anchor(words)}" if words != page else ""
    link = f"[`cimento {words}`]({FOLDER}{page}.md{anchor})"
    yield f"{link} {in_code(_usage(command))}".removesuffix(" ``"), escaped(_summary(command))


def _anchor(words: str) -> str:
    return "cimento-" + words.replace(" ", "-")


def _summary(command: AnyCommand) -> str:
    """The first paragraph of what a command says of itself, without its full stop."""
    first, _, _ = (command.help or "").strip().partition("\n\n")
    return " ".join(first.split()).removesuffix(".")


def command_pages() -> dict[str, str]:
    """Path of the page of each command at the top to its text."""
    return {f"{FOLDER}{name}.md": command_page(name) for name in COMMANDS}


def command_page(name: str) -> str:
    """The page of a command, with its sub-commands one after the other."""
    return "\n".join(_sections(command_at(name), f"cimento {name}", level=1)) + "\n"


def _sections(command: AnyCommand, name: str, *, level: int) -> Iterator[str]:
    """What a command says of itself: what it does, its arguments, its options, its sub-commands."""
    yield f"{'#' * level} {name}\n"
    yield from (f"{escaped(line)}\n" for line in (command.help or "").strip().split("\n\n"))
    inside = children(command)
    if not inside:
        yield f"```text\n{name} {_usage(command)} [OPTIONS]\n```\n".replace("  ", " ")
        yield from _tables(command)
    for child_name, child in inside.items():
        yield from _sections(child, f"{name} {child_name}", level=min(level + 1, 6))


def _usage(command: AnyCommand) -> str:
    """The arguments of a command, as they are typed."""
    shown = (
        one for one in command.params if one.param_type_name == "argument" and not _hidden(one)
    )
    return " ".join(_metavar(argument) for argument in shown)


def _metavar(argument: TyperArgument) -> str:
    return str(argument.metavar or (argument.name or "").upper())


def _hidden(parameter: Parameter) -> bool:
    return bool(getattr(parameter, "hidden", False))


def _tables(command: AnyCommand) -> Iterator[str]:
    """A table for each group of options: how each is written, what it does, what holds without."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for parameter in command.params:
        if not _hidden(parameter):
            panel = getattr(parameter, "rich_help_panel", None) or ""
            groups.setdefault(str(panel), []).append(_row(parameter))
    for title, rows in groups.items():
        if title:
            yield f"**{escaped(title)}**\n"
        yield table(("", "what", "if not given"), rows)


def _row(parameter: Parameter) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        names = [_metavar(parameter)]
    else:
        names = [*parameter.opts, *parameter.secondary_opts]
    written = " ".join(in_code(name) for name in names)
    annotation = parameter.type_descriptor.annotation
    what = escaped(parameter.help or "")
    if get_origin(annotation) is Literal:
        choices = get_args(annotation)
        what += f" One of {', '.join(f'`{choice}`' for choice in choices)}."
    return written, what.strip(), _default(parameter)


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "must be given"
    value = parameter.default
    if value is None or value in ("", False, ()) or callable(value):
        return ""
    if value is True:
        return "on"
    return f"`{getattr(value, 'value', value)}`"
