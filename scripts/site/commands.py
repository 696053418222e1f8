"""The pages of the commands: a list of all of them, and a page for each command at the top.

The tree of commands is walked as the command line has it, so a command or option that is added
there is on a page at the next build.
"""

from __future__ import annotations

from collections.abc import Iterator

from cells import escaped, filled, in_code, table

from cimento.cli.facts import EXIT_CODES, VARIABLES
from cimento.cli.groups import command_of
from cimento.cli.help import arguments_of, option_groups
from cimento.cli.tree import COMMANDS, SECTIONS, Words, entry_of, walk

PAGE = "commands.md"
FOLDER = "reference/"


def commands_page() -> str:
    """The list of all commands by the sections of the help page, exit codes and variables."""
    parts = [
        f"## {title}\n\n{table(('command', 'what it does'), map(_listed, _leaves(names)))}"
        for title, names in SECTIONS.items()
    ]
    codes = [(str(code), escaped(meaning)) for code, meaning in EXIT_CODES.items()]
    variables = [(in_code(name), escaped(meaning)) for name, meaning in VARIABLES.items()]
    return filled(
        PAGE,
        {
            "commands": "\n".join(parts),
            "exit-codes": table(("exit code", "meaning"), codes),
            "variables": table(("variable", "meaning"), variables),
        },
    )


def _leaves(names: tuple[str, ...]) -> Iterator[Words]:
    """The commands, groups left out, at and below some names at the top, in their order."""
    return (
        words
        for name in names
        for words in walk()
        if words[0] == name and not entry_of(words).commands
    )


def _listed(words: Words) -> tuple[str, str]:
    """A row for a command, which leads to its section."""
    anchor = f"#cimento-{'-'.join(words)}" if len(words) > 1 else ""
    usage = " ".join(one.written for one in arguments_of(command_of(words).params))
    link = f"[`cimento {' '.join(words)}`]({FOLDER}{words[0]}.md{anchor})"
    shown = f"{link} {in_code(usage)}" if usage else link
    return shown, escaped(entry_of(words).help.removesuffix("."))


def command_pages() -> dict[str, str]:
    """Path of the page of each command at the top to its text."""
    return {f"{FOLDER}{name}.md": command_page(name) for name in COMMANDS}


def command_page(name: str) -> str:
    """The page of a command, with its sub-commands one after the other."""
    return "\n".join(_sections((name,))) + "\n"


def _sections(words: Words) -> Iterator[str]:
    """What a command says of itself: what it does, its arguments, its options, its sub-commands."""
    command, entry = command_of(words), entry_of(words)
    yield f"{'#' * min(len(words), 6)} cimento {' '.join(words)}\n"
    yield from (f"{escaped(line.strip())}\n" for line in (command.help or "").split("\n\n"))
    if not entry.commands:
        arguments = arguments_of(command.params)
        usage = ["cimento", *words, *(argument.written for argument in arguments), "OPTIONS"]
        yield f"```text\n{' '.join(usage)}\n```\n"
        groups = option_groups(" ".join(words), command.params)
        titled = [("Arguments", arguments), *((group.title, group.options) for group in groups)]
        for title, options in titled:
            if options:
                rows = [(in_code(row.written), escaped(row.text)) for row in options]
                yield f"**{escaped(title)}**\n\n{table(('', 'what it is'), rows)}"
    for child in entry.commands:
        yield from _sections((*words, child))
