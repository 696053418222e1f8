"""What people remarked on candidates, beside whether they fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.readers.portuguese import REMARK_JOINT
from cimento.io.tables import JUDGMENTS, read_table

if TYPE_CHECKING:
    from pathlib import Path


def with_remarks(folder: Path | None, candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates with all that annotators of a run remarked on them, each remark once.

    Args:
        folder: of the run; None where it is not stored.
        candidates: of the run.
    """
    found = list(candidates)
    if folder is None or not (folder / f"{JUDGMENTS.name}.parquet").exists():
        return found
    remarks: dict[tuple[str, str], dict[str, None]] = {}
    table = read_table(JUDGMENTS, folder).select("item", "candidate", "remark")
    for item, candidate, remark in table.iter_rows():
        if remark:
            parts = dict.fromkeys(remark.split(REMARK_JOINT))
            remarks.setdefault((item, candidate), {}).update(parts)
    return [replace(each, remarks=tuple(remarks.get((each.item, each.text), ()))) for each in found]
