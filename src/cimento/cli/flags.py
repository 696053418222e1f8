"""Flags from a model of options, and lm-eval's options understood as ours.

A command is a function of one record, whose fields are the flags.
``batch_size: Limit = option("auto", ...)`` becomes ``--batch-size`` with the variable
``CIMENTO_BATCH_SIZE``, and with the type, the limits and the help of the field. Flags of plain
functions are declared here once if several commands share them.

``lm_eval --model hf --model_args pretrained=X,dtype=Y --tasks A,B --output_path D`` is understood
like ``cimento run``. Options without an equivalent are refused, with advice.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer

from cimento.errors import UsageError
from cimento.io.declared import Options, about, checked, option
from cimento.options import RunOptions

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


OptionsT = TypeVar("OptionsT", bound=Options)
Given = Mapping[str, object]
"""The options given on the command line or in the environment, by name."""


def command_of(
    model: type[OptionsT],
    action: Callable[[OptionsT], int | None],
    *,
    positional: str | tuple[str, ...] = (),
    metavar: str | tuple[str, ...] = (),
    read: Callable[[Given], Given] = lambda given: given,
) -> Callable[..., Callable[[], int | None]]:
    """A command whose flags are the fields of a model; it returns the action, for `main` to call.

    Args:
        model: model of the options.
        action: function that does the work; its docstring is the help.
        positional: names of the fields that are given without a flag.
        metavar: name of each of them in the help.
        read: function that adds the options from a run file to those given on the command line.
    """
    names, shown = (
        (value,) if isinstance(value, str) else value for value in (positional, metavar)
    )
    metavars = dict(zip(names, shown, strict=True))
    fields = {name: model.model_fields[name] for name in _ordered(model, metavars)}
    parameters = [
        _argument(name, field, metavars[name]) if name in metavars else _flag(name, field)
        for name, field in fields.items()
        if about(field)
    ]

    def command(ctx: typer.Context, **values: object) -> Callable[[], int | None]:
        given = {name: value for name, value in values.items() if _is_given(ctx, name)}
        return partial(action, checked(model, read(given), written="--"))

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
    command.__name__ = action.__name__.strip("_")
    return command


def run_option(name: str) -> Any:  # pydantic's field, in the place of a value
    """An option of runs, for use in another command."""
    return copy(RunOptions.model_fields[name])


def run_options_of(options: Options, **fixed: object) -> RunOptions:
    """The run options for a command that makes runs.

    Args:
        options: options of the command, of which those that runs share are copied.
        fixed: options that the command sets itself.
    """
    shared = type(options).model_fields.keys() & RunOptions.model_fields.keys() - {"as_json"}
    given = {name: value for name in shared if (value := getattr(options, name)) is not None}
    return checked(RunOptions, given | fixed, written="--")


class SheetOptions(Options):
    """The options of commands whose tables may be opened in a spreadsheet program."""

    spreadsheet_safe: bool = option(
        default=False, help="In CSV, an apostrophe before cells that begin a formula."
    )

    def neutralise(self, *paths: Path) -> None:
        """Rewrite the CSV files among some files without formulas, if this is requested."""
        if self.spreadsheet_safe:
            neutralise(paths)


def neutralise(paths: Iterable[Path]) -> None:
    """Rewrite CSV files so that no cell can be taken for a formula by a spreadsheet program.

    Args:
        paths: files that a command has written; files of other kinds are unchanged.
    """
    from cimento.io.files import make_inert

    for path in paths:
        if path.suffix.lower() == ".csv":
            make_inert(path)


def _ordered(model: type[Options], positional: Iterable[str]) -> dict[str, None]:
    """The options in the order of the help: positional ones, those declared with them, others.

    Without positional ones, a command's own options come before those that it shares.
    """
    declared = (vars(part).get("__annotations__", {}) for part in model.__mro__)
    beside = set(positional)
    first = [name for group in declared if not beside or beside & set(group) for name in group]
    return dict.fromkeys([*positional, *first, *model.model_fields])


def _is_given(ctx: typer.Context, name: str) -> bool:
    """Whether an option is given on the command line or in the environment."""
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


SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="Built-in name or path.")]
SuiteNames = Annotated[
    list[str], typer.Argument(metavar="SUITE...", help="Built-in names or paths.")
]
Language = Annotated[
    str, flag("--language", help="ISO 639-1 code of bare tables, which do not say theirs.")
]
Json = Annotated[bool, flag("--json", help="Print the summary as JSON.")]


def reasons(given: Iterable[str], *, flag: str, example: str) -> dict[str, str]:
    """The reasons by name, from options written as ``NAME=REASON``.

    Raises:
        UsageError: a name or a reason is missing.
    """
    given_reasons = {}
    for text in given:
        name, _, reason = text.partition("=")
        if not (name.strip() and reason.strip()):
            raise UsageError(where=flag, seen=f"got {text!r}", todo=f"Say why: {flag} '{example}'.")
        given_reasons[name.strip()] = reason.strip()
    return given_reasons


def shape_of(field: FieldInfo) -> Literal["list", "bool", "one"]:
    """Whether an option takes several values, true or false, or a single value."""
    parts = [get_origin(part) or part for part in get_args(field.annotation) or (field.annotation,)]
    if field.annotation is not None and get_origin(field.annotation) in {tuple, dict}:
        return "list"
    if tuple in parts or dict in parts:
        return "list"
    return "bool" if bool in parts else "one"


_ONE = 1.0
_INSTEAD: Mapping[str, tuple[str, str]] = {
    "--num-fewshot": (
        "sentences are scored alone, without worked examples before them",
        (
            "Leave it out, or put a text before every sentence: --context TEXT. Stories have --set"
            " shots=2."
        ),
    ),
    "--apply-chat-template": (
        "sentences are scored as they are, without a template",
        (
            "Leave it out. To ask a model that chats, turn the suite into questions: cimento suites"
            " build prompted SUITE; those, and stories, use the model's template by themselves."
        ),
    ),
    "--wandb-args": (
        "runs are not sent anywhere",
        "cimento report RUNS -o table.csv writes numbers.",
    ),
    "--hf-hub-log-args": (
        "runs are not sent anywhere",
        "cimento export --to hf-dataset writes a folder that can be uploaded.",
    ),
    "--use-cache": ("answers are kept anyway", "Leave it out; --no-cache keeps none."),
    "--cache-requests": ("answers are kept anyway", "Leave it out; --no-cache keeps none."),
    "--include-path": ("suites are given by their paths", "cimento run task.yaml -m MODEL."),
    "--gen-kwargs": ("replies are limited by the suite", "Servers take --body KEY=VALUE."),
    "--fewshot-as-multiturn": ("sentences are scored alone", "Leave it out."),
    "--max-batch-size": (
        "a batch is limited by its padded tokens, and halved where memory is short",
        "Leave it out, or give --batch-tokens N.",
    ),
    "--samples": ("a part of a suite is its first items", "Give --limit N."),
    "--predict-only": (
        "answers are stored with the verdicts",
        "Leave it out; cimento judge RUN judges them again.",
    ),
    "--write-out": (
        "cimento suites show SUITE prints sentences, cimento stories prompt SUITE --row N a prompt",
        "Leave it out.",
    ),
    "--show-config": ("cimento suites show SUITE prints a suite", "Leave it out."),
    "--check-integrity": ("cimento suites check SUITE checks a suite", "Leave it out."),
    "--config": ("options stand in a run file (.toml)", "cimento run RUN.toml."),
    "--verbosity": ("messages have one level", "Leave it out."),
    "--metadata": ("a suite says what is known of it", "Leave it out."),
    "--confirm-run-unsafe-code": ("no suite holds code that is run", "Leave it out."),
    "--system-instruction": (
        "it stands in the prompts of a suite",
        "Put a text before every sentence with --context TEXT.",
    ),
}
"""The options of lm-eval without an equivalent: the reason, and the alternative."""
_WORKERS = "Give --workers N: processes on this machine."
_OUTPUT = "Give --output FOLDER."
_QUANTISED = """Give --model-args 'quantization_config={"load_in_4bit": true}'."""
_ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("--jobs", "--n-jobs", "--num-workers", "--processes", "-j"), _WORKERS),
    **dict.fromkeys(("--output-dir", "--out", "--outdir"), _OUTPUT),
    **dict.fromkeys(("--quantize", "--load-in-4bit", "--load-in-8bit"), _QUANTISED),
    "--gpu": "Give --device cuda, or cuda:1.",
    "--gpus": "Give --device cuda, or cuda:1; --model-args device_map=auto uses several.",
    "--models": "Give -m MODEL, once for each model.",
    "--revision": "Give -m NAME@REVISION.",
    "--suite": "Give suites by themselves, before -m.",
    "--suites": "Give suites by themselves, before -m.",
}
"""Options of other programs under which something of ours is looked for."""
_READ = ("--tasks", "--output-path", "--limit", "--seed", "--batch-size")
"""The options whose values lm-eval writes in its own way."""
_NOTHING = {"--num-fewshot": "0"}
"""Values of these options that are accepted because they change nothing."""


def options_from_lm_eval(arguments: Sequence[str]) -> list[str]:
    """The arguments of ``cimento run``, with lm-eval's options translated into ours.

    Args:
        arguments: arguments after the name of the command, with ``-`` in the names of options.

    Raises:
        UsageError: an option has no equivalent; the message names the alternative.
    """
    left = [part for word in arguments for part in _parted(word)]
    ours: list[str] = []
    while left:
        word = left.pop(0)
        following = left[0] if left and not left[0].startswith("-") else ""
        if word == "--tasks" and following:
            ours += filter(None, left.pop(0).split(","))
        elif word == "--output-path" and following:
            ours += ["--output", left.pop(0)]
        elif word in _INSTEAD and following and following == _NOTHING.get(word):
            left.pop(0)
        elif word in _INSTEAD:
            seen, todo = _INSTEAD[word]
            raise UsageError(where=word, seen=f"lm-eval has this option; here {seen}", todo=todo)
        elif word.partition("=")[0] in _ELSEWHERE:
            name = word.partition("=")[0]
            raise UsageError(where=name, seen="there is no such option", todo=_ELSEWHERE[name])
        else:
            if word == "--limit":
                _refuse_share(following)
            if word == "--seed" and "," in following:
                raise UsageError(
                    where=f"--seed {following}",
                    seen="lm-eval has a seed for each random generator; there is one here",
                    todo="Give one number.",
                )
            if word == "--batch-size" and following.startswith("auto:"):
                left[0] = "auto"  # what lm-eval measures again so often has no equal
            ours.append(word)
    return ours


def _parted(word: str) -> list[str]:
    """An option of lm-eval and its value, if both are written as one word."""
    name, equals, value = word.partition("=")
    known = name in (*_INSTEAD, *_READ)
    return [name, value] if known and equals else [word]


def _refuse_share(value: str) -> None:
    """Refuse a limit given as a share of the items, which only lm-eval accepts.

    Raises:
        UsageError: the limit is a share.
    """
    try:
        share = float(value)
    except ValueError:
        return
    if 0 < share < _ONE:
        raise UsageError(
            where=f"--limit {value}",
            seen="lm-eval takes this for a share of the items; a number of items is needed here",
            todo=f"Give that number: of 1,000 items it would be {round(1000 * share)}."
            " cimento plan says how many a suite has.",
        )


_ARGUMENTS: Mapping[str, str] = {
    "max_length": "A text is never cut: one that is longer than the model's window is refused, and"
    " --window sliding reads it in parts. Leave it out.",
    "peft": "Give the adapter's folder as the model: -m FOLDER.",
    "prefix_token_id": "--bos says what stands before a text: auto, bos-or-eos or none.",
    "tensor_parallel_size": "Give it to `vllm serve NAME`, and that server as openai:URL#NAME.",
    "gpu_memory_utilization": "Give it to `vllm serve NAME`, and that server as openai:URL#NAME.",
}
"""Model arguments of lm-eval that have no option here, and what to do instead."""


_LM_EVAL_HF = ("hf", "hf-auto", "hf-causal", "hf-multimodal", "huggingface", "mamba_ssm")
_LM_EVAL_ENGINES = ("vllm", "sglang")
_OPENAI = "https://api.openai.com/v1"
_LM_EVAL_SERVERS: Mapping[str, str] = {
    "local-completions": "",
    "local-chat-completions": "",
    "openai-completions": _OPENAI,
    "openai-chat-completions": _OPENAI,
}
"""The servers of lm-eval, and where those are whose address it knows."""
_NEXT_ARGUMENT = re.compile(r",(?=\s*\w+\s*=)")
_RENAMED = {
    "device": "device", "dtype": "dtype", "tokenizer": "tokenizer", "batch_size": "batch_size",
    "num_concurrent": "concurrency", "timeout": "timeout",
}  # fmt: skip
"""Model arguments of lm-eval that are separate options here."""
_SWITCHES: Mapping[str, tuple[str, object]] = {
    "trust_remote_code": ("trust_remote_code", True),
    "parallelize": ("device_map", "auto"),
    "add_bos_token": ("bos", "bos-or-eos"),
}
"""Model arguments that are True or False in lm-eval, and the meaning of True here."""
_OF_ITS_CLIENT = ("tokenizer", "tokenizer_backend", "tokenized_requests", "max_retries")
"""Arguments on how lm-eval counts a server's tokens and repeats requests; here, the server states
the positions of its tokens."""


def model_from_lm_eval(given: Given) -> Given:
    """The model options, with lm-eval's ``--model hf --model_args pretrained=X,dtype=Y`` as ours.

    Args:
        given: options on the command line, by name; options that lm-eval lacks are unchanged.

    Raises:
        UsageError: an argument contradicts the name of the model.
    """
    models, args = given.get("models"), given.get("model_args") or []
    if not (isinstance(models, list) and isinstance(args, list) and len(models) == 1):
        return given
    [model], named = models, "model" if models[0] in _LM_EVAL_SERVERS else "pretrained"
    pairs = [pair.partition("=") for text in args for pair in _NEXT_ARGUMENT.split(text)]
    stated = {key.strip(): value.strip() for key, _, value in pairs}
    if Path(model).exists():
        return given
    if model not in (*_LM_EVAL_HF, *_LM_EVAL_ENGINES, *_LM_EVAL_SERVERS):
        _refuse_unknown_kind(model, stated)
        return given
    if named not in stated:
        raise UsageError(
            where=f"--model {model}",
            seen=f"lm-eval's name of a kind of models is given without --model-args {named}=NAME",
            todo="Give the model itself: -m NAME.",
        )
    shown = stated.pop(named)
    if model in _LM_EVAL_SERVERS:
        stated = {key: value for key, value in stated.items() if key not in _OF_ITS_CLIENT}
        shown = f"openai:{_address(model, stated)}#{shown}"
    elif model in _LM_EVAL_ENGINES:
        shown = f"{model}:{shown}"
    elif revision := stated.pop("revision", ""):
        shown = f"{shown}@{revision}"
    renamed: dict[str, object] = {
        ours: stated.pop(lm) for lm, ours in _RENAMED.items() if lm in stated
    }
    switched = {name: stated.pop(name, "") == "True" for name in _SWITCHES}
    renamed |= {ours: value for name, (ours, value) in _SWITCHES.items() if switched[name]}
    if device_map := renamed.pop("device_map", ""):
        stated["device_map"] = str(device_map)
    for name in (name for name in stated if name in _ARGUMENTS):
        raise UsageError(
            where=f"--model-args {name}", seen="this is lm-eval's argument", todo=_ARGUMENTS[name]
        )
    rest = [f"{key}={value}" for key, value in stated.items()]
    return {**renamed, **given, "models": [shown], "model_args": rest}


def _refuse_unknown_kind(model: str, stated: Mapping[str, str]) -> None:
    """See that no model or server is named beside a kind of models that only lm-eval knows.

    Raises:
        UsageError: one is.
    """
    named, address = stated.get("pretrained") or stated.get("model"), stated.get("base_url")
    if named or address:
        raise UsageError(
            where=f"--model {model}",
            seen="this is lm-eval's name of a kind of models, which has no equal here",
            todo=f"Give the model itself: {f'-m {named}' if named else 'its folder or file'}, or"
            f" its server, -m openai:{address or 'URL'}#{named or 'NAME'}.",
        )


def _address(model: str, stated: dict[str, str]) -> str:
    """The address of a server, removed from the model arguments.

    Raises:
        UsageError: there is no address.
    """
    address = re.sub(r"(/chat)?/completions/?$", "", stated.pop("base_url", ""))
    address = address or _LM_EVAL_SERVERS[model]
    if not address:
        raise UsageError(
            where=f"--model {model}", seen="there is no base_url", todo="Give openai:URL#model."
        )
    return address
