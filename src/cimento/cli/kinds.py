"""From a suite to what runs suites of its kind; each kind is imported when it is first needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, cast

from cimento.engine.engines import LOCAL, Engine
from cimento.errors import InputError, UsageError, did_you_mean
from cimento.options import RunOptions
from cimento.suites.kinds import REGIONS, kind_of

if TYPE_CHECKING:
    from pathlib import Path

    from cimento.regions_api import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRun:
    """What `run` says to the runner of a kind, besides suites and models.

    Attributes:
        evaluation: how models are asked, how answers are judged, and where runs go.
        as_json: print the summary as JSON.
        keep_answers: keep answers in the cache between runs.
        measures: names; the first is the one that runs are stored with.
        options: what only this kind of suite knows, by name.
        engine: who does the work.
        run_options: all of these, as paradigms on the one road take them.
    """

    evaluation: Evaluation
    as_json: bool
    keep_answers: bool
    measures: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    engine: Engine = LOCAL
    run_options: RunOptions = field(default_factory=RunOptions)

    def device(self, models: Sequence[str]) -> str:
        """Where models are asked; recordings need no look at what devices there are."""
        recorded = all(model.startswith("replay:") for model in models)
        return "cpu" if recorded else self.evaluation.asking.device


Runner: TypeAlias = Callable[[Sequence[str], Sequence[str], KindRun], int]
"""Runs suites with models, prints what came of it, and returns the exit code."""

StoredTest: TypeAlias = Callable[[Sequence[str], str, KindRun], list[bool]]
"""Of suites by their paths and a model: whether each run is stored; nothing is loaded."""

ONE_ROAD: frozenset[str] = frozenset(
    {REGIONS, "acceptability", "cloze", "ratings", "stories", "templates"}
)
"""Kinds that `cimento.api` runs; the others still have a runner of their own below."""

RUNNERS: Mapping[str, str] = {
}
"""Kind of suite to its runner, as ``module:function``."""

STORED: Mapping[str, str] = {}
"""Kind of suite, but that of regions, to what says which runs are stored."""


def together(codes: Sequence[int]) -> int:
    """One exit code for several: 3 where some of all that was asked for was done."""
    from cimento.cli.evaluating import PART_MISSING

    if not any(codes):
        return 0
    some = any(code in (0, PART_MISSING) for code in codes)
    return PART_MISSING if some else min(codes)


def run_each_kind(suites: Sequence[str], models: Sequence[str], how: KindRun) -> int:
    """Run suites of any kinds; the exit code is 0 only where all went well.

    Raises:
        InputError: a suite does not exist or is of no known kind.
        UsageError: options for a kind were given, and there is none that takes them.
    """
    by_kind = suites_by_kind(suites)
    if how.options and set(by_kind) == {REGIONS}:
        raise UsageError(
            where=f"--set {next(iter(how.options))}",
            seen="none of the suites is of a kind that takes such options",
            todo="Leave it out.",
        )
    return together([_run_kind(kind, names, models, how) for kind, names in by_kind.items()])


def _run_kind(kind: str, names: Sequence[str], models: Sequence[str], how: KindRun) -> int:
    """Run the suites of one kind."""
    if kind in ONE_ROAD or kind not in RUNNERS:
        from cimento.cli.running import run_suites

        return run_suites(names, models, how.run_options, engine=how.engine)
    if how.engine.is_alone(how.device(models)):
        return find_runner(RUNNERS[kind])(names, models, how)
    from cimento.cli.spreading import run_spread

    return run_spread(kind, names, models, how)


def keep_options(folder: Path | None, how: KindRun) -> None:
    """Have the manifest of a stored run say how it was told to be run and judged.

    Raises:
        StorageError: the folder cannot be written.
    """
    from cimento.runs.manifest import with_options
    from cimento.runs.store import RunFolder

    if folder is None:
        return
    stored = RunFolder(folder)
    seed = how.evaluation.judging.seed
    told = with_options(stored.manifest(), options=how.options, measures=how.measures, seed=seed)
    stored.finish(told)


def parse_settings(settings: Sequence[str]) -> dict[str, str]:
    """``KEY=VALUE`` arguments as a mapping.

    Raises:
        UsageError: there is no ``=`` in one, or nothing before it.
    """
    found = {}
    for each in settings:
        key, equals, value = each.partition("=")
        if not key or not equals:
            raise UsageError(where="--set", seen=f"got {each!r}", todo="Write --set KEY=VALUE.")
        found[key.strip().replace("-", "_")] = value
    return found


def suites_by_kind(suites: Sequence[str]) -> dict[str, list[str]]:
    """Names and paths of suites, those of one kind together, in order."""
    from cimento.suites.builtin import find_suite
    from cimento.suites.load import suite_paths

    found: dict[str, list[str]] = {}
    for name in suites:
        paths = suite_paths(find_suite(name))
        kinds = {path: _known_kind(path) for path in paths}
        if len(set(kinds.values())) == 1:
            found.setdefault(kinds[paths[0]], []).append(name)
            continue
        for path, kind in kinds.items():
            found.setdefault(kind, []).append(str(path))
    return found


def _known_kind(path: Path) -> str:
    from cimento.paradigms.registry import known_kinds

    kind, known = _kind(path), RUNNERS.keys() | known_kinds()
    if kind not in known:
        raise InputError(where=str(path), seen=f"kind is {kind!r}", todo=did_you_mean(kind, known))
    return kind


def _kind(path: Path) -> str:
    """The kind that a folder says it is of, or that a published file is by its fields."""
    from cimento.acceptability.suites import KIND as RATED
    from cimento.acceptability.suites import is_rated_table
    from cimento.stories.readers import KIND, is_stories

    kind = kind_of(path)
    if kind == REGIONS and is_rated_table(path):
        return RATED
    return KIND if kind == REGIONS and is_stories(path) else kind


def find_runner(name: str) -> Runner:
    """A runner by its name, ``module:function``."""
    return cast("Runner", _imported(name))


def find_stored_test(kind: str) -> StoredTest:
    """What says which runs of a kind are stored."""
    return cast("StoredTest", _imported(STORED[kind]))


def _imported(name: str) -> object:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)
