"""Classical item analysis: how reliably the items of a suite tell models apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.statistics.design import FEWEST_CLUSTERS
from cimento.statistics.split_half import SplitHalf, split_half
from cimento.statistics.values import Estimate

if TYPE_CHECKING:
    from cimento.statistics.values import Floats

FEW_MODELS = f"fewer than {FEWEST_CLUSTERS} models"
ALIKE = "all models have the same total"


@dataclass(frozen=True, slots=True)
class ItemAnalysis:
    """What the items of a suite say together about several models.

    Attributes:
        models: number of models.
        items: number of items that all were scored on.
        all_pass: places of the items that every model gets right.
        none_pass: places of the items that no model gets right.
        kr20: Kuder and Richardson's formula 20, the internal consistency of the total.
        halves: split-half reliability of the total, items halved at random.
        item_total: of each item, its correlation with the total of the other items; None where
            it or the rest does not vary.
        reason: why the three above are missing.
    """

    models: int
    items: int
    all_pass: tuple[int, ...]
    none_pass: tuple[int, ...]
    kr20: Estimate
    halves: SplitHalf
    item_total: tuple[float | None, ...]
    reason: str | None = None

    @property
    def against(self) -> tuple[int, ...]:
        """Places of the items that better models get wrong more often than worse ones do."""
        return tuple(k for k, r in enumerate(self.item_total) if r is not None and r < 0)


def item_analysis(right: Sequence[Sequence[bool]], *, seed: int) -> ItemAnalysis:
    """The analysis of which models get which items right.

    ``KR-20 = k/(k - 1) (1 - Σ p_i (1 - p_i) / s²)`` for k items that shares p_i of the models get
    right, and s² the variance of the models' totals (Kuder and Richardson 1937,
    doi:10.1007/BF02288391); the correlation of an item with the rest is that of Henrysson (1963,
    doi:10.1007/BF02289618), without the item itself. Both, and the halves, compare models, so
    that fewer than five give none.

    Args:
        right: one row an item, one truth value a model.
        seed: of the halvings.

    Raises:
        UsageError: rows of different lengths.
    """
    import numpy as np

    table: Floats = np.asarray(right, dtype=np.float64).reshape(
        len(right), len(right[0]) if right else 0
    )
    items, models = table.shape
    passing = table.sum(axis=1)
    few = FEW_MODELS if models < FEWEST_CLUSTERS else None
    nothing = SplitHalf(None, None, None, None, None, models, 0, few)
    return ItemAnalysis(
        models=models,
        items=items,
        all_pass=tuple(np.flatnonzero(passing == models).tolist()),
        none_pass=tuple(np.flatnonzero(passing == 0).tolist()),
        kr20=Estimate(None, few) if few else _kr20(table),
        halves=nothing if few else split_half(table.T.tolist(), seed=seed),
        item_total=() if few else _item_total(table),
        reason=few,
    )


def _kr20(table: Floats) -> Estimate:
    items = table.shape[0]
    totals = table.sum(axis=0)
    spread = float(totals.var())
    if items < 2:  # noqa: PLR2004  # one item has no consistency with others
        return Estimate(None, "one item")
    if spread == 0:
        return Estimate(None, ALIKE)
    shares = table.mean(axis=1)
    return Estimate(items / (items - 1) * (1 - float((shares * (1 - shares)).sum()) / spread))


def _item_total(table: Floats) -> tuple[float | None, ...]:
    import numpy as np

    rest = table.sum(axis=0) - table
    a = table - table.mean(axis=1, keepdims=True)
    b = rest - rest.mean(axis=1, keepdims=True)
    below = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    above = (a * b).sum(axis=1)
    return tuple(
        float(x / y) if y > 0 else None for x, y in zip(above.tolist(), below.tolist(), strict=True)
    )
