"""Files in a folder and below it; folders that are symbolic links are entered, each once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path


def files_below(folder: Path, pattern: str = "*") -> list[Path]:
    """The files of a name in a folder and below it, by path.

    A folder to which several links lead is entered by the first path; so no circle is endless.

    Args:
        folder: that is looked through; one that is not there has no files.
        pattern: of names, in which ``*`` stands for anything.
    """
    return sorted(path for path in _walked(folder) if fnmatchcase(path.name, pattern))


def _walked(folder: Path) -> Iterator[Path]:
    entered: set[str] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in entered:
            folders.clear()
            continue
        entered.add(real)
        # What is really here comes before what a link leads to, then in the order of names.
        folders.sort(key=lambda name: (Path(place, name).is_symlink(), name))
        yield from (path for name in names if (path := Path(place, name)).is_file())
