"""``cimento run``, and the parts shared by all commands that ask models.

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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from cimento.cli.console import NOT_REACHED, note, show
from cimento.cli.flags import Given, command_of, neutralise, shape_of
from cimento.cli.lm_eval import model_from_lm_eval
from cimento.errors import InputError, UsageError, did_you_mean
from cimento.io.declared import is_trust, option, recorded_fields
from cimento.io.files import expanded, need_writable, read_utf8, write_text
from cimento.io.parsing import in_words, parse_toml
from cimento.models.registry import needs_saying, without_secrets
from cimento.options import RunOptions

if TYPE_CHECKING:
    from cimento.api import Failure
    from cimento.runs.run import Run
    from cimento.suites import JsonValue


RunOptionsT = TypeVar("RunOptionsT", bound=RunOptions)


def run_command(
    model: type[RunOptionsT], action: Callable[[RunOptionsT], int]
) -> Callable[..., Callable[[], int | None]]:
    """A command with the options of a run.

    Args:
        model: `RunOptions`, or a subclass with the options of the command.
        action: function that does the work; its docstring is the help of the command.
    """

    def read(given: Given) -> Given:
        stated = with_run_file(model, model_from_lm_eval(given))
        _refuse_swapped(stated, command=action.__name__.strip("_"))
        for name, where in (("suites", "SUITE"), ("models", "--model")):
            if not stated.get(name):
                raise UsageError(
                    where=where,
                    seen=f"no {name} are given",
                    todo="Give SUITE... -m MODEL..., or a run file that names them.",
                )
        return stated

    return command_of(model, action, positional="suites", metavar="SUITE...|RUN.toml", read=read)


def _refuse_swapped(stated: Given, *, command: str) -> None:
    """Refuse models in the place of suites, and suites in the place of models.

    Raises:
        UsageError: there is one; or no model is given, and the name of a suite may be that of one.
        InputError: no model is given, and a suite does not exist.
    """
    from cimento.models.hf.names import is_model_here, is_of_hub
    from cimento.suites.builtin import find_suite

    suites, models = (
        [str(name) for name in cast("Sequence[object]", stated.get(kind) or ())]
        for kind in ("suites", "models")
    )
    unknown = [
        name
        for name in suites
        if (is_model_here(name) or not expanded(name).exists()) and not _is_suite_here(name)
    ]
    as_models = [
        name
        for name in models
        # `hf:gpt2` after -m is meant as a model, though data sets have this prefix.
        if not (is_model_here(name) or is_of_hub(name)) and _is_suite_here(name)
    ]
    as_suites = [name for name in unknown if as_models or is_model_here(name)]
    if not models and len(unknown) == 1 < len(suites):
        as_suites = unknown
    if not (as_suites or as_models):
        for name in () if models else unknown:
            find_suite(name)
        return
    suites = [name for name in suites if name not in as_suites] + as_models
    models = [name for name in models if name not in as_models] + as_suites
    flags = shlex.join(word for model in models for word in ("-m", model))
    wrong = [f"{name!r} is a suite, and stands after -m" for name in as_models]
    wrong += [
        f"{name!r} is a model, and stands in the place of a suite"
        if is_model_here(name)
        else f"no suite is called {name!r}"
        for name in as_suites
    ]
    raise UsageError(
        where="SUITE" if as_suites else "--model",
        seen="; ".join(wrong),
        todo="Suites come first, models after -m. Did you mean"
        f" `cimento {command} {shlex.join(suites) or 'SUITE'} {flags or '-m MODEL'}`?",
    )


def _is_suite_here(name: str) -> bool:
    """Whether a name is that of a suite that is known, or a path of one."""
    from cimento.suites.builtin import builtin_names
    from cimento.suites.published import is_published

    if name in builtin_names():
        return True
    if not expanded(name).exists():
        return is_published(name)
    # The readers of suites take longer to import than a stored run to be shown.
    from cimento.suites.load import suite_files

    return bool(suite_files(expanded(name)))


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


def said_beside(models: Sequence[str], args: Mapping[str, JsonValue]) -> list[str]:
    """The arguments that must be given together with a run file, since no file may contain them.

    Args:
        models: models of the run.
        args: options for transformers, including trust.
    """
    named = models if any(needs_saying(model, plugged=False) for model in models) else ()
    words = [word for model in named for word in ("-m", model)]
    trusted = (name for name, field in RunOptions.model_fields.items() if is_trust(field))
    return words + [f"--{name.replace('_', '-')}" for name in trusted if args.get(name) is True]


def _refuse_trusted(models: Sequence[str], *, where: str) -> None:
    """Refuse models that may be named only on the command line.

    Raises:
        InputError: there is such a model.
    """
    for model in models:
        if trusts := needs_saying(model, plugged=False):
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
            todo="See the page *Many models, many machines*.",
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
        if name not in known and {name, f"as_{name}"} & _RunOptions.model_fields.keys():
            raise InputError(
                where=where,
                seen="a run file cannot say this, which concerns one call of the command",
                todo=f"Give --{name.replace('_', '-')} on the command line.",
            )
        if name not in known:
            raise InputError(
                where=where,
                seen="there is no such key",
                todo=f"{did_you_mean(key, known)} What one kind of suite knows stands under [set].",
            )
        stated[name] = _checked(model, name, value, where=where)
    return stated


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
            todo=f"{in_words(error.errors()[0])} See cimento run --help.",
        ) from error
    return value


def _line(text: str, key: str) -> int:
    """The line of a top-level key, or of the table with this name; 1 if it is not found."""
    pattern = re.compile(rf"""^\s*\[?\s*["']?{re.escape(key)}["']?\s*[\]=.]""")
    lines = text.split("\n")
    return next((number for number, line in enumerate(lines, start=1) if pattern.match(line)), 1)


class _RunOptions(RunOptions):
    """The options of a run, including those of `cimento run` alone."""

    share: str | None = option(
        None,
        "Do this share of the units and put no run together; `cimento collect` does.",
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
        "End with 4 where the rate that sums up a run is lower, or there is none.",
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
        "Write verdicts as JUnit XML, for continuous integration.",
        metavar="FILE",
        where="this run",
    )
    log_samples: bool = option(
        default=False,
        help="Write results and samples as lm-eval logs them, to the folder lm-eval of the output.",
        where="this run",
    )


def _run(options: _RunOptions) -> int:
    """Run suites on models, judge the answers, store everything and print a table.

    A run that is already stored is shown and not repeated. If there are several measures, the run
    is stored with the first. A run file names suites, models and options; the command line
    overrides it.
    """
    from cimento.cli.evaluating import (
        PART_MISSING,
        evaluate_with_progress,
        partly_scored,
        report_failures,
        runs_under,
        show_ends,
    )
    from cimento.engine.engines import Engine, parse_share

    _refuse_together(options)
    if options.sensitivity:
        _refuse_sensitivity(options)
    _need_targets(options)
    share = None if options.share is None else parse_share(options.share)
    engine = Engine(name=options.engine, workers=options.workers, share=share)
    runs, failures = evaluate_with_progress(options.suites, options.models, options, engine=engine)
    if share is not None:
        if not failures:
            note(
                f"cimento: share {options.share} is done. When all are, put the runs together:"
                " cimento collect, with the same suites, models and options."
            )
        return report_failures([share], failures)
    code = show_ends(runs, failures, output=options.output, as_json=options.as_json)
    if options.sensitivity and code == 0:
        _show_sensitivity(options)
    under = runs_under(runs, options.fail_under)
    for line in filter(None, under):
        note(f"cimento: {line}")
    _write_logs(runs, under, failures, options)
    if code == 0 and any(under):
        return NOT_REACHED
    gated = options.fail_under is not None and not options.allow_partial
    unscored = partly_scored(runs) if gated else []
    for line in unscored:
        note(f"cimento: {line}")
    return PART_MISSING if code == 0 and unscored else code


run = run_command(_RunOptions, _run)


def _refuse_together(options: _RunOptions) -> None:
    """Check that everything requested in addition to the runs can be made.

    Raises:
        UsageError: a request needs complete runs, or a folder, that this command does not make.
    """
    asked = {
        "--fail-under": options.fail_under is not None,
        "--junit": options.junit is not None,
        "--log-samples": options.log_samples,
    }
    for name in (name for name, is_asked in asked.items() if is_asked and options.share):
        raise UsageError(
            where=name,
            seen="it needs whole runs, and --share makes a part of one",
            todo="Leave --share out, or run again after cimento collect.",
        )


def _need_targets(options: _RunOptions) -> None:
    """Check that everything can be written that is written after the runs.

    Raises:
        StorageError: something cannot.
    """
    if options.junit is not None:
        need_writable(options.junit)
    if options.log_samples:
        need_writable(_logs_of(options), is_folder=True)
    folder = options.output
    if options.sensitivity and folder is not None:
        from cimento.report.grid import GRID_FORMS

        for end in GRID_FORMS:
            need_writable(folder / f"sensitivity{end}")


def _logs_of(options: _RunOptions) -> Path:
    """The folder of logs as lm-eval writes them."""
    return (options.output or Path("runs")) / "lm-eval"


def _write_logs(
    runs: Sequence[Run], under: Sequence[str], failures: Sequence[Failure], options: _RunOptions
) -> None:
    """Write the runs for other programs, if requested, and report where.

    Raises:
        StorageError: a file cannot be written.
    """
    if options.junit is not None:
        from cimento.export.harnesses import write_junit

        path = write_junit(zip(runs, under, strict=True), options.junit, failures=failures)
        note(f"JUnit XML: {path}")
    if options.log_samples and runs:
        from cimento.export import export

        written = export(runs, "lm-eval", _logs_of(options))
        folders = dict.fromkeys(str(path.parent) for path in written)
        note(f"Logs as lm-eval writes them: {', '.join(folders)}")


def _refuse_sensitivity(options: _RunOptions) -> None:
    """Check that a table of sensitivity can be made and printed.

    Raises:
        UsageError: the table cannot be made or printed.
    """
    from cimento.paradigms.registry import load_suites
    from cimento.suites import Suite

    loaded = list(load_suites(options.suites, language=options.language))
    others = [
        loaded_suite.paradigm.name
        for loaded_suite in loaded
        if not isinstance(loaded_suite.suite, Suite)
    ]
    remote = [model for model in options.models if ":" in model]
    refusals = (
        (
            others,
            f"{', '.join(dict.fromkeys(others))} suites are not judged by formulas",
            "Give other suites.",
        ),
        (remote, f"{', '.join(remote)} is not loaded here", "Give a name on the hub or a folder."),
        (
            options.share,
            "it needs whole runs, and --share makes a part of one",
            "Leave --share out.",
        ),
        (
            options.as_json,
            "--json prints one document, the summary",
            "Leave --json out: -o gets the table as sensitivity.json.",
        ),
    )
    for holds, seen, todo in refusals:
        if holds:
            raise UsageError(where="--sensitivity", seen=seen, todo=todo)


def _show_sensitivity(options: _RunOptions) -> None:
    """Print the sensitivity table, and write it next to the runs."""
    from cimento.cli.evaluating import opened_cache
    from cimento.report.grid import GRID_FORMS
    from cimento.report.robustness import sensitivity_grid
    from cimento.report.terminal import on_terminal
    from cimento.runs.sensitivity import sensitivities

    with opened_cache(keep_answers=not options.no_cache) as cache:
        rows = sensitivities(options.suites, options.models, options, cache=cache)
    grid = sensitivity_grid(rows)
    show("\n" + on_terminal(grid))
    folder = options.output
    if folder is not None:
        paths = [
            write_text(form(grid), folder / f"sensitivity{end}") for end, form in GRID_FORMS.items()
        ]
        neutralise(paths)
        note(f"The table is also in {folder}: {', '.join(path.name for path in paths)}")
