"""``cimento study``: published studies recomputed; here those of agreement and of Portuguese."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import note, show, show_json, write_drawn
from cimento.cli.evaluating import (
    PART_MISSING,
    evaluate_with_progress,
    opened_cache,
    progress_bars,
    report_failures,
    report_figures,
)
from cimento.cli.flags import command_of
from cimento.cli.resources import StudyOptions, zipf_frequencies_if_any
from cimento.errors import UsageError, counted
from cimento.evaluation import Failure
from cimento.intake.roles import parse_choice
from cimento.io.declared import option
from cimento.kinds.run import Run
from cimento.measures.regions import FinalMarkRule
from cimento.models.settings import BosRule, BoundaryRule, PllRule
from cimento.options import run_option
from cimento.studies import as_json, as_text, tables_plain
from cimento.studies.agreement.table import Averaging
from cimento.suites import UnitName
from cimento.suites.stimuli import PunctuationRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cimento.report.figures import Figure
    from cimento.report.grid import Grid
    from cimento.studies import Section
    from cimento.studies.agreement import AgreementReport
    from cimento.studies.agreement.released import ReleasedFiles
    from cimento.studies.agreement.syntaxgym import Verdicts
    from cimento.studies.portuguese.asked import ModelAnswers
    from cimento.studies.portuguese.data import StudyData
    from cimento.studies.portuguese.judge import Readings

StateName = Literal["snapshot", "release"]


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
    columns: str = option(
        "", "Which column of --models-table has the names: model=Modello.", metavar="ROLE=COLUMN"
    )
    bos: BosRule | None = run_option("bos")
    punctuation: PunctuationRule | None = run_option("punctuation")
    spec: Path | None = run_option("spec")
    recorded_unit: UnitName = run_option("recorded_unit")
    seed: int = option(0, "Seed of bootstrap, tests and simulated chance levels.")

    @property
    def wants_profile(self) -> bool:
        """Whether the tables of the profile are printed."""
        return self.profile or self.models_table is not None


@command_of
def agreement(options: AgreementOptions) -> int:
    """Recompute agreement suites and SyntaxGym from released files, or with your own models.

    Without -m: the contents of the released suites, and printed scores next to those computed from
    released verdicts. With -m: mean probability ratio and accuracy of every suite, its adversarial
    twin, and the drop; for SyntaxGym's suites, SG score and circuits below the published rows.

    The ratio is p(target) / (p(target) + p(alternative)), averaged over the alternatives of an
    item, then over items. With -m replay:FOLDER, it is that of recorded surprisals, a file for each
    suite. By default, causal models are corrected for word boundaries, and for
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
    return _agreement_of_models(options, released, verdicts)


def _released(options: AgreementOptions, released: ReleasedFiles, verdicts: Verdicts) -> int:
    """Show what the released files hold, and the published scores."""
    from cimento.studies.agreement.released import looked_for
    from cimento.studies.agreement.syntaxgym import (
        circuit_table,
        published_scores,
        suite_accuracies,
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
    options.write({**parts, "syntaxgym-suites": suite_accuracies(rows)})
    if not options.data:
        note(f"cimento: give released files with --data. {looked_for()}")
    return 0


def _sections(released: ReleasedFiles, verdicts: Verdicts) -> list[Section]:
    from cimento.studies.agreement.released import agreement_materials, gym_materials
    from cimento.studies.agreement.syntaxgym import checked_scores, replayed_example

    return [
        *([agreement_materials(released.languages)] if released.languages else []),
        *([gym_materials(released.syntaxgym)] if released.syntaxgym else []),
        checked_scores(verdicts),
        *([replayed_example(*released.example)] if released.example else []),
    ]


def _agreement_of_models(
    options: AgreementOptions, released: ReleasedFiles, verdicts: Verdicts
) -> int:
    """Ask the models, show and write their tables; the exit code."""
    from cimento.studies.agreement import agreement_report
    from cimento.studies.agreement.models import Facts, read_models
    from cimento.studies.agreement.syntaxgym import published_scores, run_scores
    from cimento.studies.own_tables import MODELS

    # Read before any model is asked, so that mistakes are reported at once.
    facts: dict[str, Facts] = {}
    if options.columns and not options.models_table:
        raise UsageError(where="--columns", seen="there is no --models-table", todo="Give both.")
    if options.models_table:
        facts, read = read_models(options.models_table, parse_choice(options.columns, MODELS))
        note(read.said())
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
    options: AgreementOptions, released: ReleasedFiles
) -> tuple[list[Run], list[Run], list[Failure]]:
    """Runs of agreement suites, runs of SyntaxGym's, and what could not be run."""
    from cimento.studies.agreement import ask_languages
    from cimento.studies.agreement.recordings import find_recordings, is_recording

    asked = options.run_options(metric="sum")
    every = (*released.languages, *released.syntaxgym)
    recordings = {
        model: find_recordings(model, every, asked.scoring)
        for model in options.model
        if is_recording(model)
    }
    for recorded in recordings.values():
        note(recorded.said())
    # The published verdicts are of plain surprisals: --boundary and --bos are for agreement.
    as_tool = options.run_options(compat="syntaxgym", boundary=None, bos=None)
    with progress_bars() as progress, opened_cache(keep_answers=True) as cache:
        ends, gym_ends = (
            list(
                ask_languages(
                    suites,
                    options.model,
                    run_options,
                    cache=cache,
                    progress=progress,
                    recordings=recordings,
                )
            )
            if suites
            else []
            for suites, run_options in ((released.languages, asked), (released.syntaxgym, as_tool))
        )
    runs, gym_runs = ([end for end in group if isinstance(end, Run)] for group in (ends, gym_ends))
    return runs, gym_runs, [end for end in (*ends, *gym_ends) if isinstance(end, Failure)]


