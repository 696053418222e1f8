"""The likelihood of item-response models: items integrated out by adaptive quadrature.

The logit of a right answer of respondent j to item i of phenomenon p is

    a_i (m_j + f_g(j) + d_jp) + o + e_p + x_i b + v_i,    a_i = 1 + s_a z_i,

with normal effects of respondents m, their families f, phenomena e, items v, of respondents on
phenomena d, and of items on discrimination z; with s_a = 0 it is a Rasch model with random items
(De Boeck 2008, doi:10.1007/s11336-008-9092-x), which is a logistic model with crossed effects.

Items are many and have few answers each, so that their effects (v, z) are integrated out exactly
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

from cimento.statistics.values import Floats, Integers

_INTERCEPT_SD, _SLOPE_SD = 5.0, 2.5
NODES = {1: 15, 2: 7}
"""Nodes in each dimension of an item's effects, for results."""
FEWER_NODES = {1: 9, 2: 5}
"""The same while spreads are sought."""
_CELLS_AT_ONCE = 1_000_000
_STEPS, _TOLERANCE = 60, 1e-7
_NEAR, _SHORTEST = 0.1, 1e-3
_INNER_STEPS, _INNER_TOLERANCE = 25, 1e-7
_FLATTEST = 0.1
"""The least curvature that counts, of standardised effects, whose prior has 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Responses:
    """A table of answers, items by respondents, with what is known of both.

    Attributes:
        right: items x respondents: 1 right, 0 wrong, between them a tie; NaN where undefined.
        phenomenon: the number of each item's phenomenon.
        family: the number of each respondent's family.
        covariates: items x covariates, standardised.
    """

    right: Floats
    phenomenon: Integers
    family: Integers
    covariates: Floats

    @property
    def phenomena(self) -> int:
        """The number of phenomena."""
        return int(self.phenomenon.max()) + 1

    @property
    def families(self) -> int:
        """The number of families."""
        return int(self.family.max()) + 1


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of effects in one long vector, all of them standardised.

    Attributes:
        size: length of the vector.
        spans: kind of effect to its places: intercept, covariates, and groups of random effects.
    """

    size: int
    spans: Mapping[str, slice]

    @classmethod
    def of(cls, responses: Responses, groups: tuple[str, ...]) -> Layout:
        """The layout for some random effects: phenomenon, model, family, interaction."""
        models = responses.right.shape[1]
        sizes = {
            "intercept": 1,
            "covariates": responses.covariates.shape[1],
            "phenomenon": responses.phenomena,
            "model": models,
            "family": responses.families,
            "interaction": models * responses.phenomena,
        }
        spans, start = {}, 0
        for name, size in sizes.items():
            if name in groups or name in {"intercept", "covariates"}:
                spans[name] = slice(start, start + size)
                start += size
        return cls(start, spans)

    def scales(self, sds: Mapping[str, float]) -> Floats:
        """The standard deviation of each place."""
        scales = np.ones(self.size)
        fixed = {"intercept": _INTERCEPT_SD, "covariates": _SLOPE_SD}
        for name, span in self.spans.items():
            scales[span] = fixed.get(name) or sds[name]
        return scales


def block_design(responses: Responses, layout: Layout, p: int) -> tuple[Integers, Floats]:
    """The effects that answers to one phenomenon's items depend on, and how.

    Returns:
        Places in the vector of effects, and a matrix from these to the respondents' abilities
        on the phenomenon, the easiness of the phenomenon, and the slopes of covariates.
    """
    models, slopes = responses.right.shape[1], responses.covariates.shape[1]
    places: list[int] = []
    columns: list[Floats] = []

    def put(place: int, rows: Floats) -> None:
        places.append(place)
        columns.append(rows)

    rows = np.eye(models + 1 + slopes)
    put(layout.spans["intercept"].start, rows[models])
    for k in range(slopes):
        put(layout.spans["covariates"].start + k, rows[models + 1 + k])
    if "phenomenon" in layout.spans:
        put(layout.spans["phenomenon"].start + p, rows[models])
    if "model" in layout.spans:
        for j in range(models):
            put(layout.spans["model"].start + j, rows[j])
    if "family" in layout.spans:
        for g in range(responses.families):
            put(layout.spans["family"].start + g, rows[:models][responses.family == g].sum(axis=0))
    if "interaction" in layout.spans:
        for j in range(models):
            put(layout.spans["interaction"].start + p * models + j, rows[j])
    return np.array(places), np.stack(columns, axis=1)


