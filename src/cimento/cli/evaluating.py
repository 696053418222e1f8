"""An evaluation on the command line: progress, summary, failures, exit code."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from cimento.cli.console import note, show, write_drawn
from cimento.engine.cache import AnswerCache, FileCache, MemoryCache
from cimento.engine.engines import ONE_WORKER, Engine
from cimento.errors import counted
from cimento.evaluation import Failure, run_all, suites_to_run
from cimento.evaluation.again import stored_runs
from cimento.evaluation.honored import unused_options
from cimento.intake.reading import READ
from cimento.io.files import default_cache_folder
from cimento.kinds.clusters import designs_said
from cimento.kinds.packages import other_versions
from cimento.kinds.run import Run
from cimento.records.blanks import first_hits, reach_of
from cimento.records.computed import computed
from cimento.records.progress import (
    FEWEST_TIMED,
    SHORTEST_S,
    LineClock,
    RunTimes,
    seconds_between_lines,
)
from cimento.records.store import manifest_part
from cimento.records.summary import Missing, RunSummary, Summary
from cimento.records.usage import USAGE, stored_usage
from cimento.report.benchmarks import benchmark_means

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import Progress

    from cimento.evaluation import ProgressFor
    from cimento.kinds.registry import SuiteLike
    from cimento.options import RunOptions
    from cimento.suites import JsonValue

PART_MISSING = 3
_MOST_IN_FULL = 3
"""Suites of which everything is printed; of more there is a row each."""


def show_ends(
    runs: Sequence[Run],
    failures: Sequence[Failure],
    *,
    output: Path | None,
    as_json: bool,
    dtype: str = "auto",
) -> int:
    """Print some runs as their paradigms show them, or as JSON, and failures; the exit code.

    Args:
        runs: the runs.
        failures: pairs of suite and model whose run failed.
        output: folder of the runs; None where they are not stored.
        as_json: whether to print JSON.
        dtype: number format that was asked for.
    """
    if as_json:
        show(summary_json(runs, failures))
    elif runs:
        brief = output is not None and not _judged_otherwise(runs)
        show_runs(runs, summed=(summed := _summed(runs)), brief=brief)
        if summed:
            named = f"cimento show {shlex.quote(str(output))}" if output else "a single suite"
            note(f"This is a row for each suite; {named} has everything.")
    if runs and not as_json:
        _note_readings(runs)
        _note_places(runs, asked=dtype != "auto")
    if output is not None and runs and not _note_judged_otherwise(runs) and not as_json:
        named = shlex.quote(str(output))
        note(f"Stored in {output}. For a page to read: cimento report {named} -o report.html")
        if any(map(_has_phenomena, runs)):
            note(f"Accuracy by phenomenon: cimento report {named} --table phenomena")
    code = report_failures(runs, failures)
    empty = list(filter(None, map(_nothing_scored, runs)))
    for line in empty:
        note(f"cimento: {line}")
    return PART_MISSING if code == 0 and empty else code


def _has_phenomena(run: Run) -> bool:
    """Whether there is a table with a rate for each of several phenomena of a run."""
    levels = {one.level for one in run.summary().phenomena}
    return len(levels) > 1 and "phenomena" in run.paradigm.presenter.tables


def _summed(runs: Sequence[Run]) -> str:
    """The text that sums up many suites; empty for few, or where nothing is judged."""
    if len({run.suite.name for run in runs}) <= _MOST_IN_FULL:
        return ""
    from cimento.documents import brief

    return brief(runs)


def _note_readings(runs: Sequence[Run]) -> None:
    """Say what the tables of some runs were read as."""
    readings = {run.suite_name: manifest_part(run.manifest, "suite").get(READ) for run in runs}
    for name, read in readings.items():
        if read:
            note(f"{name}: {read}")


def _note_places(runs: Sequence[Run], *, asked: bool) -> None:
    """Say where the models of some runs computed, and in which number format."""
    places: dict[str, dict[str, None]] = {}
    for run in runs:
        if place := computed(manifest_part(run.manifest, "model"), asked=asked):
            places.setdefault(place, {})[run.model] = None
    for place, models in places.items():
        whose = f"{', '.join(models)}: " if len(places) > 1 else ""
        note(f"{whose}{'computed' if whose else 'Computed'} {place}.")


def _judged_otherwise(runs: Sequence[Run]) -> dict[str, list[str]]:
    """How the judging of some stored runs differs from what is stored, mapped to these runs."""
    differing: dict[str, list[str]] = {}
    for run in runs:
        stored = manifest_part(run.manifest, "options")
        here = run.options.model_dump(mode="json")
        changed = [
            f"{name} is {_plainly(here[name])} here and {_plainly(stored[name])} there"
            for name in here
            if name in stored and here[name] != stored[name]
        ]
        if changed:
            differing.setdefault("; ".join(changed), []).append(f"{run.suite_name} x {run.model}")
    return differing


def _note_judged_otherwise(runs: Sequence[Run]) -> bool:
    """Say of runs that were stored before how the judging shown differs from what is stored."""
    differing = _judged_otherwise(runs)
    for differences, names in differing.items():
        note(
            f"cimento: {', '.join(names)}: these numbers are not stored. What was stored before is"
            f" judged with other options ({differences}), and report, show, compare and cite use"
            " that. Repeat the command with --force to store these numbers in its place, or give"
            " the options to `cimento judge RUN -o FOLDER` to store them elsewhere."
        )
    return bool(differing)


def _plainly(value: JsonValue) -> str:
    """An option's value in a sentence."""
    if value in (None, "", []):
        return "not given"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def summary_json(runs: Sequence[Run], failures: Sequence[Failure]) -> str:
    """The JSON summary of some runs and failures; see docs/parts/tables.md."""
    missing = tuple(
        Missing(suite=failure.suite, model=failure.model, message=str(failure.error))
        for failure in failures
    )
    summaries = tuple(run.summary(with_outcomes=True) for run in runs)
    means = benchmark_means(summaries)
    return Summary(runs=summaries, missing=missing, means=means).to_json()


