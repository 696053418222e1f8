"""Paired differences of two models over suites: by phenomenon, and over all of them with a test.

Two models on one suite have the same items, so what is averaged is their difference on each suite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from cimento.io.values import grouped
from cimento.report.formatting import ends_of, interval, p_number, signed
from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.statistics.suite_means import SuiteValue

OVERALL = "overall"
OTHER_PHENOMENA = (
    "Intervals and p over all suites generalize to other phenomena (clustered by phenomenon),"
    " those of one phenomenon to other suites of it."
)
TWINS = "Suites made of the same items count as one."
THESE_SUITES = "these suites"
WIDER = "It may be the wider one, as few suites can be alike by chance."
OTHER_ITEMS = (
    f"{THESE_SUITES}: the interval that generalizes to other items of these very suites. {WIDER}"
)
MEANS_TARGET = (
    "Intervals of means generalize to other phenomena (clustered by phenomenon) or, if all suites"
    " are of one phenomenon, to other suites of it."
)
_FEWEST = 2
MOST_IN_PAIRS = 10
"""Models up to which every pair is compared without being asked for."""
_MOST_IN_FULL = 3
"""Pairs of models up to which each phenomenon has a row."""
_ONLY_OVERALL = "Single phenomena: --json has them, or a comparison of fewer models."
_p = partial(p_number, absent=BLANK)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteDifference:
    """The mean difference of two models over suites.

    Attributes:
        first: label of the one model.
        second: label of the other.
        measure: by which sentences are compared; empty where that is not known.
        chance: level of chance of the suites; None where that is not known.
        part: ``starter`` or ``generated`` if these are suites of cimento itself, else empty.
        phenomenon: of the suites; empty for all of them.
        n_suites: number of suites; those made of the same items count as one.
        n_phenomena: number of phenomena.
        value: mean of second minus first, as a proportion; None where there is none.
        low: lower end of its 95% interval for `target`; None where there is none.
        high: upper end.
        p: two-sided, of no difference, by the same method.
        p_corrected: over the pairs of models that were compared together.
        method: of interval and test.
        target: ``phenomena`` for other phenomena, ``suites`` for other suites of the one.
        items_low: lower end of the 95% interval for other items of these suites; None where there
            is none.
        items_high: upper end.
        reason: why there is no interval; empty where there is one.
        items_reason: why there is none for other items.
    """

    first: str
    second: str
    measure: str = ""
    chance: float | None = None
    part: str = ""
    phenomenon: str = ""
    n_suites: int
    n_phenomena: int
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None = None
    method: str
    target: str
    items_low: float | None
    items_high: float | None
    reason: str = ""
    items_reason: str = ""


@dataclass(frozen=True, slots=True)
class PairOfModels:
    """Two models and what they are compared on.

    Attributes:
        first: label of the one.
        second: label of the other.
        measure: by which sentences are compared.
        chance: level of chance of the suites.
        part: of cimento's own suites that they are of; empty for others.
    """

    first: str
    second: str
    measure: str = ""
    chance: float | None = None
    part: str = ""


def differences_over_suites(
    values: Mapping[PairOfModels, Sequence[SuiteValue]], *, correction: Literal["holm", "bh"]
) -> tuple[SuiteDifference, ...]:
    """The mean differences of some pairs of models, by phenomenon and over all suites.

    Args:
        values: pairs, each with the difference on each suite; pairs with one suite are left out.
        correction: of p-values over pairs; those of phenomena are corrected apart.
    """
    from cimento.statistics.multiple import benjamini_hochberg, holm

    rows = [
        _difference(pair, label, some)
        for pair, known in values.items()
        if len({value.unit for value in known}) >= _FEWEST
        for label, some in _by_phenomenon(known).items()
    ]
    correct = {"holm": holm, "bh": benjamini_hochberg}[correction]
    corrected: dict[int, float | None] = {}
    for is_overall in (True, False):
        places = [n for n, row in enumerate(rows) if (not row.phenomenon) == is_overall]
        corrected |= zip(places, correct([rows[n].p for n in places]), strict=True)
    return tuple(replace(row, p_corrected=corrected[n]) for n, row in enumerate(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRate:
    """The headline rate of one model on one suite.

    Attributes:
        suite: name of the suite.
        unit: what it is one of; suites made of the same items share one.
        phenomena: what it tests.
        model: label of the model.
        measure: by which sentences are compared; empty where there is none.
        chance: level of chance; None where it is not known.
        part: of cimento's own suites that it is of; empty for others.
        value: the rate.
    """

    suite: str
    unit: str
    phenomena: frozenset[str]
    model: str
    measure: str
    chance: float | None
    part: str = ""
    value: float


def rate_differences(
    rates: Sequence[SuiteRate], *, correction: Literal["holm", "bh"] = "holm"
) -> tuple[SuiteDifference, ...]:
    """The mean differences of every pair of models, from rates alone.

    Rates do not say which items are right, so that there is no interval for other items.

    Args:
        rates: of models on suites; a pair is compared on the suites that both have.
        correction: of p-values over pairs.

    Returns:
        By measure, level of chance and part; nothing for more than ten models.
    """
    from cimento.statistics.suite_means import SuiteValue

    by_column: dict[tuple[str, str], dict[str, SuiteRate]] = {}
    for rate in rates:
        by_column.setdefault((rate.measure, rate.model), {}).setdefault(rate.suite, rate)
    if len({model for _, model in by_column}) > MOST_IN_PAIRS:
        return ()
    chances = levels_of_chance((rate.suite, rate.chance) for rate in rates)
    values: dict[PairOfModels, list[SuiteValue]] = {}
    for (column, first), (other, second) in combinations(by_column.items(), 2):
        for suite in first if column[0] == other[0] else ():
            if suite in second:
                one = first[suite]
                pair = PairOfModels(column[1], other[1], column[0], chances[suite], one.part)
                gap = second[suite].value - one.value
                values.setdefault(pair, []).append(
                    SuiteValue(suite, one.unit, one.phenomena, gap, None, None)
                )
    return differences_over_suites(values, correction=correction)


def levels_of_chance(chances: Iterable[tuple[str, float | None]]) -> dict[str, float | None]:
    """The level of chance of each suite, to two digits: the highest among its models."""
    levels: dict[str, float | None] = {}
    for suite, chance in chances:
        known = [one for one in (chance, levels.get(suite)) if one is not None]
        levels[suite] = round(max(known), 2) if known else None
    return levels


def _by_phenomenon(values: Sequence[SuiteValue]) -> dict[str, list[SuiteValue]]:
    """The suites of each phenomenon, and all of them under no name; the same suites only once."""
    labeled = [(", ".join(sorted(value.phenomena)), value) for value in values]
    by_label = grouped(sorted(labeled, key=lambda row: row[0]))
    return {**(by_label if len(by_label) > 1 else {}), "": list(values)}


def _difference(pair: PairOfModels, label: str, values: Sequence[SuiteValue]) -> SuiteDifference:
    from cimento.statistics.suite_means import mean_over_suites

    over = mean_over_suites(values)
    mean, items = over.mean, over.items
    return SuiteDifference(
        first=pair.first,
        second=pair.second,
        measure=pair.measure,
        chance=pair.chance,
        part=pair.part,
        phenomenon=label,
        n_suites=mean.n,
        n_phenomena=over.phenomena,
        value=mean.value,
        low=None if mean.low is None else max(-1.0, mean.low),
        high=None if mean.high is None else min(1.0, mean.high),
        p=mean.p,
        method=mean.method,
        target=over.target,
        items_low=items.low,
        items_high=items.high,
        reason=mean.reason or "",
        items_reason=items.reason or "",
    )


def differences_grid(
    differences: Sequence[SuiteDifference],
    *,
    designs: Sequence[str] = (),
    correction: str = "holm",
    these_suites: bool = False,
) -> Grid:
    """A table of mean differences over suites.

    Args:
        differences: one per row, at least one.
        designs: names of the factorial designs, which are left out.
        correction: name of the correction of p-values.
        these_suites: whether the interval for other items of these suites is beside the other.
    """
    pairs = {(one.first, one.second, one.measure) for one in differences}
    shown = [one for one in differences if len(pairs) <= _MOST_IN_FULL or not one.phenomenon]
    several = len(shown) < len(differences)
    levels = {one.chance for one in differences}
    groups = {(one.chance, one.part) for one in differences}
    columns = {
        "first": lambda one: one.first,
        "second": lambda one: one.second,
        "measure": lambda one: one.measure,
        "chance": lambda one: BLANK if one.chance is None else f"{one.chance:g}",
        "phenomenon": lambda one: one.phenomenon or OVERALL,
        "suites": lambda one: f"{one.n_suites} {one.part}" if one.part else one.n_suites,
        "phenomena": lambda one: one.n_phenomena,
        "change": lambda one: signed(one.value, digits=3, absent=BLANK),
        "95%": ends_of,
        THESE_SUITES: lambda one: interval(one.items_low, one.items_high, absent=BLANK),
        "p": lambda one: _p(one.p),
        f"p ({correction})": lambda one: _p(one.p_corrected),
        "reason": lambda one: one.reason,
    }
    without = {
        *(("measure",) * (not any(one.measure for one in differences))),
        *(("chance",) * (len(levels) == 1)),
        *((THESE_SUITES,) * (not these_suites)),
        *((f"p ({correction})",) * (len(pairs) == 1 and len(groups) == 1)),
    }
    return Grid.of(
        shown,
        columns,
        title="Mean differences of accuracy over suites, second minus first.",
        labels=5 - len(without & {"measure", "chance"}),
        remarks=1,
        without=without,
        notes=(*_covered(shown, designs, these_suites=these_suites), *[_ONLY_OVERALL] * several),
    )


def _covered(
    shown: Sequence[SuiteDifference], designs: Sequence[str], *, these_suites: bool
) -> tuple[str, ...]:
    """What differences are of, what their intervals are about, and how they were made."""
    left_out = f"Without designs, which are compared by DD: {', '.join(designs)}."
    return (
        OTHER_PHENOMENA,
        TWINS,
        *[left_out] * bool(designs),
        *[OTHER_ITEMS] * these_suites,
        *(f"Methods: {method}." for method in dict.fromkeys(one.method for one in shown if one.p)),
    )
