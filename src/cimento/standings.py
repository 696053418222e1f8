"""Several models on the same items, whatever kind of test: who is right, how surely, who is best.

All that is needed is whether each model got each item right, so that suites with blanks and stories
are compared by the same tests as suites of regions.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, TypeAlias

from cimento.errors import UsageError
from cimento.matching import matched
from cimento.statistics.agreement import Agreement, cohen_kappa, krippendorff_alpha
from cimento.statistics.design import Design
from cimento.statistics.differences import Difference, cohen_h, share_difference
from cimento.statistics.intervals import Interval, share_interval
from cimento.statistics.item_analysis import ItemAnalysis, item_analysis
from cimento.statistics.multiple import benjamini_hochberg, holm
from cimento.statistics.paired import cochran_q, share_test
from cimento.statistics.power import Equivalence, tost_shares
from cimento.statistics.ranks import Rank, rank_by_pairs
from cimento.statistics.values import Significance
from cimento.verdicts.comparing import detectable
from cimento.verdicts.kinds import rates_only

Correction: TypeAlias = Literal["holm", "bh"]

CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg}
TWO = 2
_STEP = re.compile(r"(?:step|checkpoint|ckpt|iter|epoch)s?[-_]?(\d{1,18})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What one model got right of one suite, by one question.

    Attributes:
        suite: its name.
        question: what counts as right: a prediction, a hit, a tier.
        model: label of the model.
        family: what revisions of one model have in common; empty where that is not known.
        step: of training; None where the model's name does not tell.
        right: item to whether it is right; unscored items are not there.
        clusters: item to what it belongs to.
        kind: of the model; empty where that is not known.
    """

    suite: str
    question: str
    model: str
    family: str = ""
    step: int | None = None
    right: Mapping[str, bool]
    clusters: Mapping[str, Hashable] = field(default_factory=dict)
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One model among those of its suite.

    Attributes:
        model: its label.
        n: items that all models were scored on.
        accuracy: share of these that it gets right; None where there are none.
        interval: 95 %, of that share.
        rank: its place and the places it could hold; None where there is nothing to rank.
        family: see `Marks`.
        step: see `Marks`.
    """

    model: str
    n: int
    accuracy: float | None
    interval: Interval
    rank: Rank | None
    family: str = ""
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """Two models of one suite on the items that all were scored on.

    Attributes:
        suite: its name.
        question: what counts as right.
        first: label of the one.
        second: label of the other.
        n: items.
        gained: items that only the second gets right.
        lost: items that only the first gets right.
        change: second minus first, with its interval.
        effect: Cohen's h of the two shares; None without items.
        test: McNemar's exact test, or t over clusters where items belong together.
        corrected: its p, corrected over all duels made together.
        family: number of duels made together.
        kappa: how far both are right about the same items, beyond chance.
        detectable: the smallest difference these items would show with a power of 0.8.
        note: on models of two kinds; None where they are of one.
        design: of the items that both were scored on.
    """

    suite: str
    question: str
    first: str
    second: str
    n: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    change: Difference
    effect: float | None
    test: Significance
    corrected: float | None = None
    family: int = 1
    kappa: Agreement
    detectable: float | None
    note: str | None = None
    design: Design


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All models of one suite by one question.

    Attributes:
        suite: its name.
        question: what counts as right.
        n: items that all models were scored on.
        left_out: items that some model was not scored on.
        standings: the best model first.
        duels: every pair.
        together: Cochran's Q over all models; None for two, where it is McNemar's test.
        alpha: Krippendorff's, of which items the models get right.
        analysis: how reliably the items tell the models apart.
        items: names of the items, in the order of the analysis.
        note: on models of several kinds; None where they are of one.
    """

    suite: str
    question: str
    n: int
    left_out: int
    standings: tuple[Standing, ...]
    duels: tuple[Duel, ...]
    together: Significance | None
    alpha: Agreement
    analysis: ItemAnalysis
    items: tuple[str, ...]
    note: str | None = None

    @property
    def checkpoints(self) -> tuple[Standing, ...]:
        """The models by step of training, where they are revisions of one model; else none."""
        steps = {each.step for each in self.standings}
        families = {each.family for each in self.standings}
        if len(families) > 1 or None in steps or len(steps) < max(TWO, len(self.standings)):
            return ()
        return tuple(sorted(self.standings, key=lambda each: each.step or 0))


