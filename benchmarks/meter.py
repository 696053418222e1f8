"""What a piece of work costs this process: CPU and wall seconds, memory; nothing but the stdlib."""

from __future__ import annotations

import os
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_STATUS = Path("/proc/self/status")
_PEAK = Path("/proc/self/clear_refs")
_MACHINE = Path("/proc/stat")
_RESET_PEAK = "5"
"""What Linux wants written to `clear_refs` to forget the largest resident size so far."""


def resident_bytes(field: str = "VmRSS") -> int:
    """Resident memory of this process, with ``VmHWM`` its peak; the peak too without /proc."""
    if _STATUS.is_file():
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def machine_seconds() -> float | None:
    """CPU seconds that all processes have used since the machine started; None where unknown."""
    if not _MACHINE.is_file():
        return None
    ticks = [int(field) for field in _MACHINE.read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = ticks
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """What was spent between the start and the end of a piece of work.

    Attributes:
        cpu_seconds: user and system time of this process, all threads.
        wall_seconds: time that passed.
        resident_bytes_before: memory in use when the work began, the model loaded.
        peak_bytes: largest memory in use during the work.
        other_cpu_share: part of the machine's processors that other processes used meanwhile.
    """

    cpu_seconds: float
    wall_seconds: float
    resident_bytes_before: int
    peak_bytes: int
    other_cpu_share: float | None


class Meter:
    """Started when made; `read` says what was spent since."""

    def __init__(self) -> None:
        self._resident = resident_bytes()
        if _PEAK.exists():
            _PEAK.write_text(_RESET_PEAK)
        self._machine = machine_seconds()
        self._cpu = time.process_time()
        self._wall = time.perf_counter()

    def read(self) -> Cost:
        """The cost so far."""
        wall = time.perf_counter() - self._wall
        cpu = time.process_time() - self._cpu
        machine = machine_seconds()
        share = None
        if machine is not None and self._machine is not None:
            share = max(0.0, machine - self._machine - cpu) / (wall * (os.cpu_count() or 1))
        return Cost(cpu, wall, self._resident, resident_bytes("VmHWM"), share)
