"""EsCoLA and CatCoLA (Bel et al. 2024, LREC-COLING): labels, and the answers of annotators.

Columns: ``ID Source Label Source_annotation Annotator_1 Annotator_2 Annotator_3
Human_annotation_median Sentence Category Split``, as TSV, CSV or a workbook. The label is the
source's; annotators answered 1 or 0, and some sentences have none.
"""

from __future__ import annotations

import re

from cimento.acceptability.readers import cells
from cimento.acceptability.records import Label, RatedSentence, RatedSet, Scale, with_ratings
from cimento.suites.tables import Row, Table

COLUMNS = ("ID", "Label", "Sentence", "Human_annotation_median")
BINARY = Scale(0, 1)
_ANNOTATOR = re.compile(r"Annotator_\d+")
_PREFIX = re.compile(r"(?i)catcola|cat_")


def read(table: Table) -> RatedSet:
    """The sentences of one file.

    Raises:
        InputError: a cell is not what it should be, an id is there twice, an answer is not 0 or 1.
    """
    sentences = tuple(_sentence(table, row) for row in table.rows)
    cells.refuse_repeated(sentences, where=table.name)
    cells.refuse_off_scale(sentences, BINARY, where=table.name)
    return RatedSet(
        name=table.name.rsplit(".", 1)[0],
        sentences=sentences,
        scale=BINARY,
        language="ca" if _PREFIX.search(table.name) else "es",
        warnings=cells.not_nfc(table),
    )


def _sentence(table: Table, row: Row) -> RatedSentence:
    answers = {
        name: value
        for name in table.columns
        if _ANNOTATOR.fullmatch(name) and (value := cells.number_of(table, row, name)) is not None
    }
    ratings, mean, sd, n = with_ratings(list(answers.values()), list(answers))
    flag = cells.flag_of(table, row, "Label")
    label: Label = "" if flag is None else "acceptable" if flag else "unacceptable"
    kept = ("Source", "Source_annotation", "Human_annotation_median", "Category", "Split")
    return RatedSentence(
        id=cells.text_of(row, "ID"),
        text=cells.text_of(row, "Sentence"),
        ratings=ratings,
        mean=mean,
        sd=sd,
        n=n,
        label=label,
        columns={name.lower(): cells.text_of(row, name) for name in kept},
    )
