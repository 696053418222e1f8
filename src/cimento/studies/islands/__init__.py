"""Island effects in Italian and English: the 2022 study of bert-syntax-it and its sources.

Here are the sections and figures of the study, and the sections about its materials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from cimento.errors import InputError, UsageError, need_known
from cimento.faults import CHECKS
from cimento.io.values import group_by
from cimento.judgments import is_judgments, judgments_of, read_judgments
from cimento.kinds.registry import load_suite, sentence_suite
from cimento.kinds.run import Run
from cimento.kinds.sections import run_report
from cimento.measures.normalizing import NORMALIZATIONS, Normalization
from cimento.paradigms.regions.factorial import (
    Factorial,
    PhenomenonEffects,
    dd_tests,
    normalized_scores,
)
from cimento.paradigms.regions.figures_conditions import Column, rows_figure
from cimento.paradigms.regions.people_effects import people_in_judgments
from cimento.paradigms.regions.two_by_two import effects_of
from cimento.records.store import file_name
from cimento.report.figures import Figure
from cimento.report.figures_scores import tokens_figure
from cimento.report.formatting import with_minus
from cimento.studies import (
    AbsentError,
    Cell,
    Maker,
    Section,
    beside,
    cell_number,
    need,
    printed_tables,
    read_rows,
    section_of,
)
from cimento.studies.islands.fillers import kobzeva, wilcox
from cimento.studies.islands.human import (
    RATINGS,
    by_phenomenon,
    human,
    known_people,
    people_result,
    read_island_ratings,
    unit_means,
)
from cimento.studies.islands.human import SOURCE as HUMAN_SOURCE
from cimento.studies.islands.models import MEASURES, STARTER, IslandSuites, island_results
from cimento.studies.islands.tables import (
    blimp_models,
    blimp_people,
    blimp_table,
    find_file,
    item_files,
    pseudo_likelihoods,
    tables,
    variations,
)
from cimento.suites import Suite, sentence
from cimento.suites.design import ISLAND_SQUARE
from cimento.suites.load import inspect_suite

ITEMS_PER_SUITE = "items"


@section_of(
    "materials",
    title="Materials: items, faults, words per condition, shared words of an item",
    source="bert-syntax-it 2022 and Sprouse et al. 2016, as files of suites",
)
def materials(data: Path) -> Iterator[Cell]:
    """Every suite of the study: items, faults that a model sees, length and overlap."""
    for path in item_files(data):
        yield from _suite_lines(path, str(path.relative_to(data).with_suffix("")))


def _suite_lines(path: Path, label: str) -> Iterator[Cell]:
    suite, faults = inspect_suite(path)
    counts = Counter(fault.code for fault in faults)
    listed = "; ".join(f"{CHECKS[code].title} ({n})" for code, n in sorted(counts.items()))
    items = float(len(suite.items)) if suite else None
    yield Cell(what=f"{label}: {ITEMS_PER_SUITE}", computed=items, note=listed)
    if suite is None:
        return
    words = {
        name: fmean(
            len(sentence(item.condition(name), rule=suite.join).split()) for item in suite.items
        )
        for name in suite.condition_names
    }
    note = ", ".join(f"{name} {mean:.1f}" for name, mean in words.items())
    spread = max(words.values()) - min(words.values())
    yield Cell(what=f"{label}: words, longest less shortest condition", computed=spread, note=note)
    yield Cell(what=f"{label}: proportion of words in all four", computed=overlap(suite))


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


@section_of(
    "scales",
    title="What the scale does to DD: people's item means as scores, pooled over phenomena",
    source=f"{HUMAN_SOURCE}; scales of the 2022 study and others",
)
def scales(data: Path) -> Iterator[Cell]:
    """DD of the English wh items on every scale, taking people as if they were a model.

    The pool is that of the study: all sentences of the four phenomena together.
    """
    judgments = read_island_ratings(find_file(data, RATINGS))
    means: dict[str, dict[str, float]] = {}
    groups: dict[str, list[str]] = {}
    for phenomenon, group in by_phenomenon(judgments).items():
        if phenomenon.startswith("wh_"):
            for item, conditions in unit_means(group, "item").items():
                means[f"{phenomenon}-{item}"] = conditions
                groups.setdefault(phenomenon, []).append(f"{phenomenon}-{item}")
    pool = [item for items in groups.values() for item in items]
    for kind in NORMALIZATIONS:
        scaled = normalized_scores(means, [pool], kind)
        for phenomenon, items in groups.items():
            effects = effects_of(ISLAND_SQUARE, scaled, items, normalization=kind)
            errors = ", ".join(
                "undefined" if cell.se is None else f"{cell.se:.4f}" for cell in effects.cells
            )
            note = effects.reason or f"standard errors on this scale: {errors}"
            yield Cell(what=f"{kind}: DD of {phenomenon}", computed=effects.dd, note=note)


@section_of(
    "contexts",
    title="Acceptability without context, in its own, and in a random one",
    source="Lau et al. 2020, doi:10.1162/tacl_a_00315",
)
def contexts(data: Path) -> Iterator[Cell]:
    """Ratings of one sentence in different contexts, correlated (Lau et al. 2020)."""
    from cimento.statistics.correlation import coefficient

    ratings = {name: _ratings(find_file(data, f"context-{name}-ratings.csv")) for name in _CONTEXTS}
    for name, scores in ratings.items():
        what, note = f"{name}: mean of mean ratings", f"{len(scores)} sentences"
        yield Cell(what=what, computed=fmean(scores.values()), note=note)
    for pair, printed in printed_tables("islands")["Lau 2020"].items():
        one, other = pair.split(", ")
        ids = [id_ for id_ in ratings[one] if id_ in ratings[other]]
        columns = ([ratings[name][id_] for id_ in ids] for name in (one, other))
        correlation = coefficient(*columns, kind="pearson")
        what = f"Pearson's r, {one} and {other}"
        yield beside(what, correlation.r, printed, note=f"{len(ids)} sentences")


_CONTEXTS = ("none", "real", "random")


def _ratings(path: Path) -> dict[str, float]:
    """Sentence to the mean of its single ratings."""
    rows = read_rows(path)
    need(path, rows, ("ID", "full-ratings"))
    means = {}
    for row in rows:
        single = [cell_number(text) for text in row["full-ratings"].split(",")]
        known = [value for value in single if value is not None]
        if known:
            means[row["ID"]] = fmean(known)
    return means


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


PRINTED_SECTIONS = frozenset({"tables", "variations", "pseudo-likelihoods"})
"""Sections of printed numbers alone, which cimento has."""


def study(data: Path | None, names: Collection[str] = ()) -> list[Section]:
    """Sections of the study, in its order.

    Args:
        data: the folder of released data; None: only `PRINTED_SECTIONS` can be made.
        names: of the sections wanted; empty for all that the files give.

    Raises:
        UsageError: there is no section of a name, or it needs files.
        InputError: a file is missing or cannot be read.
    """
    for name in names:
        need_known(name, SECTIONS, where=f"--section {name}", seen="there is no such section")
    for name in names if data is None else ():
        if name not in PRINTED_SECTIONS:
            raise UsageError(
                where=f"--section {name}",
                seen="it is about released files, and there is no --data",
                todo="Give their folder. Without it there are"
                f" {', '.join(sorted(PRINTED_SECTIONS))}.",
            )
    if data is None:
        return [
            make(Path()) for name, make in SECTIONS.items() if name in (names or PRINTED_SECTIONS)
        ]
    if names:
        return [make(data) for name, make in SECTIONS.items() if name in names]
    sections: list[Section] = []
    absent: dict[str, AbsentError] = {}
    for name, make in SECTIONS.items():
        try:
            sections.append(make(data))
        except AbsentError as error:
            absent[name] = error
    if len(sections) == len(PRINTED_SECTIONS):
        raise next(iter(absent.values()))
    return [*sections, _absent(absent)] if absent else sections


def _absent(errors: Mapping[str, AbsentError]) -> Section:
    """The sections that could not be computed, each with the file that it lacks."""
    return Section(
        name="absent",
        title="Sections without their files",
        source='The page "Five published studies, recomputed" says where each file was released',
        cells=tuple(
            Cell(what=name, computed=None, note=error.seen) for name, error in errors.items()
        ),
    )


SCALE: Normalization = "likert-z"
"""Of the study's figures: z-scores of seven equal bins."""


