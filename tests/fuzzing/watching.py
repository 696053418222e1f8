"""One try of one reader, held to what every reader promises."""

from __future__ import annotations

import ctypes
import gc
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cimento.errors import CimentoError

MOST_BYTES = 200_000_000
"""What reading a file of less than a megabyte may need at most."""

ROOM_BYTES = 2_000_000_000
"""Of addresses, which libraries take far more of than of memory."""

LONGEST_MESSAGE = 50_000
_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


class BrokenError(AssertionError):
    """A promise that was not kept."""


class SlowError(BrokenError):
    """It took longer than it may; which a program that watches every line makes of anything."""


class _TooSlow(BaseException):
    """Raised by the alarm; no reader catches it."""


def attempt(read: Callable[[Path], object], path: Path, *, seconds: float) -> int | None:
    """Read a file; what may come of it is a value, or a message.

    Args:
        read: the reader.
        path: what it reads.
        seconds: of this process's own time that it may take.

    Returns:
        Bytes that it needed at most; None where Linux does not tell.

    Raises:
        BrokenError: another exception than a `CimentoError` came out of it, its message cannot be
            shown, or it took more memory than it may.
        SlowError: it took more time.
    """
    before = _reset_peak()
    try:
        with _alarm(seconds), _little_memory():
            read(path)
    except CimentoError as error:
        _check_message(error)
    except _TooSlow as error:
        raise SlowError(f"took more than {seconds} s") from error
    except (Exception, SystemExit) as error:
        raise BrokenError(f"{type(error).__name__}: {str(error)[:300]}") from error
    peak = _peak()
    needed = None if before is None or peak is None else peak - before
    if needed is not None and needed > MOST_BYTES:
        raise BrokenError(f"needed {needed / 1e6:.0f} MB")
    return needed


def settle() -> None:
    """Give memory back that is free: what is used again would not be counted."""
    gc.collect()
    if _STATUS.exists():
        libc = ctypes.CDLL(None)
        if hasattr(libc, "malloc_trim"):
            libc.malloc_trim(0)


def _check_message(error: CimentoError) -> None:
    message = str(error)
    try:
        message.encode()
    except UnicodeEncodeError as failure:
        raise BrokenError(f"the message cannot be written: {message[:200]!r}") from failure
    if not message.strip() or len(message) > LONGEST_MESSAGE:
        raise BrokenError(f"the message has {len(message)} characters: {message[:200]!r}")


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer than so many seconds of processor time."""

    def ring(*_: object) -> None:
        raise _TooSlow

    earlier = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, earlier)


@contextmanager
def _little_memory() -> Iterator[None]:
    """Let no reader fill the memory of the machine before its peak can be looked at."""
    used = _status("VmSize") if _STATUS.exists() else None
    if used is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _reset_peak() -> int | None:
    """Bytes in use now, from which the peak is counted; None where Linux does not tell."""
    try:
        _RESET.write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def _peak() -> int | None:
    return _status("VmHWM") if _STATUS.exists() else None


def _status(key: str) -> int | None:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return None
