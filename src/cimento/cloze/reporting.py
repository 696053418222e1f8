"""What a report shows of runs of cloze suites: hits, choices, figures, items with their fillers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cimento.cloze.figures import dimensions_figure, heat_figure
from cimento.cloze.figures_curve import curve_figure
from cimento.cloze.judging.hits import is_hit
from cimento.cloze.profile import Profiling, profile
from cimento.cloze.records import BLANK
from cimento.cloze.running import ClozeRun, open_run
from cimento.cloze.said import read_said
from cimento.cloze.summary import ClozeJudging, judged_candidates, summarise
from cimento.measures.values import BITS_PER_NAT
from cimento.report.build import about_of, provenance_of
from cimento.report.figures import drawable
from cimento.report.figures_calibration import calibration_figure
from cimento.report.grid import Cell, Grid
from cimento.report.grid import Estimate as EstimateCell
from cimento.report.items import AnswerList, Given, ItemRecord, worst_first
from cimento.report.records import NamedGrid, Rates, RunReport, SuiteReport
from cimento.report.strips import Piece, RegionStrip, Strip
from cimento.runs.estimates import Estimate
from cimento.runs.outcomes import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from cimento.cloze.choosing import Choice
    from cimento.cloze.outcomes import ChoiceResult, ClozeSummary, MethodResult, Rate
    from cimento.cloze.profile import Profile
    from cimento.cloze.records import ClozeItem
    from cimento.report.figures import Figure
    from cimento.report.records import Stored
    from cimento.verdicts.formula import Kind

K = 10
SHOWN = 5
"""Fillers of an item that stand in a page."""

GROUPS = (2, 12)
"""A free column divides a suite into dimensions if it has so many values."""


def cloze_suites(folders: Sequence[Stored], told: Mapping[Path, str]) -> list[SuiteReport]:
    """The sections of some runs of cloze suites, as a `Reporter` makes them."""
    by_suite: dict[str, list[ClozeRun]] = {}
    for folder, manifest in folders:
        run = open_run(folder, manifest)
        by_suite.setdefault(run.suite.name, []).append(run)
    return [_suite(runs, told) for runs in by_suite.values()]


def _suite(runs: Sequence[ClozeRun], told: Mapping[Path, str]) -> SuiteReport:
    by = dimension_of(runs[0])
    judged = [_judge(run, by) for run in runs]
    found = [(run, summarise(run, how)) for run, how in zip(runs, judged, strict=True)]
    profiles = [
        (run.model, _profile(run, how, by)) for run, how in zip(runs, judged, strict=True)
        if run.methods
    ]  # fmt: skip
    return SuiteReport(
        runs=tuple(
            replace(_report(run, summary, how), told=told.get(run.folder, "") if run.folder else "")
            for (run, summary), how in zip(found, judged, strict=True)
        ),
        figures=_figures(runs, profiles),
        tables=tuple(_tables([summary for _, summary in found])),
    )


def dimension_of(run: ClozeRun) -> str:
    """The first free column of words that makes a few groups of items; empty where none does."""
    columns: dict[str, set[str]] = {}
    for item in run.items:
        for name, value in item.columns.items():
            columns.setdefault(name, set()).add(value)
    least, most = GROUPS
    fitting = (
        name
        for name, values in columns.items()
        if least <= len(values) <= most and not all(map(str.isdecimal, values))
    )
    return next(fitting, "")


def _judge(run: ClozeRun, by: str) -> ClozeJudging:
    """With as many candidates as were asked for, and what people said of them."""
    asked = run.manifest.get("fill")
    k = asked.get("k") if isinstance(asked, dict) else None
    return ClozeJudging(
        k=k if isinstance(k, int) else K, by=(by,) if by else (), judged=read_said(run.folder)
    )


def _profile(run: ClozeRun, how: ClozeJudging, by: str) -> Profile:
    candidates = judged_candidates(run, run.methods[0], how)
    return profile(run.items, candidates, Profiling(k=how.k, by=by, cluster=run.suite.cluster))


def _figures(
    runs: Sequence[ClozeRun], profiles: Sequence[tuple[str, Profile]]
) -> tuple[Figure, ...]:
    makers: list[Callable[[], Figure]] = [partial(curve_figure, runs)]
    if any(found.heat for _, found in profiles):
        makers.append(partial(heat_figure, profiles))
    if any(len(found.dimensions) > 1 for _, found in profiles):
        makers.append(partial(dimensions_figure, profiles))
    curves = {
        model: whole
        for model, found in profiles
        if (whole := found.dimensions[0].calibration) is not None
    }
    if curves:
        title = f"Whether candidates fit, by their probability, on {runs[0].suite.name}"
        makers.append(
            partial(calibration_figure, curves, title=title, share="share that fits")
        )  # fmt: skip
    return drawable(*makers)


def _report(run: ClozeRun, summary: ClozeSummary, how: ClozeJudging) -> RunReport:
    rates = _rates(summary)
    first = next((line for each in rates for line in each.lines), None)
    return RunReport(
        suite=run.suite.name,
        paradigm="cloze",
        model=run.model,
        n_items=len(run.items),
        language=run.suite.meta.language,
        folder=str(run.folder) if run.folder else None,
        about=about_of(run.suite.meta),
        items=_items(run, summary, how),
        provenance=provenance_of(run.manifest),
        headline=first[1] if first else None,
        rates=rates,
        notes=tuple(_notes(summary)),
    )


def _rates(summary: ClozeSummary) -> tuple[Rates, ...]:
    hits: list[tuple[str, Estimate]] = []
    fitting: list[tuple[str, Estimate]] = []
    like = Estimate(suite=summary.suite, model=summary.model, question="")
    for method in summary.methods:
        before = f"{method.method}: " if len(summary.methods) > 1 else ""
        ranks = dict.fromkeys((1, summary.k))
        asked = replace(like, method=method.method)
        hits += [
            (f"{before}acc@{k}", _rate(replace(asked, question=f"hit@{k}"), method.hits[k - 1]))
            for k in ranks
            if method.hits
        ]
        fitting += [
            (f"{before}P@{k}", _rate(replace(asked, question=f"fits@{k}"), rate))
            for k, rate in zip(ranks, method.fitting, strict=False)
        ]
    choices = [
        (
            each.rule,
            _rate(
                replace(like, question="choice", method=each.rule, unscored=each.unscored),
                each.rate,
                tied=each.tied,
            ),
        )
        for each in summary.choices
    ]
    found = (
        Rates("Hits: the target is among the first candidates", tuple(hits)),
        Rates("Candidates that fit", tuple(fitting)),
        Rates("Forced choice: the target is the most probable option", tuple(choices)),
    )
    return tuple(each for each in found if each.lines)


def _rate(like: Estimate, rate: Rate, *, tied: int = 0) -> Estimate:
    share, ends = rate.share, rate.interval
    return replace(
        like,
        value=share.value,
        low=ends.low,
        high=ends.high,
        interval_method=ends.method,
        reason=ends.reason or "",
        n=share.n,
        right=share.correct,
        passed=share.correct,
        failed=share.n - share.correct - tied,
        tied=tied,
        chance_method="candidates are open",
    )


def _notes(summary: ClozeSummary) -> Iterator[str]:
    for method in summary.methods:
        if method.unreachable:
            yield (
                f"{method.method}: {len(method.unreachable)} answers are several tokens and cannot"
                " be found at one mask."
            )
        if not method.hits and not method.fitting:
            yield f"{method.method}: nothing to judge by: no item has a target."
    if not summary.methods and not summary.choices:
        yield "Nothing was scored."
    for choice in summary.choices:
        if choice.rate.share.n == 1:
            yield f"{choice.rule}: only one item was judged."
        elif choice.tied and choice.tied == choice.rate.share.n:
            yield f"{choice.rule}: all choices are ties."
    if summary.clusters:
        yield f"Intervals respect clusters: {summary.clusters}."
    yield from summary.warnings


def _tables(summaries: Sequence[ClozeSummary]) -> Iterator[NamedGrid]:
    hits = [row for each in summaries for row in _hit_rows(each)]
    if hits:
        k = max(each.k for each in summaries)
        names = tuple(f"acc@{rank}" for rank in range(1, k + 1))
        title = "Hits in %: how often the target is among the first candidates."
        yield NamedGrid(
            "hits",
            Grid(title=title, header=("model", "asked by", "items", *names), rows=tuple(hits),
                 labels=2),
        )  # fmt: skip
    groups = [row for each in summaries for row in _group_rows(each)]
    if groups:
        k = summaries[0].k
        header = ("model", "asked by", "column", "value", "of", "n", "@1", f"@{k}")
        title = "The same in %, by the columns of the suite."
        yield NamedGrid("groups", Grid(title=title, header=header, rows=tuple(groups), labels=5))
    choices = [_choice_row(each.model, choice) for each in summaries for choice in each.choices]
    if choices:
        header = ("model", "rule", "n", "target", "per token", "ties", "unscored", "chosen")
        title = "Forced choice: how often the target is the most probable option, in %."
        grid = Grid(title=title, header=header, rows=tuple(choices), labels=2, remarks=1)
        yield NamedGrid("choices", grid)


def _estimate(rate: Rate) -> EstimateCell:
    """A rate in percent."""
    found = (rate.share.value, rate.interval.low, rate.interval.high)
    return EstimateCell.percent(found, rate.share.n, rate.interval.reason)


def _hit_rows(summary: ClozeSummary) -> Iterator[tuple[Cell, ...]]:
    for method in summary.methods:
        if method.hits:
            n = str(method.hits[0].share.n)
            yield (summary.model, method.method, n, *map(_estimate, method.hits))


def _group_rows(summary: ClozeSummary) -> Iterator[tuple[Cell, ...]]:
    for method in summary.methods:
        for what, columns in (("hits", method.hits_by), ("fitting", method.fitting_by)):
            for column, values in columns.items():
                for value, (first, top) in values.items():
                    yield (
                        summary.model, method.method, column, value or "(none)", what,
                        str(first.share.n), _estimate(first), _estimate(top),
                    )  # fmt: skip


def _choice_row(model: str, choice: ChoiceResult) -> tuple[Cell, ...]:
    roles = ", ".join(f"{count} {role}" for role, count in sorted(choice.roles.items()))
    return (
        model,
        choice.rule,
        str(choice.rate.share.n),
        _estimate(choice.rate),
        _estimate(choice.per_token) if choice.per_token else "",
        str(choice.tied),
        str(choice.unscored),
        roles,
    )


def _items(run: ClozeRun, summary: ClozeSummary, how: ClozeJudging) -> tuple[ItemRecord, ...]:
    """Items with what stood in their blanks, those that went worst first."""
    given = {method.method: _given(run, method, how) for method in summary.methods}
    choices = {each.item: each for choice in summary.choices[:1] for each in choice.choices}
    found = []
    for item in run.items:
        ranks = {method: own.get(item.id) for method, own in summary.ranks.items() if item.targets}
        choice = choices.get(item.id)
        found.append(
            ItemRecord(
                id=item.id,
                phenomenon=item.columns.get(how.by[0], "") if how.by else "",
                outcome=_outcome(item.id, ranks, choice),
                strips=(blank_strip(item),),
                answers=tuple(
                    AnswerList(name, own.get(item.id, ())) for name, own in given.items()
                ),
                remarks=tuple(_remarks(item, ranks, how.k, choice.chosen if choice else ())),
            )
        )
    return worst_first(found)


def _outcome(item: str, ranks: Mapping[str, int | None], choice: Choice | None) -> Outcome | None:
    """Whether the target came first; of items that are only chosen for, the choice."""
    margin = choice.margin_nats if choice else None
    bits = None if margin is None else margin * BITS_PER_NAT
    reason = choice.reason if choice else None
    if ranks:
        verdict: Kind = "pass" if any(is_hit(rank, 1) for rank in ranks.values()) else "fail"
    elif choice is not None:
        verdict = choice.outcome
    else:
        return None
    return Outcome(
        item=item,
        question="hit@1" if ranks else "choice",
        verdict=verdict,
        value=bits,
        unit="bits",
        reason=reason or "",
    )


def blank_strip(item: ClozeItem) -> Strip:
    """The text of an item, its blank marked."""
    parts = ((item.before, False), (BLANK, True), (item.after, False))
    regions = (
        RegionStrip(number, needed, (Piece(text),))
        for number, (text, needed) in enumerate(parts, 1)
        if text.strip()
    )
    return Strip("text", tuple(regions))


def _given(run: ClozeRun, method: MethodResult, how: ClozeJudging) -> dict[str, tuple[Given, ...]]:
    """Item to its first candidates, with what is known of each."""
    targets = {item.id: set(item.targets) for item in run.items}
    found: dict[str, list[Given]] = {}
    for each in judged_candidates(run, method.method, how):
        if each.rank > SHOWN:
            continue
        mark = "target" if each.text in targets.get(each.item, ()) else ""
        if each.fits is not None:
            mark = "fits" if each.fits else "does not fit"
        found.setdefault(each.item, []).append(Given(each.text, each.probability, mark))
    return {item: tuple(own) for item, own in found.items()}


def _remarks(
    item: ClozeItem, ranks: Mapping[str, int | None], k: int, chosen: Sequence[str]
) -> Iterator[tuple[str, str]]:
    if item.targets:
        yield "target", " / ".join(item.targets)
    for method, rank in ranks.items():
        yield f"rank of the target, {method}", f"{rank}" if rank else f"not among the first {k}"
    if chosen:
        yield "chosen among the options", " = ".join(chosen)
