"""Flags from a model of options.

A command is a function of one record, whose fields are the flags.
``batch_size: Limit = option("auto", ...)`` becomes ``--batch-size`` with the variable
``CIMENTO_BATCH_SIZE``, and with the type, the limits and the help of the field. Flags of plain
functions are declared here once if several commands share them.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer

from cimento.errors import UsageError
from cimento.io.declared import Options, Texts, about, checked, option
from cimento.io.files import refuse_overwriting
from cimento.options import RunOptions

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


OptionsT = TypeVar("OptionsT", bound=Options)
Given = Mapping[str, object]
"""The options given on the command line or in the environment, by name."""


def command_of(
    action: Callable[[OptionsT], int | None],
    *,
    read: Callable[[Given], Given] = lambda given: given,
) -> Callable[..., Callable[[], int | None]]:
    """A command whose flags are the fields of a record; it returns the action, for `main` to call.

    Args:
        action: function that does the work, of the record alone; its docstring is the help.
        read: function that adds the options from a run file to those given on the command line.
    """
    model = options_of(action)
    parameters = [
        _argument(name, field) if about(field)["argument"] else _flag(name, field)
        for name, field in _ordered(model).items()
        if about(field)
    ]

    def command(ctx: typer.Context, **values: object) -> Callable[[], int | None]:
        given = {name: value for name, value in values.items() if _is_given(ctx, name)}
        options = checked(model, read(given))
        refuse_what_is_read(options)
        return partial(action, options)

    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    # typer reads the flags of a command from its signature.
    vars(command)["__signature__"] = inspect.Signature(
        [context, *parameters], return_annotation=int
    )
    command.__annotations__ = {
        parameter.name: parameter.annotation for parameter in (context, *parameters)
    }
    command.__doc__ = action.__doc__
    command.__name__ = action.__name__
    return command


_OUTPUTS = ("output", "figure", "site", "participants")
"""Names of options for a file or folder that a command writes."""


def refuse_what_is_read(options: Options) -> None:
    """Refuse to write over a file that the command is given to read, or into a stored run.

    A folder in the place of a file, or a file in that of a folder, is refused too.

    Args:
        options: of any command.

    Raises:
        UsageError: an output is one of the inputs, in the folder of a run, or of the other kind.
    """
    values = {name: getattr(options, name) for name in type(options).model_fields}
    inputs = [value for name, value in values.items() if name not in _OUTPUTS]
    for name, output in values.items():
        if name in _OUTPUTS and isinstance(output, Path):
            from cimento.kinds.replacing import refuse_inside_run

            refuse_inside_run(output, where=f"--{name}")
            _refuse_other_kind(output, name, type(options).model_fields[name].description or "")
            if output.is_file():
                refuse_overwriting(output, _files_in(inputs))


def _refuse_other_kind(output: Path, name: str, about: str) -> None:
    """Refuse a folder where a file is written, and a file where a folder is."""
    from cimento.cli.help import kind_of_path

    kind = "FOLDER" if name == "site" else kind_of_path(about)
    if kind == "FILE" and output.is_dir():
        seen, todo = "this is a folder, and a file is written", "Name a file, perhaps in it."
    elif kind == "FOLDER" and output.is_file():
        seen, todo = "this is a file, and a folder is written", "Name a folder."
    else:
        return
    raise UsageError(where=f"--{name} {output}", seen=seen, todo=todo)


def _files_in(values: Iterable[object]) -> Iterator[Path]:
    """The values that are files, by path or by name."""
    for value in values:
        if isinstance(value, tuple):
            yield from _files_in(value)
        elif isinstance(value, str | Path):
            with suppress(OSError, ValueError):  # a text that cannot be the name of a file
                if Path(value).is_file():
                    yield Path(value)


def options_of(action: Callable[[OptionsT], object]) -> type[OptionsT]:
    """The record of options that an action of a command takes."""
    model: type[OptionsT] = get_type_hints(action)["options"]
    return model


def run_options_of(options: Options, **fixed: object) -> RunOptions:
    """The run options for a command that makes runs.

    Args:
        options: options of the command, of which those that runs share are copied.
        fixed: options that the command sets itself.
    """
    shared = type(options).model_fields.keys() & RunOptions.model_fields.keys() - {"as_json"}
    given = {name: value for name in shared if (value := getattr(options, name)) is not None}
    return checked(RunOptions, given | fixed)


class SuiteOptions(Options):
    """A suite."""

    suite: str = option(..., "Built-in name or path.", argument="SUITE")


class SuitesOptions(Options):
    """Suites."""

    suites: Texts = option(..., "Built-in names or paths.", argument="SUITE...")


class StoredOptions(Options):
    """Stored runs."""

    runs: tuple[Path, ...] = option(..., "Run folders, or folders of runs.", argument="RUN...")


class SheetOptions(Options):
    """The options of commands whose tables may be opened in a spreadsheet program."""

    spreadsheet_safe: bool = option(
        default=False,
        help="CSV for Excel: accents are read, and no cell is taken for a formula.",
    )

    def neutralize(self, *paths: Path) -> None:
        """Rewrite the CSV files among some files without formulas, if this is requested."""
        if self.spreadsheet_safe:
            neutralize(paths)


def refuse_file_name(path: Path, *, holds: str, then: str = "") -> None:
    """Refuse the name of a file for a folder that is to be written.

    Args:
        path: of the folder.
        holds: what is stored in it, with its verb: ``runs are``.
        then: what else the advice says of the ``{folder}``.

    Raises:
        UsageError: nothing is there, and the name has the ending of a file.
    """
    if path.suffix.lower() in _FILES and not path.exists():
        folder = path.with_suffix("")
        raise UsageError(
            where=f"--output {path}",
            seen=f"{holds} stored in a folder, and this is the name of a file",
            todo=f"Give a folder, such as {folder}{then.replace('{folder}', str(folder))}.",
        )


def refuse_used_folder(path: Path, *, force: bool) -> None:
    """Refuse a folder with files in it, unless they are to be replaced.

    Raises:
        UsageError: there are files, which would be mixed with others or lost.
    """
    if not force and path.is_dir() and next(path.iterdir(), None) is not None:
        raise UsageError(
            where=f"--output {path}",
            seen="there are files in this folder already",
            todo="Name another folder, or give --force to replace them.",
        )


_FILES = frozenset({".json", ".jsonl", ".csv", ".tsv", ".xlsx", ".html", ".md", ".txt", ".pdf"})


def neutralize(paths: Iterable[Path]) -> None:
    """Rewrite CSV files so that no cell can be taken for a formula by a spreadsheet program.

    Args:
        paths: files that a command has written; files of other kinds are unchanged.
    """
    from cimento.io.files import make_inert

    for path in paths:
        if path.suffix.lower() == ".csv":
            make_inert(path)


def _ordered(model: type[Options]) -> dict[str, FieldInfo]:
    """The options in the order of the help: positional ones, those declared with them, others.

    Without positional ones, a command's own options come before those that it shares.
    """
    fields = model.model_fields
    declared = [
        [name for name in vars(part).get("__annotations__", {}) if name in fields]
        for part in model.__mro__
    ]
    own_first = dict.fromkeys(name for group in declared for name in group)
    beside = {name for name in own_first if about(fields[name]).get("argument")}
    positional = [name for name in own_first if name in beside]
    first = [name for group in declared if not beside or beside & {*group} for name in group]
    return {name: fields[name] for name in dict.fromkeys([*positional, *first, *fields])}


def _is_given(ctx: typer.Context, name: str) -> bool:
    """Whether an option is given on the command line or in the environment."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT")


