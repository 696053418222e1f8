"""``cimento slurm``: a run as an array of jobs, for clusters without Ray."""

from __future__ import annotations

from typing import Annotated

from cimento.cli import options
from cimento.cli.run_options import RunRequest, as_command

Jobs = Annotated[int, options.option("--jobs", min=1, help="Jobs of the array.")]
Gpus = Annotated[int, options.option("--gpus", min=0, help="GPUs of each job, one model on each.")]
Hours = Annotated[int, options.option("--hours", min=1, help="Longest time of a job.")]


@as_command
def slurm(request: RunRequest, *, jobs: Jobs = 8, gpus: Gpus = 1, hours: Hours = 4) -> int:
    """Write an sbatch script that does the units of a run as an array of jobs.

    A job that is lost is submitted again; what is done stays done. `cimento collect` says what is
    missing and puts the runs together.
    """
    import shlex

    from cimento.cli.console import note, show
    from cimento.cli.run_file import said_beside, write_run_file
    from cimento.files import write_text
    from cimento.scheduling.slurm import array_script

    output = request.how.evaluation.output
    if output is None:
        raise TypeError("a run has a folder")
    folder = output / "slurm"
    file = write_run_file(request.values, folder / "run.toml")
    args = request.how.evaluation.asking.policy.model_args
    arguments = [str(file), *said_beside(request.models, args)]
    script = array_script(arguments, folder, jobs=jobs, gpus=gpus, hours=hours)
    path = write_text(script, folder / "array.sh")
    show(str(path))
    note(f"Submit it with: sbatch {path}\nThen: cimento collect {shlex.join(arguments)}")
    return 0
