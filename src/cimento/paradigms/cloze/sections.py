"""Sections of a report on cloze runs: hits, choices, items with their fillers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from cimento.errors import counted, few_of_each_code
from cimento.kinds.alike import estimates_alike, headline_of
from cimento.kinds.clusters import designs_said
from cimento.kinds.run import Run
from cimento.kinds.sections import run_report, runs_by_suite
from cimento.paradigms.cloze.estimates import EstimateIndex
from cimento.paradigms.cloze.figures import (
    curve_figure,
    dimensions_figure,
    expressions_figure,
    figure_with_notes,
)
from cimento.paradigms.cloze.filled import ScoredWord, as_said, expected_grid, filled_blanks
from cimento.paradigms.cloze.judging import DIVIDED, HIT, OPTION, OPTION_ALONE, asked
from cimento.paradigms.cloze.profile import Profile, Profiling, profile, without_hits
from cimento.paradigms.cloze.requests import FITS, Candidate, ClozeAnswers
from cimento.paradigms.cloze.shares import as_hit
from cimento.paradigms.cloze.text import chosen_roles
from cimento.records.blanks import (
    EXPECTED_TABLE,
    FORCED_CHOICE,
    forced_choice,
    reach_notes,
    reach_of,
)
from cimento.records.outcomes import Estimate, Outcome, each_outcome
from cimento.report import (
    AnswerList,
    GivenAnswer,
    ItemRecord,
    NamedGrid,
    Rates,
    RunReport,
    SuiteReport,
    provenance_of,
)
from cimento.report.cells import count
from cimento.report.figures import (
    Figure,
    drawable,
)
from cimento.report.figures_rates import rates_figure
from cimento.report.figures_scores import calibration_figure
from cimento.report.formatting import estimate_label, percent
from cimento.report.grid import EstimateCell, Grid, GridCell
from cimento.report.items import worst_first
from cimento.report.strips import Piece, RegionStrip, Strip
from cimento.suites.cloze import BLANK, ClozeItem, dividing_column

if TYPE_CHECKING:
    import polars as pl


_SHOWN = 5
"""Fillers of an item that are in a page."""

_LISTED = 20


def cloze_sections(runs: Sequence[Run]) -> list[SuiteReport]:
    """The sections of some runs of cloze suites, one a suite."""
    return [_suite(several) for several in runs_by_suite(runs)]


def _by_dimension(run: Run) -> ClozeAnswers:
    """A run, judged by a column of its items where it says none itself."""
    answers = ClozeAnswers(run)
    column = "" if answers.options.by else dividing_column(answers.items)
    return ClozeAnswers(run.grouped(by=(column,))) if column else answers


def _suite(runs: Sequence[Run]) -> SuiteReport:
    several = [_by_dimension(run) for run in runs]
    profiles = [(one.run.model, _profile(one)) for one in several if one.methods]
    alike = estimates_alike([one.run for one in several])
    reports = tuple(
        _report(one, headline_of(estimates)) for one, estimates in zip(several, alike, strict=True)
    )
    return SuiteReport(
        runs=reports,
        figures=_figures(several, profiles, [*map(_choices_alone, reports)]),
        tables=tuple(_tables(several)),
    )


def _choices_alone(report: RunReport) -> RunReport:
    """A report with the rates of the choices among given words alone."""
    rates = tuple(
        part for part in report.rates if part.lines and part.lines[0][1].question == FORCED_CHOICE
    )
    return replace(report, rates=rates)


def _profile(answers: ClozeAnswers) -> Profile:
    by = ",".join(answers.options.by[:1])
    profiling = Profiling(k=answers.options.k, by=by, cluster=answers.suite.cluster)
    known = profile(answers.items, answers.judged(answers.methods[0]), profiling)
    reach = reach_of(answers.run.estimates())
    return without_hits(known) if reach is not None and not reach.found else known


def _choices_by_dimension(answers: ClozeAnswers) -> Iterator[Estimate]:
    """The choice among given words by the rule that counts: of the suite, then by dimension."""
    estimates = answers.run.estimates()
    if (choice := forced_choice(estimates)) is not None:
        yield choice
        for column in answers.options.by[:1]:
            yield from EstimateIndex(estimates).parts(FORCED_CHOICE, choice.method, column)


def _figures(
    several: Sequence[ClozeAnswers],
    profiles: Sequence[tuple[str, Profile]],
    choices: Sequence[RunReport],
) -> Sequence[Figure]:
    """The figures: of choices where wrong words are given, of hits, and of the profiles."""
    makers: list[Callable[[], Figure]] = []
    runs = [answers.run for answers in several]
    by_dimension = [[*_choices_by_dimension(answers)] for answers in several]
    if any(report.rates for report in choices):
        makers.append(partial(_choices_figure, choices, suite=runs[0].suite.name))
    reach = [note for run in runs for note in reach_notes(run.estimates())]
    noted = partial(figure_with_notes, notes=reach)
    makers.append(partial(noted, partial(curve_figure, runs)))
    if any(profiled.heat for _, profiled in profiles):
        makers.append(partial(noted, partial(expressions_figure, profiles)))
    sizes = (*(len(profiled.dimensions) for _, profiled in profiles), *map(len, by_dimension))
    if max(sizes, default=0) > 1:
        of_dimensions = partial(dimensions_figure, profiles, [*chain(*by_dimension)])
        makers.append(partial(noted, of_dimensions))
    curves = {
        model: whole
        for model, profiled in profiles
        if (whole := profiled.dimensions[0].calibration) is not None
    }
    if curves:
        title = f"Whether candidates fit, by their probability, on {runs[0].suite.name}"
        makers.append(partial(calibration_figure, curves, title=title, share="share that fits"))
    return drawable(*makers)


def _choices_figure(choices: Sequence[RunReport], *, suite: str) -> Figure:
    """The rates of the choices, whose names are ours and can be said in the page's language."""
    made = rates_figure(choices, suite=suite)
    return replace(made, words=tuple(dict.fromkeys(made.frame["name"])))