def _show_models(options: AgreementOptions, report: AgreementReport) -> None:
    """Print what was asked for, and write everything."""
    from cimento.studies.agreement.syntaxgym import circuit_table, suite_accuracies
    from cimento.studies.agreement.text import PROFILE_TABLES, agreement_tables

    grids = agreement_tables(report)
    few = [] if options.limit is None else [f"Own rows: only {options.limit} items of each suite."]
    if report.syntaxgym:
        grids["syntaxgym"] = circuit_table(report.syntaxgym, few)
        grids["syntaxgym-suites"] = suite_accuracies(report.syntaxgym)
    if options.as_json:
        show_json(report)
    else:
        hidden = () if options.wants_profile else PROFILE_TABLES
        show(as_text([grid for name, grid in grids.items() if name not in hidden], options.form))
    if options.output is not None and grids:
        options.write(grids, _figures(report, options.output))


def _figures(report: AgreementReport, folder: Path) -> list[Path]:
    """The figures of the report; none where they cannot be drawn."""
    from cimento.studies.agreement.profile import profile_figure
    from cimento.studies.agreement.text import circuits_figure, drops_figure

    def draw() -> Iterator[Figure]:
        if report.profile:
            yield profile_figure(report.profile)
        if any(row.drop is not None for row in report.twins):
            yield drops_figure(report.twins)
        if report.syntaxgym:
            yield circuits_figure(report.syntaxgym)

    return write_drawn(draw, folder)


PROFILES, DICTIONARY = "profiles", "dictionary"
"""Parts of the study for which ``-m`` and ``--dictionary`` count."""


class PortugueseOptions(StudyOptions):
    """The released files, the parts of the study to show, and models to ask."""

    data: Path | None = option(None, "The authors' folder as released, or one file of it.")
    table: int | None = option(None, "Only this table, 1 to 13; else all of them.")
    what: str | None = option(
        None,
        "Instead of tables: mcnemar, claims, profiles, auto, confidence, per-template, "
        "hits, per-mwe, person, tense, clusters, dictionary.",
    )
    state: StateName | None = option(
        None,
        "State of the judgments: the snapshot that the paper used, or the release; both "
        "by default.",
    )
    dictionary: str = option(
        "rules:pt", "Judges candidates; delaf:FILE for UNITEX-PB, or treebank:FILE."
    )
    reuse: tuple[Path, ...] = option(
        (), "With -m: judged candidates of the same sentences; those of --data always."
    )


@command_of
def portuguese(options: PortugueseOptions) -> int:
    """Recompute the tables of the Brazilian Portuguese study, next to the printed values.

    With -m, the same tables are made for your own models, below the published rows: the multiword
    tables at once, and the grammar tests with the judgments of a dictionary and of people, and an
    estimate from both that allows for the dictionary's errors. --what profiles has the parts of
    speech of the candidates.
    """
    from cimento.studies.portuguese.data import STATE_FILES, WHERE, load_study

    if options.table is not None and options.what is not None:
        raise UsageError(
            where="--table and --what", seen="both are given", todo="Ask for one at a time."
        )
    if options.model:
        return _portuguese_of_models(options, load_study(options.data) if options.data else None)
    if options.data is None:
        raise UsageError(
            where="study portuguese",
            seen="there is neither --data nor -m",
            todo=f"Give the authors' folder ({WHERE}), or -m MODEL to ask a model.",
        )
    released = load_study(options.data)
    states = released.states if options.state is None else (options.state,)
    if not set(states) <= set(released.states):
        raise UsageError(
            where=f"--state {options.state}",
            seen=f"{STATE_FILES[options.state]} is not there" if options.state else "",
            todo="Give the folder as the authors released it.",
        )
    _show_released(options, released, states)
    return 0


