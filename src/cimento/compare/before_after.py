"""Two runs, or two folders of runs: which belong together, and what differs, item by item.

They are two models, or one model before and after something was changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from cimento.compare.over_suites import facts_of, over_suites_grids, suite_differences
from cimento.compare.summary_tables import summary_grids
from cimento.compare.ways import WayComparison, compare_ways, is_restated
from cimento.errors import UsageError
from cimento.io.inline_markup import isolated, notebook_table
from cimento.io.tables import REQUESTS
from cimento.paired.designs import paired_designs
from cimento.paired.item_outcomes import (
    ItemOutcomes,
    distinct_names,
    item_outcomes,
    judged_on_measure,
    named_alike,
    named_means,
    step_of,
)
from cimento.paired.pairwise import (
    Correction,
    PairedCorrelations,
    PairedValues,
    PairwiseComparison,
    compare_pair,
    corrected,
    corrected_apart,
    paired_correlations,
    paired_outcomes,
)
from cimento.paired.scores import paired_scores
from cimento.report.design_differences import DesignDifference, design_differences_grid
from cimento.report.sides import UNNAMED, Sides
from cimento.suites.letters import one_spelling

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.summary import SuiteMean
    from cimento.report.grid import Grid
    from cimento.report.suite_differences import SuiteDifference


_SHOWN = 3
"""Number of pairs of runs in the short text of a comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPair:
    """Two runs that belong together.

    Attributes:
        first: suite and model of the first.
        second: of the second.
        shared: items that both have.
        only_first: items that only the first has.
        only_second: items that only the second has.
        unscored_second: items of both that only the second could not score.
    """

    first: str
    second: str
    shared: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    unscored_second: tuple[str, ...]

    @property
    def left_out(self) -> int:
        """The number of items of the first that are not compared, since the second lacks them."""
        return len(self.only_first) + len(self.unscored_second)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAfter:
    """The differences between one run, or folder of runs, and another.

    Attributes:
        runs: pairs of runs that belong together.
        models: the labels of the two models; None where one model is on both sides, before and
            after something was changed.
        sides: the names of the two sides: the models, or else the suites, if these differ.
        rates: every question by which something is right or wrong; p is corrected over the main
            questions, and over the others, or over all of them if every question was asked about.
        headlines: questions that sum up their run; these alone decide what is worse.
        values: differences of values that are not right or wrong: interactions, conditions,
            measures.
        correlations: correlations of values with their references, such as ratings.
        means: means of both sides over the suites of a benchmark whose figures are published.
        differences: mean differences over suites that are not designs, where there are several.
        designs: differences of DD, p corrected over all of them.
        ways: comparisons of runs of which one asks in words what the other asks by probability:
            what agrees.
        only_first: suite and model of the runs on the first side that have no partner.
        only_second: number of items that only the second side has.
    """

    runs: tuple[RunPair, ...]
    models: tuple[str, str] | None
    sides: tuple[str, str]
    rates: tuple[PairwiseComparison, ...]
    headlines: frozenset[tuple[str, str]]
    values: tuple[PairedValues, ...]
    correlations: tuple[PairedCorrelations, ...]
    means: tuple[SuiteMean, ...]
    differences: tuple[SuiteDifference, ...] = ()
    designs: tuple[DesignDifference, ...] = ()
    ways: tuple[WayComparison, ...] = ()
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()

    def __repr__(self) -> str:
        pairs = "; ".join(f"{pair.first} and {pair.second}" for pair in self.runs[:_SHOWN])
        more = f" and {len(self.runs) - _SHOWN} more" if len(self.runs) > _SHOWN else ""
        return f"<Comparison of {pairs}{more}>"

    @property
    def summed_up(self) -> tuple[PairwiseComparison, ...]:
        """The rates by which the runs are summed up."""
        return tuple(r for r in self.rates if (r.suite, r.question) in self.headlines)

    @property
    def correlated(self) -> tuple[PairedCorrelations, ...]:
        """The correlations by which the other runs are summed up."""
        return tuple(c for c in self.correlations if (c.suite, c.question) in self.headlines)

    def grids(
        self,
        *,
        correction: Correction = "holm",
        with_items: bool = False,
        these_suites: bool = False,
    ) -> dict[str, Grid]:
        """The tables of what differs, by name; of several runs a summary is the first.

        Args:
            correction: correction of p-values, which their headers name.
            with_items: also with the difference of every item.
            these_suites: means over suites also with the interval for other items of them.
        """
        from cimento.compare import comparison_tables as tables
        from cimento.compare.ways import ways_grids

        behind = [rate.values for rate in self.rates if rate.values is not None]
        sides = Sides(*self.sides, models=self.models is not None)
        values = [v for v in self.values if not (self.designs and v.name.endswith(": DD"))]
        of_dd = "; of DD more is better" if any(v.name.endswith(": DD") for v in values) else ""
        title = f"Values {sides.phrase}, as measures define them{of_dd}."
        grids = summary_grids(self, correction=correction, sides=sides)
        if self.designs:
            grids["dd-pairs"] = design_differences_grid(self.designs, correction=correction)
        if self.ways:
            grids |= ways_grids(self.ways, with_items=with_items)
        grids |= over_suites_grids(
            self.means,
            self.differences,
            designs=list(dict.fromkeys(design.suite for design in self.designs)),
            correction=correction,
            these_suites=these_suites,
        )
        grids |= tables.rate_grids(self.rates, correction=correction, sides=sides)
        if behind:
            grids["margins"] = tables.values_grid(
                behind, title=f"Mean margins {sides.phrase}.", sides=sides
            )
        if values:
            grids["values"] = tables.values_grid(values, title=title, sides=sides)
        if self.correlations:
            grids["correlations"] = tables.correlations_grid(
                self.correlations, correction=correction
            )
        if with_items and (changed := (*behind, *self.values)):
            grids["items"] = tables.changes_grid(changed, sides=sides)
        return grids

    def _repr_html_(self) -> str:
        """Rates, values and correlations, as notebooks show them."""
        head = (
            f"first: {pair.first}; second: {pair.second}; {pair.shared} shared items"
            for pair in self.runs
        )
        tables = (
            notebook_table(
                grid.header, grid.text, title=grid.title, notes=grid.footnotes, labels=grid.labels
            )
            for grid in self.grids().values()
        )
        return f"<p>{'<br>'.join(map(isolated, head))}</p>{''.join(tables)}"


