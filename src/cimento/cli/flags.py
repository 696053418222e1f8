"""Flags from a model of options: a command is a function of one record, its flags are the fields.

``batch_size: Limit = option("auto", ...)`` becomes ``--batch-size`` with the variable
``CIMENTO_BATCH_SIZE``, the type, the limits and the help of the field. Flags of commands that are
plain functions are declared here once, where several commands share them.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer

from cimento.errors import UsageError
from cimento.models.base import BosRule, DtypeName, KindRule, PllRule, PunctuationRule
from cimento.options import Options, about, checked
from cimento.suites.model import Metric as MetricName
from cimento.suites.model import UnitName

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


OptionsT = TypeVar("OptionsT", bound=Options)
Given = Mapping[str, object]
"""Options that stand on the command line or in the environment, by name."""


def command_of(
    model: type[OptionsT],
    action: Callable[[OptionsT], int],
    *,
    positional: str | tuple[str, ...] = (),
    metavar: str | tuple[str, ...] = (),
    read: Callable[[Given], Given] = lambda given: given,
) -> Callable[..., int]:
    """A command whose flags are the fields of a model.

    Args:
        model: of its options.
        action: what it does; its docstring is the help.
        positional: names of the fields that are given without a flag.
        metavar: how each of them is named in the help.
        read: adds what a run file gives to what was given on the command line.
    """
    names, shown = ((each,) if isinstance(each, str) else each for each in (positional, metavar))
    metavars = dict(zip(names, shown, strict=True))
    fields = {name: model.model_fields[name] for name in _ordered(model, metavars)}
    parameters = [
        _argument(name, field, metavars[name]) if name in metavars else _flag(name, field)
        for name, field in fields.items()
        if about(field)
    ]

    def command(ctx: typer.Context, **values: object) -> int:
        given = {name: value for name, value in values.items() if _is_given(ctx, name)}
        return action(checked(model, read(given), written="--"))

    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    # typer reads the flags of a command from its signature.
    vars(command)["__signature__"] = inspect.Signature(
        [context, *parameters], return_annotation=int
    )
    command.__annotations__ = {each.name: each.annotation for each in (context, *parameters)}
    command.__doc__ = action.__doc__
    command.__name__ = action.__name__
    return command


def _ordered(model: type[Options], positional: Iterable[str]) -> dict[str, None]:
    """The options in the order of the help: positional ones, those declared beside them, others."""
    declared = (vars(part).get("__annotations__", {}) for part in model.__mro__)
    first = [name for names in declared if set(positional) & set(names) for name in names]
    return dict.fromkeys([*positional, *first, *model.model_fields])


def _is_given(ctx: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line or in the environment."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT")


def _argument(name: str, field: FieldInfo, metavar: str) -> inspect.Parameter:
    argument = typer.Argument(metavar=metavar, help=field.description)
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
        {"Ge": "min", "Le": "max"}[type(limit).__name__]: _bound(limit)
        for limit in field.metadata
        if type(limit).__name__ in {"Ge", "Le"}
    }
    variable = "CIMENTO_" + long.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    declared: object = typer.Option(
        *flags,
        help=field.description,
        envvar=variable,
        show_envvar=False,
        metavar=extra.get("metavar") or None,
        **limits,
    )
    return _parameter(name, kind, declared, default)


def _bound(limit: object) -> object:
    """The number that a limit of a field holds."""
    return getattr(limit, "ge", getattr(limit, "le", None))


def _parameter(name: str, kind: object, declared: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, declared],
    )


def _shape(field: FieldInfo) -> tuple[Any, object]:
    """The type of a flag as typer takes it, and its default."""
    kind = field.annotation
    parts = get_args(kind) if get_origin(kind) in {Union, types.UnionType} else (kind,)
    plain = [part for part in parts if part is not type(None)]
    origins = {get_origin(part) or part for part in plain}
    if origins & {tuple, dict}:
        several: Any = list[Path] if Path in get_args(plain[0]) else list[str]
        return (several, inspect.Parameter.empty) if field.is_required() else (several | None, None)
    if len(plain) > 1:
        # Such as a number or auto: the model reads the text.
        return str | None, None
    [single] = plain
    if single in {bool, int, float, str, Path} or get_origin(single) is Literal:
        default = inspect.Parameter.empty if field.is_required() else field.default
        return (single | None if len(parts) > 1 else single), default
    return str | None, None


def option(*flags: str, help: str, **more: Any) -> Any:  # noqa: A002  # as typer calls it
    """A typer option with its environment variable."""
    name = next(flag for flag in flags if flag.startswith("--")).split("/")[0]
    variable = "CIMENTO_" + name.removeprefix("--").replace("-", "_").upper()
    return typer.Option(*flags, help=help, envvar=variable, show_envvar=False, **more)


def number_or_auto(text: str) -> int | None:
    """A limit of batches as it is written in an option; None for ``auto``."""
    number = int(text) if text.isdecimal() else 0
    if text != "auto" and number < 1:
        raise typer.BadParameter(f"{text!r} is neither a whole number of at least 1 nor auto.")
    return number or None


_model = option(
    "-m",
    "--model",
    help="demo-causal, demo-masked, a folder, org/name@revision, openai:URL#model, kenlm:FILE,"
    " replay:FILE; may be repeated.",
)
Model = Annotated[list[str], _model]
Output = Annotated[Path, option("-o", "--output", help="Folder of runs.")]
Json = Annotated[bool, option("--json", help="Print the summary as JSON.")]
Settings = Annotated[
    list[str] | None,
    option(
        "--set",
        metavar="KEY=VALUE",
        help="An option of this kind of suite, such as k=20 for cloze tests. May be repeated.",
    ),
]
Device = Annotated[str, option("--device", help="cpu, cuda, cuda:1, mps; auto prefers a GPU.")]
Dtype = Annotated[DtypeName, option("--dtype", help="Number format of the weights.")]
ModelArgs = Annotated[
    list[str] | None,
    option(
        "--model-args",
        metavar="KEY=VALUE",
        help="An option for transformers' from_pretrained; VALUE is JSON or text. May be repeated.",
    ),
]
AllowPickle = Annotated[
    bool,
    option("--allow-pickle", help="Take weights that are not safetensors; trust who made them."),
]
TrustRemoteCode = Annotated[
    bool,
    option("--trust-remote-code", help="Run code that comes with the model; read it first."),
]
SpreadsheetSafe = Annotated[
    bool,
    option("--spreadsheet-safe", help="In CSV, an apostrophe before cells that begin a formula."),
]
Kind = Annotated[KindRule, option("--kind", help="Kind of model, where its config does not tell.")]
Bos = Annotated[
    BosRule | None,
    option(
        "--bos",
        help="auto (the default): BOS, or EOS where there is none; none: nothing; "
        "tokenizer: what it puts there itself; bos-or-eos: whatever that is.",
    ),
]
Pll = Annotated[
    PllRule | None,
    option("--pll", help="Pseudo-log-likelihood of masked models; within-word-l2r by default."),
]
Punctuation = Annotated[
    PunctuationRule | None,
    option("--punctuation", help="split (the default): a mark is a word of its own."),
]
Layers = Annotated[
    str,
    option(
        "--layers",
        metavar="all|N,N...",
        help="Store also each token's log-probability after these layers; 0 is before the first.",
    ),
]
BatchSize = Annotated[
    int | None,
    option(
        "--batch-size",
        parser=number_or_auto,
        metavar="N|auto",
        help="Sequences in one batch; auto goes by --batch-tokens.",
    ),
]
BatchTokens = Annotated[
    int | None,
    option(
        "--batch-tokens",
        parser=number_or_auto,
        metavar="N|auto",
        help="Padded tokens in one batch; auto goes by the device.",
    ),
]
Limit = Annotated[int | None, option("--limit", min=1, help="Only the first items of each suite.")]
Seed = Annotated[int, option("--seed", help="Seed of the simulated chance levels.")]
Metric = Annotated[
    MetricName | None, option("--metric", help="How a region's tokens become one value.")
]
Unit = Annotated[
    UnitName | None, option("--unit", help="Unit in which formulas are read; bits by default.")
]
Unigrams = Annotated[
    str | None,
    option("--unigrams", help="Frequencies for slor and normlp: wordfreq, wordfreq:it or a file."),
]
NearTies = Annotated[
    float | None,
    option(
        "--near-ties",
        metavar="BITS",
        min=0.0,
        help="Verdicts with a smaller margin are near ties; else the number format decides.",
    ),
]


def given(**values: Any) -> dict[str, Any]:
    """Those options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def reasons(given: Iterable[str], *, flag: str, example: str) -> dict[str, str]:
    """Name to reason, of options that are written ``NAME=REASON``.

    Raises:
        UsageError: a name or a reason is missing.
    """
    found = {}
    for each in given:
        name, _, reason = each.partition("=")
        if not (name.strip() and reason.strip()):
            raise UsageError(where=flag, seen=f"got {each!r}", todo=f"Say why: {flag} '{example}'.")
        found[name.strip()] = reason.strip()
    return found