def people_ratings(
    data: Path | None, given: Path | None, asked: IslandSuites
) -> tuple[str, Factorial]:
    """The ratings of people for the first panels, and how they are called.

    Args:
        data: folder of released files, in which the English ratings may be.
        given: a user's file of ratings, or of judgments on one of the suites; None for the English
            ratings.
        asked: the suites of the study.

    Raises:
        InputError: the user's file, or the released one, cannot be used.
    """
    if given is not None:
        result = _judged(given, asked) if is_judgments(given) else people_result(given)
        return f"people, {given.stem}", result
    english = "people, English"
    try:
        return english, people_result(find_file(data, RATINGS)) if data else known_people()
    except AbsentError:
        return english, known_people()


def _judged(path: Path, asked: IslandSuites) -> Factorial:
    """The ratings in a table of judgments such as ``annotate import`` writes.

    Raises:
        InputError: they are about none of the suites.
    """
    judgments = judgments_of(read_judgments(path))
    about = {judgment.suite for judgment in judgments}
    names = [name for name in (asked.new, asked.published) if name]
    if not about & {*names}:
        raise InputError(
            where=str(path),
            seen=f"it is about {', '.join(sorted(about))}",
            todo=f"Give judgments on {' or '.join(names)}.",
        )
    suites = (sentence_suite(load_suite(one)) for one in asked.suites)
    suite = next(suite for suite in suites if suite.name in about & {*names})
    return people_in_judgments(suite, judgments).result


