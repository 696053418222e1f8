"""Every token at the same cost: what is left of a comparison is how many tokens it compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.answers import BOUNDARY

if TYPE_CHECKING:
    import polars as pl


def with_equal_costs(tokens: pl.DataFrame) -> pl.DataFrame:
    """The tokens table with a surprisal of one nat for every token that has one.

    Args:
        tokens: a table of the schema ``answers.TOKENS``; tokens without a finite score stay as
            they are.
    """
    import polars as pl

    known = pl.col("logprob_nats").is_finite()  # null where it is null
    other = [name for name in (BOUNDARY, "surprisal_bits") if name in tokens.columns]
    return tokens.drop(other).with_columns(
        logprob_nats=pl.when(known).then(-1.0).otherwise(pl.col("logprob_nats"))
    )
