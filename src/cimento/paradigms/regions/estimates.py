"""Estimates from the outcomes of a run of a region suite."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.measures import find_measure
from cimento.measures.regions import with_equal_costs
from cimento.paradigms.regions.chance import Chance, chance_level, near_tie_threshold, scale_reason
from cimento.paradigms.regions.designs import factorial_of, licensing_of_run, region_dds_of
from cimento.paradigms.regions.factorial import dd_tests
from cimento.paradigms.regions.judging import (
    ALL,
    CHOSEN_BY,
    PHENOMENON,
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
from cimento.runs.outcomes import GROUP, Estimate, Role, rate
from cimento.suites.design import regions_measured

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms.regions.factorial import DesignRate, Factorial
    from cimento.paradigms.regions.people import ChoiceRate
    from cimento.runs.run import Run
    from cimento.statistics.means import Mean
    from cimento.suites.formula import Formula

DD = "DD"
"""The difference of differences in a two-by-two design."""


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
        yield from _of_regions(run)
    if regions_measured(suite_of(run)):
        yield from _of_licensing(run)


@dataclass(frozen=True, slots=True)
class _Expected:
    """The expectation for a question without any model.

    Attributes:
        formula: formula of the prediction; empty for the conjunction of several.
        chance: chance level of the prediction.
        scale: reason why it depends on the scale of the values; None if it does not.
    """

    formula: str
    chance: Chance
    scale: str | None


def _expected(run: Run) -> dict[str, _Expected]:
    """The expectation for each question."""
    suite, seed = judged_suite(run), options_of(run).seed
    trees = parse_predictions(suite)
    formulas = [prediction.formula for prediction in suite.predictions]
    parts: list[tuple[Formula, ...]] = [(tree,) for tree in trees]
    if len(trees) > 1:
        parts, formulas = [*parts, trees], [*formulas, ""]
    return {
        question: _Expected(
            formula,
            chance_level(part, n_regions=len(suite.region_names), seed=seed),
            next(filter(None, map(scale_reason, part)), None),
        )
        for question, part, formula in zip(questions(run), parts, formulas, strict=True)
    }


def accuracies_of(run: Run) -> Iterator[Estimate]:
    """The accuracy of each question, over all items and then for each phenomenon.

    Each rate has its chance level, and the rate that would result from numbers of tokens alone,
    that is, if every token had the same surprisal.

    Args:
        run: of a region suite.

    Raises:
        CimentoError: the answers cannot be judged in this way.
    """
    expected = _expected(run)
    if not expected:
        return
    options = options_of(run)
    measure = find_measure(options.measure) if options.measure else None
    table = run.outcomes()
    split = [name for name in ("question", GROUP + PHENOMENON) if name in table.columns]
    counted = table.select("item", "cluster", "verdict", "right", "value", *split)
    # Rows without a verdict are values of sentences, which suites of ratings also have.
    table = counted.drop_nulls("verdict")
    lengths = None
    if not (measure and measure.needs):
        lengths = table.select(split).with_columns(verdicts_of(run, with_equal_costs))
    near = near_tie_threshold(run.manifest, options.near_tie_bits)
    for column, level, outcomes, by_length in _groups(table, lengths):
        for question, what in expected.items():
            estimate = rate(
                outcomes[question],
                Estimate(
                    suite=run.suite.name,
                    model=run.model,
                    question=question,
                    method=measure.name if measure else "",
                    group=column,
                    level=level,
                    role=_role(column, question),
                    description=what.formula,
                    chance=what.chance.level,
                    chance_method=what.chance.method or what.chance.reason,
                    near_tied=_near_tied(outcomes[question], near.bits),
                    near_tie_bits=near.bits,
                    near_tie_method=near.reason,
                ),
            )
            yield _with_length(
                estimate,
                None if what.scale or by_length is None else by_length[question],
            )


def _role(group: str, question: str) -> Role:
    if question == ALL:
        return "main" if group else "headline"
    return "detail" if group else "main"


_Tables = Mapping[str, "pl.DataFrame"]


def _groups(
    table: pl.DataFrame, lengths: pl.DataFrame | None
) -> Iterator[tuple[str, str, _Tables, _Tables | None]]:
    """The outcomes of each question, and those by length: of all items, then by phenomenon."""
    yield "", "", _by_question(table), None if lengths is None else _by_question(lengths)
    column = GROUP + PHENOMENON
    if column not in table.columns:
        return
    others = {} if lengths is None else _by_value(lengths, column)
    for level, group in _by_value(table, column).items():
        other = others.get(level)
        name = str(level or "")
        yield PHENOMENON, name, _by_question(group), None if other is None else _by_question(other)


def _by_question(table: pl.DataFrame) -> _Tables:
    groups = _by_value(table, "question")
    return _Filled({str(name): group for name, group in groups.items()}, table.clear())


def _by_value(table: pl.DataFrame, column: str) -> Mapping[object, pl.DataFrame]:
    """The rows with each value of a column, in the order of the values."""
    if table[column].n_unique() == 1:
        return {table[column][0]: table}  # a part would be a copy
    groups = table.partition_by(column, maintain_order=True, as_dict=True)
    return {value: group for (value,), group in groups.items()}


class _Filled(dict[str, "pl.DataFrame"]):
    """A mapping of tables by name, with an empty table for any missing name."""

    def __init__(self, tables: _Tables, empty: pl.DataFrame) -> None:
        super().__init__(tables)
        self._empty = empty

    def __missing__(self, name: str) -> pl.DataFrame:
        return self._empty


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
    for design in designs:
        for phenomenon in design.phenomena:
            for share in (*phenomenon.pairs, phenomenon.super_additive):
                yield _of_share(run, design.measure, phenomenon.name, share)
        if design.reason:
            yield Estimate(
                suite=run.suite.name,
                model=run.model,
                question=DD,
                method=design.measure,
                statistic=DD,
                role="detail",
                reason=design.reason,
            )
    units = {design.measure: design.unit for design in designs}
    for test in dd_tests(designs, seed=options_of(run).seed):
        yield dataclasses.replace(
            _of_mean(run, test.dd),
            question=DD,
            method=test.measure,
            group=PHENOMENON,
            level=test.phenomenon,
            statistic=DD,
            unit=units[test.measure],
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
        low=share.low,
        high=share.high,
        interval_method=share.interval_method,
        reason=share.reason or "",
        n=share.n,
        right=share.passed,
        passed=share.passed,
        failed=share.failed,
        tied=share.tied,
        unscored=share.unscored,
        clustered=bool(suite_of(run).cluster),
    )


def _of_regions(run: Run) -> Iterator[Estimate]:
    """The DD of the whole sentence and of its parts, without tests."""
    for each in region_dds_of(run):
        yield dataclasses.replace(
            _of_mean(run, each.dd),
            question=f"{DD}: {each.window}",
            group=PHENOMENON,
            level=each.phenomenon,
            statistic=DD,
            unit="bits",
            p=None,
            reason=each.reason or each.dd.reason or "",
        )


def _of_licensing(run: Run) -> Iterator[Estimate]:
    """The filler effects, wh-licensing interactions and island terms."""
    for _, _, effect in licensing_of_run(run):
        yield dataclasses.replace(
            _of_mean(run, effect.mean),
            question=f"{effect.window}: {effect.name}",
            group="island" if effect.island else "",
            level=effect.island,
            statistic="licensing effect",
            unit="bits",
            p_corrected=effect.p_holm,
            p_method=f"{effect.mean.method}; Holm over all effects of the suite",
            reason=effect.reason or effect.mean.reason or "",
        )


def _of_mean(run: Run, mean: Mean) -> Estimate:
    return Estimate(
        suite=run.suite.name,
        model=run.model,
        question="",
        role="detail",
        value=mean.value,
        low=mean.low,
        high=mean.high,
        interval_method=mean.method,
        reason=mean.reason or "",
        n=mean.n,
        clustered=mean.m < mean.n,
        p=mean.p,
    )
