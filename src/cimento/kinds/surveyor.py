"""The surveyor of a kind of suites: its questions to people, and their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cimento.errors import InputError, UsageError
from cimento.kinds.base import (
    AppliedJudgments,
    RunT_contra,
    SuiteT_contra,
    SurveyItems,
    SurveyTask,
    TestSuite,
)

if TYPE_CHECKING:
    from cimento.judgments import Judgment


NOT_COMPARED = "people cannot be compared on this kind of test"
"""The reason why people's answers have no verdicts."""


class Surveyor(Protocol[SuiteT_contra, RunT_contra]):
    """The surveyor of a kind of suites, which asks people what models are asked.

    A surveyor must have `survey_items`; the other methods may be left out.

    Attributes:
        question: question of a run's outcomes, the one that people are asked too; empty for that
            which sums up the run.
    """

    question: str = ""

    def survey_items(
        self,
        suite: SuiteT_contra,
        task: SurveyTask | None,
        *,
        run: RunT_contra | None = None,
    ) -> SurveyItems:
        """The survey questions about a suite, or about a model's answers to it.

        Args:
            suite: suite of the questions.
            task: task of the survey; None for the usual one.
            run: run whose answers are judged; None for the suite itself.

        Raises:
            UsageError: suites of this kind are not asked about by this task.
        """

    def apply_judgments(
        self,
        suite: SuiteT_contra,
        judgments: Sequence[Judgment],  # noqa: ARG002
        folder: Path,  # noqa: ARG002
        *,
        scale: tuple[float, float] | None = None,  # noqa: ARG002
    ) -> AppliedJudgments:
        """Write a copy of a suite with people's judgments.

        Args:
            suite: the suite that people were asked about.
            judgments: judgments; those of other suites, and attention checks, are skipped and
                counted.
            folder: folder of the copy.
            scale: ends of the rating scale, the worst first; None for the suite's own.

        Raises:
            InputError: no answer is about the suite, or a rating is off the scale.
            UsageError: suites of this kind cannot contain judgments, or the scale is unknown.
            StorageError: the copy cannot be written.
        """
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="suites of this kind do not hold what people answered",
            todo="Give a suite of sentences or of blanks.",
        )

    def verdicts(
        self,
        suite: SuiteT_contra,  # noqa: ARG002
        judgments: Sequence[Judgment],  # noqa: ARG002
    ) -> tuple[Mapping[str, Mapping[str, str]], str]:
        """The verdict on each item by each person's answers, as if they were a model's.

        Args:
            suite: the suite that people were asked about.
            judgments: judgments, also of other suites.

        Returns:
            Person to item to verdict, and why there are none; empty where there are some.
        """
        return {}, NOT_COMPARED


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


def refuse_run(run: object | None, suite: TestSuite) -> None:
    """Refuse a survey about a run whose answers contain no candidates.

    Raises:
        UsageError: a run is given, and it contains no candidates.
    """
    if run is not None:
        raise UsageError(
            where=f"run of {suite.name!r}",
            seen="people judge the candidates of blanks, and it has none",
            todo="Give the suite, or a run of a suite with blanks.",
        )


_ABOUT = "about the suite"
_SAME_FILE = (
    "Give the file of that name, which you gave to `cimento annotate import`; a copy under another"
    " name must have the same sentences under the same items."
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
            passed[f"{_ABOUT} {judgment.suite!r}"] += 1
        elif judgment.question not in questions:
            passed[f"the question {judgment.question!r} is none for this kind of suite"] += 1
        else:
            about.append(judgment)
    return about, passed


def _is_of_other(passed: Mapping[str, int]) -> bool:
    """Whether answers were left out because they are about another suite."""
    return any(why.startswith(_ABOUT) for why in passed)


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
            todo=_SAME_FILE if _is_of_other(passed) else "Give the suite that was asked.",
        )
