"""The ``cimento`` command: one app, and one place where errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

from cimento.cli.commands import LazyGroup
from cimento.errors import CimentoError
from cimento.models.hf.libraries import end_process, own_process

USAGE = 2
INTERRUPTED = 130

# The common base of typer's errors about the command line, which it keeps to itself.
_UsageProblem: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="cimento",
    cls=LazyGroup,
    help="What does a language model know about a language, item by item, and how sure are we?",
    epilog="Start with: cimento demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _cimento() -> None:
    """What does a language model know about a language, item by item, and how sure are we?"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    own_process()
    code = invoke(sys.argv[1:] if arguments is None else arguments)
    end_process()
    sys.exit(code)


def invoke(arguments: Sequence[str]) -> int:
    """Run one command; the exit code is returned and nothing is raised.

    ``CIMENTO_DEBUG=1`` lets errors through with their traceback.
    """
    try:
        return _call(arguments)
    except CimentoError as error:
        if os.environ.get("CIMENTO_DEBUG"):
            raise
        print(f"cimento: {error}", file=sys.stderr)  # noqa: T201  # this is where messages are shown
        return error.exit_code
    except _UsageProblem as error:
        # What checks the value says so before a sentence that needs no such beginning.
        error.message = error.message.removeprefix("Value error, ")
        error.show()
        return USAGE
    except KeyboardInterrupt:
        print("cimento: interrupted; what was scored is kept.", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`cimento ... | head`): nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("CIMENTO_DEBUG"):
            raise
        print(  # noqa: T201
            f"cimento: this is a fault of cimento itself: {type(error).__name__}: {error}\n"
            "Please report it with the command you ran; CIMENTO_DEBUG=1 shows where it happened.",
            file=sys.stderr,
        )
        return 1


def _call(arguments: Sequence[str]) -> int:
    try:
        result = app(_with_dashes(arguments), standalone_mode=False)
    except SystemExit as end:
        # typer takes a reader that went away for a failure.
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        raise
    if result == INTERRUPTED:
        raise KeyboardInterrupt  # which typer made an exit code of
    return result if isinstance(result, int) else 0


def _with_dashes(arguments: Sequence[str]) -> list[str]:
    """Flags written with ``_`` as they are declared, with ``-``."""
    changed = []
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        if flag.startswith("--"):
            flag = flag.replace("_", "-")
        changed.append(flag + equals + value)
    return changed
