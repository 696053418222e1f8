"""What a report shows of suites with ratings: correlations, a scatter, the people's judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cimento.acceptability.figures import run_scatter
from cimento.acceptability.suites import rated_of, ratings_by
from cimento.report.figures import drawable
from cimento.report.grid import Grid
from cimento.report.records import NamedGrid, SuiteReport
from cimento.report.wording import interval, number, p_number
from cimento.reporting import region_suites
from cimento.results import Run
from cimento.runs.estimates import Estimate

if TYPE_CHECKING:
    from pathlib import Path

    from cimento.acceptability.records import RatedSentence
    from cimento.report.figures import Figure
    from cimento.report.items import ItemRecord
    from cimento.report.records import RunReport, Stored
    from cimento.runs.store import RunFolder

REPORT = "acceptability.json"

Plain = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Read:
    """One stored run with what was said of it beside people."""

    run: Run
    beside: Plain


def acceptability_suites(folders: Sequence[Stored], told: Mapping[Path, str]) -> list[SuiteReport]:
    """The sections of some runs of suites with ratings, as a `Reporter` makes them."""
    read = [_Read(Run.open(folder, manifest), _beside(folder)) for folder, manifest in folders]
    by_folder = {str(each.run.folder): each for each in read}
    found = []
    for suite in region_suites([each.run for each in read]):
        own = [by_folder[report.folder or ""] for report in suite.runs]
        runs = tuple(
            _with_people(report, each, told) for report, each in zip(suite.runs, own, strict=True)
        )
        makers: list[Callable[[], Figure]] = [partial(run_scatter, each.run) for each in own]
        found.append(
            SuiteReport(
                runs=runs,
                figures=(*drawable(*makers), *suite.figures),
                tables=(*_tables(own), *suite.tables),
            )
        )
    return found


def _beside(folder: RunFolder) -> Plain:
    found = folder.read_json(REPORT)
    return found if isinstance(found, dict) else {}


def _with_people(report: RunReport, read: _Read, told: Mapping[Path, str]) -> RunReport:
    """The report with the ratings at its items, and a correlation where nothing is predicted."""
    rated = {each.text: each for each in rated_of(read.run.suite).sentences}
    folder = read.run.folder
    return replace(
        report,
        items=tuple(_with_ratings(item, rated) for item in report.items),
        headline=report.headline or _headline(read),
        notes=(
            *(report.notes if report.claims else report.notes[1:]),
            *_notes(read.beside),
        ),
        paradigm="ratings",
        told=told.get(folder, "") if folder else "",
    )


def _with_ratings(item: ItemRecord, rated: Mapping[str, RatedSentence]) -> ItemRecord:
    remarks = []
    for strip in item.strips:
        known = rated.get(strip.text)
        if known is not None and known.mean is not None:
            people = "" if known.n is None else f" by {known.n}"
            spread = "" if known.sd is None else f", sd {known.sd:.2f}"
            remarks.append((f"rated{people}", f"{known.mean:.2f}{spread} ({strip.condition})"))
    return replace(item, remarks=(*item.remarks, *remarks))


def _headline(read: _Read) -> Estimate | None:
    """Spearman's correlation with the first measure."""
    first = next(_measures(read.beside), None)
    if first is None:
        return None
    found = _correlation(first, 0)
    return Estimate(
        suite=read.run.suite.name,
        model=read.run.model,
        question=str(first.get("measure")),
        statistic="spearman",
        role="headline",
        value=_float(found.get("r")),
        low=_float(found.get("low")),
        high=_float(found.get("high")),
        chance=0.0,
        n=int(_float(first.get("n")) or 0),
        unscored=int((_float(read.beside.get("n_rated")) or 0) - (_float(first.get("n")) or 0)),
        reason=str(found.get("reason") or ""),
    )


def _notes(beside: Plain) -> tuple[str, ...]:
    """Why a correlation is undefined, and how many sentences have no value."""
    if not beside.get("n_rated"):
        return ("No sentence has a rating: there is nothing to correlate measures with.",)
    found = []
    for measure in _measures(beside):
        reason = _correlation(measure, 0).get("reason")
        if reason:
            found.append(f"{measure.get('measure')}: no correlation: {reason}.")
        without = measure.get("without")
        if isinstance(without, dict):
            found += [f"{n} sentences without a value: {why}." for why, n in without.items()]
    return tuple(dict.fromkeys(found))