def step_of(name: str) -> tuple[str, int | None]:
    """What the revisions of a model have in common in their names, and this one's step of training.

    Args:
        name: as the model was named: ``org/name@step1000``, ``out/checkpoint-500``.

    Returns:
        The name without the step, and the step; the name and None where it tells none.
    """
    found = list(_STEP.finditer(name))
    if not found:
        return name, None
    return name[: found[-1].start()].rstrip("@/-_"), int(found[-1][1])


def tables(
    marks: Sequence[Marks], *, correction: Correction = "holm", seed: int = 0
) -> tuple[Table, ...]:
    """All models of each suite and question, with p-values corrected over all duels.

    Args:
        marks: of two models or more.
        correction: ``holm``, or ``bh`` for the share of false finds.
        seed: of what is drawn.

    Raises:
        UsageError: a suite was run twice by one model, or no suite by two.
    """
    groups: dict[tuple[str, str], list[Marks]] = {}
    for each in marks:
        groups.setdefault((each.suite, each.question), []).append(each)
    for own in groups.values():
        _refuse_twice(own)
    found = [_table(own, seed=seed) for own in groups.values() if len(own) > 1]
    if not found:
        raise UsageError(
            where="cimento compare",
            seen="no suite was run by two models",
            todo="Give runs of one suite by several models.",
        )
    duels = iter(corrected([duel for table in found for duel in table.duels], correction))
    return tuple(_placed(table, [next(duels) for _ in table.duels]) for table in found)


def _placed(table: Table, duels: Sequence[Duel]) -> Table:
    """A table with corrected duels, and the places that these leave to its models."""
    shares = {each.model: each.accuracy for each in table.standings if each.accuracy is not None}
    tested = [(duel.first, duel.second, duel.corrected) for duel in duels]
    ranks = rank_by_pairs(shares, tested if shares else [], corrected=True).ranks
    by_model = {rank.name: rank for rank in ranks}
    standings = (
        dataclasses.replace(each, rank=by_model.get(each.model)) for each in table.standings
    )
    return dataclasses.replace(table, duels=tuple(duels), standings=tuple(standings))


def corrected(duels: Sequence[Duel], correction: Correction) -> tuple[Duel, ...]:
    """The same duels, their p-values corrected over all of them."""
    values = CORRECTIONS[correction]([duel.test.p for duel in duels])
    return tuple(
        dataclasses.replace(duel, corrected=p, family=len(duels))
        for duel, p in zip(duels, values, strict=True)
    )


def before_and_after(
    first: Sequence[Marks],
    second: Sequence[Marks],
    *,
    correction: Correction = "holm",
) -> tuple[Duel, ...]:
    """Each suite and question before and after, p-values corrected over all of them.

    Marks belong together that have suite, model and question in common; else, where that is
    clear, suite and question, or model and question (of variants of a suite).

    Args:
        first: before.
        second: after.
        correction: ``holm``, or ``bh`` for the share of false finds.
    """
    keys: Sequence[Callable[[Marks], Hashable]] = (
        lambda each: (each.suite, each.model, each.question),
        lambda each: (each.suite, each.question),
        lambda each: (each.model, each.question),
        lambda each: each.question,
    )
    pairs = matched(first, second, keys) or []
    found = []
    for one, other in pairs:
        items = [item for item in one.right if item in other.right]
        found.append(_duel(one, other, _design(one, items)))
    return corrected(found, correction)