def _report(answers: ClozeAnswers, headline: Estimate | None) -> RunReport:
    """The report on a run; the number that sums it up decides which outcome its items show."""
    is_choice = headline is not None and headline.question == FORCED_CHOICE
    choice = headline if is_choice else None
    return replace(
        run_report(answers.run, items=_items(answers, choice)),
        n_items=answers.run.n_items,
        claims=(),
        provenance=provenance_of(answers.run.manifest),
        headline=headline,
        rates=_rates(answers),
        notes=tuple(_notes(answers)),
    )


def _rates(answers: ClozeAnswers) -> tuple[Rates, ...]:
    headings = {
        HIT: "Hits: the target is among the first candidates",
        FITS: "Candidates that fit",
        FORCED_CHOICE: "Forced choice: the target is the most probable option",
    }
    lines: dict[str, list[tuple[str, Estimate]]] = {question: [] for question in headings}
    several = len(answers.methods) > 1
    for estimate in answers.run.estimates():
        if estimate.role == "detail" or not estimate.is_share:
            continue
        question = next(heading for heading in headings if estimate.question.startswith(heading))
        short = {HIT: "hit@", FITS: "P@"}.get(question)
        name = estimate_label(estimate)
        if short:
            before = f"{estimate.method}: " if several else ""
            name = before + short + estimate.question.removeprefix(question)
        lines[question].append((name, estimate))
    return tuple(
        Rates(heading, tuple(lines[question]))
        for question, heading in headings.items()
        if lines[question]
    )


def _notes(answers: ClozeAnswers) -> Iterator[str]:
    if not answers.methods and not answers.choices:
        yield "Nothing was scored."
    for choice in answers.run.estimates():
        if choice.question == FORCED_CHOICE and choice.role != "detail":
            if choice.n == 1:
                yield f"{choice.method}: only one item was judged."
            elif choice.tied and choice.tied == choice.n:
                yield f"{choice.method}: all choices are ties."
            if choice.unscored and choice.n:
                yield _no_value(answers, choice)
    yield from designs_said([answers.run])
    yield from few_of_each_code(answers.run.warnings)


def _no_value(answers: ClozeAnswers, choice: Estimate) -> str:
    """Which items have no choice by a rule, and why."""
    outcomes = asked(answers.run.outcomes(), FORCED_CHOICE, choice.method)
    items = outcomes.filter(outcomes["verdict"] == "unscored")["item"].to_list()
    more = f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    shown = f"{', '.join(items[:_LISTED])}{more}"
    if choice.method == "mask":
        return f"No choice at one mask, since a given word is several tokens: items {shown}."
    return f"No choice by the rule {choice.method}, since a given word has no score: items {shown}."


