"""What an item has in common with the models of one family: a testlet of models.

Checkpoints of a run, or sizes of one architecture, fail the same items beyond what their abilities
and the item's difficulty say. The logit of every answer of family f to item i has the effect
``s t_if`` besides, t standard normal (a testlet as of Bradlow, Wainer and Wang 1999,
doi:10.1007/BF02294533, with items and respondents exchanged). Given the item's own effects, the
families are independent, so that each is integrated out alone, by Gauss-Hermite quadrature around
its mode for these effects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cimento.statistics.design import Floats, Integers

_INNER_STEPS, _INNER_TOLERANCE = 25, 1e-7


@dataclass(frozen=True, slots=True)
class Families:
    """The families of the respondents, and the spread of what they share on an item.

    Attributes:
        of: the family of each respondent.
        member: respondents x families, 1 where it belongs; without columns if there is no testlet.
        sd: of the shared effect, in logits.
        nodes: number of nodes for each family.
    """

    of: Integers
    member: Floats
    sd: float
    nodes: int

    @classmethod
    def none(cls, models: int) -> Families:
        """No testlets."""
        return cls(np.zeros(models, dtype=np.int64), np.zeros((models, 0)), 0.0, 1)

    @property
    def count(self) -> int:
        """The number of families with a testlet."""
        return int(self.member.shape[1])


@dataclass(frozen=True, slots=True)
class ItemModes:
    """The joint modes of the effects of items and their testlets, all standardized.

    Attributes:
        own: items x dimensions, the effects of the items themselves.
        testlets: items x families.
        precision: items x dimensions x dimensions, of `own` with testlets profiled out.
        crossed: items x dimensions x families, of both.
        alone: items x families, of `testlets` given `own`.
    """

    own: Floats
    testlets: Floats
    precision: Floats
    crossed: Floats
    alone: Floats


def item_modes(
    y: Floats, known: Floats, base: Floats, design: Floats, start: Floats, families: Families
) -> ItemModes:
    """The modes by Newton's method; the Hessian is an arrow, since families are independent.

    Args:
        y: items x respondents; anything where undefined.
        known: items x respondents, 1 where defined, else 0.
        base: items x respondents, the logits without these effects.
        design: dimensions x items x respondents, 0 where undefined.
        start: items x (dimensions, families).
        families: of the respondents.
    """
    dimensions = len(design)
    own, testlets = start[:, :dimensions], start[:, dimensions:]
    member = families.sd * families.member
    identity = np.eye(dimensions)
    for _ in range(_INNER_STEPS):
        eta = base + np.einsum("id,dij->ij", own, design) + testlets @ member.T
        share = 0.5 * (1 + np.tanh(eta / 2))
        residual, weight = known * (y - share), known * share * (1 - share)
        weighed = design * weight
        whole = np.einsum("dij,eij->ide", weighed, design) + identity
        crossed = np.moveaxis(weighed @ member, 0, 1)
        alone = 1 + weight @ member**2
        by_own = np.einsum("ij,dij->id", residual, design) - own
        by_testlet = residual @ member - testlets
        scaled = crossed / alone[:, None, :]
        precision = whole - scaled @ crossed.transpose(0, 2, 1)
        left = by_own - (scaled @ by_testlet[..., None])[..., 0]
        step = np.linalg.solve(precision, left[..., None])[..., 0]
        other = (by_testlet - (step[:, None, :] @ crossed)[:, 0]) / alone
        # Newton's step may overshoot where the curvature is small; half a dozen are enough.
        longest = np.maximum(
            abs(step).max(axis=1, keepdims=True),
            abs(other).max(axis=1, keepdims=True, initial=0.0),
        )
        own, testlets = (at + by / np.maximum(1, longest) for at, by in
                         ((own, step), (testlets, other)))  # fmt: skip
        if longest.max(initial=0.0) < _INNER_TOLERANCE:
            break
    return ItemModes(own, testlets, precision, crossed, alone)


@dataclass(frozen=True, slots=True)
class Shares:
    """Chances of correct answers at the nodes of items' own effects, testlets integrated out.

    Attributes:
        loglik: items x nodes, of all answers to the item.
        share: items x nodes x respondents, the chance.
        weight: the same, the chance times that of a wrong answer.
        within: items x nodes x nodes of testlets x respondents, the deviations of the chance from
            `share` times the root of their weights; None without testlets.
        effect: items x nodes x families, the mean of what a family shares, in logits; None
            without testlets.
        effect_variance: the same, its variance.
    """

    loglik: Floats
    share: Floats
    weight: Floats
    within: Floats | None = None
    effect: Floats | None = None
    effect_variance: Floats | None = None


def shares_at(
    y: Floats,
    known: Floats,
    eta: Floats,
    modes: ItemModes,
    away: Floats,
    families: Families,
) -> Shares:
    """The chances of correct answers to some items at the nodes of their own effects.

    Args:
        y: items x respondents; 0 where undefined.
        known: items x respondents, 1 where defined.
        eta: items x nodes x respondents, logits without what families share.
        modes: of the items.
        away: items x nodes x dimensions, the items' own effects less their modes.
        families: of the respondents.
    """
    if not families.count:
        return _shares_alone(y, known, eta)
    # The mode of a family moves with the item's own effects, by the crossed curvature.
    center = modes.testlets[:, None, :] - (away @ modes.crossed) / modes.alone[:, None, :]
    return _shares_with(y, known, eta, center, modes.alone, families)


def _shares_alone(y: Floats, known: Floats, eta: Floats) -> Shares:
    """The chances where nothing is shared within families."""
    small = np.exp(-abs(eta))
    # y eta - log(1 + e^eta), and nothing of answers that are undefined.
    wrong = np.log1p(small) + np.maximum(eta, 0.0)
    right = (y[:, None, :] @ eta.transpose(0, 2, 1))[:, 0]
    share = np.where(eta >= 0, 1.0, small) / (1 + small)
    return Shares(right - (wrong @ known[:, :, None])[..., 0], share, share * (1 - share))


def _shares_with(
    y: Floats, known: Floats, eta: Floats, center: Floats, precision: Floats, families: Families
) -> Shares:
    """The chances where each family shares an effect, by quadrature around its mode.

    Args:
        y: as of `shares_at`.
        known: likewise.
        eta: likewise.
        center: items x nodes x families, the mode of each effect, standardized.
        precision: items x families, at the mode.
        families: of the respondents.
    """
    x, w = np.polynomial.hermite_e.hermegauss(families.nodes)
    logs = np.log(w / np.sqrt(2 * np.pi)) + x**2 / 2
    reach = x[:, None] / np.sqrt(precision)[:, None, None, :]
    placed = center[:, :, None, :] + reach
    logits = eta[:, :, None, :] + families.sd * placed[..., families.of]
    small = np.exp(-abs(logits))
    wrong = np.log1p(small) + np.maximum(logits, 0.0)
    answers = y[:, None, None, :] * logits - known[:, None, None, :] * wrong
    inner = answers @ families.member - placed**2 / 2 + logs[:, None]
    top = inner.max(axis=2, keepdims=True)
    weights = np.exp(inner - top)
    total = weights.sum(axis=2, keepdims=True)
    by_family = (top + np.log(total))[:, :, 0] - np.log(precision)[:, None, :] / 2
    weights /= total
    by_model = weights[..., families.of]
    chance = np.where(logits >= 0, 1.0, small) / (1 + small)
    share = (by_model * chance).sum(axis=2)
    effect = families.sd * (weights * placed).sum(axis=2)
    squares = families.sd**2 * (weights * placed**2).sum(axis=2)
    return Shares(
        loglik=by_family.sum(axis=2),
        share=share,
        weight=(by_model * chance * (1 - chance)).sum(axis=2),
        within=known[:, None, None, :] * (chance - share[:, :, None, :]) * np.sqrt(by_model),
        effect=effect,
        effect_variance=np.maximum(0.0, squares - effect**2),
    )


@dataclass(frozen=True, slots=True)
class FamilyCovariance:
    """The covariance of scores within families, over the posterior of some items' testlets.

    Attributes:
        abilities: respondents x respondents, of the abilities of one family, summed over items.
        crossed: items x respondents, of an ability and the item's easiness.
        easiness: of each item, the variance of the score of its easiness.
    """

    abilities: Floats
    crossed: Floats
    easiness: Floats

    @classmethod
    def of(
        cls, within: Floats, weights: Floats, discrimination: Floats, families: Families
    ) -> FamilyCovariance:
        """The covariance of some items of one phenomenon.

        Args:
            within: as of `Shares`.
            weights: items x nodes, of the items' own effects.
            discrimination: items x nodes.
            families: of the respondents.
        """
        scores = within * np.sqrt(weights)[:, :, None, None]
        together = scores @ families.member
        scores = scores * discrimination[:, :, None, None]
        flat = scores.reshape(-1, scores.shape[-1])
        same = families.member @ families.member.T
        return cls(
            (flat.T @ flat) * same,
            (scores * together[..., families.of]).sum(axis=(1, 2)),
            (together**2).sum(axis=(1, 2, 3)),
        )
