"""Models against each other on the same stories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from cimento.statistics.differences import Difference, discordant, share_difference, share_test
from cimento.statistics.multiple import holm
from cimento.statistics.values import Significance
from cimento.stories.records import STORY, Tier
from cimento.stories.tiers import Chain


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two models on the stories that both have an answer to.

    Attributes:
        first: one model.
        second: the other.
        n: stories compared.
        only_first_correct: right in the first only.
        only_second_correct: right in the second only.
        change: second minus first, with its interval; None where nothing can be compared.
        test: of the two shares; None as for `change`.
        p_holm: its p, corrected for all pairs of models compared together; None where there is
            one pair.
        reason: why nothing can be compared.
    """

    first: str
    second: str
    n: int
    only_first_correct: int = 0
    only_second_correct: int = 0
    change: Difference | None = None
    test: Significance | None = None
    p_holm: float | None = None
    reason: str = ""


def compare(chains: Mapping[str, Chain], *, tier: Tier = STORY) -> tuple[Comparison, ...]:
    """Every pair of models at a tier, counted through the chain, stories of a triple together.

    Args:
        chains: model to its chain, all over the same stories.
        tier: right at this tier and all before.
    """
    found = [
        _compare(first, second, chains[first], chains[second], tier)
        for first, second in combinations(sorted(chains), 2)
    ]
    if len(found) == 1:
        return tuple(found)
    adjusted = holm([None if each.test is None else each.test.p for each in found])
    return tuple(replace(each, p_holm=p) for each, p in zip(found, adjusted, strict=True))


def _compare(first: str, second: str, one: Chain, other: Chain, tier: Tier) -> Comparison:
    silent = [
        f"{name}: {each.reasons[tier]}"
        for name, each in ((first, one), (second, other))
        if not each.known(tier)
    ]
    a, b = one.passed[tier], other.passed[tier]
    rows = [row for row, value in a.items() if value is not None and b.get(row) is not None]
    if silent or not rows:
        reason = "; ".join(silent) or "no story in common"
        return Comparison(first=first, second=second, n=0, reason=reason)
    columns = [[bool(each.passed[tier][row]) for row in rows] for each in (one, other)]
    only_first, only_second = discordant(*columns)
    design = one.design(rows)
    return Comparison(
        first=first,
        second=second,
        n=len(rows),
        only_first_correct=only_first,
        only_second_correct=only_second,
        change=share_difference(columns[1], columns[0], design),
        test=share_test(columns[1], columns[0], design),
    )
