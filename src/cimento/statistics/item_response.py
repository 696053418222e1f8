"""Item-response models: how hard items and phenomena are, how able models, and how sure we are.

A Rasch model with random items is a crossed logistic model (items, models, phenomena, and models
on phenomena), and the two-parameter model lets items differ in how well they tell able models from
others. Difficulties are partially pooled towards those of their phenomenon, so that items on which
all models agree have finite ones. The spreads of effects have half-normal priors that say little;
all intervals are posterior, by Laplace's approximation, and include what the spreads leave open.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.response_likelihood import (
    ItemPosterior,
    Layout,
    Likelihood,
    Mode,
    Responses,
)
from cimento.statistics.values import ALL_EQUAL, ArrayLike, Floats, Integers

ItemModel: TypeAlias = Literal["rasch", "2pl"]
RESIDUAL_VARIANCE = math.pi**2 / 3
"""The variance of one answer on the logit scale (Nakagawa and Schielzeth 2010,
doi:10.1111/j.1469-185X.2010.00141.x)."""

_DRAWS = 2_000
_Z95 = 1.959963984540054
_PRIOR_SD = {"discrimination": 1.0}
_USUAL_PRIOR_SD = 2.0
_STARTS = {"interaction": 0.3, "discrimination": 0.3, "family": 0.5, "item": 1.0}
_USUAL_START = 0.7
_APART = 0.1
_FEWEST_ITEMS, _FEWEST_MODELS = 5, 2
_MOST_FOR_SPREADS = 3_000
_WIDEST = 1.0
"""The most that the logarithm of a spread may be uncertain by: data that say nothing of it."""


@dataclass(frozen=True, slots=True)
class Located:
    """Estimates on the logit scale, each with its standard error and its 95 % interval.

    Attributes:
        value: posterior means.
        se: posterior standard deviations.
        low: lower ends.
        high: upper ends.
    """

    value: Floats
    se: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, value: Floats, variance: Floats, skewness: Floats | float = 0.0) -> Located:
        """Estimates from their moments; the ends by Cornish and Fisher (1938, doi:10.2307/1400905).

        Args:
            value: means.
            variance: variances.
            skewness: standardised third moments.
        """
        se = np.sqrt(variance)
        shift = (_Z95**2 - 1) / 6 * np.clip(skewness, -1, 1)
        return cls(value, se, value + (shift - _Z95) * se, value + (shift + _Z95) * se)


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of one kind of effect, and its share of the variance of answers.

    Attributes:
        sd: in logits.
        low: lower end of the 95 % interval.
        high: upper end.
        share: of the variance of answers on the logit scale, a single answer's chance included.
        share_low: lower end of the 95 % interval of the share.
        share_high: upper end.
    """

    sd: float
    low: float
    high: float
    share: float
    share_low: float
    share_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResponseFit:
    """A fitted item-response model. Zero is the average of the models that were given.

    Attributes:
        kind: ``rasch`` or ``2pl``.
        items: number of items.
        models: number of models.
        answers: number of defined answers.
        difficulty: of each item, the logit of failing for the average model.
        discrimination: of each item, where 1 is usual and below 0 backwards; None of Rasch.
        backwards: the probability that an item's discrimination is below 0; None of Rasch.
        phenomenon: the difficulty of each phenomenon, of all items that it could have.
        ability: of each model, over phenomena.
        ability_covariance: of these.
        by_phenomenon: models x phenomena, the ability on the items of one phenomenon.
        slopes: by how much a standard deviation of each covariate makes items harder, in logits.
        spreads: kind of effect to its spread; ``answer`` has the chance of a single answer.
        probability: items x models, the expected share of right answers.
        loglik: marginal log-likelihood with the prior of the spreads, natural logarithm.
        converged: the optimum was found.
        reason: why there is no fit; None where there is one.
    """

    kind: ItemModel
    items: int
    models: int
    answers: int
    difficulty: Located | None = None
    discrimination: Located | None = None
    backwards: Floats | None = None
    phenomenon: Located | None = None
    ability: Located | None = None
    ability_covariance: Floats | None = None
    by_phenomenon: Located | None = None
    slopes: Located | None = None
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    probability: Floats | None = None
    loglik: float | None = None
    converged: bool = False
    reason: str | None = None


