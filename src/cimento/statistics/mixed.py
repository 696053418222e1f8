"""Linear mixed models, from formulas as lme4 writes them, by maximum or restricted likelihood."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cimento.errors import UsageError, did_you_mean, need_known
from cimento.io.values import grouped
from cimento.statistics.design import (
    ALL_EQUAL,
    TOO_FEW,
    Floats,
    Significance,
    codes,
    floats,
    same_length,
)
from cimento.statistics.intervals import t_two_sided
from cimento.statistics.mixed_deviance import (
    GroupBlock,
    ProfiledDeviance,
    cross_products,
    spans,
    triangles,
)
from cimento.statistics.mixed_optimum import freedoms, optimum

INTERCEPT = "(Intercept)"
Term = tuple[str, ...]

_NAME = re.compile(r"[^\W\d][\w.]*")
_RANDOM = re.compile(r"\(([^()|]*)(\|\|?)([^()|]*)\)")


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """The effects that vary between the levels of a grouping column, freely correlated.

    Attributes:
        terms: the effects; the empty tuple is the intercept.
        group: the grouping column.
    """

    terms: tuple[Term, ...]
    group: str


@dataclass(frozen=True, slots=True)
class MixedFormula:
    """The formula of a mixed model: response, fixed effects, random effects."""

    text: str
    response: str
    fixed: tuple[Term, ...]
    random: tuple[RandomTerm, ...]


def term_name(term: Term) -> str:
    """The name of a term in tables: ``structure:distance``, ``(Intercept)``."""
    return ":".join(term) or INTERCEPT


def parse_formula(text: str) -> MixedFormula:
    """Read ``response ~ effects + (effects | group) + ...`` (Bates et al. 2015, table 2).

    Effects are column names, ``a:b`` their product, ``a*b`` for ``a + b + a:b``, and 0 for no
    intercept. ``||`` in place of ``|`` keeps the effects of a group uncorrelated.

    Raises:
        UsageError: not such a formula.
    """
    response, tilde, right = text.partition("~")
    if not tilde or not _NAME.fullmatch(response.strip()):
        raise _refused(text, "no 'response ~' at its start")
    random: list[RandomTerm] = []
    for effects, bar, group in _RANDOM.findall(right):
        if not _NAME.fullmatch(group.strip()):
            raise _refused(text, f"{group.strip()!r} is not a column name")
        terms = _terms(effects, text)
        if bar == "||":
            random += [RandomTerm((term,), group.strip()) for term in terms]
        else:
            random.append(RandomTerm(terms, group.strip()))
    if not random:
        raise _refused(text, "no random effect")
    rest = [part for part in _RANDOM.sub(" ", right).split("+") if part.strip()]
    fixed = _terms("+".join(rest) or "1", text)
    if not fixed:
        raise _refused(text, "no fixed effect")
    return MixedFormula(" ".join(text.split()), response.strip(), fixed, tuple(random))


def _terms(effects: str, text: str) -> tuple[Term, ...]:
    """The terms of a sum of effects: intercept, single columns, products of two, of three ..."""
    terms: dict[Term, None] = {(): None}
    for part in effects.split("+"):
        piece = part.strip()
        if piece == "1":
            continue
        if piece == "0":
            terms.pop((), None)
            continue
        factors = [[name.strip() for name in names.split(":")] for names in piece.split("*")]
        if not all(_NAME.fullmatch(name) for factor in factors for name in factor):
            raise _refused(text, f"{piece!r} is not an effect")
        for size in range(1, len(factors) + 1):
            for chosen in itertools.combinations(factors, size):
                terms.setdefault(tuple(dict.fromkeys(itertools.chain(*chosen))))
    return tuple(sorted(terms, key=len))


def _refused(text: str, seen: str) -> UsageError:
    return UsageError(
        where=f"mixed model {text!r}",
        seen=seen,
        todo="Write it as in: score ~ structure*distance + (1 + structure | item).",
    )


Column = Sequence[Hashable]

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
class RandomEffects:
    """The variation between the levels of a grouping column.

    Attributes:
        group: the grouping column.
        names: of the effects.
        sds: standard deviations, in the order of `names`.
        correlations: matrix of the effects; None where a standard deviation is zero.
        levels: number of levels of the group.
    """

    group: str
    names: tuple[str, ...]
    sds: tuple[float, ...]
    correlations: tuple[tuple[float | None, ...], ...]
    levels: int


@dataclass(frozen=True, slots=True)
class MixedFit:
    """A fitted linear mixed model.

    Attributes:
        formula: as given.
        criterion: ``REML`` or ``ML``.
        n: observations.
        fixed: fixed effects; empty where there is no fit.
        random: one a random term.
        residual_sd: standard deviation of the residuals.
        loglik: (restricted) log-likelihood at the optimum, natural logarithm.
        parameters: estimated in all, for likelihood-ratio tests.
        singular: some random effect's variance is zero, or a correlation is 1: the data ask for a
            simpler model.
        converged: the gradient is zero at the optimum, within rounding error.
        starts: log-likelihood reached from each start; that of `loglik` is the largest.
        reason: why there is no fit.
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
    columns: Mapping[str, Column],
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
        formula: such as ``score ~ structure*distance + (1 + structure | item)``.
        columns: by name, each of shape (n,); those of groups may hold anything.
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
    n = _rows(parsed, columns)
    x = _design(parsed.fixed, columns, n)
    y = floats(columns[parsed.response], name=f"column {parsed.response!r}")
    blocks = [_block(terms, columns, n) for terms in _by_group(parsed).values()]
    reason = _impossible(parsed, x, y, blocks)
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
        random=_random(parsed, blocks, [factors[place] * sigma for place in range(len(blocks))]),
        residual_sd=sigma,
        loglik=-best.deviance / 2,
        parameters=best_fit.theta.size + x.shape[1] + 1,
        singular=best_fit.singular,
        converged=best_fit.converged,
        starts=tuple(-deviance / 2 for deviance in best_fit.starts),
    )


