"""What items tell: how well each fits its model, how much it tells of whom, and which suffice.

With the parameters of items known, a few well-chosen answers place a model on the scale of a whole
suite: they are what a shortened suite and an adaptive run ask for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.design import Booleans, Floats, Integers
from cimento.statistics.item_response import ItemResponseFit
from cimento.statistics.response_estimates import Z95
from cimento.statistics.response_likelihood import logistic

_STEPS, _TOLERANCE = 50, 1e-8
_CLOSER = 0.98


@dataclass(frozen=True, slots=True)
class ItemFit:
    """How far the answers to each item are from what the model expects.

    Attributes:
        infit: mean squared residual in units of its expectation; near 1 where the model fits, above
            1 where answers are less orderly. NaN where nothing is known.
        p: one-sided, of an infit as large as this; NaN likewise.
    """

    infit: Floats
    p: Floats


def item_fit(right: Floats, probability: Floats) -> ItemFit:
    """The information-weighted mean square of each item, and its chance.

    The infit is ``Σ (y - p)² / Σ p (1 - p)`` over models (Wright and Masters 1982, Rating Scale
    Analysis, chapter 5). Its p is of the exact distribution of the sum for independent answers, and
    not of their cube-root transformation to a normal one: with a few models that all fail an item,
    which is as orderly as can be, that has tiny p. As the chances of correct answers were estimated
    with these answers, the test is cautious.

    Args:
        right: items x models, NaN where undefined.
        probability: items x models, the expected proportion of correct answers.
    """
    known = np.isfinite(right)
    w = np.where(known, probability * (1 - probability), 0.0)
    squares = np.where(known, (np.where(known, right, 0.0) - probability) ** 2, 0.0)
    whole = w.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        infit = np.where(whole > 0, squares.sum(axis=1) / whole, np.nan)
    p = [
        _chance_of_more(squares[i][known[i]], probability[i][known[i]]) if whole[i] > 0 else np.nan
        for i in range(len(right))
    ]
    return ItemFit(infit, np.array(p, dtype=float))


def _chance_of_more(squares: Floats, probability: Floats) -> float:
    """The chance that independent answers to one item miss their expectation as far, or further.

    An unlikely answer, of chance q, adds 1 - 2q to the least possible sum of squares. These terms
    are rounded to a lattice, fine where models are few and there is no limit theorem to smooth it.

    Args:
        squares: squared residual of each answer.
        probability: of a correct one.
    """
    fineness = max(_FINENESS // len(squares), _COARSEST)
    unlikely = np.minimum(probability, 1 - probability)
    steps = np.rint((1 - 2 * unlikely) * fineness).astype(int)
    seen = int(np.rint((squares - unlikely**2) * fineness).sum())
    chances = np.zeros(int(steps.sum()) + 1)
    chances[0] = 1.0
    for step, q in zip(steps, unlikely, strict=True):
        moved = np.concatenate((np.zeros(step), chances[: len(chances) - step]))
        chances = (1 - q) * chances + q * moved
    return float(min(1.0, chances[max(seen, 0) :].sum()))


_FINENESS, _COARSEST = 4000, 25
"""Steps of the lattice in all and, at least, for a single answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemBank:
    """Items with known parameters, by which a model is placed on the scale of their suite.

    A model's ability on phenomenon p is ``m + d_p``, both normal around 0, and it gets item i right
    with the probability ``logistic(a_i (m + d_p) - b_i)``. What is estimated is the proportion of
    all items of the bank that it gets right. Parameters of items count as known.

    Attributes:
        phenomenon: number of each item's phenomenon.
        difficulty: b, for the average model of the calibration.
        discrimination: a.
        model_sd: standard deviation of m.
        interaction_sd: standard deviation of d; 0 where models do not differ so.
    """

    phenomenon: Integers
    difficulty: Floats
    discrimination: Floats
    model_sd: float
    interaction_sd: float

    @classmethod
    def of(cls, fit: ItemResponseFit, phenomenon: Integers) -> ItemBank:
        """The bank of a fitted model.

        Args:
            fit: of all items.
            phenomenon: number of each item's phenomenon.

        Raises:
            UsageError: the model could not be fitted.
        """
        if fit.difficulty is None:
            raise UsageError(where="item bank", seen=fit.reason or "there is no fit")
        slopes = fit.discrimination
        sds = {name: spread.sd for name, spread in fit.spreads.items()}
        return cls(
            phenomenon=phenomenon,
            difficulty=fit.difficulty.value,
            discrimination=np.ones(fit.items) if slopes is None else slopes.value,
            model_sd=float(np.hypot(sds["model"], sds.get("family", 0.0))),
            interaction_sd=sds.get("interaction", 0.0),
        )

    def expected(self, abilities: Floats) -> Floats:
        """The chance of a correct answer to each item.

        Args:
            abilities: of a model on each phenomenon; or one row per model.
        """
        logits = self.discrimination * np.asarray(abilities)[..., self.phenomenon]
        return logistic(logits - self.difficulty)

    def standing(self, right: Floats) -> Standing:
        """Where a model stands, from its answers to some items.

        Args:
            right: of each item, from 0 to 1; NaN where it was not asked, or is undefined.
        """
        known = np.isfinite(right)
        phenomena = int(self.phenomenon.max()) + 1
        precision = np.linalg.inv(self._prior(phenomena))
        abilities = np.zeros(phenomena)
        for _ in range(_STEPS):
            p = self.expected(abilities)
            slope = np.where(known, self.discrimination * (np.where(known, right, 0.0) - p), 0.0)
            weight = np.where(known, self.discrimination**2 * p * (1 - p), 0.0)
            gradient = np.bincount(self.phenomenon, slope, phenomena) - precision @ abilities
            hessian = precision + np.diag(np.bincount(self.phenomenon, weight, phenomena))
            step = np.linalg.solve(hessian, gradient)
            abilities = abilities + step / max(1.0, float(abs(step).max()))
            if abs(step).max() < _TOLERANCE:
                break
        return self._standing(abilities, np.linalg.inv(hessian))

    def _prior(self, phenomena: int) -> Floats:
        shared = np.full((phenomena, phenomena), max(self.model_sd, _SMALLEST) ** 2)
        interaction_variance = max(self.interaction_sd, _SMALLEST) ** 2
        return np.asarray(shared + interaction_variance * np.eye(phenomena))

    def _slopes(self, abilities: Floats) -> Floats:
        """The derivative of the proportion of correct answers with respect to each ability."""
        p = self.expected(abilities)
        slope = self.discrimination * p * (1 - p) / p.size
        return np.asarray(np.bincount(self.phenomenon, slope, abilities.size))

    def _standing(self, abilities: Floats, covariance: Floats) -> Standing:
        slopes = self._slopes(abilities)
        se = float(np.sqrt(slopes @ covariance @ slopes))
        return Standing(abilities, covariance, float(self.expected(abilities).mean()), Z95 * se)

    def most_telling(
        self, standings: Sequence[Standing], asked: Booleans, *, most: int, precision: float = 0.0
    ) -> list[int]:
        """The items that tell most of where some models stand, the most telling first.

        Each item is the one that lowers the variance of the share most, for the model that is
        least well known at that point (greedy D-optimality for one quantity; van der Linden and
        Glas 2010, doi:10.1007/978-0-387-85461-8, chapter 1). Expected, not given answers count, so
        that the order does not depend on what the models would say.

        Args:
            standings: where the models are believed to stand.
            asked: items that are not to be chosen.
            most: items to choose.
            precision: half the width of the widest interval at which to stop; 0 for never.
        """
        covariances = [standing.covariance.copy() for standing in standings]
        slopes = [self._slopes(standing.abilities) for standing in standings]
        shares = [self.expected(standing.abilities) for standing in standings]
        information = [self.discrimination**2 * p * (1 - p) for p in shares]
        free = ~asked
        chosen: list[int] = []
        while len(chosen) < most and free.any():
            widths = [float(c @ v @ c) for c, v in zip(slopes, covariances, strict=True)]
            if Z95 * max(widths) ** 0.5 <= precision:
                break
            worst = int(np.argmax(widths))
            gains = _gains(slopes[worst], covariances[worst], information[worst], self.phenomenon)
            item = int(np.argmax(np.where(free, gains, -1.0)))
            free[item] = False
            chosen.append(item)
            p = self.phenomenon[item]
            covariances = [
                covariance
                - np.outer(covariance[:, p], covariance[:, p])
                * (per_item[item] / (1 + per_item[item] * covariance[p, p]))
                for covariance, per_item in zip(covariances, information, strict=True)
            ]
        return chosen

    def unknown(self) -> Standing:
        """Where a model is believed to come before it was asked anything."""
        phenomena = int(self.phenomenon.max()) + 1
        return self._standing(np.zeros(phenomena), self._prior(phenomena))


