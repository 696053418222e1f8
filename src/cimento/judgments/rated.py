"""The ratings of a published set of sentences as judgments, one for each person and sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.io.tables import JUDGMENTS
from cimento.judgments import ACCEPTABILITY
from cimento.suites.ratings import RatedSet, rating_as_text

if TYPE_CHECKING:
    import polars as pl


def judgments_table(rated: RatedSet, *, question: str = ACCEPTABILITY) -> pl.DataFrame:
    """The single ratings of a set, one per row; none if only means were published.

    Args:
        rated: the set; its name is used for the suite, and the pair, if any, for the item.
        question: name of the question.
    """
    import polars as pl

    rows = [
        (
            rated.name,
            sentence.pair or sentence.id,
            sentence.label or "sentence",
            sentence.text,
            rating.participant or None,
            question,
            rating_as_text(rating.value),
            None,
            None,
        )
        for sentence in rated.sentences
        for rating in sentence.ratings
    ]
    return pl.DataFrame(rows, schema=JUDGMENTS.polars(), orient="row")
