"""``cimento run`` for suites of the kind ``acceptability``: a model beside people."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.acceptability.people import standardised
from cimento.acceptability.report import (
    AcceptabilityReport,
    Options,
    chosen_measures,
    report,
    scored_in_order,
)
from cimento.acceptability.suites import NO_PREDICTIONS, RatedSuite, load_rated
from cimento.cli.acceptability_text import report_text
from cimento.cli.console import note, show
from cimento.cli.evaluating import (
    evaluate_with_progress,
    report_failures,
    show_table,
)
from cimento.cli.kinds import keep_options
from cimento.errors import UsageError, did_you_mean
from cimento.report.summary import Missing, to_json
from cimento.results import Run, summarise
from cimento.runs.store import RunFolder
from cimento.suites.builtin import find_suite
from cimento.suites.load import suite_paths
from cimento.suites.model import Suite

if TYPE_CHECKING:
    from cimento.cli.kinds import KindRun
    from cimento.errors import Fault

REPORT = "acceptability.json"
OPTIONS = ("by", "draws", "ratings")


def run_acceptability(suites: Sequence[str], models: Sequence[str], how: KindRun) -> int:
    """Score rated suites, compare with the ratings, store all of it; return the exit code.

    Raises:
        CimentoError: a suite or an option cannot be used.
    """
    options = _options(how)
    found = [load_rated(path) for name in suites for path in suite_paths(find_suite(name))]
    if options.ratings == "z":
        for each in found:
            # Before a model is asked, so that a mistake is found at once.
            standardised(each.rated.sentences)
    by_name = {_suite(each).name: each for each in found}
    runs, failures = evaluate_with_progress(
        [each.suite for each in found], models, how.evaluation, keep_answers=how.keep_answers
    )
    reports = []
    for run in runs:
        each = by_name[run.suite.name]
        made = report(run, each.rated, by=each.by, options=options)
        _store(run, each, made, options)
        keep_options(run.folder, how)
        if run.folder is not None:
            RunFolder(run.folder).tell(report_text(made))
        reports.append(made)
    missing = [Missing(suite=f.suite, model=f.model, message=str(f.error)) for f in failures]
    summary = summarise(
        [judged for run in runs for judged in run.judge_on(how.measures)],
        missing=missing,
        with_verdicts=how.as_json,
    )
    if how.as_json:
        plain = {**json.loads(to_json(summary)), "acceptability": [r.plain() for r in reports]}
        show(json.dumps(plain, ensure_ascii=False, indent=2))
    elif runs:
        if judged := tuple(each for each in summary.runs if each.predictions):
            show_table(dataclasses.replace(summary, runs=judged))
        for made in reports:
            show("\n" + report_text(made))
        note(f"Stored in {how.evaluation.output}.")
    return report_failures(runs, failures)


def acceptability_stored(paths: Sequence[str], model: str, how: KindRun) -> list[bool]:
    """Whether the runs of rated suites with a model are stored.

    Raises:
        CimentoError: a suite cannot be used, or there is no such model.
    """
    from cimento.regions_api import read_suites
    from cimento.sources import open_source

    source = open_source(model, how.evaluation.full_asking)
    suites = read_suites(load_rated(Path(path)).suite for path in paths)
    return [how.evaluation.is_stored(each, source) for each in suites]


def check_acceptability(path: Path) -> Sequence[Fault]:
    """Every fault of a suite of the kind; that it has no predictions is none.

    Raises:
        InputError: a rating or the scale is not what it should be.
    """
    from cimento.acceptability.suites import is_rated_table, rated_of, read_rated_suite
    from cimento.suites.checks import check_suite
    from cimento.suites.load import inspect_suite

    if is_rated_table(path):
        return _without_predictions(check_suite(read_rated_suite(path)))
    suite, faults = inspect_suite(path)
    if suite is not None:
        rated_of(suite)
    return _without_predictions(faults)


def _without_predictions(faults: Sequence[Fault]) -> list[Fault]:
    return [fault for fault in faults if fault.code != NO_PREDICTIONS]


def _options(how: KindRun) -> Options:
    """What ``--set`` says."""
    for name in how.options:
        if name not in OPTIONS:
            raise UsageError(
                where=f"--set {name}",
                seen="suites of acceptability have no such option",
                todo=did_you_mean(name, OPTIONS),
            )
    draws = how.options.get("draws", str(Options().draws))
    if not draws.isdigit():
        raise UsageError(where="--set draws", seen=f"got {draws!r}", todo="Write a whole number.")
    ratings = how.options.get("ratings", "raw")
    if ratings not in {"raw", "z"}:
        raise UsageError(where="--set ratings", seen=f"got {ratings!r}", todo="Write raw or z.")
    by = [name.strip() for name in how.options.get("by", "").split(",") if name.strip()]
    return Options(
        measures=tuple(how.measures),
        by=tuple(by) or Options().by,
        ratings="z" if ratings == "z" else "raw",
        draws=int(draws),
        seed=how.evaluation.judging.seed,
    )


def _suite(each: RatedSuite) -> Suite:
    return each.suite if isinstance(each.suite, Suite) else each.suite.suite


def _store(run: Run, each: RatedSuite, made: AcceptabilityReport, options: Options) -> None:
    """Measures, ratings and the report, beside the tables of the run."""
    from cimento.acceptability.judgments import judgments_table
    from cimento.answers import JUDGMENTS, SCORES, write_table
    from cimento.files import write_text
    from cimento.measures.scores import scores_table

    if run.folder is None:
        return
    measures = chosen_measures(options.measures, run)
    write_table(scores_table(scored_in_order(run), measures), SCORES, run.folder)
    write_table(judgments_table(each.rated), JUDGMENTS, run.folder)
    text = json.dumps(_plain(made.plain()), ensure_ascii=False, indent=2)
    write_text(text + "\n", run.folder / REPORT)


def _plain(report: Mapping[str, object]) -> Mapping[str, object]:
    """The report with the schema's version first."""
    return {"acceptability_report": 1, **report}