def _gains(slopes: Floats, covariance: Floats, per_item: Floats, phenomenon: Integers) -> Floats:
    """By how much each item would lower the variance of the share."""
    reach = (covariance @ slopes) ** 2
    return np.asarray(
        per_item * reach[phenomenon] / (1 + per_item * np.diagonal(covariance)[phenomenon])
    )


_SMALLEST = 1e-3
"""The least spread in logits, for which a covariance can still be inverted."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a model is on the scale of a bank.

    Attributes:
        abilities: on each phenomenon, in logits.
        covariance: of these.
        share: of all items of the bank that it would get right.
        half: half the width of the 95% interval of the share.
    """

    abilities: Floats
    covariance: Floats
    share: float
    half: float


@dataclass(frozen=True, slots=True)
class ShortSuite:
    """The fewest items that place models with some precision.

    Attributes:
        items: their places, the most telling first.
        precision: that was asked for: half the width of the widest 95% interval of a share.
        reached: half the width of the widest interval that these items leave.
        shares: of each model, the proportion of the whole suite as these items have it.
        whole: of each model, the share as all items have it.
        rank_correlation: Spearman's, of these two; None where undefined.
    """

    items: tuple[int, ...]
    precision: float
    reached: float
    shares: tuple[float, ...]
    whole: tuple[float, ...]
    rank_correlation: float | None


