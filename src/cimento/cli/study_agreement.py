"""``cimento study agreement``: languages by suites, plain and adversarial."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.cli.console import note, show, show_json
from cimento.cli.evaluating import PART_MISSING, opened_cache, progress_bars, report_failures
from cimento.cli.flags import SheetOptions, command_of, run_option, run_options_of
from cimento.cli.resources import zipf_frequencies_if_any
from cimento.errors import CimentoError, UsageError
from cimento.measures.regions import FinalMarkRule
from cimento.models.base import BosRule, BoundaryRule, DtypeName, PllRule, PunctuationRule
from cimento.options import Limit, Options, Texts, option
from cimento.studies.agreement.table import Averaging
from cimento.studies.record import Form, as_text

if TYPE_CHECKING:
    from cimento.api import Failure
    from cimento.options import RunOptions
    from cimento.paradigms.loading import LoadedSuite
    from cimento.runs.run import Run
    from cimento.studies.agreement.report import AgreementReport
    from cimento.suites.model import Suite


class StudyOptions(Options):
    """How a study is shown."""

    as_json: bool = run_option("as_json")
    form: Form = option("text", "Of the tables: text, markdown, csv or latex.", flags=("--format",))


class AgreementOptions(StudyOptions, SheetOptions):
    """The suites, the models, and what the tables hold."""

    data: tuple[Path, ...] = option(
        ..., "A zip archive or folder of suites, one for each language; repeatable."
    )
    model: Texts = option(
        ...,
        "demo-causal, demo-masked, a folder, org/name@revision, openai:URL#model, "
        "kenlm:FILE, replay:FILE; may be repeated.",
        flags=("-m",),
    )
    output: Path = run_option("output")
    boundary: BoundaryRule = option("auto", "Correct words of causal models for where they end.")
    pll: PllRule | None = run_option("pll")
    final_marks: FinalMarkRule = option("keep", "Whether punctuation at the target's end counts.")
    region: tuple[int, ...] = option((), "The target's region, where formulas leave it open.")
    averaging: Averaging = option("suites", "What has equal weight in a language.")
    profile: bool = option(default=False, help="Also by agreement and feature, with covariates.")
    models_table: Path | None = option(
        None,
        "With --profile: a table with a column model and what you know of each, such as "
        "training_tokens.",
    )
    figure: Path | None = option(
        None, "The profile as a heat map: .svg, .png, .pdf, .csv or .json."
    )
    bos: BosRule | None = run_option("bos")
    punctuation: PunctuationRule | None = run_option("punctuation")
    device: str = run_option("device")
    dtype: DtypeName = run_option("dtype")
    batch_size: Limit = run_option("batch_size")
    batch_tokens: Limit = run_option("batch_tokens")
    limit: int | None = run_option("limit")
    seed: int = option(0, "Seed of the simulated chance levels.")


def _agreement(options: AgreementOptions) -> int:
    """Mean probability ratio and accuracy of every suite, its adversarial twin, and the drop.

    The measure is p(target) / (p(target) + p(alternative)), averaged over the alternatives of an
    item, then over items. Causal models are corrected for word boundaries, masked models hide the
    rest of a word to the right, unless --boundary and --pll say otherwise.
    """
    from cimento.studies.agreement.models import read_models
    from cimento.studies.agreement.report import agreement_report
    from cimento.studies.agreement.text import tables

    wants_profile = options.profile or bool(options.models_table or options.figure)
    # Read before a model is asked, so that a mistake is found at once.
    facts = read_models(options.models_table) if options.models_table else {}
    run_options = run_options_of(options, metric="sum")
    runs, failures = _evaluate(_by_language(options.data), options.model, run_options)
    report = agreement_report(
        runs,
        regions=options.region,
        final_marks=options.final_marks,
        averaging=options.averaging,
        seed=options.seed,
        frequency=zipf_frequencies_if_any if wants_profile else None,
        models=facts,
    )
    if options.figure is not None:
        _draw(report, options.figure)
        options.neutralise(options.figure)
    if options.as_json:
        show_json(report)
    else:
        show(as_text(tables(report), options.form))
    for refusal in report.refusals:
        note(f"cimento: {refusal}")
    code = report_failures(runs, failures)
    if code or not report.refusals:
        return code
    return PART_MISSING if report.suites else UsageError.exit_code


agreement = command_of(AgreementOptions, _agreement)


def _by_language(paths: Sequence[Path]) -> dict[str, list[LoadedSuite]]:
    """The suites of each language; where a suite does not name one, its archive does."""
    from cimento.paradigms.loading import load_suites
    from cimento.suites.archives import ARCHIVE_SUFFIX
    from cimento.suites.published import language_code

    found: dict[str, list[LoadedSuite]] = {}
    for path in paths:
        archives = sorted(path.glob(f"*{ARCHIVE_SUFFIX}")) if path.is_dir() else []
        for archive in archives or [path]:
            for loaded in load_suites(archive):
                meta = loaded.suite.meta
                language = language_code(meta.language or archive.stem)
                _refuse_twice(loaded, found.get(language, []))
                named = dataclasses.replace(meta, language=language)
                suite = dataclasses.replace(cast("Suite", loaded.suite), meta=named)
                reading = dataclasses.replace(loaded.reading, suite=suite)
                own = dataclasses.replace(loaded, reading=reading)
                found.setdefault(language, []).append(own)
    return found


def _refuse_twice(loaded: LoadedSuite, others: Sequence[LoadedSuite]) -> None:
    """See that no other suite of this language has the same name, for their runs would be one."""
    for other in others:
        if other.suite.name == loaded.suite.name:
            raise UsageError(
                where=f"suite {loaded.suite.name!r}",
                seen=f"two suites of one language have this name:"
                f" {other.reading.path} and {loaded.reading.path}",
                todo="Give one of them another name, or leave one out.",
            )


def _evaluate(
    suites: Mapping[str, Sequence[LoadedSuite]], models: Sequence[str], run_options: RunOptions
) -> tuple[list[Run], list[Failure]]:
    """Every language in a folder of its own, for their suites may have the same names.

    A model is opened once for all of them, and loaded only where something must be asked of it.
    """
    from cimento.api import Failure
    from cimento.engine.engines import ONE_WORKER
    from cimento.engine.execute import Execution
    from cimento.engine.handle import ModelHandle
    from cimento.engine.jobs import Work
    from cimento.models.registry import shown_name
    from cimento.runs.job import refuse_unused, suite_job
    from cimento.runs.run import Run

    runs: list[Run] = []
    failures: list[Failure] = []
    asked = [(language, loaded) for language, several in suites.items() for loaded in several]
    refuse_unused((loaded.paradigm for _, loaded in asked), run_options)
    with progress_bars() as progress, opened_cache(keep_answers=True) as cache:
        for model in models:
            name = shown_name(model)
            jobs = []
            try:
                handle = ModelHandle(model, run_options.scoring)
            except CimentoError as error:
                failures += [Failure(loaded.suite.name, name, error) for _, loaded in asked]
                continue
            for language, loaded in asked:
                folder = run_options.output / language if run_options.output else None
                here = run_options.model_copy(update={"output": folder})
                bar = progress(loaded.suite.name, name) if progress else None
                job = suite_job(loaded, handle, here, shown=name, progress=bar)
                job.prepare()
                jobs.append(job)
            work = Work(engine=ONE_WORKER, device=run_options.device, cache=cache)
            for job, end in zip(jobs, Execution(jobs, work).run(), strict=True):
                if isinstance(end, Run):
                    runs.append(end)
                elif end is not None:
                    failures.append(Failure(job.suite_name, name, end))
    return runs, failures


def _draw(report: AgreementReport, path: Path) -> None:
    from cimento.studies.agreement.profile import profile_figure

    note(f"The figure is in {profile_figure(report.profile).write(path)}")