def item_response(
    right: ArrayLike,
    *,
    phenomenon: Integers | None = None,
    family: Integers | None = None,
    covariates: Floats | None = None,
    kind: ItemModel = "rasch",
    start: Mapping[str, float] | None = None,
    seed: int = 0,
) -> ItemResponseFit:
    """Fit an item-response model to a table of answers.

    The model is that of `response_likelihood`. Spreads are at their posterior mode on the
    logarithmic scale, under half-normal priors with a standard deviation of 2 logits (of
    discrimination: 1). What is estimated is conditional on the spreads, and its intervals are
    widened by what these leave open (Kass and Steffey 1989, doi:10.1080/01621459.1989.10478825).

    Args:
        right: items x models: 1 right, 0 wrong, 0.5 a tie, NaN where undefined.
        phenomenon: number of each item's phenomenon, from 0; None for one.
        family: number of each model's family, from 0; None where they are not known.
        covariates: items x covariates; they are standardised here.
        kind: ``rasch``, or ``2pl`` with a discrimination for each item.
        start: spreads to begin the search at, such as those of the simpler model.
        seed: of the items from which spreads are estimated where there are more than 3,000.

    Returns:
        The fit, or the reason why there is none.

    Raises:
        UsageError: tables that do not fit together, or values outside 0 to 1.
    """
    table = np.asarray(right, dtype=np.float64)
    responses = _responses(table, phenomenon, family, covariates)
    items, models = table.shape
    answers = int(np.isfinite(table).sum())
    empty = ItemResponseFit(kind=kind, items=items, models=models, answers=answers)
    if reason := _impossible(table):
        return dataclasses.replace(empty, reason=reason)
    names = _spread_names(responses, kind)
    begin = {**_STARTS, **(start or {})}
    phi, covariance, converged = _spreads_at(_sample(responses, seed), names, begin)
    likelihood = _likelihood(responses, names)
    centre = likelihood.mode(_sds(names, phi))
    objective = centre.loglik + _log_prior(names, phi)
    moved = _moved(likelihood, names, phi, covariance)
    spreads = _spread_records(responses, names, phi, covariance, centre, likelihood, seed)
    return dataclasses.replace(
        empty,
        **_located(likelihood, _sds(names, phi), centre, moved, covariance),
        spreads=spreads,
        loglik=objective,
        converged=converged and centre.converged,
    )


def _responses(
    table: Floats,
    phenomenon: Integers | None,
    family: Integers | None,
    covariates: Floats | None,
) -> Responses:
    """The table with numbers of phenomena and families, and standardised covariates."""
    items, models = table.shape if table.ndim == 2 else (0, 0)  # noqa: PLR2004
    p = np.zeros(items, dtype=np.int64) if phenomenon is None else np.asarray(phenomenon)
    g = np.zeros(models, dtype=np.int64) if family is None else np.asarray(family)
    x = np.zeros((items, 0)) if covariates is None else np.asarray(covariates, dtype=np.float64)
    known = table[np.isfinite(table)]
    fits = (len(p), len(g), len(x)) == (items, models, items)
    if table.ndim != 2 or not fits or ((known < 0) | (known > 1)).any():  # noqa: PLR2004
        raise UsageError(
            where="item-response model",
            seen=f"a table of shape {table.shape} with {len(p)} phenomena, {len(g)} families and"
            f" {len(x)} rows of covariates",
            todo="Give one row an item and one column a model, from 0 (wrong) to 1 (right).",
        )
    sds = x.std(axis=0)
    return Responses(
        right=table,
        phenomenon=p,
        family=g,
        covariates=(x - x.mean(axis=0)) / np.where(sds > 0, sds, 1.0) if items else x,
    )


def _impossible(table: Floats) -> str | None:
    """The reason why a table cannot be fitted; None if it can."""
    known = np.isfinite(table)
    items = int(known.any(axis=1).sum())
    models = int(known.any(axis=0).sum())
    if models < _FEWEST_MODELS:
        return f"answers of {models} models: differences between items need {_FEWEST_MODELS}"
    if items < _FEWEST_ITEMS:
        return f"{items} items: a model of items needs {_FEWEST_ITEMS}"
    return ALL_EQUAL if np.ptp(table[known]) == 0 else None


def _spread_names(responses: Responses, kind: ItemModel) -> tuple[str, ...]:
    """The kinds of effects that the table can tell apart; those of items are first and last."""
    models, families = responses.right.shape[1], responses.families
    several = responses.phenomena > 1
    return (
        "item",
        *(("phenomenon",) if several else ()),
        "model",
        *(("family",) if 1 < families < models else ()),
        *(("interaction",) if several else ()),
        *(("discrimination",) if kind == "2pl" else ()),
    )


