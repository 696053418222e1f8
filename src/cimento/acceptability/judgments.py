"""What people said as the judgments table, where models and people meet (docs/tables.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.acceptability.records import RatedSet, plain
from cimento.io.tables import JUDGMENTS

if TYPE_CHECKING:
    import polars as pl

ACCEPTABILITY = "acceptability"


def judgments_table(rated: RatedSet, *, question: str = ACCEPTABILITY) -> pl.DataFrame:
    """The single ratings of a set, one row each; none where only means were published.

    Args:
        rated: the set; its name stands as the suite's, the pair as the item, if there is one.
        question: what was asked.
    """
    import polars as pl

    rows = [
        (
            rated.name,
            each.pair or each.id,
            each.label or "sentence",
            each.text,
            rating.participant or None,
            question,
            plain(rating.value),
            None,
            None,
        )
        for each in rated.sentences
        for rating in each.ratings
    ]
    return pl.DataFrame(rows, schema=JUDGMENTS.polars(), orient="row")
