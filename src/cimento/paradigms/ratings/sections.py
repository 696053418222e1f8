"""The text and the report of runs of rated sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import fill, shorten

from cimento.cite.sentences import MEASURES_IN_WORDS
from cimento.errors import counted
from cimento.io.inline_markup import columns
from cimento.io.values import group_by, grouped
from cimento.measures import NoValue, find_measure
from cimento.paradigms.ratings.estimates import (
    BY_ERRORS,
    BY_HALVES,
    LABEL,
    RATING,
    TOKENS,
)
from cimento.paradigms.ratings.others import alphas_in_words, correlations_in_words
from cimento.paradigms.ratings.people import KINDS, MISSES, RatedValue
from cimento.paradigms.ratings.runs import RatedRun, rating_options
from cimento.paradigms.regions.factorial_tables import headline_grid
from cimento.paradigms.regions.judging import options_of
from cimento.paradigms.regions.people_effects import people_of_suite
from cimento.paradigms.regions.people_tables import OTHERS
from cimento.records.outcomes import Estimate, beside_ratings
from cimento.records.places import Places
from cimento.records.wrong_side import against_ratings
from cimento.report import RANK_GAP, ItemRecord, NamedGrid, RunReport
from cimento.report.cells import count, no_ends
from cimento.report.formatting import interval, number, p_number, p_short
from cimento.report.grid import Grid
from cimento.report.items import worst_first
from cimento.report.terminal import WIDEST
from cimento.suites.ratings import RatedSentence

_WHOSE = {"people": "people", "author": "the author's expectation"}
_WIDTH = 60
_LEAST = 3
_FEW = 10
"""Fewest sentences whose correlations come without a caution (docs/statistics.md)."""


def rated_text(run: RatedRun, *, brief: bool = False) -> str:
    """The text of a run, one heading after the other; a dash stands for an undefined value.

    Args:
        run: the run.
        brief: whether to leave out how people agree, what is told by label and by group, and all
            but the largest disagreements.
    """
    lines = [*_heading(run)]
    if run.n_rated:
        lines += _beside(run)
        lines += map(_told, _ceiling(run) if brief else _people(run))
        lines += _misses(run, _LEAST if brief else MISSES)
    if not brief:
        lines += _by_label_and_group(run)
    elif not run.n_rated:
        lines += _binary(run)
    return "\n".join(lines)


def _heading(run: RatedRun) -> Iterator[str]:
    yield f"{run.suite.name}: {run.model} compared with {_WHOSE[run.by]}"
    z = ", z-scores by participant" if rating_options(run.run).ratings == "z" else ""
    yield f"  {counted(len(run.sentences), 'sentence')}, {run.n_rated} rated{z}"


def _by_label_and_group(run: RatedRun) -> Iterator[str]:
    if run.n_rated:
        given = " as given" if rating_options(run.run).ratings == "z" else ""
        yield from _described(run, RATING, f"Ratings{given} by label")
    if any(
        estimate.group == LABEL and estimate.question == run.perplexity
        for estimate in run.estimates
    ):
        yield from _described(run, run.perplexity, f"Perplexity ({run.perplexity}) by label")
        yield f"  {sum(_tokens(run).values())} tokens scored; {run.first_token}"
        yield from _least_perplexing(run)
    yield from _binary(run)
    yield from _accuracies(run)


def _beside(run: RatedRun) -> Iterator[str]:
    spearmans = run.measured("spearman")
    family = any(spearman.p_corrected is not None for spearman in spearmans)
    rows: list[tuple[str, ...]] = [
        (
            "measure", "n", "expected", "Spearman", "95%", _OTHERS, "p", "Holm", "Pearson",
            "Kendall", "partial",
        )
    ]  # fmt: skip
    rows += [_correlation_row(run, spearman, p_short) for spearman in spearmans]
    # What is expected is below the table, which so has the width of a page.
    left_out = ["expected", *([] if run.measured(f"spearman{OTHERS}") else [_OTHERS])]
    left_out += [] if family else ["Holm"]
    kept = [place for place, name in enumerate(rows[0]) if name not in left_out]
    yield columns([tuple(row[place] for place in kept) for row in rows], indent=2)
    known = (MEASURES_IN_WORDS.get(spearman.question) for spearman in spearmans)
    if words := [text for text in known if text]:
        yield _told(f"measures: {', '.join(words)}")
    partials = run.measured("partial spearman")
    yield _told(f"expected: {_expected(spearmans)}; partial: {partials[0].description}")
    yield from map(_told, _methods_of(run, spearmans))
    yield from map(_told, _cautions(spearmans))
    reasons = {
        estimate.reason for kind in KINDS for estimate in run.measured(kind) if estimate.reason
    }
    reasons |= {
        spearman.p_method for spearman in spearmans if spearman.p is None and spearman.p_method
    }
    yield from (_told(f"undefined: {reason}") for reason in sorted(reasons))
    lost = run.without_value()
    for reason, n in lost.items():
        yield _told(f"{counted(n, 'sentence')} without a value: {reason}")


def _expected(spearmans: Sequence[Estimate]) -> str:
    """The signs that correlations should have: negative for measures that fall as ratings rise."""
    names = [spearman.question for spearman in spearmans]
    falling = [name for name in names if not find_measure(name).higher_is_better]
    if len(falling) == len(names):
        return "negative"
    return "positive" + (f", negative for {', '.join(falling)}" if falling else "")


def _told(text: str) -> str:
    """A sentence below a table, in lines of a terminal's width."""
    return fill(text, WIDEST, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _cautions(spearmans: Sequence[Estimate]) -> tuple[str, ...]:
    """A caution where so few sentences were correlated that no number can be trusted."""
    if not any(one.value is not None and one.n < _FEW for one in spearmans):
        return ()
    caution = (
        f"With fewer than {_FEW} sentences trust neither the coefficients (partial ones least) nor"
        " intervals and p, which may contradict each other."
    )
    return (caution,)


_OTHERS = "95%, others"


def _methods_of(run: RatedRun, spearmans: Sequence[Estimate]) -> tuple[str, ...]:
    """The methods and targets of the intervals, and the tests, of some correlations."""
    intervals = method_names(one.interval_method for one in spearmans)
    tests = method_names(one.p_method for one in spearmans if one.p is not None)
    others = run.measured(f"spearman{OTHERS}")
    people = " and these people" if others else ""
    said = f"95%: {intervals}, for other sentences{people}; p of Spearman: {tests}"
    return (said, f"{_OTHERS}: {correlations_in_words(others)}") if others else (said,)


def _methods_said(run: RatedRun, spearmans: Sequence[Estimate]) -> Iterator[str]:
    """The methods as sentences, and why p is not that of another test, if there is any."""
    yield from (f"{line}." for line in _methods_of(run, spearmans))
    if any(one.p is not None for one in spearmans):
        yield P_OF_JACKKNIFE


P_OF_JACKKNIFE = (
    "The jackknife leaves out each sentence in turn: its p agrees with the interval and also holds"
    " for sentences in clusters. Of few sentences, the usual test of rho (t, n - 2) often has a"
    " smaller p."
)
"""Why p of a correlation is not that which others compute (docs/statistics.md)."""


def method_names(names: Iterable[str | None]) -> str:
    """The names of the methods of some estimates, each once."""
    return " or ".join(dict.fromkeys(name for name in names if name)) or "-"


_WHICH = (" (of the z-scores)", " (of the ratings as given)")
"""What is correlated, and what people agree on, in runs with z-scores."""


def _people(run: RatedRun) -> Iterator[str]:
    """The noise ceiling of people's ratings, and their agreement, as far as they are estimated.

    Correlations with z-scores are limited by the noise of z-scores, while agreement is of the
    ratings as people gave them.
    """
    yield from _ceiling(run)
    given = _WHICH[1] if rating_options(run.run).ratings == "z" else ""
    alphas = ", ".join(
        f"{alpha.method} {number(alpha.value)} "
        + interval(alpha.low, alpha.high, absent=f"(no interval: {alpha.reason})")
        for alpha in run.estimates
        if alpha.statistic == "Krippendorff's alpha" and alpha.value is not None
    )
    if alphas:
        yield f"agreement of the people{given}, Krippendorff's alpha: {alphas}"
        yield alphas_in_words(run.estimates)


def _ceiling(run: RatedRun) -> Iterator[str]:
    """The noise ceiling of people's ratings, if it is estimated."""
    compared = _WHICH[0] if rating_options(run.run).ratings == "z" else ""
    halves = run.find(RATING, "noise ceiling", BY_HALVES)
    errors = run.find(RATING, "noise ceiling", BY_ERRORS)
    known_ends = run.find(RATING, f"noise ceiling{OTHERS}", BY_HALVES)
    others = ""
    if known_ends is not None and known_ends.low is not None:
        ends = interval(known_ends.low, known_ends.high)
        others = f"; 95% for other sentences and other people {ends}"
    known = next(
        (estimate for estimate in (halves, errors) if estimate and estimate.value is not None), None
    )
    if known is not None:
        yield f"noise ceiling{compared}: {number(known.value)}, from {known.method}{others}"
    elif halves is not None:
        yield f"noise ceiling{compared}: none ({halves.reason})"


def rating_remarks(run: RatedRun) -> tuple[str, ...]:
    """Notes on the people and cautions, for tables that show the correlations alone."""
    return (*_people(run), *_cautions(run.measured("spearman"))) if run.n_rated else ()


def _misses(run: RatedRun, most: int) -> Iterator[str]:
    misses = run.misses()[:most]
    if misses:
        yield f"  Largest disagreements ({run.measures[0]}; + the model likes it better):"
    for one in misses:
        text = shorten(one.row.sentence.text, _WIDTH, placeholder=" ...")
        yield f"    {one.gap:+.2f}  {one.row.sentence.id}  rated {one.row.rating:.2f}  {text}"


def _described(run: RatedRun, question: str, title: str) -> Iterator[str]:
    groups: dict[str, dict[str, Estimate]] = {}
    for estimate in run.estimates:
        if estimate.group == LABEL and estimate.question == question:
            groups.setdefault(estimate.level, {})[estimate.statistic] = estimate
    if not groups:
        return
    names = ("mean", "sd", "min", "max")
    rows: list[tuple[str, ...]] = [(title, "n", *names)]
    rows += [
        (level, str(estimates["mean"].n), *(number(estimates[name].value) for name in names))
        for level, estimates in groups.items()
    ]
    yield columns(rows, indent=2)
    yield "  sd: of sentences; these means describe the sentences asked and have no interval."


def _tokens(run: RatedRun) -> dict[str, int]:
    """The number of tokens behind the perplexity of each sentence."""
    tokens = run.values.columns[TOKENS]
    return {name: 0 if isinstance(n, NoValue) else int(n) for name, n in tokens.items()}


def _least_perplexing(run: RatedRun) -> Iterator[str]:
    """The unacceptable sentences with the lowest perplexity, the lowest first."""
    known = [
        (value, sentence)
        for sentence in run.sentences
        if sentence.label == "unacceptable"
        and not isinstance(value := run.values.of_sentence(run.perplexity, sentence), NoValue)
    ]
    tokens = _tokens(run)
    if known:
        yield "  Unacceptable sentences of the lowest perplexity:"
    for value, sentence in sorted(known, key=lambda pair: pair[0])[:_LEAST]:
        text = shorten(sentence.text, _WIDTH, placeholder=" ...")
        yield f"    {number(value)}  {tokens[sentence.id]} tokens  {sentence.id}  {text}"


def _binary(run: RatedRun) -> Iterator[str]:
    areas = [area for area in run.measured("AUC") if area.n]
    if not areas:
        return
    rows: list[tuple[str, ...]] = [
        ("yes or no by a threshold", "n", "AUC", "95%", "MCC", "MCC in sample")
    ]
    rows += [_binary_row(run, area) for area in areas]
    yield columns(rows, indent=2)
    reasons = {area.reason for area in areas if area.reason}
    yield from (f"  no interval of AUC: {reason}" for reason in sorted(reasons))
    yield f"  95% of AUC: {method_names(area.interval_method for area in areas)}"
    yield "  MCC has no interval: its threshold was chosen on other sentences"


def _accuracies(run: RatedRun) -> Iterator[str]:
    accuracies = (one for one in run.estimates if one.statistic == "accuracy" and one.group)
    for column, levels in group_by(accuracies, lambda one: one.group).items():
        # A design has its own estimates of the same predictions, by measure, in a table above.
        once = [accuracy for accuracy in levels if not accuracy.method] or levels
        several = len({accuracy.question for accuracy in once}) > 1
        rows = [(f"accuracy by {column}", *(["prediction"] * several), "n", "accuracy", "95%")]
        for accuracy in once:
            shown = interval(accuracy.low, accuracy.high, absent=accuracy.reason or "-")
            named = (accuracy.level or "-", *([accuracy.question] * several))
            rows.append((*named, str(accuracy.n), number(accuracy.value), shown))
        yield columns(rows, indent=2)


def rated_tables(runs: Sequence[RatedRun]) -> Iterator[NamedGrid]:
    """The tables of some runs of one suite.

    Args:
        runs: runs in the order of display.
    """
    spearmans = [
        (run, estimate) for run in runs for estimate in run.measured("spearman") if estimate.n
    ]
    if spearmans:
        header = (
            "model", "measure", "n", "expected", "Spearman", "95%", _OTHERS, "p", "p (Holm)",
            "Pearson", "Kendall", "partial",
        )  # fmt: skip
        shown = [estimate for _, estimate in spearmans]
        grid = Grid(
            title=f"Measures beside the ratings, by {runs[0].by}; partial: length held constant.",
            header=header,
            rows=tuple(
                (run.model, *_correlation_row(run, estimate, p_number))
                for run, estimate in spearmans
            ),
            keys={_OTHERS: "Spearman_others"},
            labels=2,
            notes=(
                *_methods_said(runs[0], shown),
                # People are the same beside every model.
                *(f"{line[0].upper()}{line[1:]}." for line in _people(runs[0])),
                *_cautions(shown),
                *_against(spearmans),
            ),
        )
        yield NamedGrid("correlations", grid)
    if people := people_of_suite(runs[0].suite, seed=options_of(runs[0].run).seed):
        yield NamedGrid("people-dd", headline_grid(people.tests, notes=people.notes))
    if areas := [(run, one) for run in runs for one in run.measured("AUC") if one.n]:
        intervals = method_names(
            estimate.interval_method or estimate.reason for _, estimate in areas
        )
        grid = Grid(
            title="Acceptable or not, by a threshold on each measure.",
            header=("model", "measure", "n", "AUC", "95%", "MCC", "MCC in sample"),
            rows=tuple((run.model, *_binary_row(run, estimate)) for run, estimate in areas),
            labels=2,
            notes=(
                f"95% of AUC: {intervals}.",
                "MCC has no interval: its threshold was chosen on other sentences.",
            ),
        )
        yield NamedGrid("binary", grid)


def _against(spearmans: Sequence[tuple[RatedRun, Estimate]]) -> Iterator[str]:
    """A note for each model on correlations that are surely on the other side than expected."""
    by_model = grouped((run.model, estimate) for run, estimate in spearmans)
    for model, estimates in by_model.items():
        if wrong := against_ratings(estimates):
            yield f"{model}: {wrong}"


def rated_notes(run: RatedRun) -> tuple[str, ...]:
    """Notes on undefined correlations, and on sentences without a value."""
    undefined = [
        f"{estimate.question}: no correlation: {estimate.reason}."
        for estimate in run.measured("spearman")
        if estimate.reason
    ]
    lost = [
        f"{counted(n, 'sentence')} without a value: {why}."
        for why, n in run.without_value().items()
    ]
    return (*undefined, *(lost if run.n_rated else ()))


def with_people(report: RunReport, run: RatedRun) -> RunReport:
    """The report of a run, with ratings in its items and notes on its correlations.

    Args:
        report: report on the run, as for a region suite.
        run: the run, with the values of its sentences.
    """
    rated = {sentence.text: sentence for sentence in run.sentences}
    # The two sentences of a pair have their own outcomes, and are shown in the item.
    paired = {sentence.id for sentence in run.sentences if sentence.pair}
    places = {one.row.sentence.id: one for one in run.misses()}
    items = worst_first(
        _with_ratings(item, rated, run, places) for item in report.items if item.id not in paired
    )
    notes = (*report.notes, *rated_notes(run))
    # Single sentences have no regions: their values are those of measures.
    regions = report.regions if report.claims else ()
    return replace(
        report, n_items=len(items), items=items, notes=notes, regions=regions,
        beside=beside_ratings(run.run.estimates()),
        people=tuple(run.run.paradigm.presenter.design_effects(run.run, of_people=True)),
    )  # fmt: skip


def _with_ratings(
    item: ItemRecord,
    rated: Mapping[str, RatedSentence],
    run: RatedRun,
    places: Mapping[str, Places[RatedValue]],
) -> ItemRecord:
    """An item, with people's ratings of its sentences, and with its ranks if it is a sentence."""
    remarks = []
    for strip in item.strips:
        known = rated.get(strip.text)
        if known is not None and known.mean is not None:
            people = "" if known.n is None else f" by {known.n}"
            spread = "" if known.sd is None else f", sd {known.sd:.2f}"
            remarks.append((f"rated{people}", f"{known.mean:.2f}{spread} ({strip.condition})"))
    if item.outcome is not None and item.outcome.verdict is None and item.parts:
        parts = (*item.parts, item.outcome)
        if (place := places.get(item.id)) is None:
            # It has no rank: its value on the first measure stands for it.
            first, *others = parts
            return replace(item, outcome=first, parts=tuple(others), remarks=tuple(remarks))
        gap = replace(parts[0], question=RANK_GAP, value=place.gap, unit="of the ranks")
        remarks += [
            (f"rank by {run.by}", f"{place.people:g} of {place.of}"),
            (f"rank in the model, by {run.measures[0]}", f"{place.model:g} of {place.of}"),
        ]
        return replace(item, outcome=gap, parts=parts, remarks=tuple(remarks))
    return replace(item, remarks=tuple(remarks))


def _correlation_row(
    run: RatedRun, spearman: Estimate, p_text: Callable[[float | None], str]
) -> tuple[str, ...]:
    """The correlations of a measure; all p-values are written in the same way."""
    measure = spearman.question
    others = run.find(measure, f"spearman{OTHERS}")
    return (
        measure,
        count(spearman.n),
        "positive" if find_measure(measure).higher_is_better else "negative",
        number(spearman.value),
        interval(spearman.low, spearman.high),
        no_ends("-") if others is None else interval(others.low, others.high),
        p_text(spearman.p),
        p_text(spearman.p_corrected),
        *(run.shown(measure, name) for name in ("pearson", "kendall", "partial spearman")),
    )


def _binary_row(run: RatedRun, area: Estimate) -> tuple[str, ...]:
    return (
        area.question,
        str(area.n),
        number(area.value),
        interval(area.low, area.high),
        *(run.shown(area.question, name) for name in ("MCC", "MCC in sample")),
    )