def _likelihood(responses: Responses, names: tuple[str, ...]) -> Likelihood:
    of_items = {"item", "discrimination"}
    groups = tuple(name for name in names if name not in of_items)
    return Likelihood(responses, groups, len(of_items & set(names)))


def _sample(responses: Responses, seed: int) -> Responses:
    """The table, or as many of its items as spreads can be estimated from in little time."""
    items = len(responses.right)
    if items <= _MOST_FOR_SPREADS:
        return responses
    drawn = np.random.default_rng(seed).permutation(items)[:_MOST_FOR_SPREADS]
    # One item of each phenomenon, so that none is empty.
    first = np.unique(responses.phenomenon, return_index=True)[1]
    kept = np.union1d(drawn, first)
    return dataclasses.replace(
        responses,
        right=responses.right[kept],
        phenomenon=responses.phenomenon[kept],
        covariates=responses.covariates[kept],
    )


def _sds(names: tuple[str, ...], phi: Floats) -> dict[str, float]:
    return dict(zip(names, np.exp(phi).tolist(), strict=True))


def _log_prior(names: tuple[str, ...], phi: Floats) -> float:
    """Half-normal priors of spreads, as densities of their logarithms."""
    scales = np.array([_PRIOR_SD.get(name, _USUAL_PRIOR_SD) for name in names])
    return float((phi - np.log(scales) - np.exp(2 * phi) / (2 * scales**2)).sum()) + len(
        names
    ) * 0.5 * math.log(2 / math.pi)


def _spreads_at(
    responses: Responses, names: tuple[str, ...], begin: Mapping[str, float]
) -> tuple[Floats, Floats, bool]:
    """The logarithms of the spreads at their posterior mode, and their covariance."""
    from scipy import optimize

    likelihood = _likelihood(responses, names)

    def lost(phi: Floats) -> float:
        return -likelihood.mode(_sds(names, phi)).loglik - _log_prior(names, phi)

    start = np.log([begin.get(name, _USUAL_START) for name in names])
    options = {"eps": 1e-3, "gtol": 0.02, "ftol": 1e-7}
    optimum = optimize.minimize(
        lost, start, method="L-BFGS-B", bounds=[(-5.0, 3.0)] * len(names), options=options
    )
    phi = np.asarray(optimum.x)
    curvature = _curvature(lost, phi)
    values, vectors = np.linalg.eigh(curvature)
    covariance = (vectors / np.maximum(values, _WIDEST**-2)) @ vectors.T
    return phi, covariance, bool(optimum.success)


def _curvature(function: Callable[[Floats], float], at: Floats) -> Floats:
    """The Hessian by central differences."""
    steps = _APART * np.eye(at.size)
    middle = function(at)
    up = [function(at + step) for step in steps]
    down = [function(at - step) for step in steps]
    curvature = np.diag([u + d - 2 * middle for u, d in zip(up, down, strict=True)])
    for k in range(at.size):
        for m in range(k):
            both = function(at + steps[k] + steps[m]) + function(at - steps[k] - steps[m])
            crossed = (both - up[k] - up[m] - down[k] - down[m] + 2 * middle) / 2
            curvature[k, m] = curvature[m, k] = crossed
    return np.asarray(curvature / _APART**2)


@dataclass(frozen=True, slots=True)
class _Moments:
    """The posterior of items given all other effects.

    Attributes:
        difficulty: items x (mean, variance, third central moment).
        discrimination: the same.
        difficulty_slopes: items x effects, the derivatives of the mean.
        discrimination_slopes: the same.
    """

    difficulty: Floats
    discrimination: Floats
    difficulty_slopes: Floats
    discrimination_slopes: Floats


