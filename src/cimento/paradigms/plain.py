"""The plain paradigm: the parts that most kinds of test have in common.

A paradigm that derives from `PlainParadigm` implements only its particular parts: the suite, its
requests, `judge` and `estimate`. docs/paradigms.md builds one. The functions below are for
paradigms with surveys of people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic

from cimento.errors import Fault, InputError, SuiteError, TableError, UsageError
from cimento.io.parsing import faults_of
from cimento.io.tables import REQUESTS
from cimento.paradigms.base import (
    Applied,
    MethodFacts,
    OptionsT,
    Stored,
    SuiteAudit,
    SuiteReading,
    SuiteT,
    SurveyItems,
    SurveyTask,
)
from cimento.runs.store import manifest_part

if TYPE_CHECKING:
    import polars as pl

    from cimento.people.judgments.records import Judgment
    from cimento.report.records import SuiteReport
    from cimento.runs.run import Run
    from cimento.runs.store import Manifest, RunFolder
    from cimento.suites.model import JsonValue, Meta


class PlainParadigm(Generic[SuiteT, OptionsT]):
    """The parts of a paradigm that rarely differ; `Paradigm` describes each of them.

    Attributes:
        name: name of the paradigm.
        kinds: values of ``kind`` in suite.toml; only the name if nothing else is declared.
        options: model of its options.
        scoring: shared scoring options that it supports.
    """

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    options: type[OptionsT]
    scoring: ClassVar[frozenset[str]] = frozenset()
    read: Callable[[Path], SuiteReading[SuiteT]]
    limited: Callable[[SuiteT, int], SuiteT]

    def detect(self, path: Path) -> bool:  # noqa: ARG002  # suites say their kind
        """Whether a path that states no kind contains a suite of this paradigm: never."""
        return False

    def files(self, path: Path) -> Sequence[Path]:  # noqa: ARG002
        """The files that alone determine the result of `read`: unknown, so none."""
        return ()

    def check(self, suite: SuiteT) -> Sequence[Fault]:  # noqa: ARG002
        """The faults of a suite made in Python: none are looked for."""
        return ()

    def describe(self, suite: SuiteT, items: int) -> str:  # noqa: ARG002
        """The name of the suite, and its subject."""
        meta = suite.meta
        return "  ".join(filter(None, (meta.name, meta.version, meta.language, meta.phenomenon)))

    def later(self, suite: SuiteT, options: OptionsT) -> int:  # noqa: ARG002
        """The number of requests after the first round: none."""
        return 0

    def audit(self, reading: SuiteReading[SuiteT]) -> SuiteAudit:
        """The faults found while reading, and the content of the suite."""
        holds = "" if reading.suite is None else self.holds(reading.suite)
        return replace(SuiteAudit.of_faults(reading), holds=holds)

    def holds(self, suite: SuiteT) -> str:  # noqa: ARG002
        """The content of a suite in words; empty if there is nothing to say."""
        return ""

    def survey_items(
        self,
        suite: SuiteT,
        task: SurveyTask | None,  # noqa: ARG002
        *,
        run: Run | None = None,  # noqa: ARG002
    ) -> SurveyItems:
        """The survey questions about a suite: there are none.

        Raises:
            UsageError: always.
        """
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"people are not asked about suites of the paradigm {self.name!r}",
            todo="Give a suite of sentences, of blanks or of stories.",
        )

    def apply_judgments(
        self,
        suite: SuiteT,
        judgments: Sequence[Judgment],  # noqa: ARG002
        folder: Path,  # noqa: ARG002
        *,
        scale: tuple[float, float] | None = None,  # noqa: ARG002
    ) -> Applied:
        """A copy of a suite with people's judgments: there is none.

        Raises:
            UsageError: always.
        """
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"suites of the paradigm {self.name!r} do not hold what people answered",
            todo="Give a suite of sentences or of blanks.",
        )

    def restore(self, folder: RunFolder, manifest: Manifest) -> Stored[SuiteT, OptionsT]:
        """The copy of the suite, as far as it was asked, and the options of the manifest.

        Raises:
            TableError: the suite or the options cannot be read.
        """
        from pydantic import ValidationError

        try:
            options = self.options.model_validate(self.stored_options(manifest))
        except ValidationError as error:
            place, message = faults_of(error)[0]
            raise TableError(
                where=f"{folder.path / 'manifest.json'}, options, {place}",
                seen=message,
                todo="Was it edited? Run again.",
            ) from error
        return Stored(suite=lambda: self._asked_suite(folder, manifest), options=options)

    def stored_options(self, manifest: Manifest) -> Mapping[str, JsonValue]:
        """The options in a manifest, under the names that they have now."""
        options = manifest.get("options")
        return options if isinstance(options, dict) else {"options": options}

    def copied_suite(self, folder: Path) -> SuiteT:
        """The suite in the folder of a run, which was checked before the run.

        Raises:
            InputError: the copy cannot be read.
        """
        reading = self.read(folder)
        if reading.suite is None:
            raise SuiteError(where=str(folder), faults=reading.faults)
        return reading.suite

    def _asked_suite(self, folder: RunFolder, manifest: Manifest) -> SuiteT:
        try:
            suite = self.copied_suite(folder.suite_folder)
        except InputError as error:
            seen = f"it holds no suite of the paradigm {self.name!r} ({error})"
            raise TableError(
                where=str(folder.suite_folder), seen=seen, todo="Run again."
            ) from error
        limit = manifest_part(manifest, "inputs").get("limit")
        return self.limited(suite, limit) if isinstance(limit, int) else suite

    def scores(self, run: Run) -> pl.DataFrame | None:  # noqa: ARG002
        """The score of every condition: conditions have none."""
        return None

    def methods(self, run: Run) -> MethodFacts:
        """The number of items."""
        return MethodFacts(counted=f"{run.outcomes()['item'].n_unique()} items")

    def warnings(self, run: Run) -> Sequence[str]:  # noqa: ARG002
        """Warnings for readers of a run, in addition to those of its manifest: none."""
        return ()

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """The rates, a table of the estimates, and the items, worst first, for each suite."""
        from cimento.report.sections import plain_sections

        return plain_sections(runs)

    def text(self, runs: Sequence[Run]) -> str:
        """The table of the estimates of some runs, with their notes below."""
        from cimento.report.grid import as_text
        from cimento.report.sections import estimates_grid

        estimates = [
            estimate for run in runs for estimate in run.estimates() if estimate.role != "detail"
        ]
        notes = [f"{run.model}: {note}" for run in runs for note in run.warnings]
        return as_text(estimates_grid(estimates, title=", ".join(_suites(runs)), notes=notes))


def described(meta: Meta, facts: Mapping[str, str], *, phenomenon: str = "") -> list[str]:
    """What is known about a suite, one fact a line below its name; empty facts are left out.

    Args:
        meta: metadata of the suite.
        facts: further facts, by label.
        phenomenon: its phenomena, if the metadata name none.
    """
    reviewers = meta.extra.get("reviewed_by", [])
    known = {
        "language": meta.language,
        "phenomenon": meta.phenomenon or phenomenon,
        "version": meta.version,
        "licence": meta.licence,
        "status": meta.status,
        "reviewers": ", ".join(map(str, reviewers if isinstance(reviewers, list) else [reviewers])),
        "citation": meta.citation,
        **facts,
    }
    return [meta.name, *(f"  {label:<11}{value}" for label, value in known.items() if value)]


def prompts_table(
    suite: str, prompts: Iterable[tuple[str, str]], *, first: int = 0
) -> pl.DataFrame:
    """The requests table of prompts, each of which is for one item.

    Args:
        suite: name of the suite.
        prompts: item and prompt, in the order of asking.
        first: number of the first request, which is the number of requests in earlier rounds.
    """
    import polars as pl

    rows = [
        (number, suite, item, "", 1, prompt, "", 0, len(prompt), True)
        for number, (item, prompt) in enumerate(prompts, start=first)
    ]
    return pl.DataFrame(rows, schema=REQUESTS.polars(), orient="row")


def _suites(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.suite.name for run in runs))


def chosen_task(task: SurveyTask | None, *possible: SurveyTask) -> SurveyTask:
    """The named task, or else the usual one.

    Raises:
        UsageError: the task is not possible.
    """
    if task is not None and task not in possible:
        raise UsageError(
            where=f"--task {task}",
            seen="it is not a task for this kind of suite",
            todo=f"Choose {' or '.join(possible)}.",
        )
    return task or possible[0]


def refuse_run(run: Run | None) -> None:
    """Refuse a survey about a run whose answers contain no candidates.

    Raises:
        UsageError: a run is given, and it contains no candidates.
    """
    if run is not None:
        raise UsageError(
            where=f"run of {run.suite.name!r}",
            seen="people judge the candidates of blanks, and it has none",
            todo="Give the suite, or a run of a suite with blanks.",
        )


def answers_about(
    judgments: Iterable[Judgment], suite: str, questions: Sequence[str]
) -> tuple[list[Judgment], Counter[str]]:
    """The answers to some questions about a suite, and the numbers of other answers by reason."""
    about, passed = [], Counter[str]()
    for judgment in judgments:
        if judgment.is_check:
            passed["a check of attention"] += 1
        elif judgment.suite != suite:
            passed[f"about the suite {judgment.suite!r}"] += 1
        elif judgment.question not in questions:
            passed[f"the question {judgment.question!r} is none for this kind of suite"] += 1
        else:
            about.append(judgment)
    return about, passed


def refuse_nothing(used: int, suite: str, passed: Mapping[str, int]) -> None:
    """Require at least one answer about a suite.

    Raises:
        InputError: there is none.
    """
    if not used:
        seen = "; ".join(f"{count}: {why}" for why, count in passed.items())
        raise InputError(
            where=f"suite {suite!r}",
            seen="there is no answer about it" + (f" ({seen})" if seen else ""),
            todo="Give the suite that was asked.",
        )
