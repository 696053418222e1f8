"""AcCompl-it (EVALITA 2020): mean acceptability or complexity on a scale from 1 to 7.

Its overview is in ceur-ws.org/Vol-2765. Columns: ``id N mean sd se sentence task
reference``. An id may be in two files with different sentences; `merge` keeps them apart.
"""

from __future__ import annotations

from cimento.acceptability.readers import cells
from cimento.acceptability.records import RatedSentence, RatedSet, Scale
from cimento.suites.tables import Table

COLUMNS = ("id", "N", "mean", "sd", "se", "sentence", "task", "reference")
SCALE = Scale(1, 7)


def read(table: Table) -> RatedSet:
    """The sentences of one file.

    Raises:
        InputError: a cell is not what it should be, an id is there twice, a mean is off the scale.
    """
    sentences = tuple(
        RatedSentence(
            id=cells.text_of(row, "id"),
            text=cells.text_of(row, "sentence"),
            mean=cells.number_of(table, row, "mean"),
            sd=cells.number_of(table, row, "sd"),
            n=cells.count_of(table, row, "N"),
            columns={name: cells.text_of(row, name) for name in ("se", "task", "reference")},
        )
        for row in table.rows
    )
    cells.refuse_repeated(sentences, where=table.name)
    cells.refuse_off_scale(sentences, SCALE, where=table.name)
    return RatedSet(
        name=table.name.rsplit(".", 1)[0],
        sentences=sentences,
        scale=SCALE,
        language="it",
        warnings=cells.not_nfc(table),
    )
