"""Agreement in morphologically rich languages (Táboas García and Wanner 2025, SyntacticAgreement).

The study's measure is the mean probability ratio (`cimento.paradigms.regions.contrast`); its suites
come as one zip archive of SyntaxGym JSON for each language, some with an adversarial twin. Here is
the way from suites of several languages to runs, and to one record of all that the study says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from cimento.engine.cache import AnswerCache
from cimento.engine.engines import ONE_WORKER
from cimento.engine.execute import Execution
from cimento.engine.handle import ModelHandle
from cimento.engine.jobs import Work
from cimento.errors import CimentoError, UsageError
from cimento.evaluation import Failure, ProgressFor
from cimento.evaluation.honored import refuse_unused
from cimento.evaluation.job import suite_job
from cimento.io.values import group_by
from cimento.kinds.run import Run
from cimento.measures.regions import FinalMarkRule
from cimento.models.registry import shown_name
from cimento.options import RunOptions
from cimento.statistics.multiple import holm
from cimento.statistics.regression import CONSTANT_TERM
from cimento.studies.agreement.models import (
    FactRow,
    Facts,
    ModelPairRow,
    ModelRow,
    fact_rows,
    model_pairs,
    model_rows,
)
from cimento.studies.agreement.profile import ProfileRow, contrasted, profile_rows, with_covariates
from cimento.studies.agreement.table import (
    Averaging,
    LanguageRow,
    SuiteRow,
    TwinRow,
    cell_of,
    language_rows,
    suite_row,
    twin_rows,
    twin_runs,
)
from cimento.studies.agreement.twins import (
    AttractorRow,
    agreement_run,
    attractor_rows,
    drop_by_length,
    drops_by_property,
    plain_name,
)
from cimento.suites.derived import Frequency

if TYPE_CHECKING:
    from cimento.statistics.regression import Regression
    from cimento.studies.agreement.recordings import Recorded
    from cimento.studies.agreement.released import LanguageSuite
    from cimento.studies.agreement.syntaxgym import Scores
    from cimento.studies.agreement.twins import AgreementRun


DROP = "drop"
"""How the outcomes of drops begin."""


def ask_languages(
    suites: Sequence[LanguageSuite],
    models: Sequence[str],
    options: RunOptions,
    *,
    cache: AnswerCache,
    progress: ProgressFor | None = None,
    recordings: Mapping[str, Recorded] | None = None,
) -> Iterator[Run | Failure]:
    """Runs, of every language in a folder of its own, for their suites may have the same names.

    A model is opened once for all of them, and loaded only where something must be asked of it.

    Args:
        suites: with their languages.
        models: names.
        options: how.
        cache: where answers are kept.
        progress: told how far each run is.
        recordings: of the models that are recordings, which answer for some suites only.
    """
    refuse_unused((loaded.paradigm for _, loaded in suites), options)
    work = Work(engine=ONE_WORKER, device=options.device, cache=cache)
    for model in models:
        shown = shown_name(model)
        recorded = (recordings or {}).get(model)
        try:
            handle = None if recorded else ModelHandle(model, options.scoring)
        except CimentoError as error:
            yield from (Failure(loaded.suite.name, shown, error) for _, loaded in suites)
            continue
        jobs = []
        for language, loaded in suites:
            source = recorded.suites.get((language, loaded.suite.name)) if recorded else handle
            if source is None:
                continue
            folder = options.output / language if options.output else None
            here = options.model_copy(update={"output": folder})
            bar = progress(loaded.suite.name, shown) if progress else None
            jobs.append(suite_job(loaded, source, here, shown=shown, progress=bar))
            jobs[-1].prepare()
        for job, end in zip(jobs, Execution(jobs, work).run(), strict=True):
            if end is not None:
                yield end if isinstance(end, Run) else Failure(job.suite_name, shown, end)


@dataclass(frozen=True, slots=True, kw_only=True)
class CovariateRow:
    """An effect beside those of length and frequency.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        outcome: ``margin_bits, plain`` or ``margin_bits, adversarial``, over all suites: the
            intercept is the margin between forms that differ in nothing of `equal`; or ``drop``,
            with the suite: the drop of an item by the words between, and ``drop by`` a property
            of the attractors: by its values too.
        equal: in what the two forms are equal at the intercept; empty for drops.
        regression: of the outcome.
        p_holm: p of its coefficients, adjusted over all of the table that are read; None of the
            intercept of a drop.
    """

    model: str
    language: str
    outcome: str
    equal: tuple[str, ...]
    regression: Regression
    p_holm: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementReport:
    """What the study's tables hold.

    Attributes:
        suites: one row for each suite and model.
        twins: one for each suite with an adversarial twin.
        attractors: the drop by properties of the attractors; empty where a profile was not asked
            for.
        languages: means of each language and version.
        profile: by agreement and features; empty where it was not asked for.
        covariates: regressions of margins and drops; empty likewise.
        models: each model with what is known of it; empty likewise.
        pairs: every two models in every cell of the profile; empty likewise.
        facts: what goes with the ratio over models; empty likewise.
        final_marks: whether punctuation at the end of the target counts.
        refusals: suites that say nothing about a target, and why.
        syntaxgym: scores on SyntaxGym's suites, of published models first; empty where these
            suites were not asked.
    """

    suites: tuple[SuiteRow, ...]
    twins: tuple[TwinRow, ...]
    attractors: tuple[AttractorRow, ...] = ()
    languages: tuple[LanguageRow, ...]
    profile: tuple[ProfileRow, ...] = ()
    covariates: tuple[CovariateRow, ...] = ()
    models: tuple[ModelRow, ...] = ()
    pairs: tuple[ModelPairRow, ...] = ()
    facts: tuple[FactRow, ...] = ()
    final_marks: FinalMarkRule
    refusals: tuple[str, ...]
    syntaxgym: tuple[Scores, ...] = ()


def agreement_report(
    runs: Sequence[Run],
    *,
    regions: Sequence[int] = (),
    final_marks: FinalMarkRule = "keep",
    averaging: Averaging = "suites",
    seed: int,
    frequency: Callable[[str], Frequency | None] | None = None,
    models: Mapping[str, Facts] | None = None,
) -> AgreementReport:
    """The study's tables from stored runs.

    Args:
        runs: of any models, languages and suites.
        regions: the target's, where predictions leave it open.
        final_marks: whether punctuation at the end of the target counts.
        averaging: what has equal weight in the mean of a language.
        seed: of bootstrap and tests.
        frequency: language to the Zipf frequencies of its words, or None where they are not
            known; without it no profile is made.
        models: what the user says of models, by their names.
    """
    agreement_runs, refusals = _agreement_runs(runs, regions, final_marks)
    rows = [suite_row(run, seed=seed) for run in agreement_runs]
    pairs = twin_runs(agreement_runs)
    languages = language_rows(rows, averaging=averaging)
    report = AgreementReport(
        suites=tuple(rows),
        twins=tuple(twin_rows(pairs, seed=seed)),
        languages=tuple(languages),
        final_marks=final_marks,
        refusals=tuple(dict.fromkeys(refusals)),
    )
    if frequency is None:
        return report
    shown = model_rows(agreement_runs, languages, models or {})
    return replace(
        report,
        attractors=tuple(row for pair in pairs for row in attractor_rows(*pair, seed=seed)),
        profile=tuple(profile_rows(agreement_runs, seed=seed, frequency=frequency)),
        covariates=_adjusted([*_covariates(agreement_runs, frequency), *_drops(pairs)]),
        models=tuple(shown),
        pairs=tuple(model_pairs(agreement_runs, seed=seed)),
        facts=tuple(fact_rows(shown)),
    )


def _agreement_runs(
    runs: Sequence[Run], regions: Sequence[int], final_marks: FinalMarkRule
) -> tuple[list[AgreementRun], list[str]]:
    """The runs that are about agreement, in order, and why others are not."""
    agreement_runs: list[AgreementRun] = []
    refusals: list[str] = []
    for run in runs:
        try:
            agreement_runs.append(agreement_run(run, regions=regions, final_marks=final_marks))
        except UsageError as error:
            refusals.append(str(error))
    return sorted(agreement_runs, key=_order(agreement_runs)), refusals


def _order(runs: Sequence[AgreementRun]) -> Callable[[AgreementRun], tuple[int, int, str, bool]]:
    """Models and languages as they come; in them by name, each suite before its twin."""
    models = list(dict.fromkeys(run.model for run in runs))
    languages = list(dict.fromkeys(run.language for run in runs))

    def key(run: AgreementRun) -> tuple[int, int, str, bool]:
        plain = plain_name(run.suite.name)
        return (
            models.index(run.model),
            languages.index(run.language),
            plain or run.suite.name,
            plain is not None,
        )

    return key


def _covariates(
    runs: Sequence[AgreementRun], frequency: Callable[[str], Frequency | None]
) -> list[CovariateRow]:
    """One regression for each model, language and version, over all suites."""
    rows = []
    for (model, language, version), group in group_by(runs, cell_of).items():
        known = frequency(language)
        regression, equal = with_covariates(
            [contrast for run in group for contrast in contrasted(run, frequency=known)]
        )
        outcome = f"margin_bits, {version}"
        rows.append(
            CovariateRow(
                model=model, language=language, outcome=outcome, equal=equal, regression=regression
            )
        )
    return rows


def _drops(pairs: Sequence[tuple[AgreementRun, AgreementRun]]) -> Iterator[CovariateRow]:
    """For each suite with a twin a regression on length, and one on each property."""
    for plain, twin in pairs:
        by_property = drops_by_property(plain, twin).items()
        regressions = {f"{DROP} by {name}": regression for name, regression in by_property}
        for outcome, regression in {DROP: drop_by_length(plain, twin), **regressions}.items():
            yield CovariateRow(
                model=plain.model,
                language=plain.language,
                outcome=f"{outcome}, {plain.suite.name}",
                equal=(),
                regression=regression,
            )


def _adjusted(rows: Sequence[CovariateRow]) -> tuple[CovariateRow, ...]:
    """The rows with their p-values adjusted (Holm) over the coefficients that are read.

    The intercept of a drop is not: no attractor has 0 words, which it would be the drop of.
    """
    adjusted = iter(holm([p for row in rows for p in _p_values(row)]))
    return tuple(
        replace(row, p_holm=tuple(islice(adjusted, len(row.regression.coefficients))))
        for row in rows
    )


def _p_values(row: CovariateRow) -> Iterator[float | None]:
    for coefficient in row.regression.coefficients:
        extrapolated = coefficient.name == CONSTANT_TERM and row.outcome.startswith(DROP)
        yield None if extrapolated else coefficient.p
