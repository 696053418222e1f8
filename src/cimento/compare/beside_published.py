"""Runs beside the results that a set's authors released, paired item by item where they can be."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cimento.errors import CimentoError, UsageError, counted
from cimento.io.values import grouped
from cimento.paired.item_outcomes import ItemOutcomes, distinct_names, item_outcomes
from cimento.paired.pairwise import Correction, adjusted, compare_pair
from cimento.records.store import manifest_part
from cimento.report import formatting
from cimento.report.cells import PERCENT
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell
from cimento.statistics.intervals import share_interval
from cimento.suites.phenomena import labels_of_sets
from cimento.suites.published_results import (
    PEOPLE,
    PublishedResult,
    ResultSource,
    results_on,
    sets_with_results,
)

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.summary import SuiteMean
    from cimento.suites import Suite

_SUMMED, _REGIONS = "lp", "regions"
_ALIKE = {
    **dict.fromkeys(("surprisal-nats", "surprisal-bits"), _SUMMED),
    **dict.fromkeys(("ppl", "pppl", "bits-per-token"), "meanlp"),
}
"""Measures that put any two sentences into the same order as another one."""


class Beside(Protocol):
    """A run beside a released result: what says how both came about."""

    @property
    def set(self) -> str:
        """The set, as the registry names it."""

    @property
    def model(self) -> str:
        """The label of the run's model."""

    @property
    def published_model(self) -> str:
        """Whose result was released."""

    @property
    def measure(self) -> str:
        """The measure that the run was judged by."""

    @property
    def scored(self) -> str:
        """How the released model was scored, or what people were asked."""

    @property
    def doubt(self) -> str:
        """Why the two may differ for other reasons than the models."""

    @property
    def citation(self) -> str:
        """How to cite the release."""

    @property
    def address(self) -> str:
        """Where its files are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BesidePublished:
    """A run and one released result on the same items.

    Attributes:
        set: the set, as the registry names it.
        suite: name of the run's suite.
        label: the set's own label of the items; empty for all.
        model: label of the run's model.
        value: its accuracy on the items.
        low: lower end of its 95% interval; None without one.
        high: upper end of it.
        reason: why there is no interval, or no accuracy; empty where there are both.
        n: items of the run with a verdict.
        published_model: whose result was released: a model, or people.
        published: the released accuracy; over the run's items where each item was released.
        published_n: items or answers that it is of.
        measure: the measure that the run was judged by.
        scored: how the released model was scored, or what people were asked.
        doubt: why the two accuracies may differ for other reasons than the models; empty for none.
        change: accuracy of the run less the released one, paired by item; None where items were not
            released.
        change_low: lower end of its 95% interval.
        change_high: upper end of it.
        only_run: items that only the run gets right; None where items were not released.
        only_published: items that only the released model gets right.
        p: McNemar's exact p, or where items belong together that of the interval.
        corrected: the same, corrected over all results beside the runs.
        citation: of the release.
        address: where its files are, at the commit at which they were read.
    """

    set: str
    suite: str
    label: str
    model: str
    value: float | None
    low: float | None
    high: float | None
    reason: str
    n: int
    published_model: str
    published: float
    published_n: int
    measure: str
    scored: str
    doubt: str
    change: float | None = None
    change_low: float | None = None
    change_high: float | None = None
    only_run: int | None = None
    only_published: int | None = None
    p: float | None = None
    corrected: float | None = None
    citation: str
    address: str


def beside_published(
    runs: Sequence[Run],
    *,
    measure: str = "",
    likewise: bool = False,
    correction: Correction = "holm",
    seed: int = 0,
) -> tuple[BesidePublished, ...]:
    """The runs beside all results that were released on files with the sha256 of their suites.

    Args:
        runs: of any suites; those of others are left out.
        measure: the measure to judge answers on; empty for that of each run.
        likewise: whether a run is judged by the measure of each release, where it can be.
        correction: of p over all results.
        seed: of resampling.

    Raises:
        UsageError: a run was given twice, or cannot be judged on the measure.
    """
    known = [run for run in runs if _released(run)]
    found: list[BesidePublished] = []
    for run, name in zip(known, distinct_names(known), strict=True):
        if (suite := run.sentences) is None:
            continue
        outcomes = next(
            (one for one in item_outcomes([run], measure=measure) if one.headline), None
        )
        if outcomes is None:
            continue
        own = measure or measure_of(run)
        ours = dataclasses.replace(outcomes, model=name)
        judged: dict[str, ItemOutcomes | None] = {}
        for result in _best_first(_released(run)):
            theirs = _theirs(result, own) if likewise else own
            if theirs != own and theirs not in judged:
                judged[theirs] = _rejudged(run, ours, theirs)
            rejudged = judged.get(theirs)
            by = own if rejudged is None else theirs
            found.append(_beside(suite, rejudged or ours, result, judged_on=by, seed=seed))
    p_values = adjusted([one.p for one in found], correction)
    return tuple(
        dataclasses.replace(one, corrected=p) for one, p in zip(found, p_values, strict=True)
    )


def _theirs(result: PublishedResult, own: str) -> str:
    """The measure by which a run is judged as a release was; the run's own if that is as good."""
    theirs = result.source.measure
    is_known = result.model != PEOPLE and theirs not in ("", _ALIKE.get(own, own))
    return theirs if is_known else own


