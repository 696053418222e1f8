"""``cimento slurm``: a run as an array of jobs, for clusters without Ray."""

from __future__ import annotations

from cimento.cli.run_options import run_command
from cimento.options import RunOptions, option


class _Options(RunOptions):
    """The options of a run, and those of the array."""

    jobs: int = option(8, "Jobs of the array.", ge=1, where="this run")
    gpus: int = option(1, "GPUs of each job, one model on each.", ge=0, where="this run")
    hours: int = option(4, "Longest time of a job.", unit="hours", ge=1, where="this run")


def _slurm(options: _Options) -> int:
    """Write an sbatch script that does the units of a run as an array of jobs.

    A job that is lost is submitted again; what is done stays done. `cimento collect` says what is
    missing and puts the runs together.
    """
    import shlex

    from cimento.cli.console import note, show
    from cimento.cli.run_file import said_beside, write_run_file
    from cimento.engine.engines import array_script
    from cimento.io.files import write_text

    output = options.output
    if output is None:
        raise TypeError("a run has a folder")
    folder = output / "slurm"
    file = write_run_file(options.stated(), folder / "run.toml")
    args = options.scoring.policy.model_args
    arguments = [str(file), *said_beside(options.models, args)]
    script = array_script(
        arguments, folder, jobs=options.jobs, gpus=options.gpus, hours=options.hours
    )
    path = write_text(script, folder / "array.sh")
    show(str(path))
    note(f"Submit it with: sbatch {path}\nThen: cimento collect {shlex.join(arguments)}")
    return 0


slurm = run_command(_Options, _slurm)
