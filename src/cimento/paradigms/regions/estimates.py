"""Estimates from the outcomes of a run of a region suite."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from cimento.measures import find_measure
from cimento.measures.regions import with_equal_costs
from cimento.paradigms.regions.chance import chance_level, near_tie_threshold, scale_reason
from cimento.paradigms.regions.designs import factorial_of, licensing_of_run, region_dds_of
from cimento.paradigms.regions.factorial import dd_tests
from cimento.paradigms.regions.judging import (
    ALL,
    CHOSEN_BY,
    compares_sentences,
    crosses_factors,
    has_parts,
    judged_suite,
    options_of,
    questions,
    suite_of,
    verdicts_of,
)
from cimento.paradigms.regions.people import people_of
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.paradigms.regions.two_by_two import DD, PHENOMENON
from cimento.runs.outcomes import GROUP, Estimate, Role, mean_estimate, rate
from cimento.suites.design import regions_measured

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms.regions.factorial import DesignRate, Factorial
    from cimento.paradigms.regions.people import ChoiceRate
    from cimento.runs.run import Run
    from cimento.suites.formula import Formula


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
    if CHOSEN_BY in judged_suite(run).column_names:
        yield from (_of_people(run, rate) for rate in people_of(run))
    for measure in options.also:
        beside = run.judge(measure=measure, also=())
        for estimate in accuracies_of(beside):
            beside_headline = estimate.role == "headline"
            yield dataclasses.replace(estimate, role="main") if beside_headline else estimate
    if crosses_factors(run) and compares_sentences(run):
        designs = [
            factorial_of(run, name, normalisations=("raw",))
            for name in filter(None, dict.fromkeys((options.measure, *options.also)))
        ] or [factorial_of(run, normalisations=("raw",))]
        yield from _of_designs(run, designs)
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
    suite, options = judged_suite(run), options_of(run)
    trees = parse_predictions(suite)
    formulas = [prediction.formula for prediction in suite.predictions]
    parts: list[tuple[Formula, ...]] = [(tree,) for tree in trees]
    if len(trees) > 1:
        parts, formulas = [*parts, trees], [*formulas, ""]
    for question, part, formula in zip(questions(run), parts, formulas, strict=True):
        chance = chance_level(part, n_regions=len(suite.region_names), seed=options.seed)
        like = Estimate(
            suite=run.suite.name,
            model=run.model,
            question=question,
            method=find_measure(options.measure).name if options.measure else "",
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
    expected = list(_expected(run))
    if not expected:
        return
    options, table = options_of(run), run.outcomes()
    split = [name for name in ("question", GROUP + PHENOMENON) if name in table.columns]
    counted = table.select("item", "cluster", "verdict", "right", "value", *split)
    # Rows without a verdict are values of sentences, which suites of ratings also have.
    table = counted.drop_nulls("verdict")
    lengths: Mapping[_Part, pl.DataFrame] = {}
    if not (options.measure and find_measure(options.measure).needs):
        lengths = _parts(table.select(split).with_columns(verdicts_of(run, with_equal_costs)))
    near = near_tie_threshold(run.manifest, options.near_tie_bits)
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
                    role=_role(column, like.question),
                    near_tied=_near_tied(outcomes, near.bits),
                    near_tie_bits=near.bits,
                    near_tie_method=near.reason,
                ),
            )
            yield _with_length(estimate, None if on_scale else lengths.get(part))


def _role(group: str, question: str) -> Role:
    if question == ALL:
        return "main" if group else "headline"
    return "detail" if group else "main"


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


def _near_tied(outcomes: pl.DataFrame, bits: float) -> int:
    """The number of margins below a threshold in bits; exact ties are not counted."""
    import polars as pl

    decided = pl.col("verdict").is_in(["pass", "fail"])
    return outcomes.filter(decided & (pl.col("value").abs() < bits)).height


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


def _of_people(run: Run, choices: ChoiceRate) -> Estimate:
    """A rate of people's choices, or of the model on the items that people answered."""
    question = ALL if choices.prediction is None or len(questions(run)) == 1 else None
    return Estimate(
        suite=run.suite.name,
        model=run.model,
        question=question or f"prediction {choices.prediction}",
        method=choices.who if choices.of_people else "on the items that people answered",
        statistic="choice rate",
        role="detail",
        value=choices.rate,
        low=choices.low,
        high=choices.high,
        reason=choices.reason or "",
        n=choices.n,
        tied=choices.tied,
    )


def _of_designs(run: Run, designs: Iterable[Factorial]) -> Iterator[Estimate]:
    """The accuracies of the pairs in a factorial design, and DD with its test."""
    designs = list(designs)
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
        yield dataclasses.replace(
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
