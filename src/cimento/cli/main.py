"""The ``cimento`` command: its subcommands by name, and errors as messages and exit codes.

A subcommand is imported only when it is called, because ``cimento --help`` must be fast.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info, get_group_from_info
from typer.models import CommandInfo, TyperInfo

from cimento._version import __version__
from cimento.cli.console import close_quietly
from cimento.errors import CimentoError, StorageError, UsageError, need_known, with_flags
from cimento.models.hf import end_process, own_process

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


class Entry(NamedTuple):
    """A command, or a group of commands.

    Attributes:
        target: place of the command, as ``module:name``; a function or a typer app.
        help: short description of the command.
    """

    target: str
    help: str


SECTIONS: Mapping[str, Mapping[str, Entry]] = {
    "Test models": {
        "demo": Entry("cimento.cli.demo:demo", "Try everything once, offline, with a report."),
        "app": Entry("cimento.cli.demo:app", "Work in the browser instead of a terminal."),
        "run": Entry("cimento.cli.run:run", "Run suites on models."),
        "plan": Entry("cimento.cli.plan:plan", "Estimate the time, memory and cost of a run."),
        "judge": Entry("cimento.cli.stored:judge", "Judge stored runs again, without a model."),
        "rerun": Entry("cimento.cli.stored:rerun", "Repeat stored runs and compare byte by byte."),
    },
    "Look at results": {
        "show": Entry("cimento.cli.report:show_run", "Show a stored run, or one of its items."),
        "report": Entry("cimento.cli.report:report", "Write a report."),
        "site": Entry("cimento.cli.report:site", "Write a site of many runs."),
        "figure": Entry("cimento.cli.figure:figure", "Draw stored runs."),
        "compare": Entry(
            "cimento.cli.compare:compare", "Compare two runs, or all models of a suite."
        ),
        "explain": Entry(
            "cimento.cli.explain:explain", "Find which region carries a prediction, by layer."
        ),
        "analyze": Entry(
            "cimento.cli.compare:analyze", "Say how hard items are, and how able models."
        ),
        "profile": Entry(
            "cimento.cli.profile:profile", "Describe models in each dimension of a cloze suite."
        ),
        "cite": Entry("cimento.cli.stored:cite", "Print BibTeX, or a methods paragraph, for runs."),
        "export": Entry("cimento.cli.stored:export", "Write stored runs for other programs."),
    },
    "Score free text": {
        "score": Entry("cimento.cli.score:score", "Print the surprisals of free text."),
        "fill": Entry("cimento.cli.score:fill", "List candidates for the blanks of free text."),
        "join": Entry("cimento.cli.score:join", "Join reading times with surprisals of words."),
    },
    "Make suites and ask people": {
        "suites": Entry(
            "cimento.cli.suites:app", "List, show, check, convert and make test suites."
        ),
        "corpus": Entry("cimento.cli.corpus:app", "Search treebanks, and make items from them."),
        "stories": Entry("cimento.cli.stories:app", "Convert stories; measure how results vary."),
        "annotate": Entry(
            "cimento.cli.annotate:app", "Collect people's judgments: terminal, surveys, browser."
        ),
    },
    "Repeat published studies": {
        "study": Entry(
            "cimento.cli.study:app", "Repeat a published study and compare the numbers."
        ),
    },
    "Manage models and machines": {
        "models": Entry("cimento.cli.models:app", "List models, and check a model."),
        "cache": Entry(
            "cimento.cli.models:cache_app", "Inspect or clear the answers kept between runs."
        ),
        "prefetch": Entry(
            "cimento.cli.plan:prefetch", "Download models and suites, for nodes without network."
        ),
        "slurm": Entry("cimento.cli.plan:slurm", "Write a run as a Slurm job array."),
        "collect": Entry("cimento.cli.plan:collect", "Check and merge a distributed run."),
    },
}
"""The commands, in the sections of the help page."""

COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


def load(name: str) -> Any:  # noqa: ANN401  # a function, or a typer app
    """The function or app behind a command."""
    module, _, attribute = COMMANDS[name].target.partition(":")
    return getattr(importlib.import_module(module), attribute)


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


class LazyGroup(TyperGroup):
    """A group that imports a command only to run it, and none to list them."""

    def list_commands(self, ctx: Context) -> list[str]:  # noqa: ARG002  # as the base class has it
        """The names of the commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command:  # noqa: ARG002
        """The command with a name.

        Raises:
            UsageError: no command has this name.
        """
        where, seen = f"cimento {cmd_name}", "there is no such command"
        if cmd_name in _MEANT:
            raise UsageError(where=where, seen=seen, todo=f"Use {_MEANT[cmd_name]}.")
        if cmd_name not in COMMANDS and (inside := _inside_groups(cmd_name)):
            raise UsageError(where=where, seen=seen, todo=f"Did you mean {' or '.join(inside)}?")
        need_known(cmd_name, COMMANDS, where=where, seen=seen)
        return _command(cmd_name, load(cmd_name))

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, by section, with one width for all names."""
        width = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(f"{name:{width}}", entry.help) for name, entry in section.items()]
                )


def _inside_groups(name: str) -> list[str]:
    """The commands with this name in groups, as typed in full; this imports all groups."""
    commands = []
    for group in COMMANDS:
        if isinstance(target := load(group), typer.Typer):
            parts: list[CommandInfo | TyperInfo] = [*target.registered_commands]
            parts += target.registered_groups
            commands += [f"`cimento {group} {name}`" for part in parts if part.name == name]
    return commands


def _command(name: str, target: typer.Typer | Callable[..., Any]) -> Command:
    if isinstance(target, typer.Typer):
        return get_group_from_info(
            TyperInfo(target, name=name),
            pretty_exceptions_short=False,
            suggest_commands=True,
            rich_markup_mode=None,
        )
    return get_command_from_info(
        CommandInfo(name=name, callback=target),
        pretty_exceptions_short=False,
        rich_markup_mode=None,
    )


USAGE = 2
INTERRUPTED = 130
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""The system's error numbers for a stream that cannot be written."""

# The common base class of typer's usage errors, which typer does not export.
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
        action = app(_with_dashes(given), standalone_mode=False)
        ending.result = action() if callable(action) else action
    end_process()
    sys.exit(ending.code)


def invoke(arguments: Sequence[str]) -> int:
    """Run one command in a process of somebody else's, and return the exit code."""
    with Ending() as ending:
        action = app(_with_dashes(arguments), standalone_mode=False)
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
    # typer reports a reader that closed the pipe as a failure.
    if isinstance(error, BrokenPipeError) or (
        isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError)
    ):
        # The reader closed the pipe (`cimento ... | head`), so nothing more can be written.
        close_quietly(sys.stdout)
        return 0
    if isinstance(error, _UsageProblem):
        if faults := getattr(error.__cause__, "errors", None):
            from cimento.io.parsing import fault_in_words

            # typer repeats pydantic's words, which are for programmers.
            [fault, *_] = faults()
            value, todo = repr(fault.get("input")), fault_in_words(fault)
            error.message = todo if value in todo else f"got {value}. {todo}"
        error.show()
        return USAGE
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
        print(f"cimento: {error}", file=sys.stderr)  # noqa: T201  # this is where messages are shown
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
                seen="it is no text in UTF-8",
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
