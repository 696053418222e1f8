"""Runs compared on the same items: before and after, or all models of each suite."""

from cimento.compare.before_after import Comparison, compare
from cimento.compare.item_outcomes import ItemOutcomes, item_outcomes
from cimento.compare.pairwise import PairedCorrelations, PairedValues, PairwiseComparison
from cimento.compare.ranking import RankedModel, Ranking, Rankings, rank_models

__all__ = [
    "Comparison",
    "ItemOutcomes",
    "PairedCorrelations",
    "PairedValues",
    "PairwiseComparison",
    "RankedModel",
    "Ranking",
    "Rankings",
    "compare",
    "item_outcomes",
    "rank_models",
]
