"""Linear mixed models, by maximum or restricted likelihood."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cimento.errors import UsageError, did_you_mean
from cimento.statistics.design import Floats, Significance, floats
from cimento.statistics.intervals import t_two_sided
from cimento.statistics.mixed_deviance import (
    GroupBlock,
    ProfiledDeviance,
    cross_products,
    triangles,
)
from cimento.statistics.mixed_formula import (
    MixedFormula,
    RandomEffects,
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
from cimento.statistics.mixed_optimum import freedoms, optimum

SATTERTHWAITE = "t, Satterthwaite's degrees of freedom"
WALD = "z, normal approximation"
LIKELIHOOD_RATIO = "likelihood ratio, chi-square"
NO_RESIDUAL = "the model fits without any residual"
# Beside the spread that the fixed effects leave: below it, sums of squares in double precision
# leave degrees of freedom few digits, and scores in single precision are rounded.
_NO_RESIDUAL = 5e-6
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class FixedEffect:
    """One fixed effect with its test.

    Attributes:
        name: ``(Intercept)``, a column, or columns joined by ``:``.
        estimate: in units of the response.
        se: standard error.
        statistic: estimate over standard error.
        freedom: degrees of freedom of t; None where the statistic is taken as normal.
        p: two-sided.
        method: how p was found.
    """

    name: str
    estimate: float
    se: float
    statistic: float
    freedom: float | None
    p: float
    method: str


@dataclass(frozen=True, slots=True)
class MixedFit:
    """A fitted mixed model.

    Attributes:
        formula: formula as it was given.
        criterion: ``REML``, ``ML``, or ``ML, Laplace`` where answers are categories.
        n: number of observations.
        fixed: fixed effects; empty where there is no fit.
        random: one a random term.
        residual_sd: standard deviation of the residuals; None where answers are categories.
        loglik: (restricted) log-likelihood at the optimum, natural logarithm.
        parameters: estimated in all, for likelihood-ratio tests.
        singular: some random effect's variance is zero, or a correlation is 1: the data ask for a
            simpler model.
        converged: the gradient is zero at the optimum, within rounding error.
        starts: log-likelihood reached from each start; that of `loglik` is the largest.
        reason: why there is no fit.
        thresholds: between neighboring categories of ordered answers, in log-odds.
    """

    formula: str
    criterion: str
    n: int
    fixed: tuple[FixedEffect, ...] = ()
    random: tuple[RandomEffects, ...] = ()
    residual_sd: float | None = None
    loglik: float | None = None
    parameters: int = 0
    singular: bool = False
    converged: bool = False
    starts: tuple[float, ...] = ()
    reason: str | None = None
    thresholds: tuple[FixedEffect, ...] = ()

    @property
    def doubt(self) -> str | None:
        """The reason not to rely on the estimates: no fit, no convergence, or a singular fit."""
        if self.reason is not None:
            return self.reason
        if not self.converged:
            return "the fit does not converge"
        return "singular fit" if self.singular else None

    def effect(self, name: str) -> FixedEffect:
        """The fixed effect of this name; factors of a product in any order.

        Raises:
            UsageError: there is none.
        """
        wanted = sorted(name.split(":"))
        for effect in self.fixed:
            if sorted(effect.name.split(":")) == wanted:
                return effect
        raise UsageError(
            where=f"mixed model {self.formula!r}",
            seen=f"no effect is called {name!r}",
            todo=did_you_mean(name, [effect.name for effect in self.fixed]),
        )


def mixed_model(
    formula: str,
    columns: Mapping[str, VariableColumn],
    *,
    reml: bool = True,
    satterthwaite: bool = True,
) -> MixedFit:
    """Fit a linear mixed model, as ``lmer`` of R's lme4 does.

    The profiled deviance of Bates et al. (2015, doi:10.18637/jss.v067.i01) is minimized over the
    relative covariance factors from several starts, with its exact gradient. Degrees of freedom
    are Satterthwaite's, as in lmerTest (Kuznetsova, Brockhoff and Christensen 2017,
    doi:10.18637/jss.v082.i13); where these are not available, p is from the normal distribution,
    and the result says so.

    Effects are columns of numbers: code a factor of two levels as -0.5 and 0.5 (`sum_coded`), so
    that the product of two of them is the difference of differences.

    Args:
        formula: formula of the model, such as ``score ~ structure*distance + (1 + structure |
            item)``.
        columns: columns by name, each of shape (n,); those of groups may hold anything.
        reml: restricted maximum likelihood; for likelihood-ratio tests of fixed effects use False.
        satterthwaite: degrees of freedom for t; else p from the normal distribution.

    Returns:
        The fit, or the reason why there is none: too few observations, a response that is
        constant, fixed effects that are sums of others.

    Raises:
        UsageError: a formula that cannot be read, or a column that is missing or no numbers.

    Example:
        >>> columns = {"x": [-0.5, 0.5] * 3, "item": list("aabbcc")}
        >>> columns |= {"score": [1.0, 2.5, 2.0, 4.5, 3.0, 3.5]}
        >>> round(mixed_model("score ~ x + (1 | item)", columns).effect("x").estimate, 3)
        1.5
    """
    parsed = parse_formula(formula)
    n = rows_of(parsed, columns)
    x = design_of(parsed.fixed, columns, n)
    y = floats(columns[parsed.response], name=f"column {parsed.response!r}")
    blocks = [block_of(terms, columns, n) for terms in by_group(parsed).values()]
    reason = impossible(parsed, x, y, blocks)
    if reason is not None:
        return MixedFit(parsed.text, "REML" if reml else "ML", n, reason=reason)
    return _fit(parsed, x, y, blocks, reml=reml, satterthwaite=satterthwaite)


def _fit(
    parsed: MixedFormula,
    x: Floats,
    y: Floats,
    blocks: Sequence[GroupBlock],
    *,
    reml: bool,
    satterthwaite: bool,
) -> MixedFit:
    """Fit designs that can be fitted."""
    criterion, n = "REML" if reml else "ML", y.size
    # The deviance eliminates the block with the most random effects; results keep the order given.
    order = sorted(range(len(blocks)), key=lambda place: -blocks[place].size)
    # Without what least squares explain the sums of squares lose fewer digits; REML and ML fits
    # of what is left differ from those of y by these estimates alone.
    start = np.linalg.lstsq(x, y)[0]
    rest = y - x @ start
    if rest.std() <= _ROUNDING * abs(y).max():
        return MixedFit(parsed.text, criterion, n, reason=NO_RESIDUAL)
    data = cross_products([blocks[place] for place in order], x, rest)
    best_fit = optimum(data, reml=reml)
    sigma = math.sqrt(best_fit.profile.residual / best_fit.profile.freedom) if best_fit else 0.0
    if best_fit is None or sigma <= _NO_RESIDUAL * rest.std():
        return MixedFit(parsed.text, criterion, n, reason=NO_RESIDUAL)
    best = best_fit.profile
    best = dataclasses.replace(best_fit.profile, beta=best_fit.profile.beta + start)
    nothing: list[float | None] = [None] * x.shape[1]
    factors = dict(zip(order, triangles(best_fit.theta, data.blocks), strict=True))
    return MixedFit(
        formula=parsed.text,
        criterion=criterion,
        n=n,
        fixed=_fixed(
            parsed, best, freedoms(best_fit, data, reml=reml) if satterthwaite else nothing
        ),
        random=random_effects(
            parsed, blocks, [factors[place] * sigma for place in range(len(blocks))]
        ),
        residual_sd=sigma,
        loglik=-best.deviance / 2,
        parameters=best_fit.theta.size + x.shape[1] + 1,
        singular=best_fit.singular,
        converged=best_fit.converged,
        starts=tuple(-deviance / 2 for deviance in best_fit.starts),
    )


def _fixed(
    parsed: MixedFormula, best: ProfiledDeviance, freedom: Sequence[float | None]
) -> tuple[FixedEffect, ...]:
    fixed_effects = []
    for place, term in enumerate(parsed.fixed):
        estimate = float(best.beta[place])
        se = math.sqrt(best.residual / best.freedom * float(best.unscaled[place, place]))
        t, df = estimate / se, freedom[place]
        p = math.erfc(abs(t) / math.sqrt(2)) if df is None else t_two_sided(t, df)
        method = WALD if df is None else SATTERTHWAITE
        fixed_effects.append(FixedEffect(term_name(term), estimate, se, t, df, p, method))
    return tuple(fixed_effects)


def sum_coded(labels: Sequence[Hashable], *, high: Hashable) -> list[float]:
    """Code a factor of two levels as 0.5 for one of them and -0.5 for the other.

    Sum contrasts of half a unit, so that an effect is a difference of means and an interaction a
    difference of differences (Schad et al. 2020, doi:10.1016/j.jml.2019.104038).

    Args:
        labels: the level of each observation.
        high: the level that becomes 0.5.

    Returns:
        One number per label, 0.5 or -0.5, in the order of the labels.

    Raises:
        UsageError: there are not two levels, or `high` is none of them.

    Example:
        >>> sum_coded(["sg", "pl", "sg"], high="pl")
        [-0.5, 0.5, -0.5]
    """
    seen = dict.fromkeys(labels)
    if len(seen) != 2 or high not in seen:  # noqa: PLR2004  # two levels
        raise UsageError(
            where="sum coding",
            seen=f"levels {', '.join(map(str, list(seen)[:5]))}; {high!r} as the high one",
            todo="Code a factor of two levels, and name one of them.",
        )
    return [0.5 if label == high else -0.5 for label in labels]


def likelihood_ratio(smaller: MixedFit, larger: MixedFit) -> Significance:
    """The likelihood-ratio test of two nested models, by chi-square.

    ``2 (loglik - loglik)`` with as many degrees of freedom as there are more parameters (Wilks
    1938, doi:10.1214/aoms/1177732360). Models must be fitted to the same rows by ML.

    Raises:
        UsageError: a fit by REML or without a likelihood, other rows, or no more parameters.
    """
    from scipy import special

    a, b = smaller.loglik, larger.loglik
    more = larger.parameters - smaller.parameters
    alike = smaller.n == larger.n and smaller.criterion == larger.criterion != "REML"
    if a is None or b is None or not alike or more < 1:
        raise UsageError(
            where="likelihood-ratio test",
            seen=f"{smaller.formula!r} ({smaller.criterion}, {smaller.n} rows) and "
            f"{larger.formula!r} ({larger.criterion}, {larger.n} rows), {more} parameters more",
            todo="Fit nested models to the same rows with reml=False, the smaller one first.",
        )
    square = max(0.0, 2 * (b - a))
    return Significance(square, float(special.chdtrc(more, square)), LIKELIHOOD_RATIO, more)
