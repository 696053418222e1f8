"""What people are asked about suites of sentences, and their answers as columns of a copy."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.paradigms.base import Applied, SurveyItem, SurveyItems, SurveyTask
from cimento.paradigms.people import answers_about, chosen_task, refuse_nothing, refuse_run
from cimento.paradigms.regions.judging import CHOSEN_BY
from cimento.people.judgments.records import ACCEPTABILITY, ACCEPTABLE, BETTER, Judgment
from cimento.people.judgments.summaries import rating_of
from cimento.suites.kinds import RATED
from cimento.suites.stimuli import stimulus_text

if TYPE_CHECKING:
    from cimento.runs.run import Run
    from cimento.suites.model import Condition, JsonValue, Suite

SENTENCE_ID = "sentence_id"
"""Free column with an id of each sentence, as suites made of treebanks have it."""

RATINGS, PARTICIPANTS = "ratings", "participants"

_EARLIER = ("rating", "rating_sd", "rating_n", RATINGS, PARTICIPANTS)
"""Columns with ratings that a suite may have already, of its author or of other people."""


def sentence_items(suite: Suite, task: SurveyTask | None, *, run: Run | None = None) -> SurveyItems:
    """Each sentence to be rated; or each item, its conditions to be chosen among.

    Raises:
        UsageError: the task is another one, or a run is given.
    """
    refuse_run(run)
    chosen = chosen_task(task, "likert", "yesno", "choice")
    items: list[SurveyItem] = []
    for item in suite.items:
        texts = [stimulus_text(condition, rule=suite.join) for condition in item.conditions]
        if chosen == "choice":
            names = [condition.name for condition in item.conditions]
            items.append(
                SurveyItem(
                    item=item.id,
                    options=tuple(zip(texts, names, strict=True)),
                    columns=item.conditions[0].columns,
                    apart=item.id,
                )
            )
            continue
        items += [
            SurveyItem(
                item=item.id,
                condition=condition.name,
                lines=(text,),
                judged=text,
                columns=condition.columns,
                apart=item.id,
                names=(condition.columns.get(SENTENCE_ID, ""),),
            )
            for condition, text in zip(item.conditions, texts, strict=True)
        ]
    return SurveyItems(chosen, tuple(items))


def judged_sentences(
    suite: Suite,
    judgments: Sequence[Judgment],
    folder: Path,
    *,
    scale: tuple[float, float] | None,
) -> Applied:
    """Write a copy of a suite of sentences with what people said of them.

    Ratings, and answers of yes or no, become the columns that suites of kind ``acceptability``
    have, choices between the two sentences of a pair a count for each.

    Raises:
        InputError: nobody answered anything about the suite.
        UsageError: it is not known on which scale the ratings are.
        StorageError: the copy cannot be written.
    """
    from cimento.suites.formats.native import write_native

    known = {(item.id, condition.name) for item, condition in suite.stimuli()}
    about, passed = answers_about(judgments, suite.name, (ACCEPTABILITY, ACCEPTABLE, BETTER))
    yes_no = not any(judgment.question == ACCEPTABILITY for judgment in about)
    ratings, chosen = _by_condition(about, known, passed, yes_no=yes_no)
    used = sum(map(len, ratings.values())) + sum(chosen.values())
    refuse_nothing(used, suite.name, passed)
    items = tuple(
        dataclasses.replace(
            item,
            conditions=tuple(
                _answered(
                    condition,
                    ratings.get((item.id, condition.name), []) if ratings else None,
                    chosen[item.id, condition.name] if chosen else None,
                )
                for condition in item.conditions
            ),
        )
        for item in suite.items
    )
    extra = dict(suite.extra)
    if ratings:
        extra |= {"kind": RATED, RATINGS: _scale(suite, (0.0, 1.0) if yes_no else scale)}
    write_native(dataclasses.replace(suite, items=items, extra=extra), folder)
    answered = {item for item, _ in (*ratings, *chosen)}
    return Applied(used, sum(item.id not in answered for item in suite.items), passed)


def _by_condition(
    about: Sequence[Judgment],
    known: set[tuple[str, str]],
    passed: Counter[str],
    *,
    yes_no: bool,
) -> tuple[dict[tuple[str, str], list[tuple[str, str]]], Counter[tuple[str, str]]]:
    """Ratings with their annotators, and how often it was chosen, of each condition of an item."""
    ratings: dict[tuple[str, str], list[tuple[str, str]]] = {}
    chosen: Counter[tuple[str, str]] = Counter()
    for judgment in about:
        key = (judgment.item, judgment.condition)
        if key not in known:
            passed["the suite has no such item or condition"] += 1
        elif judgment.question == BETTER:
            chosen[key] += 1
        elif judgment.question == ACCEPTABLE and not yes_no:
            passed["yes or no, where others rated"] += 1
        elif (value := _given_rating(judgment)) is None:
            passed["a rating is no number"] += 1
        else:
            ratings.setdefault(key, []).append((value, judgment.annotator or ""))
    return ratings, chosen


def _given_rating(judgment: Judgment) -> str | None:
    """A rating as it is written; yes is 1 and no is 0. None where it is none."""
    if judgment.question == ACCEPTABLE:
        return {"yes": "1", "no": "0"}.get(judgment.value or "")
    return judgment.value if rating_of(judgment) is not None else None


def _answered(
    condition: Condition, ratings: Sequence[tuple[str, str]] | None, chosen: int | None
) -> Condition:
    """A condition with what people said; None where they were not asked that."""
    columns = dict(condition.columns)
    if ratings is not None:
        # Where nobody answered, what the author expects must not pass for an answer.
        columns = {name: cell for name, cell in columns.items() if name not in _EARLIER}
    if ratings:
        columns[RATINGS] = ",".join(value for value, _ in ratings)
        if all(name for _, name in ratings):
            columns[PARTICIPANTS] = ",".join(re.sub(r"[,;]+", " ", name) for _, name in ratings)
    if chosen is not None:
        columns[CHOSEN_BY] = str(chosen)
    return dataclasses.replace(condition, columns=columns)


def _scale(suite: Suite, scale: tuple[float, float] | None) -> JsonValue:
    """The suite's ``[ratings]``, with the ends of the scale."""
    table = suite.extra.get(RATINGS)
    known = dict(table) if isinstance(table, dict) else {}
    if scale is not None:
        known |= {"low": scale[0], "high": scale[1]}
    if "low" not in known or "high" not in known:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="it is not known on which scale the ratings are",
            todo="Give --scale 1,5: the worst and the best.",
        )
    return {**known, "by": "people"}
