"""The commands that plan, do, spread and collect runs: all take `RunOptions`, and run files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from cimento.cli.flags import command_of
from cimento.cli.run_file import with_run_file
from cimento.errors import UsageError
from cimento.options import RunOptions

if TYPE_CHECKING:
    from cimento.cli.kinds import KindRun

RunOptionsT = TypeVar("RunOptionsT", bound=RunOptions)


def run_command(
    model: type[RunOptionsT], action: Callable[[RunOptionsT], int]
) -> Callable[..., int]:
    """A command with the options of a run.

    Args:
        model: `RunOptions`, or these with options of the command.
        action: what it does; its docstring is the help of the command.
    """

    def act(options: RunOptionsT) -> int:
        from cimento.engine.engines import steady_arithmetic

        steady_arithmetic()
        _need("SUITE", "suites", options.suites)
        _need("--model", "models", options.models)
        return action(options)

    act.__doc__, act.__name__ = action.__doc__, action.__name__.strip("_")
    return command_of(
        model,
        act,
        positional="suites",
        metavar="SUITE...|RUN.toml",
        read=lambda given: with_run_file(model, given),
    )


def kind_run(options: RunOptions) -> KindRun:
    """What the runners of kinds take.

    Raises:
        UsageError: options do not go together.
    """
    from cimento.cli.kinds import KindRun
    from cimento.compat import OURS, find_compat
    from cimento.engine.engines import Engine
    from cimento.measures import judged_on
    from cimento.regions_api import Evaluation

    base = find_compat(options.compat) if options.compat else OURS
    measures = judged_on(options.measures or base.measures)
    given: dict[str, Any] = {
        "metric": options.metric,
        "unit": options.unit,
        "unigrams": options.unigrams,
        "unscored_first": options.unscored_first,
        "ties": options.ties,
        "near_tie_bits": options.near_ties,
        "measure": measures[0] if measures else None,
        "also": tuple(measures[1:]) or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    judging = replace(base.judging, predictions=options.predictions, seed=options.seed, **chosen)
    evaluation = Evaluation(
        asking=options.scoring,
        judging=judging,
        output=options.output,
        force=options.force,
        run_file=options.run_file,
    )
    return KindRun(
        evaluation=evaluation,
        as_json=options.as_json,
        keep_answers=not options.no_cache,
        measures=measures,
        options=options.set,
        engine=Engine(name=options.engine, workers=options.workers),
        run_options=options,
    )


def _need(where: str, name: str, given: tuple[str, ...]) -> None:
    """See that there is something to run.

    Raises:
        UsageError: there is not.
    """
    if not given:
        raise UsageError(
            where=where,
            seen=f"no {name} are given",
            todo="Give SUITE... -m MODEL..., or a run file that names them.",
        )
