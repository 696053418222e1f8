"""The designs of region suites: factorial effects, DD by region, licensing, people's choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.measures import find_measure, find_measures
from cimento.measures.normalising import NORMALISATIONS, Normalisation, Scope
from cimento.measures.sentence import Measure, Missing, Value
from cimento.paradigms.regions.chance import near_tie_threshold
from cimento.paradigms.regions.factorial import Factorial, factorial
from cimento.paradigms.regions.judging import (
    crosses_factors,
    has_parts,
    on_each_measure,
    options_of,
    scores_of,
    suite_of,
    values_of,
)
from cimento.paradigms.regions.licensing import licensing_effects
from cimento.paradigms.regions.two_by_two import items_by_phenomenon, region_dds
from cimento.report.factorial import licensing_grid, regions_grid
from cimento.report.records import NamedGrid
from cimento.report.robustness import people_grid
from cimento.runs.outcomes import Estimate
from cimento.runs.run import Run
from cimento.suites.design import regions_measured, squares, windows_of

if TYPE_CHECKING:
    import polars as pl


DEFAULT_MEASURE = "surprisal-bits"
"""Measure of runs that are judged on regions: the whole sentence, in the unit of their margins."""

OF_MASKED_MODELS = "logistic scores are those of masked models"
"""The bert-syntax-it study (2022) defines them so, as a causal model's raw outputs are no votes."""


def factorial_of(
    run: Run,
    measure: str = "",
    *,
    scope: Scope = "suite",
    normalisations: Sequence[Normalisation] = NORMALISATIONS,
) -> Factorial:
    """The results of a run's factorial design on one measure.

    Args:
        run: run of a suite that crosses two factors.
        measure: name of the measure; empty for the run's own, or else the surprisal of sentences.
        scope: set of scores that are pooled for normalization: for this model and measure, the
            whole suite or each phenomenon.
        normalisations: scales to compute.

    Returns:
        The results; if the measure is not defined for this kind of model, they have a reason and no
        phenomena.

    Raises:
        UsageError: the measure is unknown, or the suite does not cross two factors.
        InputError: its declaration of factors cannot be used.
    """
    chosen = find_measure(measure or options_of(run).measure or DEFAULT_MEASURE)
    phenomena = factorial(
        suite_of(run), good_scores(run, chosen), scope=scope, normalisations=normalisations
    )
    undefined = run.model_kind == "causal" and "logit" in chosen.needs
    return Factorial(
        suite=run.suite.name,
        model=run.model,
        measure=chosen.name,
        unit=chosen.unit,
        phenomena=() if undefined else phenomena,
        reason=OF_MASKED_MODELS if undefined else None,
    )


def factorials(
    runs: Sequence[Run], measures: Sequence[str] = (), *, scope: Scope = "suite"
) -> list[Factorial]:
    """The results of all runs of factorial suites; other runs are ignored.

    Args:
        runs: runs of any suites.
        measures: names of measures, possibly several with commas between them; empty for the
            measure that each run is judged on.
        scope: set of scores that are pooled, as for `factorial_of`.

    Raises:
        UsageError: a measure is unknown.
        InputError: a declaration of factors cannot be used.
    """
    names = [measure.name for measure in find_measures(measures)] or [""]
    return [
        factorial_of(run, name, scope=scope)
        for run in runs
        if squares(suite_of(run))
        for name in names
    ]


def region_dds_of(run: Run) -> tuple[Estimate, ...]:
    """The DD by region of a run, in bits; none if its suite is not factorial.

    Raises:
        InputError: the declaration of factors or of stretches cannot be used.
    """
    if not windows_of(suite_of(run)) or not squares(suite_of(run)):
        return ()
    values = values_of(run, metric="sum")
    return region_dds(
        suite_of(run),
        values,
        model=run.model,
        seed=options_of(run).seed,
        error_bits=near_tie_threshold(run.manifest, options_of(run).near_tie_bits).bits,
    )


def licensing_of_run(run: Run) -> list[Estimate]:
    """The licensing effects of a run.

    Raises:
        InputError: the declaration of the suite cannot be used.
    """
    values, seed = values_of(run), options_of(run).seed
    return licensing_effects(suite_of(run), values, model=run.model, seed=seed)


def declared_tables(runs: Sequence[Run], *, label: Callable[[Run], str]) -> list[NamedGrid]:
    """The tables of what only some suites declare: DD by region, licensing, people's choices.

    Args:
        runs: runs of any region suites.
        label: function that returns the name by which a run is shown.

    Raises:
        InputError: a declaration cannot be used.
    """
    from cimento.paradigms.regions.people import people_of

    parts = [estimate for run in runs if has_parts(run) for estimate in region_dds_of(run)]
    licensing = [
        replace(effect, model=label(run))
        for run in runs
        if regions_measured(suite_of(run))
        for effect in licensing_of_run(run)
    ]
    people = [
        rate for run in runs for measured in on_each_measure(run) for rate in people_of(measured)
    ]
    return [
        *([NamedGrid("regions", regions_grid(parts))] if parts else ()),
        *([NamedGrid("licensing", licensing_grid(licensing))] if licensing else ()),
        *([NamedGrid("people", people_grid(people))] if people else ()),
    ]


def good_scores(run: Run, measure: Measure) -> dict[str, dict[str, Value]]:
    """The scores of a run by item and condition, signed so that more is better."""
    by_item: dict[str, dict[str, Value]] = {}
    table = scores_of(run, [measure.name])
    for row in table.iter_rows(named=True):
        value: Value
        if row["value"] is None:
            value = Missing(row["unscored_reason"] or "")
        else:
            value = row["value"] if measure.higher_is_better else 0.0 - row["value"]
        by_item.setdefault(row["item"], {})[row["condition"]] = value
    return by_item


def condition_scores(run: Run) -> pl.DataFrame:
    """The score of every sentence of a run, signed so that more is better; see `Paradigm.scores`.

    Args:
        run: run of a suite of sentences.

    Raises:
        UsageError: the measure is unknown.
        InputError: the frequencies cannot be read, or a declaration of factors cannot be used.
    """
    import polars as pl

    measure = find_measure(options_of(run).measure or DEFAULT_MEASURE)
    sign = 1.0 if measure.higher_is_better else -1.0
    table = scores_of(run, [measure.name]).select(
        "item", "condition", "measure", "unit", score=0.0 + sign * pl.col("value")
    )
    designs = squares(suite_of(run)) if crosses_factors(run) else ()
    cells = [
        (item, cell.condition, f"{name} {square.name}" if len(designs) > 1 else name, square, cell)
        for name, items in (items_by_phenomenon(suite_of(run)) if designs else {}).items()
        for square in designs
        for cell in square.cells
        for item in items
    ]
    if not cells:
        return table
    rows = pl.DataFrame(
        {
            "item": [item for item, *_ in cells],
            "condition": [condition for _, condition, *_ in cells],
            "phenomenon": [name for _, _, name, *_ in cells],
            "first_factor": [square.factors[0] for *_, square, _ in cells],
            "second_factor": [square.factors[1] for *_, square, _ in cells],
            "first_level": [cell.levels[0] for *_, cell in cells],
            "second_level": [cell.levels[1] for *_, cell in cells],
            "first": [0.5 if c.levels[0] == s.cells[3].levels[0] else -0.5 for *_, s, c in cells],
            "second": [0.5 if c.levels[1] == s.cells[0].levels[1] else -0.5 for *_, s, c in cells],
        }
    )
    return table.join(rows, on=["item", "condition"], maintain_order="left")
