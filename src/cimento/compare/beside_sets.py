"""Runs of whole sets beside the results that were released on the same files.

What is compared is the unweighted mean over files of both. Where it was released which items were
right, the difference is paired item by item, and its interval is for other phenomena where the
files are of five or more, otherwise for other items of these very files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.compare.beside_published import (
    COPY,
    OTHERWISE,
    UNKNOWN,
    UNTESTED,
    BesidePublished,
    doubts_of,
    measure_of,
    sources_of,
)
from cimento.compare.phenomena import SuiteOrigin, paradigms_of
from cimento.compare.set_results import set_results
from cimento.errors import counted
from cimento.io.values import grouped
from cimento.records.outcomes import ACCURACY
from cimento.records.store import manifest_part
from cimento.report.cells import PERCENT
from cimento.report.formatting import p_number
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell
from cimento.statistics.multiple import holm
from cimento.statistics.suite_means import SuiteValue, mean_over_suites
from cimento.suites.published_results import PEOPLE, files_of_whole_sets, results_on_all

if TYPE_CHECKING:
    from cimento.compare.set_results import SetResult
    from cimento.kinds.run import Run

OtherThan: TypeAlias = Literal["phenomena", "suites", "items", ""]
"""What the interval of a difference is for: others of these; or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideSet:
    """A run of a set and one release of results on the same files.

    Attributes:
        set: the set, as the registry names it.
        model: label of the run's model.
        published_model: whose result was released: a model, or people.
        n_files: files of the set that were asked about and have a released result.
        value: accuracy of the run, the unweighted mean over these files; None where no item of one
            is judged.
        low: lower end of its 95% interval, for other items; None where there is none.
        high: upper end of that interval.
        reason: why there is no value or no interval; empty where there are both.
        n: items of the run with a verdict.
        published: the released accuracy, the unweighted mean over the same files.
        published_n: items or answers that it is of.
        measure: the measure that the run was judged by.
        scored: how the released model was scored, or what people were asked.
        doubt: why the two accuracies may differ for other reasons than the models; empty for none.
        change: accuracy of the run less the released one, paired by item; None where items were not
            released.
        change_low: lower end of its 95% interval; None where there is none.
        change_high: upper end of that interval.
        about: what the interval generalizes to.
        p: two-sided, of no difference: of one file that of `BesidePublished`, of several that for
            other phenomena, where there is one.
        corrected: p-value, corrected by Holm's method over all results beside the runs.
        citation: citation of the release.
        address: where its files are, at the commit at which they were read.
    """

    set: str
    model: str
    published_model: str
    n_files: int
    value: float | None
    low: float | None
    high: float | None
    reason: str
    n: int
    published: float
    published_n: int
    measure: str
    scored: str
    doubt: str
    change: float | None = None
    change_low: float | None = None
    change_high: float | None = None
    about: OtherThan = ""
    p: float | None = None
    corrected: float | None = None
    citation: str
    address: str


def beside_sets(
    beside: Sequence[BesidePublished],
    phenomena: Mapping[str, Collection[str]],
    *,
    whole: Sequence[BesideSet] = (),
    seed: int = 0,
) -> tuple[BesideSet, ...]:
    """The means over the files of each set, the most accurate release first.

    Args:
        beside: runs beside released results; those on some items of a file are left out.
        phenomena: the phenomena that each suite tests, by its name.
        whole: sets beside results that were released only for all files together.
        seed: of the bootstrap.
    """
    released = grouped(
        ((one.set, one.model, one.citation, one.published_model), one)
        for one in beside
        if not one.label
    )
    made = [*(_beside(files, phenomena, seed=seed) for files in released.values()), *whole]
    found = [
        one
        for of_set in grouped(((one.set, one.model), one) for one in made).values()
        for one in sorted(of_set, key=lambda one: -one.published)
    ]
    corrected = holm([one.p for one in found])
    return tuple(replace(one, corrected=p) for one, p in zip(found, corrected, strict=True))


def whole_sets(runs: Sequence[Run]) -> tuple[BesideSet, ...]:
    """Runs of all files of a set beside results that were released only for all together.

    Args:
        runs: of any suites and models; those of files of no such set are left out.
    """
    known = files_of_whole_sets()
    by_set = grouped(
        ((name, run.model), run)
        for run in runs
        if (name := known.get(str(manifest_part(run.manifest, "suite").get("sha256", ""))))
    )
    found: list[BesideSet] = []
    for (name, _), some in by_set.items():
        origins = {run.suite_name: SuiteOrigin(set=name, name=run.suite_name) for run in some}
        results = set_results(paradigms_of(some, origins), some, origins)
        found += [
            one
            for ours in results
            if ours.statistic == ACCURACY
            for one in beside_whole_set(ours, some)
        ]
    return tuple(found)


def beside_whole_set(ours: SetResult, runs: Sequence[Run]) -> Iterator[BesideSet]:
    """A result on a set beside those that were released only for all of its files together.

    Args:
        ours: the result of a model on the pairs of a set.
        runs: of the same model on the suites of the set.

    Yields:
        Nothing unless each file of the set at its pin was asked about.
    """
    digests = [str(manifest_part(run.manifest, "suite").get("sha256", "")) for run in runs]
    measure = ", ".join(dict.fromkeys(map(measure_of, runs)))
    for result in results_on_all(ours.set, digests):
        doubts = [*doubts_of(result.source, measure), *_sizes(ours.n_items, result.n)]
        yield BesideSet(
            set=ours.set,
            model=ours.model,
            published_model=result.source.models.get(result.model, result.model),
            n_files=len(runs),
            value=ours.value,
            low=ours.low,
            high=ours.high,
            reason=ours.reason,
            n=ours.n_items,
            published=result.accuracy,
            published_n=result.n,
            measure=measure,
            scored=result.source.scored,
            doubt="; ".join(doubts),
            citation=result.source.citation,
            address=result.source.address,
        )


