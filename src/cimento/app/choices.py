"""What people chose beside what a model does: pairs of sentences, words for blanks, and stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import polars as pl

from cimento.documents import versions_apart
from cimento.judgments import Judgment
from cimento.judgments.summaries import once
from cimento.kinds.run import Run
from cimento.paired.item_outcomes import item_outcomes, labeled_apart

_EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoicesBeside:
    """The answers of people beside those of a model, on the items that both answered.

    Attributes:
        suite: name of the run's suite, with its version where there are several.
        model: label of the model.
        items: number of items.
        people_right: mean over items of the proportion of people who are right; None without items.
        model_right: proportion of the items on which the model is right; None without items.
        same: number of items on which most people and the model are both right or both wrong.
        decided: number of items on which people are not evenly split.
    """

    suite: str
    model: str
    items: int
    people_right: float | None
    model_right: float | None
    same: int
    decided: int


def beside_choices(judgments: Sequence[Judgment], runs: Sequence[Run]) -> list[ChoicesBeside]:
    """The choices of people beside each run on the same items.

    Args:
        judgments: the answers; of repeated ones of one person the first counts.
        runs: stored runs; those of other suites, and those that have no items with an answer of
            people that is right or wrong, are left out.

    Raises:
        CimentoError: a run's outcomes cannot be read.
    """
    given = once([one for one in judgments if one.counts])
    asked = {one.suite for one in given}
    shown = labeled_apart(versions_apart([run for run in runs if run.suite_name in asked]))
    made = (_beside(run, shares) for run in shown if (shares := _shares(run, given)))
    return [one for one in made if one.items]


def _shares(run: Run, judgments: Sequence[Judgment]) -> dict[str, float]:
    """The proportion of people who are right, by item."""
    surveyor = run.paradigm.surveyor
    if surveyor is None:
        return {}
    verdicts, _ = surveyor.verdicts(run.suite, judgments)
    right: dict[str, list[float]] = {}
    for by_item in verdicts.values():
        for item, verdict in by_item.items():
            if verdict != "unscored":
                right.setdefault(item, []).append(float(verdict == "pass"))
    return {item: fmean(answers) for item, answers in right.items()}


def _beside(run: Run, shares: Mapping[str, float]) -> ChoicesBeside:
    rights = {item: right for item, right in _rights(run).items() if item in shares}
    decided = [item for item in rights if shares[item] != _EVEN]
    return ChoicesBeside(
        suite=run.suite.name,
        model=run.model,
        items=len(rights),
        people_right=fmean(shares[item] for item in rights) if rights else None,
        model_right=fmean(rights.values()) if rights else None,
        same=sum((shares[item] > _EVEN) == rights[item] for item in decided),
        decided=len(decided),
    )


def _rights(run: Run) -> dict[str, bool]:
    """Whether a run is right on each item, on the question that people are asked too."""
    surveyor = run.paradigm.surveyor
    question = "" if surveyor is None else surveyor.question
    question = question or next((one.question for one in item_outcomes([run])), "")
    rows = run.outcomes().filter(pl.col("question") == question)
    rows = rows.filter(rows["method"] == rows["method"][0]) if len(rows) else rows
    return {
        item: right for item, right in rows.select("item", "right").iter_rows() if right is not None
    }
