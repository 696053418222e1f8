"""What a report shows of runs of rated sentences: tables of correlations and of yes or no."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cimento.acceptability.records import RatedSentence
from cimento.acceptability.text import RatedRun, methods
from cimento.measures import find_measure
from cimento.report.formatting import interval, number, p_number
from cimento.report.grid import Grid
from cimento.report.items import ItemRecord
from cimento.report.records import NamedGrid, RunReport
from cimento.runs.estimates import Estimate


def rated_tables(runs: Sequence[RatedRun]) -> Iterator[NamedGrid]:
    """The tables of some runs of one suite.

    Args:
        runs: in the order in which they are shown.
    """
    spearmans = [(run, each) for run in runs for each in run.measured("spearman") if each.n]
    if spearmans:
        header = (
            "model", "measure", "n", "expected", "Spearman", "95 %", "p", "p (Holm)", "Pearson",
            "Kendall", "partial",
        )  # fmt: skip
        shown = [each for _, each in spearmans]
        how = methods(each.interval_method for each in shown)
        tests = methods(each.p_method for each in shown if each.p is not None)
        grid = Grid(
            title=f"Measures beside the ratings, by {runs[0].by}; partial: length held constant.",
            header=header,
            rows=tuple(_correlation_row(run, each) for run, each in spearmans),
            labels=2,
            notes=(f"95 %: {how}; p of Spearman: {tests}.",),
        )
        yield NamedGrid("correlations", grid)
    areas = [(run, each) for run in runs for each in run.measured("AUC") if each.n]
    if areas:
        how = methods(each.interval_method or each.reason for _, each in areas)
        grid = Grid(
            title="Acceptable or not, by a threshold on each measure.",
            header=("model", "measure", "n", "AUC", "95 %", "MCC", "MCC in sample"),
            rows=tuple(_binary_row(run, each) for run, each in areas),
            labels=2,
            notes=(
                f"95 % of AUC: {how}.",
                "MCC has no interval: its threshold was chosen on other sentences.",
            ),
        )
        yield NamedGrid("binary", grid)


def rated_notes(run: RatedRun) -> tuple[str, ...]:
    """Why a correlation is undefined, and how many sentences have no value."""
    undefined = [
        f"{each.question}: no correlation: {each.reason}."
        for each in run.measured("spearman")
        if each.reason
    ]
    lost = [f"{n} sentences without a value: {why}." for why, n in run.without_value().items()]
    return (*undefined, *(lost if run.n_rated else ()))


def with_people(report: RunReport, run: RatedRun) -> RunReport:
    """What a page shows of a run, with ratings at its items and notes on its correlations.

    Args:
        report: of the run, as a suite of regions has it.
        run: with the values of its sentences.
    """
    rated = {each.text: each for each in run.sentences}
    # The two sentences of a pair have outcomes of their own, and are shown in the item.
    paired = {each.id for each in run.sentences if each.pair}
    items = tuple(_with_ratings(item, rated) for item in report.items if item.id not in paired)
    notes = (*report.notes, *rated_notes(run))
    # Sentences that stand alone have no regions: their values are those of measures.
    regions = report.regions if report.claims else ()
    return replace(report, n_items=len(items), items=items, notes=notes, regions=regions)


def _with_ratings(item: ItemRecord, rated: Mapping[str, RatedSentence]) -> ItemRecord:
    """An item with what people said of its sentences."""
    remarks = []
    for strip in item.strips:
        known = rated.get(strip.text)
        if known is not None and known.mean is not None:
            people = "" if known.n is None else f" by {known.n}"
            spread = "" if known.sd is None else f", sd {known.sd:.2f}"
            remarks.append((f"rated{people}", f"{known.mean:.2f}{spread} ({strip.condition})"))
    return replace(item, remarks=tuple(remarks))


def _correlation_row(run: RatedRun, spearman: Estimate) -> tuple[str, ...]:
    measure = spearman.question
    return (
        run.model,
        measure,
        str(spearman.n),
        "positive" if find_measure(measure).higher_is_better else "negative",
        number(spearman.value),
        interval(spearman.low, spearman.high, digits=2),
        p_number(spearman.p),
        p_number(spearman.p_corrected),
        *(run.shown(measure, name) for name in ("pearson", "kendall", "partial spearman")),
    )


def _binary_row(run: RatedRun, area: Estimate) -> tuple[str, ...]:
    return (
        run.model,
        area.question,
        str(area.n),
        number(area.value),
        interval(area.low, area.high, digits=2),
        *(run.shown(area.question, name) for name in ("MCC", "MCC in sample")),
    )