def compare_before_after(
    first: Run | Sequence[Run],
    second: Run | Sequence[Run],
    *,
    measure: str = "",
    correction: Correction = "holm",
    every_question: bool = False,
    seed: int = 0,
) -> BeforeAfter:
    """Compare two models, or one model before and after a change, item by item.

    Items are matched by id, so variants of a suite, which keep them, can be compared.

    Args:
        first: one side, or what was before.
        second: the other, or what came after; see `pair_runs` for what belongs together.
        measure: of scores and verdicts, where runs have several; empty for as they are.
        correction: how p-values are corrected: ``holm``, or ``bh`` for the false discovery rate.
        every_question: whether all questions count alike. By default, those that sum up a suite are
            corrected by themselves, and the others too.
        seed: of resampling.

    Raises:
        UsageError: no runs belong together, two share nothing, or the measure is unknown.
    """
    sides = [list(side) if isinstance(side, Sequence) else [side] for side in (first, second)]
    matches = pair_runs(*(judged_on_measure(side, measure) for side in sides))
    rates, values, correlations, headlines = _paired(matches, seed=seed)
    main = frozenset() if every_question else headlines
    return BeforeAfter(
        runs=tuple(_shared(*both) for both in matches),
        models=_two_models(matches),
        sides=_sides(matches),
        rates=corrected_apart(rates, main, correction),
        headlines=frozenset(headlines),
        values=tuple(values),
        correlations=corrected(correlations, correction),
        means=_means(matches),
        differences=suite_differences(
            [rate for rate in rates if (rate.suite, rate.question) in headlines],
            facts_of([run for both in matches for run in both]),
            correction=correction,
        ),
        designs=paired_designs(matches, _sides(matches), correction=correction, seed=seed),
        ways=_ways(matches, seed=seed),
        only_first=_unpaired(sides[0], (one for one, _ in matches)),
        only_second=_unpaired(sides[1], (other for _, other in matches)),
    )


