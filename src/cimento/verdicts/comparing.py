"""Two runs on the same items: which items flipped, by how much, and whether it is chance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from cimento.measures.values import Missing
from cimento.statistics.agreement import Agreement, cohen_kappa
from cimento.statistics.design import Design
from cimento.statistics.differences import (
    Difference,
    cohen_dz,
    discordant_odds,
    share_difference,
)
from cimento.statistics.intervals import effective_number
from cimento.statistics.means import Mean, mean_of
from cimento.statistics.paired import discordant, share_test
from cimento.statistics.power import detectable_difference
from cimento.statistics.values import Estimate, Significance
from cimento.verdicts.effects import Scores, mean_or_none, score_of, without_noise
from cimento.verdicts.factorial import Factorial
from cimento.verdicts.judge import Verdict

NO_SHARED_ITEM = "no item is scored in both"
NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """One number before and after, over the items that have both.

    Attributes:
        name: what it is of.
        n: items with both.
        first: mean of the first; None without items.
        second: mean of the second.
        change: second minus first, with its interval and test; None, with the reason, where the two
            are on different scales.
        effect: mean difference in standard deviations of the differences (Cohen's d_z).
        items: item to second minus first.
        reason: why there is nothing.
    """

    name: str
    n: int
    first: float | None
    second: float | None
    change: Mean
    effect: Estimate
    items: Mapping[str, float]
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """One prediction, or the conjunction of all, before and after.

    Attributes:
        prediction: its number; None for the conjunction.
        n: items judged in both.
        first: accuracy of the first over these items; None without items.
        second: accuracy of the second.
        change: second minus first, with the interval of Bonett and Price.
        gained: items that only the second gets right.
        lost: items that only the first gets right.
        test: of the two accuracies: McNemar's exact test, or t over clusters.
        odds: items gained for each one lost.
        kappa: how far the two are right about the same items, beyond chance.
        detectable: the smallest difference that these items would show with a power of 0.8, if the
            two differ on as many items as they do; None where they differ on none, or on too few.
        margins: margins in bits before and after.
    """

    prediction: int | None
    n: int
    first: float | None
    second: float | None
    change: Difference
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    test: Significance
    odds: Estimate
    kappa: Agreement
    detectable: float | None
    margins: Paired


def compare_verdicts(
    first: Sequence[Verdict],
    second: Sequence[Verdict],
    *,
    seed: int,
    clusters: Mapping[str, Hashable] | None = None,
    apart: str | None = None,
    ties_pass: tuple[bool, bool] = (False, False),
) -> list[Flips]:
    """Every prediction that both runs judged, over the items that both scored.

    Items are matched by id and predictions by number.

    Args:
        first: verdicts on all items of one run.
        second: of the other.
        seed: of resampling.
        clusters: item to what it belongs to; items that belong together are drawn together.
        apart: why margins of the two are not compared; None where they are.
        ties_pass: whether a tie is a pass, in the first run and in the second.
    """
    found = []
    for number in dict.fromkeys(each.prediction for each in first):
        before = {each.item: each for each in first if each.prediction == number}
        after = {each.item: each for each in second if each.prediction == number}
        items = [
            item
            for item, verdict in before.items()
            if item in after and "unscored" not in (verdict.verdict, after[item].verdict)
        ]
        if any(item in after for item in before):
            held_before, held_after = (
                [_passes(verdicts[item], ties_pass=ties) for item in items]
                for verdicts, ties in zip((before, after), ties_pass, strict=True)
            )
            margins = {item: (before[item].margin_bits, after[item].margin_bits) for item in items}
            name = "margin in bits"
            change = paired(name, margins, seed=seed, clusters=clusters, apart=apart)
            design = Design.of(items, clusters)
            found.append(_flips(number, design, held_before, held_after, change))
    return found


def _passes(verdict: Verdict, *, ties_pass: bool) -> bool:
    return verdict.verdict == "pass" or (ties_pass and verdict.verdict == "tie")


def _flips(
    number: int | None,
    design: Design,
    before: Sequence[bool],
    after: Sequence[bool],
    margins: Paired,
) -> Flips:
    items = [str(item) for item in design.units]
    changes = [float(b) - float(a) for a, b in zip(before, after, strict=True)]
    only_first, only_second = discordant(before, after)
    return Flips(
        prediction=number,
        n=design.n,
        first=sum(before) / design.n if items else None,
        second=sum(after) / design.n if items else None,
        change=share_difference(after, before, design),
        gained=_where(items, before, after),
        lost=_where(items, after, before),
        test=share_test(after, before, design),
        odds=discordant_odds(only_second, only_first),
        kappa=cohen_kappa(before, after, design=design),
        detectable=detectable(changes, design),
        margins=margins,
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


def _where(
    items: Sequence[str], without: Sequence[bool], having: Sequence[bool]
) -> tuple[str, ...]:
    return tuple(item for item, a, b in zip(items, without, having, strict=True) if b and not a)


def paired(
    name: str,
    values: Mapping[str, tuple[float | None, float | None]],
    *,
    seed: int,
    clusters: Mapping[str, Hashable] | None = None,
    apart: str | None = None,
) -> Paired:
    """A number before and after, over the items that have both.

    Args:
        name: what it is of.
        values: item to the two numbers.
        seed: of resampling.
        clusters: item to what it belongs to; None where each stands alone.
        apart: why the two are not on one scale, so that their difference says nothing; None where
            they are.
    """
    known = {item: (a, b) for item, (a, b) in values.items() if a is not None and b is not None}
    befores, afters = [a for a, _ in known.values()], [b for _, b in known.values()]
    design = Design.of(known, clusters)
    if apart is None:
        scale = max((abs(value) for value in (*befores, *afters)), default=0.0)
        gaps = without_noise([b - a for a, b in known.values()], scale=scale)
        change, effect = mean_of(gaps, design, seed=seed), cohen_dz(gaps)
    else:
        gaps = []
        change = Mean(None, None, None, None, None, NOT_COMPARED, design.n, design.m, apart)
        effect = Estimate(None, apart)
    return Paired(
        name=name,
        n=len(known),
        first=mean_or_none(befores),
        second=mean_or_none(afters),
        change=change,
        effect=effect,
        items=dict(zip(known, gaps, strict=True)) if apart is None else {},
        reason=None if known else NO_SHARED_ITEM,
    )


def compare_scores(
    first: Scores,
    second: Scores,
    *,
    seed: int,
    clusters: Mapping[str, Hashable] | None = None,
    apart: str | None = None,
) -> list[Paired]:
    """The score of every condition, before and after, over the items that both have.

    Args:
        first: item and condition to score.
        second: of the other run.
        seed: of resampling.
        clusters: item to what it belongs to; None where each stands alone.
        apart: why the two are not on one scale; None where they are.
    """
    names = dict.fromkeys(name for conditions in first.values() for name in conditions)
    found = []
    for name in names:
        values = {
            item: (_known(first, item, name), _known(second, item, name))
            for item in first
            if item in second
        }
        found.append(paired(name, values, seed=seed, clusters=clusters, apart=apart))
    return found


def compare_designs(
    first: Factorial,
    second: Factorial,
    *,
    seed: int,
    clusters: Mapping[str, Hashable] | None = None,
    apart: str | None = None,
) -> list[Paired]:
    """DD of every phenomenon that both have, in raw scores, paired by item.

    Args:
        first: of one run.
        second: of the other, on the same measure.
        seed: of resampling.
        clusters: item to what it belongs to; None where each stands alone.
        apart: why the two are not on one scale; None where they are.
    """
    others = {each.name: each for each in second.phenomena}
    found = []
    for one in first.phenomena:
        other = others.get(one.name)
        if other is None and len(first.phenomena) == len(second.phenomena) == 1:
            other = second.phenomena[0]
        if other is not None:
            before = {each.item: each.dd for each in one.effects["raw"].items}
            after = {each.item: each.dd for each in other.effects["raw"].items}
            values = {item: (dd, after[item]) for item, dd in before.items() if item in after}
            name = f"{one.name}: DD"
            found.append(paired(name, values, seed=seed, clusters=clusters, apart=apart))
    return found


def _known(scores: Scores, item: str, condition: str) -> float | None:
    value = score_of(scores, item, condition)
    return None if isinstance(value, Missing) else value
