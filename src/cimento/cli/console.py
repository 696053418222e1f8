"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import sys


def show(text: str) -> None:
    """A result, to standard output."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """A remark, to standard error."""
    sys.stderr.write(text if text.endswith("\n") else text + "\n")
    sys.stderr.flush()
