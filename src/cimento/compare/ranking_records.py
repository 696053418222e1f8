"""A ranking: the models of one suite by one question, the best first."""

from __future__ import annotations

from dataclasses import dataclass

from cimento.paired.pairwise import (
    PairwiseComparison,
)
from cimento.statistics.agreement import Agreement
from cimento.statistics.design import Significance
from cimento.statistics.intervals import Interval
from cimento.statistics.multiple import Rank
from cimento.statistics.reliability import ItemAnalysis

FEWEST_RANKED = 2
"""Models, or checkpoints, that can be ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedModel:
    """One model among those of its suite.

    Attributes:
        model: its label.
        n: items that all models were scored on.
        accuracy: proportion of these that it gets right; None where there are none.
        interval: 95%, of that share.
        rank: its place and the places it could hold; None where there is nothing to rank.
        family: what revisions of one model have in common; empty where that is not known.
        step: of training; None where the model's name does not tell.
    """

    model: str
    n: int
    accuracy: float | None
    interval: Interval
    rank: Rank | None
    family: str = ""
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """All models of one suite by one question.

    Attributes:
        suite: its name.
        question: what counts as right.
        n: items that all models were scored on.
        left_out: items that some model was not scored on.
        models: the best first.
        pairs: every two of them.
        together: Cochran's Q over all models; None for two, where it is McNemar's test.
        alpha: Krippendorff's, of which items the models get right.
        analysis: how reliably the items tell the models apart.
        items: names of the items, in the order of the analysis.
        note: on models of several kinds; None where they are of one.
        reach: of each model that cannot find every answer, how many it can find.
    """

    suite: str
    question: str
    n: int
    left_out: int
    models: tuple[RankedModel, ...]
    pairs: tuple[PairwiseComparison, ...]
    together: Significance | None
    alpha: Agreement
    analysis: ItemAnalysis
    items: tuple[str, ...]
    note: str | None = None
    reach: tuple[str, ...] = ()

    @property
    def checkpoints(self) -> tuple[RankedModel, ...]:
        """The models by step of training, where they are revisions of one model; else none."""
        steps = {model.step for model in self.models}
        families = {model.family for model in self.models}
        if len(families) > 1 or None in steps or len(steps) < max(FEWEST_RANKED, len(self.models)):
            return ()
        return tuple(sorted(self.models, key=lambda model: model.step or 0))
