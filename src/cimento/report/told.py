"""What runs of any kind said when they were made: the text that was printed, stored beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cimento.markup import printable_lines
from cimento.runs.store import Manifest, RunFolder

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
        reason: why only the text is shown; empty where that is all there is.
    """

    suite: str
    model: str
    kind: str
    text: str
    folder: Path
    reason: str = ""


def told_of(folder: RunFolder, manifest: Manifest) -> Told | None:
    """The text of a run; None where it has none.

    Args:
        folder: of the run.
        manifest: of the run.
    """
    text = folder.told()
    if not text:
        return None
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
