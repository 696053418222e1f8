"""Correlations of many bootstrap draws at once, from how often each row was drawn.

A draw is a row of weights: how often it holds each row of the sample. All coefficients can be
computed from weights, which makes ten thousand draws about as cheap as a few hundred one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.statistics.values import Floats

Weighted = Callable[["Floats"], "Floats"]

# Variances below this share of the sample's are rounding: the draw is constant.
_CONSTANT = 1e-12
# Three n x n tables of signs, exact in float32 up to this many rows.
KENDALL_ROWS = 2000


def pearson_draws(x: Floats, y: Floats) -> Weighted:
    """From weights, one row a draw, to Pearson's coefficient of each draw; NaN where undefined."""
    import numpy as np

    columns = np.stack([_standard(x), _standard(y)], axis=1)

    def statistic(weights: Floats) -> Floats:
        return _correlations(weights, np.broadcast_to(columns, (*weights.shape, 2)))

    return statistic


def spearman_draws(x: Floats, y: Floats) -> Weighted:
    """From weights to Spearman's coefficient of each draw, ranked anew; NaN where undefined."""
    import numpy as np

    ranks = [_ranker(each) for each in (x, y)]

    def statistic(weights: Floats) -> Floats:
        found = np.stack([rank(weights) for rank in ranks], axis=2)
        return _correlations(weights, found / weights.shape[1])

    return statistic


def kendall_draws(x: Floats, y: Floats) -> Weighted:
    """From weights to Kendall's tau-b of each draw; for up to `KENDALL_ROWS` rows.

    ``Σ w_i w_j s_ij t_ij / sqrt(Σ w_i w_j s_ij² Σ w_i w_j t_ij²)`` with the signs s and t of the
    differences of x and of y.
    """
    import numpy as np

    s = np.sign(x[:, None] - x[None, :]).astype(np.float32)
    t = np.sign(y[:, None] - y[None, :]).astype(np.float32)
    tables = (s * t, np.abs(s), np.abs(t))

    def statistic(weights: Floats) -> Floats:
        w = weights.astype(np.float32)
        above, left, right = (
            np.einsum("ij,ij->i", w @ table, w, dtype=np.float64) for table in tables
        )
        with np.errstate(invalid="ignore"):
            return np.where(left * right > 0, above / np.sqrt(left * right), np.nan)

    return statistic


def partial_draws(table: Floats, *, ranked: bool) -> Weighted:
    """From weights to the partial correlation of the first two columns, given the others.

    Args:
        table: one row an observation: x, y and the covariates.
        ranked: by mid-ranks, which each draw makes anew.
    """
    import numpy as np

    standard = np.stack([_standard(column) for column in table.T], axis=1)
    ranks = [_ranker(column) for column in table.T]

    def statistic(weights: Floats) -> Floats:
        if ranked:
            columns = np.stack([rank(weights) for rank in ranks], axis=2) / weights.shape[1]
        else:
            columns = np.broadcast_to(standard, (*weights.shape, table.shape[1]))
        spread = _covariances(weights, columns)
        across = spread[:, :2, 2:]
        explained = across @ np.linalg.pinv(spread[:, 2:, 2:], hermitian=True, rcond=1e-10)
        left = spread[:, :2, :2] - explained @ across.swapaxes(1, 2)
        return _ratio(left, np.diagonal(spread, axis1=1, axis2=2)[:, :2])

    return statistic


def _standard(values: Floats) -> Floats:
    """The values from their mean, in standard deviations."""
    from_mean: Floats = values - values.mean()
    sd = float(from_mean.std())
    return from_mean / sd if sd else from_mean * 0


def _ranker(values: Floats) -> Weighted:
    """From weights to the mid-rank that each row has in each draw."""
    import numpy as np

    _, groups = np.unique(values, return_inverse=True)
    order = np.argsort(groups, kind="stable")
    last = np.cumsum(np.bincount(groups)) - 1

    def rank(weights: Floats) -> Floats:
        upto = np.cumsum(weights[:, order], axis=1)[:, last]
        before = np.concatenate([np.zeros((len(weights), 1)), upto[:, :-1]], axis=1)
        middle: Floats = ((before + upto + 1) / 2)[:, groups]
        return middle

    return rank


def _covariances(weights: Floats, columns: Floats) -> Floats:
    """Of each draw the covariance matrix of its columns."""
    import numpy as np

    totals = weights.sum(axis=1)
    means = np.einsum("bn,bni->bi", weights, columns) / totals[:, None]
    centred = columns - means[:, None, :]
    weighted = centred * weights[:, :, None]
    found: Floats = weighted.swapaxes(1, 2) @ centred / totals[:, None, None]
    return found


def _correlations(weights: Floats, columns: Floats) -> Floats:
    import numpy as np

    return _ratio(_covariances(weights, columns), np.full((len(weights), 2), 1.0))


def _ratio(spread: Floats, whole: Floats) -> Floats:
    """The correlation of a 2 x 2 matrix, NaN where a variance is nothing beside the whole one."""
    import numpy as np

    own = np.diagonal(spread, axis1=1, axis2=2)
    defined = (own > _CONSTANT * np.maximum(whole, _CONSTANT)).all(axis=1)
    below = np.sqrt(np.where(defined, own[:, 0] * own[:, 1], 1))
    found = np.where(defined, spread[:, 0, 1] / below, np.nan)
    # Perfect correlations are perfect in every draw, not nearly so.
    return np.where(np.abs(found) > 1 - _CONSTANT, np.sign(found), found)