@dataclass(frozen=True, slots=True)
class ItemPosterior:
    """The posterior of the effects of some items, given all other effects: weighted nodes.

    Attributes:
        weights: items x nodes, summing to 1 for each item.
        easiness: items x nodes, the effect v in logits.
        discrimination: items x nodes, a.
        share: items x nodes x respondents, the chance of a right answer.
        loglik: of each item, its marginal log-likelihood.
        modes: items x dimensions, standardised; where the next search may begin.
    """

    weights: Floats
    easiness: Floats
    discrimination: Floats
    share: Floats
    loglik: Floats
    modes: Floats


def item_posterior(
    right: Floats,
    ability: Floats,
    easiness: Floats,
    sds: Mapping[str, float],
    start: Floats,
    *,
    nodes: int | None = None,
) -> ItemPosterior:
    """The posterior of the effects of some items, by adaptive quadrature.

    Args:
        right: items x respondents, NaN where undefined.
        ability: items x respondents, the abilities on the phenomenon of each item, in logits.
        easiness: of each item, as its phenomenon and covariates have it, in logits.
        sds: of ``item`` and, for the two-parameter model, ``discrimination``.
        start: items x dimensions, standardised effects.
        nodes: number of nodes in each dimension; None for the usual number.
    """
    known = np.isfinite(right)
    y = np.where(known, right, 0.0)
    slope = sds.get("discrimination", 0.0)
    base = ability + easiness[:, None]
    design = np.stack([np.where(known, sds["item"], 0.0), np.where(known, slope * ability, 0.0)])
    design = design[: start.shape[1]]
    modes, factor = _item_modes(np.where(known, y, 0.5), base, design, start)
    dimensions = modes.shape[1]
    points, log_weights = _nodes(dimensions, nodes or NODES[dimensions])
    # Nodes on the scale of each item: its mode + L^-T x.
    turned = np.linalg.inv(factor).transpose(0, 2, 1)
    placed = modes[:, None, :] + (turned[:, None] @ points[:, :, None])[..., 0]
    v = sds["item"] * placed[..., 0]
    a = 1 + slope * placed[..., 1] if start.shape[1] > 1 else np.ones_like(v)
    eta = a[..., None] * ability[:, None, :] + (easiness[:, None] + v)[..., None]
    small = np.exp(-abs(eta))
    # y eta - log(1 + e^eta), and nothing of answers that are undefined.
    wrong = np.log1p(small) + np.maximum(eta, 0.0)
    terms = (y[:, None, :] @ eta.transpose(0, 2, 1))[:, 0] - (
        wrong @ known.astype(np.float64)[:, :, None]
    )[..., 0]
    logs = terms - (placed**2).sum(axis=2) / 2 + log_weights
    top = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - top)
    total = weights.sum(axis=1, keepdims=True)
    logdet = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    share = np.where(eta >= 0, 1.0, small) / (1 + small)
    return ItemPosterior(weights / total, v, a, share, (top + np.log(total))[:, 0] - logdet, modes)


def _item_modes(y: Floats, base: Floats, design: Floats, start: Floats) -> tuple[Floats, Floats]:
    """The mode of each item's standardised effects, and the root of minus the Hessian there.

    Args:
        y: items x respondents; undefined ones are out of the design.
        base: items x respondents, the logits without these effects.
        design: dimensions x items x respondents.
        start: items x dimensions.
    """
    identity = np.eye(len(design))
    modes = start
    for _ in range(_INNER_STEPS):
        share = logistic(base + np.einsum("id,dij->ij", modes, design))
        gradient = np.einsum("ij,dij->id", y - share, design) - modes
        weighed = design * (share * (1 - share))
        hessian = np.einsum("dij,eij->ide", weighed, design) + identity
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        # Newton's step may overshoot where the curvature is small; half a dozen are enough.
        modes = modes + step / np.maximum(1, abs(step).max(axis=1, keepdims=True))
        if abs(step).max(initial=0.0) < _INNER_TOLERANCE:
            break
    return modes, np.linalg.cholesky(hessian)


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
    """The share of right answers at some logits."""
    return np.asarray(0.5 * (1 + np.tanh(eta / 2)))


