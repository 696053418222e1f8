"""Lists of sentences under headings that judge them: *Grammatical:* and *Ungrammatical:*."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.intake.names import meaning

_SENTENCE, _LABEL, _NOTE = "sentence", "label", "note"
_SIDES = {"good", "bad"}


def with_labels_of_sections(records: list[list[str]]) -> list[list[str]]:
    """The rows of a file with a label for each sentence, taken from the heading above it.

    The first heading becomes the names of the columns and all others become empty, so that the
    numbers of the rows stay those of the file. A file whose first row is no such heading, or that
    has headings for one side alone, is unchanged.

    >>> with_labels_of_sections([["Good:"], ["We sleep.", "x"], ["Bad:"], ["We sleeps."]])
    [['sentence', 'label', 'note'], ['We sleep.', 'Good', 'x'], [], ['We sleeps.', 'Bad']]

    Args:
        records: the rows, of which some may be empty.
    """
    first = next((number for number, row in enumerate(records) if any(map(str.strip, row))), 0)
    if not records or not _side(records[first]):
        return records
    headings = {number: side for number, row in enumerate(records) if (side := _side(row))}
    if {*headings.values()} != _SIDES:
        return records
    width, label, rows = max(map(len, records)), "", list[list[str]]()
    for number, row in enumerate(records):
        if number in headings:
            label = "".join(row).strip().rstrip(":")
            rows.append([_SENTENCE, _LABEL, *[_NOTE] * (width > 1)] if number == first else [])
        elif any(map(str.strip, row)):
            notes = " ".join(filter(None, map(str.strip, row[1:])))
            rows.append([row[0], label, *([notes] if notes else [])])
        else:
            rows.append([])
    return rows


def _side(row: Sequence[str]) -> str:
    """The side that a row with one cell names; empty for other rows."""
    filled = [cell for cell in map(str.strip, row) if cell]
    if len(filled) != 1 or not filled[0].endswith(":"):
        return ""
    side = meaning(filled[0].rstrip(":").strip())
    return side if side in _SIDES else ""