def study_figures(
    runs: Sequence[Run], asked: IslandSuites, people: tuple[str, Factorial]
) -> Iterator[tuple[str, Figure]]:
    """The figures of some models, each with the name of its file without ending.

    For each model and measure one of people, published items and new ones, a row for each
    phenomenon; then, for each suite and phenomenon, the tokens of the items with the smallest and
    the largest DD. DD of items is that of PenLP for causal models and of LP for masked ones, as in
    the study.

    Args:
        runs: of the suites asked, for any models.
        asked: what they are about.
        people: title and ratings of the first panels.
    """
    about = [run for run in runs if run.suite.name in _titles(asked)]
    for model, some in group_by(about, lambda run: run.model).items():
        results = {run.suite.name: island_results([run])[model] for run in some}
        for measure in MEASURES:
            factorials = {name: columns[measure] for name, columns in results.items()}
            if not any(result.reason for result in factorials.values()):
                panels = rows_figure(list(_columns(factorials, asked, people)), SCALE, bars="se")
                drawn = panels.dressed(title=f"{model}, {measure}")
                yield f"figure-{measure}-{file_name(model)}", drawn
        for run in some:
            measure = "penlp" if run.model_kind == "causal" else "lp"
            yield from _tokens(run, results[run.suite.name][measure])


def _titles(asked: IslandSuites) -> Mapping[str, str]:
    """Name of a suite to the title of its panels, in the order of the study's figures."""
    new = STARTER if asked.new == STARTER else "new items"
    return {asked.published: "published items", asked.new: new}


def _columns(
    factorials: Mapping[str, Factorial], asked: IslandSuites, people: tuple[str, Factorial]
) -> Iterator[Column]:
    shown = {label: factorials.get(name) for name, label in _titles(asked).items()}
    for title, result in (people, *shown.items()):
        if result is None:
            yield title, Factorial(suite="", model="", measure="", unit="", phenomena=()), {}
        else:
            tests = dd_tests([result], normalization=SCALE)
            yield title, result, {test.phenomenon: test.dd.p for test in tests}


def _tokens(run: Run, result: Factorial) -> Iterator[tuple[str, Figure]]:
    """The tokens of two items of each phenomenon: with the smallest and with the largest DD."""
    report = run_report(run)
    for phenomenon in result.phenomena:
        for which, item, dd in _extremes(phenomenon):
            try:
                figure = tokens_figure(report, item)
            except UsageError:
                continue  # no token of it was scored; the tables say so
            place = f"{run.suite.name}-{phenomenon.name}-{which}-dd"
            title = (
                f"{item}: {which} DD of {phenomenon.name}, {with_minus(f'{dd:.2f}')} nats"
                f" ({result.measure}), {run.model}"
            )
            yield f"tokens/{file_name(run.model)}-{file_name(place)}", figure.dressed(title=title)


def _extremes(phenomenon: PhenomenonEffects) -> list[tuple[str, str, float]]:
    """Which, item and DD of the items at both ends; one item is at one end only."""
    known = {item.item: item.dd for item in phenomenon.effects["raw"].items if item.dd is not None}
    ends = {"smallest": min(known, key=known.__getitem__, default=None)}
    if len(known) > 1:
        ends["largest"] = max(known, key=known.__getitem__)
    return [(which, item, known[item]) for which, item in ends.items() if item is not None]
