"""Two models on the same items: who is right about what, by how much, and how surely.

All that is needed is whether each model got each item right, so that every paradigm is compared by
the same tests.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.compare.item_outcomes import ItemOutcomes
from cimento.compare.values import PairedValues, paired_outcomes
from cimento.statistics.agreement import Agreement, cohen_kappa
from cimento.statistics.design import Design
from cimento.statistics.differences import (
    Difference,
    cohen_h,
    discordant,
    discordant_odds,
    share_difference,
    share_test,
)
from cimento.statistics.intervals import effective_number
from cimento.statistics.multiple import benjamini_hochberg, holm
from cimento.statistics.power import Equivalence, detectable_difference, tost_shares
from cimento.statistics.values import Significance, Value
from cimento.verdicts.kinds import rates_only

Correction: TypeAlias = Literal["holm", "bh"]

CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseComparison:
    """Two models on one question, over the items that both were scored on.

    Attributes:
        suite: its name.
        question: what counts as right.
        first: label of the one.
        second: label of the other.
        n: items.
        first_share: how many of them the first gets right; None without items.
        second_share: the same of the second.
        gained: items that only the second gets right.
        lost: items that only the first gets right.
        change: second minus first, with its interval.
        effect: Cohen's h of the two shares; None without items.
        odds: items gained for each one lost.
        test: McNemar's exact test, or t over clusters where items belong together.
        corrected: its p, corrected over all comparisons made together.
        family: number of comparisons made together.
        kappa: how far both are right about the same items, beyond chance.
        detectable: the smallest difference these items would show with a power of 0.8, if the two
            differ on as many items as they do; None where they differ on none, or on too few.
        values: the values behind it, such as margins; None where there are none to compare.
        note: on models of two kinds; None where they are of one.
        design: of the items.
    """

    suite: str
    question: str
    first: str
    second: str
    n: int
    first_share: float | None
    second_share: float | None
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    change: Difference
    effect: float | None
    odds: Value
    test: Significance
    corrected: float | None = None
    family: int = 1
    kappa: Agreement
    detectable: float | None
    values: PairedValues | None = None
    note: str | None = None
    design: Design


def compare_pair(
    first: ItemOutcomes,
    second: ItemOutcomes,
    items: Sequence[str] | None = None,
    *,
    with_values: bool = False,
    seed: int = 0,
) -> PairwiseComparison:
    """Two models on one question.

    Args:
        first: of the one model.
        second: of the other.
        items: ids; None for all that both were scored on.
        with_values: also what is behind right and wrong.
        seed: of resampling.
    """
    if items is None:
        items = [item for item in first.right if item in second.right]
    design, n = first.design(items), len(items)
    before, after = ([one.right[item] for item in items] for one in (first, second))
    triples = list(zip(items, before, after, strict=True))
    gained = tuple(item for item, a, b in triples if b and not a)
    lost = tuple(item for item, a, b in triples if a and not b)
    only_first, only_second = discordant(before, after)
    shares = (sum(before) / n, sum(after) / n) if n else (None, None)
    return PairwiseComparison(
        suite=first.suite,
        question=first.question,
        first=first.model,
        second=second.model,
        n=n,
        first_share=shares[0],
        second_share=shares[1],
        gained=gained,
        lost=lost,
        change=share_difference(after, before, design),
        effect=cohen_h(sum(after) / n, sum(before) / n) if n else None,
        odds=discordant_odds(only_second, only_first),
        test=share_test(after, before, design),
        kappa=cohen_kappa(before, after, design=design),
        detectable=detectable([float(b) - float(a) for _, a, b in triples], design),
        values=paired_outcomes(first, second, seed=seed) if with_values else None,
        note=rates_only((first.kind, second.kind)),
        design=design,
    )


def detectable(changes: Sequence[float], design: Design) -> float | None:
    """The smallest difference of two shares that as many items would show, with a power of 0.8.

    Args:
        changes: 1, 0 or -1 of each item: what the second model gets right less what the first does.
        design: of the items.

    Returns:
        The difference; None where the two differ on no item, or on too few to show anything, or
        where there are too few independent items or clusters for a test.
    """
    share = sum(map(bool, changes)) / len(changes) if changes else 0.0
    if not share or design.shortage:
        return None
    return detectable_difference(effective_number(changes, design), discordant=share)


def corrected(
    comparisons: Sequence[PairwiseComparison], correction: Correction
) -> tuple[PairwiseComparison, ...]:
    """The same comparisons, their p-values corrected over all of them.

    Args:
        comparisons: made together.
        correction: ``holm``, or ``bh`` for the share of false finds.
    """
    p_values = CORRECTIONS[correction]([comparison.test.p for comparison in comparisons])
    return tuple(
        dataclasses.replace(comparison, corrected=p, family=len(comparisons))
        for comparison, p in zip(comparisons, p_values, strict=True)
    )


def surely_worse(
    comparisons: Sequence[PairwiseComparison], *, margin: float
) -> tuple[PairwiseComparison, ...]:
    """The comparisons in which the second is worse by more than a margin, chance left aside.

    That is where the interval of the difference lies wholly below minus the margin. Intervals are
    such that all of them hold together in 95 of 100 cases (Bonferroni).

    Args:
        comparisons: made together.
        margin: a difference of shares that does not matter; 0 for none.
    """
    level = 1 - 0.05 / max(1, len(comparisons))
    worse = []
    for comparison in comparisons:
        interval = share_difference(*_columns(comparison), comparison.design, level=level)
        if interval.high is not None and interval.high < -margin:
            worse.append(comparison)
    return tuple(worse)


def equivalences(
    comparisons: Sequence[PairwiseComparison], *, margin: float
) -> tuple[Equivalence, ...]:
    """Of each comparison, whether the two shares differ by less than a margin.

    See `power.tost_shares`.

    Args:
        comparisons: each tested by itself.
        margin: the smallest difference of shares that would matter.

    Raises:
        UsageError: a margin that is not above 0.
    """
    return tuple(
        tost_shares(*_columns(comparison), comparison.design, margin=margin)
        for comparison in comparisons
    )


def _columns(comparison: PairwiseComparison) -> tuple[list[bool], list[bool]]:
    """What the second and what the first gets right, as far as their difference depends on it."""
    gained, lost = set(comparison.gained), set(comparison.lost)
    return (
        [item in gained for item in comparison.design.units],
        [item in lost for item in comparison.design.units],
    )