def surely_worse(duels: Sequence[Duel], *, margin: float) -> tuple[Duel, ...]:
    """The duels in which the second is worse by more than a margin, chance left aside.

    That is where the interval of the difference lies wholly below minus the margin. Intervals are
    such that all of them hold together in 95 of 100 comparisons (Bonferroni).

    Args:
        duels: compared together.
        margin: a difference of shares that does not matter; 0 for none.
    """
    level = 1 - 0.05 / max(1, len(duels))
    found = []
    for duel in duels:
        interval = share_difference(*_columns(duel), duel.design, level=level)
        if interval.high is not None and interval.high < -margin:
            found.append(duel)
    return tuple(found)


def equivalences(duels: Sequence[Duel], *, margin: float) -> tuple[Equivalence, ...]:
    """Of each duel, whether the two shares differ by less than a margin (`power.tost_shares`).

    Args:
        duels: each tested by itself.
        margin: the smallest difference of shares that would matter.

    Raises:
        UsageError: a margin that is not above 0.
    """
    return tuple(tost_shares(*_columns(duel), duel.design, margin=margin) for duel in duels)


def _columns(duel: Duel) -> tuple[list[bool], list[bool]]:
    """What the second and what the first gets right, as far as their difference depends on it."""
    gained, lost = set(duel.gained), set(duel.lost)
    return (
        [item in gained for item in duel.design.units],
        [item in lost for item in duel.design.units],
    )


def _refuse_twice(own: Sequence[Marks]) -> None:
    labels = [each.model for each in own]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise UsageError(
            where=f"suite {own[0].suite!r}",
            seen=f"there are several runs of {twice} here",
            todo="Give one of them, or compare two folders: before and after.",
        )


def _table(own: Sequence[Marks], *, seed: int) -> Table:
    items = [item for item in own[0].right if all(item in each.right for each in own)]
    every = {item for each in own for item in each.right}
    design = _design(own[0], items)
    columns = {each.model: [each.right[item] for item in items] for each in own}
    duels = tuple(_duel(one, other, design) for one, other in combinations(own, TWO))
    standings = [
        Standing(
            model=each.model,
            n=len(items),
            accuracy=sum(columns[each.model]) / len(items) if items else None,
            interval=share_interval(columns[each.model], design),
            rank=None,
            family=each.family,
            step=each.step,
        )
        for each in own
    ]
    rows = list(zip(*columns.values(), strict=True))
    return Table(
        suite=own[0].suite,
        question=own[0].question,
        n=len(items),
        left_out=len(every) - len(items),
        standings=tuple(sorted(standings, key=lambda each: -(each.accuracy or 0.0))),
        duels=duels,
        together=cochran_q(rows, design, seed=seed) if len(own) > TWO else None,
        alpha=krippendorff_alpha(rows, design=design),
        note=rates_only(each.kind for each in own),
        analysis=item_analysis(rows, seed=seed),
        items=tuple(items),
    )


def _design(marks: Marks, items: Sequence[str]) -> Design:
    return Design.of(items, {item: marks.clusters.get(item, ("item", item)) for item in items})


def _duel(one: Marks, other: Marks, design: Design) -> Duel:
    items = [str(item) for item in design.units]
    first, second = ([marks.right[item] for item in items] for marks in (one, other))
    triples = list(zip(items, first, second, strict=True))
    n = design.n
    return Duel(
        suite=one.suite,
        question=one.question,
        first=one.model,
        second=other.model,
        n=n,
        gained=tuple(item for item, a, b in triples if b and not a),
        lost=tuple(item for item, a, b in triples if a and not b),
        change=share_difference(second, first, design),
        effect=cohen_h(sum(second) / n, sum(first) / n) if n else None,
        test=share_test(second, first, design),
        kappa=cohen_kappa(first, second, design=design),
        detectable=detectable([float(b) - float(a) for _, a, b in triples], design),
        note=rates_only((one.kind, other.kind)),
        design=design,
    )
