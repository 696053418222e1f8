"""Run files: the suites, models and options of a run in TOML; the command line overrides them.

::

    suites = ["it-islands", "suites/agreement"]
    models = ["demo-causal", "org/name@1a2b3c4"]
    measures = ["lp", "penlp"]
    engine = "local"
    workers = 4
    limit = 100

    [set]
    k = 20

Keys are the options of ``cimento run``, with ``_`` or ``-``. Paths are as on the command line.

Run files are published and passed on, so they say what is done, never what is trusted: trust, and
models that need it, are given on the command line.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from cimento.errors import InputError, UsageError, did_you_mean
from cimento.parsing import parse_toml

if TYPE_CHECKING:
    import typer

    from cimento.suites.model import JsonValue

_PLURALS = {"models": "model", "measures": "measure", "predictions": "prediction", "set": "set_"}
_NOT_OF_A_RUN = ("json", "force")
_TRUST = ("allow_pickle", "trust_remote_code")


def with_run_file(
    ctx: typer.Context, values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, JsonValue]]:
    """The options of a command, with those that its run file gives where it was not given them.

    Args:
        ctx: of the command.
        values: the options by the names of their parameters, as typer read them.

    Returns:
        The options, and what was chosen by the keys of a run file.

    Raises:
        UsageError: there are two run files.
        InputError: the run file cannot be read, a key or value in it is none of a run's, or what it
            says would be trusted.
    """
    filled = dict(values)
    files = [Path(each) for each in values["suites"] or () if is_run_file(each)]
    if len(files) > 1:
        raise UsageError(
            where=str(files[1]), seen=f"{files[0]} is a run file too", todo="Give one of them."
        )
    for file in files:
        others = [each for each in values["suites"] if Path(each) != file]
        filled["suites"] = others
        found = _read(file, ctx)
        given = {name for name in found if _is_given(ctx, name)} - {"suites"}
        said = given | {"suites"} if others else given
        if "model" not in said:
            _refuse_trusted(found.get("model", ()), where=str(file))
        filled |= {name: value for name, value in found.items() if name not in said}
    return filled, _stated(ctx, filled)


def is_run_file(name: str) -> bool:
    """Whether an argument is a run file: TOML, and not that of a suite."""
    path = Path(name)
    return path.suffix == ".toml" and path.name != "suite.toml" and not path.is_dir()


def said_beside(models: Sequence[str], args: Mapping[str, JsonValue]) -> list[str]:
    """What must stand on the command line beside a run file, since no file may say it.

    Args:
        models: those of the run.
        args: options for transformers, trust among them.
    """
    from cimento.models.naming import needs_saying

    named = models if any(needs_saying(model, plugged=False) for model in models) else ()
    words = [word for model in named for word in ("-m", model)]
    return words + [f"--{key.replace('_', '-')}" for key in _TRUST if args.get(key) is True]


def _refuse_trusted(models: Sequence[str], *, where: str) -> None:
    """See that no model is one that only the command line may name.

    Raises:
        InputError: one is.
    """
    from cimento.models.naming import needs_saying, without_secrets

    for model in models:
        if trusts := needs_saying(model, plugged=False):
            raise InputError(
                where=where,
                seen=f"it names {without_secrets(model)}: {trusts}",
                todo="If you trust it, name it yourself, with all models of the run:"
                f" -m {shlex.quote(without_secrets(model))}",
            )


def write_run_file(stated: Mapping[str, JsonValue], path: Path) -> Path:
    """Write what was chosen for a run as a run file.

    Raises:
        StorageError: it cannot be written.
    """
    import tomli_w

    from cimento.files import write_text

    return write_text(tomli_w.dumps(dict(stated)), path)


def _read(file: Path, ctx: typer.Context) -> dict[str, Any]:
    """The options in a run file, by the names of parameters, as typer would have read them."""
    text = _text(file)
    try:
        content = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            where=str(file), seen=f"is not TOML ({error})", todo="See docs/clusters.md."
        ) from error
    parameters = {each.name: each for each in ctx.command.params if each.name}
    known = _keys(parameters)
    found: dict[str, Any] = {}
    for key, value in content.items():
        name = known.get(key.replace("-", "_"))
        where = f"{file}, line {_line(text, key)}, {key}"
        if key.replace("-", "_") in _TRUST:
            option = f"--{key.replace('_', '-')}"
            raise InputError(
                where=where,
                seen="a run file cannot say what is trusted",
                todo=f"If you trust the models, give {option} on the command line.",
            )
        if name is None:
            raise InputError(
                where=where, seen="there is no such key", todo=did_you_mean(key, known)
            )
        found[name] = _converted(parameters[name], value, ctx, where=where)
    return found


def _text(file: Path) -> str:
    from cimento.files import read_bytes

    try:
        return read_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(where=str(file), seen="is not UTF-8", todo="Save it as UTF-8.") from error


def _keys(parameters: Mapping[str, object]) -> dict[str, str]:
    """The keys of a run file, with the parameters that they stand for."""
    names = set(_run_parameters()) & set(parameters) - {*_NOT_OF_A_RUN, *_TRUST}
    plural = {name: key for key, name in _PLURALS.items()}
    return {plural.get(name, name): name for name in sorted(names)}


def _run_parameters() -> dict[str, object]:
    """The parameters of a run and their types."""
    from cimento.cli.run_options import parse

    return {name: kind for name, kind in get_type_hints(parse).items() if name != "return"}


def _converted(parameter: Any, value: object, ctx: typer.Context, *, where: str) -> Any:  # noqa: ANN401  # click's types
    """A value of TOML as the option of this name would have given it."""
    from typer import BadParameter

    kind = _run_parameters()[parameter.name]
    many, truth = list[str] in (kind, *get_args(kind)), bool in (kind, *get_args(kind))
    if isinstance(value, dict):
        # An argument of a model keeps its type: the text "3" is not the number.
        written = _as_json if parameter.name == "model_args" else _plain
        value = [f"{key}={written(each)}" for key, each in value.items()]
    if isinstance(value, list) != many or isinstance(value, bool) != truth:
        needed = "a list" if many else "true or false" if truth else "one value"
        if not (many and isinstance(value, str)):
            raise InputError(where=where, seen=f"{needed} is needed here, got {value!r}")
        value = [value]
    plain = [_plain(each) for each in value] if isinstance(value, list) else value
    try:
        return parameter.process_value(ctx, plain if many or truth else _plain(plain))
    except BadParameter as error:
        raise InputError(where=where, seen=error.message, todo="See cimento run --help.") from error


def _plain(value: object) -> str:
    """A value as it would stand on the command line."""
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: object) -> str:
    return json.dumps(value, default=str)


def _is_given(ctx: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line or in the environment."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT")


def _line(text: str, key: str) -> int:
    """The line of a key at the top level, or of the table of this name; 1 where it hides."""
    pattern = re.compile(rf"""^\s*\[?\s*["']?{re.escape(key)}["']?\s*[\]=.]""")
    lines = text.split("\n")
    return next((number for number, line in enumerate(lines, start=1) if pattern.match(line)), 1)


def _stated(ctx: typer.Context, values: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Everything that is not as it is by default, by the keys of a run file."""
    parameters = {each.name: each for each in ctx.command.params if each.name}
    stated: dict[str, JsonValue] = {}
    for key, name in _keys(parameters).items():
        value = values.get(name)
        if value not in (None, [], (), parameters[name].get_default(ctx)):
            stated[key] = _as_toml(value)
    return stated


def _as_toml(value: object) -> JsonValue:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_as_toml(each) for each in value]
    return value if isinstance(value, bool | int | float | str) else str(value)
