"""The help of a command: its options in named groups, the usual ones or all of them.

``-h`` shows at most `MOST_SHOWN` options, ``--help-all`` every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import typer
from typer.core import TyperCommand, TyperOption

from cimento.cli.facts import exit_codes
from cimento.cli.groups import HELP_ALL
from cimento.cli.help_examples import EXAMPLES
from cimento.cli.help_groups import (
    FEW,
    GROUPS,
    METAVARS,
    NO_SINGLE_CALL,
    OTHER,
    SHOWN,
    TAKES_LINE_OF_RUN,
)
from cimento.errors import UsageError

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

MOST_SHOWN = 15
"""The most options that ``-h`` shows of a command."""


class OptionHelp(NamedTuple):
    """What help says of an argument or an option.

    Attributes:
        name: its name in the program.
        written: how it is written, with a word for its value.
        text: what it does, its choices and its default.
        shown: whether ``-h`` shows it.
    """

    name: str
    written: str
    text: str
    shown: bool


class OptionGroup(NamedTuple):
    """Some options of a command under a title."""

    title: str
    options: Sequence[OptionHelp]


def option_groups(words: str, params: Sequence[Any]) -> list[OptionGroup]:
    """The options of a command in the groups of its help, without arguments.

    Args:
        words: the command, such as ``suites check``.
        params: its parameters, as typer has them.
    """
    options = [
        param for param in params if param.param_type_name == "option" and param.name != "help"
    ]
    if used := TAKES_LINE_OF_RUN.get(words):
        options = [param for param in options if param.name in used]
    shown = SHOWN.get(words, [param.name for param in options])
    own = GROUPS.get(words, {})
    groups = own if len(options) <= FEW else {**own, **OTHER}
    titles = {name: title for title, names in OTHER.items() for name in names}
    titles = titles if len(options) > FEW else {}
    titles |= {name: title for title, names in own.items() for name in names}
    by_title: dict[str, list[OptionHelp]] = {}
    for param in options:
        text = OptionHelp(param.name, _written(param), _text(param), param.name in shown)
        by_title.setdefault(titles.get(param.name, "Options"), []).append(text)
    order = dict.fromkeys([*own, "Options", *groups])
    return [OptionGroup(title, by_title[title]) for title in order if title in by_title]


def arguments_of(params: Sequence[Any]) -> list[OptionHelp]:
    """The arguments of a command."""
    return [
        OptionHelp(param.name, metavar_of(param), param.help or "", shown=True)
        for param in params
        if param.param_type_name == "argument"
    ]


def usage_of(params: Sequence[Any]) -> str:
    """The arguments and options of a command's usage; what may be left out is in brackets."""
    names = [
        str(param.metavar or metavar_of(param))
        for param in params
        if param.param_type_name == "argument"
    ]
    return " ".join([*names, "[OPTIONS]"])


def metavar_of(param: Any) -> str:  # noqa: ANN401  # typer's parameter
    """The word for a value in help, such as FILE or N; without brackets."""
    if param.metavar:
        return str(param.metavar).replace("[", "").replace("]", "")
    if named := METAVARS.get(param.name):
        return named
    annotation = param.type_descriptor.annotation
    [kind] = get_args(annotation) if param.type_descriptor.is_list else (annotation,)
    if kind is Path:
        return kind_of_path(param.help or "")
    by_kind = {int: "N", float: "NUMBER"}
    return by_kind.get(kind) or str(param.name).rpartition("_")[2].upper()


def kind_of_path(about: str) -> Literal["PATH", "FOLDER", "FILE"]:
    """Whether an option takes a folder, a file or either, as its help begins.

    Args:
        about: the help.
    """
    words = about.lower()
    if "file or folder" in words:
        return "PATH"
    return "FOLDER" if "folder" in words[:12] else "FILE"


def _written(param: Any) -> str:  # noqa: ANN401
    flags = ", ".join(sorted(map(str, param.opts), key=len))
    if param.secondary_opts:
        flags += f" / {', '.join(param.secondary_opts)}"
    return flags if param.is_flag else f"{flags} {metavar_of(param)}"