def _tables(runs: Sequence[_Read]) -> Iterator[NamedGrid]:
    rows = [
        _correlation_row(each.run.model, measure)
        for each in runs
        for measure in _measures(each.beside)
        if measure.get("n")
    ]
    by = ratings_by(runs[0].run.suite)
    if rows:
        header = (
            "model", "measure", "n", "expected", "Spearman", "95 %", "p", "p (Holm)", "Pearson",
            "Kendall", "partial",
        )  # fmt: skip
        title = f"Measures beside the ratings, by {by}; partial: length held constant."
        grid = Grid(title=title, header=header, rows=tuple(rows), labels=2, notes=(_methods(runs),))
        yield NamedGrid("correlations", grid)
    labels = [row for each in runs for row in _binary_rows(each)]
    if labels:
        names = ("model", "measure", "n", "AUC", "95 %", "MCC", "MCC in sample")
        title = "Acceptable or not, by a threshold on each measure."
        notes = (
            f"95 % of AUC: {_auc_methods(runs)}.",
            "MCC has no interval: its threshold was chosen on other sentences.",
        )
        grid = Grid(title=title, header=names, rows=tuple(labels), labels=2, notes=notes)
        yield NamedGrid("binary", grid)


def _auc_methods(runs: Sequence[_Read]) -> str:
    """How the intervals of the areas under the curve were made, or why there are none."""
    intervals = [label.get("auc_interval") for each in runs for label in _binary(each)]
    names = (
        each.get("method") or each.get("reason") for each in intervals if isinstance(each, dict)
    )
    return " or ".join(dict.fromkeys(map(str, names)))


def _methods(runs: Sequence[_Read]) -> str:
    """How interval and p of Spearman's coefficient were made."""
    measures = [measure for each in runs for measure in _measures(each.beside)]
    found, tests = (
        " or ".join(dict.fromkeys(str(each["method"]) for each in every if each.get("method")))
        for every in ([_correlation(each, 0) for each in measures], [*map(_test, measures)])
    )
    return f"95 %: {found}; p of Spearman: {tests}; Holm over the measures of a model."


def _correlation_row(model: str, measure: Plain) -> tuple[str, ...]:
    spearman, pearson, kendall = (_correlation(measure, place) for place in range(3))
    partial_ = measure.get("partial")
    held = _float(partial_.get("r")) if isinstance(partial_, dict) else None
    return (
        model,
        str(measure.get("measure")),
        str(measure.get("n")),
        str(measure.get("expected")),
        number(_float(spearman.get("r"))),
        interval(_float(spearman.get("low")), _float(spearman.get("high")), digits=2),
        p_number(_float(_test(measure).get("p"))),
        p_number(_float(measure.get("p_holm"))),
        number(_float(pearson.get("r"))),
        number(_float(kendall.get("r"))),
        number(held),
    )


def _binary(read: _Read) -> Iterator[Plain]:
    found = read.beside.get("binary")
    yield from (each for each in found if each.get("n")) if isinstance(found, list) else ()


def _binary_rows(read: _Read) -> Iterator[tuple[str, ...]]:
    for each in _binary(read):
        auc, mcc, in_sample = (
            number(_float(each.get(name))) for name in ("auc", "mcc", "mcc_in_sample")
        )
        found = each.get("auc_interval")
        own = found if isinstance(found, dict) else {}
        ends = interval(_float(own.get("low")), _float(own.get("high")), digits=2)
        name, n = str(each.get("measure")), str(each.get("n"))
        yield (read.run.model, name, n, auc, ends, mcc, in_sample)


def _measures(beside: Plain) -> Iterator[Plain]:
    found = beside.get("beside")
    yield from (each for each in found if isinstance(each, dict)) if isinstance(found, list) else ()


def _correlation(measure: Plain, place: int) -> Plain:
    found = measure.get("correlations")
    known = isinstance(found, list) and place < len(found) and isinstance(found[place], dict)
    return found[place] if known and isinstance(found, list) else {}


def _test(measure: Plain) -> Plain:
    found = measure.get("test")
    return found if isinstance(found, dict) else {}


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
