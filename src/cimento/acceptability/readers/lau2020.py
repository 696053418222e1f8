"""Lau et al. 2020 (doi:10.1162/tacl_a_00315): every rating of a sentence, from 1 to 4.

Columns: ``ID translated source-language sentence context full-ratings mean-ratings``. Who gave
which rating is not told; some lists mix ``3`` and ``3.0``.
"""

from __future__ import annotations

from cimento.acceptability.readers import cells
from cimento.acceptability.records import RatedSentence, RatedSet, Scale, with_ratings
from cimento.errors import InputError
from cimento.suites.tables import Row, Table

COLUMNS = (
    "ID", "translated", "source-language", "sentence", "context", "full-ratings", "mean-ratings",
)  # fmt: skip
SCALE = Scale(1, 4)
PRINTED_MEAN = "printed_mean"
"""Free column with the mean as the file has it; the record's own is that of the ratings."""


def read(table: Table) -> RatedSet:
    """The sentences of one file; means are those of the ratings.

    Raises:
        InputError: a cell is not what it should be, an id is there twice, a rating is off the
            scale.
    """
    sentences = tuple(_sentence(table, row) for row in table.rows)
    cells.refuse_repeated(sentences, where=table.name)
    cells.refuse_off_scale(sentences, SCALE, where=table.name)
    return RatedSet(
        name=table.name.rsplit(".", 1)[0],
        sentences=sentences,
        scale=SCALE,
        language="en",
        warnings=cells.not_nfc(table),
    )


def _sentence(table: Table, row: Row) -> RatedSentence:
    ratings, mean, sd, n = with_ratings(cells.numbers_of(table, row, "full-ratings"))
    if not ratings:
        raise InputError(
            where=table.where(row), seen="there are no ratings", todo="Leave the row out."
        )
    return RatedSentence(
        id=cells.text_of(row, "ID"),
        text=cells.text_of(row, "sentence"),
        ratings=ratings,
        mean=mean,
        sd=sd,
        n=n,
        columns={
            "translated": cells.text_of(row, "translated"),
            "source_language": cells.text_of(row, "source-language"),
            "context": cells.text_of(row, "context"),
            PRINTED_MEAN: cells.text_of(row, "mean-ratings"),
        },
    )
