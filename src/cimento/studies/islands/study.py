"""The sections of the study, and those about its materials and about models of one's own."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from cimento.errors import need_known
from cimento.measures.normalising import NORMALISATIONS
from cimento.paradigms.regions.factorial import DesignRate, Factorial, normalised_scores
from cimento.paradigms.regions.two_by_two import effects_of
from cimento.studies.islands.fillers import kobzeva, wilcox
from cimento.studies.islands.human import RATINGS, by_phenomenon, human, read_judgments, unit_means
from cimento.studies.islands.human import SOURCE as HUMAN_SOURCE
from cimento.studies.islands.released import (
    AbsentError,
    find,
    item_files,
    new_items,
    published_items,
)
from cimento.studies.islands.tables import (
    AVERAGE,
    INVALID,
    INVALID_NOTE,
    SOURCE,
    TENTHS,
    blimp_models,
    blimp_people,
    blimp_table,
    printed_accuracies,
    pseudo_likelihoods,
    tables,
    variations,
)
from cimento.studies.record import (
    Cell,
    Maker,
    Section,
    beside,
    need,
    number,
    printed_tables,
    read_rows,
)
from cimento.suites.design import ISLAND_CONDITIONS, ISLAND_SQUARE
from cimento.suites.faults import CHECKS
from cimento.suites.load import inspect_suite, open_suite
from cimento.suites.model import Condition, Suite, sentence
from cimento.suites.pairs import merge_suites

if TYPE_CHECKING:
    from cimento.report.grid import Grid

ITEMS_PER_SUITE = "items"


def materials(data: Path) -> Section:
    """Every suite of the study: items, faults that a model sees, length and overlap."""
    lines = [
        line
        for path in item_files(data)
        for line in _suite_lines(path, str(path.relative_to(data).with_suffix("")))
    ]
    return Section(
        name="materials",
        title="Materials: items, faults, words per condition, shared words of an item",
        source="bert-syntax-it 2022 and Sprouse et al. 2016, as files of suites",
        cells=tuple(lines),
    )


def _suite_lines(path: Path, label: str) -> Iterator[Cell]:
    suite, faults = inspect_suite(path)
    counts = Counter(fault.code for fault in faults)
    told = "; ".join(f"{CHECKS[code].title} ({n})" for code, n in sorted(counts.items()))
    items = float(len(suite.items)) if suite else None
    yield Cell(what=f"{label}: {ITEMS_PER_SUITE}", computed=items, note=told)
    if suite is None:
        return
    words = {
        name: fmean(_length(item.condition(name), suite) for item in suite.items)
        for name in suite.condition_names
    }
    note = ", ".join(f"{name} {mean:.1f}" for name, mean in words.items())
    spread = max(words.values()) - min(words.values())
    yield Cell(what=f"{label}: words, longest less shortest condition", computed=spread, note=note)
    yield Cell(what=f"{label}: share of words in all four", computed=overlap(suite))


def overlap(suite: Suite) -> float | None:
    """The mean over items of words common to all conditions over words of any (Jaccard)."""
    shares = []
    for item in suite.items:
        sets = [
            {word.strip(".,;:!?").lower() for word in sentence(condition, rule=suite.join).split()}
            for condition in item.conditions
        ]
        if sets and set.union(*sets):
            shares.append(len(set.intersection(*sets)) / len(set.union(*sets)))
    return fmean(shares) if shares else None


def _length(condition: Condition, suite: Suite) -> int:
    return len(sentence(condition, rule=suite.join).split())


def scales(data: Path) -> Section:
    """DD of the English wh items on every scale, taking people as if they were a model.

    The pool is that of the study: all sentences of the four phenomena together.
    """
    judgments = read_judgments(find(data, RATINGS))
    means: dict[str, dict[str, float]] = {}
    groups: dict[str, list[str]] = {}
    for phenomenon, group in by_phenomenon(judgments).items():
        if phenomenon.startswith("wh_"):
            for item, conditions in unit_means(group, "item").items():
                means[f"{phenomenon}-{item}"] = conditions
                groups.setdefault(phenomenon, []).append(f"{phenomenon}-{item}")
    pool = [item for items in groups.values() for item in items]
    lines = []
    for kind in NORMALISATIONS:
        scaled = normalised_scores(means, [pool], kind)
        for phenomenon, items in groups.items():
            found = effects_of(ISLAND_SQUARE, scaled, items, normalisation=kind)
            errors = ", ".join(
                "undefined" if cell.se is None else f"{cell.se:.4f}" for cell in found.cells
            )
            note = found.reason or f"standard errors on this scale: {errors}"
            lines.append(Cell(what=f"{kind}: DD of {phenomenon}", computed=found.dd, note=note))
    return Section(
        name="scales",
        title="What the scale does to DD: people's item means as scores, pooled over phenomena",
        source=f"{HUMAN_SOURCE}; scales of the 2022 study and others",
        cells=tuple(lines),
    )


def contexts(data: Path) -> Section:
    """Ratings of one sentence in different contexts, correlated (Lau et al. 2020)."""
    from cimento.statistics.correlation import coefficient

    ratings = {name: _ratings(find(data, f"context-{name}-ratings.csv")) for name in _CONTEXTS}
    lines = [
        Cell(
            what=f"{name}: mean of mean ratings",
            computed=fmean(found.values()),
            note=f"{len(found)} sentences",
        )
        for name, found in ratings.items()
    ]
    for pair, printed in printed_tables("islands")["Lau 2020"].items():
        one, other = pair.split(", ")
        ids = [id_ for id_ in ratings[one] if id_ in ratings[other]]
        columns = ([ratings[name][id_] for id_ in ids] for name in (one, other))
        found = coefficient(*columns, kind="pearson")
        what = f"Pearson's r, {one} and {other}"
        lines.append(beside(what, found.r, printed, note=f"{len(ids)} sentences"))
    return Section(
        name="contexts",
        title="Acceptability without context, in its own, and in a random one",
        source="Lau et al. 2020, doi:10.1162/tacl_a_00315",
        cells=tuple(lines),
    )


_CONTEXTS = ("none", "real", "random")


def _ratings(path: Path) -> dict[str, float]:
    """Sentence to the mean of its single ratings."""
    rows = read_rows(path)
    need(path, rows, ("ID", "full-ratings"))
    found = {}
    for row in rows:
        single = [number(each) for each in row["full-ratings"].split(",")]
        known = [each for each in single if each is not None]
        if known:
            found[row["ID"]] = fmean(known)
    return found


THESIS_MODELS: Mapping[str, str] = {
    "geppetto": "GePpeTto",
    "bert-base-italian-xxl-cased": "BERT-it-xxl-cased",
    "gilberto": "GilBERTo",
}
"""Part of a model's name, in small letters, to its name in the tables of the 2022 study."""

