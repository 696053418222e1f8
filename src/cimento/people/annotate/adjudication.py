"""Adjudication: two annotators side by side, and a dialogue in which a third person decides."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError, did_you_mean, need_known
from cimento.judgments import (
    BETTER,
    Judgment,
    finite,
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.judgments.summaries import (
    PairAgreement,
    QuestionKey,
    is_rated,
    pair_agreement,
    rating_of,
)
from cimento.people.annotate.dialogue import (
    DialogueField,
    DialogueSession,
    FieldReading,
    ReadPrompt,
    RefusedError,
    converse,
)
from cimento.report import formatting
from cimento.statistics.design import Design

ADJUDICATED = "adjudicated"
"""The annotator of the table of decisions."""


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers of two people to one question about one place.

    Attributes:
        key: what was asked.
        first: the one's judgment; None where there is none.
        second: the other's.
    """

    key: QuestionKey
    first: Judgment | None
    second: Judgment | None

    @property
    def any(self) -> Judgment:
        """One of the two, for what they share."""
        return next(judgment for judgment in (self.first, self.second) if judgment is not None)

    @property
    def differs(self) -> bool:
        """Whether both answered, and differently."""
        return (
            self.first is not None
            and self.second is not None
            and _answer(self.first) != _answer(self.second)
        )


def one_annotator(judgments: Sequence[Judgment], name: str, *, where: str) -> list[Judgment]:
    """The judgments of one person.

    Args:
        judgments: of a table.
        name: whose; empty where the table has one person's only.
        where: the table, for messages.

    Raises:
        InputError: there is no such person, or several and no name.
    """
    known = list(dict.fromkeys(judgment.annotator or "" for judgment in judgments))
    if not name and len(known) != 1:
        raise InputError(
            where=where,
            seen=f"{len(known)} people have answered",
            todo="Say whose answers are meant: --first=NAME, --second=NAME.",
        )
    chosen = name or known[0]
    need_known(
        chosen, known, where=where, seen=f"nobody called {chosen!r} has answered", error=InputError
    )
    return [
        judgment
        for judgment in judgments
        if (judgment.annotator or "") == chosen and not judgment.is_check
    ]


def side_by_side(first: Sequence[Judgment], second: Sequence[Judgment]) -> list[AnswerPair]:
    """All places that one of two people judged; of several answers the first counts."""
    one, other = dict[QuestionKey, Judgment](), dict[QuestionKey, Judgment]()
    for judgments, by_key in ((first, one), (second, other)):
        for judgment in judgments:
            by_key.setdefault(judgment.key, judgment)
    return [AnswerPair(place, one.get(place), other.get(place)) for place in {**one, **other}]


def pair_agreements(first: Sequence[Judgment], second: Sequence[Judgment]) -> list[PairAgreement]:
    """The agreement of two people, question by question."""
    by_question: dict[str, list[tuple[Judgment, Judgment]]] = {}
    for pair in side_by_side(first, second):
        if pair.first is not None and pair.second is not None:
            by_question.setdefault(pair.first.question, []).append((pair.first, pair.second))
    return [_agreement(question, pairs) for question, pairs in by_question.items()]


def adjudicated(
    both: Sequence[AnswerPair], decisions: Mapping[QuestionKey, tuple[str, str]], *, by: str
) -> list[Judgment]:
    """The table of valid answers: given by both, decided, or given by one person alone.

    Args:
        both: of `side_by_side`.
        decisions: place to the answer that was decided on and the reason.
        by: who decided.
    """
    held = []
    for pair in both:
        value, remark = _held(pair, decisions.get(pair.key), by)
        if value is not None:
            shared = pair.any
            held.append(
                Judgment(
                    suite=shared.suite, item=shared.item, condition=shared.condition,
                    candidate=shared.candidate, annotator=ADJUDICATED, question=shared.question,
                    value=value, remark=remark,
                )
            )  # fmt: skip
    return held


def _held(pair: AnswerPair, decision: tuple[str, str] | None, by: str) -> tuple[str | None, str]:
    """The valid answer at a place, and its origin; None while nothing is decided."""
    if not pair.differs:
        alone = pair.first is None or pair.second is None
        return pair.any.value, f"only {pair.any.annotator} answered" if alone else "both say so"
    if decision is None:
        return None, ""
    value, reason = decision
    votes = ", ".join(f"{j.annotator} said {j.value}" for j in (pair.first, pair.second) if j)
    decided = f"decided by {by}" if by else "decided"
    return value, "; ".join(part for part in (decided, votes, reason) if part)


def _agreement(question: str, pairs: Sequence[tuple[Judgment, Judgment]]) -> PairAgreement:
    items = tuple(first.item for first, _ in pairs)
    return pair_agreement(
        [_compared(first, second) for first, second in pairs],
        Design(tuple(range(len(items))), items),
        question=question,
        first=pairs[0][0].annotator or "",
        second=pairs[0][1].annotator or "",
    )


