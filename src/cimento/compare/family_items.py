"""Items that are easier or harder for one family of models: differential item functioning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cimento.compare.ranges import Range, range_at
from cimento.io.values import grouped

if TYPE_CHECKING:
    from cimento.compare.answer_table import AnswerTable
    from cimento.statistics.item_response import ItemResponseFit


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyItem:
    """An item that is easier or harder for one family than their abilities say.

    Attributes:
        suite: name of the item's suite.
        item: id of the item.
        family: family of models.
        easier: by how many logits it is easier for the family; below 0 it is harder.
        sure: the posterior probability of that sign, given the abilities.
    """

    suite: str
    item: str
    family: str
    easier: Range
    sure: float


def items_by_family(table: AnswerTable, fit: ItemResponseFit, *, level: float) -> dict[str, Any]:
    """The families, and the items that are easier or harder for one of them.

    Args:
        table: of answers.
        fit: of the same table.
        level: the least probability that an item is easier, or harder.

    Returns:
        The fields ``families``, ``by_family`` and ``no_families`` of an analysis.
    """
    members = grouped((one.family or one.name, one.name) for one in table.respondents)
    families = {name: tuple(models) for name, models in members.items() if len(models) > 1}
    if fit.shared is None or not families:
        why = "no two models are of one family"
        if families:
            why = fit.reason or "all models are of one family"
        return {"families": families, "no_families": why}
    found = []
    for f, name in enumerate(members):
        if name not in families:
            continue
        for i, (suite, item) in enumerate(table.keys):
            easier = range_at(fit.shared, (i, f))
            sure = 0.5 * math.erfc(-abs(fit.shared.value[i, f] / fit.shared.se[i, f]) / 2**0.5)
            if easier is not None and sure >= level:
                found.append(
                    FamilyItem(suite=suite, item=item, family=name, easier=easier, sure=sure)
                )
    return {"families": families, "by_family": tuple(sorted(found, key=lambda one: -one.sure))}
