"""What becomes of a first token that nothing precedes: no score, no part in anything, or 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.answers import LEFT_OUT, NO_LEFT_CONTEXT

if TYPE_CHECKING:
    import polars as pl

FirstTokenRule: TypeAlias = Literal["missing", "drop", "zero"]


def with_first_tokens(tokens: pl.DataFrame, rule: FirstTokenRule) -> pl.DataFrame:
    """The tokens table with its unscored first tokens as a rule has them.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        rule: ``missing`` leaves them as they are, ``drop`` leaves them out of every sum and
            length, ``zero`` gives them a surprisal of 0.
    """
    import polars as pl

    first = pl.col("unscored_reason").eq_missing(NO_LEFT_CONTEXT)
    if rule == "drop":
        return tokens.with_columns(
            unscored_reason=pl.when(first)
            .then(pl.lit(LEFT_OUT))
            .otherwise(pl.col("unscored_reason"))
        )
    if rule == "zero":
        return tokens.with_columns(
            logprob_nats=pl.when(first).then(0.0).otherwise(pl.col("logprob_nats")),
            unscored_reason=pl.when(first).then(None).otherwise(pl.col("unscored_reason")),
        )
    return tokens


def count_first_tokens(tokens: pl.DataFrame) -> int:
    """How many tokens have no score because nothing precedes them."""
    return tokens.filter(tokens["unscored_reason"].eq_missing(NO_LEFT_CONTEXT)).height