def _tables(several: Sequence[ClozeAnswers]) -> Iterator[NamedGrid]:
    hits = [row for answers in several for row in _hit_rows(answers)]
    k = max(answers.options.k for answers in several)
    reach = tuple(note for one in several for note in reach_notes(one.run.estimates()))
    if hits:
        names = tuple(f"hit@{rank}" for rank in range(1, k + 1))
        title = "Hits in %: how often the target is among the first candidates."
        header = ("model", "asked by", "items", *names)
        rows = tuple((*row, *("",) * (len(header) - len(row))) for row in hits)
        yield NamedGrid("hits", Grid(title=title, header=header, rows=rows, labels=2, notes=reach))
    expected = expected_grid([(one.run.model, filled_blanks(one)) for one in several])
    if expected is not None:
        yield NamedGrid(EXPECTED_TABLE, expected)
    groups = [row for answers in several for row in _group_rows(answers)]
    if groups:
        header = ("model", "asked by", "column", "value", "of", "n", "@1", f"@{k}")
        title = "The same in %, by the columns of the suite."
        grid = Grid(title=title, header=header, rows=tuple(groups), labels=5, notes=reach)
        yield NamedGrid("groups", grid)
    choices = [row for answers in several for row in _choice_rows(answers)]
    if choices:
        header = (
            "model", "rule", "n", "target", "chance", "per token", "ties", "unscored", "chosen",
        )  # fmt: skip
        title = "Forced choice: how often the target is the most probable option, in %."
        grid = Grid(title=title, header=header, rows=tuple(choices), labels=2, remarks=1)
        yield NamedGrid("choices", grid)
    parts = [row for answers in several for row in _choice_parts(answers)]
    if parts:
        header = ("model", "rule", "column", "value", "n", "target", "chance")
        title = "Forced choice in %, by the columns of the suite."
        yield NamedGrid("choices-by", Grid(title=title, header=header, rows=tuple(parts), labels=4))


def _cell(estimate: Estimate) -> EstimateCell:
    """A share in percent."""
    return EstimateCell.of(estimate.value, estimate, estimate.n, percent=True)


def _hit_rows(answers: ClozeAnswers) -> Iterator[tuple[GridCell, ...]]:
    index = EstimateIndex(answers.run.estimates())
    for method in answers.methods:
        hits = [index.find(f"{HIT}{k}", method) for k in range(1, answers.options.k + 1)]
        known = [hit for hit in hits if hit is not None]
        if known:
            yield (answers.run.model, method, count(known[0].n), *map(_cell, known))


def _group_rows(answers: ClozeAnswers) -> Iterator[tuple[GridCell, ...]]:
    index, k = EstimateIndex(answers.run.estimates()), answers.options.k
    for method in answers.methods:
        for question, what in ((HIT, "hits"), (FITS, "fitting")):
            for column in answers.options.by:
                for first, top in index.levels(question, method, column, k):
                    yield (
                        answers.run.model, method, column, first.level or "(none)", what,
                        count(first.n), _cell(first), _cell(top or first),
                    )  # fmt: skip


def _choice_rows(answers: ClozeAnswers) -> Iterator[tuple[GridCell, ...]]:
    index = EstimateIndex(answers.run.estimates())
    for rule in answers.choices:
        choice, divided = index.find(FORCED_CHOICE, rule), index.find(FORCED_CHOICE, rule + DIVIDED)
        if choice is not None:
            yield (
                answers.run.model,
                rule,
                count(choice.n),
                _cell(choice),
                percent(choice.chance, absent=""),
                _cell(divided) if divided else "",
                count(choice.tied),
                count(choice.unscored),
                chosen_roles(answers, rule),
            )


def _choice_parts(answers: ClozeAnswers) -> Iterator[tuple[GridCell, ...]]:
    index = EstimateIndex(answers.run.estimates())
    for rule in answers.choices:
        for column in answers.options.by:
            for one in index.parts(FORCED_CHOICE, rule, column):
                yield (
                    answers.run.model, rule, column, one.level or "(none)", count(one.n),
                    _cell(one), percent(one.chance, absent=""),
                )  # fmt: skip


