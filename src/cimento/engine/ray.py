"""Workers as actors of Ray Core: of a cluster where there is one, else of this machine.

Each actor lives as long as the run and has one model at a time. Ray starts an actor again that
died, on another node if need be, and has it do its task again: tasks write files whole or not at
all, so doing one twice does no harm.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cimento.engine.workers import Said, TaskError, TaskOutcome, UnitTask, Worker
from cimento.errors import MissingDependencyError, ModelError

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
