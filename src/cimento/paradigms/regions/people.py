"""People's judgments of sentences: survey questions, and answers as columns of a suite."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError, UsageError
from cimento.judgments import ACCEPTABILITY, ACCEPTABLE, BETTER, SCALE, Judgment
from cimento.kinds.base import AppliedJudgments, SurveyItem, SurveyItems, SurveyTask
from cimento.kinds.surveyor import answers_about, chosen_task, refuse_nothing, refuse_run
from cimento.paradigms.regions.given_answers import ratings_by_condition, refuse_words
from cimento.paradigms.regions.judging import CHOSEN_BY
from cimento.suites.builtin import RATED
from cimento.suites.stimuli import regions_of_words, stimulus_text, stimulus_texts

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.suites import Condition, JsonValue, Suite

SENTENCE_ID = "sentence_id"
"""Free column with an id of each sentence, in suites made from treebanks."""

_RATINGS, PARTICIPANTS = "ratings", "participants"

_EARLIER = ("rating", "rating_sd", "rating_n", _RATINGS, PARTICIPANTS)
"""Columns with ratings that a suite may already have, by its author or by other people."""


def sentence_items(suite: Suite, task: SurveyTask | None, *, run: Run | None = None) -> SurveyItems:
    """Each sentence, to be rated or read; or each item, with its conditions to choose among.

    Raises:
        UsageError: the task is of another kind, or a run is given.
    """
    refuse_run(run, suite)
    chosen = chosen_task(task, "likert", "yesno", "choice", "reading", "maze")
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
                regions=regions_of_words(suite, condition),
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
) -> AppliedJudgments:
    """Write a copy of a suite of sentences, with people's answers.

    Ratings, and yes/no answers, become the columns of suites of kind ``acceptability``; choices
    between the two sentences of a pair become a count for each sentence.

    Raises:
        InputError: no answer is about the suite.
        UsageError: the scale of the ratings is unknown.
        StorageError: the copy cannot be written.
    """
    from cimento.suites.formats.native import write_native

    known = stimulus_texts(suite)
    about, passed = answers_about(judgments, suite.name, (ACCEPTABILITY, ACCEPTABLE, BETTER))
    yes_no = not any(judgment.question == ACCEPTABILITY for judgment in about)
    refuse_words([one for one in about if one.question in (ACCEPTABILITY, ACCEPTABLE)])
    ratings, chosen = ratings_by_condition(about, known, passed, yes_no=yes_no)
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
        ends = (0.0, 1.0) if yes_no else scale or _scale_asked(about)
        extra |= {"kind": RATED, _RATINGS: _scale(suite, ends)}
    write_native(dataclasses.replace(suite, items=items, extra=extra), folder)
    answered = {item for item, _ in (*ratings, *chosen)}
    sentences = [(item.id, condition.name) for item in suite.items for condition in item.conditions]
    unrated = sum(sentence not in ratings for sentence in sentences) if ratings else 0
    without = sum(item.id not in answered for item in suite.items)
    return AppliedJudgments(used, without, passed, unrated)


def _answered(
    condition: Condition, ratings: Sequence[tuple[str, str]] | None, chosen: int | None
) -> Condition:
    """A condition with people's answers; None if people were not asked about it."""
    columns = dict(condition.columns)
    if ratings is not None:
        # Without answers, the author's expected rating must not be taken for one.
        columns = {name: cell for name, cell in columns.items() if name not in _EARLIER}
    if ratings:
        columns[_RATINGS] = "; ".join(value for value, _ in ratings)
        if all(name for _, name in ratings):
            columns[PARTICIPANTS] = "; ".join(re.sub(r"[,;]+", " ", name) for _, name in ratings)
    if chosen is not None:
        columns[CHOSEN_BY] = str(chosen)
    return dataclasses.replace(condition, columns=columns)


def _scale_asked(about: Sequence[Judgment]) -> tuple[float, float] | None:
    """The scale of a survey, from the survey's own record; None if the answers have no scale.

    Raises:
        InputError: the ratings are on several scales, or the recorded scale is invalid.
    """
    rated = (judgment for judgment in about if judgment.question == ACCEPTABILITY)
    scales = list(dict.fromkeys(judgment.scale for judgment in rated if judgment.scale))
    if not scales:
        return None
    ends = SCALE.fullmatch(scales[0])
    if ends is None or float(ends[1]) >= float(ends[2]) or len(scales) > 1:
        raise InputError(
            where="judgments, column scale",
            seen=f"the ratings were given on {' and '.join(map(repr, scales))}",
            todo="One scale is needed, written as 1 to 7; answers on another make another copy.",
        )
    return float(ends[1]), float(ends[2])


def _scale(suite: Suite, scale: tuple[float, float] | None) -> JsonValue:
    """The suite's ``[ratings]``, with the ends of the scale."""
    table = suite.extra.get(_RATINGS)
    known = dict(table) if isinstance(table, dict) else {}
    if scale is not None:
        known |= {"low": scale[0], "high": scale[1]}
    if "low" not in known or "high" not in known:
        also = "" if suite.meta.language not in ("", "und") else " --language CODE"
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="it is not known on which scale the ratings are",
            todo=f"Give --scale 1,5{also}: the worst and the best. Answers that were imported with"
            " the --design of their survey have its scale.",
        )
    return {**known, "by": "people"}
