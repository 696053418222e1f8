"""The likelihood of item-response models: items integrated out by adaptive quadrature.

The logit of a correct answer of respondent j to item i of phenomenon p is

    a_i (m_j + f_g(j) + d_jp) + o + e_p + c_k(i) + x_i b + v_i + s_t t_ig(j),    a_i = 1 + s_a z_i,

with normal effects of respondents m, their families f, phenomena e, clusters of items from one
source c, items v, of items on families t (`response_testlets`), of respondents on phenomena d, and
of items on discrimination z; with s_a = 0 it
is a Rasch model with random items (De Boeck 2008, doi:10.1007/s11336-008-9092-x), which is a
logistic model with crossed effects.

Items are many and have few answers each, so that their effects (v, z, t) are integrated out exactly
enough, by Gauss-Hermite quadrature around their modes (Liu and Pierce 1994,
doi:10.1093/biomet/81.3.624). All other effects rest on many answers; their joint posterior is
normal in good approximation (Laplace; Tierney and Kadane 1986, doi:10.1080/01621459.1986.10478240).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cimento.statistics.design import Floats, Integers
from cimento.statistics.response_effects import Layout, Responses, block_of
from cimento.statistics.response_testlets import (
    Families,
    FamilyCovariance,
    Shares,
    item_modes,
    shares_at,
)

NODES = {1: 15, 2: 7}
"""Nodes in each dimension of an item's effects, for results."""
FEWER_NODES = {1: 9, 2: 5}
"""The same while spreads are sought."""
NODES_BESIDE, FEWER_NODES_BESIDE = {1: 7, 2: 5}, {1: 3, 2: 3}
"""The same where families share effects on items, which make the others' posterior smoother."""
TESTLET_NODES = 5
"""Nodes for what a family shares on an item."""
_CELLS_AT_ONCE = 1_000_000
_STEPS, _TOLERANCE = 60, 1e-7
_NEAR, _SHORTEST = 0.1, 1e-3
_FLATTEST = 0.1
"""The least curvature that counts, of standardized effects, whose prior has 1."""


@dataclass(frozen=True, slots=True)
class ItemPosterior:
    """The posterior of the effects of some items, given all other effects: weighted nodes.

    Attributes:
        weights: items x nodes, summing to 1 for each item.
        easiness: items x nodes, the effect v in logits.
        discrimination: items x nodes, a.
        shares: the chances of correct answers at the nodes, testlets integrated out.
        loglik: of each item, its marginal log-likelihood.
        modes: items x (dimensions, families with a testlet), standardized; where the next search
            may begin.
        families: of the respondents.
    """

    weights: Floats
    easiness: Floats
    discrimination: Floats
    shares: Shares
    loglik: Floats
    modes: Floats
    families: Families

    @property
    def share(self) -> Floats:
        """Items x nodes x respondents, the chance of a correct answer."""
        return self.shares.share


def item_posterior(
    right: Floats,
    ability: Floats,
    easiness: Floats,
    sds: Mapping[str, float],
    start: Floats,
    *,
    nodes: int | None = None,
    families: Families | None = None,
) -> ItemPosterior:
    """The posterior of the effects of some items, by adaptive quadrature.

    Args:
        right: items x respondents, NaN where undefined.
        ability: items x respondents, the abilities on the phenomenon of each item, in logits.
        easiness: of each item, as its phenomenon and covariates have it, in logits.
        sds: of ``item`` and, for the two-parameter model, ``discrimination``.
        start: items x (dimensions, families with a testlet), standardized effects.
        nodes: number of nodes in each dimension; None for the usual number.
        families: of the respondents; None without testlets.
    """
    families = families or Families.none(right.shape[1])
    finite = np.isfinite(right)
    known, y = finite.astype(np.float64), np.where(finite, right, 0.0)
    dimensions = start.shape[1] - families.count
    slope = sds.get("discrimination", 0.0)
    design = np.stack([known * sds["item"], known * slope * ability])[:dimensions]
    modes = item_modes(y, known, ability + easiness[:, None], design, start, families)
    factor = np.linalg.cholesky(modes.precision)
    points, log_weights = _nodes(dimensions, nodes or NODES[dimensions])
    # Nodes on the scale of each item: its mode + L^-T x.
    turned = np.linalg.inv(factor).transpose(0, 2, 1)
    away = (turned[:, None] @ points[:, :, None])[..., 0]
    placed = modes.own[:, None, :] + away
    v = sds["item"] * placed[..., 0]
    a = 1 + slope * placed[..., 1] if dimensions > 1 else np.ones_like(v)
    eta = a[..., None] * ability[:, None, :] + (easiness[:, None] + v)[..., None]
    shares = shares_at(y, known, eta, modes, away, families)
    logs = shares.loglik - (placed**2).sum(axis=2) / 2 + log_weights
    top, weights, total = _weights(logs)
    logdet = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    return ItemPosterior(
        weights=weights,
        easiness=v,
        discrimination=a,
        shares=shares,
        loglik=top + np.log(total) - logdet,
        modes=np.concatenate([modes.own, modes.testlets], axis=1),
        families=families,
    )


