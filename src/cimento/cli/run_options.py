"""The commands that plan, do, spread and collect runs: all take `RunOptions`, and run files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cimento.cli.flags import command_of
from cimento.cli.run_file import with_run_file
from cimento.errors import UsageError
from cimento.options import RunOptions

RunOptionsT = TypeVar("RunOptionsT", bound=RunOptions)


def run_command(
    model: type[RunOptionsT], action: Callable[[RunOptionsT], int]
) -> Callable[..., int]:
    """A command with the options of a run.

    Args:
        model: `RunOptions`, or these with options of the command.
        action: what it does; its docstring is the help of the command.
    """

    def act(options: RunOptionsT) -> int:
        _need("SUITE", "suites", options.suites)
        _need("--model", "models", options.models)
        return action(options)

    act.__doc__, act.__name__ = action.__doc__, action.__name__.strip("_")
    return command_of(
        model,
        act,
        positional="suites",
        metavar="SUITE...|RUN.toml",
        read=lambda given: with_run_file(model, given),
    )


def _need(where: str, name: str, given: tuple[str, ...]) -> None:
    """See that there is something to run.

    Raises:
        UsageError: there is not.
    """
    if not given:
        raise UsageError(
            where=where,
            seen=f"no {name} are given",
            todo="Give SUITE... -m MODEL..., or a run file that names them.",
        )