def _rows(parsed: MixedFormula, columns: Mapping[str, Column]) -> int:
    """The number of rows of the formula's columns."""
    effects = [*parsed.fixed, *(effect for term in parsed.random for effect in term.terms)]
    names = [parsed.response, *(name for term in effects for name in term)]
    names += [term.group for term in parsed.random]
    for name in names:
        where = f"mixed model {parsed.text!r}"
        need_known(name, columns, where=where, seen=f"there is no column {name!r}")
    return same_length(**{name: columns[name] for name in names})


def _design(terms: Sequence[Term], columns: Mapping[str, Column], n: int) -> Floats:
    """One column a term: ones, a column, or a product of columns."""
    design = np.ones((n, len(terms)))
    for place, term in enumerate(terms):
        for name in term:
            design[:, place] *= floats(columns[name], name=f"column {name!r}")
    return design


def _by_group(parsed: MixedFormula) -> dict[str, list[RandomTerm]]:
    """Grouping column to its random terms, which are fitted as one block."""
    return grouped((term.group, term) for term in parsed.random)


def _block(terms: Sequence[RandomTerm], columns: Mapping[str, Column], n: int) -> GroupBlock:
    """The random effects of the terms of one grouping column."""
    effects = [effect for term in terms for effect in term.terms]
    sizes = tuple(len(term.terms) for term in terms)
    return GroupBlock(_design(effects, columns, n), *codes(columns[terms[0].group]), sizes)


def _impossible(
    parsed: MixedFormula, x: Floats, y: Floats, blocks: Sequence[GroupBlock]
) -> str | None:
    """The reason why the formula cannot be fitted to these data; None if it can."""
    if y.size < 2 or (y == y[0]).all():  # noqa: PLR2004  # a spread needs two values
        return ALL_EQUAL if y.size > 1 else TOO_FEW
    if np.linalg.matrix_rank(x) < x.shape[1]:
        return "a fixed effect is constant, or a sum of others"
    for group, block in zip(_by_group(parsed), blocks, strict=True):
        if block.levels < 2:  # noqa: PLR2004  # levels that differ
            return f"there are fewer than two levels of {group!r}"
        if block.size >= y.size:
            return (
                f"{y.size} observations for {block.size} random effects of {group!r}: "
                "leave some of them out"
            )
    return None


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


def _random(
    parsed: MixedFormula, blocks: Sequence[GroupBlock], factors: Sequence[Floats]
) -> tuple[RandomEffects, ...]:
    """The random effects of each term, from the scaled factors of the groups' blocks."""
    by_term = {}
    for terms, block, factor in zip(_by_group(parsed).values(), blocks, factors, strict=True):
        for term, span in zip(terms, spans(len(term.terms) for term in terms), strict=True):
            by_term[term] = _random_term(term, block.levels, factor[span, span])
    return tuple(by_term[term] for term in parsed.random)


def _random_term(term: RandomTerm, levels: int, factor: Floats) -> RandomEffects:
    covariance = factor @ factor.T
    sds = np.sqrt(np.diagonal(covariance))
    correlations = tuple(
        tuple(
            float(covariance[i, j] / (sds[i] * sds[j])) if sds[i] and sds[j] else None
            for j in range(sds.size)
        )
        for i in range(sds.size)
    )
    names = tuple(term_name(effect) for effect in term.terms)
    return RandomEffects(term.group, names, tuple(map(float, sds)), correlations, levels)


def sum_coded(labels: Sequence[Hashable], *, high: Hashable) -> list[float]:
    """Code a factor of two levels as 0.5 for one of them and -0.5 for the other.

    Sum contrasts of half a unit, so that an effect is a difference of means and an interaction a
    difference of differences (Schad et al. 2020, doi:10.1016/j.jml.2019.104038).

    Args:
        labels: the level of each observation.
        high: the level that becomes 0.5.

    Returns:
        One number per label.

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
    alike = smaller.n == larger.n and smaller.criterion == larger.criterion == "ML"
    if a is None or b is None or not alike or more < 1:
        raise UsageError(
            where="likelihood-ratio test",
            seen=f"{smaller.formula!r} ({smaller.criterion}, {smaller.n} rows) and "
            f"{larger.formula!r} ({larger.criterion}, {larger.n} rows), {more} parameters more",
            todo="Fit nested models to the same rows with reml=False, the smaller one first.",
        )
    square = max(0.0, 2 * (b - a))
    return Significance(square, float(special.chdtrc(more, square)), LIKELIHOOD_RATIO, more)