def _weights(logs: Floats) -> tuple[Floats, Floats, Floats]:
    """The largest of each row, and the exponentials less it, which sum to 1 with their sum."""
    top = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - top)
    total = weights.sum(axis=1, keepdims=True)
    return top[:, 0], weights / total, total[:, 0]


@functools.cache
def _nodes(dimensions: int, count: int) -> tuple[Floats, Floats]:
    """Nodes for a standard normal, and the logarithms of their weights times exp(x²/2)."""
    x, w = np.polynomial.hermite_e.hermegauss(count)
    logs = np.log(w / math.sqrt(2 * math.pi)) + x**2 / 2
    if dimensions == 1:
        return x[:, None], logs
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    return grid, (logs[:, None] + logs[None, :]).ravel()


def logistic(eta: Floats) -> Floats:
    """The proportion of correct answers at some logits."""
    return np.asarray(0.5 * (1 + np.tanh(eta / 2)))


@dataclass(frozen=True, slots=True)
class Mode:
    """The mode of all effects but those of items, at given standard deviations.

    Attributes:
        z: standardized effects.
        effects: the same in logits.
        precision: of `z`, from the curvature at the mode.
        scales: the standard deviation of each effect.
        loglik: Laplace's approximation of the marginal log-likelihood.
        converged: the gradient vanishes there.
    """

    z: Floats
    effects: Floats
    precision: Floats
    scales: Floats
    loglik: float
    converged: bool

    def covariance(self) -> Floats:
        """The posterior covariance of `effects`."""
        return _inverse(self.precision) * self.scales[:, None] * self.scales


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some items that are taken together, in the order of their phenomena.

    Attributes:
        items: their places in the table.
        phenomena: the phenomena among them, each with its places in `items`.
    """

    items: Integers
    phenomena: tuple[tuple[int, slice], ...]


class Likelihood:
    """The marginal likelihood of a table of answers, as a function of standard deviations.

    Args:
        responses: the table.
        groups: random effects in the model besides those of items.
        dimensions: of the effects of an item: 1 (Rasch), or 2 with its discrimination.
        nodes: number of nodes in each dimension; None for the usual number.
        testlet_nodes: number of nodes for what a family shares on an item; 0 where families share
            nothing.
    """

    def __init__(
        self,
        responses: Responses,
        groups: tuple[str, ...],
        dimensions: int,
        *,
        nodes: int | None = None,
        testlet_nodes: int = 0,
    ) -> None:
        self.responses = responses
        self.layout = Layout.of(responses, groups)
        phenomena = range(responses.phenomena)
        self.blocks = [block_of(responses, self.layout, p) for p in phenomena]
        self.nodes = nodes or NODES[dimensions]
        self._testlet_nodes = testlet_nodes
        testlets = responses.families if testlet_nodes else 0
        cells = responses.right.shape[1] * self.nodes**dimensions * max(1, testlet_nodes)
        self.chunks = _chunks(responses.phenomenon, max(1, _CELLS_AT_ONCE // cells))
        self._modes = np.zeros((len(responses.right), dimensions + testlets))
        self._z = self._start()

    def _start(self) -> Floats:
        """Where to begin: respondents in the order of what they got right."""
        known = np.isfinite(self.responses.right)
        right = np.where(known, self.responses.right, 0.0).sum(axis=0)
        odds = np.log((right + 1) / (known.sum(axis=0) - right + 1))
        z = np.zeros(self.layout.size)
        if "model" in self.layout.spans and odds.std() > 0:
            z[self.layout.spans["model"]] = (odds - odds.mean()) / odds.std()
        return z

    def mode(self, sds: Mapping[str, float], *, start: Floats | None = None) -> Mode:
        """The mode of the effects at some standard deviations (Newton, with backtracking).

        Args:
            sds: of all random effects.
            start: standardized effects to begin at; None for those of the last mode.
        """
        scales = self.layout.scales(sds)
        z = self._z if start is None else start
        value, gradient, precision = self._at(z, scales, sds)
        converged = False
        for _ in range(_STEPS):
            step = _solve(precision, gradient)
            expected = float(gradient @ step)
            if expected < _TOLERANCE:
                converged = True
                break
            size = 1.0
            tried = self._at(z + step, scales, sds)
            # Near the mode, values by quadrature and their derivatives agree no better than this.
            while expected > _NEAR and tried[0] < value and size > _SHORTEST:
                size /= 2
                tried = self._at(z + size * step, scales, sds)
            if expected > _NEAR and tried[0] < value:
                break  # Quadrature is too coarse there: no step in this direction leads up.
            z = z + size * step
            value, gradient, precision = tried
        self._z = z
        sign, logdet = np.linalg.slogdet(precision)
        loglik = value - float(logdet) / 2
        return Mode(z, z * scales, precision, scales, loglik, converged and bool(sign > 0))

    def posterior(
        self, effects: Floats, sds: Mapping[str, float], chunk: Chunk
    ) -> tuple[Floats, Floats, ItemPosterior]:
        """The abilities and easiness behind a chunk's items, and the posterior of these items."""
        models = self.responses.right.shape[1]
        ability = np.empty((chunk.items.size, models))
        easiness = np.empty(chunk.items.size)
        for p, part in chunk.phenomena:
            block = self.blocks[p]
            local = block.design @ effects[block.places]
            ability[part] = local[:models]
            easiness[part] = self.constants(chunk, p, part) @ local[models:]
        right, start = self.responses.right[chunk.items], self._modes[chunk.items]
        posterior = item_posterior(
            right, ability, easiness, sds, start, nodes=self.nodes, families=self.families(sds)
        )
        self._modes[chunk.items] = posterior.modes
        return ability, easiness, posterior

    def families(self, sds: Mapping[str, float]) -> Families:
        """The families of the respondents with what they share on an item."""
        of = self.responses.family
        if not self._testlet_nodes:
            return Families.none(of.size)
        member = np.eye(self.responses.families)[of]
        return Families(of, member, sds["testlet"], self._testlet_nodes)

    def constants(self, chunk: Chunk, p: int, part: slice) -> Floats:
        """What the easiness of the items of one phenomenon in a chunk depends on."""
        return self.responses.constants(chunk.items[part], self.blocks[p].clusters)

    def scores(self, chunk: Chunk, posterior: ItemPosterior) -> Floats:
        """The derivatives of the log-likelihood of a chunk's items at their nodes.

        Returns:
            Items x nodes x (abilities on their phenomenon, easiness of the item).
        """
        right = self.responses.right[chunk.items][:, None, :]
        residual = np.where(np.isfinite(right), right - posterior.share, 0.0)
        by_item = residual.sum(axis=2, keepdims=True)
        return np.concatenate([posterior.discrimination[..., None] * residual, by_item], axis=2)

    def slopes(self, chunk: Chunk, p: int, part: slice, by_item: Floats) -> tuple[Integers, Floats]:
        """Derivatives with respect to effects, from those to abilities and an item's easiness.

        Args:
            chunk: some items.
            p: the phenomenon.
            part: its items in the chunk.
            by_item: items of the part x (abilities, easiness).

        Returns:
            The places of the effects, and items x effects.
        """
        models, block = self.responses.right.shape[1], self.blocks[p]
        x = self.constants(chunk, p, part)
        wide = np.concatenate([by_item[:, :models], by_item[:, models:] * x], axis=1)
        return block.places, wide @ block.design

    def _at(
        self, z: Floats, scales: Floats, sds: Mapping[str, float]
    ) -> tuple[float, Floats, Floats]:
        """The log posterior of standardized effects, its gradient, and minus its Hessian.

        Louis's identity (1982, doi:10.1111/j.2517-6161.1982.tb01203.x): the expected curvature
        less the covariance of the scores, over the posterior of each item.
        """
        value, gradient, precision = -float(z @ z) / 2, -z, np.eye(z.size)
        for chunk in self.chunks:
            _, _, posterior = self.posterior(z * scales, sds, chunk)
            value += float(posterior.loglik.sum())
            scores = self.scores(chunk, posterior)
            r, a = posterior.weights, posterior.discrimination
            known = np.isfinite(self.responses.right[chunk.items])
            weight = posterior.shares.weight
            by_answer = np.stack([((r * a**k)[:, None, :] @ weight)[:, 0] for k in range(3)])
            by_answer *= known
            mean = (r[:, None, :] @ scores)[:, 0]
            turned = scores * np.sqrt(r)[..., None]
            for p, part in chunk.phenomena:
                block = self.blocks[p]
                scaled = block.design * scales[block.places]
                x = self.constants(chunk, p, part)
                shared = _shared(posterior, part)
                curvature = _curvature(by_answer[:, part], mean[part], turned[part], x, shared)
                gradient[block.places] += (
                    self.slopes(chunk, p, part, mean[part])[1].sum(axis=0) * (scales[block.places])
                )
                precision[np.ix_(block.places, block.places)] += scaled.T @ curvature @ scaled
        return value, gradient, precision