def _nothing_scored(run: Run) -> str:
    """A warning about a run none of whose items could be scored."""
    headline = run.summary().headline
    if headline is None or headline.n or not headline.unscored:
        return ""
    if headline == first_hits(run.estimates()) and reach_of(run.estimates()) is not None:
        return ""  # its answers have surprisals, and the notes say why there are no hits
    return f"{run.suite.name} x {run.model}: no item could be scored; the notes give the reason"


def evaluate_with_progress(
    suites: Sequence[SuiteLike],
    models: Sequence[str],
    run_options: RunOptions,
    *,
    engine: Engine = ONE_WORKER,
    ask: bool = True,
) -> tuple[list[Run], list[Failure]]:
    """Evaluate every suite of any kind with every model; returns the runs and the failures.

    Args:
        suites: suites, as for `cimento.evaluation.evaluate`.
        models: names of the models.
        run_options: options of the runs.
        engine: engine that does the work.
        ask: whether to ask models; otherwise existing parts are merged.

    Raises:
        CimentoError: a suite is unusable, or nothing can be written.
    """
    if engine.share is None and (stored := stored_runs(suites, models, run_options)) is not None:
        note("All runs were stored before: they are shown, not repeated (--force repeats them).")
        _note_other_versions(stored)
        return stored, []
    loaded = suites_to_run(suites, language=run_options.language, columns=run_options.roles)
    for line in unused_options(loaded, run_options):
        note(f"cimento: {line}")
    keeps = not run_options.no_cache
    with progress_bars() as progress, opened_cache(keep_answers=keeps) as cache:
        ends = list(
            run_all(
                loaded,
                list(dict.fromkeys(models)),
                run_options,
                cache=cache if keeps else None,
                engine=engine,
                ask=ask,
                progress=progress,
                note=lambda message: note(f"cimento: {message}"),
            )
        )
    runs = [end for end in ends if isinstance(end, Run)]
    if not any(argument.startswith("device_map") for argument in run_options.model_args):
        _note_other_devices(runs, run_options.device)
    _note_other_versions(runs)
    return runs, [end for end in ends if isinstance(end, Failure)]


def _note_other_versions(runs: Sequence[Run]) -> None:
    """Say of stored runs that the installed version of a plug-in is not the one they used."""
    for run in runs:
        for remark in other_versions(run.manifest):
            note(
                f"cimento: {run.suite_name} x {run.model}: this run was stored before: {remark};"
                " --force repeats it"
            )


_DEVICES = ("cpu", "cuda", "mps")


def _note_other_devices(runs: Sequence[Run], device: str) -> None:
    """Say of stored runs that they come from another kind of device than was asked for.

    The device is not part of a run's name, and a new run is always computed where it was asked for.
    """
    wanted = device.partition(":")[0]
    for run in runs if wanted in _DEVICES else ():
        card = manifest_part(run.manifest, "model")
        had = str(card.get("device", "")).partition(":")[0]
        if had in _DEVICES and had != wanted:
            note(
                f"cimento: {run.suite_name} x {run.model}: this run was stored before, and was"
                f" computed on {had}; --force computes it again on {device}"
            )


def show_runs(runs: Sequence[Run], *, summed: str = "", brief: bool = True) -> None:
    """Print what the paradigms show of some runs, or a text that sums them up.

    Args:
        runs: of any kinds.
        summed: the text that sums them up; empty if there is none.
        brief: whether to print about a screen of stored runs, from which `show` prints the rest.
    """
    if summed:
        show(summed)
    for paradigm in dict.fromkeys(run.paradigm for run in runs if not summed):
        of_paradigm = [run for run in runs if run.paradigm is paradigm]
        show(paradigm.presenter.text(of_paradigm, brief=brief))
    if (designs := designs_said(runs)) and not summed:
        show("\n".join(["", *designs]))
    asked = [run for run in runs if USAGE in run.manifest]
    used = [(run, stored_usage(run.manifest)) for run in asked]
    lines = [f"{run.suite.name}, {run.model}: {usage.text}." for run, usage in used if usage]
    if lines:
        show("\n".join(["", "Requests to servers, as they count them", *lines]))


