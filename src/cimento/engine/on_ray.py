"""Workers on Ray: joining a cluster, and actors that do the units.

Each actor lives as long as the run and holds one model at a time. If an actor or its node dies, its
unit goes to a live actor, and a new actor takes its place as soon as a node has room for one. Units
are files that are written completely or not at all, so doing one twice does no harm.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cimento.engine.processes import with_environment
from cimento.engine.workers import TaskError, TaskOutcome, UnitTask, Worker, WorkerReport
from cimento.errors import ModelError, UsageError, counted, needing

PASSED_ON = (
    "CIMENTO_CACHE_DIR", "CUBLAS_WORKSPACE_CONFIG", "HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE",
    "HF_HUB_OFFLINE", "MKL_CBWR", "NVIDIA_TF32_OVERRIDE", "TRANSFORMERS_OFFLINE",
    "XDG_CACHE_HOME",
)  # fmt: skip
"""The variables that workers on other nodes get from here; keys and tokens stay here."""

_ADDRESS = "RAY_ADDRESS"
_TRIES = "RAY_gcs_server_port_wait_time_s"
"""The variable with the number of times that Ray tries to reach the head of a cluster."""
_REACHED_S = 10.0
"""Seconds in which the head of a cluster must take a connection; it may be starting."""
_PAUSE_S = 0.5
_ANNOUNCED_S = 30.0
"""Seconds after which a run that waits for its first actor says so."""
_REPLACED_S = 120.0
"""Seconds in which an actor must start where none is left; Ray sees in 20 that a node died."""
_STARTS = 3
"""Number of times that an actor is started that does not come up."""
_SHOWN = 800

Note = Callable[[str], None]


@dataclass(slots=True)
class _Actor:
    """An actor: its handle, and its process and node once it has started."""

    worker: int
    handle: Any
    start: int = 1
    process_id: int = 0
    node: str = ""


class RayActors:
    """A pool of actors; see `cimento.engine.workers.Pool`.

    Args:
        number: number of actors; None for one for each GPU of the cluster, or one for each node if
            there is no GPU.
        most: largest number of actors to start.
        note: called with remarks, as sentences: where the work is done.

    Raises:
        MissingDependencyError: Ray is not installed.
        UsageError: there is a cluster, and it cannot be joined.
        ModelError: Ray cannot be started here, or no actor can.
    """

    def __init__(self, number: int | None, *, most: int, note: Note | None = None) -> None:
        self._ray = _imported()
        self._note = note or (lambda _line: None)
        self._ours = _connect(self._ray, self._note)
        gpus = int(self._ray.cluster_resources().get("GPU", 0))
        nodes = [node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]]
        # A head node that only drives the cluster reports 0 cores.
        cores = [number for number in nodes if number] or [0]
        count = max(1, min(number or gpus or len(cores), most))
        self._needs = {
            # Ray gives an actor as many threads as cores, so the smallest node must have that many.
            "num_cpus": int(min(cores)) // -(-count // len(cores)),
            # If there are more workers than GPUs, they share the GPUs.
            "num_gpus": min(1.0, gpus / count),
        }
        self._ready: dict[int, _Actor] = {}
        self._starting: dict[Any, _Actor] = {}
        self._given: dict[Any, int] = {}
        self._refused: list[int] = []
        self._gone = ""
        for worker in range(count):
            self._start(worker)
        try:
            self._await_first()
        except BaseException:
            self.close()
            raise

    @property
    def workers(self) -> Sequence[int]:
        """The numbers of the workers that have started; one that refuses where none is left."""
        return (0,) if self._gone else tuple(self._ready)

    def process_ids(self) -> list[int]:
        """The process ids of the actors on their nodes."""
        return [actor.process_id for actor in self._ready.values()]

    def give(self, worker: int, task: UnitTask) -> None:
        """Send a task to an actor without waiting for it."""
        if self._gone:
            self._refused.append(worker)
        else:
            self._given[self._ready[worker].handle.do.remote(task)] = worker

    def wait(self) -> list[WorkerReport]:
        """Wait until an actor is done, has died or has started; see `Pool.wait`."""
        if self._refused:
            error = _lost(f"no worker is left: {self._gone}")
            return [(self._refused.pop(), TaskOutcome(error=error))]
        done, _ = self._ray.wait([*self._given, *self._starting], num_returns=1)
        for ref in done:
            if ref in self._starting:
                self._started(ref)
        return [(self._given[ref], self._outcome(ref)) for ref in done if ref in self._given]

    def close(self) -> None:
        """End the actors, and the connection to Ray if it was made for them."""
        for actor in [*self._ready.values(), *self._starting.values()]:
            self._ray.kill(actor.handle)
        self._ready, self._starting = {}, {}
        if self._ours:
            self._ray.shutdown()

    def _start(self, worker: int, *, start: int = 1) -> None:
        """Ask for an actor, which works once `_started` has heard of it."""
        # Ray would hold the unit of an actor that died until it has started another.
        make = self._ray.remote(**self._needs, max_restarts=0, max_task_retries=0)(Actor)
        handle = make.remote(*_surroundings())
        self._starting[handle.place.remote()] = _Actor(worker, handle, start)

    def _started(self, ref: object) -> str:
        """Take an actor into use that has started, or ask for another; returns why it failed."""
        actor = self._starting.pop(ref)
        try:
            actor.process_id, actor.node = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            is_ours = getattr(error, "actor_init_failed", False)
            if not is_ours and actor.start < _STARTS:
                self._start(actor.worker, start=actor.start + 1)
            return self._reason(error, actor)
        self._ready[actor.worker] = actor
        return ""

    def _await_first(self) -> None:
        """Wait for the first actor, for which a cluster may have to free or add a node.

        Raises:
            ModelError: no actor can start.
        """
        reason, is_announced = "", False
        while not self._ready and self._starting:
            done, _ = self._ray.wait([*self._starting], num_returns=1, timeout=_ANNOUNCED_S)
            for ref in done:
                reason = self._started(ref)
            if not done and not is_announced:
                needs = f"{self._needs['num_cpus']:g} cores and {self._needs['num_gpus']:g} GPUs"
                self._note(f"Ray has no node with {needs} free for a worker; waiting for one.")
                is_announced = True
        if not self._ready:
            raise ModelError(
                where="--engine=ray",
                seen=f"no worker can be started: {reason}",
                todo="Is cimento installed on all nodes, in the same version?",
            )

    def _outcome(self, ref: object) -> TaskOutcome:
        worker = self._given.pop(ref)
        try:
            outcome: TaskOutcome = self._ray.get(ref)
        # The actor died, or its node, or its answer was lost on the way.
        except self._ray.exceptions.RayError as error:
            return TaskOutcome(death=self._replace(worker, error))
        return outcome

    def _replace(self, worker: int, error: Exception) -> str:
        """Ask for an actor in the place of one that died; returns why it died."""
        actor = self._ready.pop(worker)
        # One that only cannot be reached would go on, and take up its node.
        self._ray.kill(actor.handle)
        self._start(worker)
        reason, limit = self._reason(error, actor), time.monotonic() + _REPLACED_S
        self._note(f"Ray: worker {worker} ended, and its unit goes to another: {reason}")
        while not self._ready and self._starting and (left := limit - time.monotonic()) > 0:
            done, _ = self._ray.wait([*self._starting], num_returns=1, timeout=left)
            for ref in done:
                reason = self._started(ref) or reason
        if not self._ready:
            # By now Ray knows whether the node is dead, too.
            self._gone = self._reason(error, actor)
        return reason

    def _reason(self, error: Exception, actor: _Actor) -> str:
        """Why an actor died: that its node did, or what Ray says of it."""
        text = _of_actor(str(error).splitlines()) or type(error).__name__
        for node in self._ray.nodes():
            if node["NodeID"] == actor.node and not node["Alive"]:
                return f"its node {node['NodeManagerAddress']} died ({text})"
        return text


def _of_actor(lines: Iterable[str]) -> str:
    """What Ray says of the end of an actor, without its name for it and its numbers."""
    said = [line.strip() for line in lines if line.strip() and not line.startswith("\t")]
    text = " ".join(said).removeprefix("The actor died unexpectedly before finishing this task. ")
    return re.sub(r"\b(?:The actor )?[0-9a-f]{32,}\b", "it", text)[:_SHOWN]


def _lost(seen: str) -> TaskError:
    return TaskError(kind="ModelError", where="Ray", seen=seen, todo="", is_lost=True)


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

    def place(self) -> tuple[int, str]:
        """The id of the actor's process, and Ray's name of its node."""
        node: str = _imported().get_runtime_context().get_node_id()
        return os.getpid(), node


def _surroundings() -> tuple[str, dict[str, str]]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return str(Path.cwd()), passed


def _imported() -> Any:  # noqa: ANN401  # Ray's decorators change what they decorate
    # Ray reads this when it is imported and started; it then sends no usage statistics.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with needing("ray", extra="ray", purpose="--engine=ray"):
        import ray
    return ray


def _connect(ray: Any, note: Note) -> bool:  # noqa: ANN401
    """Join the cluster that is given or runs here, or start Ray here if there is none.

    Returns:
        Whether the connection is ours; False if Ray was initialized before.

    Raises:
        UsageError: there is a cluster, and it cannot be joined.
        ModelError: Ray cannot be started.
    """
    if ray.is_initialized():
        return False
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    address = _cluster()
    if address is not None:
        try:
            # Else Ray tries 20 times, for up to 41 seconds each.
            with with_environment({_TRIES: os.environ.get(_TRIES, "1")}):
                ray.init(address=address, **quiet)
        # Ray documents no common class for the errors of joining, which has many ways to fail.
        except Exception as error:
            ray.shutdown()
            raise _refused(address, _innermost(error)) from error
        alive = [node for node in ray.nodes() if node["Alive"]]
        note(f"Ray: joined the cluster at {address}, {counted(len(alive), 'node')}.")
        return True
    try:
        ray.init(address="local", include_dashboard=False, **quiet)
    # As above.
    except Exception as error:
        raise ModelError(
            where="--engine=ray",
            seen=f"Ray cannot be started ({type(error).__name__}: {_innermost(error)})",
            todo="Try --engine=local, which needs no Ray.",
        ) from error
    note("Ray: started on this machine, and joined no cluster.")
    return True


def _cluster() -> str | None:
    """The address of the cluster to join; None where there is none, so that Ray is started here.

    It is that of RAY_ADDRESS, or else of a cluster to which this machine belongs.

    Raises:
        UsageError: nothing answers at the address that is given.
    """
    from ray._private.services import canonicalize_bootstrap_address

    given = os.environ.get(_ADDRESS, "")
    try:
        # It reads the variable too, and knows the address under which Ray will look.
        address = given if "://" in given else canonicalize_bootstrap_address("auto")
        if address is not None:
            _reach(address, _REACHED_S if given else 0.0)
    except (OSError, ValueError) as error:
        if given:
            raise _refused(given, f"{error}") from error
        # None runs here; or one did, and left the file in which Ray notes its address.
        return None
    return address


def _reach(address: str, seconds: float) -> None:
    """Open a connection to an address, trying for some seconds.

    Raises:
        OSError: nothing takes it.
        ValueError: the address is not one of a host and a port.
    """
    host, _, port = address.rpartition("://")[2].partition("/")[0].rpartition(":")
    if not host:
        raise ValueError(f"{address!r} is not HOST:PORT")
    limit = time.monotonic() + seconds
    while True:
        left = limit - time.monotonic()
        try:
            socket.create_connection((host.strip("[]"), int(port)), max(1.0, left)).close()
        except socket.gaierror:
            raise
        except OSError as error:
            if left <= 0:
                trying = f" in {seconds:.0f} s" if seconds else ""
                raise OSError(f"nothing answers there{trying} ({error})") from error
            time.sleep(min(_PAUSE_S, left))
        else:
            return


def _refused(address: str, text: str) -> UsageError:
    given = os.environ.get(_ADDRESS)
    todo = f"Set {_ADDRESS} to the address of another, or to local to start Ray on this machine"
    return UsageError(
        where=f"{_ADDRESS}={given}" if given else f"--engine=ray, {address}",
        seen=f"this cluster of Ray cannot be joined: {text}",
        todo=f'{todo}. The page "Clusters and Slurm" tells more.',
    )


def _innermost(error: BaseException) -> str:
    """What Ray says of an error, which it may have wrapped in others and in a traceback."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = str(error).strip()
    if "Traceback (most recent call last)" in text:
        text = text.splitlines()[-1].removeprefix("ray.exceptions.")
    return " ".join(text.split())[:_SHOWN] or type(error).__name__