def _items(answers: ClozeAnswers, choice: Estimate | None) -> tuple[ItemRecord, ...]:
    """Items with what was in their blanks, those that went worst first.

    Args:
        answers: of a model.
        choice: the choice among given words that sums them up; None where hits do.
    """
    outcomes = answers.run.outcomes()
    given = {method: _given(answers, method) for method in answers.methods}
    hits = {method: _by_item(asked(outcomes, f"{HIT}1", method)) for method in answers.methods}
    rule = choice.method if choice else next(iter(answers.choices), "")
    choices = _by_item(asked(outcomes, FORCED_CHOICE, rule))
    judged = {} if choice else hits
    by = answers.options.by[:1]
    return worst_first(
        ItemRecord(
            id=item.id,
            phenomenon="".join(item.columns.get(name, "") for name in by),
            outcome=_outcome(item, judged, choices.get(item.id)),
            strips=(blank_strip(item),),
            answers=tuple(
                AnswerList(name, candidates.get(item.id, ())) for name, candidates in given.items()
            ),
            remarks=tuple(_remarks(answers, item, hits, choices.get(item.id))),
        )
        for item in answers.items
    )


def _by_item(outcomes: pl.DataFrame) -> dict[str, Outcome]:
    return {outcome.item: outcome for outcome in each_outcome(outcomes)}


_Hits = Mapping[str, Mapping[str, Outcome]]
"""Method to item to what became of it."""


def _outcome(item: ClozeItem, hits: _Hits, choice: Outcome | None) -> Outcome | None:
    """Whether the target came first by the first method; of items without hits, the choice."""
    hit = next((of_method[item.id] for of_method in hits.values() if item.id in of_method), None)
    # A rank is not a margin; it stands among the remarks.
    return choice if hit is None else replace(hit, value=None, unit="")


def blank_strip(item: ClozeItem) -> Strip:
    """The text of an item, its blank marked."""
    parts = ((item.before, False), (BLANK, True), (item.after, False))
    regions = (
        RegionStrip(number, needed, (Piece(text),))
        for number, (text, needed) in enumerate(parts, 1)
        if text.strip()
    )
    return Strip("text", tuple(regions))


def _given(answers: ClozeAnswers, method: str) -> dict[str, tuple[GivenAnswer, ...]]:
    """Item to its first candidates, with what is known of each."""
    targets = {item.id: set(map(as_hit, item.targets)) for item in answers.items}
    by_item: dict[str, list[GivenAnswer]] = {}
    for candidate in answers.judged(method):
        if candidate.rank > _SHOWN:
            continue
        mark = "target" if as_hit(candidate.text) in targets.get(candidate.item, ()) else ""
        if candidate.fits is not None:
            mark = "fits" if candidate.fits else "does not fit"
        given = GivenAnswer(as_said(candidate), candidate.probability, mark)
        by_item.setdefault(candidate.item, []).append(given)
    return {item: tuple(candidates) for item, candidates in by_item.items()}


def _surprisal(option: Candidate) -> str:
    """The surprisal of an option, with the number of its tokens; empty if it has no score."""
    if option.logprob_nats is None:
        return ""
    word = ScoredWord(option.text, -option.logprob_nats / math.log(2), option.n_pieces)
    tokens = f" in {counted(option.n_pieces, 'token')}" if option.n_pieces else ""
    return f"{word.bits:.2f} bits{tokens}, probability {word.probability:.2g}"


def _remarks(
    answers: ClozeAnswers, item: ClozeItem, hits: _Hits, choice: Outcome | None
) -> Iterator[tuple[str, str]]:
    if item.targets:
        yield "target", " / ".join(item.targets)
    for rule in filter(OPTION_ALONE.__contains__, answers.choices):
        scored = answers.by_rule(rule).get(item.id, ())
        targets = [one for one in scored if one.text in item.targets]
        said = [bits for one in targets if (bits := _surprisal(one))]
        if said:
            yield f"surprisal of the target, {rule}", " / ".join(said)
    for method, of_method in hits.items():
        if item.id in of_method:
            rank = of_method[item.id].value
            missed = f"not among the first {answers.options.k}"
            yield f"rank of the target, {method}", f"{rank:.0f}" if rank else missed
    if choice and OPTION in choice.groups:
        yield "chosen among the options", choice.groups[OPTION]
