"""``cimento run`` for suites of the kind ``stories``: three tiers, beside constant answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show
from cimento.cli.evaluating import PART_MISSING
from cimento.cli.kinds import keep_options
from cimento.cli.stories_text import (
    comparison_notes,
    comparison_rows,
    run_notes,
    run_tables,
)
from cimento.errors import CimentoError, StorageError
from cimento.markup import columns
from cimento.runs.store import RunFolder
from cimento.sources import shown_name
from cimento.stories.as_json import as_json
from cimento.stories.compare import Comparison, compare
from cimento.stories.question_answers import question_rates
from cimento.stories.readers import StoryFile, read_stories
from cimento.stories.running import StoryEvaluation, StoryRun
from cimento.stories.settings import parse_story_settings
from cimento.stories.summary import Judged, judge_stories, summarize
from cimento.suites.builtin import find_suite
from cimento.suites.load import suite_paths

if TYPE_CHECKING:
    from cimento.cli.kinds import KindRun
    from cimento.suites.model import JsonValue


def run_stories(suites: Sequence[str], models: Sequence[str], how: KindRun) -> int:
    """Ask models about stories, store the runs, print the tables; return the exit code.

    Raises:
        CimentoError: an option or a file of stories cannot be used.
    """
    evaluation = _evaluation(how)
    files = [read_stories(path) for name in suites for path in suite_paths(find_suite(name))]
    runs, failures = _run_all(files, models, evaluation)
    seed = how.evaluation.judging.seed
    judged = [(run, judge_stories(run.stories, run.answers)) for run in runs]
    summaries = [_summary(run, each, seed=seed) for run, each in judged]
    compared = {file.name: _compared(file, judged) for file in files}
    for run, summary in zip(runs, summaries, strict=True):
        _store_summary(run, summary)
        keep_options(run.folder, how)
    if how.as_json:
        whole: JsonValue = {
            "stories_summary": 1,
            "runs": list(summaries),
            "comparisons": {name: as_json(found) for name, found in compared.items() if found},
            "missing": [{"model": model, "message": str(error)} for model, error in failures],
        }
        show(json.dumps(whole, ensure_ascii=False, indent=2))
    elif runs:
        _show(runs, summaries, compared)
    for run in runs:
        for warning in run.warnings:
            note(f"cimento: {run.model}: {warning}")
    stored = [str(run.folder) for run in runs if run.folder is not None]
    if stored:
        note("\n".join(f"Stored in {folder}" for folder in stored))
        if any(run.answers for run in runs):
            note("What went wrong is there to read: failures.html")
    return _exit_code(runs, failures)


def stories_stored(paths: Sequence[str], model: str, how: KindRun) -> list[bool]:
    """Whether the runs of files of stories with a model are stored.

    Raises:
        CimentoError: an option, a file of stories or the model cannot be used.
    """
    evaluation = _evaluation(how)
    return [evaluation.is_stored(read_stories(Path(path)), model) for path in paths]


def _evaluation(how: KindRun) -> StoryEvaluation:
    return StoryEvaluation(
        asking=how.evaluation.asking,
        settings=parse_story_settings(how.options),
        output=how.evaluation.output,
        force=how.evaluation.force,
    )


def _run_all(
    files: Sequence[StoryFile], models: Sequence[str], evaluation: StoryEvaluation
) -> tuple[list[StoryRun], list[tuple[str, CimentoError]]]:
    runs: list[StoryRun] = []
    failures: list[tuple[str, CimentoError]] = []
    for model in models:
        for file in files:
            name = shown_name(model)
            try:
                runs.append(evaluation.run(file, model, told=_progress(f"{file.name} x {name}")))
            except StorageError:
                raise
            except CimentoError as error:
                failures.append((name, error))
    return runs, failures


def _summary(run: StoryRun, judged: Judged, *, seed: int) -> dict[str, JsonValue]:
    prompt = run.manifest.get("prompt")
    return {
        "suite": run.suite,
        "model": run.model,
        "folder": str(run.folder) if run.folder else None,
        "prompt": prompt,
        "warnings": list(run.warnings),
        **(
            {"questions": as_json(question_rates(run.questions, run.stories))}
            if run.questions
            else summarize(judged, seed=seed)
        ),
    }


def _compared(file: StoryFile, judged: Sequence[tuple[StoryRun, Judged]]) -> tuple[Comparison, ...]:
    chains = {
        run.model: each.chained
        for run, each in judged
        if run.suite == file.name and not run.questions
    }
    return compare(chains) if len(chains) > 1 else ()


def _store_summary(run: StoryRun, summary: dict[str, JsonValue]) -> None:
    """The summary and the page of failures, beside the tables of the run."""
    from cimento.files import write_text
    from cimento.stories.page import write_page

    if run.folder is None:
        return
    text = json.dumps(summary, ensure_ascii=False, indent=2)
    write_text(text + "\n", run.folder / "summary.json")
    RunFolder(run.folder).tell(_told(run, summary))
    if not run.questions:
        write_page(run, run.folder / "failures.html")


def _show(
    runs: Sequence[StoryRun],
    summaries: Sequence[dict[str, JsonValue]],
    compared: dict[str, tuple[Comparison, ...]],
) -> None:
    for run, summary in zip(runs, summaries, strict=True):
        show(_told(run, summary) + "\n")
    for name, found in compared.items():
        if found:
            kinds = [_kind(run) for run in runs if run.suite == name]
            lines = [
                f"{name}: models against each other, first tier; change: second minus first",
                columns(comparison_rows(found), indent=2),
                *(f"  {note}" for note in comparison_notes(found, kinds)),
            ]
            show("\n".join(lines) + "\n")


def _kind(run: StoryRun) -> str:
    model = run.manifest.get("model")
    return str(model.get("kind", "")) if isinstance(model, dict) else ""


def _told(run: StoryRun, summary: dict[str, JsonValue]) -> str:
    """The tables of one run as text."""
    tables = [f"{title}\n{columns(rows, indent=2)}" for title, rows in run_tables(summary).items()]
    notes = "\n".join(run_notes(summary))
    return "\n\n".join([f"{run.suite}  {run.model}", *tables, *([notes] if notes else [])])


def _exit_code(runs: Sequence[StoryRun], failures: Sequence[tuple[str, CimentoError]]) -> int:
    for message in dict.fromkeys(str(error) for _, error in failures):
        note(f"cimento: {message}")
    if not failures:
        return 0
    return PART_MISSING if runs else min(error.exit_code for _, error in failures)


def _progress(title: str) -> Callable[[int, int], None] | None:
    """A line on standard error that says how far a tier is, where that is a terminal."""
    if not sys.stderr.isatty():
        return None

    def told(done: int, total: int) -> None:
        end = "\n" if done == total else "\r"
        sys.stderr.write(f"{title}: {done}/{total}{end}")
        sys.stderr.flush()

    return told
