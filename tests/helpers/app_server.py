"""The app as a program of its own, for tests in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running_app(folder: Path) -> Iterator[str]:
    """The address of the app of a folder, served until the end."""
    command = [sys.executable, "-m", "cimento", "app", str(folder), "--no-browser", "--port", "0"]
    with subprocess.Popen(  # noqa: S603  # a fixed command
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().split()[-1]
        finally:
            process.terminate()
            process.communicate(timeout=20)
