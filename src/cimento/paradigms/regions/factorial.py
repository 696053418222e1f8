"""Factorial suites by phenomenon: pair accuracies, effects, tests and mixed models."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cimento.errors import UsageError
from cimento.io.values import Value, grouped
from cimento.measures.normalizing import NORMALIZATIONS, Normalization, Scope, normalize
from cimento.paradigms.regions.design_rates import (
    Clusters,
    DesignRate,
    average_of_shares,
    rate_above,
    rates_of_pairs,
)
from cimento.paradigms.regions.two_by_two import (
    Effects,
    Scores,
    effects_of,
    items_by_phenomenon,
    mean_over_items,
)
from cimento.statistics.design import Design
from cimento.statistics.means import Mean, mean_if_all
from cimento.statistics.mixed import FixedEffect, MixedFit, mixed_model, sum_coded
from cimento.statistics.multiple import holm
from cimento.suites import Suite
from cimento.suites.design import Square, squares


@dataclass(frozen=True, slots=True, kw_only=True)
class PhenomenonEffects:
    """One phenomenon of one suite.

    Attributes:
        name: name of the phenomenon, with the changed level of the longer factor of a 2 x N design.
        square: the design.
        n_items: number of items, scored or not.
        pairs: how often each cell scores above the one that it should be better than.
        super_additive: rate of items in which DD is above 0, in raw scores.
        effects: effects on each scale.
        clusters: cluster of each item, if some items belong together; otherwise empty.
    """

    name: str
    square: Square
    n_items: int
    pairs: tuple[DesignRate, ...]
    super_additive: DesignRate
    effects: Mapping[Normalization, Effects]
    clusters: Clusters = field(default_factory=dict)

    @property
    def average(self) -> float | None:
        """The unweighted mean of the pair accuracies; None if one is undefined."""
        return mean_if_all([pair.accuracy for pair in self.pairs])

    @property
    def is_of_worst(self) -> bool:
        """Whether the pairs are each other cell and that in which both factors are changed."""
        *others, worst = (cell.name for cell in self.square.cells)
        return {(pair.better, pair.worse) for pair in self.pairs} == {(o, worst) for o in others}

    def design(self, scale: Normalization) -> Design:
        """The design of the items that have a DD on a scale."""
        items = [one.item for one in self.effects[scale].items if one.dd is not None]
        return Design.of(items, self.clusters or None)

    def average_of_pairs(self, *, seed: int = 0) -> Mean:
        """The unweighted mean of the pair accuracies, with its interval over items.

        Args:
            seed: seed of the resampling for the interval.
        """
        return average_of_shares([self.pairs], self.clusters, seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Factorial:
    """All phenomena of one suite, for one model and one measure.

    Attributes:
        suite: name of the suite.
        model: label of the model.
        measure: name of the measure.
        unit: unit of the raw scores.
        phenomena: phenomena in order of first appearance.
        reason: reason why there are no results, such as a measure that the model does not have.
    """

    suite: str
    model: str
    measure: str
    unit: str
    phenomena: tuple[PhenomenonEffects, ...]
    reason: str | None = None

    def averages(self, *, seed: int = 0) -> tuple[Mean, Mean]:
        """The means over phenomena of the pair accuracies, and of the rates of DD above 0.

        Args:
            seed: seed of the resampling for the intervals.
        """
        clusters = dict(item for group in self.phenomena for item in group.clusters.items())
        pairs = [phenomenon.pairs for phenomenon in self.phenomena]
        above = [(phenomenon.super_additive,) for phenomenon in self.phenomena]
        return (
            average_of_shares(pairs, clusters, seed=seed),
            average_of_shares(above, clusters, seed=seed),
        )


def factorial(
    suite: Suite,
    scores: Scores,
    *,
    scope: Scope = "suite",
    normalizations: Sequence[Normalization] = NORMALIZATIONS,
) -> tuple[PhenomenonEffects, ...]:
    """The accuracies and effects of every phenomenon of a factorial suite.

    Args:
        suite: suite that crosses two factors; items are grouped by the column ``phenomenon``.
        scores: scores by item and condition, signed so that more is better.
        scope: set of scores that are pooled for normalization.
        normalizations: scales to compute.

    Raises:
        UsageError: the suite is not factorial.
        InputError: its declaration of factors cannot be used.
    """
    designs = squares(suite)
    if not designs:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="it declares no two factors, so there is no design to look at",
            todo="Add [factors] with two factors to suite.toml.",
        )
    groups = items_by_phenomenon(suite)
    pools: Sequence[Sequence[str]] = list(groups.values())
    if scope == "suite":
        pools = [[item for group in pools for item in group]]
    scaled = {kind: normalized_scores(scores, pools, kind) for kind in ("raw", *normalizations)}
    clusters = suite.clusters()
    return tuple(
        PhenomenonEffects(
            name=f"{name} {square.name}" if len(designs) > 1 else name,
            square=square,
            n_items=len(items),
            pairs=rates_of_pairs(suite, square, scores, items),
            super_additive=rate_above(square, scores, items, clusters),
            effects={
                kind: effects_of(square, scaled[kind], items, normalization=kind, scope=scope)
                for kind in normalizations
            },
            clusters={item: clusters[item] for item in items} if suite.cluster else {},
        )
        for name, items in groups.items()
        for square in designs
    )


def normalized_scores(
    scores: Scores, pools: Sequence[Sequence[str]], kind: Normalization
) -> dict[str, dict[str, Value]]:
    """The scores of each pool on another scale.

    Args:
        scores: scores by item and condition.
        pools: items of each pool.
        kind: the scale.
    """
    scaled: dict[str, dict[str, Value]] = {}
    for pool in pools:
        places = [(item, name) for item in pool for name in scores.get(item, {})]
        values = normalize([scores[item][name] for item, name in places], kind)
        for (item, name), value in zip(places, values, strict=True):
            scaled.setdefault(item, {})[name] = value
    return scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class DDTest:
    """DD of one phenomenon, model and measure, over items.

    Attributes:
        result: results of the model and measure.
        phenomenon: name of the phenomenon.
        normalization: scale of DD.
        dd: mean DD with its interval and test, over clusters if the suite declares them.
        p_holm: p-value with Holm's correction over the phenomena and measures of the model.
        others: of people's ratings, DD for other items and other people; None for models.
    """

    result: Factorial
    phenomenon: str
    normalization: Normalization
    dd: Mean
    p_holm: float | None = None
    others: Mean | None = None

    @property
    def clusters(self) -> int | str | None:
        """The clusters that the items are in, as `Design.clusters_said` has them."""
        return self._effects.design(self.normalization).clusters_said

    @property
    def expected(self) -> str:
        """The condition that should be the worst; empty where a factor is the judgment."""
        return "" if self._effects.square.judged else self._effects.square.unacceptable.name

    @property
    def worst(self) -> str:
        """The condition with the lowest mean over the items of DD; empty if it is as expected."""
        means = self.means
        if not means or not self.expected or min(mean for _, mean in means) == means[-1][1]:
            return ""
        return min(means, key=lambda pair: pair[1])[0]

    @property
    def means(self) -> tuple[tuple[str, float], ...]:
        """The conditions in the order of the design, with their means over the items of DD."""
        of_phenomenon = self._effects
        items = of_phenomenon.effects[self.normalization].items
        known = [one.scores for one in items if one.dd is not None]
        totals = [math.fsum(filter(None, scores)) for scores in zip(*known, strict=True)]
        cells = of_phenomenon.square.cells if totals else ()
        return tuple(
            (cell.name, sum_of / len(known)) for cell, sum_of in zip(cells, totals, strict=True)
        )

    @property
    def _effects(self) -> PhenomenonEffects:
        return next(one for one in self.result.phenomena if one.name == self.phenomenon)


def dd_tests(
    results: Sequence[Factorial], *, normalization: Normalization = "raw", seed: int = 0
) -> tuple[DDTest, ...]:
    """The test of DD for every phenomenon of every result.

    Holm's correction is over the phenomena and measures of a model on a suite, whatever is beside.

    Args:
        results: results of one or more models and measures.
        normalization: scale of DD; Likert points change tests, shifting and rescaling do not.
        seed: seed of the resampling.
    """
    tests = [
        DDTest(
            result=result,
            phenomenon=phenomenon.name,
            normalization=normalization,
            dd=_mean_dd(phenomenon, normalization, seed),
        )
        for result in results
        for phenomenon in result.phenomena
    ]
    families = [(test.result.suite, test.result.model) for test in tests]
    by_family = grouped(zip(families, (test.dd.p for test in tests), strict=True))
    corrected = {family: iter(holm(p)) for family, p in by_family.items()}
    return tuple(
        replace(test, p_holm=next(corrected[of])) for test, of in zip(tests, families, strict=True)
    )


def _mean_dd(phenomenon: PhenomenonEffects, normalization: Normalization, seed: int) -> Mean:
    effects = phenomenon.effects[normalization]
    known = {item.item: item.dd for item in effects.items if item.dd is not None}
    sizes = (abs(score) for item in effects.items for score in item.scores if score is not None)
    mean = mean_over_items(known, phenomenon.clusters or None, sizes=sizes, seed=seed)
    return mean if known else replace(mean, reason=effects.reason or mean.reason)


INTERCEPTS = "score ~ second * first + (1 | item)"
SLOPES = "score ~ second * first + (1 + second + first || item)"
FORMULAS = (INTERCEPTS, SLOPES)
"""With one score for each item and condition, the slope of the interaction is the residual."""

BY_CLUSTER = "(1 + second * first || cluster)"
"""Term added if items form clusters: all effects, including DD, may differ between clusters."""

INTERACTION = "second:first"


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignModel:
    """The mixed model of one phenomenon, for one model and measure.

    Attributes:
        result: results of the model and measure.
        phenomenon: the phenomenon.
        normalization: scale of the scores.
        fit: the fitted model; ``first`` and ``second`` are the factors of the design.
    """

    result: Factorial
    phenomenon: PhenomenonEffects
    normalization: Normalization
    fit: MixedFit

    @property
    def interaction(self) -> FixedEffect | None:
        """The interaction, which equals DD if the data are balanced; None without a fit."""
        return self.fit.effect(INTERACTION) if self.fit.fixed else None

    @property
    def formula(self) -> str:
        """The formula with the names of the factors."""
        names = dict(zip(("first", "second"), self.phenomenon.square.factors, strict=True))
        return re.sub(r"\b(first|second)\b", lambda match: names[match[0]], self.fit.formula)


def design_models(
    results: Sequence[Factorial],
    *,
    normalization: Normalization = "raw",
    formulas: Sequence[str] = FORMULAS,
) -> tuple[DesignModel, ...]:
    """The mixed models of every phenomenon of every result, one for each formula.

    Factors are coded +1/2 and -1/2: the first factor's changed level and the second factor's plain
    level are +1/2, so that the interaction equals DD and is positive for super-additivity. If the
    suite declares clusters of items, every formula gets `BY_CLUSTER`, for each factor of crossed
    clusters: without a random slope of the interaction, the model assumes that DD is the same in
    all clusters (Barr et al. 2013, doi:10.1016/j.jml.2012.11.001). Random intercepts alone can make
    the interaction look more or less certain than it is, since the residual then also contains the
    items' differences in each factor. So look at both models, and at the test over items.

    Args:
        results: results of one or more models and measures.
        normalization: scale of the scores.
        formulas: formulas over the columns ``score``, ``first``, ``second`` and ``item``.

    Returns:
        One model for each formula and phenomenon; without a fit if there are fewer than five
        independent items or clusters.
    """
    return tuple(
        DesignModel(
            result=result,
            phenomenon=phenomenon,
            normalization=normalization,
            fit=_fit(phenomenon, normalization, formula),
        )
        for result in results
        for phenomenon in result.phenomena
        for formula in formulas
    )


def _fit(phenomenon: PhenomenonEffects, normalization: Normalization, formula: str) -> MixedFit:
    effects = phenomenon.effects[normalization]
    cells = phenomenon.square.cells
    rows = [
        (score, *cell.levels, item.item)
        for item in effects.items
        for cell, score in zip(cells, item.scores, strict=True)
        if score is not None
    ]
    items = [item for *_, item in rows]
    design = Design.of(dict.fromkeys(items), phenomenon.clusters or None)
    factors = {
        f"cluster_{number}" if number > 1 else "cluster": dict(
            zip(factor.units, factor.clusters, strict=True)
        )
        for number, factor in enumerate(design.factors(), start=1)
    }
    terms = [BY_CLUSTER.replace("cluster", name) for name in factors if design.clustered]
    wanted = " + ".join([formula, *terms])
    reason = effects.reason if effects.dd is None else design.shortage
    if reason is not None:
        return MixedFit(wanted, "REML", len(rows), reason=reason)
    return mixed_model(
        wanted,
        {
            "score": [score for score, *_ in rows],
            "first": sum_coded([first for _, first, _, _ in rows], high=cells[1].levels[0]),
            "second": sum_coded([second for _, _, second, _ in rows], high=cells[0].levels[1]),
            "item": items,
            **{name: [label[item] for item in items] for name, label in factors.items()},
        },
    )
