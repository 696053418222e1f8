"""Stored runs of factorial suites to the results of their designs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cimento.errors import InputError
from cimento.measures import find_measure, find_measures
from cimento.measures.normalising import NORMALISATIONS, Normalisation, Scope
from cimento.measures.registry import Measure
from cimento.measures.values import Missing, Value
from cimento.results import Run
from cimento.suites.design import squares, windows_of
from cimento.suites.formula import parse, references
from cimento.suites.licensing import regions_measured
from cimento.verdicts.accuracy import Rule
from cimento.verdicts.factorial import Factorial, factorial
from cimento.verdicts.factorial_regions import RegionDD, region_dds
from cimento.verdicts.formula import Kind
from cimento.verdicts.licensing import LicensingEffect, licensing_effects
from cimento.verdicts.near_ties import near_ties
from cimento.verdicts.people import CHOSEN, ChoiceRate, choice_rates

DEFAULT_MEASURE = "surprisal-bits"
"""Of runs that are judged on regions: the whole sentence, in the unit of their margins."""

OF_MASKED_MODELS = "logistic scores are those of masked models"
"""The bert-syntax-it study (2022) defines them so: a causal model's raw outputs are no votes."""


def factorial_of(
    run: Run,
    measure: str = "",
    *,
    scope: Scope = "suite",
    normalisations: Sequence[Normalisation] = NORMALISATIONS,
) -> Factorial:
    """The results of a run's design on one measure.

    Args:
        run: of a suite with two factors.
        measure: its name; empty for that of the run's judging, or the surprisal of sentences.
        scope: what is pooled for normalised scores: for this model and measure, the whole suite or
            each phenomenon.
        normalisations: the scales wanted.

    Returns:
        The results; without phenomena, but with a reason, where the measure is not defined for
        this kind of model.

    Raises:
        UsageError: there is no such measure, or the suite declares no two factors.
        InputError: its declaration of factors cannot be used.
    """
    chosen = find_measure(measure or run.judging.measure or DEFAULT_MEASURE)
    phenomena = factorial(
        run.suite, scores_of(run, chosen), scope=scope, normalisations=normalisations
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
    """The results of all runs of factorial suites; other runs are passed over.

    Args:
        runs: of any suites.
        measures: names, each of which may be several with commas between; empty for what each run
            is judged on.
        scope: as for `factorial_of`.

    Raises:
        UsageError: there is no such measure.
        InputError: a declaration of factors cannot be used.
    """
    names = [measure.name for measure in find_measures(measures)] or [""]
    return [
        factorial_of(run, name, scope=scope) for run in runs if squares(run.suite) for name in names
    ]


def is_factorial(run: Run) -> bool:
    """Whether the suite of a run declares a design of two factors that can be used."""
    try:
        return bool(squares(run.suite))
    except InputError:
        return False  # a warning of the suite says what is wrong with it


def has_parts(run: Run) -> bool:
    """Whether DD of a run can be told by region; suites of licensing have their own windows."""
    try:
        parts = windows_of(run.suite) and squares(run.suite)
    except InputError:
        return False  # likewise
    return bool(parts) and not regions_measured(run.suite)


def compares_sentences(run: Run) -> bool:
    """Whether all that a run's suite predicts is about whole sentences."""
    return all(
        reference.region == "*"
        for prediction in run.suite.predictions
        for reference in references(parse(prediction.formula))
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of the design of a run after it was made; without items.

    Attributes:
        factorials: accuracies, one for each measure; of suites with two factors.
        regions: DD of the whole sentence and of its parts; of the same suites.
        licensing: effects, each with the name of its suite and the label of its model.
        people: rates of people beside those of the model; of suites that people answered.
    """

    factorials: tuple[Factorial, ...] = ()
    regions: tuple[RegionDD, ...] = ()
    licensing: tuple[tuple[str, str, LicensingEffect], ...] = ()
    people: tuple[ChoiceRate, ...] = ()


def shown_of(run: Run, measures: Sequence[str] = ()) -> Shown:
    """What is shown of the design of a run.

    Args:
        run: of any suite.
        measures: names; the empty one stands for the values of regions, and is passed over.
    """
    found: list[Factorial] = []
    if is_factorial(run) and compares_sentences(run):
        found = factorials([run], [name for name in measures if name])
    return Shown(
        tuple(map(_without_items, found)),
        region_dds_of(run) if has_parts(run) else (),
        tuple(
            (suite, model, replace(effect, items={}))
            for suite, model, effect in (effects_of(run) if regions_measured(run.suite) else ())
        ),
        tuple(rate for judged in run.judge_on(measures) for rate in people_of(judged)),
    )


def people_of(run: Run) -> list[ChoiceRate]:
    """How often people choose as the predictions of a run say, and its model on the same items.

    Nothing where the suite does not say how many people chose each sentence.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    if CHOSEN not in run.suite.column_names:
        return []
    summary = run.summary(with_verdicts=True)
    verdicts: dict[int | None, dict[str, Kind]] = {}
    for verdict in summary.verdicts:
        verdicts.setdefault(verdict.prediction, {})[verdict.item] = verdict.verdict
    return choice_rates(
        run.judging.applied(run.suite),
        verdicts,
        summary.label,
        rule=Rule(ties=run.judging.ties),
        seed=run.judging.seed,
    )


def region_dds_of(run: Run) -> tuple[RegionDD, ...]:
    """DD by region, in bits, of a run of a factorial suite; nothing for others.

    Raises:
        InputError: the declaration of factors or of stretches cannot be used.
    """
    if not windows_of(run.suite) or not squares(run.suite):
        return ()
    values = run.region_values(metric="sum")
    return region_dds(
        run.suite,
        values,
        model=run.model,
        seed=run.judging.seed,
        error_bits=near_ties(run.manifest, run.judging.near_tie_bits).bits,
    )


def effects_of(run: Run) -> list[tuple[str, str, LicensingEffect]]:
    """The licensing effects of a run, each with the name of its suite and the label of its model.

    Raises:
        InputError: the declaration of the suite cannot be used.
    """
    effects = licensing_effects(run.suite, run.region_values(), seed=run.judging.seed)
    return [(run.suite.name, run.model, each) for each in effects]


def _without_items(result: Factorial) -> Factorial:
    bare = (replace(each, effects={}, clusters={}) for each in result.phenomena)
    return replace(result, phenomena=tuple(bare))


def scores_of(run: Run, measure: Measure) -> dict[str, dict[str, Value]]:
    """Item and condition to a score of which more is better."""
    found: dict[str, dict[str, Value]] = {}
    table = run.scores([measure.name])
    for row in table.iter_rows(named=True):
        value: Value
        if row["value"] is None:
            value = Missing(row["unscored_reason"] or "")
        else:
            value = row["value"] if measure.higher_is_better else 0.0 - row["value"]
        found.setdefault(row["item"], {})[row["condition"]] = value
    return found