def _argument(name: str, field: FieldInfo) -> inspect.Parameter:
    argument = typer.Argument(metavar=about(field)["argument"], help=field.description)
    kind, default = _shape(field)
    return _parameter(name, kind, argument, default)


def _flag(name: str, field: FieldInfo) -> inspect.Parameter:
    extra = about(field)
    kind, default = _shape(field)
    flags = list(extra.get("flags", ()))
    if not any(flag.startswith("--") for flag in flags):
        flags.append(f"--{name.replace('_', '-')}")
    long = next(flag for flag in flags if flag.startswith("--"))
    if kind == bool | None and "/" not in long:
        flags = [f"{long}/--no-{long.removeprefix('--')}"]
    limits: dict[str, Any] = {
        {"Ge": "min", "Le": "max"}[type(limit).__name__]: getattr(
            limit, "ge", getattr(limit, "le", None)
        )
        for limit in field.metadata
        if type(limit).__name__ in {"Ge", "Le"}
    }
    metavar = extra.get("metavar") or None
    declared = flag(*flags, help=field.description, metavar=metavar, **limits)
    return _parameter(name, kind, declared, default)


def _parameter(name: str, kind: object, declared: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, declared],
    )


def _shape(field: FieldInfo) -> tuple[Any, object]:
    """The type of a flag in the form that typer expects, and its default."""
    kind = field.annotation
    parts = get_args(kind) if get_origin(kind) in {Union, types.UnionType} else (kind,)
    plain = [part for part in parts if part is not type(None)]
    origins = {get_origin(part) or part for part in plain}
    if origins == {list}:
        return kind, None
    if origins & {tuple, dict}:
        several: Any = list[Path] if Path in get_args(plain[0]) else list[str]
        return (several, inspect.Parameter.empty) if field.is_required() else (several | None, None)
    if len(plain) > 1:
        # For example a number or auto: the model parses the text.
        return str | None, None
    [single] = plain
    if single in {bool, int, float, str, Path} or get_origin(single) is Literal:
        default = inspect.Parameter.empty if field.is_required() else field.default
        return (single | None if len(parts) > 1 else single), default
    return str | None, None


def flag(*flags: str, help: str | None, **more: Any) -> Any:  # noqa: A002  # as typer calls it
    """A typer option with its environment variable."""
    name = next(part for part in flags if part.startswith("--")).split("/")[0]
    variable = "CIMENTO_" + name.removeprefix("--").replace("-", "_").upper()
    return typer.Option(*flags, help=help, envvar=variable, show_envvar=False, **more)


def parted(
    texts: Iterable[str], *, flag: str, todo: str, may_be_empty: bool = False
) -> dict[str, str]:
    """The text after each name, from options written as ``NAME=TEXT``.

    Args:
        texts: as the user wrote them.
        flag: the option, for the message.
        todo: what to write instead.
        may_be_empty: whether nothing may come after the sign.

    Raises:
        UsageError: a name or a text is missing.
    """
    pairs = {}
    for text in texts:
        name, equals, after = text.partition("=")
        if not name.strip() or not (equals if may_be_empty else after.strip()):
            raise UsageError(where=flag, seen=f"got {text!r}", todo=todo)
        pairs[name.strip()] = after.strip()
    return pairs


def shape_of(field: FieldInfo) -> Literal["list", "bool", "one"]:
    """Whether an option takes several values, true or false, or a single value."""
    parts = [get_origin(part) or part for part in get_args(field.annotation) or (field.annotation,)]
    if field.annotation is not None and get_origin(field.annotation) in {tuple, dict}:
        return "list"
    if tuple in parts or dict in parts:
        return "list"
    return "bool" if bool in parts else "one"