def _rejudged(run: Run, outcomes: ItemOutcomes, measure: str) -> ItemOutcomes | None:
    """The verdicts on another measure; None if the run cannot be judged on it."""
    import polars as pl

    try:
        table = run.judged({"measure": measure}).outcomes()
    except CimentoError:
        return None
    rows = table.filter(pl.col("question") == outcomes.question).select("item", "right")
    return dataclasses.replace(outcomes, right=dict(rows.drop_nulls().iter_rows()), values={})


def shown_beside(runs: Sequence[Run], means: Sequence[SuiteMean]) -> Sequence[BesidePublished]:
    """The runs beside released results on whole files, for a page that has means too.

    Args:
        runs: of any suites.
        means: the means; published figures of their benchmark are beside them.
    """
    shown = {mean.benchmark.casefold() for mean in means}
    return [one for one in beside_published(runs) if not one.label and one.set not in shown]


def _released(run: Run) -> Sequence[PublishedResult]:
    return results_on(str(manifest_part(run.manifest, "suite").get("sha256", "")))


def _best_first(results: Sequence[PublishedResult]) -> Iterator[PublishedResult]:
    """The results label by label, the most accurate first."""
    for of_label in grouped((one.label, one) for one in results).values():
        yield from sorted(of_label, key=lambda one: -one.accuracy)


def measure_of(run: Run) -> str:
    """The measure by which a run was judged; summed log-probabilities have their own name."""
    stated = str(getattr(run.options, "measure", "") or "")
    sentences = run.sentences
    if stated or sentences is None:
        return stated or run.paradigm.name
    return _SUMMED if len(sentences.region_names) == 1 else _REGIONS


def _beside(
    suite: Suite,
    outcomes: ItemOutcomes,
    result: PublishedResult,
    *,
    judged_on: str,
    seed: int,
) -> BesidePublished:
    ids = suite.columns.ids
    wanted = _labeled(suite, result)
    items = [item for item in ids if item in outcomes.right and item in wanted]
    ends = share_interval([outcomes.right[item] for item in items], outcomes.design(items))
    right = result.right
    one = BesidePublished(
        set=result.source.set,
        suite=outcomes.suite,
        label=result.label,
        model=outcomes.model,
        value=sum(outcomes.right[item] for item in items) / len(items) if items else None,
        low=ends.low,
        high=ends.high,
        reason=ends.reason or "",
        n=len(items),
        published_model=result.source.models.get(result.model, result.model),
        published=result.accuracy,
        published_n=result.n,
        measure=judged_on,
        scored=result.source.people if result.model == PEOPLE else result.source.scored,
        doubt="; ".join(_doubts(result, judged_on, n=len(items))),
        citation=result.source.citation,
        address=result.source.address,
    )
    items = [item for item in items if item in right]
    if not items:
        return one
    released = dataclasses.replace(outcomes, model=result.model, right=right, values={})
    pair = compare_pair(released, outcomes, items, seed=seed)
    return dataclasses.replace(
        one,
        published=sum(right[item] for item in items) / len(items),
        published_n=len(items),
        change=pair.change.estimate,
        change_low=pair.change.low,
        change_high=pair.change.high,
        only_run=len(pair.gained),
        only_published=len(pair.lost),
        p=pair.test.p,
    )


def _labeled(suite: Suite, result: PublishedResult) -> frozenset[str]:
    """The items of a suite with the label of a result."""
    ids = suite.columns.ids
    if not result.label:
        return frozenset(ids)
    cells = suite.item_cells(labels_of_sets()[result.source.set].field)
    return frozenset(item for item, cell in zip(ids, cells, strict=True) if cell == result.label)


