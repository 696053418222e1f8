"""Whether DD differs from zero: tests over items, corrected for how many are made."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from cimento.measures.normalising import Normalisation
from cimento.statistics.design import Design
from cimento.statistics.means import Mean, mean_of
from cimento.statistics.multiple import holm
from cimento.verdicts.effects import without_noise
from cimento.verdicts.factorial import Factorial, PhenomenonEffects


@dataclass(frozen=True, slots=True, kw_only=True)
class DDTest:
    """DD of one phenomenon, model and measure, over items.

    Attributes:
        suite: its name.
        model: label of the model.
        measure: name of the measure.
        phenomenon: its name.
        normalisation: scale of DD.
        n_items: items with a DD.
        dd: the mean DD with its interval and test, over clusters where the suite declares them.
        p_holm: its p, corrected by Holm over all tests made together.
    """

    suite: str
    model: str
    measure: str
    phenomenon: str
    normalisation: Normalisation
    n_items: int
    dd: Mean
    p_holm: float | None = None


def dd_tests(
    results: Sequence[Factorial], *, normalisation: Normalisation = "raw", seed: int = 0
) -> tuple[DDTest, ...]:
    """Test the DD of every phenomenon of every result.

    Holm's correction is over all of them: phenomena x measures x models.

    Args:
        results: of one or more models and measures.
        normalisation: the scale of DD; tests of shifted and stretched scores are the same, those
            of Likert points are not.
        seed: of the draws.
    """
    found = [
        _test(result, phenomenon, normalisation, seed)
        for result in results
        for phenomenon in result.phenomena
    ]
    corrected = holm([each.dd.p for each in found])
    return tuple(
        dataclasses.replace(each, p_holm=p) for each, p in zip(found, corrected, strict=True)
    )


def _test(
    result: Factorial, phenomenon: PhenomenonEffects, normalisation: Normalisation, seed: int
) -> DDTest:
    effects = phenomenon.effects[normalisation]
    items = effects.items
    known = {each.item: each.dd for each in items if each.dd is not None}
    scores = (abs(score) for each in items for score in each.scores if score is not None)
    values = without_noise(list(known.values()), scale=max(scores, default=0.0))
    design = Design.of(known, phenomenon.clusters or None)
    dd = mean_of(values, design, seed=seed)
    if not values:
        dd = dataclasses.replace(dd, reason=effects.reason or dd.reason)
    return DDTest(
        suite=result.suite,
        model=result.model,
        measure=result.measure,
        phenomenon=phenomenon.name,
        normalisation=normalisation,
        n_items=len(values),
        dd=dd,
    )