MEASURES: tuple[str, ...] = ("lp", "penlp", "lp-l", "penlp-l")
MEASURE_NAMES = {"lp": "LP", "penlp": "PenLP", "lp-l": "LP-L", "penlp-l": "PenLP-L"}
SUITES = {"madeddu": 1, "sprouse": 2}
"""Name of a suite to the table that prints its accuracies."""

_TYPES = dict(zip(ISLAND_CONDITIONS, ("Short-N.I.", "Long-N.I.", "Short-I.S."), strict=False))


def read_study_suites(data: Path) -> list[Suite]:
    """The two Italian suites of the study, each with its four phenomena in one.

    Raises:
        InputError: a file is missing.
        SuiteError: a file cannot be used.
    """
    suites = []
    for name, files in (("madeddu", new_items(data)), ("sprouse", published_items(data))):
        parts = {phenomenon: open_suite(path).suite for phenomenon, path in files.items()}
        merged = merge_suites(parts, name=f"islands-{name}")
        meta = dataclasses.replace(merged.meta, language="it")
        suites.append(dataclasses.replace(merged, meta=meta))
    return suites


def model_sections(results: Sequence[Factorial]) -> list[Section]:
    """Accuracies of some models on the suites of the study, beside what is printed for them.

    Args:
        results: of the suites of `read_study_suites`, for any models and measures.
    """
    sections = []
    for name, table in SUITES.items():
        own = [result for result in results if result.suite == f"islands-{name}"]
        printed, _ = printed_accuracies(table)
        lines = [line for each in own for line in _lines(each, printed)]
        sections.append(
            Section(
                name=f"models-{name}",
                title=f"Accuracy in % on the {name} suite, scored with original masking",
                source=SOURCE,
                cells=tuple(lines),
            )
        )
    return sections


def accuracy_tables(results: Sequence[Factorial]) -> dict[str, Grid]:
    """Tables 1 and 2 with a row for each model and measure, the published ones first.

    Args:
        results: of the suites of `read_study_suites`, for any models and measures.
    """
    return {
        f"table-{table}": _accuracy_table(
            table, [result for result in results if result.suite == f"islands-{name}"]
        )
        for name, table in SUITES.items()
    }