def _moments(likelihood: Likelihood, effects: Floats, sds: Mapping[str, float]) -> _Moments:
    """The moments of all items at some effects."""
    items, models = likelihood.responses.right.shape
    size = likelihood.layout.size
    difficulty, discrimination = np.empty((items, 3)), np.empty((items, 3))
    slopes, slopes_a = np.zeros((items, size)), np.zeros((items, size))
    for chunk in likelihood.chunks:
        ability, easiness, posterior = likelihood.posterior(effects, sds, chunk)
        scores = likelihood.scores(chunk, posterior)
        a = posterior.discrimination
        hard = -(easiness[:, None] + posterior.easiness + a * ability.mean(axis=1, keepdims=True))
        mean_a = (posterior.weights * a).sum(axis=1, keepdims=True)
        shared = np.repeat(mean_a / models, models, axis=1)
        direct = np.concatenate([shared, likelihood.constants(chunk)], axis=1)
        local = _with_scores(posterior, hard, scores) - direct
        local_a = _with_scores(posterior, a, scores)
        difficulty[chunk.items] = _central(posterior, hard)
        discrimination[chunk.items] = _central(posterior, a)
        for p, part in chunk.phenomena:
            places, design = likelihood.designs[p]
            where = np.ix_(chunk.items[part], places)
            slopes[where], slopes_a[where] = local[part] @ design, local_a[part] @ design
    return _Moments(difficulty, discrimination, slopes, slopes_a)


def _central(posterior: ItemPosterior, values: Floats) -> Floats:
    weights = posterior.weights
    mean = (weights * values).sum(axis=1)
    away = values - mean[:, None]
    return np.stack([mean, (weights * away**2).sum(axis=1), (weights * away**3).sum(axis=1)], 1)


def _with_scores(posterior: ItemPosterior, values: Floats, scores: Floats) -> Floats:
    """The covariance of values and scores over each item's posterior."""
    mean = (posterior.weights * values).sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("iq,iqc->ic", posterior.weights * (values - mean), scores))


