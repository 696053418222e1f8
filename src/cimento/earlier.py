"""What earlier versions stored, read as it is meant now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

UNREACHABLE = "the answer is several tokens, and one mask was asked"
"""Why a target cannot be among the candidates for a blank."""


def misses(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Verdicts in which an answer that cannot be found is a miss; 0.1.0 left it unscored at first.

    A hit of a stored run is then counted as its summary and its report count it.
    """
    import polars as pl

    missed = (pl.col("verdict") == "unscored") & (pl.col("unscored_reason") == UNREACHABLE)
    return verdicts.with_columns(
        verdict=pl.when(missed).then(pl.lit("fail")).otherwise(pl.col("verdict"))
    )
