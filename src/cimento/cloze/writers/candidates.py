"""Judged candidates as a table that gives back exactly what was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.notation import write_cell, write_parts
from cimento.cloze.readers.candidates import COLUMNS, FITS
from cimento.cloze.writers.native import as_tsv
from cimento.files import write_text

_WORDS = {fits: word for word, fits in FITS.items()}


def write_candidates(candidates: Iterable[Candidate], path: Path) -> Path:
    """Write candidates as a table without quoting; a cell that is empty says nothing.

    Raises:
        StorageError: the file cannot be written.
    """
    return write_text(candidates_tsv(candidates), path)


def candidates_tsv(candidates: Iterable[Candidate]) -> str:
    """The table as text."""
    rows = [_row(each) for each in candidates]
    return as_tsv(rows or [dict.fromkeys(COLUMNS, "")])


def _row(candidate: Candidate) -> Mapping[str, str]:
    return {
        "item": write_cell(candidate.item),
        "rank": str(candidate.rank),
        "candidate": write_cell(candidate.text),
        "probability": "" if candidate.probability is None else repr(candidate.probability),
        "fits": _WORDS[candidate.fits],
        "remarks": write_parts(candidate.remarks),
        "tags": write_parts(candidate.tags),
    }