def _accuracy_table(table: int, results: Sequence[Factorial]) -> Grid:
    from cimento.report.grid import Grid

    printed, averages = printed_accuracies(table)
    columns = list(next(iter(printed.values())))
    rows = [
        (f"{name} (published)", *(f"{cells[c]:.1f}" for c in columns), averages[name])
        for name, cells in printed.items()
    ]
    for result in (result for result in results if not result.reason):
        found = {
            (f"Wh-{phenomenon.name.replace('_', ' ')}", _TYPES[pair.name]): pair.accuracy
            for phenomenon in result.phenomena
            for pair in phenomenon.pairs
        }
        average = result.average if found.keys() >= set(columns) else None
        values = [*(found.get(column) for column in columns), average]
        label = f"{result.model} {MEASURE_NAMES.get(result.measure, result.measure)}"
        rows.append((label, *("" if v is None else f"{100 * v:.1f}" for v in values)))
    return Grid(
        title=f"Table {table}. Accuracy in %: each acceptable type against Long-Island",
        header=("model", *(kind for _, kind in columns), AVERAGE),
        groups=("", *(phenomenon for phenomenon, _ in columns), ""),
        rows=tuple(rows),
        rules=frozenset({len(printed)}) if results else frozenset(),
        notes=(f"Published rows: {SOURCE}. {INVALID}: {INVALID_NOTE}.",),
    )


def _lines(result: Factorial, printed: dict[str, dict[tuple[str, str], float]]) -> Iterator[Cell]:
    label = f"{result.model} {result.measure}"
    if result.reason:
        yield Cell(what=label, computed=None, note=result.reason)
        return
    thesis = next(
        (name for part, name in THESIS_MODELS.items() if part in result.model.lower()), ""
    )
    column = printed.get(f"{thesis} {MEASURE_NAMES.get(result.measure, '')}", {})
    note = INVALID_NOTE if thesis == INVALID else ""
    for phenomenon in result.phenomena:
        for pair in phenomenon.pairs:
            known = column.get((f"Wh-{phenomenon.name.replace('_', ' ')}", _TYPES[pair.name]))
            value = None if pair.accuracy is None else 100 * pair.accuracy
            yield beside(
                f"{label}: {phenomenon.name}, {pair.name}",
                value,
                None if known is None else format(known, TENTHS),
                note="; ".join(filter(None, (pair.reason or _items(pair), note))),
            )
        share = phenomenon.super_additive
        dd = phenomenon.effects["likert-z"].dd
        shown = "undefined" if dd is None else f"{dd:.3f}"
        yield Cell(
            what=f"{label}: {phenomenon.name}, DD > 0",
            computed=None if share.accuracy is None else 100 * share.accuracy,
            note=share.reason or f"{_items(share)}; DD in z of 7 Likert points {shown}",
        )
    average = None if result.average is None else 100 * result.average
    note = "no interval: the phenomena of a suite are no sample of phenomena"
    yield Cell(what=f"{label}: average of the pairs", computed=average, note=note)


def _items(share: DesignRate) -> str:
    """On how many items a rate rests, and its interval in per cent."""
    n = share.passed + share.failed + share.tied
    if share.low is None or share.high is None:
        return f"{n} items, too few for an interval"
    return f"{n} items, 95 % {100 * share.low:.1f} to {100 * share.high:.1f}"


SECTIONS: Mapping[str, Maker] = {
    "materials": materials,
    "tables": tables,
    "blimp-table": blimp_table,
    "variations": variations,
    "pseudo-likelihoods": pseudo_likelihoods,
    "blimp": blimp_models,
    "blimp-people": blimp_people,
    "human": human,
    "scales": scales,
    "kobzeva": kobzeva,
    "wilcox": wilcox,
    "contexts": contexts,
}
"""Name to what makes the section from the data folder; none of them needs a model."""


OF_PRINTED = frozenset({"tables", "variations", "pseudo-likelihoods"})
"""Sections of printed numbers alone, which cimento has."""


def study(data: Path, names: Sequence[str] = ()) -> list[Section]:
    """Sections of the study, in its order.

    Args:
        data: the folder of released data.
        names: of the sections wanted; empty for all that the files give.

    Raises:
        UsageError: there is no section of a name.
        InputError: a file is missing or cannot be read.
    """
    for name in names:
        need_known(name, SECTIONS, where=f"--section {name}", seen="there is no such section")
    if names:
        return [make(data) for name, make in SECTIONS.items() if name in names]
    sections: list[Section] = []
    absent: list[AbsentError] = []
    for name, make in SECTIONS.items():
        try:
            sections.append(make(data))
        except AbsentError as error:
            absent.append(error)
            nothing = Cell(what="not computed", computed=None, note=error.seen)
            sections.append(Section(name=name, title=name, source="no file", cells=(nothing,)))
    if len(sections) - len(absent) == len(OF_PRINTED):
        raise absent[0]
    return sections
