"""Remarks on who answered what, for the person who imports or filters answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from cimento.errors import counted
from cimento.judgments import BETTER, Judgment
from cimento.judgments.asked import AskedItem, AskedItems, nearest
from cimento.judgments.formats import Submission
from cimento.judgments.summaries import (
    attention,
    is_rated,
    judgments_by_person,
    questions_given,
    rating_of,
)

_SHOWN = 5
_COARSE = 0.33
"""The proportion of answers above which those to a question answered before show a wrong column."""


def spelled_apart(people: Mapping[str, str]) -> Iterator[str]:
    """Notes on names that differ in capitals only.

    Args:
        people: name in the file to the one that is kept.
    """
    spellings: dict[str, dict[str, None]] = {}
    alike: dict[str, int] = {}
    for name, kept in people.items():
        folded = name.strip().casefold()
        spellings.setdefault(folded, {})[kept] = None
        alike[folded] = alike.get(folded, 0) + 1
    apart = [" and ".join(kept) for kept in spellings.values() if len(kept) > 1]
    joined = [kept for name, (kept, *more) in spellings.items() if alike[name] > 1 and not more]
    if joined:
        yield (
            f"{counted(len(joined), 'person', 'people')} wrote their address in several ways, with"
            f" capitals and without: {_listed(joined)}. All answers to one address are of one"
            " person."
        )
    if apart:
        yield (
            f"Names that differ in capitals only count as two people: {_listed(apart)}. If they are"
            " one, write the name alike in the file of answers, and import it again."
        )


def doubled(judgments: Sequence[Judgment]) -> Iterator[str]:
    """A note where the same person answered the same question twice; nothing is left out."""
    counts = Counter(
        (judgment.annotator, *judgment.key) for judgment in judgments if not judgment.is_check
    )
    if n := sum(count - 1 for count in counts.values()):
        people = [name or "?" for (name, *_), count in counts.items() if count > 1]
        coarse = ""
        if n > _COARSE * counts.total():
            coarse = (
                " So many are probably to other items, and another column has their names:"
                " `--columns item=COLUMN` chooses it."
            )
        yield (
            f"{counted(n, 'answer is', 'answers are')} to a question that the same person had"
            f" answered before ({_listed(people)}); all are in the table, and the first ones count:"
            f" `cimento annotate filter --duplicates` keeps others, or none.{coarse}"
        )


def worded(judgments: Sequence[Judgment]) -> Iterator[str]:
    """A note on ratings that are not numbers, which count nowhere."""
    words = [
        judgment.value or ""
        for judgment in judgments
        if judgment.counts and is_rated(judgment.question) and rating_of(judgment) is None
    ]
    if words:
        shown = _listed([repr(word) for word in words])
        yield (
            f"{counted(len(words), 'rating is', 'ratings are')} not a number ({shown}), and left"
            " out of means and agreement: give each word its number in the table [values] of a"
            " --mapping."
        )


def unanswered(
    asked: Sequence[tuple[Judgment, AskedItem | None]],
    judgments: Sequence[Judgment],
    places: AskedItems,
) -> Iterator[str]:
    """A note on questions of the answered surveys that nobody answered."""
    trials = {place.trial for _, place in asked if place is not None}
    surveys = {judgment.survey for judgment in judgments if judgment.survey}
    if missing := places.unanswered(trials, surveys):
        names = _listed([f"{place.trial} ({place.text})" for place in missing])
        yield (
            f"{counted(len(missing), 'question has', 'questions have')} no answers at all: {names}."
            " If people answered, is it under another heading?"
        )


def unasked(
    judgments: Sequence[Judgment], places: AskedItems, unused: Collection[str]
) -> Iterator[str]:
    """A note on sentences of a suite that nobody answered, each with the heading most like it.

    Args:
        judgments: of all participants.
        places: the questions of suites; nothing is said of a design, see `unanswered`.
        unused: headings of columns that matched no sentence; none of them is used for one.
    """
    if places.complete:
        return
    answered = {(j.suite, j.item, "" if j.question == BETTER else j.condition) for j in judgments}
    missing = [
        place
        for place in places.shown_in({judgment.suite for judgment in judgments})
        if not {(place.suite, place.item, one) for one in (place.condition, "")} & answered
    ]
    if not missing:
        return
    shown, is_near = [], False
    for place in missing[:_SHOWN]:
        near = nearest(place.text, unused)
        is_near = is_near or bool(near)
        name = f"{place.item}, {place.condition}" if place.condition else place.item
        also = f" (the nearest unused question is {near!r})" if near else ""
        shown.append(f"item {name}: {place.text!r}{also}")
    more = f"; and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    advice = " If they are the same, write them alike, and import again." if is_near else ""
    what = counted(len(missing), "sentence has", "sentences have")
    yield f"{what} no answers: {'; '.join(shown)}{more}.{advice}"


def unfinished(judgments: Sequence[Judgment], sizes: Mapping[str, int]) -> Iterator[str]:
    """A note on participants who answered a part of their survey only."""
    people = {}
    for name, answers in judgments_by_person(judgments).items():
        survey, given = questions_given(answers)
        if given < sizes.get(survey, 0):
            people[name] = f"{given} of {sizes[survey]}"
    if people:
        yield (
            f"{counted(len(people), 'person', 'people')} did not answer every question:"
            f" {_measured(people)}. `cimento annotate filter --answered 1` leaves them out."
        )


def inattentive(judgments: Sequence[Judgment], *, failed_only: bool = False) -> Iterator[str]:
    """A note on attention checks, and on participants who failed one.

    Args:
        judgments: of all participants.
        failed_only: no note where nobody failed any.
    """
    measured = {
        name: measurement
        for name, answers in judgments_by_person(judgments).items()
        if (measurement := attention(answers)).value is not None
    }
    if not measured:
        return
    failed = {name: m.basis for name, m in measured.items() if m.value is not None and m.value < 1}
    if not failed:
        if failed_only:
            return
        yield f"All attention checks of {counted(len(measured), 'person', 'people')} are right."
        return
    yield (
        f"{counted(len(failed), 'person', 'people')} failed attention checks: {_measured(failed)}."
        " `cimento annotate filter --attention 1` leaves them out."
    )


def prolific_notes(
    people: Mapping[str, str], submissions: Mapping[str, Submission] | None
) -> Iterator[str]:
    """Notes on participants in the answers alone or in the export alone."""
    if submissions is None:
        return
    unknown = [kept for name, kept in people.items() if name not in submissions]
    silent = [name for name in submissions if name not in people]
    if unknown:
        yield f"{len(unknown)} who answered are not in the export: {_listed(unknown)}"
    if silent:
        yield f"{len(silent)} in the export have no answer"


def _measured(people: Mapping[str, str]) -> str:
    return _listed([f"{name} ({what})" for name, what in people.items()])


def _listed(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
