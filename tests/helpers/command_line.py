"""The command line, run in this process."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.cli import main


def invoke(arguments: Sequence[str]) -> int:
    """The exit code of one command; its output goes where the test looks."""
    return main.invoke(arguments)
