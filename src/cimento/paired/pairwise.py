"""Two models compared on the same items: verdicts, values, correlations, with their tests.

All that is needed is whether each model got each item right, and the values that it gave: margins,
scores of conditions, interactions, ratings. So every paradigm is compared by the same tests.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from cimento.errors import counted
from cimento.paired.item_outcomes import ItemOutcomes, different_scales, rates_only, reach_notes
from cimento.records.outcomes import design_of
from cimento.statistics.agreement import Agreement, cohen_kappa
from cimento.statistics.correlation import CorrelationDifference, correlation_difference
from cimento.statistics.design import Design, Significance, Statistic
from cimento.statistics.differences import (
    Difference,
    cohen_dz,
    cohen_h,
    discordant,
    discordant_odds,
    share_difference,
    share_test,
)
from cimento.statistics.intervals import effective_number
from cimento.statistics.means import Mean, mean_if_all, mean_of, without_noise
from cimento.statistics.multiple import benjamini_hochberg, holm
from cimento.statistics.power import Equivalence, detectable_difference, tost_shares

NO_SHARED_ITEM = "no item is scored in both"
NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedValues:
    """One number before and after, over the items that have both.

    Attributes:
        suite: name of the first one's suite.
        name: what it is of.
        unit: of the values.
        n: items with both.
        first: mean of the first; None without items.
        second: mean of the second.
        change: second minus first, with its interval and test; only the reason why there is none
            where the two are on different scales.
        effect: mean difference in standard deviations of the differences (Cohen's d_z).
        items: item to second minus first.
        reason: why there is nothing.
    """

    suite: str
    name: str
    unit: str
    n: int
    first: float | None
    second: float | None
    change: Mean
    effect: Statistic
    items: Mapping[str, float]
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedCorrelations:
    """The correlations of two models' values with one reference, such as ratings.

    Attributes:
        suite: its name.
        question: what the values are, such as a measure.
        coefficient: ``pearson``, ``spearman`` or ``kendall``.
        first: label of the one model.
        second: label of the other.
        change: the second coefficient less the first, with both, its interval and its test.
        corrected: p, corrected over all of these that were tested together.
        family: number of these.
    """

    suite: str
    question: str
    coefficient: str
    first: str
    second: str
    change: CorrelationDifference
    corrected: float | None = None
    family: int = 1


def paired_values(
    name: str,
    values: Mapping[str, tuple[float | None, float | None]],
    *,
    suite: str = "",
    unit: str = "",
    seed: int = 0,
    clusters: Mapping[str, str] | None = None,
    not_compared: str | None = None,
) -> PairedValues:
    """A number before and after, over the items that have both.

    Args:
        name: what it is of.
        values: item to the two numbers.
        suite: name of the suite.
        unit: of the numbers.
        seed: of resampling.
        clusters: item to what it belongs to; an item that is not there stands alone.
        not_compared: why the two are not on one scale, so that their difference says nothing; None
            where they are.
    """
    known = {item: (a, b) for item, (a, b) in values.items() if a is not None and b is not None}
    before, after = [a for a, _ in known.values()], [b for _, b in known.values()]
    design = design_of(list(known), [(clusters or {}).get(item) for item in known])
    if not_compared is None:
        scale = max((abs(value) for value in (*before, *after)), default=0.0)
        gaps = without_noise([b - a for a, b in known.values()], scale=scale)
        change, effect = mean_of(gaps, design, seed=seed), cohen_dz(gaps)
    else:
        gaps = []
        change = Mean(None, None, None, None, None, NOT_COMPARED, design.n, design.m, not_compared)
        effect = Statistic(None, not_compared)
    return PairedValues(
        suite=suite,
        name=name,
        unit=unit,
        n=len(known),
        first=mean_if_all(before),
        second=mean_if_all(after),
        change=change,
        effect=effect,
        items=dict(zip(known, gaps, strict=True)) if not_compared is None else {},
        reason=None if known else NO_SHARED_ITEM,
    )


def paired_outcomes(first: ItemOutcomes, second: ItemOutcomes, *, seed: int) -> PairedValues | None:
    """The values of one question in two runs; None where one has none or they differ in unit.

    Args:
        first: before.
        second: after.
        seed: of resampling.
    """
    if not first.values or not second.values or first.unit != second.unit:
        return None
    shared = (item for item in first.values if item in second.values)
    return paired_values(
        first.question,
        {item: (first.values[item], second.values[item]) for item in shared},
        suite=first.suite,
        unit=first.unit,
        seed=seed,
        clusters=first.clusters,
        not_compared=different_scales((first.kind, second.kind)),
    )


def paired_correlations(first: ItemOutcomes, second: ItemOutcomes) -> list[PairedCorrelations]:
    """The correlations of the values of two runs with their references, a coefficient at a time.

    Args:
        first: of one model.
        second: of another, on the same question.
    """
    items = [
        item
        for item, reference in first.references.items()
        if second.references.get(item) == reference
        and item in first.values
        and item in second.values
    ]
    design = first.design(items)
    before, after = ([one.values[item] for item in items] for one in (first, second))
    references = [first.references[item] for item in items]
    return [
        PairedCorrelations(
            suite=first.suite,
            question=first.question,
            coefficient=kind,
            first=first.model,
            second=second.model,
            change=correlation_difference(before, after, references, kind=kind, design=design),
        )
        for kind in first.coefficients
        if kind in second.coefficients
    ]


Correction: TypeAlias = Literal["holm", "bh"]
"""How p-values are corrected for their number: Holm, or Benjamini and Hochberg."""

_CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseComparison:
    """Two models on one question, over the items that both were scored on.

    Attributes:
        suite: its name.
        question: what counts as right.
        first: label of the one.
        second: label of the other.
        n: items.
        first_share: proportion of them that the first gets right; None without items.
        second_share: the same of the second.
        gained: items that only the second gets right.
        lost: items that only the first gets right.
        kept: items that both get right.
        change: second minus first, with its interval.
        effect: Cohen's h of the two shares; None without items.
        odds: items gained for each one lost.
        test: McNemar's exact test, or where items belong together the test of the interval.
        corrected: its p, corrected over all tests made together.
        family: number of tests made together.
        kappa: agreement of both on which items they get right, beyond chance.
        detectable: the smallest difference these items would show with a power of 0.8, if the two
            differ on as many items as they do; None where they differ on none, or on too few.
        no_detectable: why there is no such difference; empty where there is one.
        values: the values behind it, such as margins; None where there are none to compare.
        note: on models of two kinds; None where they are of one.
        reach: of each model that cannot find every answer, how many it can find.
        design: of the items.
        cluster_columns: columns of the items that say which belong together, if known.
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
    kept: tuple[str, ...]
    change: Difference
    effect: float | None
    odds: Statistic
    test: Significance
    corrected: float | None = None
    family: int = 1
    kappa: Agreement
    detectable: float | None
    no_detectable: str = ""
    values: PairedValues | None = None
    note: str | None = None
    reach: tuple[str, ...] = ()
    design: Design
    cluster_columns: tuple[str, ...] = ()

    @property
    def design_said(self) -> str:
        """How many items there are, and how they belong together; of crossed ones, by what."""
        columns = self.cluster_columns if self.design.crossed else ()
        return self.design.described + (f" ({' × '.join(columns)})" if columns else "")


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
    changes = {i: float(b) - float(a) for i, a, b in zip(items, before, after, strict=True)}
    gained, lost = (tuple(i for i, one in changes.items() if sign * one > 0) for sign in (1, -1))
    kept = tuple(item for item, *both in zip(items, before, after, strict=True) if all(both))
    least = detectable([*changes.values()], design)
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
        kept=kept,
        change=share_difference(after, before, design),
        effect=cohen_h(sum(after) / n, sum(before) / n) if n else None,
        odds=_odds(before, after),
        test=_test(first, second, items, share_test(after, before, design)),
        kappa=cohen_kappa(before, after, design=design, what="verdicts"),
        detectable=least.value,
        no_detectable=f"detectable: {least.reason}" if least.reason else "",
        values=paired_outcomes(first, second, seed=seed) if with_values else None,
        note=rates_only([first.kind, second.kind]),
        reach=reach_notes([first, second]),
        design=design,
        cluster_columns=first.cluster_columns,
    )


