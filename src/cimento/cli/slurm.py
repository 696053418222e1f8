"""``cimento slurm`` and ``collect``: runs distributed over jobs, and the merging of their parts."""

from __future__ import annotations

from cimento.cli.console import note, show
from cimento.cli.evaluating import (
    PART_MISSING,
    evaluate_with_progress,
    show_ends,
    summary_json,
)
from cimento.cli.run import run_command, said_beside, write_run_file
from cimento.engine.engines import Engine, array_script
from cimento.options import RunOptions, option


class _SlurmOptions(RunOptions):
    """The options of a run, and those of the job array."""

    jobs: int = option(8, "Jobs of the array.", ge=1, where="this run")
    gpus: int = option(1, "GPUs of each job, one model on each.", ge=0, where="this run")
    hours: int = option(4, "Longest time of a job.", unit="hours", ge=1, where="this run")


def _slurm(options: _SlurmOptions) -> int:
    """Write an sbatch script that does the units of a run in an array of jobs.

    To replace a lost job, submit the script again; finished units are not repeated. `cimento
    collect` lists missing units and merges the runs.
    """
    import shlex

    from cimento.io.files import write_text

    output = options.output
    if output is None:
        raise TypeError("a run has a folder")
    folder = output / "slurm"
    # The merging machine may have no GPU, but the number format depends on the nodes' device.
    on_nodes = {"device": "cuda" if options.gpus else "cpu"} if options.device == "auto" else {}
    file = write_run_file({**options.stated(), **on_nodes}, folder / "run.toml")
    args = options.scoring.policy.model_args
    arguments = [str(file), *said_beside(options.models, args)]
    script = array_script(
        arguments, folder, jobs=options.jobs, gpus=options.gpus, hours=options.hours
    )
    path = write_text(script, folder / "array.sh")
    show(str(path))
    note(f"Submit it with: sbatch {path}\nThen: cimento collect {shlex.join(arguments)}")
    return 0


slurm = run_command(_SlurmOptions, _slurm)


class _CollectOptions(RunOptions):
    """The options of a run, and whether only to check."""

    check: bool = option(
        default=False,
        help="Only list what is missing; merge nothing.",
        where="this run",
    )


def _collect(options: _CollectOptions) -> int:
    """List the missing units of a run, and merge the complete runs.

    No model is loaded. The exit code is 3 if something is missing, and 1 if everything is.
    """
    options = options.model_copy(update={"force": False})
    if options.check:
        return _check(options)
    engine = Engine(name=options.engine, workers=options.workers)
    runs, failures = evaluate_with_progress(
        options.suites, options.models, options, engine=engine, ask=False
    )
    return show_ends(runs, failures, output=options.output, as_json=options.as_json)


collect = run_command(_CollectOptions, _collect)


def _check(options: RunOptions) -> int:
    """List what is missing, and return the exit code."""
    from cimento.paradigms.registry import load_suites
    from cimento.runs.planning import find_missing

    loaded = list(load_suites(options.suites, language=options.language))
    runs = len(loaded) * len(dict.fromkeys(options.models))
    missing = find_missing(loaded, options.models, options)
    if options.as_json:
        show(summary_json([], missing))
    else:
        lines = [f"{lack.suite} x {lack.model}: {lack.error.seen}" for lack in missing]
        show("\n".join([*lines, f"{runs - len(lines)} of {runs} runs have all they need."]))
    if not missing:
        return 0
    return 1 if len(missing) == runs else PART_MISSING
