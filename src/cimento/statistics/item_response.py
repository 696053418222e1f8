"""Item-response models: difficulties of items and phenomena, abilities of models, intervals.

A Rasch model with random items is a crossed logistic model (items, models, phenomena, and models
on phenomena), and the two-parameter model lets items differ in how well they tell able models from
others. Difficulties are partially pooled toward those of their phenomenon, so that items on which
all models agree have finite ones. The spreads of effects have half-normal priors that say little;
all intervals are posterior, by Laplace's approximation, and include what the spreads leave open.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from cimento.errors import UsageError, counted
from cimento.statistics.design import ALL_EQUAL, ArrayLike, Floats, Integers
from cimento.statistics.response_effects import Responses
from cimento.statistics.response_estimates import (
    Locations,
    Spread,
    located,
    moved_spreads,
    sds_of,
    spread_records,
)
from cimento.statistics.response_likelihood import (
    FEWER_NODES,
    FEWER_NODES_BESIDE,
    NODES,
    NODES_BESIDE,
    TESTLET_NODES,
    Likelihood,
)

ItemModel: TypeAlias = Literal["rasch", "2pl"]

_PRIOR_SD = {"discrimination": 1.0}
_USUAL_PRIOR_SD = 2.0
_STARTS = {"interaction": 0.3, "discrimination": 0.3, "family": 0.5, "testlet": 0.5, "item": 1.0}
_USUAL_START = 0.7
_APART = 0.1
_STEP, _SHORT = 5e-3, 1e-4
_FLAT, _NEARLY_FLAT, _MOST_STEPS = 0.05, 0.5, 60
_FEWEST_ITEMS, _FEWEST_MODELS, _FEWEST_FOR_SLOPES = 5, 2, 4
_FEWEST_CLUSTERS, _MOST_CLUSTERS = 3, 500
_MOST_FOR_SPREADS = 3_000
_WIDEST = 1.0
"""The most that the logarithm of a spread may be uncertain by: data that say nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResponseFit:
    """A fitted item-response model. Zero is the average of the models that were given.

    Attributes:
        kind: ``rasch`` or ``2pl``.
        items: number of items.
        models: number of models.
        answers: number of defined answers.
        difficulty: of each item, the logit of failing for the average model; where families share
            effects on items, for models in general and not only those of these families.
        discrimination: of each item, where 1 is usual and below 0 backwards; None of Rasch.
        backwards: the probability that an item's discrimination is below 0; None of Rasch.
        phenomenon: the difficulty of each phenomenon, of all items that it could have.
        ability: of each model, over phenomena.
        ability_covariance: of these.
        by_phenomenon: models x phenomena, the ability on the items of one phenomenon.
        by_area: models x areas, the ability over the phenomena of one area, each with one weight;
            None without areas.
        beyond: models x areas, the same less the ability over all phenomena; None likewise.
        shared: items x families, by how many logits an item is easier for a family, given the
            abilities; None where families share nothing.
        slopes: by how much a standard deviation of each covariate makes items harder, in logits.
        spreads: kind of effect to its spread; ``answer`` has the chance of a single answer.
        probability: items x models, the expected proportion of correct answers.
        loglik: marginal log-likelihood at these spreads, natural logarithm.
        converged: the optimum was found.
        reason: why there is no fit; None where there is one.
    """

    kind: ItemModel
    items: int
    models: int
    answers: int
    difficulty: Locations | None = None
    discrimination: Locations | None = None
    backwards: Floats | None = None
    phenomenon: Locations | None = None
    ability: Locations | None = None
    ability_covariance: Floats | None = None
    by_phenomenon: Locations | None = None
    by_area: Locations | None = None
    beyond: Locations | None = None
    shared: Locations | None = None
    slopes: Locations | None = None
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    probability: Floats | None = None
    loglik: float | None = None
    converged: bool = False
    reason: str | None = None


