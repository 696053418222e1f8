"""Models against each other on the same stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from cimento.statistics.multiple import holm
from cimento.statistics.paired import discordant, mcnemar
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
        p: McNemar's exact test, two-sided; None where nothing can be compared.
        p_holm: the same, corrected for all pairs of models compared together.
        reason: why there is no p.
    """

    first: str
    second: str
    n: int
    only_first_correct: int
    only_second_correct: int
    p: float | None
    p_holm: float | None = None
    reason: str = ""


def compare(chains: Mapping[str, Chain], *, tier: Tier = STORY) -> tuple[Comparison, ...]:
    """Every pair of models at a tier, counted through the chain, with Holm's correction.

    Args:
        chains: model to its chain, all over the same stories.
        tier: right at this tier and all before.
    """
    found = [
        _compare(first, second, chains[first], chains[second], tier)
        for first, second in combinations(sorted(chains), 2)
    ]
    adjusted = holm([each.p for each in found])
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
        return Comparison(
            first=first,
            second=second,
            n=0,
            only_first_correct=0,
            only_second_correct=0,
            p=None,
            reason="; ".join(silent) or "no story in common",
        )
    only_first, only_second = discordant(*_columns(a, b, rows))
    return Comparison(
        first=first,
        second=second,
        n=len(rows),
        only_first_correct=only_first,
        only_second_correct=only_second,
        p=mcnemar(only_first, only_second).p,
    )


def _columns(
    a: Mapping[int, bool | None], b: Mapping[int, bool | None], rows: Sequence[int]
) -> tuple[list[bool], list[bool]]:
    return [bool(a[row]) for row in rows], [bool(b[row]) for row in rows]
