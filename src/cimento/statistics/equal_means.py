"""A test of the means of several columns of the same items, over clusters that may be crossed.

The covariance of the means is cluster-robust (CR2: Bell and McCaffrey 2002, Survey Methodology 28,
169-181), over crossed clusters that of each factor, less that of the cells in which they meet
(Cameron, Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136, section 2.3). Permutations are not
an alternative: models can be exchanged neither within the clusters of one factor, which share items
with those of the other, nor within cells, which are not independent.
"""

from __future__ import annotations

import numpy as np

from cimento.statistics.design import Design, Floats, Significance

WALD = "Wald test of equal proportions, cluster-robust, F (Hotelling)"
TOO_MANY = "more models than so few clusters can tell apart"
_FLAT = 1e-10


def equal_means(values: Floats, design: Design) -> Significance:
    """Test whether several columns have equal means.

    With q the rank of the covariance V of the differences d of means, and m the degrees of freedom
    of the design, ``F = (m - q + 1) / (m q) d' V⁻¹ d`` has q and m - q + 1 degrees of freedom
    (Hotelling's T²; for robust covariances Pustejovsky and Tipton 2018,
    doi:10.1080/07350015.2016.1247004, section 3). In no direction is V smaller than over cells
    alone, as in `crossed_variance`.

    Args:
        values: one row per item, one column per model.
        design: of the items, with five clusters of each factor or more.

    Returns:
        F, its p, and the second of its degrees of freedom; a reason in their place if nothing
        differs, or if there are hardly more clusters than models.
    """
    gaps = values[:, 1:] - values[:, :1]
    n, mean = len(gaps), gaps.mean(axis=0)
    parts = [(sign, _covariance(gaps - mean, part)) for sign, part in design.parts()]
    # In the directions in which the finest part varies: there it is the unit matrix.
    spread, axes = np.linalg.eigh(parts[-1][1])
    kept = spread > _FLAT * max(float(spread.max()), 1 / n**2)
    whitened = axes[:, kept] / np.sqrt(spread[kept])
    q, freedom = int(kept.sum()), design.freedom()
    if q == 0:
        return Significance(None, None, WALD, reason="no item on which the models differ")
    if (second := freedom - q + 1) <= 1:
        return Significance(None, None, WALD, reason=TOO_MANY)
    total = sum(sign * whitened.T @ covariance @ whitened for sign, covariance in parts)
    variances, directions = np.linalg.eigh(total)
    along = (mean @ whitened @ directions) ** 2
    square = float((along / np.maximum(variances, 1)).sum())
    return _tested(square * second / (freedom * q), q, second)


def _covariance(residuals: Floats, design: Design) -> Floats:
    """CR2's covariance of the means over clusters: ``Σ S_g S_g' / (1 - n_g / n) / n²``."""
    groups, m = design.codes()
    n = len(residuals)
    sums = np.zeros((m, residuals.shape[1]))
    np.add.at(sums, groups, residuals)
    weights = 1 / (1 - np.bincount(groups, minlength=m) / n)
    covariance: Floats = (sums * weights[:, None]).T @ sums / n**2
    return covariance


def _tested(f: float, first: int, second: float) -> Significance:
    from scipy import special

    return Significance(f, float(special.fdtrc(first, second, f)), WALD, second)
