"""A gate: whether a second model is surely worse, on one of several suites or on their mean.

A change has an interval per suite, and so has the mean change over suites, for other items of these
suites: a gate asks about them, not about other phenomena. If asked to, it looks at each phenomenon
too: at the items that are of it, or, if several suites have such items, at the mean over these. All
intervals are widened so that they hold simultaneously (Bonferroni). Something is worse where such
an interval lies wholly below minus the margin. Starter suites and generated drafts have means of
their own.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from cimento.io.values import grouped
from cimento.records.outcomes import GROUP
from cimento.statistics.differences import Difference, share_difference
from cimento.statistics.suite_means import SuiteValue, mean_for_items

if TYPE_CHECKING:
    from cimento.compare.over_suites import SuiteFacts
    from cimento.kinds.run import Run
    from cimento.paired.pairwise import PairwiseComparison
    from cimento.statistics.design import Design

MEAN = "mean over suites"
"""What the mean over suites is called beside the names of suites."""
PHENOMENON = "phenomenon"
_FEWEST = 2

PhenomenonOfItems: TypeAlias = Mapping[str, Mapping[str, str]]
"""The phenomenon of each item of each suite, as far as suites say it of their items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedChange:
    """A change as the gate sees it.

    Attributes:
        suite: its name; empty for a mean over suites.
        phenomenon: of the items, where only those of one are looked at; else empty.
        part: of cimento's own suites that a mean is of; empty for others.
        n_suites: number of suites in a mean; those made of the same items count as one.
        model: label of the first model; empty for a mean over all suites.
        question: what counts as right; empty for a mean.
        n: items.
        first: proportion of them that the first gets right; None of a mean.
        second: the same of the second.
        change: second minus first, with the widened interval.
        worse: whether the interval lies wholly below minus the margin.
        lost: the items that only the first has right; none of a mean.
        detectable: the smallest drop that can fail, if items that the first has right are lost,
            evenly over the suite, and none are gained (of a mean: if every suite loses the same
            proportion of its items, as far as it has them); None if none can.
    """

    suite: str
    phenomenon: str = ""
    part: str = ""
    n_suites: int = 1
    model: str = ""
    question: str
    n: int
    first: float | None = None
    second: float | None = None
    change: Difference
    worse: bool
    lost: tuple[str, ...] = ()
    detectable: float | None

    @property
    def name(self) -> str:
        """The suite's, with the phenomenon if it is of one; or what the mean is called."""
        if self.suite:
            return f"{self.suite}: {self.phenomenon}" if self.phenomenon else self.suite
        mean = MEAN.replace("suites", f"{self.part} suites") if self.part else MEAN
        return f"{self.phenomenon}, {mean}" if self.phenomenon else mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What the gate compared.

    Attributes:
        margin: a fall that does not matter.
        changes: of each suite and question.
        phenomena: of each phenomenon, by the main question of suites; none unless asked for.
        means: over suites, starter and generated ones apart; none where there are fewer than two,
            or several models each.
    """

    margin: float
    changes: tuple[GatedChange, ...]
    phenomena: tuple[GatedChange, ...] = ()
    means: tuple[GatedChange, ...]

    @property
    def every(self) -> tuple[GatedChange, ...]:
        """All changes, those of means last."""
        return (*self.changes, *self.phenomena, *self.means)

    @property
    def worse(self) -> tuple[GatedChange, ...]:
        """Those that are surely worse."""
        return tuple(one for one in self.every if one.worse)


def phenomena_of_items(runs: Sequence[Run]) -> PhenomenonOfItems:
    """The phenomenon of each item, for suites that say it of their items.

    Args:
        runs: of any kinds; of runs of one suite, the first decides.
    """
    found: dict[str, dict[str, str]] = {}
    for run in runs:
        outcomes = run.outcomes()
        if run.suite.name not in found and GROUP + PHENOMENON in outcomes.columns:
            both = outcomes.select("item", GROUP + PHENOMENON).unique().iter_rows()
            found[run.suite.name] = {item: name for item, name in both if name}
    return found


def gate(
    rates: Sequence[PairwiseComparison],
    main: Sequence[PairwiseComparison],
    facts: Mapping[str, SuiteFacts],
    *,
    margin: float,
    phenomena: PhenomenonOfItems | None = None,
) -> Gate:
    """Look for what is worse, chance left aside.

    Args:
        rates: made together; each is looked at.
        main: those by the main question of a suite; the mean of each part of them is looked at too,
            without factorial designs.
        facts: of the suites.
        margin: a difference of shares that does not matter; 0 for none.
        phenomena: of the items, if each phenomenon is looked at too; None for suites alone. One
            that is the whole of a suite is not looked at twice.
    """
    pooled = grouped(
        (about.part, _Verdicts.of(one)) for one in main if not (about := facts[one.suite]).is_design
    )
    averaged = {
        part: some
        for part, some in sorted(pooled.items())
        if _n_units(some, facts) >= _FEWEST and len({one.suite for one in some}) == len(some)
    }
    of_phenomena = _by_phenomenon(main, facts, phenomena or {})
    level = 1 - 0.05 / max(1, len(rates) + len(averaged) + len(of_phenomena))
    look = _Look(facts, margin=margin, level=level)
    return Gate(
        margin=margin,
        changes=tuple(look.at(rate.suite, [_Verdicts.of(rate)]) for rate in rates),
        phenomena=tuple(
            replace(
                look.at(some[0].suite if len(some) == 1 else "", some),
                phenomenon=name,
                model=some[0].model,
            )
            for (name, *_), some in of_phenomena.items()
        ),
        means=tuple(look.at("", some) for some in averaged.values()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdicts:
    """What two models get right of the same items of a suite.

    Attributes:
        suite: its name.
        model: label of the first model.
        question: what counts as right.
        design: of the items.
        gained: items that only the second has right.
        lost: items that only the first has right.
        kept: items that both have right.
    """

    suite: str
    model: str
    question: str
    design: Design
    gained: frozenset[Hashable]
    lost: frozenset[Hashable]
    kept: frozenset[Hashable]

    @classmethod
    def of(cls, rate: PairwiseComparison, items: Sequence[str] | None = None) -> _Verdicts:
        """Those behind a comparison, of all its items or of some."""
        design = rate.design
        if items is not None:
            among = {*items}
            design = design.take([k for k, unit in enumerate(design.units) if unit in among])
        there = frozenset(design.units)
        return cls(
            suite=rate.suite, model=rate.first, question=rate.question, design=design,
            gained=there & {*rate.gained}, lost=there & {*rate.lost}, kept=there & {*rate.kept},
        )  # fmt: skip

    @property
    def right(self) -> list[Hashable]:
        """The items that the first has right, in their order."""
        return [item for item in self.design.units if item in self.lost or item in self.kept]

    def change(self, level: float) -> Difference:
        """Second minus first, with its interval."""
        units = self.design.units
        return share_difference(
            [item in self.gained for item in units],
            [item in self.lost for item in units],
            self.design,
            level=level,
        )

    def after(self, drop: float) -> _Verdicts:
        """The same items, if the second had lost a proportion of them and gained none.

        They are lost evenly over the suite; no more can be lost than the first has right.
        """
        right = self.right
        n = min(math.ceil(drop * self.design.n - 1e-9), len(right))
        lost = frozenset(right[k * len(right) // n] for k in range(n))
        return replace(self, gained=frozenset(), lost=lost, kept=frozenset(right) - lost)


def _by_phenomenon(
    main: Sequence[PairwiseComparison], facts: Mapping[str, SuiteFacts], of: PhenomenonOfItems
) -> dict[tuple[str, ...], list[_Verdicts]]:
    """The verdicts on the items of each phenomenon, of every suite that has some.

    Parts of cimento's own suites, factorial designs and several models each stay apart.
    """
    groups: dict[tuple[str, ...], list[_Verdicts]] = {}
    for rate in main:
        labels, about = of.get(rate.suite, {}), facts[rate.suite]
        items = grouped((labels[item], item) for item in map(str, rate.design.units)
                        if item in labels)  # fmt: skip
        for name, some in items.items():
            key = (name, about.part, rate.suite if about.is_design else "", rate.first)
            groups.setdefault(key, []).append(_Verdicts.of(rate, some))
    whole = {one.suite: one.n for one in main}
    return {
        key: some
        for key, some in groups.items()
        if len(some) > 1 or some[0].design.n < whole[some[0].suite]
    }


def _n_units(some: Sequence[_Verdicts], facts: Mapping[str, SuiteFacts]) -> int:
    return len({facts[one.suite].unit for one in some})


@dataclass(frozen=True, slots=True)
class _Look:
    """How the gate looks at changes: with which margin, at which level."""

    facts: Mapping[str, SuiteFacts]
    margin: float
    level: float

    def at(self, suite: str, some: Sequence[_Verdicts]) -> GatedChange:
        """A change as the gate sees it: of the one suite that is named, or a mean over suites."""
        change, n = self._change(some), sum(one.design.n for one in some)
        seen = GatedChange(
            suite=suite,
            part=self.facts[some[0].suite].part,
            n_suites=_n_units(some, self.facts),
            question="",
            n=n,
            change=change,
            worse=self._is_below(change),
            detectable=self._smallest(some),
        )
        if not suite:
            return seen
        (one,) = some
        kept = len(one.kept)
        return replace(
            seen,
            part="",
            model=one.model,
            question=one.question,
            first=(kept + len(one.lost)) / n if n else None,
            second=(kept + len(one.gained)) / n if n else None,
            lost=tuple(str(item) for item in one.design.units if item in one.lost),
        )

    def _is_below(self, change: Difference) -> bool:
        return change.high is not None and change.high < -self.margin

    def _smallest(self, some: Sequence[_Verdicts]) -> float | None:
        """The smallest drop at which the interval lies wholly below minus the margin."""
        # Another item is lost at these drops, and at no other.
        drops = sorted({k / one.design.n for one in some for k in range(1, len(one.right) + 1)})
        found = bisect_left(
            drops,
            x=True,
            key=lambda drop: self._is_below(self._change([one.after(drop) for one in some])),
        )
        if found == len(drops):
            return None
        estimate = self._change([one.after(drops[found]) for one in some]).estimate
        return None if estimate is None else -estimate

    def _change(self, some: Sequence[_Verdicts]) -> Difference:
        """The change on one suite; on several, their mean for other items of them."""
        if len(some) == 1:
            return some[0].change(self.level)
        values = []
        for one in some:
            about, change = self.facts[one.suite], one.change(self.level)
            if change.estimate is not None:
                values.append(
                    SuiteValue(
                        one.suite, about.unit, about.phenomena,
                        change.estimate, change.low, change.high,
                    )
                )  # fmt: skip
        return mean_change(values)


def mean_change(values: Sequence[SuiteValue]) -> Difference:
    """The unweighted mean change over suites, with its interval for other items of them.

    Args:
        values: the changes; those of suites made of the same items count once.
    """
    units = grouped((one.unit, one.value) for one in values).values()
    means = [math.fsum(unit) / len(unit) for unit in units]
    found = mean_for_items(values)
    return Difference(
        math.fsum(means) / len(means) if means else None,
        found.low,
        found.high,
        found.method or "",
        found.reason,
    )
