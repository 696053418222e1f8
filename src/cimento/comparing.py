"""Two stored runs compared: another model on the same suite, or a variant of the suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from cimento.designs import DEFAULT_MEASURE, factorial_of, is_factorial, scores_of
from cimento.errors import UsageError
from cimento.matching import matched
from cimento.measures import Measure, find_measure
from cimento.results import Run
from cimento.verdicts.accuracy import clusters_of
from cimento.verdicts.comparing import (
    Flips,
    Paired,
    compare_designs,
    compare_scores,
    compare_verdicts,
)
from cimento.verdicts.kinds import apart, rates_only


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changes from one run to another.

    Attributes:
        first: suite and model of the first.
        second: of the second.
        measure: of the scores; more is better.
        unit: of the scores.
        shared: items that both runs have.
        only_first: items that only the first has.
        only_second: items that only the second has.
        flips: every prediction, and the conjunction.
        scores: every condition.
        dds: DD of every phenomenon; empty where one of the suites has no design.
        note: on models of two kinds, whose scores are not compared; None where they are of one.
    """

    first: str
    second: str
    measure: str
    unit: str
    shared: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    flips: tuple[Flips, ...]
    scores: tuple[Paired, ...]
    dds: tuple[Paired, ...]
    note: str | None = None

    def _repr_html_(self) -> str:
        """Accuracies, and DD of factorial suites, as notebooks show them."""
        from cimento.report.comparison import flips_grid, paired_grid
        from cimento.report.notebook import grids_html

        grids = [flips_grid(self.flips, note=self.note)] if self.flips else []
        if self.dds:
            title = f"DD of {self.measure}, before and after."
            grids.append(paired_grid(self.dds, title=title))
        head = (f"first: {self.first}", f"second: {self.second}", f"{self.shared} shared items")
        return grids_html(grids, head=head)


def compare(first: Run, second: Run, *, measure: str = "", seed: int = 0) -> Comparison:
    """Compare two runs item by item.

    Items are matched by id, so variants of a suite, which keep them, can be compared.

    Args:
        first: the run before.
        second: the run after.
        measure: of scores, and what predictions are judged on where it is given; else each run is
            judged as it is stored and scores are surprisals of sentences.
        seed: of resampling.

    Raises:
        UsageError: the runs share no item, or there is no such measure.
    """
    if measure:
        first, second = (
            run.judge(dataclasses.replace(run.judging, measure=find_measure(measure).name))
            for run in (first, second)
        )
    chosen = find_measure(measure or first.judging.measure or DEFAULT_MEASURE)
    before = [item.id for item in first.suite.items]
    after = {item.id for item in second.suite.items}
    shared = [item for item in before if item in after]
    if not shared:
        raise UsageError(
            where=f"{_label(first)} and {_label(second)}",
            seen="they share no item",
            todo="Compare runs of one suite, or of its variants.",
        )
    verdicts = [run.summary(with_verdicts=True).verdicts for run in (first, second)]
    scores = [scores_of(run, chosen) for run in (first, second)]
    kinds = (first.model_kind, second.model_kind)
    clusters = clusters_of(first.suite) if first.suite.cluster else None
    how = _How(seed=seed, clusters=clusters, apart=apart(kinds))
    first_ties, second_ties = (run.judging.ties == "pass" for run in (first, second))
    flips = compare_verdicts(*verdicts, ties_pass=(first_ties, second_ties), **how)
    return Comparison(
        first=_label(first),
        second=_label(second),
        measure=chosen.name,
        unit=chosen.unit,
        shared=len(shared),
        only_first=tuple(item for item in before if item not in after),
        only_second=tuple(item.id for item in second.suite.items if item.id not in set(before)),
        flips=tuple(flips),
        scores=tuple(compare_scores(*scores, **how)),
        dds=tuple(_dds(first, second, chosen, how)),
        note=rates_only(kinds),
    )


class _How(TypedDict):
    """What all comparisons of two runs are made with."""

    seed: int
    clusters: Mapping[str, Hashable] | None
    apart: str | None


def _dds(first: Run, second: Run, measure: Measure, how: _How) -> list[Paired]:
    """DD of every phenomenon; nothing where one of the suites has no design."""
    if not (is_factorial(first) and is_factorial(second)):
        return []
    results = [factorial_of(run, measure.name, normalisations=("raw",)) for run in (first, second)]
    return compare_designs(*results, **how)


def pair_runs(first: Sequence[Run], second: Sequence[Run]) -> list[tuple[Run, Run]]:
    """The runs that belong together.

    One and one; else those of the same suite and model; else, where that tells them apart, those
    of the same suite, or of the same model.

    Raises:
        UsageError: none do, or it is not clear which.
    """
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    keys: Sequence[Callable[[Run], str]] = (
        lambda run: f"{run.suite.name}\n{run.model}",
        lambda run: run.suite.name,
        lambda run: run.model,
    )
    pairs = matched(first, second, keys)
    if pairs is None:
        raise UsageError(
            where="cimento compare",
            seen="a suite or a model has several runs in one of the folders",
            todo="Give single run folders.",
        )
    if not pairs:
        raise UsageError(
            where="cimento compare",
            seen="the folders have no suite and no model in common",
            todo="Give single run folders.",
        )
    return pairs


def _label(run: Run) -> str:
    return f"{run.suite.name}, {run.model}"
