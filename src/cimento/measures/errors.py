"""The errors of scores and of what follows from them: by number format, and by samples.

Masked diffusion models are scored by samples in independent replicates, whose scores are columns of
the tokens table (docs/scoring.md). Whatever follows from scores, such as a sum, a difference or a
measure, is computed on each replicate, and the spread of the results gives its error, whatever the
formula and however the noise of its parts is correlated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.io.tables import REPLICATE, REPLICATES, replicate_columns

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.values import Floats

CONFIDENCE = 0.95

ROUNDING_BITS: Mapping[str, float] = {
    "float64": 1e-13,
    "float32": 1.1e-4,
    "float16": 0.17,
    "bfloat16": 1.3,
}
"""Number formats of weights, each with the largest measured change of a margin in bits."""


def replicates_of(tokens: pl.LazyFrame) -> list[pl.LazyFrame]:
    """A tokens table with the scores of each replicate in their place; none without replicates."""
    import polars as pl

    if not any(name.startswith(REPLICATE) for name in tokens.collect_schema()):
        return []
    return [tokens.with_columns(logprob_nats=pl.col(name)) for name in replicate_columns()]


def half_widths(values: Sequence[Floats]) -> Floats:
    """Half the width of the 95% interval of a mean over replicates: t times its standard error.

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