def _compared(first: Judgment, second: Judgment) -> tuple[Hashable, Hashable]:
    """Two answers as agreement is computed: of choices the conditions, where both have one."""
    if first.question == BETTER and first.condition and second.condition:
        return first.condition, second.condition
    return _answer(first), _answer(second)


def _answer(judgment: Judgment) -> Hashable:
    """The answer in the form in which answers are compared: 3 and 3.0 are the same rating."""
    value = rating_of(judgment) if is_rated(judgment.question) else None
    return judgment.value if value is None else value


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
    show: Callable[[str], object],
) -> tuple[int, int]:
    """Ask about every place where two people differ and that is not decided yet.

    The table is written after each decision; what it has already is not asked again.

    Args:
        first: judgments of the one.
        second: judgments of the other.
        output: the table of what holds.
        by: who decides.
        read: gives the next line.
        show: shows something.

    Returns:
        How many places are disputed, and how many of them are still undecided.

    Raises:
        InputError: there is a table at `output` that holds something else.
        StorageError: the table cannot be written.
    """
    both, earlier = side_by_side(first, second), _earlier(output)
    disputed = [pair for pair in both if pair.differs]
    kept = {pair.key: earlier[pair.key] for pair in disputed if pair.key in earlier}
    decisions: dict[QuestionKey, tuple[str, str]] = {}
    known = {judgment.value for judgment in (*first, *second) if judgment.value is not None}

    def write() -> None:
        held = [*adjudicated(both, decisions, by=by), *kept.values()]
        write_judgments(table_of(held), output)

    write()
    waiting = [pair for pair in disputed if pair.key not in kept]
    for count, pair in enumerate(waiting, start=1):
        show(f"\n{len(kept) + count} of {len(disputed)}  {_shown(pair)}")
        session = DialogueSession(_dialogue_fields(pair, known))
        if not converse(session, read, show):
            break
        value, reason = session.state.values["choice"], session.state.values["reason"]
        if value != OPEN:
            decisions[pair.key] = (value, "" if reason == NOTHING else reason)
            write()
    return len(disputed), len(waiting) - len(decisions)


def adjudication_text(first: Sequence[Judgment], second: Sequence[Judgment], output: Path) -> str:
    """The agreement of two people with each other, and of each with the decisions."""
    held = judgments_of(read_judgments(output)) if output.exists() else []
    lines = ["before", *(f"  {_line(figures)}" for figures in pair_agreements(first, second))]
    lines.append("after")
    for one in (first, second):
        lines += [f"  {_line(figures)}" for figures in pair_agreements(one, held)]
    return "\n".join(lines)


def _earlier(output: Path) -> dict[QuestionKey, Judgment]:
    """The decisions of earlier days; none where there is no table yet.

    Raises:
        InputError: the file holds something else, which would be lost.
    """
    if not output.exists():
        return {}
    decisions = judgments_of(read_judgments(output))
    others = [judgment.annotator for judgment in decisions if judgment.annotator != ADJUDICATED]
    if others:
        raise InputError(
            where=str(output),
            seen=f"holds answers of {others[0]!r}, and no decisions",
            todo="Name another file to write.",
        )
    return {judgment.key: judgment for judgment in decisions}


def _shown(pair: AnswerPair) -> str:
    shared = pair.any
    lines = [f"{shared.item} {shared.condition}".strip() + f"  {shared.question}"]
    if shared.candidate:
        lines.append(f"  {shared.candidate}")
    for place, answer in enumerate((pair.first, pair.second), start=1):
        if answer is not None:
            remark = f"  ({answer.remark})" if answer.remark else ""
            lines.append(f"  {place} {answer.annotator}: {answer.value}{remark}")
    return "\n".join(lines)


def _dialogue_fields(pair: AnswerPair, known: set[str]) -> tuple[DialogueField, ...]:
    return (
        DialogueField(
            name="choice",
            question=f"1, 2, or another answer ({OPEN} leaves it open)",
            read=lambda text, _values: FieldReading(_chosen(pair, text, known)),
        ),
        DialogueField(
            name="reason",
            question="why",
            read=lambda text, _values: FieldReading(text),
            default=lambda _values: NOTHING,
        ),
    )


def _chosen(pair: AnswerPair, text: str, known: set[str]) -> str:
    """The answer that was typed; 1 and 2 are the annotators, =1 is the rating 1."""
    if text == OPEN:
        return OPEN
    answer = {"1": pair.first, "2": pair.second}.get(text)
    if answer is not None:
        return answer.value or ""
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
        f" Cohen's kappa {formatting.agreement_text(figures.kappa)},"
        f" Krippendorff's alpha {formatting.agreement_text(figures.alpha)}"
    )
