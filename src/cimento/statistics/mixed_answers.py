"""Mixed models of answers that are categories: right and wrong, and ratings in an order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.design import Floats, Integers, floats
from cimento.statistics.mixed import WALD, FixedEffect, MixedFit
from cimento.statistics.mixed_deviance import GroupBlock, triangles
from cimento.statistics.mixed_formula import (
    MixedFormula,
    VariableColumn,
    block_of,
    by_group,
    design_of,
    impossible,
    parse_formula,
    random_effects,
    rows_of,
    term_name,
)
from cimento.statistics.mixed_laplace import (
    LaplaceData,
    OrderedAnswers,
    laplace_deviance,
    separated,
)

LAPLACE = "ML, Laplace"
SEPARATED = (
    "some effect or category explains its answers without exception, so that its estimate has no"
    " limit"
)
MOST_CATEGORIES = 20
_STARTS = (1.0, 0.3)
_AWAY = (0.1, 0.4, 1.0)
_SINGULAR = 1e-4
_LOWER = 1e-7
_STEP = 1e-4
_NEWTON_STEPS = 12
# Of the deviance: a fall below rounding, one after which second derivatives are taken again,
# rounding, and a slope without curvature.
_FLAT, _FAR, _ROUNDING, _SLOPE = 1e-10, 1e-3, 1e-9, 0.1
_LARGEST_SD = 10.0
"""Log-odds by which random effects can vary before nearly every answer is certain."""


def logistic_mixed_model(formula: str, columns: Mapping[str, VariableColumn]) -> MixedFit:
    """Fit a mixed model of answers that are right or wrong, as ``glmer`` of R's lme4 does.

    ``log(p / (1 - p)) = X beta + Z b`` with normal b, whose likelihood is that of Laplace's
    approximation (Bates et al. 2015, doi:10.18637/jss.v067.i01; Jaeger 2008,
    doi:10.1016/j.jml.2007.11.007). Effects are log-odds ratios; standard errors come from the
    second derivatives by all parameters, p from the normal distribution.

    Args:
        formula: formula of the model, such as ``right ~ model + (1 + model | cluster) + (1 |
            item)``.
        columns: columns by name, each of shape (n,); the response of 0 and 1, groups of anything.

    Returns:
        The fit, or the reason why there is none: all answers are alike, an effect whose answers
        are all right or all wrong, random effects so large that nearly all answers are certain.
        Look at `doubt` before the estimates.

    Raises:
        UsageError: a formula that cannot be read, or a column that is missing or no numbers.

    Example:
        >>> columns = {"model": [-0.5, 0.5] * 6, "item": list("aabbccddeeff")}
        >>> columns |= {"right": [0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0]}
        >>> round(logistic_mixed_model("right ~ model + (1 | item)", columns).loglik, 3)
        -7.978
    """
    parsed, y, blocks, n = _read(formula, columns)
    x = design_of(parsed.fixed, columns, n)
    if not np.isin(y, (0, 1)).all():
        raise UsageError(
            where=f"mixed model {parsed.text!r}",
            seen=f"{parsed.response!r} has values other than 0 and 1",
            todo="Give 1 for right and 0 for wrong; for ratings, cumulative_mixed_model.",
        )
    if reason := impossible(parsed, x, y, blocks):
        return MixedFit(parsed.text, LAPLACE, n, reason=reason)
    scales = _scales(x)
    scaled = -x / scales
    answers = OrderedAnswers(scaled, scaled, has_upper=y == 0, has_lower=y == 1)
    start = np.zeros(x.shape[1])
    if () in parsed.fixed:
        start[parsed.fixed.index(())] = _logit(float(y.mean()))
    names = [term_name(term) for term in parsed.fixed]
    return _fit(parsed, _Fixed(answers, start, 1 / scales, names, 0), blocks)


def cumulative_mixed_model(formula: str, columns: Mapping[str, VariableColumn]) -> MixedFit:
    """Fit a mixed model of ratings in an order, as ``clmm`` of R's ordinal does.

    ``log(P(rating <= k) / P(rating > k)) = threshold_k - X beta - Z b`` with normal b (McCullagh
    1980, doi:10.1111/j.2517-6161.1980.tb01109.x; for ratings of sentences Bürkner and Vuorre 2019,
    doi:10.1177/2515245918823199), whose likelihood is that of Laplace's approximation. Effects
    above 0 mean higher ratings; the distances of the points of the scale are not assumed.

    Args:
        formula: formula of the model, such as ``rating ~ condition + (1 | participant) + (1 |
            item)``; there is no intercept, whose place the thresholds take.
        columns: columns by name, each of shape (n,); the response of numbers, groups of anything.

    Returns:
        The fit, or the reason why there is none: all ratings are equal, more than 20 different
        ratings, a condition whose ratings are all the highest or lowest. Look at `doubt` first.

    Raises:
        UsageError: a formula that cannot be read, or a column that is missing or no numbers.

    Example:
        >>> columns = {"good": [-0.5, 0.5] * 6, "person": list("aabbccddeeff")}
        >>> columns |= {"rating": [1, 3, 2, 2, 1, 2, 3, 3, 2, 3, 1, 1]}
        >>> round(cumulative_mixed_model("rating ~ good + (1 | person)", columns).loglik, 3)
        -11.402
    """
    parsed, y, blocks, n = _read(formula, columns)
    effects = [term for term in parsed.fixed if term]
    x = design_of(effects, columns, n)
    with_ones = np.column_stack([np.ones(n), x])
    reason = impossible(parsed, with_ones, y, blocks)
    values, category = np.unique(y, return_inverse=True)
    if reason is None and values.size > MOST_CATEGORIES:
        reason = (
            f"{values.size} different ratings: with more than {MOST_CATEGORIES}, take mixed_model"
        )
    if reason is not None:
        return MixedFit(parsed.text, LAPLACE, n, reason=reason)
    scales = _scales(x)
    answers = _ordered(category, -x / scales, values.size)
    shares = np.cumsum(np.bincount(category))[:-1] / n
    start = np.concatenate([[_logit(float(share)) for share in shares], np.zeros(len(effects))])
    names = [f"{low:g}|{high:g}" for low, high in itertools.pairwise(values)]
    names += [term_name(term) for term in effects]
    units = np.concatenate([np.ones(shares.size), 1 / scales])
    return _fit(parsed, _Fixed(answers, start, units, names, shares.size), blocks)


def _read(
    formula: str, columns: Mapping[str, VariableColumn]
) -> tuple[MixedFormula, Floats, list[GroupBlock], int]:
    """The formula, the response, the random effects and the number of rows."""
    parsed = parse_formula(formula)
    n = rows_of(parsed, columns)
    y = floats(columns[parsed.response], name=f"column {parsed.response!r}")
    return parsed, y, [block_of(terms, columns, n) for terms in by_group(parsed).values()], n


def _ordered(category: Integers, minus_x: Floats, categories: int) -> OrderedAnswers:
    """Each answer between its two thresholds; columns are thresholds, then effects."""
    thresholds = np.eye(categories - 1)
    has_upper, has_lower = category < categories - 1, category > 0
    upper = np.zeros((category.size, categories - 1))
    lower = upper.copy()
    upper[has_upper] = thresholds[category[has_upper]]
    lower[has_lower] = thresholds[category[has_lower] - 1]
    return OrderedAnswers(
        np.hstack([upper, minus_x]), np.hstack([lower, minus_x]), has_upper, has_lower
    )


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _scales(x: Floats) -> Floats:
    """The size of each column, so that a search takes steps of like length in all."""
    sizes: Floats = np.sqrt((x**2).mean(axis=0))
    return np.where(sizes > 0, sizes, 1.0)


@dataclass(frozen=True, slots=True)
class _Fixed:
    """The fixed part of a model.

    Attributes:
        answers: with columns of size 1.
        start: thresholds and effects where a search begins.
        units: by which estimates are multiplied to be in the columns' own units.
        names: of thresholds and effects.
        thresholds: number of thresholds, which come first.
    """

    answers: OrderedAnswers
    start: Floats
    units: Floats
    names: Sequence[str]
    thresholds: int


def _fit(parsed: MixedFormula, fixed: _Fixed, blocks: Sequence[GroupBlock]) -> MixedFit:
    """Fit designs that can be fitted."""
    n = fixed.answers.has_upper.size
    if separated(fixed.answers):
        return MixedFit(parsed.text, LAPLACE, n, reason=SEPARATED)
    order = sorted(range(len(blocks)), key=lambda place: -blocks[place].size)
    sizes = [_scales(blocks[place].rows) for place in order]
    scaled = [
        replace(blocks[place], rows=blocks[place].rows / size)
        for place, size in zip(order, sizes, strict=True)
    ]
    search = _Search(LaplaceData(fixed.answers, tuple(scaled)), fixed.thresholds)
    reached = [search.descend(search.start(size, fixed.start)) for size in _STARTS]
    place = min(reached, key=search.value)
    while (away := search.below_zeros(place)) is not None:
        place = search.descend(away)
    place, hessian, converged = search.polished(place)
    q = search.factors
    factors = dict(zip(order, triangles(place[:q], scaled), strict=True))
    own = {at: factors[at] / size[:, None] for at, size in zip(order, sizes, strict=True)}
    random = random_effects(parsed, blocks, [own[at] for at in range(len(blocks))])
    largest = max(sd for at, size in zip(order, sizes, strict=True) for sd in _sds(factors[at]))
    if largest > _LARGEST_SD:
        return MixedFit(
            parsed.text, LAPLACE, n, random=random,
            reason=f"random effects vary by {largest:.0f} log-odds: nearly all answers are certain",
        )  # fmt: skip
    estimates = place[q:] * fixed.units
    errors = _errors(hessian, q) * fixed.units
    everything = _tests(fixed.names, estimates, errors) if np.isfinite(errors).all() else ()
    return MixedFit(
        formula=parsed.text,
        criterion=LAPLACE,
        n=n,
        fixed=everything[fixed.thresholds :],
        random=random,
        loglik=-search.value(place) / 2,
        parameters=place.size,
        singular=bool((abs(place[:q][search.diagonal]) < _SINGULAR).any())
        or any(_dependent(factor) for factor in factors.values()),
        converged=converged and bool(everything),
        starts=tuple(-search.value(one) / 2 for one in reached),
        thresholds=everything[: fixed.thresholds],
    )


def _sds(factor: Floats) -> list[float]:
    sds: list[float] = np.linalg.norm(factor, axis=1).tolist()
    return sds


def _dependent(factor: Floats) -> bool:
    """Whether some effects of a group are combinations of others, a correlation being 1 or -1."""
    spreads = np.linalg.norm(factor, axis=1)
    if (spreads < _SINGULAR).any():
        return True
    return bool((abs(np.diagonal(factor)) / spreads < _SINGULAR).any())


def _errors(hessian: Floats, q: int) -> Floats:
    """The standard errors of thresholds and effects; NaN where the deviance does not curve upwards.

    Twice the inverse of the deviance's second derivatives. Factors at zero have none of their own:
    the deviance is the same on both sides of it.
    """
    curved = np.concatenate([abs(np.diagonal(hessian)[:q]) > _LOWER, np.ones(len(hessian) - q) > 0])
    try:
        covariance = 2 * np.linalg.inv(hessian[np.ix_(curved, curved)])
    except np.linalg.LinAlgError:
        return np.full(len(hessian) - q, np.nan)
    variances = np.diagonal(covariance)[int(curved[:q].sum()) :]
    return np.sqrt(np.where(variances > 0, variances, np.nan))


def _tests(names: Sequence[str], estimates: Floats, errors: Floats) -> tuple[FixedEffect, ...]:
    return tuple(
        FixedEffect(name, b, se, b / se, None, math.erfc(abs(b / se) / math.sqrt(2)), WALD)
        for name, b, se in zip(names, estimates.tolist(), errors.tolist(), strict=True)
    )


class _Search:
    """The search for the smallest deviance.

    A place is theta, then thresholds, then effects. Descents take the logarithms of the gaps
    between thresholds, so that these stay in order.
    """

    def __init__(self, data: LaplaceData, thresholds: int) -> None:
        self.data = data
        self.thresholds = thresholds
        self.diagonal = np.concatenate([np.equal(*block.free) for block in data.blocks])
        self.factors = self.diagonal.size

    def start(self, size: float, phi: Floats) -> Floats:
        """A place with random effects of one size, uncorrelated."""
        return np.concatenate([size * self.diagonal, phi])

    def value(self, place: Floats) -> float:
        """The deviance; infinite where there is none."""
        return self._with_gradient(place)[0]

    def _with_gradient(self, place: Floats) -> tuple[float, Floats]:
        at = laplace_deviance(place[: self.factors], place[self.factors :], self.data)
        if at is None:
            return math.inf, place * 0
        return at.deviance, np.concatenate([at.by_theta, at.by_phi])

    def descend(self, place: Floats) -> Floats:
        """Where L-BFGS-B (Byrd et al. 1995, doi:10.1137/0916069) leads from a place."""
        from scipy import optimize

        def value(free: Floats) -> tuple[float, Floats]:
            at = self._placed(free)
            deviance, slope = self._with_gradient(at)
            return deviance, self._by_gaps(slope, at)

        descent = optimize.minimize(
            value, self._free(place), jac=True, method="L-BFGS-B",
            options={"maxiter": 1000, "maxfun": 2000, "maxcor": 20, "ftol": 1e-11, "gtol": 1e-4},
        )  # fmt: skip
        return self._placed(descent.x)

    def _gaps(self) -> slice:
        return slice(self.factors + 1, self.factors + self.thresholds)

    def _free(self, place: Floats) -> Floats:
        free = place.copy()
        free[self._gaps()] = np.log(np.diff(place[self.factors :][: self.thresholds]))
        return free

    def _placed(self, free: Floats) -> Floats:
        place, span = free.copy(), slice(self.factors, self.factors + self.thresholds)
        place[self._gaps()] = np.exp(np.minimum(free[self._gaps()], _WIDEST))
        place[span] = np.cumsum(place[span])
        return place

    def _by_gaps(self, slope: Floats, place: Floats) -> Floats:
        span = slice(self.factors, self.factors + self.thresholds)
        by_free, after = slope.copy(), np.cumsum(slope[span][::-1])[::-1]
        by_free[span] = after * np.concatenate([[1.0], np.diff(place[span])])[: self.thresholds]
        return by_free

    def below_zeros(self, place: Floats) -> Floats | None:
        """A lower place where a factor is not zero that is zero here; None if there is none.

        By symmetry the slope is 0 at a zero, whether the deviance curves up or down.
        """
        zeros = np.flatnonzero(self.diagonal & (abs(place[: self.factors]) < _SINGULAR))
        lowest, lowest_place = self.value(place) - _LOWER, None
        for zero in zeros:
            for size in _AWAY:
                away = place.copy()
                away[zero] = size
                if (there := self.value(away)) < lowest:
                    lowest, lowest_place = there, away
        return lowest_place

    def polished(self, place: Floats) -> tuple[Floats, Floats, bool]:
        """The optimum by Newton's method, its second derivatives, and whether it is reached."""
        hessian, moved = self._hessian(place), False
        for _ in range(_NEWTON_STEPS):
            deviance, slope = self._with_gradient(place)
            values, vectors = np.linalg.eigh(hessian)
            curved = values > _LOWER * values.max()
            along = vectors[:, curved]
            step = -along @ ((along.T @ slope) / values[curved])
            size, fall = 1.0, float(-slope @ step)
            while fall >= _FLAT and self.value(place + size * step) > deviance + _ROUNDING:
                size /= 2
                fall = fall if size > _SINGULAR else 0.0
            if fall < _FLAT:
                flat = abs(vectors[:, ~curved].T @ slope).max(initial=0) < _SLOPE
                return place, self._hessian(place) if moved else hessian, bool(flat)
            moved, place = True, place + size * step
            if fall > _FAR:
                hessian, moved = self._hessian(place), False
        return place, hessian, False

    def _hessian(self, place: Floats) -> Floats:
        """The second derivatives, from differences of the exact gradient."""
        columns = []
        for at in range(place.size):
            step = np.zeros(place.size)
            step[at] = _STEP * max(1.0, abs(place[at]))
            ahead, behind = (self._with_gradient(place + way * step)[1] for way in (1, -1))
            columns.append((ahead - behind) / (2 * step[at]))
        table: Floats = np.stack(columns)
        symmetric: Floats = (table + table.T) / 2
        return symmetric


_WIDEST = 30.0
