"""Least squares with standard errors that allow for clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.design import Design
from cimento.statistics.intervals import t_quantile
from cimento.statistics.paired import t_two_sided
from cimento.statistics.values import floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats, Integers

INTERCEPT = "(intercept)"
CLUSTERED = "least squares, cluster-robust (CR2, Satterthwaite)"
FEW_CLUSTERS = "fewer clusters than coefficients and one more"
COLLINEAR = "a predictor is constant, or a sum of others"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient of a regression.

    Attributes:
        name: of its predictor; ``(intercept)`` for the value where all predictors are 0.
        value: in the unit of the outcome per unit of the predictor.
        error: its standard error.
        low: lower end of the confidence interval.
        high: upper end.
        p: two-sided, of the coefficient being 0.
    """

    name: str
    value: float
    error: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Regression:
    """A linear regression.

    Attributes:
        coefficients: the intercept first; empty where the regression is undefined.
        n: number of observations.
        n_clusters: number of clusters.
        method: how it was made.
        reason: why there are no coefficients.
    """

    coefficients: tuple[Coefficient, ...]
    n: int
    n_clusters: int
    method: str = CLUSTERED
    reason: str | None = None


def regress(
    outcome: ArrayLike,
    predictors: Mapping[str, ArrayLike],
    design: Design,
    *,
    level: float = 0.95,
) -> Regression:
    """Ordinary least squares of an outcome on an intercept and predictors.

    Standard errors are CR2's, cluster-robust with the residuals of each cluster adjusted by
    ``(I - H_gg)^(-1/2)``, and t has Satterthwaite's degrees of freedom for each coefficient (Bell
    and McCaffrey 2002, Survey Methodology 28, 169-181; Pustejovsky and Tipton 2018,
    doi:10.1080/07350015.2016.1247004).

    Args:
        outcome: shape (n,).
        predictors: name to values, each of shape (n,).
        design: of the observations; those of one cluster may depend on each other.
        level: of the confidence intervals.

    Raises:
        UsageError: lengths differ, or a value is not finite.
    """
    import numpy as np

    y = floats(outcome, name="outcome")
    columns = {name: floats(values, name=name) for name, values in predictors.items()}
    if INTERCEPT in columns:
        raise UsageError(where=INTERCEPT, seen="a predictor has the name of the intercept")
    n = same_length(outcome=y, units=design.units, **columns)
    group, m = design.codes()
    table = np.column_stack([np.ones(n), *columns.values()])
    width = table.shape[1]
    few = FEW_CLUSTERS if m <= width else design.shortage
    if few:
        return Regression((), n, m, reason=few)
    if np.linalg.matrix_rank(table) < width:
        return Regression((), n, m, reason=COLLINEAR)
    values = np.linalg.lstsq(table, y, rcond=None)[0]
    errors, freedoms = _errors(table, y - table @ values, group, m)
    return Regression(
        tuple(
            _coefficient(name, float(value), float(error), float(freedom), level)
            for name, value, error, freedom in zip(
                (INTERCEPT, *columns), values, errors, freedoms, strict=True
            )
        ),
        n,
        m,
    )


def _errors(table: Floats, residuals: Floats, group: Integers, m: int) -> tuple[Floats, Floats]:
    """CR2 standard errors of the coefficients and their degrees of freedom."""
    import numpy as np

    width = table.shape[1]
    values, vectors = np.linalg.eigh(table.T @ table)
    root = (vectors / np.sqrt(values)) @ vectors.T
    scores = np.zeros((m, width))
    # Of each cluster g: A_g X_g M, its weight in each coefficient, and what the fit takes from it.
    lengths, taken = np.zeros((m, width)), np.zeros((m, width, width))
    for number in range(m):
        rows = group == number
        weights = _adjusted(table[rows] @ root) @ root
        scores[number] = residuals[rows] @ weights
        lengths[number] = (weights**2).sum(axis=0)
        taken[number] = root @ table[rows].T @ weights
    errors: Floats = np.sqrt((scores**2).sum(axis=0))
    freedoms = np.zeros(width)
    for place in range(width):
        form = np.diag(lengths[:, place]) - taken[:, :, place] @ taken[:, :, place].T
        freedoms[place] = np.trace(form) ** 2 / (form**2).sum()
    return errors, freedoms


def _adjusted(part: Floats) -> Floats:
    """``(I - Q Q')^(-1/2) Q`` of a cluster's rows Q, without what it alone determines."""
    import numpy as np

    left, lengths, right = np.linalg.svd(part, full_matrices=False)
    spare = 1 - lengths**2
    known = spare > _ROUNDING
    adjusted: Floats = (left[:, known] * (lengths[known] / np.sqrt(spare[known]))) @ right[known]
    return adjusted


_ROUNDING = 1e-10


def _coefficient(
    name: str, value: float, error: float, freedom: float, level: float
) -> Coefficient:
    reach = t_quantile(freedom, level=level)
    p = t_two_sided(value / error, freedom) if error > 0 else float(value == 0)
    return Coefficient(name, value, error, value - reach * error, value + reach * error, p)
