"""Groups of commands that import a command only to run it, and none to list them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from cimento.cli.tree import (
    ANALYZE_RUNS,
    COMMANDS,
    SECTIONS,
    Entry,
    entry_of,
    moved,
    walk,
)
from cimento.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

HELP_FLAGS = ("-h", "--help")
HELP_ALL = "--help-all"

_MEANT: Mapping[str, str] = {
    **dict.fromkeys(
        ("evaluate", "eval", "lm_eval", "lm-eval", "simple_evaluate", "test", "benchmark"),
        "`cimento run SUITE -m MODEL`",
    ),
    "check": "`cimento suites check FILE`; of a model or a corpus, `cimento models check` or"
    " `cimento corpus check`",
    "version": "`cimento --version`",
    "help": "`cimento --help`, or `cimento COMMAND --help`",
}
"""Names that other programs give to commands, and what to type here."""


def load(target: str) -> Callable[..., Any]:
    """The function behind a command, from its place in the table."""
    module, _, attribute = target.partition(":")
    function: Callable[..., Any] = getattr(
        importlib.import_module(f"cimento.cli.{module}"), attribute
    )
    return function


def command_of(words: Sequence[str]) -> Command:
    """The command or group with these words, such as ``("suites", "check")``; it is imported.

    Raises:
        KeyError: there is none.
    """
    return _command(words[-1], entry_of(words))


def _command(name: str, entry: Entry) -> Command:
    if not entry.commands:
        return _leaf(name, entry.target, entry.help)
    return CommandGroup(
        name=name,
        entry=entry,
        help=entry.help,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": [*HELP_FLAGS]},
    )


def _leaf(name: str, target: str, summary: str) -> Command:
    """A command that is not a group."""
    from cimento.cli.help import HelpfulCommand

    return get_command_from_info(
        CommandInfo(name=name, callback=load(target), cls=HelpfulCommand, short_help=summary),
        pretty_exceptions_short=False,
        rich_markup_mode=None,
    )


class CommandGroup(TyperGroup):
    """A group whose commands are in a table.

    Attributes:
        entry: its place in the table; the top for `cimento` itself.
    """

    def __init__(self, *, entry: Entry | None = None, **settings: Any) -> None:  # noqa: ANN401  # as typer passes them on
        super().__init__(**settings)
        self.entry = entry or Entry("", commands=COMMANDS)

    def list_commands(self, ctx: Context) -> list[str]:  # noqa: ARG002  # as the base class has it
        """The names of the commands, in the order of the table."""
        return list(self.entry.commands)

    def get_command(self, ctx: Context | None, cmd_name: str) -> Command | None:  # noqa: ARG002
        """The command with a name; None if there is none."""
        entry = self.entry.commands.get(cmd_name)
        return None if entry is None else _command(cmd_name, entry)

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """The arguments, preceded by the default command if they name none."""
        if args[:1] == [HELP_ALL]:
            ctx.meta[HELP_ALL] = True
            args = ["--help"]
        known = {*self.entry.commands, *HELP_FLAGS}
        if self.entry.default and args and args[0] not in known:
            args = [self.entry.default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """The command that arguments begin with, and the others.

        Raises:
            UsageError: no command has this name.
        """
        command = self.get_command(ctx, args[0])
        if command is None and not args[0].startswith("-"):
            raise _unknown(tuple(ctx.command_path.split()[1:]), args, self.entry)
        return super().resolve_command(ctx, args) if command is None else (
            args[0], command, args[1:]
        )  # fmt: skip

    def format_usage(self, ctx: Context, formatter: HelpFormatter) -> None:
        """The usage, in words."""
        default = f", or the arguments of {self.entry.default}" if self.entry.default else ""
        formatter.write_usage(ctx.command_path, f"COMMAND{default}")

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """The list of commands, by section where there are any, with one width for all names."""
        at_top = self.entry.commands is COMMANDS
        width = max(map(len, self.entry.commands))
        sections = SECTIONS if at_top else self.entry.sections or {"Commands": self.entry.commands}
        for title, section in sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(f"{name:{width}}", entry.help) for name, entry in section.items()]
                )
        if at_top and HELP_ALL in ctx.meta:
            from cimento.cli.facts import EXIT_CODES, VARIABLES

            with formatter.section("Exit codes"):
                formatter.write_dl([(str(code), means) for code, means in EXIT_CODES.items()])
            with formatter.section("Environment variables"):
                formatter.write_dl([*VARIABLES.items()])


def _unknown(above: Sequence[str], args: Sequence[str], entry: Entry) -> UsageError:
    """The error of a name that no command has, with what may be meant."""
    name = args[0]
    old, new = moved((*above, *args[:2]))
    if new:
        return UsageError(where="", seen=f"there is no command '{old}'", todo=f"It is now: {new}")
    typed = " ".join((*above, name))
    if not above and name in _MEANT:
        todo = f"Use {_MEANT[name]}."
    elif above == ("analyze",) and Path(name).exists():
        todo = f"Which analysis? Such as: cimento {ANALYZE_RUNS}"
    elif inside := _inside_groups(name):
        todo = f"Did you mean {' or '.join(inside)}?"
    else:
        todo = did_you_mean(name, entry.commands)
    return UsageError(where="", seen=f"there is no command '{typed}'", todo=todo)


def _inside_groups(name: str) -> list[str]:
    """The commands with this name in groups, as typed in full."""
    return [f"`cimento {' '.join(words)}`" for words in walk() if words[1:] and words[-1] == name]
