"""The effects behind a table of answers: which there are, and what each answer depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cimento.statistics.design import Floats, Integers

_INTERCEPT_SD, _SLOPE_SD = 5.0, 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Responses:
    """A table of answers, items by respondents, with what is known of both.

    Attributes:
        right: items x respondents: 1 right, 0 wrong, between them a tie; NaN where undefined.
        phenomenon: the number of each item's phenomenon.
        family: the number of each respondent's family.
        covariates: items x covariates, standardized.
        cluster: the number of each item's cluster; -1 for an item that stands alone; None where
            all do.
        area: the number of each phenomenon's area, such as its language; None where there is one.
    """

    right: Floats
    phenomenon: Integers
    family: Integers
    covariates: Floats
    cluster: Integers | None = None
    area: Integers | None = None

    @property
    def phenomena(self) -> int:
        """The number of phenomena."""
        return int(self.phenomenon.max()) + 1

    @property
    def families(self) -> int:
        """The number of families."""
        return int(self.family.max()) + 1

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return 0 if self.cluster is None else int(self.cluster.max(initial=-1)) + 1

    def constants(self, items: Integers, columns: Integers) -> Floats:
        """What the easiness of some items depends on: a one, covariates, and being in clusters.

        Args:
            items: their places.
            columns: the clusters of which there are columns.
        """
        parts = [np.ones((items.size, 1)), self.covariates[items]]
        if self.cluster is not None and columns.size:
            parts.append((self.cluster[items][:, None] == columns).astype(np.float64))
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of effects in one long vector, all of them standardized.

    Attributes:
        size: length of the vector.
        spans: kind of effect to its places: intercept, covariates, and groups of random effects.
    """

    size: int
    spans: Mapping[str, slice]

    @classmethod
    def of(cls, responses: Responses, groups: tuple[str, ...]) -> Layout:
        """The layout for some random effects: phenomenon, cluster, model, family, interaction."""
        models = responses.right.shape[1]
        sizes = {
            "intercept": 1,
            "covariates": responses.covariates.shape[1],
            "phenomenon": responses.phenomena,
            "cluster": responses.clusters,
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


@dataclass(frozen=True, slots=True)
class Block:
    """What answers to the items of one phenomenon depend on.

    Attributes:
        places: the effects, by their places in the vector of all.
        design: from these to the respondents' abilities on the phenomenon, the easiness of the
            phenomenon, the slopes of covariates, and the easiness of its clusters.
        clusters: numbers of the clusters of its items.
    """

    places: Integers
    design: Floats
    clusters: Integers


def block_of(responses: Responses, layout: Layout, p: int) -> Block:
    """The block of one phenomenon."""
    models, slopes = responses.right.shape[1], responses.covariates.shape[1]
    clusters = np.zeros(0, dtype=np.int64)
    if "cluster" in layout.spans and responses.cluster is not None:
        clusters = np.unique(responses.cluster[responses.phenomenon == p])
        clusters = clusters[clusters >= 0]
    rows = np.eye(models + 1 + slopes + clusters.size)
    families = np.eye(responses.families)[responses.family].T
    inside: dict[str, tuple[Integers, Floats]] = {
        "intercept": (np.arange(1), rows[[models]]),
        "covariates": (np.arange(slopes), rows[models + 1 : models + 1 + slopes]),
        "phenomenon": (np.array([p]), rows[[models]]),
        "cluster": (clusters, rows[models + 1 + slopes :]),
        "model": (np.arange(models), rows[:models]),
        "family": (np.arange(responses.families), families @ rows[:models]),
        "interaction": (p * models + np.arange(models), rows[:models]),
    }
    places = [layout.spans[name].start + inside[name][0] for name in layout.spans]
    design = np.concatenate([inside[name][1] for name in layout.spans])
    return Block(np.concatenate(places), design.T, clusters)
