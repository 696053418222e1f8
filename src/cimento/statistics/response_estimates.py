"""What a fitted item-response model says of items, models and phenomena, with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cimento.statistics.design import Floats
from cimento.statistics.response_effects import Layout, Responses
from cimento.statistics.response_likelihood import ItemPosterior, Likelihood, Mode

RESIDUAL_VARIANCE = math.pi**2 / 3
"""The variance of one answer on the logit scale (Nakagawa and Schielzeth 2010,
doi:10.1111/j.1469-185X.2010.00141.x)."""

_DRAWS = 2_000
Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Locations:
    """Estimates on the logit scale, each with its standard error and its 95% interval.

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
    def of(cls, value: Floats, variance: Floats, skewness: Floats | float = 0.0) -> Locations:
        """Estimates from their moments; the ends by Cornish and Fisher (1938, doi:10.2307/1400905).

        Args:
            value: means.
            variance: variances.
            skewness: standardized third moments.
        """
        se = np.sqrt(variance)
        shift = (Z95**2 - 1) / 6 * np.clip(skewness, -1, 1)
        return cls(value, se, value + (shift - Z95) * se, value + (shift + Z95) * se)


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of one kind of effect, and its proportion of the variance of answers.

    Attributes:
        sd: in logits.
        low: lower end of the 95% interval.
        high: upper end.
        share: of the variance of answers on the logit scale, a single answer's chance included.
        share_low: lower end of the 95% interval of the share.
        share_high: upper end.
    """

    sd: float
    low: float
    high: float
    share: float
    share_low: float
    share_high: float


def sds_of(names: tuple[str, ...], phi: Floats) -> dict[str, float]:
    """Spreads by name, from their logarithms."""
    return dict(zip(names, np.exp(phi).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Moments:
    """The posterior of a parameter of items, given all effects but those of items.

    Attributes:
        central: items x (mean, variance, third central moment).
        slopes: items x effects, the derivatives of the mean.
    """

    central: Floats
    slopes: Floats


def _moments(
    likelihood: Likelihood, effects: Floats, sds: Mapping[str, float]
) -> dict[str, Moments]:
    """The moments of difficulty and discrimination of all items at some effects."""
    items, models = likelihood.responses.right.shape
    moments = {
        name: Moments(np.empty((items, 3)), np.zeros((items, likelihood.layout.size)))
        for name in ("difficulty", "discrimination")
    }
    for chunk in likelihood.chunks:
        ability, easiness, posterior = likelihood.posterior(effects, sds, chunk)
        scores = likelihood.scores(chunk, posterior)
        a = posterior.discrimination
        hard = -(easiness[:, None] + posterior.easiness + a * ability.mean(axis=1, keepdims=True))
        mean_a = (posterior.weights * a).sum(axis=1, keepdims=True)
        shared = np.repeat(mean_a / models, models, axis=1)
        direct = np.concatenate([shared, np.ones((chunk.items.size, 1))], axis=1)
        nothing = np.zeros_like(direct)
        for name, values, shift in (("difficulty", hard, direct), ("discrimination", a, nothing)):
            local = _with_scores(posterior, values, scores) - shift
            moments[name].central[chunk.items] = _central(posterior, values)
            for p, part in chunk.phenomena:
                places, by_effect = likelihood.slopes(chunk, p, part, local[part])
                moments[name].slopes[np.ix_(chunk.items[part], places)] = by_effect
    return moments


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
class ShiftedEstimates:
    """What is estimated at the ends of each spread's uncertainty, one row a spread.

    Attributes:
        step: by how much the logarithm of each spread was moved to either side.
        modes: the modes there.
        moments: the moments of items there, by parameter.
    """

    step: Floats
    modes: list[tuple[Mode, Mode]]
    moments: list[tuple[dict[str, Moments], dict[str, Moments]]]

    def slopes(self, pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
        """The derivatives with respect to the logarithm of each spread, one row each."""
        return np.stack([(u - d) / (2 * h) for (u, d), h in zip(pairs, self.step, strict=True)])

    @staticmethod
    def wider(center: Floats, pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
        """A variance in the mean over the uncertainty of spreads, which mostly is larger.

        Three nodes in each direction, at 0 and ±√3 standard deviations, with weights of 2/3 and
        1/6 (Gauss and Hermite); where this would lower it, it stays.
        """
        more = [np.maximum(0.0, (u + d) / 2 - center) / 3 for u, d in pairs]
        return np.asarray(center + sum(more))


def moved_spreads(
    likelihood: Likelihood, names: tuple[str, ...], phi: Floats, covariance: Floats
) -> ShiftedEstimates:
    """What is estimated where each spread is larger and smaller than at its mode."""
    steps = np.sqrt(3 * np.diagonal(covariance))
    modes, moments = [], []
    for step in np.diag(steps):
        ends = []
        for sign in (1, -1):
            sds = sds_of(names, phi + sign * step)
            mode = likelihood.mode(sds)
            ends.append((mode, _moments(likelihood, mode.effects, sds)))
        modes.append((ends[0][0], ends[1][0]))
        moments.append((ends[0][1], ends[1][1]))
    return ShiftedEstimates(steps, modes, moments)


def located(
    likelihood: Likelihood,
    sds: Mapping[str, float],
    center: Mode,
    moved: ShiftedEstimates,
    spread_covariance: Floats,
) -> dict[str, Any]:
    """The fields of a fit that are located on the logit scale."""
    moments = _moments(likelihood, center.effects, sds)
    responses = likelihood.responses
    contrasts = _contrasts(responses, likelihood.layout)
    covariance_here = center.covariance()
    covariances = [(u.covariance(), d.covariance()) for u, d in moved.modes]
    drift = moved.slopes([(u.effects, d.effects) for u, d in moved.modes])

    def of(rows: Floats) -> tuple[Locations, Floats]:
        inside = rows @ covariance_here @ rows.T
        away = drift @ rows.T
        covariance = inside + away.T @ spread_covariance @ away
        ends = [(_variances(rows, u), _variances(rows, d)) for u, d in covariances]
        before = np.diagonal(inside)
        factor = np.sqrt(1 + (moved.wider(before, ends) - before) / np.diagonal(covariance))
        covariance = covariance * factor[:, None] * factor
        return Locations.of(rows @ center.effects, np.diagonal(covariance)), covariance

    def of_items(name: str) -> Locations:
        central = moments[name].central
        inside = central[:, 1] + _variances(moments[name].slopes, covariance_here)
        ends = [(u[name].central, d[name].central) for u, d in moved.moments]
        variance = moved.wider(inside, [(u[:, 1], d[:, 1]) for u, d in ends])
        away = moved.slopes([(u[:, 0], d[:, 0]) for u, d in ends])
        variance = variance + ((spread_covariance @ away) * away).sum(axis=0)
        return Locations.of(central[:, 0], variance, central[:, 2] / variance**1.5)

    ability, ability_covariance = of(contrasts["ability"])
    fields: dict[str, Any] = {
        "difficulty": of_items("difficulty"),
        "phenomenon": of(contrasts["phenomenon"])[0],
        "ability": ability,
        "ability_covariance": ability_covariance,
        "by_phenomenon": of(contrasts["by_phenomenon"])[0],
        "slopes": of(contrasts["slopes"])[0],
        "probability": _probability(likelihood, center.effects, sds),
        "shared": _shared(likelihood, center.effects, sds) if "testlet" in sds else None,
    }
    fields |= {k: of(contrasts[k])[0] for k in ("by_area", "beyond") if k in contrasts}
    if "discrimination" in sds:
        fields["discrimination"] = of_items("discrimination")
        fields["backwards"] = _below_zero(fields["discrimination"])
    return fields


def _variances(rows: Floats, covariance: Floats) -> Floats:
    """The variance of each of some sums of effects."""
    return np.asarray(((rows @ covariance) * rows).sum(axis=1))


def _below_zero(estimates: Locations) -> Floats:
    from scipy import special

    return np.asarray(special.ndtr(-estimates.value / estimates.se))


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
    contrasts = {
        "ability": overall - overall.mean(axis=0),
        "phenomenon": -(easiness + average),
        "by_phenomenon": (ability - average).reshape(models * phenomena, -1),
        "slopes": -everything[layout.spans["covariates"]],
    }
    if responses.area is not None:
        member = np.eye(int(responses.area.max()) + 1)[responses.area]
        by_area = np.einsum("pa,mpz->maz", member / member.sum(axis=0), ability - average)
        beyond = by_area - contrasts["ability"][:, None, :]
        contrasts["by_area"] = by_area.reshape(-1, layout.size)
        contrasts["beyond"] = beyond.reshape(-1, layout.size)
    return contrasts


def _probability(likelihood: Likelihood, effects: Floats, sds: Mapping[str, float]) -> Floats:
    """The expected proportion of correct answers of each item and model."""
    expected = np.empty_like(likelihood.responses.right)
    for chunk in likelihood.chunks:
        _, _, posterior = likelihood.posterior(effects, sds, chunk)
        expected[chunk.items] = (posterior.weights[:, None, :] @ posterior.share)[:, 0]
    return expected


def _shared(likelihood: Likelihood, effects: Floats, sds: Mapping[str, float]) -> Locations:
    """What the models of each family share on each item, given all other effects."""
    responses = likelihood.responses
    mean = np.zeros((len(responses.right), responses.families))
    variance = np.ones_like(mean)
    for chunk in likelihood.chunks:
        _, _, posterior = likelihood.posterior(effects, sds, chunk)
        weights = posterior.weights[:, :, None]
        effect, inside = posterior.shares.effect, posterior.shares.effect_variance
        if effect is None or inside is None:
            continue
        center = (weights * effect).sum(axis=1)
        mean[chunk.items] = center
        variance[chunk.items] = (weights * (inside + effect**2)).sum(axis=1) - center**2
    return Locations.of(mean, variance)


def spread_records(
    responses: Responses,
    names: tuple[str, ...],
    phi: Floats,
    covariance: Floats,
    center: Mode,
    likelihood: Likelihood,
    seed: int,
) -> dict[str, Spread]:
    """The spreads, and the variance of answers that goes with each, by drawing."""
    drawn = np.random.default_rng(seed).multivariate_normal(phi, covariance, size=_DRAWS)
    sds = np.exp(np.vstack([phi, np.clip(drawn, -8, 4)]))
    slopes = center.effects[likelihood.layout.spans["covariates"]]
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
            *_with_ends(columns[name]),
            *_with_ends(variance / whole),
        )
        for name, variance in variances.items()
    }


def _with_ends(drawn: Floats) -> tuple[float, float, float]:
    """The first of some values, and the middle 95% of the others."""
    low, high = np.quantile(drawn[1:], (0.025, 0.975))
    return float(drawn[0]), float(low), float(high)
