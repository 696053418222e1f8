"""Differences of two models over suites: what each suite is about, and its paired difference.

A mean over suites is of proportions of correct items. Factorial designs are summed up by DD, in the
unit of a measure, so they are left out of it and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.compare.beside_published import published_grid, shown_beside
from cimento.kinds.alike import estimates_alike, headline_of
from cimento.paired.item_outcomes import MEASURE
from cimento.records.effects import effects_among
from cimento.report.benchmarks import benchmark_means, means_grid
from cimento.report.suite_differences import (
    PairOfModels,
    SuiteDifference,
    SuiteRate,
    differences_grid,
    differences_over_suites,
    levels_of_chance,
    rate_differences,
)
from cimento.statistics.suite_means import SuiteValue
from cimento.suites.builtin import comes_with_cimento
from cimento.suites.language_sets import GENERATED, GENERATED_STATUS, STARTER
from cimento.suites.published_results import blimp_datasets
from cimento.suites.twins import units_of

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.paired.pairwise import Correction, PairwiseComparison
    from cimento.records.summary import SuiteMean
    from cimento.report.grid import Grid

_PHENOMENON = "phenomenon"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFacts:
    """What a suite is about.

    Attributes:
        unit: its name, or that of the first suite made of the same items.
        phenomena: that it tests; its name where it says none.
        chance: level of chance of its headline; None where it is not known.
        is_design: whether it is a factorial design, which is summed up by DD.
        part: ``starter`` if it comes with cimento, ``generated`` if it is a draft that a grammar
            made, else empty; parts are never in one mean.
    """

    unit: str
    phenomena: frozenset[str]
    chance: float | None
    is_design: bool
    part: str = ""


def facts_of(runs: Sequence[Run]) -> dict[str, SuiteFacts]:
    """The facts of the suites of some runs, by name.

    Args:
        runs: of any kinds.
    """
    first = {run.suite.name: run for run in reversed(runs)}
    units = units_of([run.suite for run in runs])
    designs = {run.suite.name for run in runs if effects_among(run.estimates())}
    heads = map(headline_of, estimates_alike(runs))
    chances = levels_of_chance(
        (run.suite.name, head.chance)
        for run, head in zip(runs, heads, strict=True)
        if head is not None
    )
    return {
        name: SuiteFacts(
            unit=units[name],
            phenomena=_phenomena(run),
            chance=chances.get(name),
            is_design=name in designs,
            part=_part(run),
        )
        for name, run in first.items()
    }


def designs_in(facts: Mapping[str, SuiteFacts]) -> tuple[str, ...]:
    """The names of the suites that are factorial designs."""
    return tuple(name for name, one in facts.items() if one.is_design)


def _part(run: Run) -> str:
    """The part of cimento's own suites that a suite is of, by its metadata; empty for others."""
    meta = run.suite.meta
    if meta.status == GENERATED_STATUS:
        return GENERATED
    return STARTER if comes_with_cimento(meta) else ""


def _phenomena(run: Run) -> frozenset[str]:
    if (dataset := blimp_datasets().get(run.suite.name)) is not None:
        return frozenset({dataset.phenomenon})
    levels = (one.level for one in run.estimates() if one.group == _PHENOMENON)
    return frozenset(filter(None, (run.suite.meta.phenomenon, *levels))) or frozenset(
        {run.suite.name}
    )


def over_suites_grids(
    means: Sequence[SuiteMean],
    differences: Sequence[SuiteDifference],
    *,
    designs: Sequence[str] = (),
    correction: Correction = "holm",
    these_suites: bool = False,
) -> dict[str, Grid]:
    """The tables of means and of mean differences over suites, by name; none of what is empty.

    Args:
        means: over the suites of a benchmark.
        differences: of models.
        designs: names of the factorial designs, which the differences leave out.
        correction: of p, which a header names.
        these_suites: whether intervals for other items of these suites are beside the others.
    """
    grids = {}
    if means:
        grids["means"] = means_grid(means, these_suites=these_suites)
    if differences:
        grids["differences"] = differences_grid(
            differences, designs=designs, correction=correction, these_suites=these_suites
        )
    return grids


def suite_differences(
    comparisons: Iterable[PairwiseComparison],
    facts: Mapping[str, SuiteFacts],
    *,
    correction: Correction,
) -> tuple[SuiteDifference, ...]:
    """The mean differences of pairs of models over suites, from comparisons item by item.

    Args:
        comparisons: by the headline questions of suites; those of designs are left out.
        facts: of these suites.
        correction: of p-values over pairs.
    """
    values: dict[PairOfModels, list[SuiteValue]] = {}
    for one in comparisons:
        about, change = facts[one.suite], one.change
        if change.estimate is not None and not about.is_design:
            pair = PairOfModels(one.first, one.second, chance=about.chance, part=about.part)
            values.setdefault(pair, []).append(
                SuiteValue(
                    one.suite, about.unit, about.phenomena,
                    change.estimate, change.low, change.high,
                )
            )  # fmt: skip
    return differences_over_suites(values, correction=correction)


def _board_differences(
    runs: Sequence[Run], facts: Mapping[str, SuiteFacts]
) -> tuple[SuiteDifference, ...]:
    """The mean differences of pairs of models over suites, from the rates of runs.

    Args:
        runs: of any kinds; designs, and those whose headline is not a rate, are left out.
        facts: of their suites.
    """
    alike = zip(runs, estimates_alike(runs), strict=True)
    heads = [(run, head) for run, some in alike if (head := headline_of(some)) is not None]
    return rate_differences(
        [
            SuiteRate(
                suite=run.suite.name,
                unit=facts[run.suite.name].unit,
                phenomena=facts[run.suite.name].phenomena,
                model=run.model,
                measure=getattr(run.options, MEASURE, ""),
                chance=facts[run.suite.name].chance,
                part=facts[run.suite.name].part,
                value=head.value,
            )
            for run, head in heads
            if head.value is not None and head.is_share and not facts[run.suite.name].is_design
        ]
    )


def board_grids(runs: Sequence[Run]) -> dict[str, Grid]:
    """The tables of a site over its suites, by name: means, differences, and published results.

    Args:
        runs: of any kinds.
    """
    means = benchmark_means([run.summary() for run in runs])
    facts = facts_of(runs)
    differences = _board_differences(runs, facts)
    grids = over_suites_grids(means, differences, designs=designs_in(facts))
    if beside := shown_beside(runs, means):
        grids["published"] = published_grid(beside)
    return grids