def report_failures(runs: Sequence[object], failures: Sequence[Failure]) -> int:
    """Report the failures, each message once, and return the exit code.

    The code is 0 if all is done and 3 if a part is missing. If nothing was done, it is 2 if all
    failures are due to invalid input or names, and 1 otherwise. ``CIMENTO_DEBUG=1`` adds where each
    happened.
    """
    for error in [failure.error for failure in failures] if os.environ.get("CIMENTO_DEBUG") else ():
        note("".join(traceback.format_exception(error)))
    for message in dict.fromkeys(str(failure.error) for failure in failures):
        note(f"cimento: {message}")
    if not failures:
        return 0
    if not runs:
        return min(failure.error.exit_code for failure in failures)
    note(f"cimento: not run: {_listed(failures)}")
    return PART_MISSING


_MOST_LISTED = 6


def _listed(failures: Sequence[Failure]) -> str:
    """The runs that failed; of many, how many of each model, since an array may have thousands."""
    if len(failures) <= _MOST_LISTED:
        return ", ".join(f"{failure.suite} on {failure.model}" for failure in failures)
    by_model = Counter(failure.model for failure in failures)
    parts = [f"{counted(n, 'suite')} on {model}" for model, n in by_model.items()]
    rest = len(parts) - _MOST_LISTED
    more = f" and on {counted(rest, 'more model')}" if rest > 0 else ""
    return f"{', '.join(parts[:_MOST_LISTED])}{more}, {len(failures):,} runs in all"


def report_figures(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Write the figures of a report on some runs; say why where they cannot be drawn.

    Args:
        runs: of any kinds.
        folder: the files are written into it.

    Raises:
        StorageError: a file cannot be written.
    """
    from cimento.documents import sections_of

    return write_drawn(
        lambda: (figure for section in sections_of(runs) for figure in section.figures), folder
    )


def runs_under(runs: Sequence[Run], least: float | None) -> list[str]:
    """A message for each run whose rate is too low, and an empty one for each other run.

    Args:
        runs: runs of any kinds; those with a correlation as headline have no rate.
        least: the lowest rate, a share; None if there is no limit.
    """
    return ["" if least is None else _under(run.summary(), least) for run in runs]


def partly_scored(runs: Sequence[Run]) -> list[str]:
    """A message for each run whose rate leaves out items that could not be scored."""
    headlines = [(run, run.summary().headline) for run in runs]
    return [
        f"{run.suite.name} x {run.model}: only {head.n} of {head.n + head.unscored} items are in"
        " the rate, the others could not be scored. --allow-partial accepts this."
        for run, head in headlines
        if head is not None and head.n and head.unscored
    ]


def _under(summary: RunSummary, least: float) -> str:
    run = f"{summary.suite} x {summary.model}"
    headline = summary.headline
    if headline is None:
        return f"{run}: nothing is judged, so there is no rate to reach {least:g}"
    if not headline.is_share:
        return f"{run}: {headline.statistic} sums it up, so there is no rate to reach {least:g}"
    if headline.value is None:
        return f"{run}: {headline.statistic} is undefined ({headline.reason})"
    if headline.value < least:
        return f"{run}: {headline.statistic} {headline.value:.3f} is under {least:g}"
    return ""


@contextlib.contextmanager
def opened_cache(*, keep_answers: bool) -> Iterator[AnswerCache]:
    """The cache of answers during a command; if no answers are kept, an empty temporary one."""
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
    """Progress with rate and time left on standard error: bars in a terminal, lines elsewhere.

    A line is written every ten seconds, or as often as the environment says.
    """
    if sys.stderr is None:
        yield None
        return
    if not sys.stderr.isatty():
        clock = LineClock(seconds_between_lines(), time.monotonic())
        yield lambda suite, model: _noting(RunTimes(f"{suite} x {model}", clock))
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    # The last default column is the time left, which `_Bar` gives once it can be estimated.
    usual = Progress.get_default_columns()[:-1]
    columns = (*usual, TextColumn("{task.fields[left]}"), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield lambda suite, model: _Bar(bars, f"{suite} x {model}")


def _noting(timed: RunTimes) -> Callable[[int, int], None]:
    """A `cimento.engine.scores.Progress` that notes the lines of one run."""

    def note_due(done: int, total: int) -> None:
        if progress := timed.due(done, total):
            note(str(progress))

    return note_due


class _Bar:
    """The progress bar of one run; a `cimento.engine.scores.Progress`."""

    def __init__(self, bars: Progress, title: str) -> None:
        self._bars = bars
        self._task = bars.add_task(title, total=None, rate="", left="")

    def __call__(self, done: int, total: int) -> None:
        self._bars.update(self._task, completed=done, total=total)
        task = next(task for task in self._bars.tasks if task.id == self._task)
        if task.speed is not None and done >= FEWEST_TIMED and (task.elapsed or 0.0) >= SHORTEST_S:
            left = timedelta(seconds=round(task.time_remaining or 0.0))
            self._bars.update(self._task, rate=f"{task.speed:.1f} texts/s", left=f"{left} left")
