"""What people said as the judgments table, where models and people meet (docs/tables.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cimento.acceptability.records import ForcedChoice, RatedSet, plain
from cimento.answers import JUDGMENTS

if TYPE_CHECKING:
    import polars as pl

ACCEPTABILITY = "acceptability"
PREFERENCE = "which is better"


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


def choices_table(choices: Iterable[ForcedChoice], *, suite: str) -> pl.DataFrame:
    """Forced choices, one row each: the value is the preferred sentence, null where none is.

    Args:
        choices: checks of attention among them are left out.
        suite: the name that stands as the suite's.
    """
    import polars as pl

    rows = [
        (
            suite,
            each.good,
            each.paradigm,
            each.bad,
            each.annotator or None,
            PREFERENCE,
            None if each.chose_good is None else each.good if each.chose_good else each.bad,
            None,
            None,
        )
        for each in choices
        if not each.attention
    ]
    return pl.DataFrame(rows, schema=JUDGMENTS.polars(), orient="row")
