"""The largest resident memory of a process."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_bytes() -> int:
    """The largest resident memory of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.is_file():
        # What Linux says of resources used goes back to the process that started this one.
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)
