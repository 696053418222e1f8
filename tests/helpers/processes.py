"""The processes that a test has started, found by what only their commands have."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def processes(*markers: str) -> dict[int, str]:
    """The other processes with all these texts in their commands, with their commands."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if all(marker in command for marker in markers) and path.parent.name != str(
                os.getpid()
            ):
                found[int(path.parent.name)] = command
    return found