def shortest_suite(bank: ItemBank, right: Floats, *, precision: float) -> ShortSuite:
    """The fewest items that place the models of a calibration with a precision.

    Items are chosen for where these models stand; the correlation is with the same models, so that
    it flatters a little.

    Args:
        bank: the items.
        right: items x models, NaN where undefined.
        precision: half the width of the widest 95% interval of a share, such as 0.05.

    Raises:
        UsageError: a precision that is not between 0 and 1.
    """
    from cimento.statistics.correlation import coefficient

    if not 0 < precision < 1:
        raise UsageError(
            where="precision",
            seen=f"{precision:g}",
            todo="Give half the width of an interval of shares: 0.05 is five points.",
        )
    models = right.shape[1]
    whole = [bank.standing(right[:, j]) for j in range(models)]
    before = [
        Standing(known.abilities, bank.unknown().covariance, known.share, 1.0) for known in whole
    ]
    asked = np.asarray(~np.isfinite(right).any(axis=1))
    aim, reached = precision, math.inf
    while reached > precision:
        items = bank.most_telling(before, asked, most=len(right), precision=aim)
        kept = np.full_like(right, np.nan)
        kept[items] = right[items]
        short = [bank.standing(kept[:, j]) for j in range(models)]
        reached = max(standing.half for standing in short)
        # What the answers leave open is not quite what was expected of them.
        aim *= min(_CLOSER, precision / reached)
        if len(items) == int((~asked).sum()):
            break
    shares = [standing.share for standing in short]
    shares_whole = [standing.share for standing in whole]
    return ShortSuite(
        items=tuple(items),
        precision=precision,
        reached=reached,
        shares=tuple(shares),
        whole=tuple(shares_whole),
        rank_correlation=coefficient(shares, shares_whole).r,
    )