def _chunks(phenomenon: Integers, most: int) -> list[Chunk]:
    """The items in the order of their phenomena, some at a time."""
    order = np.argsort(phenomenon, kind="stable")
    chunks = []
    for begin in range(0, order.size, most):
        items = order[begin : begin + most]
        numbers, starts = np.unique(phenomenon[items], return_index=True)
        ends = [*starts[1:], items.size]
        parts = zip(numbers.tolist(), starts, ends, strict=True)
        chunks.append(Chunk(items, tuple((p, slice(int(s), int(e))) for p, s, e in parts)))
    return chunks


def _shared(posterior: ItemPosterior, part: slice) -> FamilyCovariance | None:
    """The covariance of scores within families, of some items; None without testlets."""
    within = posterior.shares.within
    if within is None:
        return None
    r, a = posterior.weights[part], posterior.discrimination[part]
    return FamilyCovariance.of(within[part], r, a, posterior.families)


def _curvature(
    by_answer: Floats, mean: Floats, turned: Floats, x: Floats, shared: FamilyCovariance | None
) -> Floats:
    """The curvature of some items of one phenomenon: what is expected, less that of the scores.

    Args:
        by_answer: E(w), E(a w) and E(a² w) of each item and respondent.
        mean: items x (abilities, easiness), the mean scores.
        turned: items x nodes x the same, scores times the root of their weights.
        x: items x (one, covariates, clusters).
        shared: the covariance of scores over testlets; None without them.
    """
    models = by_answer.shape[2]
    flat = turned[..., :models].reshape(-1, models)
    spread_modes, both = mean[:, models], mean[:, :models]
    alone = by_answer[0].sum(axis=1) + spread_modes**2 - (turned[..., models] ** 2).sum(axis=1)
    crossed = by_answer[1] + both * spread_modes[:, None]
    crossed -= np.einsum("iqm,iq->im", turned[..., :models], turned[..., models])
    inside = np.diag(by_answer[2].sum(axis=0)) + both.T @ both - flat.T @ flat
    if shared is not None:
        inside -= shared.abilities
        crossed -= shared.crossed
        alone -= shared.easiness
    curvature = np.empty((models + x.shape[1],) * 2)
    curvature[:models, :models] = inside
    curvature[:models, models:] = crossed.T @ x
    curvature[models:, :models] = curvature[:models, models:].T
    curvature[models:, models:] = x.T @ (alone[:, None] * x)
    return curvature


def _solve(precision: Floats, gradient: Floats) -> Floats:
    """The Newton step; where the surface is not concave, away from what is not a maximum."""
    from scipy import linalg

    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(precision), gradient))
    except linalg.LinAlgError:
        values, vectors = np.linalg.eigh(precision)
        return np.asarray(vectors @ ((vectors.T @ gradient) / np.maximum(abs(values), _FLATTEST)))


def _inverse(precision: Floats) -> Floats:
    values, vectors = np.linalg.eigh(precision)
    return np.asarray((vectors / np.maximum(values, _FLATTEST)) @ vectors.T)
