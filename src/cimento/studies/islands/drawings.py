"""The figures of the study for one's own models: people and two suites, and token by token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cimento.errors import UsageError
from cimento.measures.normalising import Normalisation
from cimento.paradigms.regions.factorial import Factorial, PhenomenonEffects, dd_tests
from cimento.report.figures import Figure
from cimento.report.figures_conditions import Column, rows_figure
from cimento.report.figures_scores import tokens_figure
from cimento.report.formatting import with_minus
from cimento.report.sections import run_report
from cimento.runs.run import Run
from cimento.runs.store import file_name
from cimento.studies.islands.human import RATINGS, known_people, people_result
from cimento.studies.islands.models import MEASURES, STARTER, Asked, results_of
from cimento.studies.islands.tables import AbsentError, find

SCALE: Normalisation = "likert-z"
"""Of the study's figures: z-scores of seven equal bins."""


def people_of(data: Path | None, given: Path | None) -> tuple[str, Factorial]:
    """The ratings of people for the first panels, and how they are called.

    Args:
        data: folder of released files, in which the English ratings may be.
        given: a user's file of ratings; None for the English ones.

    Raises:
        InputError: the user's file, or the released one, cannot be used.
    """
    if given is not None:
        return f"people, {given.stem}", people_result(given)
    english = "people, English"
    try:
        return english, people_result(find(data, RATINGS)) if data else known_people()
    except AbsentError:
        return english, known_people()


def study_figures(
    runs: Sequence[Run], asked: Asked, people: tuple[str, Factorial]
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
    by_model: dict[str, list[Run]] = {}
    for run in runs:
        if run.suite.name in _titles(asked):
            by_model.setdefault(run.model, []).append(run)
    for model, some in by_model.items():
        results = {run.suite.name: results_of([run])[model] for run in some}
        for measure in MEASURES:
            factorials = {name: columns[measure] for name, columns in results.items()}
            if not any(result.reason for result in factorials.values()):
                panels = rows_figure(list(_columns(factorials, asked, people)), SCALE)
                drawn = panels.dressed(title=f"{model}, {measure}")
                yield f"figure-{measure}-{file_name(model)}", drawn
        for run in some:
            measure = "penlp" if run.model_kind == "causal" else "lp"
            yield from _tokens(run, results[run.suite.name][measure])


def _titles(asked: Asked) -> Mapping[str, str]:
    """Name of a suite to the title of its panels, in the order of the study's figures."""
    new = STARTER if asked.new == STARTER else "new items"
    return {asked.published: "published items", asked.new: new}


def _columns(
    factorials: Mapping[str, Factorial], asked: Asked, people: tuple[str, Factorial]
) -> Iterator[Column]:
    shown = {label: factorials.get(name) for name, label in _titles(asked).items()}
    for title, result in (people, *shown.items()):
        if result is None:
            yield title, Factorial(suite="", model="", measure="", unit="", phenomena=()), {}
        else:
            tests = dd_tests([result], normalisation=SCALE)
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
