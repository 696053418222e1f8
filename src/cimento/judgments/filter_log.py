"""The log of a filter, for people and for programs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from cimento.judgments.figures import QuestionFigures
from cimento.judgments.filters import Filtered, Limits, Step
from cimento.report.formatting import agreement


def log_json(filtered: Filtered, limits: Limits, *, source: str, sha256: str, by: str) -> str:
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
        "before": [dataclasses.asdict(each) for each in filtered.before],
        "steps": [dataclasses.asdict(each) for each in filtered.steps],
        "after": [dataclasses.asdict(each) for each in filtered.after],
    }
    return json.dumps(plain, ensure_ascii=False, indent=1) + "\n"


def log_text(filtered: Filtered, *, source: str, by: str) -> str:
    """The log as text: every rule with who is left out, why, and what it changes."""
    lines = [f"{source}, rules set by {by}" if by else source]
    for step in filtered.steps:
        lines += ["", *_step(step)]
    lines += ["", "In all", *(f"  {each}" for each in _changes(filtered.before, filtered.after))]
    return "\n".join(lines) + "\n"


def _step(step: Step) -> Iterator[str]:
    yield f"{step.rule}: {step.limit}"
    for each in step.excluded:
        yield f"  left out: {each.annotator} ({each.why}), {each.judgments} judgments"
    if not step.excluded:
        yield "  nobody is left out"
    for name, reason in step.unmeasured.items():
        yield f"  not measured, kept: {name} ({reason})"
    if step.excluded:
        yield from (f"  {each}" for each in _changes(step.before, step.after))
    if step.moved is not None:
        place, before, after = step.moved
        yield f"  moved most: {place}, mean {before:.3f} -> {after:.3f}"


def _changes(before: Sequence[QuestionFigures], after: Sequence[QuestionFigures]) -> Iterator[str]:
    left = {each.question: each for each in after}
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
                f"  mean {_number(old.mean)} -> {_number(new.mean)},"
                f" sd within places {_number(old.sd)} -> {_number(new.sd)}"
            )
        for name, mean in old.by_condition.items():
            if name:
                yield f"  mean of {name} {mean:.3f} -> {_number(new.by_condition.get(name))}"
        yield f"  Krippendorff's alpha {agreement(old.alpha)} -> {agreement(new.alpha)}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
