"""The ``cimento`` command: how its words are read, and errors as messages and exit codes."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Annotated, Any, Self

import typer

from cimento._version import __version__
from cimento.cli.groups import HELP_FLAGS, CommandGroup
from cimento.errors import CimentoError, StorageError, UsageError, with_flags
from cimento.models.hf import end_process, own_process

USAGE = 2
INTERRUPTED = 130
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""The system's error numbers for a stream that cannot be written."""

# The common base class of typer's usage errors, which typer does not export.
_UsageProblem: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="cimento",
    cls=CommandGroup,
    help="What does a language model know about a language, item by item, and how sure are we?\n\n"
    "Test a model: cimento run SUITE -m MODEL\n\n"
    "Read the results: cimento report runs -o report.html\n\n"
    "Exit codes and environment variables: cimento --help-all",
    epilog="Start with: cimento demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": [*HELP_FLAGS]},
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001  # as typer calls it
    if wanted:
        typer.echo(f"cimento {__version__}")
        raise typer.Exit


@app.callback()
def _cimento(
    version: Annotated[  # printed as soon as it is read
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """What does a language model know about a language, item by item, and how sure are we?"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    own_process()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Characters that the encoding of a terminal or a file lacks are shown as escapes.
            stream.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else arguments
    with Ending() as ending:
        action = app(_with_dashes(given), prog_name="cimento", standalone_mode=False)
        ending.result = action() if callable(action) else action
    end_process()
    sys.exit(ending.code)


def invoke(arguments: Sequence[str]) -> int:
    """Run one command in a process of somebody else's, and return the exit code."""
    with Ending() as ending:
        action = app(_with_dashes(arguments), prog_name="cimento", standalone_mode=False)
        ending.result = action() if callable(action) else action
    return ending.code


class Ending:
    """The end of a command, as a context in which errors become messages.

    ``CIMENTO_DEBUG=1`` lets errors through with their traceback.

    Attributes:
        result: the result of the command, which may be an exit code.
        code: the exit code.
    """

    def __init__(self) -> None:
        self.result: object = None
        self.code = 0
        self._flags = ExitStack()

    def __enter__(self) -> Self:
        self._flags.enter_context(with_flags())
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        with self._flags:
            return self._ended(error)

    def _ended(self, error: BaseException | None) -> bool:
        if error is not None:
            code = _explain(error)
        elif self.result == INTERRUPTED:  # typer's code for an interrupt
            code = _interrupted()
        else:
            code = self.result if isinstance(self.result, int) else 0
        self.code = code or 0
        return code is not None


def _explain(error: BaseException) -> int | None:
    """Print what went wrong; returns the exit code, or None for an error to raise again."""
    from cimento.cli.console import close_quietly

    # typer reports a reader that closed the pipe as a failure.
    if isinstance(error, BrokenPipeError) or (
        isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError)
    ):
        # The reader closed the pipe (`cimento ... | head`), so nothing more can be written.
        close_quietly(sys.stdout)
        return 0
    if isinstance(error, _UsageProblem):
        from cimento.cli.usage import usage_error

        if (problem := usage_error(error)) is None:
            error.show()  # the help of a group that was called without a command
            return USAGE
        error = problem
    if isinstance(error, KeyboardInterrupt):
        return _interrupted()
    if not isinstance(error, Exception) or os.environ.get("CIMENTO_DEBUG"):
        return None
    if isinstance(error, OSError) and (error.filename or error.errno in _NO_ROOM):
        if not error.filename:
            # Otherwise Python would try to flush the rest at exit, and fail again.
            close_quietly(sys.stdout)
        error = StorageError(
            where=str(error.filename or "standard output"),
            seen=f"cannot be read or written ({error.strerror})",
            todo="Check the path, its permissions and the disk.",
        )
    if isinstance(error, CimentoError):
        # What is wrong may be a command, whose name begins as the line does.
        named = "cimento " if error.where.startswith("cimento ") else ""
        print(f"cimento: {str(error).removeprefix(named)}", file=sys.stderr)  # noqa: T201  # this is where messages are shown
        return error.exit_code
    print(  # noqa: T201
        f"cimento: this is a fault of cimento itself: {type(error).__name__}: {error}\n"
        "Please report it with the command you ran; CIMENTO_DEBUG=1 shows where it happened.",
        file=sys.stderr,
    )
    return 1


def _interrupted() -> int:
    print("cimento: interrupted; what was scored is kept.", file=sys.stderr)  # noqa: T201
    return INTERRUPTED


_LONG_DASHES = re.compile("[\u2013\u2014]+([a-z][a-z_-]*)(=.*)?")


def _with_dashes(arguments: Sequence[str]) -> list[str]:
    """The arguments with ``-`` in place of ``_`` in flags, and lm-eval's options as ours."""
    changed = []
    for before, argument in pairwise(("", *arguments)):
        is_value = before.startswith("-")  # which may begin as a speech does
        if any("\udc80" <= letter <= "\udcff" for letter in argument):
            raise UsageError(
                where=f"argument {argument!r}",
                seen="it is not text in UTF-8",
                todo="Give the file or folder another name.",
            )
        if not is_value and (match := _LONG_DASHES.fullmatch(argument)):
            typed = match[1]
            raise UsageError(
                where=f"argument {argument!r}",
                seen="it begins with a long dash, as text programs make them of hyphens",
                todo=f"Type {'-' if len(typed) == 1 else '--'}{typed}",
            )
        flag, equals, value = argument.partition("=")
        if flag.startswith("--"):
            flag = flag.replace("_", "-")
        changed.append(flag + equals + value)
    if changed[:1] in (["run"], ["plan"]):
        from cimento.cli.lm_eval import options_from_lm_eval

        return [changed[0], *options_from_lm_eval(changed[1:])]
    return changed
