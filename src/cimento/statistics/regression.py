"""Least squares with standard errors that allow for clusters."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.intervals import t_quantile
from cimento.statistics.paired import t_two_sided
from cimento.statistics.values import codes, floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats, Integers

INTERCEPT = "(intercept)"
CLUSTERED = "least squares, cluster-robust (CR1)"
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
    *,
    clusters: Sequence[Hashable],
    level: float = 0.95,
) -> Regression:
    """Ordinary least squares of an outcome on an intercept and predictors.

    Standard errors are cluster-robust (Liang and Zeger 1986, doi:10.1093/biomet/73.1.13), with the
    small-sample factor ``G/(G - 1) * (n - 1)/(n - k)`` and t with ``G - 1`` degrees of freedom
    (Cameron and Miller 2015, doi:10.3368/jhr.50.2.317).

    Args:
        outcome: shape (n,).
        predictors: name to values, each of shape (n,).
        clusters: what each observation belongs to; observations of one cluster may depend on
            each other.
        level: of the confidence intervals.

    Raises:
        UsageError: lengths differ, or a value is not finite.
    """
    import numpy as np

    y = floats(outcome, name="outcome")
    columns = {name: floats(values, name=name) for name, values in predictors.items()}
    if INTERCEPT in columns:
        raise UsageError(where=INTERCEPT, seen="a predictor has the name of the intercept")
    n = same_length(outcome=y, clusters=clusters, **columns)
    group, n_clusters = codes(clusters)
    design = np.column_stack([np.ones(n), *columns.values()])
    width = design.shape[1]
    if n_clusters <= width:
        return Regression((), n, n_clusters, reason=FEW_CLUSTERS)
    if np.linalg.matrix_rank(design) < width:
        return Regression((), n, n_clusters, reason=COLLINEAR)
    values = np.linalg.lstsq(design, y, rcond=None)[0]
    errors = _errors(design, y - design @ values, group, n_clusters)
    reach = t_quantile(n_clusters - 1, level=level)
    names = (INTERCEPT, *columns)
    return Regression(
        tuple(
            _coefficient(name, float(value), float(error), reach, n_clusters - 1)
            for name, value, error in zip(names, values, errors, strict=True)
        ),
        n,
        n_clusters,
    )


def _errors(design: Floats, residuals: Floats, group: Integers, n_clusters: int) -> Floats:
    """Cluster-robust standard errors of the coefficients."""
    import numpy as np

    n, width = design.shape
    scores = np.zeros((n_clusters, width))
    np.add.at(scores, group, design * residuals[:, None])
    bread = np.linalg.inv(design.T @ design)
    factor = n_clusters / (n_clusters - 1) * (n - 1) / (n - width)
    errors: Floats = np.sqrt(np.diag(bread @ (scores.T @ scores) @ bread) * factor)
    return errors


def _coefficient(name: str, value: float, error: float, reach: float, freedom: int) -> Coefficient:
    p = t_two_sided(value / error, freedom) if error > 0 else float(value == 0)
    return Coefficient(name, value, error, value - reach * error, value + reach * error, p)
