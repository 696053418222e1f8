"""From what the user asked for to workers: this process, processes of this machine, Ray, or Slurm.

Each Ray actor lives as long as the run and has one model at a time. Ray starts an actor again that
died, on another node if need be, and has it do its task again: tasks write files whole or not at
all, so doing one twice does no harm. An array of Slurm jobs is a script, and nothing that watches
over it.
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
from cimento.errors import MissingDependencyError, ModelError, UsageError

_RETRIES = 2
_PASSED_ON = (
    "CIMENTO_CACHE_DIR", "CUBLAS_WORKSPACE_CONFIG", "HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE",
    "HF_HUB_OFFLINE", "MKL_CBWR", "NVIDIA_TF32_OVERRIDE", "TRANSFORMERS_OFFLINE",
    "XDG_CACHE_HOME",
)  # fmt: skip
"""What actors on other nodes are told of the driver's environment; keys and tokens stay here."""


class RayActors:
    """A pool of actors; see `cimento.engine.workers.Pool`.

    Args:
        number: how many; None for one for each GPU of the cluster, or for each node without one.
        most: more are not started.

    Raises:
        MissingDependencyError: Ray is not installed.
        ModelError: Ray cannot be started.
    """

    def __init__(self, number: int | None, *, most: int) -> None:
        self._ray = _imported()
        self._ours = _connect(self._ray)
        gpus = int(self._ray.cluster_resources().get("GPU", 0))
        nodes = [node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]]
        # A head that only drives says that it has none.
        cores = [number for number in nodes if number] or [0]
        count = max(1, min(number or gpus or len(cores), most))
        actor = self._ray.remote(
            # Ray gives an actor as many threads as cores; the smallest node must have them.
            num_cpus=int(min(cores)) // -(-count // len(cores)),
            # More workers than GPUs share them.
            num_gpus=min(1.0, gpus / count),
            max_restarts=-1,
            max_task_retries=_RETRIES,
        )(Actor)
        self._actors = {n: actor.remote(*_surroundings()) for n in range(count)}
        self._given: dict[Any, int] = {}

    @property
    def workers(self) -> Sequence[int]:
        """Numbers from 0."""
        return tuple(self._actors)

    def process_ids(self) -> list[int]:
        """The processes of the actors, on their nodes."""
        found: list[int] = self._ray.get([a.process_id.remote() for a in self._actors.values()])
        return found

    def give(self, worker: int, task: UnitTask) -> None:
        """Send a task to an actor."""
        self._given[self._actors[worker].do.remote(task)] = worker

    def wait(self) -> list[Said]:
        """Wait until an actor is done; what Ray gave up on is an error of its task."""
        if not self._given:
            return []
        done, _ = self._ray.wait(list(self._given), num_returns=1)
        return [(self._given.pop(each), self._outcome(each)) for each in done]

    def close(self) -> None:
        """End the actors, and Ray where it was started for them."""
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
    """A `Worker` as Ray holds it.

    Args:
        folder: where the driver was started: paths are relative to it.
        variables: of its environment.
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
        """The number of its process."""
        return os.getpid()


def _surroundings() -> tuple[str, dict[str, str]]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return str(Path.cwd()), passed


def _imported() -> Any:  # noqa: ANN401  # Ray's decorators change what they decorate
    # Read when Ray is imported and started: nothing of a run is told to anybody.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise MissingDependencyError(package="ray", extra="ray", purpose="--engine ray") from error
    return ray


def _connect(ray: Any) -> bool:  # noqa: ANN401
    """Join the cluster that is there, or start Ray here; whether it was started here.

    Raises:
        ModelError: neither can be done.
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
    # Starting it fails in as many ways as there are machines.
    except Exception as error:
        raise ModelError(
            where="--engine ray",
            seen=f"Ray cannot be started ({type(error).__name__}: {str(error)[:300]})",
            todo="Try --engine local, which needs no Ray.",
        ) from error
    return True


EngineName: TypeAlias = Literal["local", "ray"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Who does the units.

    Attributes:
        name: ``local`` for processes of this machine, ``ray`` for Ray Core.
        workers: how many; None for one for each GPU, and one where there is none.
        share: number of a share of the units, from 0, and how many shares there are: only these
            units are done, and no run is put together.
    """

    name: EngineName = "local"
    workers: int | None = None
    share: tuple[int, int] | None = None

    def is_alone(self, device: str = "auto") -> bool:
        """Whether all is done in this process, one thing after the other."""
        return self.name == "local" and self.share is None and self.count(2, device) == 1

    def count(self, most: int, device: str = "auto") -> int:
        """How many workers of this machine there are to be.

        Args:
            most: for how many there is something to do.
            device: as the user chose it; where it names one, no other is used.
        """
        return max(1, min(self.workers or len(self.devices(device)), most))

    def devices(self, device: str = "auto") -> list[str]:
        """The GPUs that workers are spread over."""
        return visible_gpus() if device in ("auto", "cuda") else []

    @contextmanager
    def opened(self, most: int, *, device: str, here: Worker) -> Iterator[Pool]:
        """The workers, which are ended afterwards.

        Args:
            most: for how many there is something to do; this process where there is nothing.
            device: as the user chose it; where it names one, no other is used.
            here: who works where this process is enough.

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
"""One process for each GPU, or this one."""

ONE_WORKER = Engine(workers=1)
"""This process."""


def parse_share(text: str) -> tuple[int, int]:
    """``3/16``: the fourth of sixteen shares, as SLURM_ARRAY_TASK_ID counts.

    Raises:
        UsageError: it is no such thing.
    """
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise UsageError(
            where="--share",
            seen=f"got {text!r}",
            todo="Write NUMBER/COUNT, where NUMBER goes from 0 to COUNT - 1: 0/4, 1/4, 2/4, 3/4.",
        )
    return int(number), int(count)


def in_share(position: int, total: int, share: tuple[int, int]) -> bool:
    """Whether the unit at a position, of so many, belongs to a share.

    Shares are stretches of neighbours, so that a model falls into few of them.
    """
    number, count = share
    return number * total // count <= position < (number + 1) * total // count


def visible_gpus() -> list[str]:
    """The GPUs that may be used, as CUDA_VISIBLE_DEVICES names them; empty where there is none."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [each.strip() for each in named.split(",") if each.strip()]
    from cimento.models.hf.libraries import count_gpus

    return [str(number) for number in range(count_gpus())]


def array_script(arguments: Sequence[str], logs: Path, *, jobs: int, gpus: int, hours: int) -> str:
    """An sbatch script in which each job does one share of the units.

    The answers cache is not used: it is a database, and those are not safe on the file systems
    that nodes share. The files of units are.

    Args:
        arguments: the run file, and what must stand beside it.
        logs: folder for what jobs print.
        jobs: how many there are.
        gpus: of each job.
        hours: longest time of a job.
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
