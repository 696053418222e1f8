"""The choice of workers: this process, processes on this machine, Ray, or Slurm.

Each Ray actor lives as long as the run and holds one model at a time. Ray restarts an actor that
died, on another node if need be, and repeats its task: tasks write each file completely or not at
all, so repeating one does no harm. For Slurm, only the script of a job array is written; nothing
supervises its jobs.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cimento.engine.workers import (
    Pool,
    Processes,
    Said,
    TaskError,
    TaskOutcome,
    ThisProcess,
    UnitTask,
    Worker,
)
from cimento.errors import ModelError, UsageError, needing
from cimento.io.parsing import whole_number

_RETRIES = 2
_PASSED_ON = (
    "CIMENTO_CACHE_DIR", "CUBLAS_WORKSPACE_CONFIG", "HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE",
    "HF_HUB_OFFLINE", "MKL_CBWR", "NVIDIA_TF32_OVERRIDE", "TRANSFORMERS_OFFLINE",
    "XDG_CACHE_HOME",
)  # fmt: skip
"""The variables that actors on other nodes get from the driver; keys and tokens stay here."""


class RayActors:
    """A pool of actors; see `cimento.engine.workers.Pool`.

    Args:
        number: number of actors; None for one for each GPU of the cluster, or one for each node if
            there is no GPU.
        most: largest number of actors to start.

    Raises:
        MissingDependencyError: Ray is not installed.
        ModelError: Ray cannot be started.
    """

    def __init__(self, number: int | None, *, most: int) -> None:
        self._ray = _imported()
        self._ours = _connect(self._ray)
        gpus = int(self._ray.cluster_resources().get("GPU", 0))
        nodes = [node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]]
        # A head node that only drives the cluster reports 0 cores.
        cores = [number for number in nodes if number] or [0]
        count = max(1, min(number or gpus or len(cores), most))
        actor = self._ray.remote(
            # Ray gives an actor as many threads as cores, so the smallest node must have that many.
            num_cpus=int(min(cores)) // -(-count // len(cores)),
            # If there are more workers than GPUs, they share the GPUs.
            num_gpus=min(1.0, gpus / count),
            max_restarts=-1,
            max_task_retries=_RETRIES,
        )(Actor)
        self._actors = {n: actor.remote(*_surroundings()) for n in range(count)}
        self._given: dict[Any, int] = {}

    @property
    def workers(self) -> Sequence[int]:
        """The numbers of the workers, from 0."""
        return tuple(self._actors)

    def process_ids(self) -> list[int]:
        """The process ids of the actors on their nodes."""
        process_ids: list[int] = self._ray.get(
            [a.process_id.remote() for a in self._actors.values()]
        )
        return process_ids

    def give(self, worker: int, task: UnitTask) -> None:
        """Send a task to an actor without waiting for it."""
        self._given[self._actors[worker].do.remote(task)] = worker

    def wait(self) -> list[Said]:
        """Wait until an actor is done; a task that Ray gave up on comes back as an error."""
        if not self._given:
            return []
        done, _ = self._ray.wait(list(self._given), num_returns=1)
        return [(self._given.pop(ref), self._outcome(ref)) for ref in done]

    def close(self) -> None:
        """End the actors, and the connection to Ray if it was made for them."""
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors = {}
        if self._ours:
            self._ray.shutdown()

    def _outcome(self, done: object) -> TaskOutcome:
        try:
            outcome: TaskOutcome = self._ray.get(done)
        except self._ray.exceptions.RayError as error:
            failed = TaskError(
                kind="ModelError",
                where="Ray",
                seen=f"an actor ended {_RETRIES + 1} times over the same texts"
                f" ({type(error).__name__})",
                todo="Was there too little memory? Try a small --batch-size or fewer --workers.",
            )
            return TaskOutcome(error=failed)
        return outcome


class Actor:
    """A `Worker` in a Ray actor.

    Args:
        folder: working directory of the driver, to which paths are relative.
        variables: environment variables taken over from the driver.
    """

    def __init__(self, folder: str, variables: Mapping[str, str]) -> None:
        os.environ.update(variables)
        if Path(folder).is_dir():
            os.chdir(folder)
        self._worker = Worker()

    def do(self, task: UnitTask) -> TaskOutcome:
        """Do a task; see `Worker.do`."""
        return self._worker.do(task)

    def process_id(self) -> int:
        """The id of the actor's process."""
        return os.getpid()


def _surroundings() -> tuple[str, dict[str, str]]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return str(Path.cwd()), passed


def _imported() -> Any:  # noqa: ANN401  # Ray's decorators change what they decorate
    # Ray reads this when it is imported and started; it then sends no usage statistics.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with needing("ray", extra="ray", purpose="--engine=ray"):
        import ray
    return ray