def item_response(  # noqa: PLR0913  # what is known of items and of models
    right: ArrayLike,
    *,
    phenomenon: Integers | None = None,
    family: Integers | None = None,
    covariates: Floats | None = None,
    cluster: Integers | None = None,
    area: Integers | None = None,
    kind: ItemModel = "rasch",
    start: Mapping[str, float] | None = None,
    seed: int = 0,
) -> ItemResponseFit:
    """Fit an item-response model to a table of answers.

    The model is that of `response_likelihood`. Spreads are at their posterior mode, under
    half-normal priors with a scale of 2 logits (of discrimination: 1); intervals are widened by
    what they leave open (Kass and Steffey 1989, doi:10.1080/01621459.1989.10478825).

    Args:
        right: items x models: 1 right, 0 wrong, 0.5 a tie, NaN where undefined.
        phenomenon: number of each item's phenomenon, from 0; None for one.
        family: number of each model's family, from 0; None where they are not known.
        covariates: items x covariates; they are standardized here.
        cluster: number of each item's cluster, from 0; -1 for none. Used if 3 to 500 have 2 items.
        area: number of each phenomenon's area, such as its language, which has abilities too.
        kind: ``rasch``, or ``2pl`` with a discrimination for each item.
        start: spreads to begin the search at, such as those of the simpler model.
        seed: of the items from which spreads are estimated where there are more than 3,000.

    Raises:
        UsageError: tables that do not fit together, or values outside 0 to 1.
    """
    table = np.asarray(right, dtype=np.float64)
    responses = _responses(table, phenomenon, family, covariates, cluster, area)
    answers = int(np.isfinite(table).sum())
    empty = ItemResponseFit(kind=kind, items=table.shape[0], models=table.shape[1], answers=answers)
    if reason := _impossible(table, kind):
        return dataclasses.replace(empty, reason=reason)
    names = _spread_names(responses, kind)
    phi, covariance, converged = _spreads_at(_sample(responses, seed), names, start or {})
    likelihood = _likelihood(responses, names)
    center = likelihood.mode(sds_of(names, phi))
    moved = moved_spreads(likelihood, names, phi, covariance)
    return dataclasses.replace(
        empty,
        **located(likelihood, sds_of(names, phi), center, moved, covariance),
        spreads=spread_records(responses, names, phi, covariance, center, likelihood, seed),
        loglik=center.loglik,
        converged=converged and center.converged,
    )


def _responses(
    table: Floats,
    phenomenon: Integers | None,
    family: Integers | None,
    covariates: Floats | None,
    cluster: Integers | None,
    area: Integers | None,
) -> Responses:
    """The table with numbers of phenomena, families, clusters, and standardized covariates."""
    items, models = table.shape if table.ndim == 2 else (0, 0)  # noqa: PLR2004
    p = np.zeros(items, dtype=np.int64) if phenomenon is None else np.asarray(phenomenon)
    g = np.zeros(models, dtype=np.int64) if family is None else np.asarray(family)
    x = np.zeros((items, 0)) if covariates is None else np.asarray(covariates, dtype=np.float64)
    known = table[np.isfinite(table)]
    k = np.full(items, -1) if cluster is None else np.asarray(cluster)
    fits = (len(p), len(g), len(x), len(k)) == (items, models, items, items)
    if table.ndim != 2 or not fits or ((known < 0) | (known > 1)).any():  # noqa: PLR2004
        raise UsageError(
            where="item-response model",
            seen=f"a table of shape {table.shape} with {len(p)} phenomena, {len(g)} families and"
            f" {len(x)} rows of covariates",
            todo="Give one row per item and one column per model, from 0 (wrong) to 1 (right).",
        )
    sds = x.std(axis=0)
    return Responses(
        right=table,
        phenomenon=p,
        family=g,
        covariates=(x - x.mean(axis=0)) / np.where(sds > 0, sds, 1.0) if items else x,
        cluster=_clusters(k),
        area=area,
    )


def _clusters(cluster: Integers) -> Integers | None:
    """The clusters of two or more items, by new numbers; None where they tell nothing."""
    names, numbers, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    kept = (sizes > 1) & (names >= 0)
    if not _FEWEST_CLUSTERS <= int(kept.sum()) <= _MOST_CLUSTERS:
        return None
    return np.asarray(np.where(kept, np.cumsum(kept) - 1, -1)[numbers])


def _impossible(table: Floats, kind: ItemModel) -> str | None:
    """The reason why a table cannot be fitted; None if it can."""
    known = np.isfinite(table)
    items = int(known.any(axis=1).sum())
    models = int(known.any(axis=0).sum())
    if models < _FEWEST_MODELS:
        return f"answers of {counted(models, 'model')}: difficulty needs {_FEWEST_MODELS} or more"
    if kind == "2pl" and models < _FEWEST_FOR_SLOPES:
        return f"answers of {models} models: discrimination needs {_FEWEST_FOR_SLOPES} or more"
    if items < _FEWEST_ITEMS:
        return f"{counted(items, 'item')}: a model of items needs {_FEWEST_ITEMS} or more"
    return ALL_EQUAL if np.ptp(table[known]) == 0 else None


