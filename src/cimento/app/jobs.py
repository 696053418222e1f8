"""The queue of runs: each is the command line in a process of its own, one after the other.

A job is a file in ``queue/`` with its suites, models and state, and a log beside it. The process
goes on where the browser is closed and even where the app is killed: it holds a lock on its log, by
which the next app knows it. What was scored is kept by the command itself, so that a job that was
stopped, by whatever, goes on where it was when it is started again.

The folder may come from somebody else. A file in it holds no command, trusts nothing, and is begun
only when somebody in front of the page says so; and no file in it is opened through a link.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import IO, Literal, TypeAlias, get_args

from cimento.app.wanted import RunRequest
from cimento.app.workspace import RUNS, Workspace
from cimento.errors import CimentoError, UsageError
from cimento.io.files import write_text, writing
from cimento.io.parsing import parse_json
from cimento.io.untrusted import open_new, open_safely
from cimento.records.progress import EVERY, RunProgress, last_progress

QUEUE = "queue"
LOCK = ".app"
LARGEST_JOB = 1 << 20
"""The largest file of a job, in bytes."""
MOST_JOBS = 2000
SHOWN_OF_LOG = 20_000
"""The number of bytes of a log that are read from its end."""
PATIENCE_S = 10.0
"""Seconds for which a process that was asked to stop may go on."""
WAIT_S = 0.5
INTERRUPTED = (130, -signal.SIGINT, -signal.SIGTERM)

_ERROR = "cimento: "
"""How a line with an error begins."""
_NOT_RUN = f"{_ERROR}not run: "

State: TypeAlias = Literal["waiting", "running", "stopping", "done", "partly", "failed", "stopped"]
STATES: tuple[State, ...] = get_args(State)
BUSY: tuple[State, ...] = ("running", "stopping")
"""The states in which a job has a process."""
PARTLY = 3
"""The exit code of a command of which some runs were made."""


@dataclass(frozen=True, slots=True)
class Job:
    """Runs that are made by one command.

    Attributes:
        number: its place in the queue, from 1.
        wanted: the runs.
        state: how far it is.
        process: the number of its process while it runs, else 0.
        is_agreed: whether somebody has asked for these runs since this app was started; else a file
            has, which may come from others.
    """

    number: int
    wanted: RunRequest
    state: State = "waiting"
    process: int = 0
    is_agreed: bool = False

    @property
    def stored(self) -> dict[str, object]:
        """What its file holds."""
        own = {"state": self.state, "process": self.process}
        return {"number": self.number, **self.wanted.stored, **own}


class Queue:
    """The queue of one workspace; only one app may have it at a time.

    Args:
        workspace: the folder in which commands are run.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folder = workspace.folder / QUEUE
        self._changed = threading.Condition()
        self._jobs: dict[int, Job] = {}
        self._thread: threading.Thread | None = None
        self._ended = False
        self._held: IO[bytes] | None = None

    def start(self) -> None:
        """Read the queue, and begin to do what waits in it.

        Raises:
            UsageError: another app has the folder, or it is behind a link.
            StorageError: the folder cannot be written.
        """
        self._workspace.inside(QUEUE)
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            held = os.fdopen(open_safely(self._folder / LOCK, os.O_RDWR | os.O_CREAT), "r+b")
        if not _lock(held):
            held.close()
            raise UsageError(
                where=str(self._workspace.folder),
                seen="another app works in this folder",
                todo="Use its page, or stop it first, or give another folder.",
            )
        self._held = held
        self._jobs = {job.number: job for job in _stored(self._folder)}
        for job in list(self._jobs.values()):
            # What the file says is begun only when somebody has seen it: it may come from others.
            is_alive = job.state in BUSY and job.process > 1 and self._is_alive(job)
            if job.state == "waiting" or (job.state in BUSY and not is_alive):
                self._keep(replace(job, state="stopped", process=0))
        self._thread = threading.Thread(target=self._work, name="cimento queue", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Begin nothing more; what runs goes on by itself."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        if self._held is not None:
            self._held.close()

    def jobs(self) -> list[Job]:
        """The jobs in their order."""
        with self._changed:
            return [self._jobs[number] for number in sorted(self._jobs)]

    def add(self, wanted: RunRequest) -> Job:
        """Put runs that somebody asks for at the end of the queue.

        Raises:
            StorageError: it cannot be written.
        """
        with self._changed:
            job = Job(max(self._jobs, default=0) + 1, wanted, is_agreed=True)
            self._keep(job)
            self._changed.notify_all()
        return job

    def stop(self, number: int) -> None:
        """Stop a job; what was scored is kept."""
        with self._changed:
            job = self._jobs.get(number)
            if job is not None and job.state == "waiting":
                self._keep(replace(job, state="stopped"))
            elif job is not None and job.state == "running":
                self._keep(replace(job, state="stopping"))
                _interrupt(job.process)

    def agree(self, number: int, *, trusted: bool) -> None:
        """Note that somebody agrees to what a job from a file would do, which is named to them.

        Args:
            number: of the job.
            trusted: whether code that comes with its models may be run.
        """
        with self._changed:
            job = self._jobs.get(number)
            if job is not None and job.state not in BUSY:
                wanted = replace(job.wanted, trusted=trusted)
                self._jobs[number] = replace(job, wanted=wanted, is_agreed=True)

    def go_on(self, number: int) -> None:
        """Put a job that has ended back into the queue, at its own place.

        Raises:
            CimentoError: the runs are of something that may not be used from here, or a file asks
                for what nobody has agreed to.
        """
        with self._changed:
            job = self._jobs.get(number)
            if job is not None and job.state not in ("waiting", *BUSY):
                self._may_begin(job)
                self._keep(replace(job, state="waiting"))
                self._changed.notify_all()

    def _may_begin(self, job: Job) -> RunRequest:
        """The runs of a job, if they may be made.

        Raises:
            CimentoError: see `go_on`.
        """
        wanted = job.wanted.checked(self._workspace)
        needs = {} if job.is_agreed else wanted.needs(self._workspace)
        for name, what in needs.items():
            raise UsageError(where=name, seen=what, todo="Agree to it first.")
        return wanted

    def forget(self, number: int) -> None:
        """Take a job out of the queue; its runs stay."""
        with self._changed:
            job = self._jobs.get(number)
            if job is not None and job.state not in BUSY:
                del self._jobs[number]
                with writing(self._folder):
                    _file(self._folder, number).unlink(missing_ok=True)
                    self._log(number).unlink(missing_ok=True)

    def log(self, number: int) -> str:
        """The end of what a job has written; empty where there is nothing."""
        try:
            handle = open_safely(self._log(number), os.O_RDONLY)
        except OSError:
            return ""
        with os.fdopen(handle, "rb") as file:
            file.seek(max(0, os.fstat(handle).st_size - SHOWN_OF_LOG))
            return file.read(SHOWN_OF_LOG).decode("utf-8", errors="replace")

    def reason(self, number: int) -> str:
        """The last error that a job has written, and the first fault below it; else empty.

        A line that only lists the runs that are missing counts where nothing else says why.
        """
        lines = self.log(number).splitlines()
        errors = [
            n for n, line in enumerate(lines)
            if line.startswith(_ERROR) and last_progress(line) is None
        ]  # fmt: skip
        if not errors:
            return ""
        why = [n for n in errors if not lines[n].startswith(_NOT_RUN)] or errors
        below = takewhile(lambda line: line.startswith(" "), lines[why[-1] + 1 :])
        faults = [line.strip() for line in below if line.strip().startswith("CIM-")]
        return "\n".join([lines[why[-1]].removeprefix(_ERROR), *faults[:1]])

    def progress(self, number: int) -> RunProgress | None:
        """The progress of a job, as its last line says; None where it has none."""
        return last_progress(self.log(number))

    def _work(self) -> None:
        """Do the jobs one after the other, until the queue is ended."""
        while (job := self._next()) is not None:
            if job.state in BUSY:
                self._follow(job)
            else:
                self._do(job.number)

    def _next(self) -> Job | None:
        """The job that has a process already, from an earlier app, or else the first that waits."""
        with self._changed:
            while not self._ended:
                some = sorted(self._jobs.values(), key=lambda job: job.number)
                for states in (BUSY, ("waiting",)):
                    for job in some:
                        if job.state in states:
                            return job
                self._changed.wait()
        return None

    def _follow(self, job: Job) -> None:
        """Wait for a process of an earlier app; then have the command say what became of it.

        Where somebody would have to agree to the command again, they are asked.
        """
        while not self._ended and self._is_alive(job):
            self._pause()
        if not self._ended:
            try:
                self._may_begin(job)
            except CimentoError:
                self._settle(job.number, "stopped")
            else:
                self._settle(job.number, "waiting")

    def _do(self, number: int) -> None:
        """Run a command and wait for its end."""
        with self._changed:
            job = self._jobs.get(number)
            if job is None or job.state != "waiting":
                return
            try:
                process = self._begun(job)
            except OSError:
                self._keep(replace(job, state="failed"))
                return
            except CimentoError as error:  # something was put there, or taken away, meanwhile
                self._write_reason(number, error)
                self._keep(replace(job, state="failed"))
                return
            self._keep(replace(job, state="running", process=process.pid))
        waited = 0.0
        while process.poll() is None and not self._ended:
            self._pause()
            waited += WAIT_S if self._jobs[number].state == "stopping" else 0.0
            if waited >= PATIENCE_S:
                process.terminate()
        if process.returncode is not None:
            states: dict[int, State] = {0: "done", PARTLY: "partly"}
            states.update(dict.fromkeys(INTERRUPTED, "stopped"))
            self._settle(number, states.get(process.returncode, "failed"))

    def _pause(self) -> None:
        with self._changed:
            self._changed.wait(WAIT_S)

    def _begun(self, job: Job) -> subprocess.Popen[bytes]:
        """The process of a command, which holds the lock of its log.

        Raises:
            CimentoError: the runs may not be made.
            OSError: the process, or its log, cannot be made.
        """
        arguments = self._may_begin(job).arguments
        self._workspace.inside(QUEUE)
        self._workspace.plain(RUNS)
        # A module of the workspace must not be taken for one of Python.
        command = [sys.executable, "-P", "-m", "cimento", *arguments]
        here = {str(self._workspace.folder), str(self._workspace.folder.resolve())}
        paths = [path for path in sys.path if os.path.isabs(path) and path not in here]  # noqa: PTH117  # strings
        env = {
            **os.environ, EVERY: "1", "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": os.pathsep.join(paths),
        }  # fmt: skip
        with os.fdopen(open_new(self._log(job.number)), "wb") as log:
            _lock(log)
            return subprocess.Popen(  # noqa: S603  # the command line itself, without a shell
                command,
                cwd=self._workspace.folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _write_reason(self, number: int, error: CimentoError) -> None:
        with contextlib.suppress(OSError), os.fdopen(open_new(self._log(number)), "wb") as log:
            log.write(f"{_ERROR}{error}\n".encode())

    def _settle(self, number: int, state: State) -> None:
        """Note what became of a job; one that was to be stopped is, unless it was done before."""
        with self._changed:
            job = self._jobs[number]
            is_stopped = job.state == "stopping" and state != "done"
            self._keep(replace(job, state="stopped" if is_stopped else state, process=0))

    def _is_alive(self, job: Job) -> bool:
        """Whether the process of a job holds the lock of its log."""
        try:
            handle = open_safely(self._log(job.number), os.O_RDWR)
        except OSError:
            return False
        with os.fdopen(handle, "r+b") as log:
            return not _lock(log)

    def _keep(self, job: Job) -> None:
        self._jobs[job.number] = job
        write_text(json.dumps(job.stored), _file(self._folder, job.number))

    def _log(self, number: int) -> Path:
        return self._folder / f"{number:04}.log"


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:04}.json"


def _stored(folder: Path) -> Iterator[Job]:
    """The jobs in a folder; other files, and links, are left alone."""
    for path in sorted(folder.glob("*.json"))[:MOST_JOBS]:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            with os.fdopen(open_safely(path, os.O_RDONLY), "rb") as file:
                plain = parse_json(file.read(LARGEST_JOB))
            number, process = int(plain["number"]), int(plain["process"])
            if number > 0 and path == _file(folder, number) and plain["state"] in STATES:
                yield Job(number, RunRequest.from_stored(plain), plain["state"], process)


def _lock(file: IO[bytes]) -> bool:
    """Lock an open file, for as long as any process has it open; whether nobody else had it."""
    if sys.platform == "win32":  # there a job of a killed app counts as stopped
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _interrupt(process: int) -> None:
    """Ask a process to stop, as Ctrl-C in a terminal does."""
    with contextlib.suppress(OSError):
        if os.name == "nt":
            os.kill(process, signal.SIGTERM)
        else:
            os.killpg(process, signal.SIGINT)
