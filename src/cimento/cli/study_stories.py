"""``cimento study stories``: Table 3, from the authors' logs or from your own models."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of, run_option
from cimento.cli.resources import StudyOptions
from cimento.errors import InputError, UsageError
from cimento.options import Settings, Texts, option
from cimento.paradigms.stories.options import GroupingName
from cimento.studies.record import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.paradigms.stories.recordings import Responses
    from cimento.paradigms.stories.suite import Story, StorySuite
    from cimento.report.grid import Grid
    from cimento.runs.run import Run
    from cimento.studies.record import Section

STARTER = "it-stories"
_WHERE = "https://github.com/EkhiAzur/GITA4CALAMITA"


class StoryStudyOptions(StudyOptions):
    """The stories, recorded answers or models, and their grouping."""

    data: Path | None = option(
        None, "The stories: GITA4CALAMITA as JSONL, or others; else those of the logs."
    )
    responses: tuple[Path, ...] = option(
        (), "A folder of lm-eval's logs, or recorded answers of one model (JSONL); repeatable."
    )
    prompt: Texts = option((), "A wording to ask with, such as paper-en. May be repeated.")
    grouping: GroupingName = option("paper_code", "Groups of Table 3.")
    seed: int = option(1, "Seed of the bootstrap.")
    draws: int = option(20000, "Draws of the bootstrap.", ge=100)
    set: Settings = run_option("set")


def _stories(options: StoryStudyOptions) -> int:
    """Recompute GITA4CALAMITA (Pensa et al. 2024): three tiers of physical commonsense.

    The source is lm-eval's logs or your own models. It prints Table 3 below the published rows,
    every metric with intervals, bias, calibration and breakdowns; recorded prompts and draws are
    rebuilt by hash. Several models are compared in pairs. The exit code is 1 if a published number
    differs.
    """
    from cimento.paradigms.stories.judging import asked_of
    from cimento.studies.stories.record import paired_record, study_record
    from cimento.studies.stories.text import (
        differing,
        metric_sections,
        model_tables,
        paired_grid,
        table_2,
        table_3,
    )

    suite, recorded = _recorded(options)
    runs, code = _runs(options, suite) if options.model else ([], 0)
    models = [*recorded, *_answers(runs)]
    if not models:
        return code
    stories = asked_of(runs[0])[0].asked if runs and not recorded else suite.stories
    sampling = {"seed": options.seed, "draws": options.draws}
    records = {model.model: study_record(stories, model, **sampling) for model in models}
    paired = paired_record(stories, models) if len(models) > 1 else None
    notes = [f"{len(stories)} stories of {suite.name}. The first of tied options is chosen."]
    tables: dict[str, Section | Grid] = {
        "table-2": table_2(stories),
        "table-3": table_3(records, stories, grouping=options.grouping, notes=notes),
    }
    details = [part for record in records.values() for part in model_tables(record)]
    details += [] if paired is None else [paired_grid(paired)]
    if not options.as_json:
        show(as_text([*tables.values(), *details], options.form))
    elif paired is None:
        show_json(next(iter(records.values())), indent=1)
    else:
        show_json({"models": records, "paired_story_class": paired}, indent=1)
    if options.output is not None:
        figures = _figures(suite.name, stories, models, options.output)
        options.write({**tables, "details": details}, figures)
    wrong = sum(differing(metric_sections(record)) for record in records.values())
    if wrong:
        note(f"{wrong} published numbers are not met.")
    return code or int(bool(wrong))


stories = command_of(StoryStudyOptions, _stories)


def _recorded(options: StoryStudyOptions) -> tuple[StorySuite, list[Responses]]:
    """The stories, and the recorded answers to them.

    Raises:
        UsageError: there is no recording and no model, there are no stories, or two share a name.
        InputError: a folder has no logs.
    """
    from cimento.models.recorded.replay import is_log, read_logs
    from cimento.paradigms.stories.formats import read_stories
    from cimento.paradigms.stories.recordings import (
        logged_responses,
        logged_stories,
        read_responses,
    )
    from cimento.paradigms.stories.suite import StorySuite
    from cimento.suites.builtin import find_suite
    from cimento.suites.model import Meta

    _refuse_nothing(options)
    by_path = {path: read_logs(path) for path in options.responses if is_log(path)}
    logs = [log for some in by_path.values() for log in some]
    logged = next(filter(None, map(logged_stories, logs)), None)
    if options.data is not None or logged is None:
        if options.data is None and options.responses:
            raise UsageError(
                where="--responses", seen="they do not hold the stories", todo="Give --data."
            )
        suite = read_stories(find_suite(str(options.data or STARTER)))
    else:
        meta = Meta("gita4calamita", language="it")
        suite = StorySuite(meta=meta, stories=logged, format="gita4calamita")
    models = [logged_responses(log, stories=suite.stories) for log in logs]
    names = Counter(model.model for model in models)
    models = [
        replace(model, model=f"{model.model} ({log.folder.parent.name})")
        if names[model.model] > 1
        else model
        for model, log in zip(models, logs, strict=True)
    ]
    others = [path for path in options.responses if path not in by_path]
    models += [read_responses(path, stories=suite.stories) for path in others]
    twice = [name for name, n in Counter(model.model for model in models).items() if n > 1]
    if twice:
        raise UsageError(
            where="--responses",
            seen=f"two files are called {min(twice)!r}",
            todo="Models are named after their files or folders; rename one.",
        )
    return suite, models


def _refuse_nothing(options: StoryStudyOptions) -> None:
    """Require something to read or to ask.

    Raises:
        UsageError: there is no recording and no model.
        InputError: a folder has no logs.
    """
    from cimento.models.recorded.replay import is_log

    if not (options.responses or options.model):
        raise UsageError(
            where="study stories",
            seen="there is neither --responses nor -m",
            todo=f"Give the authors' logs (results/ of {_WHERE}), or -m MODEL to ask a model.",
        )
    for path in options.responses:
        if path.is_dir() and not is_log(path):
            raise InputError(
                where=str(path),
                seen="no log of lm-eval is there or below: looked for samples_story_class_*.jsonl,"
                " samples_conflict_detec_*.jsonl, samples_physical_state_*.jsonl",
                todo=f"They are in results/ of {_WHERE}. Without them, -m MODEL asks a model, and"
                " the published rows stand beside it.",
            )


def _runs(options: StoryStudyOptions, suite: StorySuite) -> tuple[list[Run], int]:
    """The runs of all models with all prompts, and the exit code."""
    from cimento.cli.evaluating import evaluate_with_progress, report_failures

    asked = suite if suite.path == Path() else str(options.data or STARTER)
    runs: list[Run] = []
    failures = []
    for prompt in options.prompt or ("",):
        settings = {"prompt": prompt} if prompt else {}
        run_options = options.run_options(set={**options.set, **settings})
        done, failed = evaluate_with_progress([asked], options.model, run_options)
        runs += done
        failures += failed
    return runs, report_failures(runs, failures)


def _answers(runs: Sequence[Run]) -> list[Responses]:
    """The answers in some runs; two prompts of one model get two names."""
    from cimento.paradigms.stories.judging import judged_run
    from cimento.paradigms.stories.recordings import Responses
    from cimento.paradigms.stories.variation import names_of

    return [
        Responses(model=name, answers=tuple(outcome.answer for outcome in judged_run(run).outcomes))
        for name, run in zip(names_of(runs), runs, strict=True)
    ]


def _figures(
    name: str, stories: Sequence[Story], models: Sequence[Responses], folder: Path
) -> list[Path]:
    """The figures of a report on stories, for all models; none if they cannot be drawn."""
    from cimento.paradigms.stories.judging import judge_stories
    from cimento.paradigms.stories.sections import story_figures
    from cimento.report.figures import lacking_figures, write_figures

    if lacking := lacking_figures():
        note(lacking)
        return []
    judged = {
        model.model: judge_stories(stories, model.answers, first_of_ties=True) for model in models
    }
    return write_figures(story_figures(name, judged), folder)
