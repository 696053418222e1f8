"""``cimento study agreement``: released suites and scores, and models of one's own beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of, run_option
from cimento.cli.resources import StudyOptions, zipf_frequencies_if_any
from cimento.errors import UsageError
from cimento.measures.regions import FinalMarkRule
from cimento.models.settings import BosRule, BoundaryRule, PllRule
from cimento.options import option
from cimento.studies.agreement.table import Averaging
from cimento.studies.record import as_json, as_text
from cimento.suites.stimuli import PunctuationRule

if TYPE_CHECKING:
    from cimento.api import Failure
    from cimento.report.grid import Grid
    from cimento.runs.run import Run
    from cimento.studies.agreement.released import Released
    from cimento.studies.agreement.report import AgreementReport
    from cimento.studies.agreement.syntaxgym import Verdicts
    from cimento.studies.record import Section


class AgreementOptions(StudyOptions):
    """The suites, the models, and the contents of the tables."""

    data: tuple[Path, ...] = option(
        (),
        "Released files: a folder, a zip archive of suites of one language, or a suite; repeatable."
        " Without, models are asked our own suites.",
    )
    boundary: BoundaryRule = option("auto", "Correct words of causal models for where they end.")
    pll: PllRule | None = run_option("pll")
    final_marks: FinalMarkRule = option("keep", "Whether punctuation at the target's end counts.")
    region: tuple[int, ...] = option((), "The target's region, where formulas leave it open.")
    averaging: Averaging = option("suites", "What has equal weight in a language.")
    profile: bool = option(
        default=False, help="Also print the tables by agreement and feature, with covariates."
    )
    models_table: Path | None = option(
        None,
        "A table with a column model and what you know of each, such as training_tokens, for the "
        "profile.",
    )
    bos: BosRule | None = run_option("bos")
    punctuation: PunctuationRule | None = run_option("punctuation")
    seed: int = option(0, "Seed of bootstrap, tests and simulated chance levels.")

    @property
    def wants_profile(self) -> bool:
        """Whether the tables of the profile are printed."""
        return self.profile or self.models_table is not None


def _agreement(options: AgreementOptions) -> int:
    """Recompute agreement suites and SyntaxGym from released files, or with your own models.

    Without -m: the contents of the released suites, and printed scores next to those computed from
    released verdicts. With -m: mean probability ratio and accuracy of every suite, its adversarial
    twin, and the drop; for SyntaxGym's suites, SG score and circuits below the published rows.

    The ratio is p(target) / (p(target) + p(alternative)), averaged over the alternatives of an
    item, then over items. By default, causal models are corrected for word boundaries, and for
    masked models the rest of a word to the right is hidden; see --boundary and --pll. SyntaxGym's
    suites are scored as its own tools do.
    """
    from cimento.studies.agreement.released import find_released, starter_suites
    from cimento.studies.agreement.syntaxgym import read_verdicts, shipped_verdicts

    released = find_released(options.data)
    verdicts = {**shipped_verdicts(), **read_verdicts(released.results)}
    if not options.model:
        return _released(options, released, verdicts)
    if not (released.languages or released.syntaxgym):
        released = replace(released, languages=starter_suites())
        which = "--data holds no suites" if options.data else "there is no --data"
        n = len(released.languages)
        note(f"cimento: {which}: {n} suites of our own are asked, which the paper did not use.")
    return _of_models(options, released, verdicts)


agreement = command_of(AgreementOptions, _agreement)


def _released(options: AgreementOptions, released: Released, verdicts: Verdicts) -> int:
    """Show what the released files hold, and the published scores."""
    from cimento.studies.agreement.released import looked_for
    from cimento.studies.agreement.syntaxgym import (
        circuit_table,
        published_scores,
        suite_table,
    )

    rows = published_scores(verdicts)
    sections = _sections(released, verdicts)
    parts: dict[str, Section | Grid] = {section.name: section for section in sections}
    parts["syntaxgym"] = circuit_table(rows)
    if options.as_json:
        plain = json.loads(as_json("agreement", sections))
        show_json({**plain, "published": rows}, indent=1)
    else:
        show(as_text(list(parts.values()), options.form))
    options.write({**parts, "syntaxgym-suites": suite_table(rows)})
    if not options.data:
        note(f"cimento: give released files with --data. {looked_for()}")
    return 0


def _sections(released: Released, verdicts: Verdicts) -> list[Section]:
    from cimento.studies.agreement.released import agreement_materials, gym_materials
    from cimento.studies.agreement.syntaxgym import checked_scores, replayed_example

    return [
        *([agreement_materials(released.languages)] if released.languages else []),
        *([gym_materials(released.syntaxgym)] if released.syntaxgym else []),
        checked_scores(verdicts),
        *([replayed_example(*released.example)] if released.example else []),
    ]


def _of_models(options: AgreementOptions, released: Released, verdicts: Verdicts) -> int:
    """Ask the models, show and write their tables; the exit code."""
    from cimento.cli.evaluating import PART_MISSING, report_failures
    from cimento.studies.agreement.models import read_models
    from cimento.studies.agreement.report import agreement_report
    from cimento.studies.agreement.syntaxgym import published_scores, run_scores

    # Read before any model is asked, so that mistakes are reported at once.
    facts = read_models(options.models_table) if options.models_table else {}
    runs, gym_runs, failures = _ask(options, released)
    profiled = options.wants_profile or options.output is not None
    report = agreement_report(
        runs,
        regions=options.region,
        final_marks=options.final_marks,
        averaging=options.averaging,
        seed=options.seed,
        frequency=zipf_frequencies_if_any if profiled else None,
        models=facts,
    )
    if gym_runs:
        scores = (*published_scores(verdicts), *run_scores(gym_runs))
        report = replace(report, syntaxgym=scores)
    _show_models(options, report)
    for refusal in report.refusals:
        note(f"cimento: {refusal}")
    code = report_failures([*runs, *gym_runs], failures)
    if code or not report.refusals:
        return code
    return PART_MISSING if report.suites else UsageError.exit_code


def _ask(
    options: AgreementOptions, released: Released
) -> tuple[list[Run], list[Run], list[Failure]]:
    """Runs of agreement suites, runs of SyntaxGym's, and what could not be run."""
    from cimento.api import Failure
    from cimento.cli.evaluating import opened_cache, progress_bars
    from cimento.runs.run import Run
    from cimento.studies.agreement.report import ask_languages

    asked = options.run_options(metric="sum")
    # The published verdicts are of plain surprisals: --boundary and --bos are for agreement.
    as_tool = options.run_options(compat="syntaxgym", boundary=None, bos=None)
    with progress_bars() as progress, opened_cache(keep_answers=True) as cache:
        ends, gym_ends = (
            list(ask_languages(suites, options.model, run_options, cache=cache, progress=progress))
            if suites
            else []
            for suites, run_options in ((released.languages, asked), (released.syntaxgym, as_tool))
        )
    runs, gym_runs = ([end for end in group if isinstance(end, Run)] for group in (ends, gym_ends))
    return runs, gym_runs, [end for end in (*ends, *gym_ends) if isinstance(end, Failure)]


