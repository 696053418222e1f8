"""``cimento plan``, ``prefetch``, ``slurm`` and ``collect``: before and after a run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from cimento.cli.console import in_columns, note, show, show_json
from cimento.cli.evaluating import (
    PART_MISSING,
    evaluate_with_progress,
    show_ends,
    summary_json,
)
from cimento.cli.run import run_command
from cimento.cli.run_file import LanguageOptions, is_of_language, required_flags, write_run_file
from cimento.engine.engines import Engine
from cimento.engine.slurm import array_script
from cimento.errors import CimentoError, UsageError, counted
from cimento.io.declared import option
from cimento.io.files import write_text
from cimento.options import RunOptions
from cimento.records.usage import duration, gigabytes
from cimento.suites.language_sets import OWN

if TYPE_CHECKING:
    from cimento.cli.language import JobsAsk
    from cimento.evaluation.plan import Downloads
    from cimento.evaluation.planning import RunPlan
    from cimento.suites import JsonValue

_TAKEN = "items: --limit takes them of each phenomenon in turn, where a suite has several."

_LISTED = 20
"""Number of refused runs that are listed."""


@run_command
def plan(options: LanguageOptions) -> int:
    """Report what a run would do, before anything is loaded or computed.

    Times and memory are estimates, from earlier units of the same model or else from its size; of
    sets that would be fetched, only the download is known. The exit code is 1 if no model can be
    asked, and 3 if some models or named suites cannot, or no published set of a language.
    """
    from cimento.evaluation.planning import plan_named

    if is_of_language(options):
        from cimento.cli.language import plan_languages

        return plan_languages(options)
    planned = plan_named(options)
    if options.as_json:
        suites = [suite.plain() for suite in planned.suites]
        models = [model.plain() for model in planned.models]
        show_json({"plan": 2, "suites": suites, "models": models, "unused": list(planned.unused)})
    else:
        table = plan_text(planned, priced=options.prices is not None)
        taken = [_TAKEN] if options.limit else []
        show("\n".join([table, *taken, *_stored(planned, options), *planned.unused]))
    return code_of_plan(planned, options)


def code_of_plan(planned: RunPlan, options: RunOptions) -> int:
    """The exit code of a plan: 1 if no model can be asked, and 3 if a model or suite cannot."""
    if not planned.unusable:
        return PART_MISSING if any(suite.problem for suite in planned.suites) else 0
    return 1 if len(planned.unusable) == len(dict.fromkeys(options.models)) else PART_MISSING


def plan_text(planned: RunPlan, *, priced: bool) -> str:
    """A plan in words and tables; `priced` says whether prices were given."""
    later = any(suite.later for suite in planned.suites)
    stored = any(suite.stored for suite in planned.suites)
    heads = ("suite", "items", *(["stored"] if stored else []), "requests", "new",
             *(["later, at most"] if later else []))  # fmt: skip
    suites = [
        (
            suite.suite,
            suite.items if suite.items or not suite.problem else None,
            *([len(suite.stored)] if stored else []),
            ", ".join(f"{number} {name}" for name, number in suite.requests.items()) or None,
            suite.new,
            *([suite.later or None] if later else []),
        )
        for suite in planned.suites
    ]
    # A problem that keeps a model from all suites is reported once, for the model.
    said = {"", *(model.problem for model in planned.models)}
    problems = [_named(model.model, model.problem) for model in planned.models if model.problem]
    problems += [
        _named(suite.suite, suite.problem) for suite in planned.suites if suite.problem not in said
    ]
    device = "one GPU" if planned.gpu else "the processors here"
    lines = [
        in_columns(heads, suites),
        "",
        _models(planned),
        "",
        *(f"{problem}\n" for problem in problems),
        *(
            ["stored: runs of the suite that are there; requests and new are of those that remain."]
            if stored
            else []
        ),
        "new: requests that no suite above makes. kept: requests whose answers are in the cache.",
        f"time and memory are rough estimates for {device}: from earlier units of the model, or",
        "from its size (2 operations for each parameter and token). Starting, loading and storing",
        "take some seconds more, and the program itself some hundred megabytes.",
        *(
            ["later: requests that depend on the answers to the first; no other column has them."]
            if later
            else []
        ),
        *_servers(planned, priced=priced),
    ]
    return "\n".join(lines)


def _named(name: str, problem: str) -> str:
    """A problem with the name of what has it, which most messages say themselves."""
    return problem if name in problem else f"{name}: {problem}"


def _stored(planned: RunPlan, options: RunOptions) -> list[str]:
    """The lines on which parts are stored already, and which remain."""
    done = sum(len(suite.stored) for suite in planned.suites)
    total = len(planned.suites) * len(dict.fromkeys(options.models))
    if not done:
        return []
    if done == total:
        runs = "the run is" if done == 1 else f"all {done} runs are"
        line = f"Nothing remains: {runs} stored in {options.output}; cimento run shows what is"
        return [f"{line} stored, and makes it again with --force."]
    line = f"{done} of {total} runs are stored in {options.output}: {total - done} to be made"
    return [f"{line} (--force makes all again)."]


def _servers(planned: RunPlan, *, priced: bool) -> list[str]:
    """The lines on requests to servers and their cost; empty if there are none."""
    from cimento.evaluation.plan import BYTES_PER_TOKEN
    from cimento.records.usage import money

    lines: list[str] = []
    for model in planned.models:
        if model.sent is None:
            continue
        line = f"{model.model}: nothing is sent to the server, for all answers are kept"
        if model.sent:
            line = (
                f"{model.model}: {model.sent:,} requests to the server; about {model.tokens:,}"
                f" tokens to read, at most {model.written:,} to write"
            )
        if model.cost is not None:
            line += f": {money(model.cost, model.currency)}" if model.sent else ""
        elif priced:
            line += "; the prices do not name this model"
        if model.later:
            line += f". At most {model.later:,} later questions"
            if model.later_cost is not None:
                line += f", if as long: {money(model.later_cost, model.currency)} more"
        lines.append(f"{line}.")
    if lines:
        lines.append(
            "Tokens of servers are an estimate, rather too high: one for every"
            f" {BYTES_PER_TOKEN} bytes of text. A model that thinks first writes more."
        )
    return lines


def _models(planned: RunPlan) -> str:
    """The table of requests by model."""
    rows = [
        (
            model.model,
            model.requests,
            model.units or None,
            model.done if model.units else None,
            None if model.tokens is None else f"{model.tokens:,}",
            model.kept,
            None if model.seconds is None else f"{duration(model.seconds)} ({model.by})",
            None if model.memory_bytes is None else gigabytes(model.memory_bytes),
        )
        for model in planned.models
    ]
    header = ("model", "requests", "units", "done", "tokens", "kept", "time", "memory")
    return in_columns(header, rows)


class PrefetchOptions(LanguageOptions):
    """The options of a run, and where downloads go."""

    NEEDS_MODELS: ClassVar[bool] = False

    into: Path | None = option(
        None, "Folder for downloads; by default the hub's own cache.", where="this run"
    )


@run_command
def prefetch(options: PrefetchOptions) -> int:
    """Download the models and suites of a run at pinned revisions; without -m, suites alone.

    Prints the variables to set where there is no network, and writes a run file with the commits of
    everything that was downloaded.
    """
    from cimento.evaluation.plan import prefetch as bring

    if is_of_language(options):
        from cimento.cli.language import prefetch_languages

        return prefetch_languages(options)
    prefetched = bring(options.models, options.suites, into=options.into)
    for error in dict.fromkeys(map(str, prefetched.failed.values())):
        note(f"cimento: {error}")
    for name in prefetched.online:
        note(f"cimento: {name} is a server, which nodes must be able to reach.")
    if not prefetched.suites or (options.models and not prefetched.models):
        return 1
    show_prefetched(prefetched, options, {"suites": [*prefetched.suites]})
    if not prefetched.failed:
        return 0
    note(f"cimento: not fetched: {', '.join(prefetched.failed)}")
    return PART_MISSING


def show_prefetched(
    prefetched: Downloads, options: PrefetchOptions, named: Mapping[str, JsonValue]
) -> None:
    """Write a run file of what is here, and print the variables and the command that use it.

    Args:
        prefetched: models, and the variables.
        options: of the command.
        named: what the run file names besides the options and the models.
    """
    stated = {**options.stated(), **named}
    if prefetched.models:
        stated["models"] = [*prefetched.models]
    path = write_run_file(stated, (options.into or options.output or Path()) / "run.toml")
    show("\n".join(f"export {name}={value}" for name, value in prefetched.variables.items()))
    args = options.scoring.policy.model_args
    beside = shlex.join([str(path), *required_flags([*prefetched.models], args)])
    model = "" if prefetched.models else " -m MODEL"
    note(f"All that is here is named in {path}: cimento run {beside}{model}")


class _SlurmOptions(LanguageOptions):
    """The options of a run, and those of the job array."""

    jobs: int = option(8, "Jobs of the array.", ge=1, where="this run")
    gpus: int = option(1, "GPUs of each job, one model on each.", ge=0, where="this run")
    hours: int = option(4, "Longest time of a job.", ge=1, where="this run")


@run_command
def slurm(options: _SlurmOptions) -> int:
    """Write an sbatch script that does the units of a run in an array of jobs.

    To replace a lost job, submit the script again; finished units are not repeated. `cimento
    cluster collect` lists missing units and merges the runs.

    A unit is a part of a run that one job does at once, such as up to 256 texts on one model. Jobs
    fetch nothing: what a language needs is fetched now. If no published set of it can be used, the
    exit code is 3 and nothing is written.
    """
    from cimento.evaluation.planning import find_refused

    output = options.output
    if output is None:
        raise TypeError("a run has a folder")
    asked = _asked(options)
    if without := " and ".join(one.without_sets for one in asked if one.without_sets):
        note(
            f"cimento: no array is written: no published set of {without} can be used."
            f" --sets {','.join(OWN)} asks for suites of cimento itself alone."
        )
        return PART_MISSING
    refused = [
        line for one in asked for line in find_refused(one.suites, options.models, one.options)
    ]
    if refused:
        raise UsageError(
            where="slurm",
            seen="not all runs can be made, so no array is written:\n"
            + "\n".join(refused[:_LISTED] + ["..."] * (len(refused) > _LISTED)),
            todo="Correct the run file or leave these out, or give them a run file of their own.",
        )
    folder = output / "slurm"
    # The merging machine may have no GPU, but the number format depends on the nodes' device.
    on_nodes = {"device": "cuda" if options.gpus else "cpu"} if options.device == "auto" else {}
    file = write_run_file({**options.stated(), **on_nodes}, folder / "run.toml")
    args = options.scoring.policy.model_args
    arguments = [str(file), *required_flags(options.models, args)]
    script = array_script(
        arguments, folder, jobs=options.jobs, gpus=options.gpus, hours=options.hours
    )
    path = write_text(script, folder / "array.sh")
    show(str(path))
    submit, then = shlex.join(["sbatch", "--wait", str(path)]), shlex.join(arguments)
    note(f"Submit it, and wait for its jobs: {submit}\nThen: cimento cluster collect {then}")
    return 0


class _CollectOptions(LanguageOptions):
    """The options of a run, and whether only to check."""

    check: bool = option(
        default=False,
        help="Only list what is missing; merge nothing.",
        where="this run",
    )


@run_command
def collect(options: _CollectOptions) -> int:
    """List the missing units of a run, and merge the complete runs.

    No model is loaded. The exit code is 3 if something is missing, and 1 if everything is.
    """
    options = options.model_copy(update={"force": False})
    if options.check:
        return _check(options)
    if is_of_language(options):
        from cimento.cli.language import collect_languages

        return collect_languages(options)
    engine = Engine(name=options.engine, workers=options.workers)
    runs, failures = evaluate_with_progress(
        options.suites, options.models, options, engine=engine, ask=False
    )
    return show_ends(
        runs, failures, output=options.output, as_json=options.as_json, dtype=options.dtype
    )


def _asked(options: LanguageOptions) -> list[JobsAsk]:
    """The suites of a run with its options: those that are named, or of each language."""
    from cimento.cli.language import JobsAsk, asked_in_languages
    from cimento.evaluation import suites_to_run
    from cimento.evaluation.honored import refuse_unused

    if is_of_language(options):
        return asked_in_languages(options)
    loaded = suites_to_run(options.suites, language=options.language, columns=options.roles)
    refuse_unused((suite.paradigm for suite in loaded), options)
    return [JobsAsk(suites=loaded, options=options)]


def _check(options: LanguageOptions) -> int:
    """List what is missing, and return the exit code."""
    from cimento.evaluation.planning import find_missing

    asked = _asked(options)
    runs = sum(len(one.suites) for one in asked) * len(dict.fromkeys(options.models))
    missing = [
        lack for one in asked for lack in find_missing(one.suites, options.models, one.options)
    ]
    if options.as_json:
        show(summary_json([], missing))
    else:
        lines = [f"{lack.suite} x {lack.model}: {_seen_of(lack.error)}" for lack in missing]
        have = counted(runs, "run has", "runs have")
        show("\n".join([*lines, f"{runs - len(lines)} of {have} all they need."]))
    if not missing:
        return 0
    return 1 if len(missing) == runs else PART_MISSING


def _seen_of(error: CimentoError) -> str:
    """What an error says, without the name of the run that it stands behind."""
    return error.seen if error.where.startswith("suite ") else str(error)
