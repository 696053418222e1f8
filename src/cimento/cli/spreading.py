"""Suites of kinds that are asked whole, spread over workers: one task for each suite and model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.cli.console import note
from cimento.cli.evaluating import PART_MISSING
from cimento.cli.kinds import RUNNERS, KindRun, find_runner, find_stored_test
from cimento.engine.engines import LOCAL, in_share
from cimento.errors import CimentoError, ModelError, StorageError
from cimento.scheduling.driving import drive
from cimento.scheduling.engines import opened
from cimento.scheduling.tasks import CallTask
from cimento.sources import shown_name
from cimento.suites.builtin import find_suite
from cimento.suites.load import suite_paths

Pair = tuple[str, str]
"""Path of a suite and name of a model."""

_NOT_STORED = ModelError(
    where="", seen="it is not stored yet", todo="Run again: what is done stays done."
)


@dataclass(frozen=True, slots=True)
class Lacking:
    """The runs of suites of one kind, and which of them cannot be shown.

    Attributes:
        kind: of the suites.
        pairs: all of them.
        missing: why, for those.
    """

    kind: str
    pairs: tuple[Pair, ...]
    missing: Mapping[Pair, CimentoError]

    def lines(self) -> list[str]:
        """What is missing, in words."""
        return [f"{_named(pair)}: {error}" for pair, error in self.missing.items()]


def run_spread(kind: str, suites: Sequence[str], models: Sequence[str], how: KindRun) -> int:
    """Run suites with models, each pair by one worker, then show all of it from what is stored.

    What a worker could not do for a reason is tried again here, where the reason is told; what
    ended a worker is not.

    Args:
        kind: of the suites.
        suites: names and paths.
        models: names.
        how: everything else.

    Returns:
        The exit code.
    """
    pairs = _pairs(suites, models)
    quiet = replace(how, as_json=False, engine=LOCAL)
    function = f"{__name__}:run_one"
    tasks = [
        (model, CallTask(model=model, function=function, arguments=(kind, path, model, quiet)))
        for path, model in pairs
    ]
    if how.engine.share is not None:
        share = how.engine.share
        tasks = [each for n, each in enumerate(tasks) if in_share(n, len(tasks), share)]
    with opened(how.engine, len(tasks), device=how.device(models)) as pool:
        driven = drive(tasks, pool, alone=frozenset(models))
    if how.engine.share is not None:
        for message in dict.fromkeys(str(each.error()) for each in driven.troubles.values()):
            note(f"cimento: {message}")
        return PART_MISSING if driven.troubles else 0
    died = {pairs[number]: each.error() for number, each in driven.troubles.items() if each.died}
    return show_stored(Lacking(kind, pairs, died), replace(how, engine=LOCAL))


def run_one(kind: str, suite: str, model: str, how: KindRun) -> None:
    """One suite with one model, in a worker; the run is stored.

    Raises:
        CimentoError: it could not be run.
    """
    code = find_runner(RUNNERS[kind])([suite], [model], how)
    if code:
        raise CimentoError(where=f"{suite} x {shown_name(model)}", seen="it could not be run")


def lacking(kind: str, suites: Sequence[str], models: Sequence[str], how: KindRun) -> Lacking:
    """The runs that are not stored; nothing is loaded.

    Raises:
        CimentoError: a suite or an option cannot be used.
    """
    pairs = _pairs(suites, models)
    is_stored = find_stored_test(kind)
    missing: dict[Pair, CimentoError] = {}
    for model in dict.fromkeys(models):
        paths = [path for path, each in pairs if each == model]
        try:
            stored = is_stored(paths, model, how)
        except StorageError:
            raise
        except CimentoError as error:
            missing |= {(path, model): error for path in paths}
            continue
        absent = [path for path, there in zip(paths, stored, strict=True) if not there]
        missing |= {(path, model): _NOT_STORED for path in absent}
    return Lacking(kind, pairs, missing)


def show_stored(found: Lacking, how: KindRun) -> int:
    """Show the runs that are not missing, suites with the same models together; the exit code."""
    groups: dict[tuple[str, ...], dict[str, None]] = {}
    for path in dict.fromkeys(path for path, _ in found.pairs):
        models = tuple(
            model
            for each, model in found.pairs
            if each == path and (path, model) not in found.missing
        )
        groups.setdefault(models, {})[path] = None
    runner = find_runner(RUNNERS[found.kind])
    codes = [runner(list(some), models, how) for models, some in groups.items() if models]
    if not found.missing:
        return max(codes, default=0)
    for message in dict.fromkeys(map(str, found.missing.values())):
        note(f"cimento: {message}")
    note(f"cimento: missing: {', '.join(map(_named, found.missing))}")
    return PART_MISSING if codes else 1


def _pairs(suites: Sequence[str], models: Sequence[str]) -> tuple[Pair, ...]:
    """Every suite with every model, model by model."""
    paths = [str(path) for name in suites for path in suite_paths(find_suite(name))]
    return tuple((path, model) for model in dict.fromkeys(models) for path in paths)


def _named(pair: Pair) -> str:
    return f"{Path(pair[0]).name} x {shown_name(pair[1])}"
