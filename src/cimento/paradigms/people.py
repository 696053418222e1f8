"""What the paradigms share that ask people: the task that is chosen, and answers about a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.errors import InputError, UsageError

if TYPE_CHECKING:
    from cimento.paradigms.base import SurveyTask
    from cimento.people.judgments.records import Judgment
    from cimento.runs.run import Run


def chosen_task(task: SurveyTask | None, *possible: SurveyTask) -> SurveyTask:
    """The task that was named, else the usual one.

    Raises:
        UsageError: it is none of those that are possible.
    """
    if task is not None and task not in possible:
        raise UsageError(
            where=f"--task {task}",
            seen="it is not a task for this kind of suite",
            todo=f"Choose {' or '.join(possible)}.",
        )
    return task or possible[0]


def refuse_run(run: Run | None) -> None:
    """See that people are asked about a suite, where its answers hold no candidates.

    Raises:
        UsageError: they are to be asked about a run, and it holds no candidates.
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
    """The answers about a suite to one of some questions, and why others are none of them."""
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
    """See that people answered something about a suite.

    Raises:
        InputError: they did not.
    """
    if not used:
        seen = "; ".join(f"{count}: {why}" for why, count in passed.items())
        raise InputError(
            where=f"suite {suite!r}",
            seen="there is no answer about it" + (f" ({seen})" if seen else ""),
            todo="Give the suite that was asked.",
        )