def _show_models(options: AgreementOptions, report: AgreementReport) -> None:
    """Print what was asked for, and write everything."""
    from cimento.studies.agreement.syntaxgym import circuit_table, suite_table
    from cimento.studies.agreement.text import OF_PROFILE, tables

    grids = tables(report)
    few = [] if options.limit is None else [f"Own rows: the first {options.limit} items only."]
    if report.syntaxgym:
        grids["syntaxgym"] = circuit_table(report.syntaxgym, few)
        grids["syntaxgym-suites"] = suite_table(report.syntaxgym)
    if options.as_json:
        show_json(report)
    else:
        hidden = () if options.wants_profile else OF_PROFILE
        show(as_text([grid for name, grid in grids.items() if name not in hidden], options.form))
    if options.output is not None and grids:
        options.write(grids, _figures(report, options.output))


def _figures(report: AgreementReport, folder: Path) -> list[Path]:
    """The figures of the report; none where they cannot be drawn."""
    from cimento.report.figures import lacking_figures, write_figures
    from cimento.studies.agreement.profile import profile_figure
    from cimento.studies.agreement.text import circuits_figure, drops_figure

    if lacking := lacking_figures():
        note(lacking)
        return []
    drawn = [profile_figure(report.profile)] if report.profile else []
    if any(row.drop is not None for row in report.twins):
        drawn.append(drops_figure(report.twins))
    if report.syntaxgym:
        drawn.append(circuits_figure(report.syntaxgym))
    return write_figures(drawn, folder)
