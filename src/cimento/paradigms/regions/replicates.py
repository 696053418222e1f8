"""Errors of scores that are estimates by samples: everything is computed on each replicate.

Masked diffusion models are scored by samples in independent replicates, whose scores are columns of
the tokens table (docs/scoring.md). Whatever follows from scores, such as a sum, a difference or a
measure, is computed on each replicate, and the spread of the results gives its error, whatever the
formula and however the noise of its parts is correlated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.io.tables import REPLICATE, REPLICATES, replicate_columns
from cimento.paradigms.regions.predictions import VERDICTS, Evaluations

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.arrays import Floats

CONFIDENCE = 0.95
UNDECIDED = "undecided: the margin is within its Monte Carlo error"


def replicates_of(tokens: pl.LazyFrame) -> list[pl.LazyFrame]:
    """A tokens table with the scores of each replicate in their place; none without replicates."""
    import polars as pl

    if not any(name.startswith(REPLICATE) for name in tokens.collect_schema()):
        return []
    return [tokens.with_columns(logprob_nats=pl.col(name)) for name in replicate_columns()]


def half_widths(values: Sequence[Floats]) -> Floats:
    """Half the width of the 95 % interval of a mean over replicates: t times its standard error.

    Args:
        values: the values of each replicate; NaN where there is none.

    Returns:
        One number for each value, with the quantile of Student's t for one degree of freedom less
        than there are replicates.
    """
    import numpy as np
    from scipy.stats import t

    spread: Floats = np.std(np.stack(values), axis=0, ddof=1)
    quantile = float(t.ppf((1 + CONFIDENCE) / 2, REPLICATES - 1))
    return quantile * spread / math.sqrt(REPLICATES)


def with_undecided(
    judged: Sequence[Evaluations], errors: Sequence[Floats], number: Callable[[str], int]
) -> list[Evaluations]:
    """Verdicts without those whose margin is within its error, which are unscored, with a reason.

    Args:
        judged: the results of each prediction.
        errors: half widths of the intervals of their margins.
        number: function that gives a reason its number.
    """
    import numpy as np

    decided = [VERDICTS.index("pass"), VERDICTS.index("fail")]
    results = []
    for part, error in zip(judged, errors, strict=True):
        open_ones = np.isin(part.verdicts, decided) & (np.abs(part.margins_bits) <= error)
        results.append(
            replace(
                part,
                verdicts=np.where(open_ones, VERDICTS.index("unscored"), part.verdicts),
                reasons=np.where(open_ones, number(UNDECIDED), part.reasons),
            )
        )
    return results
