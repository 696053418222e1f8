"""What people said of candidates: judgments made on a run, and those of an earlier one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from cimento.cloze.readers.candidates import read_candidates
from cimento.errors import InputError
from cimento.io.tables import JUDGMENTS, read_table

Fits = Mapping[tuple[str, str], bool | None]
"""Item and candidate to whether it fits, as people said; None where they were divided."""

_SAID = {"yes": True, "no": False}


def read_said(
    folder: Path | None, earlier: Path | None = None
) -> dict[tuple[str, str], bool | None]:
    """Judgments that were made on a run, then those of an earlier one where there are none.

    Args:
        folder: of the run, with its own judgments beside its tables; None for no run.
        earlier: a folder with a judgments table, or a table of judged candidates; None for none.

    Raises:
        InputError: the earlier judgments cannot be read.
    """
    found: dict[tuple[str, str], bool | None] = {}
    if earlier is not None:
        found.update(_earlier(earlier))
    if folder is not None and (folder / f"{JUDGMENTS.name}.parquet").exists():
        found.update(_of_folder(folder))
    return found


def majority(votes: Iterable[bool]) -> bool | None:
    """What most people said; None where they were divided evenly, or nobody said anything."""
    said = list(votes)
    yes = sum(said)
    return None if 2 * yes == len(said) else 2 * yes > len(said)


def _earlier(path: Path) -> Fits:
    if path.is_dir():
        return _of_folder(path)
    if not path.is_file():
        raise InputError(
            where=str(path),
            seen="there are no judgments here",
            todo="Give a run that was annotated, or a table of judgments.",
        )
    rows = read_candidates(path)
    return {(each.item, each.text): each.fits for each in rows if each.fits is not None}


def _of_folder(folder: Path) -> Fits:
    table = read_table(JUDGMENTS, folder)
    votes: dict[tuple[str, str], list[bool]] = {}
    rows = table.select("item", "candidate", "question", "value").iter_rows()
    for item, candidate, question, value in rows:
        if question == "fits" and value in _SAID:
            votes.setdefault((item, candidate), []).append(_SAID[value])
    return {key: majority(some) for key, some in votes.items()}
