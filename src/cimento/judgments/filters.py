"""Participants and answers left out in the open: who, by which rule, and what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cimento.errors import UsageError, did_you_mean
from cimento.judgments import measuring
from cimento.judgments.figures import QuestionFigures, figures, place_means
from cimento.judgments.measuring import Measured, by_person
from cimento.judgments.records import Judgment

Duplicates: TypeAlias = Literal["keep", "first", "last", "none"]
"""Which of several answers of one person to one question stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a participant must not be below, or above; None for no such rule.

    Attributes:
        duplicates: which of several answers of one person to one question stay.
        statuses: of submissions that do not count.
        seconds: the least that a whole sitting takes.
        attention: the least share of checks of attention that is right.
        same_share: the largest share that one answer may have.
        same_run: the longest run of equal answers.
        with_rest: the least agreement with everybody else.
        by_hand: participant to the reason why they are left out.
    """

    duplicates: Duplicates = "keep"
    statuses: tuple[str, ...] = ()
    seconds: float | None = None
    attention: float | None = None
    same_share: float | None = None
    same_run: int | None = None
    with_rest: float | None = None
    by_hand: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """A participant, or some answers of one, left out.

    Attributes:
        annotator: who.
        why: what was measured, in words.
        measured: the number; None where there is none.
        judgments: answers that are left out.
    """

    annotator: str
    why: str
    measured: float | None
    judgments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A rule applied to what the rules before it left.

    Attributes:
        rule: its name.
        limit: in words.
        excluded: who is left out by it.
        unmeasured: participants of whom it could not be measured, with the reason; they stay.
        before: what the judgments said.
        after: what they say now.
        moved: the place whose mean rating moved most: its name, the mean before and after; None
            where no mean did.
    """

    rule: str
    limit: str
    excluded: tuple[Exclusion, ...]
    unmeasured: Mapping[str, str]
    before: tuple[QuestionFigures, ...]
    after: tuple[QuestionFigures, ...]
    moved: tuple[str, float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered:
    """What is left of some judgments, and how it came to that.

    Attributes:
        judgments: that are left, in their order.
        steps: the rules, in the order in which they were applied.
        before: what all judgments said.
        after: what those that are left say.
    """

    judgments: tuple[Judgment, ...]
    steps: tuple[Step, ...]
    before: tuple[QuestionFigures, ...]
    after: tuple[QuestionFigures, ...]


_Rule: TypeAlias = tuple[str, str, Callable[[Sequence[Judgment]], "Found"]]


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule finds: whole participants, or single answers by their place in the list."""

    people: Mapping[str, Measured] = field(default_factory=dict)
    rows: frozenset[int] = frozenset()
    unmeasured: Mapping[str, str] = field(default_factory=dict)


def filter_judgments(judgments: Sequence[Judgment], limits: Limits) -> Filtered:
    """Apply rules one after the other; each sees what those before it left.

    The order is: duplicates, status, by hand, time, attention, one answer too often, runs of one
    answer, agreement with the rest.

    Args:
        judgments: of one survey; rows without a participant are left as they are.
        limits: which rules there are.

    Raises:
        UsageError: somebody is to be left out who is not there.
    """
    left, steps = list(judgments), []
    for rule, limit, find in _rules(judgments, limits):
        found = find(left)
        kept = [
            each
            for place, each in enumerate(left)
            if place not in found.rows and each.annotator not in found.people
        ]
        steps.append(
            Step(
                rule=rule,
                limit=limit,
                excluded=tuple(_exclusions(left, found)),
                unmeasured=found.unmeasured,
                before=figures(left),
                after=figures(kept),
                moved=_moved(left, kept),
            )
        )
        left = kept
    return Filtered(
        judgments=tuple(left), steps=tuple(steps), before=figures(judgments), after=figures(left)
    )


def _rules(judgments: Sequence[Judgment], limits: Limits) -> Iterator[_Rule]:
    if limits.duplicates != "keep":
        which: Duplicates = limits.duplicates
        yield "duplicates", f"of several answers {which}", lambda left: _doubled(left, which)
    if limits.statuses:
        wanted = {each.upper() for each in limits.statuses}
        yield "status", f"not {', '.join(sorted(wanted))}", lambda left: _status(left, wanted)
    if limits.by_hand:
        _refuse_unknown(judgments, limits.by_hand)
        yield "by hand", "named one by one", lambda _left: _by_hand(limits.by_hand)
    if (seconds := limits.seconds) is not None:
        yield (
            "completion time",
            f"at least {seconds:g} seconds",
            lambda left: _each(left, measuring.sitting_seconds, lambda value: value < seconds),
        )
    if (attention := limits.attention) is not None:
        yield (
            "attention checks",
            f"at least {attention:g} right",
            lambda left: _each(left, measuring.attention, lambda value: value < attention),
        )
    if (share := limits.same_share) is not None:
        yield (
            "straight-lining, share",
            f"no answer has more than {share:g}",
            lambda left: _each(left, measuring.same_share, lambda value: value > share),
        )
    if (run := limits.same_run) is not None:
        yield (
            "straight-lining, run",
            f"at most {run} equal answers in a row",
            lambda left: _each(left, measuring.same_run, lambda value: value > run),
        )
    if (rest := limits.with_rest) is not None:
        yield "agreement with the rest", f"at least {rest:g}", lambda left: _with_rest(left, rest)


def _each(
    left: Sequence[Judgment],
    measure: Callable[[Sequence[Judgment]], Measured],
    fails: Callable[[float], bool],
) -> Found:
    return _found({name: measure(own) for name, own in by_person(left).items()}, fails)


def _with_rest(left: Sequence[Judgment], least: float) -> Found:
    return _found(measuring.with_rest(left), lambda value: value < least)


def _found(measured: Mapping[str, Measured], fails: Callable[[float], bool]) -> Found:
    return Found(
        people={
            name: each
            for name, each in measured.items()
            if each.value is not None and fails(each.value)
        },
        unmeasured={name: each.how for name, each in measured.items() if each.value is None},
    )


def _doubled(left: Sequence[Judgment], which: Duplicates) -> Found:
    """Answers that stand beside others of the same person to the same question."""
    places: dict[tuple[object, ...], list[int]] = {}
    for place, each in enumerate(left):
        if each.annotator is not None and not each.is_check:
            places.setdefault((each.annotator, *each.place), []).append(place)
    kept = {"first": slice(1, None), "last": slice(None, -1), "none": slice(None)}[which]
    return Found(
        rows=frozenset(place for own in places.values() if len(own) > 1 for place in own[kept])
    )


def _status(left: Sequence[Judgment], wanted: set[str]) -> Found:
    people, unknown = {}, {}
    for name, own in by_person(left).items():
        status = next((each.status for each in own if each.status), None)
        if status is None:
            unknown[name] = "there is no status"
        elif status.upper() in wanted:
            people[name] = Measured(None, f"the status is {status}")
    return Found(people=people, unmeasured=unknown)


def _by_hand(reasons: Mapping[str, str]) -> Found:
    return Found(people={name: Measured(None, reason) for name, reason in reasons.items()})


def _refuse_unknown(judgments: Sequence[Judgment], reasons: Mapping[str, str]) -> None:
    known = by_person(judgments)
    for name in reasons:
        if name not in known:
            raise UsageError(
                where=f"--drop {name}",
                seen="nobody of that name has answered",
                todo=did_you_mean(name, known),
            )


def _exclusions(left: Sequence[Judgment], found: Found) -> Iterator[Exclusion]:
    counts: dict[str, int] = {}
    for place, each in enumerate(left):
        if place in found.rows or each.annotator in found.people:
            counts[each.annotator or ""] = counts.get(each.annotator or "", 0) + 1
    for name, count in counts.items():
        said = found.people.get(name, Measured(None, "answered the same again"))
        yield Exclusion(annotator=name, why=said.how, measured=said.value, judgments=count)


def _moved(
    before: Sequence[Judgment], after: Sequence[Judgment]
) -> tuple[str, float, float] | None:
    """The place whose mean moved most."""
    first, second = place_means(before), place_means(after)
    moves = [
        (abs(second[place] - mean), f"{place[1]} {place[2]}".strip(), mean, second[place])
        for place, mean in first.items()
        if place in second and second[place] != mean
    ]
    return max(moves)[1:] if moves else None
