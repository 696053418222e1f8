"""Adjudication in a terminal: a third person decides where two annotators differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from cimento.errors import InputError, did_you_mean
from cimento.people.annotate.dialogue import (
    DialogueField,
    DialogueSession,
    ReadPrompt,
    RefusedError,
    Taken,
    converse,
)
from cimento.people.judgments.adjudication import (
    ADJUDICATED,
    AnswerPair,
    PairAgreement,
    adjudicated,
    pair_agreements,
    side_by_side,
)
from cimento.people.judgments.records import (
    Judgment,
    finite,
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.people.judgments.summaries import QuestionKey, is_rated
from cimento.report import formatting

OPEN = "?"
"""Typed to leave a place undecided; it is asked again the next time."""

NOTHING = "-"


def decide_differences(
    first: Sequence[Judgment],
    second: Sequence[Judgment],
    output: Path,
    *,
    by: str,
    read: ReadPrompt,
    tell: Callable[[str], object],
) -> tuple[int, int]:
    """Ask about every place where two people differ and that is not decided yet.

    The table is written after each decision; what it has already is not asked again.

    Args:
        first: judgments of the one.
        second: judgments of the other.
        output: the table of what holds.
        by: who decides.
        read: gives the next line.
        tell: shows something.

    Returns:
        How many places are disputed, and how many of them are still undecided.

    Raises:
        InputError: there is a table at `output` that holds something else.
        StorageError: the table cannot be written.
    """
    both = side_by_side(first, second)
    disputed = [pair for pair in both if pair.differs]
    kept = _kept(output, disputed)
    decisions: dict[QuestionKey, tuple[str, str]] = {}
    known = {pair.value for pair in (*first, *second) if pair.value is not None}

    def write() -> None:
        held = adjudicated(both, decisions, by=by)
        write_judgments(table_of([*held, *kept.values()]), output)

    write()
    waiting = [pair for pair in disputed if pair.place not in kept]
    for count, each in enumerate(waiting, start=1):
        tell(f"\n{len(kept) + count} of {len(disputed)}  {_shown(each)}")
        session = DialogueSession(_fields(each, known))
        if not converse(session, read, tell):
            break
        value, reason = (str(session.state.values[name]) for name in ("choice", "reason"))
        if value != OPEN:
            decisions[each.place] = (value, "" if reason == NOTHING else reason)
            write()
    return len(disputed), len(waiting) - len(decisions)


def agreement_text(first: Sequence[Judgment], second: Sequence[Judgment], output: Path) -> str:
    """How far two people agree with each other, and each with what was decided."""
    held = judgments_of(read_judgments(output)) if output.exists() else []
    lines = ["before", *(f"  {_line(figures)}" for figures in pair_agreements(first, second))]
    lines.append("after")
    for own in (first, second):
        lines += [f"  {_line(figures)}" for figures in pair_agreements(own, held)]
    return "\n".join(lines)


def _kept(output: Path, disputed: Sequence[AnswerPair]) -> dict[QuestionKey, Judgment]:
    """What was decided another day of the places that are disputed now."""
    before = _earlier(output)
    return {pair.place: before[pair.place] for pair in disputed if pair.place in before}


def _earlier(output: Path) -> dict[QuestionKey, Judgment]:
    """What was decided another day; nothing where there is no table yet.

    Raises:
        InputError: the file holds something else, which would be lost.
    """
    if not output.exists():
        return {}
    found = judgments_of(read_judgments(output))
    others = [judgment.annotator for judgment in found if judgment.annotator != ADJUDICATED]
    if others:
        raise InputError(
            where=str(output),
            seen=f"holds answers of {others[0]!r}, and no decisions",
            todo="Name another file to write.",
        )
    return {judgment.place: judgment for judgment in found}


def _shown(pair: AnswerPair) -> str:
    shared = pair.any
    lines = [f"{shared.item} {shared.condition}".strip() + f"  {shared.question}"]
    if shared.candidate:
        lines.append(f"  {shared.candidate}")
    for place, said in enumerate((pair.first, pair.second), start=1):
        if said is not None:
            remark = f"  ({said.remark})" if said.remark else ""
            lines.append(f"  {place} {said.annotator}: {said.value}{remark}")
    return "\n".join(lines)


def _fields(pair: AnswerPair, known: set[str]) -> tuple[DialogueField, ...]:
    return (
        DialogueField(
            name="choice",
            question=f"1, 2, or another answer ({OPEN} leaves it open)",
            read=lambda text, _values: Taken(_chosen(pair, text, known)),
        ),
        DialogueField(
            name="reason",
            question="why",
            read=lambda text, _values: Taken(text),
            default=lambda _values: NOTHING,
        ),
    )


def _chosen(pair: AnswerPair, text: str, known: set[str]) -> str:
    """The answer that was typed; 1 and 2 are the annotators, =1 is the rating 1."""
    if text == OPEN:
        return OPEN
    said = {"1": pair.first, "2": pair.second}.get(text)
    if said is not None:
        return said.value or ""
    value = text.removeprefix("=")
    if is_rated(pair.any.question):
        if finite(value) is None:
            raise RefusedError("Write 1 or 2, or a rating such as =3.")
        if not text.startswith("="):
            raise RefusedError(f"Write ={value} for the rating {value}; 1 and 2 are people.")
    elif value not in known:
        raise RefusedError(f"Nobody answers {value!r}. {did_you_mean(value, known)}")
    return value


def _line(figures: PairAgreement) -> str:
    return (
        f"{figures.question}: {figures.first} / {figures.second}:"
        f" equal on {figures.equal} of {figures.n},"
        f" Cohen's kappa {formatting.agreement(figures.kappa)},"
        f" Krippendorff's alpha {formatting.agreement(figures.alpha)}"
    )