def _paired(
    matches: Sequence[tuple[Run, Run]], *, seed: int
) -> tuple[
    list[PairwiseComparison],
    list[PairedValues],
    list[PairedCorrelations],
    set[tuple[str, str]],
]:
    """Rates, values and correlations of runs that belong together, and their main questions."""
    rates, values, correlations, headlines = [], [], [], set()
    for before, after in matches:
        if is_restated(before, after):
            continue  # what agrees is compared below
        _refuse_unrelated(before, after)
        for both in _questions_of_both(before, after):
            headlines |= {(both[0].suite, both[0].question)} if both[0].headline else set()
            if any(one.right or one.out_of_reach for one in both):
                rates.append(compare_pair(*both, with_values=True, seed=seed))
            elif (change := paired_outcomes(*both, seed=seed)) is not None:
                values.append(change)
            correlations += paired_correlations(*both)
        values += paired_scores(before, after, seed=seed)
    return rates, values, correlations, headlines


def _ways(matches: Sequence[tuple[Run, Run]], *, seed: int) -> tuple[WayComparison, ...]:
    """The agreement of the pairs of which one asks again what the other asks."""
    return tuple(
        compared
        for first, second in matches
        if is_restated(first, second)
        for compared in compare_ways(first, second, _by_question(first, second), seed=seed)
    )


def _unpaired(runs: Sequence[Run], partners: Iterable[Run]) -> tuple[str, ...]:
    paired = {(run.folder, _titled(run)) for run in partners}
    return tuple(_titled(run) for run in runs if (run.folder, _titled(run)) not in paired)


def _titled(run: Run) -> str:
    return f"{run.suite.name}, {run.model}"


def _by_question(*runs: Run) -> tuple[dict[str, ItemOutcomes], dict[str, ItemOutcomes]]:
    """The outcomes of two runs, each by question."""
    both = named_alike([item_outcomes([run], every_question=True, beside=runs) for run in runs])
    one, other = ({outcomes.question: outcomes for outcomes in side} for side in both)
    return one, other


def _questions_of_both(first: Run, second: Run) -> list[tuple[ItemOutcomes, ItemOutcomes]]:
    """The outcomes of the questions that two runs share."""
    one, other = _by_question(first, second)
    return [(one[name], other[name]) for name in one if name in other]


def _means(pairs: Sequence[tuple[Run, Run]]) -> tuple[SuiteMean, ...]:
    """The means of both sides over the suites of a benchmark."""
    names = _two_models(pairs) or UNNAMED
    return named_means([run for pair in pairs for run in pair], [*names] * len(pairs))


def _two_models(pairs: Sequence[tuple[Run, Run]]) -> tuple[str, str] | None:
    """The labels of two models; None where a model is on both sides, or there are several."""
    labels = {(first.model, second.model) for first, second in pairs}
    if len(labels) != 1 or any(_model(one) == _model(other) for one, other in pairs):
        return None
    return labels.pop()


def _sides(matches: Sequence[tuple[Run, Run]]) -> tuple[str, str]:
    """The names of the two sides, by which the columns of tables are told apart."""
    for labels in (
        {(first.model, second.model) for first, second in matches},
        {(first.suite.name, second.suite.name) for first, second in matches},
    ):
        if len(labels) == 1 and len({*next(iter(labels))}) > 1:
            return labels.pop()
    return UNNAMED


def _model(run: Run) -> str:
    """The model of a run whatever its revision or step of training."""
    named = str(run.manifest.get("named") or run.model)
    return step_of(named)[0].partition("@")[0]


def _shared(first: Run, second: Run) -> RunPair:
    """The items that two runs share; an error if there are none."""
    import polars as pl

    names = [_titled(run) for run in (first, second)]
    outcomes = [run.outcomes() for run in (first, second)]
    before, after = (dict.fromkeys(table["item"].to_list()) for table in outcomes)
    scored, rescored = (
        {*table.filter(pl.col("verdict") != "unscored")["item"]} for table in outcomes
    )
    shared = [item for item in before if item in after]
    if not shared:
        raise UsageError(
            where=" and ".join(names),
            seen="they share no item",
            todo="Compare runs of one suite, or of its variants.",
        )
    return RunPair(
        first=names[0],
        second=names[1],
        shared=len(shared),
        only_first=tuple(item for item in before if item not in after),
        only_second=tuple(item for item in after if item not in before),
        unscored_second=tuple(item for item in shared if item in scored and item not in rescored),
    )


