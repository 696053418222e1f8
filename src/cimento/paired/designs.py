"""Two models on one factorial design: the paired differences of their DDs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.paired.pairwise import adjusted
from cimento.paired.scores import paired_interactions
from cimento.report.design_differences import DesignDifference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cimento.kinds.run import Run
    from cimento.paired.pairwise import Correction

MOST_MODELS = 10
"""Most models of a design of which every pair is compared without being asked for."""


def design_differences(
    runs: Sequence[Run], *, correction: Correction = "holm", seed: int = 0
) -> tuple[DesignDifference, ...]:
    """The differences of the DDs of every two models on each design, on one measure each.

    Args:
        runs: of factorial designs; the labels of their models tell those of a suite apart.
        correction: of p over all pairs, phenomena and suites.
        seed: of resampling.
    """
    by_suite = grouped((run.suite.name, run) for run in runs)
    pairs = [pair for some in by_suite.values() for pair in combinations(some, 2)]
    return _corrected(
        (
            found
            for one, other in pairs
            if one.model != other.model
            for found in _differences(one, other, (one.model, other.model), seed=seed)
        ),
        correction,
    )


def paired_designs(
    pairs: Sequence[tuple[Run, Run]], sides: tuple[str, str], *, correction: Correction, seed: int
) -> tuple[DesignDifference, ...]:
    """The differences of DD between two sides, of those pairs of runs that are of a design.

    Args:
        pairs: runs that belong together.
        sides: names of the sides.
        correction: of p over all pairs and phenomena.
        seed: of resampling.
    """
    return _corrected(
        (
            found
            for one, other in pairs
            if one.paradigm.presenter.design_effects(one)
            for found in _differences(one, other, sides, seed=seed)
        ),
        correction,
    )


def _differences(
    one: Run, other: Run, names: tuple[str, str], *, seed: int
) -> Iterator[DesignDifference]:
    measure, by_phenomenon = paired_interactions(one, other, seed=seed)
    for phenomenon, values in by_phenomenon.items():
        yield DesignDifference(
            suite=one.suite.name,
            measure=measure,
            phenomenon=phenomenon,
            unit=values.unit,
            n=values.n,
            first=names[0],
            second=names[1],
            first_dd=values.first,
            second_dd=values.second,
            change=values.change,
        )


def _corrected(
    differences: Iterable[DesignDifference], correction: Correction
) -> tuple[DesignDifference, ...]:
    found = list(differences)
    p_values = adjusted([one.change.p for one in found], correction)
    tests = sum(one.change.p is not None for one in found)
    return tuple(
        replace(one, corrected=p, family=tests) for one, p in zip(found, p_values, strict=True)
    )
