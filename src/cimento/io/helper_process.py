"""A helper process: another interpreter that computes while this one serves a model.

Python's lock lets one thread compute at a time, so that threads which judge and store runs would
slow down the one that feeds a GPU (docs/design/engines.md).
"""

from __future__ import annotations

import contextlib
import copyreg
import io
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    import polars as pl

P = ParamSpec("P")
R = TypeVar("R")

# Not `multiprocessing`, whose processes run the user's script again where it has no guard.
_PROGRAM = f"""
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from {__name__} import serve
serve()
"""
_LENGTH = struct.Struct("<q")
GRACE_S = 5.0


class HelperProcess:
    """A process that calls functions, started for the first call.

    A call that the process cannot do is done here: where it cannot be started, where arguments
    cannot be sent, and where the function raises, so that errors are those of this process. What is
    called must therefore be safe to repeat.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_usable = bool(sys.executable)

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function in the process, and wait for its result; calls take turns.

        Args:
            function: a function of a module.
            args: its arguments, which must be picklable.
            kwargs: its arguments by name.
        """
        with self._lock:
            if self._is_usable:
                is_done, result = self._ask((function, args, kwargs))
                if is_done:
                    return cast("R", result)
        return function(*args, **kwargs)

    def close(self) -> None:
        """End the process, which has nothing to do any more."""
        self._is_usable = False
        if self._process is None:
            return
        stdin, stdout = _pipes(self._process)
        with contextlib.suppress(OSError):
            stdin.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        stdout.close()
        self._process = None

    def _ask(self, call: object) -> tuple[bool, object]:
        try:
            message = _packed(call)
        except (pickle.PicklingError, AttributeError, TypeError):
            return False, None
        try:
            if self._process is None:
                self._process = _started()
            stdin, stdout = _pipes(self._process)
            _send(message, stdin)
            is_done, result = pickle.loads(_receive(stdout))  # noqa: S301  # from our own process
        # A process that was killed leaves a pipe that is closed, or a message that is cut anywhere.
        except (OSError, EOFError, pickle.UnpicklingError):
            self._is_usable = False
            return False, None
        return bool(is_done), result


def _packed(call: object) -> bytes:
    """A call as bytes, with tables in the format of Arrow.

    Polars' own pickling takes many times as long, and no other thread computes meanwhile.
    """
    import polars as pl

    stream = io.BytesIO()
    pickler = pickle.Pickler(stream, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {**copyreg.dispatch_table, pl.DataFrame: _arrow}
    pickler.dump(call)
    return stream.getvalue()


def _arrow(table: pl.DataFrame) -> tuple[Callable[[bytes], pl.DataFrame], tuple[bytes]]:
    import polars as pl

    stream = io.BytesIO()
    table.write_ipc(stream, compression="uncompressed")
    return pl.read_ipc, (stream.getvalue(),)


def _started() -> subprocess.Popen[bytes]:
    """The process, which finds its modules where this one does."""
    # Without -P it would find the modules of its first line in the working folder.
    command = [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603  # ourselves


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    return cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)


def _send(message: bytes, stream: IO[bytes]) -> None:
    # With its length, so that a message which cannot be unpickled is read to its end.
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes:
    """The next message.

    Raises:
        EOFError: there is none, or it is cut short.
    """
    head = stream.read(_LENGTH.size)
    length = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else -1
    message = stream.read(max(0, length))
    if len(message) != length:
        raise EOFError
    return message


def serve() -> None:
    """Do calls until the other process has gone, as the main loop of a helper process."""
    # Ctrl-C reaches every process of a terminal, and only the first is to act on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What functions print must not get among the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(EOFError, OSError):
        while True:
            _send(_answered(_receive(sys.stdin.buffer)), answers)
    os._exit(0)  # nothing is left to be done, and leaving in order takes a while


def _answered(message: bytes) -> bytes:
    """The message that answers a call: whether it was done, and its result."""
    try:
        function, args, kwargs = pickle.loads(message)  # noqa: S301  # from our own process
        return pickle.dumps((True, function(*args, **kwargs)))
    # The other process calls the function again, and reports the error where users see it.
    except Exception:
        if os.environ.get("CIMENTO_DEBUG"):
            raise
        return pickle.dumps((False, None))
