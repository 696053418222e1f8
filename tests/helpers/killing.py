"""Commands that are killed at a chosen moment, each in a fork of a process that has all modules.

    python -m tests.helpers.killing

reads jobs from standard input and answers on standard output, a line of JSON each. The moments are
what a process does to files below its working folder, as Python's audit events tell it before it
happens: opening to write, making, renaming and removing.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Killer:
    """A process that runs commands, and kills them.

    Args:
        environment: variables of the commands.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "tests.helpers.killing"]
        self._process = subprocess.Popen(  # noqa: S603  # this module
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **environment}, cwd=Path(__file__).parents[2],
        )  # fmt: skip

    def run(
        self, arguments: Sequence[str], folder: Path, *, moment: int = 0
    ) -> tuple[int, int, str]:
        """Run a command in a folder, and kill it before a moment.

        Args:
            arguments: the words of the command after ``cimento``.
            folder: the working folder.
            moment: the number of the event before which it is killed; 0 to let it end.

        Returns:
            The exit code, -9 if it was killed; the number of events; what it said.
        """
        job = {"arguments": list(arguments), "folder": str(folder), "moment": moment}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["code"], answer["events"], answer["said"]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class _Counter:
    """Counts what happens to files below a folder, and kills this process before one event."""

    def __init__(self, folder: str, moment: int, count: Path) -> None:
        self._folder, self._moment = os.path.realpath(folder), moment
        self._count = os.open(count, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self._events = 0

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if not isinstance(flags, int) or not flags & _WRITING:
                return
        elif event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"):
            path = args[0]
        else:
            return
        if not isinstance(path, str | os.PathLike):
            return
        whole = os.path.realpath(path)
        if not whole.startswith(self._folder + os.sep):
            return
        self._events += 1
        if self._events == self._moment:
            os.kill(os.getpid(), signal.SIGKILL)
        os.pwrite(self._count, f"{self._events:9}".encode(), 0)


def _child(job: dict[str, Any], said: Path, count: Path) -> None:
    """Run the command in this process, which then ends."""
    handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(job["folder"])
    sys.addaudithook(_Counter(job["folder"], job["moment"], count))
    from cimento.cli.main import invoke

    code = 70
    try:
        code = invoke(job["arguments"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _main() -> None:
    """Do jobs until there are none."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import cimento

    for module in pkgutil.walk_packages(cimento.__path__, "cimento."):
        if not module.name.startswith(("cimento.app", "cimento.__main__", "cimento.testing")):
            importlib.import_module(module.name)
    import torch
    import transformers

    torch.set_num_threads(1)
    assert transformers.__version__
    notes = Path(os.environ["KILLING_NOTES"])
    for line in sys.stdin:
        job = json.loads(line)
        said, count = notes / "said", notes / "count"
        count.write_text("0")
        child = os.fork()
        if child == 0:
            _child(job, said, count)
        _, status = os.waitpid(child, 0)
        answer = {
            "code": os.waitstatus_to_exitcode(status), "events": int(count.read_text() or 0),
            "said": said.read_text(encoding="utf-8", errors="replace"),
        }  # fmt: skip
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _main()
