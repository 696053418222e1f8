"""``cimento judge``: outcomes again from stored tables, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.flags import command_of
from cimento.cli.stored_options import StoredOptions
from cimento.options import JudgingOptions, option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.runs.run import Run


class JudgeOptions(StoredOptions, JudgingOptions):
    """Which runs are judged again, and how."""

    as_json: bool = option(default=False, help="Print the summary as JSON.", flags=("--json",))
    items: bool = option(default=False, help="Print the verdict of every item (TSV).")
    scores: bool = option(default=False, help="Print the measures of every sentence (TSV).")
    output: Path | None = option(None, "Store the judged runs here.", flags=("-o",))


def _judge(options: JudgeOptions) -> int:
    """Judge stored answers again, with another metric, measure, unit, prediction or dictionary.

    What is not given stays as the run was judged. Nothing is scored, and the stored runs stay as
    they are.
    """
    from cimento.cli.console import note, show_tables
    from cimento.cli.evaluating import show_ends
    from cimento.errors import UsageError
    from cimento.paradigms.regions.judging import on_each_measure
    from cimento.runs.honouring import refuse_unused, unused_options
    from cimento.runs.run import open_runs
    from cimento.runs.store import RunFolder

    stored = open_runs(options.runs)
    refuse_unused((run.paradigm for run in stored), options)
    for line in unused_options(stored, options):
        note(f"cimento: {line}")
    opened = [_judged(run, options) for run in stored]
    if options.scores:
        _show_scores(opened, options)
        return 0
    judged = [each for run in opened for each in on_each_measure(run, options.measures)]
    if options.output is not None:
        if len(judged) > len(opened):
            raise UsageError(
                where="--output",
                seen="a run is stored with one judging, and there are several measures",
                todo="Give one measure.",
            )
        judged = [
            run.save(RunFolder.below(options.output, suite=run.suite.name, name=_folder_name(run)))
            for run in judged
        ]
    if options.items:
        show_tables(run.outcomes() for run in judged)
        return 0
    return show_ends(judged, (), output=None, as_json=options.as_json)


judge = command_of(JudgeOptions, _judge, positional="runs", metavar="RUN...")


def _judged(run: Run, options: JudgeOptions) -> Run:
    """A run with the options that were given and that its paradigm has, but for measures.

    Raises:
        UsageError: an option has none of its values, or changes what is asked.
    """
    known = type(run.options).model_fields.keys() - {"measure", "also"}
    given = {name: value for name, value in options.given.items() if name in known}
    return run.judge(**given)


def _show_scores(runs: Sequence[Run], options: JudgeOptions) -> None:
    """Print the measures of every sentence.

    Raises:
        UsageError: no run has scored sentences.
    """
    from cimento.cli.console import show_tables
    from cimento.cli.reports import has_sentences
    from cimento.errors import UsageError
    from cimento.paradigms.regions.judging import scores_of

    scored = [run for run in runs if has_sentences(run)]
    if not scored:
        kinds = ", ".join(dict.fromkeys(run.paradigm.name for run in runs))
        raise UsageError(
            where="--scores",
            seen=f"runs of the kind {kinds} have no scored sentences",
            todo="Give runs of regions or ratings; --items prints what became of every item.",
        )
    show_tables(scores_of(run, options.measures) for run in scored)


def _folder_name(run: Run) -> str:
    return run.folder.name if run.folder else run.model
