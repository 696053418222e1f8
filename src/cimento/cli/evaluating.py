"""What ``run`` and ``demo`` share: evaluate, report progress, show the summary, say what failed."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.api import Evaluation, Failure, evaluate_all
from cimento.cache import AnswerCache, FileCache, MemoryCache, default_cache_folder
from cimento.cli.console import note, show
from cimento.cli.designs import show_designs
from cimento.report.summary import Missing, Summary, to_json
from cimento.report.text import terminal_table
from cimento.results import Run, summarise

if TYPE_CHECKING:
    from rich.progress import Progress

    from cimento.api import ProgressFor, SuiteLike
    from cimento.cli.kinds import KindRun

PART_MISSING = 3


def run_regions(suites: Sequence[str], models: Sequence[str], how: KindRun) -> int:
    """Evaluate suites of regions, print the table or the JSON, and return the exit code."""
    outcomes = _scheduled(suites, models, how)
    if how.engine.share is not None:
        failures = [each for each in outcomes if isinstance(each, Failure)]
        return report_failures([how.engine.share], failures)
    return show_regions(outcomes, how)


def show_regions(outcomes: Sequence[Run | Failure], how: KindRun) -> int:
    """Print the table or the JSON of runs of suites of regions, and return the exit code."""
    evaluation = how.evaluation
    runs = [each for each in outcomes if isinstance(each, Run)]
    failures = [each for each in outcomes if isinstance(each, Failure)]
    missing = [_missing(failure) for failure in failures]
    judged = [each for run in runs for each in run.judge_on(how.measures)]
    summary = summarise(judged, missing=missing, with_verdicts=how.as_json)
    if how.as_json:
        show(to_json(summary))
    elif runs:
        show_table(summary)
        show_designs(runs, how.measures, evaluation.output)
        folder = evaluation.output
        note(f"Stored in {folder}. For a page to read: cimento report {folder} -o report.html")
    return report_failures(runs, failures)


def _scheduled(suites: Sequence[str], models: Sequence[str], how: KindRun) -> list[Run | Failure]:
    """Have units done by an engine and put runs together.

    Of a share of the units no run is put together, but what failed is told.
    """
    from cimento.scheduling.doing import do_units
    from cimento.scheduling.merging import failures, finish, keep_answers
    from cimento.scheduling.work import plan_work

    engine, device = how.engine, how.device(models)
    work = plan_work(suites, models, how.evaluation, keep=how.keep_answers)
    with progress_bars() as progress, opened_cache(keep_answers=how.keep_answers) as cache:
        done = do_units(
            work,
            lambda number: engine.open(number, device=device),
            alone=engine.is_alone(device),
            share=engine.share,
            progress=progress,
        )
        if engine.share is not None:
            return list(failures(work, done.failed))
        outcomes = list(finish(work, done.failed, cache=cache, progress=progress))
        keep_answers(work, cache)
    return outcomes


def evaluate_with_progress(
    suites: Sequence[SuiteLike],
    models: Sequence[str],
    evaluation: Evaluation,
    *,
    keep_answers: bool,
) -> tuple[list[Run], list[Failure]]:
    """Evaluate every suite with every model; what was done, and what failed."""
    runs: list[Run] = []
    failures: list[Failure] = []
    with progress_bars() as progress, opened_cache(keep_answers=keep_answers) as cache:
        for outcome in evaluate_all(suites, models, evaluation, cache=cache, progress=progress):
            if isinstance(outcome, Run):
                runs.append(outcome)
            else:
                failures.append(outcome)
    return runs, failures


def show_table(summary: Summary) -> None:
    """Print the table of a summary, as wide as the terminal."""
    colour = sys.stdout.isatty()
    width = shutil.get_terminal_size((80, 24)).columns if colour else 80
    show(terminal_table(summary, width=width, colour=colour))


def report_failures(runs: Sequence[object], failures: Sequence[Failure]) -> int:
    """Say what could not be run, each message once, and return the exit code.

    0: all done; 3: a part is missing; where nothing was done, the first error's own code.
    """
    for message in dict.fromkeys(str(failure.error) for failure in failures):
        note(f"cimento: {message}")
    if not failures:
        return 0
    if not runs:
        return failures[0].error.exit_code
    missing = ", ".join(f"{failure.suite} x {failure.model}" for failure in failures)
    note(f"cimento: missing: {missing}")
    return PART_MISSING


def _missing(failure: Failure) -> Missing:
    return Missing(suite=failure.suite, model=failure.model, message=str(failure.error))


@contextlib.contextmanager
def opened_cache(*, keep_answers: bool) -> Iterator[AnswerCache]:
    """The cache of answers while they are asked for; one that forgets, where none are kept."""
    if not keep_answers:
        yield MemoryCache()
        return
    cache = FileCache(default_cache_folder())
    try:
        yield cache
    finally:
        cache.close()


@contextlib.contextmanager
def progress_bars() -> Iterator[ProgressFor | None]:
    """A progress bar on standard error, where that is a terminal; else nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        yield lambda suite, model: _Bar(bars, f"{suite} x {model}")


class _Bar:
    """The line of one run; a `cimento.engine.Progress`."""

    def __init__(self, bars: Progress, title: str) -> None:
        self._bars = bars
        self._task = bars.add_task(title, total=None)

    def __call__(self, done: int, total: int) -> None:
        self._bars.update(self._task, completed=done, total=total)