def _show_released(
    options: PortugueseOptions, released: StudyData, states: Sequence[StateName]
) -> None:
    """Print the tables, or another requested part, of the authors' files."""
    from cimento.studies.portuguese import numbers_of, of_judgments, part
    from cimento.studies.portuguese import table as compute
    from cimento.studies.portuguese.accuracy import accuracy_table, compared
    from cimento.studies.portuguese.judging import known_readings
    from cimento.studies.portuguese.text import part_section, table_section

    for state in states if of_judgments(options.table, options.what) else ():
        for warning in released.warnings(state):
            note(f"warning: {state}: {warning}")
    if options.what == DICTIONARY:
        readings = known_readings(options.dictionary)
        grid = accuracy_table(compared(released, readings, options.dictionary))
        if options.as_json:
            show_json({"tables": tables_plain({DICTIONARY: grid})}, indent=1)
        else:
            show(as_text([grid], options.form))
        return
    if options.what is not None:
        result = part(released, options.what)
        if options.as_json:
            show_json({"rows": result} if isinstance(result, list) else result, indent=1)
        else:
            show(as_text([part_section(options.what, result)], options.form))
        return
    numbers = numbers_of(released) if options.table is None else (options.table,)
    tables = [compute(released, number, states) for number in numbers]
    if not options.as_json:
        show(as_text([table_section(table) for table in tables], options.form))
    else:
        show_json({"tables": tables} if options.table is None else tables[0], indent=1)


def _portuguese_of_models(options: PortugueseOptions, released: StudyData | None) -> int:
    """The tables of some models; the exit code."""
    from cimento.studies.portuguese.asked import asked_suites, model_answers
    from cimento.studies.portuguese.judging import known_readings
    from cimento.studies.portuguese.tags import tag_table

    if options.what not in (None, PROFILES) or options.state is not None:
        raise UsageError(
            where="--what" if options.what else "--state",
            seen="it is about the authors' files, and -m asks a model",
            todo=f"Leave one of the two out; --what {PROFILES} is for both.",
        )
    runs, failures = evaluate_with_progress(
        asked_suites(options.data), options.model, options.run_options()
    )
    if not runs:
        return report_failures(runs, failures)
    by_model: dict[str, list[Run]] = {}
    for run in runs:
        by_model.setdefault(run.model, []).append(run)
    models = [model_answers(model, model_runs, released) for model, model_runs in by_model.items()]
    readings = known_readings(options.dictionary)
    profiles = {PROFILES: tag_table(models, readings, options.dictionary)}
    if options.what == PROFILES:
        tables = profiles
    else:
        tables = _judged_tables(options, released, models, readings)
    if options.as_json:
        show_json({"tables": tables_plain(tables)}, indent=1)
    elif tables:
        show(as_text(list(tables.values()), options.form))
    if options.output is not None and tables:
        # The profiles are long, and so are only written, unless they are asked for.
        beside = profiles if options.table is None and profiles[PROFILES].rows else {}
        options.write({**tables, **beside}, report_figures(runs, options.output))
    return report_failures(runs, failures)


def _judged_tables(
    options: PortugueseOptions,
    released: StudyData | None,
    models: Sequence[ModelAnswers],
    readings: Readings,
) -> dict[str, Grid]:
    """The paper's tables of some models, or the one that is asked for."""
    from cimento.studies.portuguese.deciding import deciding_candidates
    from cimento.studies.portuguese.judging import earlier_candidates, judged
    from cimento.studies.portuguese.models import portuguese_tables

    earlier = earlier_candidates(released, options.reuse)
    judgments = judged(
        models,
        dictionary=options.dictionary,
        readings=readings,
        earlier=earlier,
        released=released,
    )
    for line in judgments.said:
        note(f"cimento: {line}.")
    for model in models:
        if n := len(deciding_candidates(model, readings, earlier)):
            waiting = counted(n, "first candidate is", "first candidates are")
            asked = "cimento annotate candidates RUN --only-open asks people about them"
            note(f"cimento: {model.model}: {waiting} open; {asked}.")
    rule = f"Dictionary: {options.dictionary}."
    ours = ["Published rows are about the study's sentences, the others about our own."]
    both = ours if released is None else []
    tables = portuguese_tables(models, judgments, both, of_grammar=[rule, *judgments.said])
    if options.table is None:
        return tables
    return {name: table for name, table in tables.items() if name == f"table-{options.table}"}