@dataclass(frozen=True, slots=True)
class Mode:
    """The mode of all effects but those of items, at given standard deviations.

    Attributes:
        z: standardised effects.
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
    """

    def __init__(
        self,
        responses: Responses,
        groups: tuple[str, ...],
        dimensions: int,
        *,
        nodes: int | None = None,
    ) -> None:
        self.responses = responses
        self.layout = Layout.of(responses, groups)
        phenomena = range(responses.phenomena)
        self.designs = [block_design(responses, self.layout, p) for p in phenomena]
        self.nodes = nodes or NODES[dimensions]
        cells = responses.right.shape[1] * self.nodes**dimensions
        self.chunks = _chunks(responses.phenomenon, max(1, _CELLS_AT_ONCE // cells))
        self._modes = np.zeros((len(responses.right), dimensions))
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
            start: standardised effects to begin at; None for those of the last mode.
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
        constants = self.constants(chunk)
        ability = np.empty((chunk.items.size, models))
        easiness = np.empty(chunk.items.size)
        for p, part in chunk.phenomena:
            places, design = self.designs[p]
            local = design @ effects[places]
            ability[part] = local[:models]
            easiness[part] = constants[part] @ local[models:]
        right, start = self.responses.right[chunk.items], self._modes[chunk.items]
        posterior = item_posterior(right, ability, easiness, sds, start, nodes=self.nodes)
        self._modes[chunk.items] = posterior.modes
        return ability, easiness, posterior

    def constants(self, chunk: Chunk) -> Floats:
        """The columns by which items take up easiness: ones, and their covariates."""
        return np.column_stack([np.ones(chunk.items.size), self.responses.covariates[chunk.items]])

    def scores(self, chunk: Chunk, posterior: ItemPosterior) -> Floats:
        """The derivatives of the log-likelihood of a chunk's items at their nodes.

        Returns:
            Items x nodes x (abilities on their phenomenon, its easiness, slopes of covariates).
        """
        right = self.responses.right[chunk.items][:, None, :]
        residual = np.where(np.isfinite(right), right - posterior.share, 0.0)
        by_item = residual.sum(axis=2, keepdims=True) * self.constants(chunk)[:, None, :]
        return np.concatenate([posterior.discrimination[..., None] * residual, by_item], axis=2)

    def _at(
        self, z: Floats, scales: Floats, sds: Mapping[str, float]
    ) -> tuple[float, Floats, Floats]:
        """The log posterior of standardised effects, its gradient, and minus its Hessian.

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
            weight = posterior.share * (1 - posterior.share)
            by_answer = np.stack([((r * a**k)[:, None, :] @ weight)[:, 0] for k in range(3)])
            by_answer *= known
            mean = (r[:, None, :] @ scores)[:, 0]
            turned = scores * np.sqrt(r)[..., None]
            x = self.constants(chunk)
            for p, part in chunk.phenomena:
                places, design = self.designs[p]
                scaled = design * scales[places]
                curvature = _expected(by_answer[:, part], x[part]) + mean[part].T @ mean[part]
                flat = turned[part].reshape(-1, turned.shape[2])
                curvature -= flat.T @ flat
                gradient[places] += scaled.T @ mean[part].sum(axis=0)
                precision[np.ix_(places, places)] += scaled.T @ curvature @ scaled
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


def _expected(by_answer: Floats, x: Floats) -> Floats:
    """The expected curvature of some items of one phenomenon.

    Args:
        by_answer: E(w), E(a w) and E(a² w) of each item and respondent.
        x: items x (one, covariates).
    """
    models = by_answer.shape[2]
    curvature = np.zeros((models + x.shape[1],) * 2)
    curvature[:models, :models] = np.diag(by_answer[2].sum(axis=0))
    curvature[:models, models:] = by_answer[1].T @ x
    curvature[models:, :models] = curvature[:models, models:].T
    curvature[models:, models:] = x.T @ (by_answer[0].sum(axis=1)[:, None] * x)
    return curvature


def _solve(precision: Floats, gradient: Floats) -> Floats:
    """The Newton step; where the surface is not concave, away from what is no maximum."""
    from scipy import linalg

    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(precision), gradient))
    except linalg.LinAlgError:
        values, vectors = np.linalg.eigh(precision)
        return np.asarray(vectors @ ((vectors.T @ gradient) / np.maximum(abs(values), _FLATTEST)))


def _inverse(precision: Floats) -> Floats:
    values, vectors = np.linalg.eigh(precision)
    return np.asarray((vectors / np.maximum(values, _FLATTEST)) @ vectors.T)
