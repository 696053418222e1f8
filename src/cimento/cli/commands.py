"""The commands by name, each imported when it is asked for: ``cimento --help`` must be quick."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info, get_group_from_info
from typer.models import CommandInfo, TyperInfo

from cimento.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


class Entry(NamedTuple):
    """A command, or a group of commands.

    Attributes:
        target: where it is, as ``module:name``; a function or a typer app.
        help: what it does, in a few words.
    """

    target: str
    help: str


COMMANDS: Mapping[str, Entry] = {
    "demo": Entry("cimento.cli.demo:demo", "Everything once, offline, with a report."),
    "run": Entry("cimento.cli.run:run", "Ask suites of models and judge."),
    "plan": Entry("cimento.cli.plan:plan", "What a run would do and cost."),
    "prefetch": Entry(
        "cimento.cli.prefetch:prefetch", "Download what a run needs, for nodes without network."
    ),
    "slurm": Entry("cimento.cli.slurm:slurm", "Write a run as an array of Slurm jobs."),
    "collect": Entry("cimento.cli.collect:collect", "What a spread run lacks; put it together."),
    "judge": Entry("cimento.cli.judge:judge", "Judge stored runs again."),
    "report": Entry("cimento.cli.report:report", "Write a page or a table to read."),
    "show": Entry("cimento.cli.show:show", "A stored run, or one item of it."),
    "profile": Entry(
        "cimento.cli.profile:profile", "What models do in each dimension of a cloze suite."
    ),
    "figure": Entry("cimento.cli.figure:figure", "Draw stored runs."),
    "compare": Entry(
        "cimento.cli.compare:compare", "Two runs, or all models of a suite, item by item."
    ),
    "cite": Entry("cimento.cli.cite:cite", "BibTeX, or the methods paragraph, of stored runs."),
    "export": Entry("cimento.cli.export:export", "Write stored runs for other programs."),
    "rerun": Entry("cimento.cli.rerun:rerun", "Make stored runs again and compare byte for byte."),
    "score": Entry("cimento.cli.score:score", "Surprisals of free text."),
    "join": Entry("cimento.cli.join:join", "Reading times beside surprisals of words."),
    "fill": Entry("cimento.cli.fill:fill", "What fits the blanks of free text."),
    "suites": Entry("cimento.cli.suites:app", "List, show, check, convert and make test suites."),
    "corpus": Entry("cimento.cli.corpus:app", "Search treebanks, and make items out of them."),
    "annotate": Entry(
        "cimento.cli.annotate:app", "Let people judge and write: terminal, surveys, browser."
    ),
    "study": Entry("cimento.cli.study:app", "Redo a published study, computed beside printed."),
    "stories": Entry("cimento.cli.stories:app", "Convert stories; how results vary."),
    "models": Entry("cimento.cli.models:app", "List models, and check what a model is like."),
    "cache": Entry("cimento.cli.cache:cache_app", "Look after the answers kept between runs."),
}


def load(name: str) -> Any:  # noqa: ANN401  # a function, or a typer app
    """The function or app behind a command."""
    module, _, attribute = COMMANDS[name].target.partition(":")
    return getattr(importlib.import_module(module), attribute)


class LazyGroup(TyperGroup):
    """A group that imports a command when it is run, and none to list them."""

    def list_commands(self, ctx: Context) -> list[str]:  # noqa: ARG002  # as the base class has it
        """The names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command:  # noqa: ARG002
        """The command of that name.

        Raises:
            UsageError: there is none.
        """
        if cmd_name not in COMMANDS:
            raise UsageError(
                where=f"cimento {cmd_name}",
                seen="there is no such command",
                todo=did_you_mean(cmd_name, COMMANDS),
            )
        return _command(cmd_name, load(cmd_name))

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


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