def _connect(ray: Any) -> bool:  # noqa: ANN401
    """Join a running cluster, or start Ray here; returns False if Ray was initialized before.

    Raises:
        ModelError: Ray can neither be joined nor started.
    """
    if ray.is_initialized():
        return False
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:
        pass
    else:
        return True
    try:
        ray.init(address="local", include_dashboard=False, **quiet)
    # Ray documents no common class for the errors of starting it, which depend on the machine.
    except Exception as error:
        raise ModelError(
            where="--engine=ray",
            seen=f"Ray cannot be started ({type(error).__name__}: {str(error)[:300]})",
            todo="Try --engine=local, which needs no Ray.",
        ) from error
    return True


EngineName: TypeAlias = Literal["local", "ray"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The engine: the kind and number of workers that do the units.

    Attributes:
        name: ``local`` for processes of this machine, ``ray`` for Ray Core.
        workers: number of workers; None for one for each GPU, or one without GPUs.
        share: number of a share of the units, from 0, and the number of shares: only the units of
            this share are done, and no run is put together.
    """

    name: EngineName = "local"
    workers: int | None = None
    share: tuple[int, int] | None = None

    def is_alone(self, device: str = "auto") -> bool:
        """Whether all work is done in this process, one unit after the other."""
        return self.name == "local" and self.share is None and self.count(2, device) == 1

    def count(self, most: int, device: str = "auto") -> int:
        """The number of workers to start on this machine.

        Args:
            most: number of workers for which there is work.
            device: the device that the user chose; if it names a single one, no other is used.
        """
        return max(1, min(self.workers or len(self.devices(device)), most))

    def devices(self, device: str = "auto") -> list[str]:
        """The GPUs over which workers are spread."""
        return visible_gpus() if device in ("auto", "cuda") else []

    @contextmanager
    def opened(self, most: int, *, device: str, here: Worker) -> Iterator[Pool]:
        """A context with the pool of workers, which are ended on leaving it.

        Args:
            most: number of workers for which there is work; if 0, only this process is used.
            device: the device that the user chose; if it names a single one, no other is used.
            here: the worker of this process, used where one is enough.

        Raises:
            MissingDependencyError: Ray is asked for and not installed.
        """
        pool: Pool
        if self.name == "ray" and most:
            pool = RayActors(self.workers, most=most)
        else:
            number = self.count(most, device)
            alone = number == 1
            pool = ThisProcess(here) if alone else Processes(number, devices=self.devices(device))
        try:
            yield pool
        finally:
            pool.close()


LOCAL = Engine()
"""The engine with one process for each GPU, or this process without GPUs."""

ONE_WORKER = Engine(workers=1)
"""The engine with this process as its only worker."""


def parse_share(text: str) -> tuple[int, int]:
    """A share and the number of shares from ``3/16``, counted from 0 like SLURM_ARRAY_TASK_ID.

    Raises:
        UsageError: the text does not name a share.
    """
    number, slash, count = text.partition("/")
    part, parts = whole_number(number), whole_number(count)
    if not slash or part is None or parts is None or part >= parts:
        raise UsageError(
            where="--share",
            seen=f"got {text!r}",
            todo="Write NUMBER/COUNT, where NUMBER goes from 0 to COUNT - 1: 0/4, 1/4, 2/4, 3/4.",
        )
    return int(number), int(count)


def in_share(position: int, total: int, share: tuple[int, int]) -> bool:
    """Whether the unit at a position, out of a total, belongs to a share.

    A share is a contiguous range of units, so that few shares have to load the same model.
    """
    number, count = share
    return number * total // count <= position < (number + 1) * total // count


def visible_gpus() -> list[str]:
    """The GPUs that may be used, as CUDA_VISIBLE_DEVICES names them; empty without any."""
    from cimento.models.hf.devices import count_gpus

    # A variable that another machine's settings left behind names GPUs that are not here.
    there, named = count_gpus(), os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        return [str(number) for number in range(there)]
    return [name.strip() for name in named.split(",") if name.strip()][:there]


def array_script(arguments: Sequence[str], logs: Path, *, jobs: int, gpus: int, hours: int) -> str:
    """An sbatch script in which each job does one share of the units.

    The cache of answers is not used, because it is a database, and databases are not safe on the
    file systems that nodes share. The files of units are safe there.

    Args:
        arguments: the run file and the options that go with it.
        logs: folder for the output of the jobs.
        jobs: number of jobs.
        gpus: number of GPUs of each job.
        hours: time limit of a job, in hours.
    """
    share = f'"${{SLURM_ARRAY_TASK_ID}}/{jobs}"'
    lines = [
        "#!/bin/bash",
        "#SBATCH --job-name=cimento",
        f"#SBATCH --array=0-{jobs - 1}",
        f"#SBATCH --time={hours}:00:00",
        *([f"#SBATCH --gpus-per-task={gpus}"] if gpus else []),
        "#SBATCH --ntasks=1",
        f"#SBATCH --output={shlex.quote(f'{logs}/%A-%a.log')}",
        "",
        "# Submit it where you ran `cimento slurm`: paths in the run file are relative to there.",
        "# Nodes without network: see `cimento prefetch`.",
        "export HF_HUB_OFFLINE=1",
        f"cimento run {shlex.join(arguments)} --no-cache --share {share}",
    ]
    return "\n".join(lines) + "\n"