def _test(
    first: ItemOutcomes, second: ItemOutcomes, items: Sequence[str], made: Significance
) -> Significance:
    """The test of two models; none where one cannot find answers that the other can."""
    reach = [{*items} - one.out_of_reach for one in (first, second)]
    if reach[0] == reach[1]:
        return made
    found = " and ".join(str(len(items)) for items in reach)
    reason = f"of {len(items)} answers the two can find {found}, so that their hits are not tested"
    return Significance(None, None, made.method, reason=reason)


def _odds(before: Sequence[bool], after: Sequence[bool]) -> Statistic:
    """The items gained for each one lost."""
    only_first, only_second = discordant(before, after)
    if not only_first:
        return Statistic(None, "no item that only the first gets right")
    return discordant_odds(only_second, only_first)


def detectable(changes: Sequence[float], design: Design) -> Statistic:
    """The smallest difference of two shares that as many items would show, with a power of 0.8.

    Args:
        changes: 1, 0 or -1 of each item: what the second model gets right less what the first does.
        design: of the items.

    Returns:
        The difference; a reason where the two differ on no item, or on too few to show anything, or
        where there are too few independent items or clusters for a test.
    """
    differing = sum(map(bool, changes))
    if not differing:
        return Statistic(None, "the two differ on no item")
    if design.shortage:
        return Statistic(None, design.shortage)
    share = differing / len(changes)
    least = detectable_difference(effective_number(changes, design), discordant=share)
    few = f"the two differ on {counted(differing, 'item')} of {len(changes)}, too few for a power"
    return Statistic(least, f"{few} of 0.8" if least is None else None)