@dataclass(frozen=True, slots=True)
class _Moved:
    """What is estimated at the ends of each spread's uncertainty, one row a spread.

    Attributes:
        step: by how much the logarithm of each spread was moved to either side.
        modes: the modes there.
        moments: the moments of items there.
    """

    step: Floats
    modes: list[tuple[Mode, Mode]]
    moments: list[tuple[_Moments, _Moments]]

    def slopes(self, pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
        """The derivatives with respect to the logarithm of each spread, one row each."""
        return np.stack([(u - d) / (2 * h) for (u, d), h in zip(pairs, self.step, strict=True)])

    @staticmethod
    def wider(centre: Floats, pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
        """A variance in the mean over the uncertainty of spreads, which mostly is larger.

        Three nodes in each direction, at 0 and ±√3 standard deviations, with weights of 2/3 and
        1/6 (Gauss and Hermite); where this would lower it, it stays.
        """
        more = [np.maximum(0.0, (u + d) / 2 - centre) / 3 for u, d in pairs]
        return np.asarray(centre + sum(more))


def _moved(likelihood: Likelihood, names: tuple[str, ...], phi: Floats, covariance: Floats) -> _Moved:
    steps = np.sqrt(3 * np.diagonal(covariance))
    modes, moments = [], []
    for step in np.diag(steps):
        ends = []
        for sign in (1, -1):
            sds = _sds(names, phi + sign * step)
            mode = likelihood.mode(sds)
            ends.append((mode, _moments(likelihood, mode.effects, sds)))
        modes.append((ends[0][0], ends[1][0]))
        moments.append((ends[0][1], ends[1][1]))
    return _Moved(steps, modes, moments)


def _located(
    likelihood: Likelihood,
    sds: Mapping[str, float],
    centre: Mode,
    moved: _Moved,
    spread_covariance: Floats,
) -> dict[str, Any]:
    """The fields of a fit that are located on the logit scale."""
    moments = _moments(likelihood, centre.effects, sds)
    responses = likelihood.responses
    contrasts = _contrasts(responses, likelihood.layout)

    drift = moved.slopes([(u.effects, d.effects) for u, d in moved.modes])

    def of(rows: Floats) -> tuple[Located, Floats]:
        inside = rows @ centre.covariance @ rows.T
        away = drift @ rows.T
        covariance = inside + away.T @ spread_covariance @ away
        ends = [
            (_variances(rows, u.covariance), _variances(rows, d.covariance))
            for u, d in moved.modes
        ]
        before = np.diagonal(inside)
        factor = np.sqrt(1 + (moved.wider(before, ends) - before) / np.diagonal(covariance))
        covariance = covariance * factor[:, None] * factor
        return Located.of(rows @ centre.effects, np.diagonal(covariance)), covariance

    def of_items(name: str) -> Located:
        central: Floats = getattr(moments, name)
        inside = central[:, 1] + _variances(getattr(moments, f"{name}_slopes"), centre.covariance)
        ends = [(getattr(u, name), getattr(d, name)) for u, d in moved.moments]
        variance = moved.wider(inside, [(u[:, 1], d[:, 1]) for u, d in ends])
        away = moved.slopes([(u[:, 0], d[:, 0]) for u, d in ends])
        variance = variance + ((spread_covariance @ away) * away).sum(axis=0)
        return Located.of(central[:, 0], variance, central[:, 2] / variance**1.5)

    ability, ability_covariance = of(contrasts["ability"])
    located: dict[str, Any] = {
        "difficulty": of_items("difficulty"),
        "phenomenon": of(contrasts["phenomenon"])[0],
        "ability": ability,
        "ability_covariance": ability_covariance,
        "by_phenomenon": of(contrasts["by_phenomenon"])[0],
        "slopes": of(contrasts["slopes"])[0],
        "probability": _probability(likelihood, centre.effects, sds),
    }
    if "discrimination" in sds:
        located["discrimination"] = of_items("discrimination")
        located["backwards"] = _below_zero(located["discrimination"])
    return located


def _variances(rows: Floats, covariance: Floats) -> Floats:
    """The variance of each of some sums of effects."""
    return np.asarray(((rows @ covariance) * rows).sum(axis=1))


def _below_zero(located: Located) -> Floats:
    from scipy import special

    return np.asarray(special.ndtr(-located.value / located.se))


def _contrasts(responses: Responses, layout: Layout) -> dict[str, Floats]:
    """The sums of effects that are reported, one row each; zero is the average model."""
    models, phenomena = responses.right.shape[1], responses.phenomena
    everything = np.eye(layout.size)
    ability = np.zeros((models, phenomena, layout.size))
    for name in ("model", "family", "interaction"):
        if name not in layout.spans:
            continue
        rows = everything[layout.spans[name]]
        if name == "interaction":
            ability += rows.reshape(phenomena, models, -1).transpose(1, 0, 2)
        else:
            ability += (rows if name == "model" else rows[responses.family])[:, None, :]
    average = ability.mean(axis=0)
    easiness = np.repeat(everything[layout.spans["intercept"]], phenomena, axis=0)
    if "phenomenon" in layout.spans:
        easiness = easiness + everything[layout.spans["phenomenon"]]
    overall = ability.mean(axis=1)
    return {
        "ability": overall - overall.mean(axis=0),
        "phenomenon": -(easiness + average),
        "by_phenomenon": (ability - average).reshape(models * phenomena, -1),
        "slopes": -everything[layout.spans["covariates"]],
    }


def _probability(likelihood: Likelihood, effects: Floats, sds: Mapping[str, float]) -> Floats:
    """The expected share of right answers of each item and model."""
    expected = np.empty_like(likelihood.responses.right)
    for chunk in likelihood.chunks:
        _, _, posterior = likelihood.posterior(effects, sds, chunk)
        expected[chunk.items] = (posterior.weights[:, None, :] @ posterior.share)[:, 0]
    return expected


def _spread_records(
    responses: Responses,
    names: tuple[str, ...],
    phi: Floats,
    covariance: Floats,
    centre: Mode,
    likelihood: Likelihood,
    seed: int,
) -> dict[str, Spread]:
    """The spreads, and the variance of answers that goes with each, by drawing."""
    drawn = np.random.default_rng(seed).multivariate_normal(phi, covariance, size=_DRAWS)
    sds = np.exp(np.vstack([phi, np.clip(drawn, -8, 4)]))
    slopes = centre.effects[likelihood.layout.spans["covariates"]]
    explained = float((responses.covariates @ slopes).var()) if slopes.size else None
    columns = dict(zip(names, sds.T, strict=True))
    variances = {name: sd**2 for name, sd in columns.items()}
    if "discrimination" in variances:
        # Of a_i t, beyond that of t: E[t²] times the variance of a.
        spread = sum(variances.get(name, 0.0) for name in ("model", "family", "interaction"))
        variances["discrimination"] = variances["discrimination"] * spread
    if explained is not None:
        variances["covariates"] = np.full(len(sds), explained)
        columns["covariates"] = np.full(len(sds), math.sqrt(explained))
    variances["answer"] = np.full(len(sds), RESIDUAL_VARIANCE)
    columns["answer"] = np.sqrt(variances["answer"])
    whole = sum(variances.values())
    return {
        name: Spread(
            float(columns[name][0]),
            *np.quantile(columns[name][1:], (0.025, 0.975)).tolist(),
            float((variance / whole)[0]),
            *np.quantile((variance / whole)[1:], (0.025, 0.975)).tolist(),
        )
        for name, variance in variances.items()
    }