def _doubts(result: PublishedResult, measure: str, *, n: int) -> Iterator[str]:
    """Why the accuracy of a run and a released one may differ for other reasons than the models."""
    if result.model == PEOPLE:
        return
    yield from doubts_of(result.source, measure)
    if n < result.n and not result.bits:
        yield f"the run has {n:,} of {counted(result.n, 'item')}"
    if result.n < n:
        yield f"published of {result.n:,} of them"


def doubts_of(source: ResultSource, measure: str) -> Iterator[str]:
    """Why the accuracies of a release may differ from those by a measure, whatever their number.

    Args:
        source: the release.
        measure: that a run was judged by.
    """
    if source.measure != _ALIKE.get(measure, measure):
        yield OTHERWISE if source.measure else UNKNOWN
    if source.copy:
        yield f"{COPY} {source.copy}"


COPY = "on the copy"
OTHERWISE, UNKNOWN = "scored otherwise", "scoring unknown"


def published_grid(beside: Sequence[BesidePublished], *, correction: Correction = "holm") -> Grid:
    """A table of runs beside released results, marked as published, in percent.

    Args:
        beside: the runs and the results.
        correction: name of the correction of p.

    Raises:
        UsageError: there are none.
    """
    if not beside:
        raise UsageError(
            where="published results",
            seen="none were released on the very files of these runs",
            todo="Run a set at its pin, such as `cimento suites get blimp`. Sets with results:"
            f" {', '.join(sets_with_results())}.",
        )
    return Grid.of(
        beside,
        {
            "suite": lambda one: one.suite,
            "items": lambda one: one.label or BLANK,
            "model": lambda one: one.model,
            "published of": lambda one: one.published_model,
            "accuracy": lambda one: EstimateCell.of(
                one.value, _Ends(one.low, one.high, one.reason), one.n, percent=True
            ),
            "published": _published_cell,
            "minus published": _change_cell,
            f"p ({correction})": lambda one: formatting.p_number(one.corrected, absent=BLANK),
            "warning": lambda one: one.doubt or BLANK,
        },
        title="Accuracies in % beside those that authors published.",
        labels=4,
        remarks=1,
        grouped=3,
        notes=tuple(_notes(beside)),
    )


@dataclass(frozen=True, slots=True)
class _Ends:
    low: float | None
    high: float | None
    reason: str


def _published_cell(one: BesidePublished) -> GridCell:
    return EstimateCell.of(one.published, _Ends(None, None, ""), one.published_n, percent=True)


def _change_cell(one: BesidePublished) -> GridCell:
    if one.change is None:
        return BLANK
    low, high = (None if end is None else 100 * end for end in (one.change_low, one.change_high))
    return EstimateCell(value=100 * one.change, low=low, high=high, n=one.n, unit=PERCENT)


def _notes(beside: Sequence[BesidePublished]) -> Iterator[str]:
    """What is tested, where the results are from, and how they were scored."""
    if any(one.change is not None for one in beside):
        yield (
            "Where each item was released, both are of the same items, and the difference is paired"
            " (McNemar's exact test; of clustered items, the test of its interval)."
        )
    if any(one.change is None for one in beside):
        yield UNTESTED
    yield from sources_of(beside)


UNTESTED = "Where items were not released, there is no test: only the published figure is known."


def sources_of(beside: Sequence[Beside]) -> Iterator[str]:
    """Where released results are from, how they were scored, and where a run is scored otherwise.

    Args:
        beside: the runs and the results.
    """
    by_release = grouped(((one.set, one.citation, one.address), one) for one in beside)
    for (name, citation, address), of_one in by_release.items():
        by_people = grouped((one.published_model == PEOPLE, one.scored) for one in of_one)
        how = [f"models: {text}" for text in dict.fromkeys(by_people.get(False, ()))]
        how += [f"people: {text}" for text in dict.fromkeys(by_people.get(True, ()))]
        yield f"Published, {name}: {citation}; {address}. Scored: {'; '.join(how)}."
    otherwise = grouped((one.citation, one) for one in beside if OTHERWISE in one.doubt)
    for citation, of_one in otherwise.items():
        judged = "; ".join(dict.fromkeys(f"{one.model} by {one.measure}" for one in of_one))
        yield f"Warning: scored differently from {judged}: the models of {citation}."