def _beside(
    files: Sequence[BesidePublished], phenomena: Mapping[str, Collection[str]], *, seed: int
) -> BesideSet:
    first = files[0]

    def of(
        one: BesidePublished, value: float | None, low: float | None, high: float | None
    ) -> list[SuiteValue]:
        names = frozenset(phenomena.get(one.suite) or (one.suite,))
        return [] if value is None else [SuiteValue(one.suite, one.suite, names, value, low, high)]

    values = [known for one in files for known in of(one, one.value, one.low, one.high)]
    ours = mean_over_suites(values) if len(values) == len(files) else NOTHING
    made = BesideSet(
        set=first.set,
        model=first.model,
        published_model=first.published_model,
        n_files=len(files),
        value=ours.mean.value,
        low=None if ours.items.low is None else max(0.0, ours.items.low),
        high=None if ours.items.high is None else min(1.0, ours.items.high),
        reason=ours.items.reason or "",
        n=sum(one.n for one in files),
        published=math.fsum(one.published for one in files) / len(files),
        published_n=sum(one.published_n for one in files),
        measure=", ".join(dict.fromkeys(one.measure for one in files)),
        scored=first.scored,
        doubt=_doubt(files),
        citation=first.citation,
        address=first.address,
    )
    changes = [
        known for one in files for known in of(one, one.change, one.change_low, one.change_high)
    ]
    if len(changes) < len(files):
        return made
    over = mean_over_suites(changes, seed=seed)
    is_for_others = over.mean.low is not None
    ends = over.mean if is_for_others else over.items
    return replace(
        made,
        change=over.mean.value,
        change_low=ends.low,
        change_high=ends.high,
        about=over.target if is_for_others else "items" if over.items.low is not None else "",
        p=first.p if len(files) == 1 else over.mean.p if is_for_others else None,
    )


NOTHING = mean_over_suites([])
"""The mean of files of which one has no value."""


def _doubt(files: Sequence[BesidePublished]) -> str:
    """Why the means may differ for other reasons than the models."""
    if files[0].published_model == PEOPLE:
        return ""
    parts = dict.fromkeys(part for one in files for part in one.doubt.split("; "))
    doubts = [part for part in parts if part.startswith((OTHERWISE, UNKNOWN, COPY))]
    sizes = _sizes(sum(one.n for one in files), sum(one.published_n for one in files))
    return "; ".join([*doubts, *sizes])


def _sizes(n: int, published_n: int) -> Iterator[str]:
    """That a run and a release are not of as many items."""
    if n != published_n:
        yield f"{n:,} items here, {published_n:,} published"


def beside_sets_grid(beside: Sequence[BesideSet], *, most: int | None = None) -> Grid:
    """A table of sets beside released results, marked as published, in percent.

    Args:
        beside: the sets and the results, of one model set by set as `beside_sets` gives them.
        most: most results that are shown of a set and model; None for all.
    """
    shown = [
        one
        for some in grouped(((one.set, one.model), one) for one in beside).values()
        for one in (some if most is None else _nearest(some, most))
    ]
    left = len(beside) - len(shown)
    has_changes = any(one.change is not None for one in shown)
    return Grid.of(
        shown,
        {
            "set": lambda one: one.set,
            "model": lambda one: one.model,
            "published of": lambda one: one.published_model,
            "files": lambda one: one.n_files,
            "ours": lambda one: EstimateCell.of(one.value, one, one.n, percent=True),
            "by": lambda one: one.measure,
            "published": _published_cell,
            **(_OF_CHANGES if has_changes else {}),
            "warning": lambda one: one.doubt or BLANK,
        },
        title="Sets beside results that authors published, in %.",
        labels=3,
        remarks=1,
        grouped=2,
        notes=(
            _OURS,
            *(
                [f"Not shown: {counted(left, 'other result')}, farther from ours; JSON has all."]
                if left
                else []
            ),
            *([_TESTED] if has_changes else []),
            *([UNTESTED] if any(one.change is None for one in shown) else []),
            *sources_of(shown),
        ),
    )


def _nearest(some: Sequence[BesideSet], most: int) -> Sequence[BesideSet]:
    """People, the best model, and the results nearest to the run's, in their order."""
    if len(some) <= most:
        return some
    models = [one for one in some if one.published_model != PEOPLE]
    kept = [one for one in some if one.published_model == PEOPLE] + models[:1]
    near = sorted(models[1:], key=lambda one: abs(one.published - (one.value or 0.0)))
    kept += near[: most - len(kept)]
    return [one for one in some if one in kept]


def _published_cell(one: BesideSet) -> GridCell:
    return EstimateCell(
        value=100 * one.published, low=None, high=None, n=one.published_n, unit=PERCENT
    )


def _change_cell(one: BesideSet) -> GridCell:
    if one.change is None:
        return BLANK
    low, high = (None if end is None else 100 * end for end in (one.change_low, one.change_high))
    return EstimateCell(value=100 * one.change, low=low, high=high, n=one.n, unit=PERCENT)


_OURS = (
    "ours: by the measure of the release where it can be, the unweighted mean over the same files,"
    " with intervals that generalize to other items."
)
_TESTED = (
    "Where each item was released, the difference is paired: p is of one file, or generalizes to"
    " other phenomena if there are five or more; otherwise there is only the interval."
)
_OF_CHANGES: Mapping[str, Callable[[BesideSet], GridCell]] = {
    "minus published": _change_cell,
    "generalizes to": lambda one: f"other {one.about}" if one.about else BLANK,
    "p (Holm)": lambda one: p_number(one.corrected, absent=BLANK),
}