Tested = TypeVar("Tested", bound="PairwiseComparison | PairedCorrelations")


def corrected(comparisons: Sequence[Tested], correction: Correction) -> tuple[Tested, ...]:
    """The comparisons with their p-values corrected over all of them.

    Args:
        comparisons: of shares or of correlations, made together.
        correction: ``holm``, or ``bh`` for the proportion of false finds.
    """
    tests = (one.test if isinstance(one, PairwiseComparison) else one.change for one in comparisons)
    p_values = adjusted([test.p for test in tests], correction)
    family = sum(p is not None for p in p_values)
    return tuple(
        dataclasses.replace(comparison, corrected=p, family=family)
        for comparison, p in zip(comparisons, p_values, strict=True)
    )


def corrected_apart(
    comparisons: Sequence[PairwiseComparison],
    main: Collection[tuple[str, str]],
    correction: Correction,
) -> tuple[PairwiseComparison, ...]:
    """The comparisons with p corrected over the main questions, and over the others.

    Args:
        comparisons: made together.
        main: suite and question of the main ones.
        correction: as above.
    """
    is_main = [(one.suite, one.question) in main for one in comparisons]
    parts = {
        part: iter(
            corrected(
                [one for one, its in zip(comparisons, is_main, strict=True) if its == part],
                correction,
            )
        )
        for part in (True, False)
    }
    return tuple(next(parts[its]) for its in is_main)


def adjusted(p_values: Sequence[float | None], correction: Correction) -> list[float | None]:
    """P-values corrected over all of them; None where a test is undefined."""
    return _CORRECTIONS[correction](p_values)


def equivalences(
    comparisons: Sequence[PairwiseComparison], *, margin: float
) -> tuple[Equivalence, ...]:
    """The equivalence test of each comparison: a difference of shares below a margin.

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
    """The discordant items as two columns: right in the second only, right in the first only."""
    gained, lost = set(comparison.gained), set(comparison.lost)
    return (
        [item in gained for item in comparison.design.units],
        [item in lost for item in comparison.design.units],
    )
