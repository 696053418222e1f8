"""The estimates of region suites: those of outcomes, and those of designs.

Designs have factorial effects, DD by region, licensing, and people's answers.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from cimento.io.values import NoValue, Value
from cimento.measures import find_measure, find_measures
from cimento.measures.normalizing import NORMALIZATIONS, Normalization, Scope
from cimento.measures.sentence import Measure
from cimento.paired.item_outcomes import on_each_measure
from cimento.paradigms.regions.chance import chance_level, near_tie_threshold, scale_reason
from cimento.paradigms.regions.factorial import DDTest, Factorial, dd_tests, factorial
from cimento.paradigms.regions.factorial_tables import licensing_grid, regions_grid
from cimento.paradigms.regions.judging import (
    compares_sentences,
    crosses_factors,
    has_parts,
    judged_suite,
    measure_of,
    options_of,
    questions,
    scores_of,
    suite_of,
    values_of,
    verdicts_of,
)
from cimento.paradigms.regions.licensing import licensing_effects
from cimento.paradigms.regions.near import nearness as nearness_of
from cimento.paradigms.regions.people_tables import people_estimates, people_grid, people_of
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.paradigms.regions.readings import readings_of, same_dd
from cimento.paradigms.regions.two_by_two import items_by_phenomenon, region_dds
from cimento.records.effects import DesignEffect
from cimento.records.outcomes import GROUP, Estimate, Role, mean_estimate, rate
from cimento.records.wrong_side import DD
from cimento.report import NamedGrid
from cimento.suites.derived import PHENOMENON
from cimento.suites.design import squares, windows_of
from cimento.suites.licensing import regions_measured

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run
    from cimento.paradigms.regions.design_rates import DesignRate
    from cimento.suites.formula import Formula

DEFAULT_MEASURE = "surprisal-bits"
"""Measure of runs that are judged on regions: the whole sentence, in the unit of their margins."""

MASKED_MODELS_REASON = "logistic scores are those of masked models"
"""The bert-syntax-it study (2022) defines them so: a causal model's raw outputs are not votes."""


def factorial_of(
    run: Run,
    measure: str = "",
    *,
    scope: Scope = "suite",
    normalizations: Sequence[Normalization] = NORMALIZATIONS,
) -> Factorial:
    """The results of a run's factorial design on one measure.

    Args:
        run: run of a suite that crosses two factors.
        measure: name of the measure; empty for the run's own, or else the surprisal of sentences.
        scope: set of scores that are pooled for normalization: for this model and measure, the
            whole suite or each phenomenon.
        normalizations: scales to compute.

    Returns:
        The results; if the measure is not defined for this kind of model, they have a reason and no
        phenomena.

    Raises:
        UsageError: the measure is unknown, or the suite does not cross two factors.
        InputError: its declaration of factors cannot be used.
    """
    chosen = find_measure(measure or options_of(run).measure or DEFAULT_MEASURE)
    phenomena = factorial(
        suite_of(run), good_scores(run, chosen), scope=scope, normalizations=normalizations
    )
    undefined = run.model_kind == "causal" and "logit" in chosen.needs
    return Factorial(
        suite=run.suite.name,
        model=run.model,
        measure=chosen.name,
        unit=chosen.unit,
        phenomena=() if undefined else phenomena,
        reason=MASKED_MODELS_REASON if undefined else None,
    )


def factorials(runs: Sequence[Run], measures: Sequence[str] = ()) -> list[Factorial]:
    """The results of all runs of factorial suites; other runs are ignored.

    Args:
        runs: runs of any suites.
        measures: names of measures, possibly several with commas between them; empty for the
            measure that each run is judged on.

    Raises:
        UsageError: a measure is unknown.
        InputError: a declaration of factors cannot be used.
    """
    names = [measure.name for measure in find_measures(measures)] or [""]
    return [factorial_of(run, name) for run in runs if squares(suite_of(run)) for name in names]


def region_dds_of(run: Run) -> tuple[Estimate, ...]:
    """The DD by region of a run, in bits; none if its suite is not factorial.

    Raises:
        InputError: the declaration of factors or of stretches cannot be used.
    """
    if not windows_of(suite_of(run)) or not squares(suite_of(run)):
        return ()
    return region_dds(
        suite_of(run),
        values_of(run, metric="sum"),
        model=run.model,
        seed=options_of(run).seed,
        near=near_tie_threshold(run.manifest, options_of(run).near_tie_bits),
        same=functools.partial(same_dd, readings_of(run)),
    )


def licensing_of_run(run: Run) -> list[Estimate]:
    """The licensing effects of a run.

    Raises:
        InputError: the declaration of the suite cannot be used.
    """
    values, seed = values_of(run), options_of(run).seed
    return licensing_effects(suite_of(run), values, model=run.model, seed=seed)


