"""The paradigm, that is, a kind of test: its requests, its judging, its reports.

Everything else is written once for all paradigms: the engine answers the requests, the store keeps
the run, and every command reads the outcomes and the estimates. A package provides its own paradigm
under the entry point ``cimento.paradigms`` (docs/paradigms.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cimento.errors import Fault, InputError, SuiteError, TableError, UsageError
from cimento.io.tables import REQUESTS, read_table
from cimento.kinds.base import (
    Applied,
    MethodFacts,
    OptionsT,
    Restated,
    Stored,
    SuiteAudit,
    SuiteReading,
    SuiteT,
    SurveyItems,
    SurveyTask,
)
from cimento.kinds.stopped import ADAPTIVE, asked_items
from cimento.records.store import ORDER, manifest_part

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.requests import Answers, Recording, Requests
    from cimento.judgments import Judgment
    from cimento.kinds.base import AskedModel
    from cimento.kinds.run import Run
    from cimento.models.settings import Asking
    from cimento.records.outcomes import Estimate
    from cimento.records.store import Manifest, RunFolder
    from cimento.report import SuiteReport
    from cimento.suites import Meta
    from cimento.suites.formats.lm_eval import ChoiceTask


class Paradigm(Protocol[SuiteT, OptionsT]):
    """A kind of test: a class of its own derives from this one.

    Particular to it are the suite, the requests, `judge` and `estimate`; docs/paradigms.md writes
    one.

    Attributes:
        name: name of the paradigm, which is in every manifest.
        kinds: values of ``kind`` in suite.toml for its suites; only the name if it declares none.
        options: model of its options; any other option is an error.
        scoring: names of the scoring options that it supports in addition to those of every model
            (``context``, ``all_tokens``, ``columns``, ``spec``, ``recorded_unit``).
        has_regions: whether bars cut the sentences of its suites into regions.
    """

    name: str
    kinds: tuple[str, ...]
    options: type[OptionsT]
    scoring: frozenset[str] = frozenset()
    has_regions: bool = False

    def detect(self, path: Path) -> bool:  # noqa: ARG002  # suites say their kind
        """Whether a path without a kind contains a suite of this paradigm: by default never."""
        return False

    def read(self, path: Path) -> SuiteReading[SuiteT]:
        """A suite, with every fault in it.

        Raises:
            InputError: the path does not exist or is not readable.
        """

    def files(self, path: Path) -> Sequence[Path]:  # noqa: ARG002
        """The files that `read` reads, if their names and bytes alone determine its result.

        Their sha256, one after the other, is then that of the reading. The list is empty if `read`
        may use other sources, and by default.
        """
        return ()

    def owns(self, suite: object) -> bool:
        """Whether an object made in Python is a suite of this paradigm."""

    def write(self, suite: SuiteT, folder: Path) -> None:
        """Write a suite in the form that `read` reads.

        Raises:
            StorageError: the folder cannot be written.
        """

    def check(self, suite: SuiteT) -> Sequence[Fault]:  # noqa: ARG002
        """Every fault of a suite made in Python; by default none are looked for."""
        return ()

    def limited(self, suite: SuiteT, limit: int) -> SuiteT:
        """The first items of a suite; the suite itself if it has no more."""

    def selected(self, suite: SuiteT, items: Collection[str]) -> SuiteT:  # noqa: ARG002
        """The suite with only some of its items asked about, in their order; by default refused.

        Args:
            suite: the suite.
            items: their ids, as in the requests table.

        Raises:
            UsageError: suites of this paradigm are only asked as a whole.
        """
        raise UsageError(
            where=f"suite {suite.name!r}, --adaptive",
            seen=f"suites of the paradigm {self.name!r} are asked as a whole",
            todo="Leave --adaptive out.",
        )

    def describe(self, suite: SuiteT, items: int) -> str:  # noqa: ARG002
        """The text that ``suites show`` prints: by default, the suite's name and its subject."""
        meta = suite.meta
        return "  ".join(filter(None, (meta.name, meta.version, meta.language, meta.phenomenon)))

    def record(self, suite: SuiteT, items: int) -> dict[str, object]:  # noqa: ARG002
        """The facts and first items that ``suites show --json`` prints: by default, the subject."""
        meta = suite.meta
        names = ("version", "language", "phenomenon", "license", "status", "author", "citation")
        about = {name: getattr(meta, name) for name in names}
        return {"name": suite.name, "paradigm": self.name, **about}

    def choice_tasks(self, suite: SuiteT) -> Sequence[ChoiceTask]:  # noqa: ARG002
        """Tasks of lm-evaluation-harness that ask what a run asks; by default, none are written.

        Raises:
            InputError: there is nothing to choose among.
        """
        return ()

    def audit(self, reading: SuiteReading[SuiteT]) -> SuiteAudit:
        """The content and the faults of a suite that was read."""
        holds = "" if reading.suite is None else self.holds(reading.suite)
        return replace(SuiteAudit.of_faults(reading), holds=holds)

    def survey_items(
        self,
        suite: SuiteT,
        task: SurveyTask | None,  # noqa: ARG002
        *,
        run: Run | None = None,  # noqa: ARG002
    ) -> SurveyItems:
        """The survey questions about a suite, or about a model's answers to it.

        Args:
            suite: suite of the questions.
            task: task of the survey; None for the usual one.
            run: run whose answers are judged; None for the suite itself.

        Raises:
            UsageError: suites of this paradigm have no surveys, or not this task.
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
        """Write a copy of a suite with people's judgments.

        Args:
            suite: the suite that people were asked about.
            judgments: judgments; those of other suites, and attention checks, are skipped and
                counted.
            folder: folder of the copy.
            scale: ends of the rating scale, the worst first; None for the suite's own.

        Raises:
            InputError: no answer is about the suite, or a rating is off the scale.
            UsageError: suites of this paradigm cannot contain judgments, or the scale is unknown.
            StorageError: the copy cannot be written.
        """
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"suites of the paradigm {self.name!r} do not hold what people answered",
            todo="Give a suite of sentences or of blanks.",
        )

    def requests(
        self,
        suite: SuiteT,
        options: OptionsT,
        *,
        scoring: Asking,
        model: AskedModel,
        answers: Answers,
    ) -> Requests | None:
        """The next round of requests; None after the last one.

        Args:
            suite: the suite.
            options: options of the paradigm.
            scoring: rules by which texts are scored.
            model: the model.
            answers: answers to all rounds so far.

        Raises:
            CimentoError: the suite cannot be asked this way.
        """

    def later(self, suite: SuiteT, options: OptionsT) -> int:  # noqa: ARG002
        """Most requests after the first round; by default 0, since there is only one."""
        return 0

    def recording(self, name: str, suite: SuiteT, *, scoring: Asking) -> Recording:  # noqa: ARG002
        """A recording of the answers to a suite.

        Args:
            name: the part after ``replay:``: a file, and after ``#`` the name of one of several
                models in it.
            suite: the recorded suite.
            scoring: its ``spec`` and ``recorded_unit``; options that a recording cannot follow are
                refused.

        Raises:
            InputError: the file cannot be read.
            UsageError: suites of this paradigm have no recordings, or an option is refused.
            TableError: the file is not a recording of this suite.
        """
        raise UsageError(
            where=f"replay:{name}",
            seen=f"suites of the paradigm {self.name!r} have no recordings",
            todo="Give a model.",
        )

    def restore(self, folder: RunFolder, manifest: Manifest) -> Stored[SuiteT, OptionsT]:
        """The content of a run's folder.

        By default, the copy of the suite, as far as it was asked, and the options of the manifest.

        Raises:
            TableError: the folder cannot be read.
            pydantic.ValidationError: the manifest has options that there are not.
        """
        options = self.options.model_validate(manifest.get("options"))
        return Stored(suite=lambda: self._asked_suite(folder, manifest), options=options)

    def judge(self, run: Run) -> pl.DataFrame:
        """The outcomes table of a run, a pure function of its suite, tables and options.

        Raises:
            CimentoError: the answers cannot be judged this way.
        """

    def estimate(self, run: Run) -> Sequence[Estimate]:
        """The estimates from the outcomes of a run."""

    def scores(self, run: Run) -> pl.DataFrame | None:  # noqa: ARG002
        """The value of a measure for every condition of every item; None if they have none.

        Columns: ``item``, ``condition``, ``measure``, ``unit``, ``value`` (as the measure defines
        it; null if undefined), ``oriented`` (the same, negated if less is better). Suites that
        cross two factors also have ``phenomenon``, ``first_factor``, ``second_factor``, the level
        of each factor (``first_level`` ...) and its code (``first``, ``second``), 1/2 or -1/2, so
        that the sum of ``4 * first * second * oriented`` over the four conditions of an item is
        its difference of differences.
        """
        return None

    def side_values(
        self,
        run: Run,  # noqa: ARG002
    ) -> Mapping[str, Mapping[str, Mapping[str, float | None]]]:
        """The numbers that questions compare, in nats, by question, item and condition.

        By default there are none: then a condition's number is the sum over its scored tokens.
        """
        return {}

    def restated(self, run: Run) -> Restated | None:  # noqa: ARG002
        """The questions of another kind of test that a run asks in another way; by default none."""
        return None

    def methods(self, run: Run) -> MethodFacts:
        """The facts about a run that only the paradigm knows; by default, the number of items."""
        return MethodFacts(counted=f"{run.outcomes()['item'].n_unique()} items")

    def warnings(self, run: Run) -> Sequence[str]:  # noqa: ARG002
        """Warnings for readers of a run, beside those of its manifest; by default, none."""
        return ()

    def remarks(self, run: Run) -> Sequence[str]:  # noqa: ARG002
        """What must stand beside the estimates of a run wherever they are shown; by default none.

        Unlike `warnings` it is stored nowhere, since it follows from the estimates.
        """
        return ()

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """The sections of a report on some runs of this paradigm, one for each suite.

        By default, the rates, a table of the estimates, and the items, worst first.
        """
        from cimento.kinds.sections import plain_sections

        return plain_sections(runs)

    def text(self, runs: Sequence[Run]) -> str:
        """The text that ``run`` prints: by default, the table of the estimates, notes below."""
        from cimento.kinds.sections import estimates_grid
        from cimento.report.terminal import on_terminal

        estimates = [
            estimate for run in runs for estimate in run.estimates() if estimate.role != "detail"
        ]
        notes = [f"{run.model}: {note}" for run in runs for note in run.warnings]
        suites = ", ".join(dict.fromkeys(run.suite.name for run in runs))
        return on_terminal(estimates_grid(estimates, title=suites, notes=notes))

    def holds(self, suite: SuiteT) -> str:  # noqa: ARG002
        """The content of a suite in words; empty if there is nothing to say."""
        return ""

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
        suite = self.stored_suite(folder, manifest)
        if ADAPTIVE not in manifest:
            return suite
        return self.selected(suite, set(asked_items(read_table(ORDER, folder.path))))

    def stored_suite(self, folder: RunFolder, manifest: Manifest) -> SuiteT:
        """The suite of a stored run, with all items among which an adaptive run chose.

        Raises:
            TableError: the copy in the folder of the run cannot be read.
        """
        try:
            suite = self.copied_suite(folder.suite_folder)
        except InputError as error:
            seen = f"it holds no suite of the paradigm {self.name!r} ({error})"
            raise TableError(
                where=str(folder.suite_folder), seen=seen, todo="Run again."
            ) from error
        limit = manifest_part(manifest, "inputs").get("limit")
        return self.limited(suite, limit) if isinstance(limit, int) else suite


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
        "license": meta.license,
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


def chosen_task(task: SurveyTask | None, *possible: SurveyTask) -> SurveyTask:
    """The named task, or else the usual one.

    Raises:
        UsageError: the task is not possible.
    """
    if task is not None and task not in possible:
        raise UsageError(
            where=f"--task={task}",
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
