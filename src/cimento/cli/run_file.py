"""Run files: the suites, models and options of a run, in TOML.

A run file contains the suites, models and options of a run in TOML; the command line overrides it::

    suites = ["it-islands", "suites/agreement"]
    models = ["demo-causal", "org/name@1a2b3c4"]
    measures = ["lp", "penlp"]
    engine = "local"
    workers = 4
    limit = 100

    [set]
    k = 20

Keys are the options of ``cimento run``, with ``_`` or ``-``. Paths are relative to the current
folder, as on the command line.

Run files are published and passed on, so they cannot grant trust: trust, and models that need it,
are given on the command line.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cimento.cli.flags import shape_of
from cimento.errors import InputError, UsageError, did_you_mean
from cimento.io.declared import about, is_trust, option, recorded_fields
from cimento.io.files import read_utf8, write_text
from cimento.io.parsing import fault_in_words, parse_toml
from cimento.models.registry import reason_to_name, without_secrets
from cimento.options import RunOptions
from cimento.suites.lock import LOCK

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from cimento.suites import JsonValue


class LanguageOptions(RunOptions):
    """The options of a run, and those of a run of all sets of a language.

    Without suites, ``language`` names the languages whose published sets are run.
    """

    NEEDS_MODELS: ClassVar[bool] = True

    language: str = option(
        "",
        "With SUITE: language of a table that does not state one, as its ISO 639 code (it, gsw)."
        " Without: the languages whose sets are run (it,es).",
    )
    all_languages: bool = option(
        default=False, help="Without SUITE: the published sets of every language."
    )
    sets: str = option(
        "",
        "Only these of the language's sets; starter, generated: the suites of cimento itself.",
        metavar="NAME,NAME",
    )
    without: str = option(
        "", "All of its sets but these.", flags=("--except",), metavar="NAME,NAME"
    )
    budget: str = option(
        "",
        "A random part of the sets, for a time (90s, 10m, 2h) of all models together, or a number"
        " of items.",
        metavar="TIME|N",
    )
    speed: float | None = option(
        None,
        "Items that a model answers in a second, for --budget; by default each is timed.",
        metavar="N",
        ge=0.001,
    )
    accept_license: bool = option(
        default=False,
        help="Use sets for which no license is stated; remembered on this machine.",
        where="this run",
    )
    sets_folder: Path | None = option(
        None, "Folder of fetched sets; default: here, then the cache.", metavar="FOLDER"
    )
    registry: Path | None = option(
        None, "Another list of sets, in the form of data/published.toml.", metavar="FILE"
    )
    lock: Path = option(
        Path(LOCK), "Revisions of sets that no registry pins, as first used.", metavar="FILE"
    )


_OF_LANGUAGES = ("all_languages", "sets", "without", "budget", "speed", "accept_license")


def is_of_language(options: LanguageOptions) -> bool:
    """Whether the published sets of languages are asked for, and not suites.

    Raises:
        UsageError: suites are given, and an option that chooses among sets.
    """
    if not options.suites:
        return bool(options.language or options.all_languages)
    for name in _OF_LANGUAGES:
        if getattr(options, name) != LanguageOptions.model_fields[name].default:
            flag = "except" if name == "without" else name.replace("_", "-")
            raise UsageError(
                where=f"--{flag}",
                seen="it is about the published sets of a language, and suites are given",
                todo="Leave out one of the two: --language CODE without SUITE runs the sets.",
            )
    return False


class CallOptions(LanguageOptions):
    """The options of a run, including those of `cimento run` alone."""

    share: str | None = option(
        None,
        "Do this part of the units and do not merge the runs; `cimento cluster collect` does.",
        metavar="NUMBER/COUNT",
        where="this run",
    )
    sensitivity: bool = option(
        default=False,
        help="Also print how many verdicts change with another boundary, BOS, pseudo-"
        "log-likelihood, measure or number format.",
        where="this run",
    )
    fail_under: float | None = option(
        None,
        "Exit with code 4 if the main rate of a run (such as accuracy on all predictions) is lower,"
        " or if its main result is not a rate (such as a correlation).",
        metavar="RATE",
        where="this run",
        ge=0.0,
        le=1.0,
    )
    allow_partial: bool = option(
        default=False,
        help="Let --fail-under pass where items could not be scored.",
        where="this run",
    )
    junit: Path | None = option(
        None,
        "Write JUnit XML for continuous integration: a test for each suite and requirement.",
        metavar="FILE",
        where="this run",
    )
    log_samples: bool = option(
        default=False,
        help="Write results and samples as lm-eval logs them, to the folder lm-eval of the output.",
        where="this run",
    )


def with_run_file(model: type[RunOptions], given: Mapping[str, object]) -> Mapping[str, object]:
    """The options of a command, completed from its run file.

    Args:
        model: model of the options.
        given: options given on the command line or in the environment, by name.

    Raises:
        UsageError: there are two run files.
        InputError: the run file cannot be read, contains an unknown key or an invalid value, or
            would grant trust.
    """
    named = given.get("suites")
    suites = list(named) if isinstance(named, list | tuple) else []
    files = [Path(suite) for suite in suites if is_run_file(suite)]
    if len(files) > 1:
        raise UsageError(
            where=str(files[1]), seen=f"{files[0]} is a run file too", todo="Give one of them."
        )
    if not files:
        return given
    [file] = files
    others = [suite for suite in suites if Path(suite) != file]
    kept = {name: value for name, value in given.items() if name != "suites"}
    stated = _read(file, model)
    if "models" not in kept:
        _refuse_trusted(stated.get("models", ()), where=str(file))
    return {**stated, **kept, **({"suites": others} if others else {}), "from_file": True}


def is_run_file(name: str) -> bool:
    """Whether an argument is a run file: TOML, and not the description of a suite."""
    path = Path(name)
    return path.suffix == ".toml" and path.name != "suite.toml" and not path.is_dir()


def required_flags(models: Sequence[str], args: Mapping[str, JsonValue]) -> list[str]:
    """The arguments that must be given together with a run file, since no file may contain them.

    Args:
        models: models of the run.
        args: options for transformers, including trust.
    """
    named = models if any(reason_to_name(model, plugged=False) for model in models) else ()
    words = [word for model in named for word in ("-m", model)]
    trusted = (name for name, field in RunOptions.model_fields.items() if is_trust(field))
    return words + [f"--{name.replace('_', '-')}" for name in trusted if args.get(name) is True]


def _refuse_trusted(models: Sequence[str], *, where: str) -> None:
    """Refuse models that may be named only on the command line.

    Raises:
        InputError: there is such a model.
    """
    for model in models:
        if trusts := reason_to_name(model, plugged=False):
            raise InputError(
                where=where,
                seen=f"it names {without_secrets(model)}: {trusts}",
                todo="If you trust it, name it yourself, with all models of the run:"
                f" -m {shlex.quote(without_secrets(model))}",
            )


def write_run_file(stated: Mapping[str, JsonValue], path: Path) -> Path:
    """Write the options chosen for a run as a run file.

    Raises:
        StorageError: the file cannot be written.
    """
    import tomli_w

    return write_text(tomli_w.dumps(dict(stated)), path)


def _read(file: Path, model: type[RunOptions]) -> dict[str, Any]:
    """The options in a run file by name, each of them checked."""
    text = read_utf8(file)
    try:
        content = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            where=str(file),
            seen=f"is not TOML ({error})",
            todo='See the page "Clusters and Slurm".',
        ) from error
    known = recorded_fields(model)
    stated: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        where = f"{file}, line {_line(text, key)}, {key}"
        field = model.model_fields.get(name)
        if field is not None and is_trust(field):
            raise InputError(
                where=where,
                seen="a run file cannot say what is trusted",
                todo="If you trust the models, give"
                f" --{name.replace('_', '-')} on the command line.",
            )
        if name not in known and {name, f"as_{name}"} & CallOptions.model_fields.keys():
            raise InputError(
                where=where,
                seen="a run file cannot say this, which concerns one call of the command",
                todo=f"Give --{name.replace('_', '-')} on the command line.",
            )
        if name not in known:
            raise InputError(
                where=where,
                seen="there is no such key",
                todo=_instead(name, known),
            )
        stated[name] = _checked(model, name, _with_commas(name, value), where=where)
    return stated


_LISTED = ("language", "sets", "without")
"""Options that take several names with commas on the command line; here a list may name them."""


def _with_commas(name: str, value: object) -> object:
    """A value from TOML as the command line has it: names in a list are joined by commas."""
    if name in _LISTED and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ",".join(value)
    return value


def _instead(name: str, known: Mapping[str, FieldInfo]) -> str:
    """What to write for a key that is unknown: that of the option's flag, or a similar one."""
    flag = f"--{name.replace('_', '-')}"
    for key, field in known.items():
        if flag in about(field).get("flags", ()):
            return f"The key of {flag} is `{key}`."
    return f"{did_you_mean(name, known)} What one kind of suite knows is under [set]."


def _checked(model: type[RunOptions], name: str, value: object, *, where: str) -> object:
    """A value from TOML, if it is valid for the option with this name.

    Raises:
        InputError: the value is invalid.
    """
    from pydantic import ValidationError

    shape = shape_of(model.model_fields[name])
    is_list, is_truth = isinstance(value, list | dict), isinstance(value, bool)
    if is_list != (shape == "list") or is_truth != (shape == "bool"):
        needed = {"list": "a list", "bool": "true or false"}.get(shape, "one value")
        if not (shape == "list" and isinstance(value, str)):
            raise InputError(where=where, seen=f"{needed} is needed here, got {value!r}")
    try:
        model.model_validate({name: value})
    except ValidationError as error:
        raise InputError(
            where=where,
            seen=f"got {value!r}",
            todo=f"{fault_in_words(error.errors()[0])} See cimento run --help.",
        ) from error
    return value


def _line(text: str, key: str) -> int:
    """The line of a top-level key, or of the table with this name; 1 if it is not found."""
    pattern = re.compile(rf"""^\s*\[?\s*["']?{re.escape(key)}["']?\s*[\]=.]""")
    lines = text.split("\n")
    return next((number for number, line in enumerate(lines, start=1) if pattern.match(line)), 1)