def declared_tables(runs: Sequence[Run], *, label: Callable[[Run], str]) -> list[NamedGrid]:
    """The tables of what only some suites declare: DD by region, licensing, people's answers.

    Args:
        runs: runs of any region suites.
        label: function that returns the name by which a run is shown.

    Raises:
        InputError: a declaration cannot be used.
    """
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
            value = NoValue(row["unscored_reason"] or "")
        else:
            value = row["value"] if measure.higher_is_better else 0.0 - row["value"]
        by_item.setdefault(row["item"], {})[row["condition"]] = value
    return by_item


def condition_scores(run: Run) -> pl.DataFrame:
    """The value of the run's measure for every sentence of a run; see `Paradigm.scores`.

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
        "item", "condition", "measure", "unit", "value", oriented=0.0 + sign * pl.col("value")
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


def estimates_of(run: Run) -> Iterator[Estimate]:
    """The estimates of a run: accuracies on each of its measures, then the effects of designs.

    The headline is the accuracy, over all items, of all predictions together.

    Args:
        run: of a region suite.

    Raises:
        CimentoError: the answers cannot be judged in this way.
    """
    options = options_of(run)
    yield from accuracies_of(run)
    yield from people_estimates(run)
    for measure in options.also:
        beside = run.judge(measures=measure)
        for estimate in accuracies_of(beside):
            beside_headline = estimate.role == "headline"
            yield dataclasses.replace(estimate, role="main") if beside_headline else estimate
    if is_design(run):
        yield from _of_designs(run)
    if has_parts(run):
        yield from region_dds_of(run)
    if regions_measured(suite_of(run)):
        yield from licensing_of_run(run)


def _expected(run: Run) -> Iterator[tuple[Estimate, bool]]:
    """What is expected of each question without any model.

    Yields:
        An estimate with the chance level, and whether the prediction depends on the scale of the
        values.
    """
    suite, measure = judged_suite(run), measure_of(run)
    trees = parse_predictions(suite)
    formulas = [prediction.formula for prediction in suite.predictions]
    parts: list[tuple[Formula, ...]] = [(tree,) for tree in trees]
    if len(trees) > 1:
        parts, formulas = [*parts, trees], [*formulas, ""]
    for question, part, formula in zip(questions(run), parts, formulas, strict=True):
        chance = chance_level(part, n_regions=len(suite.region_names), seed=options_of(run).seed)
        like = Estimate(
            suite=run.suite.name,
            model=run.model,
            question=question,
            method=measure.name if measure else "",
            description=formula,
            chance=chance.level,
            chance_method=chance.method or chance.reason,
        )
        yield like, any(map(scale_reason, part))


def accuracies_of(run: Run) -> Iterator[Estimate]:
    """The accuracy of each question, over all items and then for each phenomenon.

    Each rate has its chance level, and the rate that would result from numbers of tokens alone,
    that is, if every token had the same surprisal.

    Args:
        run: of a region suite.

    Raises:
        CimentoError: the answers cannot be judged in this way.
    """
    import polars as pl

    expected = list(_expected(run))
    if not expected:
        return
    whole = expected[-1][0]
    measure, table = measure_of(run), run.outcomes()
    split = [name for name in ("question", GROUP + PHENOMENON) if name in table.columns]
    counted = table.select("item", "cluster", "verdict", "right", "value", *split)
    # Rows without a verdict are values of sentences, which suites of ratings also have.
    table = counted.drop_nulls("verdict")
    lengths: Mapping[_Part, pl.DataFrame] = {}
    if measure is None or not measure.needs:
        lengths = _parts(table.select(split).with_columns(verdicts_of(run, equal_costs=True)))
    nearness = nearness_of(run, table["value"])
    table = table.with_columns(near=nearness.near)
    decided = pl.col("verdict").is_in(["pass", "fail"])  # exact ties are not near ones
    parts = _parts(table)
    for column, level in dict.fromkeys([("", ""), *(part[:2] for part in parts)]):
        for like, on_scale in expected:
            part = (column, level, like.question)
            outcomes = parts.get(part, table.clear())
            estimate = rate(
                outcomes,
                dataclasses.replace(
                    like,
                    group=column,
                    level=level,
                    role=_ROLES[like is whole, bool(column)],
                    near_tied=None
                    if like.question in nearness.undefined
                    else outcomes.filter(decided & pl.col("near")).height,
                    near_tie_bits=nearness.bits,
                    near_tie_method=nearness.undefined.get(like.question, nearness.method),
                ),
            )
            yield _with_length(estimate, None if on_scale else lengths.get(part))


_ROLES: Mapping[tuple[bool, bool], Role] = {
    (True, False): "headline",
    (True, True): "main",
    (False, False): "main",
    (False, True): "detail",
}
"""The role of a rate, by whether it is about whole items and whether it is of a group."""

_Part: TypeAlias = tuple[str, str, str]
"""A grouping column, empty for all items, its value, and a question."""


def _parts(table: pl.DataFrame) -> dict[_Part, pl.DataFrame]:
    """The outcomes of each question: of all items, then by phenomenon."""
    parts = {("", "", str(value)): part for (value,), part in _by_value(table, "question").items()}
    column = GROUP + PHENOMENON
    if column in table.columns:
        for (level, question), part in _by_value(table, column, "question").items():
            parts[PHENOMENON, str(level or ""), str(question)] = part
    return parts


def _by_value(table: pl.DataFrame, *columns: str) -> Mapping[tuple[object, ...], pl.DataFrame]:
    """The rows with each combination of values of some columns, in their order."""
    if len(table) and all(table[column].n_unique() == 1 for column in columns):
        return {table.select(columns).row(0): table}  # a part would be a copy
    return table.partition_by(*columns, maintain_order=True, as_dict=True)


def _with_length(estimate: Estimate, outcomes: pl.DataFrame | None) -> Estimate:
    """An accuracy, with the accuracy expected from numbers of tokens alone."""
    if outcomes is None:
        return estimate
    right = outcomes["right"].drop_nulls()
    n = len(right)
    if not n:
        return estimate
    counts = Counter(dict(outcomes["verdict"].value_counts().iter_rows()))
    passed, tied = counts["pass"], counts["tie"]
    chance = estimate.chance
    return dataclasses.replace(
        estimate,
        by_length=int(right.sum()) / n,
        off_by_length=chance is not None and not passed <= chance * n <= passed + tied,
    )


def is_design(run: Run) -> bool:
    """Whether the sentences of a run cross two factors, so that its headline is DD."""
    return crosses_factors(run) and compares_sentences(run)


def designs_of(run: Run) -> list[Factorial]:
    """The raw effects of a design on every measure that the run is judged on."""
    options = options_of(run)
    names = [*filter(None, dict.fromkeys((options.measure, *options.also)))] or [""]
    return [factorial_of(run, name, normalizations=("raw",)) for name in names]


def tests_of(run: Run) -> tuple[DDTest, ...]:
    """DD of every phenomenon and measure of a run, with p corrected over these."""
    return dd_tests(designs_of(run), seed=options_of(run).seed)


def design_effects(run: Run) -> tuple[DesignEffect, ...]:
    """The DDs that a run of a design is reported by, on its first measure; else none.

    Args:
        run: run of any region suite.
    """
    if not is_design(run):
        return ()
    tests = tests_of(run)
    first = [test for test in tests if test.result is tests[0].result]
    # Where predictions need only some of the sentences, others may not have been asked for.
    if all(test.dd.value is None for test in first):
        return ()
    return tuple(
        DesignEffect(
            dd_estimate(test, model=run.model), test.clusters, test.expected, test.worst, test.means
        )
        for test in first
    )


def _of_designs(run: Run) -> Iterator[Estimate]:
    """The accuracies of the pairs in a factorial design, and DD with its test."""
    designs = designs_of(run)
    like = Estimate(suite=run.suite.name, model=run.model, question=DD, role="detail")
    for design in designs:
        for phenomenon in design.phenomena:
            for share in (*phenomenon.pairs, phenomenon.super_additive):
                yield _of_share(run, design.measure, phenomenon.name, share)
        if design.reason:
            yield dataclasses.replace(
                like, method=design.measure, statistic=DD, reason=design.reason
            )
    for test in dd_tests(designs, seed=options_of(run).seed):
        yield dd_estimate(test, model=run.model)


def dd_estimate(test: DDTest, *, model: str) -> Estimate:
    """The estimate of a DD.

    Args:
        test: DD with its test.
        model: label of the model, or who gave the scores.
    """
    like = Estimate(suite=test.result.suite, model=model, question=DD, role="detail")
    return dataclasses.replace(
        mean_estimate(test.dd, like),
        method=test.result.measure,
        group=PHENOMENON,
        level=test.phenomenon,
        statistic=DD,
        unit=test.result.unit,
        p_corrected=test.p_holm,
        p_method=f"{test.dd.method}; Holm over phenomena and measures",
    )


def _of_share(run: Run, measure: str, phenomenon: str, share: DesignRate) -> Estimate:
    return Estimate(
        suite=run.suite.name,
        model=run.model,
        question=share.name,
        method=measure,
        group=PHENOMENON,
        level=phenomenon,
        role="detail",
        value=share.accuracy,
        low=share.interval.low,
        high=share.interval.high,
        interval_method=share.interval.method,
        reason=share.interval.reason or "",
        n=share.n,
        right=share.passed,
        passed=share.passed,
        failed=share.n - share.passed - share.tied,
        tied=share.tied,
        unscored=share.unscored,
        clustered=bool(suite_of(run).cluster),
    )
