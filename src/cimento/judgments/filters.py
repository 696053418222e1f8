"""Exclusion of participants and answers, with the rule behind each and its effect on results."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from operator import gt, lt
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.errors import CimentoError, need_known
from cimento.io.files import read_bytes, write_text
from cimento.judgments import Judgment, table_of, write_judgments
from cimento.judgments.summaries import (
    Measurement,
    QuestionSummary,
    answered_shares,
    attention,
    judgments_by_person,
    mean_ratings,
    median_seconds,
    of_each,
    same_run,
    same_share,
    sitting_seconds,
    summarize,
    with_rest,
)
from cimento.report.formatting import agreement_text
from cimento.suites.reading import sha256_of

RepeatedAnswers: TypeAlias = Literal["keep", "first", "last", "none"]
"""The choice among repeated answers of one person to one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionRules:
    """The thresholds for participants; None for no such rule.

    Attributes:
        duplicates: which of several answers of one person to one question stay.
        statuses: of submissions that do not count.
        seconds: the least that a whole sitting takes, breaks included.
        median_seconds: the least median time of an answer.
        answered: the least proportion of the questions of a survey that is answered.
        attention: the least proportion of checks of attention that is right.
        same_share: the largest share that one answer may have.
        same_run: the longest run of equal answers.
        with_rest: the least agreement with everybody else.
        by_hand: participant to the reason why they are left out.
    """

    duplicates: RepeatedAnswers = "keep"
    statuses: tuple[str, ...] = ()
    seconds: float | None = None
    median_seconds: float | None = None
    answered: float | None = None
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
class FilterStep:
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
    before: tuple[QuestionSummary, ...]
    after: tuple[QuestionSummary, ...]
    moved: tuple[str, float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterResult:
    """The judgments left after filtering, with the log of the rules.

    Attributes:
        judgments: that are left, in their order.
        steps: the rules, in the order in which they were applied.
        before: what all judgments said.
        after: what those that are left say.
    """

    judgments: tuple[Judgment, ...]
    steps: tuple[FilterStep, ...]
    before: tuple[QuestionSummary, ...]
    after: tuple[QuestionSummary, ...]


_SHOWN = 5
"""Participants not measured for one reason who are named; more are counted."""

MEASURES: Mapping[str, Callable[[Sequence[Judgment]], Mapping[str, Measurement]]] = {
    "questions answered": answered_shares,
    "completion time": of_each(sitting_seconds),
    "median answer time": of_each(median_seconds),
    "attention checks": of_each(attention),
    "straight-lining, share": of_each(same_share),
    "straight-lining, run": of_each(same_run),
    "agreement with the rest": with_rest,
}
"""What is measured of each participant, by the name of the rule with a limit for it, in order."""

_LIMITS = {
    "questions answered": "answered",
    "completion time": "seconds",
    "median answer time": "median_seconds",
    "attention checks": "attention",
    "straight-lining, share": "same_share",
    "straight-lining, run": "same_run",
    "agreement with the rest": "with_rest",
}
"""The field of `ExclusionRules` with the limit of each rule that has one."""

_Rule: TypeAlias = tuple[str, str, Callable[[Sequence[Judgment]], "Failing"]]
_Comparison: TypeAlias = Callable[[float, float], bool]


@dataclass(frozen=True, slots=True)
class Failing:
    """The participants, or the single answers by their place in the list, that fail a rule."""

    people: Mapping[str, Measurement] = field(default_factory=dict)
    rows: frozenset[int] = frozenset()
    unmeasured: Mapping[str, str] = field(default_factory=dict)


def filter_judgments(judgments: Sequence[Judgment], limits: ExclusionRules) -> FilterResult:
    """Apply rules one after the other; each sees what those before it left.

    The order is: duplicates, status, by hand, questions answered, times, attention, one answer too
    often, runs of one answer, agreement with the rest.

    Args:
        judgments: of one survey; rows without a participant are left as they are.
        limits: which rules there are.

    Raises:
        UsageError: somebody is to be left out who is not there.
    """
    left, steps = list(judgments), []
    for rule, limit, find in _rules(judgments, limits):
        failing = find(left)
        kept = [
            judgment
            for place, judgment in enumerate(left)
            if place not in failing.rows and judgment.annotator not in failing.people
        ]
        steps.append(
            FilterStep(
                rule=rule,
                limit=limit,
                excluded=tuple(_exclusions(left, failing)),
                unmeasured=failing.unmeasured,
                before=summarize(left),
                after=summarize(kept),
                moved=_moved(left, kept),
            )
        )
        left = kept
    return FilterResult(
        judgments=tuple(left),
        steps=tuple(steps),
        before=summarize(judgments),
        after=summarize(left),
    )


def _rules(judgments: Sequence[Judgment], limits: ExclusionRules) -> Iterator[_Rule]:
    if limits.duplicates != "keep":
        which: RepeatedAnswers = limits.duplicates
        yield "duplicates", f"of several answers {which}", lambda left: _doubled(left, which)
    if limits.statuses:
        wanted = {status.upper() for status in limits.statuses}
        yield "status", f"not {', '.join(sorted(wanted))}", lambda left: _status(left, wanted)
    if limits.by_hand:
        known = judgments_by_person(judgments)
        for name in limits.by_hand:
            seen = "nobody of that name has answered"
            need_known(name, known, where=f"--drop={name}", seen=seen)
        named = {name: Measurement(None, reason) for name, reason in limits.by_hand.items()}
        yield "by hand", "named one by one", lambda _left: Failing(people=named)
    measured: tuple[tuple[str, str, _Comparison], ...] = (
        ("questions answered", "at least {:g} of a survey", lt),
        ("completion time", "at least {:g} seconds", lt),
        ("median answer time", "at least {:g} seconds", lt),
        ("attention checks", "at least {:g} right", lt),
        ("straight-lining, share", "no answer has more than {:g}", gt),
        ("straight-lining, run", "at most {} equal answers in a row", gt),
        ("agreement with the rest", "at least {:g}", lt),
    )
    for rule, wording, fails in measured:
        limit: float | None = getattr(limits, _LIMITS[rule])
        if limit is not None:
            yield rule, wording.format(limit), partial(_beyond, limit, rule, fails)


def _beyond(limit: float, rule: str, fails: _Comparison, left: Sequence[Judgment]) -> Failing:
    """The participants whose answers are beyond the limit of a rule."""
    people = MEASURES[rule](left)
    return Failing(
        people={
            name: measurement
            for name, measurement in people.items()
            if measurement.value is not None and fails(measurement.value, limit)
        },
        unmeasured={
            name: measurement.basis
            for name, measurement in people.items()
            if measurement.value is None
        },
    )


def _doubled(left: Sequence[Judgment], which: RepeatedAnswers) -> Failing:
    """The repeated answers of a person to a question."""
    places: dict[tuple[object, ...], list[int]] = {}
    for place, judgment in enumerate(left):
        if judgment.annotator is not None and not judgment.is_check:
            places.setdefault((judgment.annotator, *judgment.key), []).append(place)
    kept = {"first": slice(1, None), "last": slice(None, -1), "none": slice(None)}[which]
    return Failing(
        rows=frozenset(place for same in places.values() if len(same) > 1 for place in same[kept])
    )


def _status(left: Sequence[Judgment], wanted: set[str]) -> Failing:
    people, unknown = {}, {}
    for name, answers in judgments_by_person(left).items():
        status = next((judgment.status for judgment in answers if judgment.status), None)
        if status is None:
            unknown[name] = "there is no status"
        elif status.upper() in wanted:
            people[name] = Measurement(None, f"the status is {status}")
    return Failing(people=people, unmeasured=unknown)


def _exclusions(left: Sequence[Judgment], failing: Failing) -> Iterator[Exclusion]:
    counts = Counter(
        judgment.annotator or ""
        for place, judgment in enumerate(left)
        if place in failing.rows or judgment.annotator in failing.people
    )
    for name, count in counts.items():
        failure = failing.people.get(name, Measurement(None, "answered the same again"))
        yield Exclusion(annotator=name, why=failure.basis, measured=failure.value, judgments=count)


def _moved(
    before: Sequence[Judgment], after: Sequence[Judgment]
) -> tuple[str, float, float] | None:
    """The place whose mean moved most."""
    first, second = mean_ratings(before), mean_ratings(after)
    moves = [
        (abs(second[place] - mean), f"{place[1]} {place[2]}".strip(), mean, second[place])
        for place, mean in first.items()
        if place in second and second[place] != mean
    ]
    return max(moves)[1:] if moves else None


def write_filtered(
    judgments: Sequence[Judgment], limits: ExclusionRules, output: Path, *, source: Path, by: str
) -> tuple[FilterResult, str]:
    """Write what rules leave of a table, with the log beside it as ``.log.json`` and ``.log.txt``.

    Args:
        judgments: of the table.
        limits: the rules.
        output: the table of what is left.
        source: the file of the table.
        by: who decided on the rules; may be empty.

    Returns:
        What is left, and the log as text.

    Raises:
        CimentoError: a file cannot be written.
    """
    filtered = filter_judgments(judgments, limits)
    text = log_text(filtered, source=source.name, by=by)
    digest = sha256_of(read_bytes(source))
    write_judgments(table_of(filtered.judgments), output)
    log = log_json(filtered, limits, source=source.name, sha256=digest, by=by)
    write_text(log, output.with_suffix(".log.json"))
    write_text(text, output.with_suffix(".log.txt"))
    return filtered, text


@dataclass(frozen=True, slots=True)
class LoggedRule:
    """A rule in the log beside a filtered table.

    Attributes:
        rule: its name.
        limit: the number of its limit; None where it has none.
        excluded: who was left out by it.
    """

    rule: str
    limit: float | None
    excluded: tuple[str, ...]


def logged_rules(table: Path) -> tuple[LoggedRule, ...]:
    """The rules in the log beside a table; none without a log that can be read.

    Args:
        table: as `write_filtered` wrote it.
    """
    try:
        log = json.loads(read_bytes(table.with_suffix(".log.json")))
        return tuple(
            LoggedRule(
                str(step["rule"]),
                log["limits"].get(_LIMITS.get(step["rule"], "")),
                tuple(str(one["annotator"]) for one in step["excluded"]),
            )
            for step in log["steps"]
        )
    except (CimentoError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def log_json(
    filtered: FilterResult, limits: ExclusionRules, *, source: str, sha256: str, by: str
) -> str:
    """The log as JSON.

    Args:
        filtered: what came of it.
        limits: the rules.
        source: name of the table that was filtered.
        sha256: of its bytes, hexadecimal.
        by: who decided on the rules; may be empty.
    """
    plain = {
        "source": source,
        "source_sha256": sha256,
        "by": by,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "limits": dataclasses.asdict(limits),
        "before": [dataclasses.asdict(summary) for summary in filtered.before],
        "steps": [dataclasses.asdict(step) for step in filtered.steps],
        "after": [dataclasses.asdict(summary) for summary in filtered.after],
    }
    return json.dumps(plain, ensure_ascii=False, indent=1) + "\n"


def log_text(filtered: FilterResult, *, source: str, by: str) -> str:
    """The log as text: the exclusions by each rule, their reasons, and their effect."""
    lines = [f"{source}, rules set by {by}" if by else source]
    for step in filtered.steps:
        lines += ["", *_step(step)]
    lines += [
        "",
        "In all",
        *(f"  {change}" for change in _changes(filtered.before, filtered.after)),
    ]
    return "\n".join(lines) + "\n"


def _step(step: FilterStep) -> Iterator[str]:
    yield f"{step.rule}: {step.limit}"
    for exclusion in step.excluded:
        who = f"{exclusion.annotator} ({exclusion.why})"
        yield f"  left out: {who}, {exclusion.judgments} judgments"
    if not step.excluded:
        yield "  nobody is left out"
    reasons = Counter(step.unmeasured.values())
    for reason, count in reasons.items():
        if count > _SHOWN:
            yield f"  not measured, kept: {count} people ({reason})"
    for name, reason in step.unmeasured.items():
        if reasons[reason] <= _SHOWN:
            yield f"  not measured, kept: {name} ({reason})"
    if step.excluded:
        yield from (f"  {change}" for change in _changes(step.before, step.after))
    if step.moved is not None:
        place, before, after = step.moved
        yield f"  moved most: {place}, mean {before:.3f} -> {after:.3f}"


def _changes(before: Sequence[QuestionSummary], after: Sequence[QuestionSummary]) -> Iterator[str]:
    left = {summary.question: summary for summary in after}
    for old in before:
        new = left.get(old.question)
        if new is None:
            yield f"{old.question}: nothing is left of {old.judgments} judgments"
            continue
        yield (
            f"{old.question}: people {old.people} -> {new.people},"
            f" judgments {old.judgments} -> {new.judgments}, places {old.places} -> {new.places}"
        )
        if old.mean is not None:
            yield (
                f"  mean of places {_number(old.mean)} -> {_number(new.mean)},"
                f" sd within places {_number(old.sd)} -> {_number(new.sd)}"
            )
        for name, mean in old.by_condition.items():
            if name:
                yield f"  mean of {name} {mean:.3f} -> {_number(new.by_condition.get(name))}"
        alphas = f"{agreement_text(old.alpha)} -> {agreement_text(new.alpha)}"
        yield f"  {old.alpha.coefficient}: {alphas}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
