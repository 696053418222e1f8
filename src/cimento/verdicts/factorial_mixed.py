"""Mixed models of a factorial design: the interaction, with what varies by item and cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cimento.measures.normalising import Normalisation
from cimento.statistics.design import Design
from cimento.statistics.mixed import FixedEffect, MixedFit, mixed_model, sum_coded
from cimento.verdicts.factorial import Factorial, PhenomenonEffects

INTERCEPTS = "score ~ second * first + (1 | item)"
SLOPES = "score ~ second * first + (1 + second + first || item)"
FORMULAS = (INTERCEPTS, SLOPES)
"""With one score for each item and condition, the slope of the interaction is the residual."""

BY_CLUSTER = "(1 + second * first || cluster)"
"""Added where items come in clusters: all effects, DD among them, may differ between clusters."""

INTERACTION = "second:first"


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignModel:
    """The mixed model of one phenomenon, for one model and measure.

    Attributes:
        suite: its name.
        model: label of the model.
        measure: name of the measure.
        phenomenon: its name.
        normalisation: scale of the scores.
        fit: the fitted model; ``first`` and ``second`` are the factors of the design.
        interaction: its interaction, which is DD where the data are balanced; None without a fit.
        factors: names of the two factors of the design.
    """

    suite: str
    model: str
    measure: str
    phenomenon: str
    normalisation: Normalisation
    fit: MixedFit
    interaction: FixedEffect | None
    factors: tuple[str, str] = ("first", "second")

    @property
    def formula(self) -> str:
        """The formula with the factors by their names."""
        names = dict(zip(("first", "second"), self.factors, strict=True))
        return re.sub(r"\b(first|second)\b", lambda found: names[found[0]], self.fit.formula)


def design_models(
    results: Sequence[Factorial],
    *,
    normalisation: Normalisation = "raw",
    formulas: Sequence[str] = FORMULAS,
) -> tuple[DesignModel, ...]:
    """Fit every formula to every phenomenon of every result.

    Factors are coded +1/2 and -1/2: the first factor's changed level and the second factor's plain
    level are +1/2, so that the interaction is DD and positive for super-additivity. Where the suite
    says which items belong together, every formula gets `BY_CLUSTER`: without a slope of the
    interaction, a DD that differs between clusters is taken for one of all (Barr et al. 2013,
    doi:10.1016/j.jml.2012.11.001). Intercepts alone can make the interaction look surer or less
    sure than it is, as their residual holds the items' differences in each factor too: see both
    models, and the test over items.

    Args:
        results: of one or more models and measures.
        normalisation: scale of the scores.
        formulas: with the columns ``score``, ``first``, ``second`` and ``item``.

    Returns:
        One model a formula and phenomenon; without a fit where there are fewer than five
        independent items or clusters.
    """
    return tuple(
        _model(result, phenomenon, normalisation, formula)
        for result in results
        for phenomenon in result.phenomena
        for formula in formulas
    )


def _model(
    result: Factorial, phenomenon: PhenomenonEffects, normalisation: Normalisation, formula: str
) -> DesignModel:
    fit = _fit(phenomenon, normalisation, formula)
    return DesignModel(
        suite=result.suite,
        model=result.model,
        measure=result.measure,
        phenomenon=phenomenon.name,
        normalisation=normalisation,
        fit=fit,
        interaction=fit.effect(INTERACTION) if fit.fixed else None,
        factors=phenomenon.square.factors,
    )


def _fit(phenomenon: PhenomenonEffects, normalisation: Normalisation, formula: str) -> MixedFit:
    effects = phenomenon.effects[normalisation]
    cells = phenomenon.square.cells
    rows = [
        (score, *cell.levels, each.item)
        for each in effects.items
        for cell, score in zip(cells, each.scores, strict=True)
        if score is not None
    ]
    items = [item for *_, item in rows]
    design = Design.of(dict.fromkeys(items), phenomenon.clusters or None)
    cluster = dict(zip(design.units, design.clusters, strict=True))
    wanted = f"{formula} + {BY_CLUSTER}" if design.clustered else formula
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
            "cluster": [cluster[item] for item in items],
        },
    )
