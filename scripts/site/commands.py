"""The pages of the commands: a list of all of them, and a page for each command at the top.

The tree of commands is walked as the command line has it, so a command or option that is added
there is on a page at the next build.
"""

from __future__ import annotations

from collections.abc import Iterator

from cells import escaped, filled, in_code, table

from cimento.cli.facts import EXIT_CODES, VARIABLES
from cimento.cli.groups import command_of
from cimento.cli.help import arguments_of, option_groups, taken_of_run, usage_of
from cimento.cli.help_examples import EXAMPLES
from cimento.cli.tree import COMMANDS, SECTIONS, Words, entry_of

PAGE = "commands.md"
FOLDER = "reference/"


def commands_page() -> str:
    """The list of all commands, by the sections of the help page."""
    parts = []
    for title, section in SECTIONS.items():
        rows = [row for name in section for row in _listed((name,))]
        parts.append(f"## {title}\n\n{table(('command', 'what it does'), rows)}")
    codes = ((str(code), escaped(meaning)) for code, meaning in EXIT_CODES.items())
    variables = ((in_code(name), escaped(meaning)) for name, meaning in VARIABLES.items())
    made = {
        "commands": "\n".join(parts),
        "exit-codes": table(("exit code", "meaning"), codes),
        "variables": table(("variable", "meaning"), variables),
    }
    return filled(PAGE, made)


def _listed(words: Words) -> Iterator[tuple[str, str]]:
    """A row for each command at and below one, which leads to its section."""
    if inside := entry_of(words).commands:
        for child in inside:
            yield from _listed((*words, child))
        return
    anchor = f"#{'-'.join(('cimento', *words))}" if len(words) > 1 else ""
    link = f"[`cimento {' '.join(words)}`]({FOLDER}{words[0]}.md{anchor})"
    arguments = " ".join(one.written for one in arguments_of(command_of(words).params))
    yield f"{link} {in_code(arguments)}" if arguments else link, escaped(entry_of(words).help)


def command_pages() -> dict[str, str]:
    """Path of the page of each command at the top to its text."""
    return {f"{FOLDER}{name}.md": "\n".join(_sections((name,))) + "\n" for name in COMMANDS}


def _sections(words: Words) -> Iterator[str]:
    """What a command says of itself: what it does, its arguments, its options, its sub-commands."""
    command, entry = command_of(words), entry_of(words)
    yield f"{'#' * min(len(words), 6)} cimento {' '.join(words)}\n"
    yield from (f"{escaped(line)}\n" for line in (command.help or "").strip().split("\n\n"))
    if not entry.commands:
        arguments = arguments_of(command.params)
        yield f"```text\n{' '.join(['cimento', *words, usage_of(command.params)])}\n```\n"
        if taken := taken_of_run(" ".join(words)):
            yield f"{taken}\n"
        groups = option_groups(" ".join(words), command.params)
        for title, rows in (("Arguments", arguments), *groups):
            if rows:
                yield f"**{title}**\n"
                lines = ((in_code(row.written), escaped(row.text)) for row in rows)
                yield table(("", "what it does"), lines)
        if examples := EXAMPLES.get(" ".join(words)):
            yield f"**Examples**\n\n```text\n{chr(10).join(examples)}\n```\n"
    for child in entry.commands:
        yield from _sections((*words, child))
