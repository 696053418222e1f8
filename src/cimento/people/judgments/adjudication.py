"""Two annotators side by side: where they agree, where they differ, and what was decided then."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import InputError, did_you_mean
from cimento.people.judgments.records import Judgment
from cimento.people.judgments.summaries import QuestionKey, is_rated, rating_of
from cimento.statistics.agreement import Agreement, cohen_kappa, krippendorff_alpha
from cimento.statistics.design import Design

ADJUDICATED = "adjudicated"
"""The annotator of the table of decisions."""


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """What two people said of one place.

    Attributes:
        place: what was asked.
        first: the one's judgment; None where there is none.
        second: the other's.
    """

    place: QuestionKey
    first: Judgment | None
    second: Judgment | None

    @property
    def any(self) -> Judgment:
        """One of the two, for what they share."""
        return next(judgment for judgment in (self.first, self.second) if judgment is not None)

    @property
    def differs(self) -> bool:
        """Whether both answered, and not the same."""
        return (
            self.first is not None
            and self.second is not None
            and _answer(self.first) != _answer(self.second)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """How far two columns of answers to one question agree.

    Attributes:
        question: which.
        first: whose the one column is.
        second: whose the other.
        n: places that are in both.
        equal: that have the same answer.
        kappa: Cohen's; of ratings with quadratic weights.
        alpha: Krippendorff's; of ratings with interval differences.
    """

    question: str
    first: str
    second: str
    n: int
    equal: int
    kappa: Agreement
    alpha: Agreement


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
            todo="Say whose answers are meant: --first NAME, --second NAME.",
        )
    chosen = name or known[0]
    if chosen not in known:
        raise InputError(
            where=where,
            seen=f"nobody called {chosen!r} has answered",
            todo=did_you_mean(chosen, known),
        )
    return [
        judgment
        for judgment in judgments
        if (judgment.annotator or "") == chosen and not judgment.is_check
    ]


def side_by_side(first: Sequence[Judgment], second: Sequence[Judgment]) -> list[AnswerPair]:
    """Every place that one of two people answered; of several answers the last counts."""
    one = {judgment.place: judgment for judgment in first}
    other = {judgment.place: judgment for judgment in second}
    return [AnswerPair(place, one.get(place), other.get(place)) for place in {**one, **other}]


def pair_agreements(first: Sequence[Judgment], second: Sequence[Judgment]) -> list[PairAgreement]:
    """How far two people agree, question by question."""
    by_question: dict[str, list[tuple[Judgment, Judgment]]] = {}
    for pair in side_by_side(first, second):
        if pair.first is not None and pair.second is not None:
            by_question.setdefault(pair.first.question, []).append((pair.first, pair.second))
    return [_agreement(question, pairs) for question, pairs in by_question.items()]


def adjudicated(
    both: Sequence[AnswerPair], decisions: Mapping[QuestionKey, tuple[str, str]], *, by: str
) -> list[Judgment]:
    """The table of what holds: what both say, what was decided, and what one alone says.

    Args:
        both: of `side_by_side`.
        decisions: place to the answer that was decided on and the reason.
        by: who decided.
    """
    held = []
    for pair in both:
        value, remark = _held(pair, decisions.get(pair.place), by)
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
    """The answer that holds at a place, and where it comes from; None where nothing is decided."""
    if not pair.differs:
        alone = pair.first is None or pair.second is None
        said = f"only {pair.any.annotator} answered" if alone else "both say so"
        return pair.any.value, said
    if decision is None:
        return None, ""
    value, reason = decision
    votes = ", ".join(f"{j.annotator} said {j.value}" for j in (pair.first, pair.second) if j)
    decided = f"decided by {by}" if by else "decided"
    return value, "; ".join(part for part in (decided, votes, reason) if part)


def _agreement(question: str, pairs: Sequence[tuple[Judgment, Judgment]]) -> PairAgreement:
    rated = is_rated(question)
    answers = [[_answer(first), _answer(second)] for first, second in pairs]
    one, other = zip(*answers, strict=True)
    items = tuple(first.item for first, _ in pairs)
    design = Design(tuple(range(len(items))), items)
    return PairAgreement(
        question=question,
        first=pairs[0][0].annotator or "",
        second=pairs[0][1].annotator or "",
        n=len(pairs),
        equal=sum(a == b for a, b in answers),
        kappa=cohen_kappa(one, other, weights="quadratic" if rated else "none", design=design),
        alpha=krippendorff_alpha(answers, level="interval" if rated else "nominal", design=design),
    )


def _answer(judgment: Judgment) -> Hashable:
    """What was said, as it is compared: 3 and 3.0 are the same rating."""
    value = rating_of(judgment) if is_rated(judgment.question) else None
    return judgment.value if value is None else value
