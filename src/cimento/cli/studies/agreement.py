"""``cimento study agreement``: languages by suites, plain and adversarial."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.cli.frequencies import zipf_frequencies_if_any
from cimento.errors import UsageError
from cimento.measures.regions import FinalMarkRule
from cimento.models.base import BoundaryRule
from cimento.studies.agreement.table import Averaging

if TYPE_CHECKING:
    from cimento.api import Evaluation, Failure
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
    bos: options.Bos = None,
    punctuation: options.Punctuation = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "float32",
    batch_size: options.BatchSize = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
) -> int:
    """Mean probability ratio and accuracy of every suite, its adversarial twin, and the drop.

    The measure is p(target) / (p(target) + p(alternative)), averaged over the alternatives of an
    item, then over items. Causal models are corrected for word boundaries, masked models hide the
    rest of a word to the right, unless --boundary and --pll say otherwise.
    """
    from cimento.api import Evaluation
    from cimento.cli.evaluating import PART_MISSING, report_failures
    from cimento.cli.studies.agreement_text import as_text
    from cimento.judging import Judging
    from cimento.models.base import Policy
    from cimento.sources import Asking
    from cimento.studies.agreement.report import agreement_report

    given = options.given(pll=pll, bos=bos, punctuation=punctuation, dtype=dtype, boundary=boundary)
    asking = Asking(policy=Policy(**given), device=device, token_budget=batch_size, limit=limit)
    evaluation = Evaluation(asking=asking, judging=Judging(metric="sum", seed=seed), output=output)
    runs, failures = _evaluate(_by_language(data), model, evaluation)
    report = agreement_report(
        runs,
        regions=tuple(region or ()),
        final_marks=final_marks,
        averaging=averaging,
        seed=seed,
        frequency=zipf_frequencies_if_any if profile else None,
    )
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
                named = dataclasses.replace(meta, language=language)
                suite = dataclasses.replace(loaded.suite, meta=named)
                found.setdefault(language, []).append(dataclasses.replace(loaded, suite=suite))
    return found


def _evaluate(
    suites: Mapping[str, Sequence[LoadedSuite]], models: Sequence[str], evaluation: Evaluation
) -> tuple[list[Run], list[Failure]]:
    """Every language in a folder of its own, for their suites may have the same names."""
    from cimento.cli.evaluating import evaluate_with_progress

    runs: list[Run] = []
    failures: list[Failure] = []
    for language, found in suites.items():
        output = evaluation.output / language if evaluation.output else None
        here = dataclasses.replace(evaluation, output=output)
        done, failed = evaluate_with_progress(found, models, here, keep_answers=True)
        runs += done
        failures += failed
    return runs, failures


def _as_json(report: AgreementReport) -> str:
    import json

    return json.dumps(dataclasses.asdict(report), ensure_ascii=False, indent=2)
