"""A run: one suite answered by one model, with everything that can be said about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cimento._version import __version__
from cimento.answers import (
    REQUESTS,
    TOKENS,
    VERDICTS,
    Answers,
    read_table,
    write_table,
)
from cimento.errors import TableError
from cimento.files import write_text
from cimento.judging import Judging
from cimento.report.build import RunReport, run_report, run_summary
from cimento.report.summary import Missing, Result, RunSummary, Summary, to_json
from cimento.runs import Manifest, RunFolder, find_runs
from cimento.suites.contradictions import contradictions
from cimento.suites.load import load_suite
from cimento.suites.model import Suite
from cimento.suites.writers.native import write_native
from cimento.verdicts.accuracy import accuracies, accuracies_by
from cimento.verdicts.judge import Verdict, judge, verdicts_table

if TYPE_CHECKING:
    import polars as pl

SUMMARY = "summary.json"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One suite answered by one model. Made by `evaluate` or `open_runs`.

    Attributes:
        suite: as its author wrote it.
        model: label of the model, ``name@revision``.
        model_kind: ``causal``, ``masked`` or ``replay``.
        manifest: what the run was made of and with.
        answers: what the model said.
        judging: how the answers are judged.
        folder: where the run is stored; None where it is not.
    """

    suite: Suite
    model: str
    model_kind: str
    manifest: Manifest
    answers: Answers
    judging: Judging
    folder: Path | None = None

    def tokens(self) -> pl.DataFrame:
        """The tokens table; see docs/tables.md. `.to_pandas()` gives a pandas frame."""
        return self.answers.tokens

    def requests(self) -> pl.DataFrame:
        """The requests table; see docs/tables.md."""
        return self.answers.requests

    def verdicts(self) -> pl.DataFrame:
        """The verdicts table; see docs/tables.md."""
        return verdicts_table(self._numbered_verdicts)

    @property
    def _numbered_verdicts(self) -> list[Verdict]:
        """The verdicts with the numbers that the predictions have in their suite."""
        return [
            verdict
            if verdict.prediction is None
            else dataclasses.replace(verdict, prediction=self.judging.number(verdict.prediction))
            for verdict in self._verdicts
        ]

    def summary(self, *, with_verdicts: bool = False) -> RunSummary:
        """Accuracies with intervals and chance levels, by prediction and by phenomenon."""
        if not with_verdicts:
            return self._summary
        return dataclasses.replace(self._summary, verdicts=tuple(self._numbered_verdicts))

    def report(self, *, items: int | None) -> RunReport:
        """What a page shows of the run.

        Args:
            items: how many items are shown with their tokens; None for all.
        """
        return run_report(
            self._summary,
            self._judged_suite,
            self._verdicts,
            tokens=self.answers.tokens,
            requests=self.answers.requests,
            manifest=self.manifest,
            limit=items,
        )

    def judge(self, judging: Judging) -> Run:
        """The same answers, judged in another way."""
        return dataclasses.replace(self, judging=judging)

    @cached_property
    def _judged_suite(self) -> Suite:
        return self.judging.applied(self.suite)

    @cached_property
    def _verdicts(self) -> list[Verdict]:
        return judge(
            self._judged_suite,
            self.answers.tokens,
            self.answers.requests,
            unit=self.judging.unit,
        )

    @cached_property
    def _summary(self) -> RunSummary:
        suite, seed = self._judged_suite, self.judging.seed
        summary = run_summary(
            suite,
            accuracies(suite, self._verdicts, seed=seed),
            accuracies_by(suite, self._verdicts, seed=seed),
            model=self.model,
            model_kind=self.model_kind,
            folder=str(self.folder) if self.folder else None,
            warnings=(*self.answers.warnings, *contradictions(suite)),
        )
        return self._numbered(summary)

    def _numbered(self, summary: RunSummary) -> RunSummary:
        """The summary with the numbers that the predictions have in their suite."""

        def own(results: Sequence[Result]) -> tuple[Result, ...]:
            numbers = (self.judging.number(position) for position in range(len(results)))
            return tuple(
                dataclasses.replace(result, index=number)
                for result, number in zip(results, numbers, strict=True)
            )

        phenomena = tuple(
            dataclasses.replace(each, predictions=own(each.predictions))
            for each in summary.phenomena
        )
        return dataclasses.replace(
            summary, predictions=own(summary.predictions), phenomena=phenomena
        )

    def save(self, folder: RunFolder) -> Run:
        """Store the run, its manifest last; the run that is stored there is replaced.

        Raises:
            StorageError: the folder cannot be written.
        """
        folder.reopen()
        stored = dataclasses.replace(self, folder=folder.path)
        write_native(self.suite, folder.suite_folder)
        write_table(self.answers.requests, REQUESTS, folder.path)
        write_table(self.answers.tokens, TOKENS, folder.path)
        write_table(stored.verdicts(), VERDICTS, folder.path)
        write_text(to_json(summarise([stored])), folder.path / SUMMARY)
        folder.finish({**self.manifest, "judging": dataclasses.asdict(self.judging)})
        return stored

    def folder_below(self, output: Path) -> RunFolder:
        """The folder that this run has, or would have, in another folder of runs."""
        name = self.folder.name if self.folder else self.model
        return RunFolder(output / self.suite.name / name)

    @classmethod
    def open(cls, folder: RunFolder) -> Run:
        """A run as it was stored.

        Raises:
            TableError: there is no finished run in the folder, or a part of it cannot be read.
        """
        manifest = folder.manifest()
        model, judging = manifest.get("model"), manifest.get("judging")
        label = manifest.get("label")
        if not (isinstance(model, dict) and isinstance(judging, dict) and isinstance(label, str)):
            raise TableError(
                where=str(folder.path),
                seen="its manifest lacks the model or the judging",
                todo="Run again.",
            )
        return cls(
            suite=load_suite(folder.suite_folder).suite,
            model=label,
            model_kind=str(model.get("kind", "")),
            manifest=manifest,
            answers=Answers(
                requests=read_table(REQUESTS, folder.path),
                tokens=read_table(TOKENS, folder.path),
                warnings=_texts(manifest.get("warnings")),
            ),
            judging=Judging.from_plain(judging),
            folder=folder.path,
        )


def open_runs(paths: Iterable[Path]) -> list[Run]:
    """The runs in some folders, each a run or a folder of runs.

    Raises:
        TableError: a folder holds no finished run, or one that cannot be read.
    """
    return [Run.open(folder) for path in paths for folder in find_runs(path)]


def summarise(
    runs: Iterable[Run], *, missing: Sequence[Missing] = (), with_verdicts: bool = False
) -> Summary:
    """What some runs say, in one record.

    Args:
        runs: in the order in which they are to be shown.
        missing: what was asked for and could not be run.
        with_verdicts: with the verdict on every item.
    """
    return Summary(
        cimento=__version__,
        runs=tuple(run.summary(with_verdicts=with_verdicts) for run in runs),
        missing=tuple(missing),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()
