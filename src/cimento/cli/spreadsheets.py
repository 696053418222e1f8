"""CSV files that can be opened in a spreadsheet program, where that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def neutralise(paths: Iterable[Path], *, asked: bool) -> None:
    """Write CSV files again without cells that a spreadsheet program takes for formulas.

    Args:
        paths: what a command has written; files of other kinds stay as they are.
        asked: whether the user asked for it (``--spreadsheet-safe``).
    """
    from cimento.io.files import make_inert

    for path in paths:
        if asked and path.suffix.lower() == ".csv":
            make_inert(path)