def _refuse_unrelated(first: Run, second: Run) -> None:
    """See that the items of two runs are versions of each other, as their ids suppose.

    Those of one suite are, and so are variants of a suite. Ids such as 1, 2, 3 are alike in suites
    that have nothing to do with each other.

    Raises:
        UsageError: the languages differ, or items of one id have hardly a word in common.
    """
    if first.suite.name == second.suite.name:
        return
    names = [run.suite.name for run in (first, second)]
    languages = [run.suite.meta.language for run in (first, second)]
    if all(languages) and len(set(languages)) > 1:
        seen = f"the suites are in different languages: {' and '.join(languages)}"
    elif (alike := _likeness(first, second)) is not None and alike < _LEAST_ALIKE:
        seen = "items with the same id have hardly a word in common"
    else:
        return
    raise UsageError(
        where=" and ".join(names), seen=seen, todo="Compare runs of one suite, or of its variants."
    )


_LEAST_ALIKE = 0.15
"""The likeness below which items are not versions of each other.

That of suites on one language has a mean of 0.07 at most, that of a suite and its adversarial
version 0.6 at least.
"""


def _likeness(first: Run, second: Run) -> float | None:
    """The mean proportion of letter trigrams that items of one id share; None without texts."""
    if not all(REQUESTS.name in run.tables for run in (first, second)):
        return None
    one, other = _trigrams(first), _trigrams(second)
    shared = [
        len(one[item] & other[item]) / max(1, len(one[item] | other[item]))
        for item in one.keys() & other.keys()
    ]
    return math.fsum(shared) / len(shared) if shared else None


def _trigrams(run: Run) -> dict[str, set[str]]:
    """The letter trigrams of each item's texts; trigrams suit scripts without spaces too."""
    trigrams: dict[str, set[str]] = {}
    for item, text in run.table(REQUESTS.name).select("item", "text").iter_rows():
        padded = f"  {one_spelling(text).lower()}"
        trigrams.setdefault(item, set()).update(
            padded[start : start + 3] for start in range(len(padded) - 2)
        )
    return trigrams


T = TypeVar("T")


def _about(run: Run) -> str:
    """The suite of a run, or the one whose questions it asks in another way."""
    restated = run.paradigm.judge.restated(run)
    return run.suite.name if restated is None else restated.suite


def pair_runs(first: Sequence[Run], second: Sequence[Run]) -> list[tuple[Run, Run]]:
    """The runs that belong together.

    One and one; else those of the same suite and model; else, where that tells them apart, those
    of the same suite, or of the same model.

    Args:
        first: runs of one side.
        second: runs of the other.

    Raises:
        UsageError: none do, or it is not clear which.
    """
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    names = {
        id(run): name
        for side in (first, second)
        for run, name in zip(side, distinct_names(side), strict=True)
    }
    keys: Sequence[Callable[[Run], Hashable]] = (
        lambda run: (_about(run), names[id(run)]),
        _about,
        lambda run: names[id(run)],
    )
    pairs = matched(first, second, keys)
    if pairs is None:
        raise UsageError(
            where="compare",
            seen="a suite or a model has several runs in one of the folders",
            todo="Give single run folders.",
        )
    if not pairs:
        raise UsageError(
            where="compare", seen=_nothing_paired(first, second), todo="Give single runs."
        )
    return pairs


def _nothing_paired(first: Sequence[Run], second: Sequence[Run]) -> str:
    """Why no runs of two folders belong together."""
    sides = [{(run.suite.name, run.model) for run in side} for side in (first, second)]
    for suite, model in sorted(sides[0] & sides[1]):
        return f"one of the folders has several runs of {suite} by {model}, with other options each"
    return "the folders have no suite and no model in common"


def matched(
    first: Sequence[T], second: Sequence[T], keys: Sequence[Callable[[T], Hashable]]
) -> list[tuple[T, T]] | None:
    """The pairs with a common key, by the first key that tells all of a side apart.

    Args:
        first: one side.
        second: the other.
        keys: from the most telling one.

    Returns:
        The pairs; None where every key names several, and empty where nothing is in common.
    """
    telling = False
    for key in keys:
        if any(len(set(map(key, side))) < len(side) for side in (first, second)):
            continue
        telling = True
        others = {key(one): one for one in second}
        pairs = [(one, others[key(one)]) for one in first if key(one) in others]
        if pairs:
            return pairs
    return [] if telling else None
