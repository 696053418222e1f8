"""``cimento study agreement``: languages by suites, plain and adversarial."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.cli.frequencies import zipf_frequencies_if_any
from cimento.cli.spreadsheets import neutralise
from cimento.errors import UsageError
from cimento.measures.regions import FinalMarkRule
from cimento.models.base import BoundaryRule
from cimento.studies.agreement.table import Averaging

if TYPE_CHECKING:
    from cimento.api import Failure
    from cimento.regions_api import Evaluation
    from cimento.results import Run
    from cimento.studies.agreement.report import AgreementReport
    from cimento.suites.load import LoadedSuite


# size: one argument for each option.
def agreement(
    data: Annotated[
        list[Path],
        options.option(
            "--data", help="A zip archive or folder of suites, one for each language; repeatable."
        ),
    ],
    model: options.Model,
    output: options.Output = Path("runs"),
    *,
    json: options.Json = False,
    boundary: Annotated[
        BoundaryRule,
        options.option("--boundary", help="Correct words of causal models for where they end."),
    ] = "auto",
    pll: options.Pll = None,
    final_marks: Annotated[
        FinalMarkRule,
        options.option("--final-marks", help="Whether punctuation at the target's end counts."),
    ] = "keep",
    region: Annotated[
        list[int] | None,
        options.option("--region", help="The target's region, where formulas leave it open."),
    ] = None,
    averaging: Annotated[
        Averaging, options.option("--averaging", help="What has equal weight in a language.")
    ] = "suites",
    profile: Annotated[
        bool, options.option("--profile", help="Also by agreement and feature, with covariates.")
    ] = False,
    models_table: Annotated[
        Path | None,
        options.option(
            "--models-table",
            help="With --profile: a table with a column model and what you know of each, such as"
            " training_tokens.",
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        options.option(
            "--figure", help="The profile as a heat map: .svg, .png, .pdf, .csv or .json."
        ),
    ] = None,
    bos: options.Bos = None,
    punctuation: options.Punctuation = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "float32",
    batch_size: options.BatchSize = None,
    batch_tokens: options.BatchTokens = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
    spreadsheet_safe: options.SpreadsheetSafe = False,
) -> int:
    """Mean probability ratio and accuracy of every suite, its adversarial twin, and the drop.

    The measure is p(target) / (p(target) + p(alternative)), averaged over the alternatives of an
    item, then over items. Causal models are corrected for word boundaries, masked models hide the
    rest of a word to the right, unless --boundary and --pll say otherwise.
    """
    from cimento.cli.evaluating import PART_MISSING, report_failures
    from cimento.cli.studies.agreement_text import as_text
    from cimento.judging import Judging
    from cimento.models.base import Policy
    from cimento.regions_api import Evaluation
    from cimento.sources import Asking
    from cimento.studies.agreement.models import read_models
    from cimento.studies.agreement.report import agreement_report

    profile = profile or models_table is not None or figure is not None
    # Read before a model is asked, so that a mistake is found at once.
    facts = read_models(models_table) if models_table else {}
    given = options.given(pll=pll, bos=bos, punctuation=punctuation, dtype=dtype, boundary=boundary)
    asking = Asking(
        policy=Policy(**given),
        device=device,
        batch_size=batch_size or "auto",
        batch_tokens=batch_tokens or "auto",
        limit=limit,
    )
    evaluation = Evaluation(asking=asking, judging=Judging(metric="sum", seed=seed), output=output)
    runs, failures = _evaluate(_by_language(data), model, evaluation)
    report = agreement_report(
        runs,
        regions=tuple(region or ()),
        final_marks=final_marks,
        averaging=averaging,
        seed=seed,
        frequency=zipf_frequencies_if_any if profile else None,
        models=facts,
    )
    if figure is not None:
        _draw(report, figure)
        neutralise([figure], asked=spreadsheet_safe)
    show(_as_json(report) if json else as_text(report))
    for refusal in report.refusals:
        note(f"cimento: {refusal}")
    code = report_failures(runs, failures)
    if code or not report.refusals:
        return code
    return PART_MISSING if report.suites else UsageError.exit_code


def _by_language(paths: Sequence[Path]) -> dict[str, list[LoadedSuite]]:
    """The suites of each language; where a suite does not name one, its archive does."""
    from cimento.suites.archives import ARCHIVE_SUFFIX
    from cimento.suites.languages import language_code
    from cimento.suites.load import load_suites

    found: dict[str, list[LoadedSuite]] = {}
    for path in paths:
        archives = sorted(path.glob(f"*{ARCHIVE_SUFFIX}")) if path.is_dir() else []
        for each in archives or [path]:
            for loaded in load_suites(each):
                meta = loaded.suite.meta
                language = language_code(meta.language or each.stem)
                _refuse_twice(loaded, found.get(language, []))
                named = dataclasses.replace(meta, language=language)
                suite = dataclasses.replace(loaded.suite, meta=named)
                found.setdefault(language, []).append(dataclasses.replace(loaded, suite=suite))
    return found


def _refuse_twice(loaded: LoadedSuite, others: Sequence[LoadedSuite]) -> None:
    """See that no other suite of this language has the same name, for their runs would be one."""
    for other in others:
        if other.suite.name == loaded.suite.name:
            raise UsageError(
                where=f"suite {loaded.suite.name!r}",
                seen=f"two suites of one language have this name: {other.path} and {loaded.path}",
                todo="Give one of them another name, or leave one out.",
            )


def _evaluate(
    suites: Mapping[str, Sequence[LoadedSuite]], models: Sequence[str], evaluation: Evaluation
) -> tuple[list[Run], list[Failure]]:
    """Every language in a folder of its own, for their suites may have the same names.

    A model is opened once for all of them, and loaded only where something must be asked of it.
    """
    from cimento.api import Failure
    from cimento.cli.evaluating import opened_cache, progress_bars
    from cimento.errors import CimentoError, StorageError
    from cimento.sources import open_source, shown_name

    runs: list[Run] = []
    failures: list[Failure] = []
    asked = [(language, each) for language, found in suites.items() for each in found]
    with progress_bars() as progress, opened_cache(keep_answers=True) as cache:
        for model in models:
            name = shown_name(model)
            try:
                source = open_source(model, evaluation.full_asking)
            except CimentoError as error:
                failures += [Failure(each.suite.name, name, error) for _, each in asked]
                continue
            for language, each in asked:
                output = evaluation.output / language if evaluation.output else None
                here = dataclasses.replace(evaluation, output=output)
                told = progress(each.suite.name, name) if progress else None
                try:
                    runs.append(here.run(each, source, cache=cache, progress=told))
                except StorageError:
                    raise
                except CimentoError as error:
                    failures.append(Failure(each.suite.name, name, error))
    return runs, failures


def _draw(report: AgreementReport, path: Path) -> None:
    from cimento.studies.agreement.figures import profile_figure

    note(f"The figure is in {profile_figure(report.profile).write(path)}")


def _as_json(report: AgreementReport) -> str:
    import json

    return json.dumps(dataclasses.asdict(report), ensure_ascii=False, indent=2)
