"""``cimento study agreement``: languages by suites, plain and adversarial."""

from __future__ import annotations

from pathlib import Path

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import SheetOptions, command_of, run_option, run_options_of
from cimento.cli.resources import zipf_frequencies_if_any
from cimento.errors import UsageError
from cimento.measures.regions import FinalMarkRule
from cimento.models.base import BosRule, BoundaryRule, PllRule, PunctuationRule
from cimento.options import Dtype, Limit, Options, Texts, option
from cimento.studies.agreement.table import Averaging
from cimento.studies.record import Form, as_text


class StudyOptions(Options):
    """The form in which a study is shown."""

    as_json: bool = run_option("as_json")
    form: Form = option("text", "Of the tables: text, markdown, csv or latex.", flags=("--format",))


class AgreementOptions(StudyOptions, SheetOptions):
    """The suites, the models, and the contents of the tables."""

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
    dtype: Dtype = run_option("dtype")
    batch_size: Limit = run_option("batch_size")
    batch_tokens: Limit = run_option("batch_tokens")
    limit: int | None = run_option("limit")
    seed: int = option(0, "Seed of the simulated chance levels.")


def _agreement(options: AgreementOptions) -> int:
    """Print the probability ratio and accuracy of every suite, its adversarial twin, and the drop.

    The measure is p(target) / (p(target) + p(alternative)), averaged over the alternatives of an
    item, then over items. By default, causal models are corrected for word boundaries, and for
    masked models the rest of a word to the right is hidden; see --boundary and --pll.
    """
    from cimento.api import Failure
    from cimento.cli.evaluating import PART_MISSING, opened_cache, progress_bars, report_failures
    from cimento.runs.run import Run
    from cimento.studies.agreement.models import read_models
    from cimento.studies.agreement.profile import profile_figure
    from cimento.studies.agreement.report import agreement_report, ask_languages, read_languages
    from cimento.studies.agreement.text import tables

    wants_profile = options.profile or bool(options.models_table or options.figure)
    # Read before any model is asked, so that mistakes are reported at once.
    facts = read_models(options.models_table) if options.models_table else {}
    run_options = run_options_of(options, metric="sum")
    suites = read_languages(options.data)
    with progress_bars() as progress, opened_cache(keep_answers=True) as cache:
        ends = list(
            ask_languages(suites, options.model, run_options, cache=cache, progress=progress)
        )
    runs = [end for end in ends if isinstance(end, Run)]
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
        drawn = profile_figure(report.profile).write(options.figure)
        options.neutralise(drawn)
        note(f"The figure is in {drawn}")
    if options.as_json:
        show_json(report)
    else:
        show(as_text(tables(report), options.form))
    for refusal in report.refusals:
        note(f"cimento: {refusal}")
    code = report_failures(runs, [end for end in ends if isinstance(end, Failure)])
    if code or not report.refusals:
        return code
    return PART_MISSING if report.suites else UsageError.exit_code


agreement = command_of(AgreementOptions, _agreement)
