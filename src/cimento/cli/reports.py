"""Stored runs of any kind, opened for reports, figures and tables; each manifest is read once."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.errors import CimentoError
from cimento.measures.registry import judged_on as measures_named
from cimento.paradigms.regions.judging import on_each_measure
from cimento.report.document import sections_of, versions_apart
from cimento.report.told import told_of
from cimento.runs.run import Run, open_run, paradigm_name
from cimento.runs.store import Manifest, RunFolder, find_runs
from cimento.suites.kinds import ACCEPTABILITY, REGIONS

if TYPE_CHECKING:
    from cimento.report.records import Reporter, RunReport, Stored, SuiteReport
    from cimento.report.told import Told

EARLIER_ROAD: frozenset[str] = frozenset()
"""Paradigms whose runs are still shown by what stands below, and not by their own `sections`."""

REPORTERS: Mapping[str, str] = {}
"""Kind of run to what makes sections of its runs, as ``module:function``."""

RATED = "acceptability.json"
"""A run of regions with this beside its tables has ratings."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Stored runs.

    Attributes:
        on_road: runs that their paradigm shows.
        told: what was printed of the others.
        others: the folders of these, which have sections of their own, by kind.
        sentences: runs whose sentences were scored, for tables of these.
    """

    on_road: tuple[Run, ...]
    told: tuple[Told, ...]
    others: Mapping[str, tuple[Stored, ...]]
    sentences: tuple[Run, ...]

    def sections(self) -> tuple[list[SuiteReport], list[Told]]:
        """The sections of all other runs, and the texts of those that cannot be shown so.

        A run whose tables cannot be read keeps its text, with the reason.
        """
        texts = {each.folder: each.text for each in self.told}
        sections: list[SuiteReport] = []
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
        return [report for suite in self.suites() for report in suite.runs]

    def suites(self) -> list[SuiteReport]:
        """The sections of all runs."""
        return [*sections_of(self.on_road), *self.sections()[0]]


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
    kinds = [_kind(folder, manifest) for folder, manifest in found]
    others: dict[str, tuple[Stored, ...]] = {}
    for kind, each in zip(kinds, found, strict=True):
        if kind in REPORTERS:
            others[kind] = (*others.get(kind, ()), each)
    rated = [open_run(folder.path) for folder, _ in found if (folder.path / RATED).exists()]
    told = [told_of(folder, manifest) for folder, manifest in found]
    shown = versions_apart([judged_on(run, measures) for run in (*on_road, *rated)])
    return Opened(
        on_road=tuple(shown[: len(on_road)]),
        told=tuple(each for each in told if each is not None),
        others=others,
        sentences=tuple(
            each for run in shown if _has_sentences(run) for each in on_each_measure(run)
        ),
    )


def _has_sentences(run: Run) -> bool:
    """Whether the sentences of a run were scored, so that measures of them can be looked at."""
    return "measure" in type(run.options).model_fields


def judged_on(run: Run, measures: Sequence[str]) -> Run:
    """The same answers, judged and shown on some measures of whole sentences.

    Args:
        run: of any paradigm; those without measures stay as they are.
        measures: their names; ``regions`` for the values of regions; empty for the run's own.

    Raises:
        UsageError: there is no such measure.
    """
    if not measures or not _has_sentences(run):
        return run
    names = measures_named(measures)
    return run.judge(measure=names[0], also=tuple(names[1:]))


def _kind(folder: RunFolder, manifest: Manifest) -> str:
    kind = manifest.get("kind")
    if isinstance(kind, str):
        return kind
    return ACCEPTABILITY if (folder.path / RATED).exists() else REGIONS


def _reporter(kind: str) -> Reporter:
    module, _, function = REPORTERS[kind].partition(":")
    return cast("Reporter", getattr(importlib.import_module(module), function))
