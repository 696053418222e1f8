"""Stored runs of any kind, opened for reports, figures and tables; each manifest is read once."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.errors import CimentoError
from cimento.measures.registry import REGIONS as REGION_VALUES
from cimento.report.document import sections_of, versions_apart
from cimento.report.told import told_of
from cimento.results import Run, told_apart
from cimento.runs.run import Run as RoadRun
from cimento.runs.run import open_run, paradigm_name
from cimento.runs.store import find_runs
from cimento.suites.kinds import REGIONS

if TYPE_CHECKING:
    from cimento.report.records import Reporter, RunReport, Stored, SuiteReport
    from cimento.report.told import Told

EARLIER_ROAD: frozenset[str] = frozenset({"regions"})
"""Paradigms whose runs are still shown by what stands below, and not by their own `sections`."""

REPORTERS: Mapping[str, str] = {}
"""Kind of run to what makes sections of its runs, as ``module:function``."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Stored runs.

    Attributes:
        runs: of suites of regions.
        told: what was printed of runs that have more than verdicts.
        others: the folders of runs that have sections of their own, by kind.
        on_road: runs that their paradigm shows.
    """

    runs: tuple[Run, ...]
    told: tuple[Told, ...]
    others: Mapping[str, tuple[Stored, ...]]
    on_road: tuple[RoadRun, ...] = ()

    def sections(self) -> tuple[list[SuiteReport], list[Told]]:
        """The sections of all other runs, and the texts of those that cannot be shown so.

        A run whose tables cannot be read keeps its text, with the reason.
        """
        texts = {each.folder: each.text for each in self.told}
        sections: list[SuiteReport] = sections_of(self.on_road)
        reasons: dict[Path, str] = {}
        for kind, found in self.others.items():
            try:
                sections += _reporter(kind)(found, texts)
            except CimentoError as error:
                reasons |= {folder.path: str(error) for folder, _ in found}
        left = [
            replace(each, reason=reasons[each.folder])
            for each in self.told
            if each.folder in reasons
        ]
        return sections, left

    def reports(self) -> list[RunReport]:
        """Every run with its items, without figures and tables of suites."""
        plain = [run.report(items=None) for run in self.runs]
        return [*plain, *(run for suite in self.sections()[0] for run in suite.runs)]

    def suites(self) -> list[SuiteReport]:
        """The sections of all runs."""
        from cimento.reporting import region_suites

        return [*region_suites(self.runs), *self.sections()[0]]


def open_reports(paths: Iterable[Path], measures: Sequence[str] = ()) -> Opened:
    """The runs in some folders, each a run or a folder of runs, of any kind.

    Args:
        paths: folders.
        measures: on which runs of whole sentences are judged again; empty for those that each
            was made for.

    Raises:
        TableError: a folder holds no finished run, or one that cannot be read.
        UsageError: there is no such measure.
    """
    stored = [(folder, folder.manifest()) for path in paths for folder in find_runs(path)]
    found = [each for each in stored if paradigm_name(*each) in EARLIER_ROAD]
    on_road = [open_run(each[0].path) for each in stored if each not in found]
    kinds = [str(manifest.get("kind") or REGIONS) for _, manifest in found]
    others: dict[str, tuple[Stored, ...]] = {}
    for kind, each in zip(kinds, found, strict=True):
        if kind in REPORTERS:
            others[kind] = (*others.get(kind, ()), each)
    judged = [each for each in found if each[1].get("kind") is None]
    runs = told_apart([Run.open(folder, manifest) for folder, manifest in judged])
    runs = [each for run in runs for each in run.judge_on(measures or _own_measures(run))]
    told = [told_of(folder, manifest) for folder, manifest in found]
    return Opened(
        tuple(runs),
        tuple(each for each in told if each is not None),
        others,
        tuple(versions_apart([judged_on(run, measures) for run in on_road])),
    )


def judged_on(run: RoadRun, measures: Sequence[str]) -> RoadRun:
    """The same answers, judged and shown on some measures of whole sentences.

    Args:
        run: of any paradigm; those without measures stay as they are.
        measures: their names; ``regions`` for the values of regions; empty for the run's own.

    Raises:
        UsageError: there is no such measure.
    """
    if not measures or "measure" not in type(run.options).model_fields:
        return run
    names = ["" if name == REGION_VALUES else name for name in measures]
    return run.judge(measure=names[0], also=tuple(names[1:]))


def _own_measures(run: Run) -> tuple[str, ...]:
    """All measures that a run was made for; empty where that is one or none."""
    judging = run.judging
    names = (judging.measure, *judging.also) if judging.also else ()
    return tuple(name or REGION_VALUES for name in names)


def _reporter(kind: str) -> Reporter:
    module, _, function = REPORTERS[kind].partition(":")
    return cast("Reporter", getattr(importlib.import_module(module), function))
