"""People's judgments of sentences: survey questions, and answers as columns of a suite."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError, UsageError, counted
from cimento.judgments import ACCEPTABILITY, ACCEPTABLE, BETTER, SCALE, Judgment
from cimento.kinds.base import AppliedJudgments, SurveyItem, SurveyItems, SurveyTask
from cimento.kinds.surveyor import answers_about, chosen_task, refuse_nothing, refuse_run
from cimento.paradigms.regions.given_answers import ratings_by_condition, refuse_words
from cimento.paradigms.regions.judging import CHOSEN_BY, chosen_column
from cimento.suites.builtin import RATED
from cimento.suites.cells import Cells
from cimento.suites.ratings import PEOPLE, cells_of_ratings, rated_of, ratings_by
from cimento.suites.stimuli import regions_of_words, stimulus_text, stimulus_texts

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.suites import Condition, Item, JsonValue, Suite

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
                    columns=_shared_columns(item),
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


def _shared_columns(item: Item) -> dict[str, str]:
    """The free columns of an item in which no condition has anything else than the first."""
    first, *others = item.conditions
    return {
        name: cell
        for name, cell in first.columns.items()
        if all(other.columns.get(name, "") in ("", cell) for other in others)
    }


def judged_sentences(
    suite: Suite,
    judgments: Sequence[Judgment],
    folder: Path,
    *,
    scale: tuple[float, float] | None,
) -> AppliedJudgments:
    """Write a copy of a suite of sentences, with people's answers.

    Ratings, and yes/no answers, become the columns of suites of kind ``acceptability``; choices
    between the two sentences of a pair become a count for each sentence. People's ratings of other
    sentences, such as means, stay as the suite has them.

    Raises:
        InputError: no answer is about the suite, the answers are words, or ratings that stay in
            the suite are on another scale.
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
    earlier = _earlier(suite) if ratings else frozenset()
    kept = earlier - ratings.keys()
    extra = dict(suite.extra)
    if ratings:
        ends = (0.0, 1.0) if yes_no else scale or _scale_asked(about)
        extra |= {"kind": RATED, _RATINGS: _scale(suite, ends)}
        if kept and ends is not None:
            _refuse_other_scale(suite, ends, n_kept=len(kept))
    items = _answered_items(suite, ratings, chosen, kept=kept)
    write_native(dataclasses.replace(suite, items=items, extra=extra), folder)
    rated = kept | ratings.keys()
    return AppliedJudgments(
        used,
        _unanswered(suite, (*ratings, *chosen)),
        passed,
        unrated=sum((item.id, one.name) not in rated for item, one in suite.stimuli() if ratings),
        earlier=len(earlier),
        kept=len(kept),
    )


def _answered_items(
    suite: Suite,
    ratings: Mapping[tuple[str, str], Sequence[tuple[str, str]]],
    chosen: Mapping[tuple[str, str], int],
    *,
    kept: Collection[tuple[str, str]],
) -> tuple[Item, ...]:
    """The items of a suite with people's answers, except where earlier ratings are kept."""
    own = cells_of_ratings(suite)
    return tuple(
        dataclasses.replace(
            item,
            conditions=tuple(
                _answered(
                    condition,
                    Cells("", own(condition)),
                    None if not ratings or key in kept else ratings.get(key, []),
                    chosen.get(key, 0) if chosen else None,
                )
                for condition in item.conditions
                for key in [(item.id, condition.name)]
            ),
        )
        for item in suite.items
    )


def _unanswered(suite: Suite, places: Iterable[tuple[str, str]]) -> int:
    """The number of items without an answer, given the items and conditions of answers."""
    answered = {item for item, _ in places}
    return sum(item.id not in answered for item in suite.items)


def _earlier(suite: Suite) -> frozenset[tuple[str, str]]:
    """The item and condition of each sentence of which a suite has people's ratings already.

    What an author expects is none of them: it must not be taken for an answer.

    Raises:
        InputError: the scale or a rating is invalid, or a rating is off the scale.
    """
    if suite.extra.get("kind") != RATED or ratings_by(suite) != PEOPLE:
        return frozenset()
    both = zip(suite.stimuli(), rated_of(suite).sentences, strict=True)
    return frozenset((item.id, one.name) for (item, one), sentence in both if sentence.given)


def _refuse_other_scale(suite: Suite, ends: tuple[float, float], *, n_kept: int) -> None:
    """Refuse answers on another scale than the ratings that stay in the suite.

    Raises:
        InputError: the scales differ; a suite has one.
    """
    own = rated_of(suite).scale
    if own is not None and (own.low, own.high) != ends:
        raise InputError(
            where=f"suite {suite.name!r}",
            seen=f"the ratings of {counted(n_kept, 'sentence')} that it has already are from"
            f" {own.low:g} to {own.high:g}, the answers from {ends[0]:g} to {ends[1]:g}",
            todo="A suite has one scale. If its own is wrong, correct it in the header,"
            " such as rating good (1-7); otherwise delete the ratings in the suite.",
        )


def _answered(
    condition: Condition,
    own: Cells,
    ratings: Sequence[tuple[str, str]] | None,
    chosen: int | None,
) -> Condition:
    """A condition with people's answers; None for ratings or choices that stay as they are.

    Earlier ratings are in some of its own cells.
    """
    columns = dict(condition.columns)
    if ratings is not None:
        earlier = {*map(own.find, _EARLIER)}
        columns = {name: cell for name, cell in columns.items() if name not in earlier}
    if ratings:
        columns[_RATINGS] = "; ".join(value for value, _ in ratings)
        if all(name for _, name in ratings):
            columns[PARTICIPANTS] = "; ".join(re.sub(r"[,;]+", " ", name) for _, name in ratings)
    if chosen is not None:
        columns.pop(chosen_column(columns), None)
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