def _spread_names(responses: Responses, kind: ItemModel) -> tuple[str, ...]:
    """The kinds of effects that the table can tell apart; those of items are first and last."""
    models, families = responses.right.shape[1], responses.families
    several = responses.phenomena > 1
    return (
        "item",
        *(("phenomenon",) if several else ()),
        *(("cluster",) if responses.clusters else ()),
        "model",
        *(("family", "testlet") if 1 < families < models else ()),
        *(("interaction",) if several else ()),
        *(("discrimination",) if kind == "2pl" else ()),
    )


def _likelihood(responses: Responses, names: tuple[str, ...], *, quick: bool = False) -> Likelihood:
    of_items = {"item", "discrimination"}
    groups = tuple(name for name in names if name not in {*of_items, "testlet"})
    dimensions = len(of_items & set(names))
    if "testlet" in names:
        nodes = (FEWER_NODES_BESIDE if quick else NODES_BESIDE)[dimensions]
        return Likelihood(responses, groups, dimensions, nodes=nodes, testlet_nodes=TESTLET_NODES)
    nodes = (FEWER_NODES if quick else NODES)[dimensions]
    return Likelihood(responses, groups, dimensions, nodes=nodes)


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
        cluster=None if responses.cluster is None else responses.cluster[kept],
    )


def _log_prior(names: tuple[str, ...], phi: Floats) -> float:
    """Half-normal priors of spreads, as densities of their logarithms, but for a constant."""
    scales = np.array([_PRIOR_SD.get(name, _USUAL_PRIOR_SD) for name in names])
    return float((phi - np.exp(2 * phi) / (2 * scales**2)).sum())


def _spreads_at(
    responses: Responses, names: tuple[str, ...], start: Mapping[str, float]
) -> tuple[Floats, Floats, bool]:
    """The logarithms of the spreads at their posterior mode, and their covariance."""
    likelihood = _likelihood(responses, names, quick=True)

    best, begin_at = math.inf, None

    def lost(phi: Floats) -> float:
        nonlocal best, begin_at
        # From the best point so far: a detour may end at a mode from which none leads back.
        mode = likelihood.mode(sds_of(names, phi), start=begin_at)
        value = -mode.loglik - _log_prior(names, phi)
        if value < best:
            best, begin_at = value, mode.z
        return value

    begin = {**_STARTS, **start}
    phi, is_minimum = _minimum(lost, np.log([begin.get(name, _USUAL_START) for name in names]))
    curvature = _curvature(lost, phi)
    values, vectors = np.linalg.eigh(curvature)
    covariance = (vectors / np.maximum(values, _WIDEST**-2)) @ vectors.T
    return phi, covariance, is_minimum


def _minimum(function: Callable[[Floats], float], start: Floats) -> tuple[Floats, bool]:
    """A minimum by quasi-Newton steps (BFGS) that move no spread by more than a factor of two.

    Longer steps end where the likelihood has other modes.

    Returns:
        The place, and whether the gradient vanishes there.
    """
    at, value = start, function(start)
    gradient = _gradient(function, at, value)
    inverse = np.eye(at.size) / max(1.0, float(abs(gradient).max()))
    for _ in range(_MOST_STEPS):
        if abs(gradient).max() < _FLAT:
            return at, True
        step = -inverse @ gradient
        step *= min(1.0, math.log(2) / float(abs(step).max()))
        tried = function(at + step)
        while tried > value and abs(step).max() > _SHORT:
            step /= 2
            tried = function(at + step)
        if tried > value:
            return at, bool(abs(gradient).max() < _NEARLY_FLAT)
        at, value = at + step, tried
        change = -gradient
        gradient = _gradient(function, at, value)
        change += gradient
        along = float(step @ change)
        if along > 0:
            left = np.eye(at.size) - np.outer(step, change) / along
            inverse = left @ inverse @ left.T + np.outer(step, step) / along
    return at, False


def _gradient(function: Callable[[Floats], float], at: Floats, value: float) -> Floats:
    return np.array([function(at + step) - value for step in _STEP * np.eye(at.size)]) / _STEP


def _curvature(function: Callable[[Floats], float], at: Floats) -> Floats:
    """The Hessian by differences, central ones on the diagonal."""
    steps = _APART * np.eye(at.size)
    middle = function(at)
    up = [function(at + step) for step in steps]
    down = [function(at - step) for step in steps]
    curvature = np.diag([u + d - 2 * middle for u, d in zip(up, down, strict=True)])
    for k in range(at.size):
        for m in range(k):
            both = function(at + steps[k] + steps[m])
            crossed = both - up[k] - up[m] + middle
            curvature[k, m] = curvature[m, k] = crossed
    return np.asarray(curvature / _APART**2)
