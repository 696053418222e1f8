"""Whether DD differs from zero: tests over items, corrected for how many are made."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from cimento.measures.normalising import Normalisation
from cimento.statistics.clustered import cluster_means
from cimento.statistics.multiple import holm
from cimento.statistics.paired import one_sample_t
from cimento.statistics.permutation import sign_flip
from cimento.statistics.resampling import Bootstrap, bootstrap_mean
from cimento.statistics.values import Significance
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
        t: Student's one-sample test of the DDs of the items; of the means of clusters, where the
            suite says which items belong together.
        sign_flip: the permutation test of the same null hypothesis.
        interval: bootstrap over items; its estimate is the mean DD.
        p_holm: p of the sign-flip test, corrected by Holm over all tests made together.
    """

    suite: str
    model: str
    measure: str
    phenomenon: str
    normalisation: Normalisation
    n_items: int
    t: Significance
    sign_flip: Significance
    interval: Bootstrap
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
    corrected = holm([each.sign_flip.p for each in found])
    return tuple(
        dataclasses.replace(each, p_holm=p) for each, p in zip(found, corrected, strict=True)
    )


def _test(
    result: Factorial, phenomenon: PhenomenonEffects, normalisation: Normalisation, seed: int
) -> DDTest:
    items = phenomenon.effects[normalisation].items
    known = {each.item: each.dd for each in items if each.dd is not None}
    scores = (abs(score) for each in items for score in each.scores if score is not None)
    values = without_noise(list(known.values()), scale=max(scores, default=0.0))
    clusters = [phenomenon.clusters[item] for item in known] if phenomenon.clusters else None
    return DDTest(
        suite=result.suite,
        model=result.model,
        measure=result.measure,
        phenomenon=phenomenon.name,
        normalisation=normalisation,
        n_items=len(values),
        t=one_sample_t(values if clusters is None else cluster_means(values, clusters)),
        sign_flip=sign_flip(values, seed=seed, clusters=clusters),
        interval=bootstrap_mean(values, seed=seed, clusters=clusters),
    )