def choices_of(param: Any) -> tuple[str, ...]:  # noqa: ANN401
    """The values that an option takes, if they are few and fixed."""
    return tuple(map(str, param.type_descriptor.choices or ()))


def _text(param: Any) -> str:  # noqa: ANN401
    text = param.help or ""
    choices = choices_of(param)
    if missing := [choice for choice in choices if choice not in text.casefold()]:
        text += f" {'One of' if len(missing) == len(choices) else 'Also'} {', '.join(missing)}."
    if param.required:
        return f"{text} Must be given."
    value = param.default
    is_plain = isinstance(value, str | int | float | Path) and not isinstance(value, bool)
    if is_plain and str(value) and "default" not in text:
        text += f" Default: {value}."
    return text.strip()


class HelpfulCommand(TyperCommand):
    """A command whose help shows the usual options, and all of them on request."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """The arguments, unless they ask for every option."""
        if HELP_ALL in args and not ctx.resilient_parsing:
            ctx.meta[HELP_ALL] = True
            typer.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        self._refuse_second_model(ctx, args)
        return super().parse_args(ctx, args)

    def _refuse_second_model(self, ctx: Context, args: Sequence[str]) -> None:
        """Refuse a second model where a command takes one, since `run` and others take several.

        Of other options the last one counts, as in any command line.

        Raises:
            UsageError: there are several.
        """
        _, _, given = self.make_parser(ctx).parse_args([*args])
        models = [one for one in given if one.name == "model" and isinstance(one, TyperOption)]
        if len(models) > 1 and not models[0].multiple:
            raise UsageError(
                where="--model",
                seen=f"given {len(models)} times, and this command takes one",
                todo="Call the command once for each model",
            )

    def format_usage(self, ctx: Context, formatter: HelpFormatter) -> None:
        """The usage: arguments first, then options."""
        formatter.write_usage(ctx.command_path, usage_of(self.params))

    def format_help_text(self, ctx: Context, formatter: HelpFormatter) -> None:
        """What the command does; of one that takes the line of a run, that it does."""
        super().format_help_text(ctx, formatter)
        if taken := taken_of_run(_words(ctx)):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(taken)

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """The arguments, and the options in groups."""
        if arguments := arguments_of(self.params):
            with formatter.section("Arguments"):
                formatter.write_dl([(row.written, row.text) for row in arguments])
        wants_all = HELP_ALL in ctx.meta
        left = 0
        for group in option_groups(_words(ctx), self.params):
            rows = [(row.written, row.text) for row in group.options if row.shown or wants_all]
            left += len(group.options) - len(rows)
            if rows:
                with formatter.section(group.title):
                    formatter.write_dl(rows)
        if left:
            formatter.write_paragraph()
            formatter.write(f"{left} more options: --help-all\n")
        _write_examples(_words(ctx), formatter)


def _write_examples(words: str, formatter: HelpFormatter) -> None:
    """What can be typed as it is, and exit codes with a meaning of their own."""
    lines = EXAMPLES.get(words, ())
    if lines:
        formatter.write(f"\nExample{'s' * (len(lines) > 1)}:\n")
        formatter.write("".join(f"  {line}\n" for line in lines))
    if codes := exit_codes(words):
        formatter.write("\n")
        formatter.write_text(codes)


_LINE_OF_RUN = "It takes the arguments of `cimento run`: cimento run --help-all lists them."
_NO_SINGLE_CALL = (
    "It takes the arguments of `cimento run` (cimento run --help-all lists them), but none of a"
    " single call, such as --fail-under, --junit and --share."
)


def taken_of_run(words: str) -> str:
    """What a command takes of the line of `run`, as a sentence; empty for other commands.

    Args:
        words: the command, such as ``cluster slurm``.
    """
    if words not in TAKES_LINE_OF_RUN:
        return ""
    return _NO_SINGLE_CALL if words in NO_SINGLE_CALL else _LINE_OF_RUN


def _words(ctx: Context) -> str:
    return ctx.command_path.partition(" ")[2]
