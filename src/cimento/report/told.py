"""What runs of any kind said when they were made: the text that was printed, stored beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cimento.report.wording import printable_lines
from cimento.runs import RunFolder, find_runs

ACCEPTABILITY = "acceptability"


@dataclass(frozen=True, slots=True)
class Told:
    """A run and its text.

    Attributes:
        suite: its name.
        model: label of the model.
        kind: of the suite.
        text: the tables, for a fixed-width font, without control characters.
        folder: where the run is.
    """

    suite: str
    model: str
    kind: str
    text: str
    folder: Path


def told_runs(paths: Iterable[Path]) -> list[Told]:
    """The texts of the runs in some folders; runs that have none are passed over.

    Raises:
        TableError: a folder holds no finished run.
    """
    found = []
    for path in paths:
        for folder in find_runs(path):
            text = folder.told()
            if text:
                found.append(_told(folder, text))
    return found


def _told(folder: RunFolder, text: str) -> Told:
    manifest = folder.manifest()
    suite = manifest.get("suite")
    name = suite.get("name") if isinstance(suite, dict) else suite
    return Told(
        suite=str(name or folder.path.parent.name),
        model=str(manifest.get("label") or folder.path.name),
        # Rated sentences are a run of regions with the ratings beside it.
        kind=str(manifest.get("kind") or ACCEPTABILITY),
        text=printable_lines(text),
        folder=folder.path,
    )
