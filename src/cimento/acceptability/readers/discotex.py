"""DisCoTEX (EVALITA 2023), sub-task 2: mean coherence of short texts on a scale from 1 to 5.

Its overview is in ceur-ws.org/Vol-3473. Columns: ``ID TEXT SCORE``.
"""

from __future__ import annotations

from cimento.acceptability.readers import cells
from cimento.acceptability.records import RatedSentence, RatedSet, Scale
from cimento.suites.tables import Table

COLUMNS = ("ID", "TEXT", "SCORE")
SCALE = Scale(1, 5)


def read(table: Table) -> RatedSet:
    """The texts of one file.

    Raises:
        InputError: a cell is not what it should be, an id is there twice, a mean is off the scale.
    """
    sentences = tuple(
        RatedSentence(
            id=cells.text_of(row, "ID"),
            text=cells.text_of(row, "TEXT"),
            mean=cells.number_of(table, row, "SCORE"),
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
