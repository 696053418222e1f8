"""What a factorial design is reported by: its DDs, and on which side of no effect they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.records.wrong_side import DD

if TYPE_CHECKING:
    from cimento.records.outcomes import Estimate

Side: TypeAlias = Literal["above", "below", "open", "undefined"]
"""On which side of 0 a DD surely is; ``open``: it cannot be told."""

SHOWN: Mapping[Side, str] = {
    "above": "the effect",
    "below": "opposite of expected",
    "open": "not distinguishable from 0",
    "undefined": "no test possible",
}
"""What a DD shows by its side, in words."""

LEVEL = 0.05


def shown_by(side: Side, worst: str) -> str:
    """What a DD shows, in words.

    Args:
        side: the side of 0 on which it is.
        worst: the worst condition, where that is not the one expected; else empty.
    """
    return f"{SHOWN[side]}, but the worst is {worst}" if side == "above" and worst else SHOWN[side]


def side_of(value: float | None, p: float | None) -> Side:
    """The side of 0 on which a DD surely is.

    Args:
        value: the DD; None where it is undefined.
        p: its p-value, corrected over all that are looked at; None without a test.
    """
    if value is None or p is None:
        return "undefined"
    if p > LEVEL:
        return "open"
    return "above" if value > 0 else "below"


def not_the_worst(expected: str, worst: str, *, of_people: bool = False) -> str:
    """That sentences expected to be the worst are not; empty where they are.

    Args:
        expected: condition whose sentences should be the worst.
        worst: condition whose sentences are; empty where it is the same.
        of_people: whether the scores are ratings.
    """
    if not worst:
        return ""
    least = "rated lowest" if of_people else "the least probable"
    return (
        f"the sentences expected to be the worst ({expected}) are not {least}: those of {worst}"
        " are, on average"
    )


def effects_among(estimates: Sequence[Estimate]) -> tuple[DesignEffect, ...]:
    """The DDs of whole sentences among the estimates of a run, on its first measure.

    Args:
        estimates: as they are stored, which do not say how many clusters there are.
    """
    every = [one for one in estimates if (one.question, one.statistic) == (DD, DD) and one.level]
    first = [one for one in every if one.method == every[0].method]
    known = any(one.value is not None for one in first)
    return tuple(DesignEffect(one, None) for one in first) if known else ()


@dataclass(frozen=True, slots=True)
class DesignEffect:
    """The DD of one phenomenon in a run.

    Attributes:
        estimate: DD over items, with its interval; its level is the phenomenon.
        clusters: number of clusters of the items, for crossed ones such as ``5 × 6``; None
            where each is by itself, or where that is not known.
        expected: condition whose sentences should be the worst; empty where that is not known.
        worst: condition whose sentences are the worst on average, over the items of DD; empty
            where it is `expected`, or not known.
        means: conditions, each with the mean of its scores over these items, signed so that more
            is better; empty where they are not known.
        others: of people's ratings, ends of the interval for other items and other people; None
            where there is none.
    """

    estimate: Estimate
    clusters: int | str | None
    expected: str = ""
    worst: str = ""
    means: tuple[tuple[str, float], ...] = ()
    others: tuple[float, float] | None = None

    @property
    def side(self) -> Side:
        """The side of 0 on which it surely is, by its corrected p-value."""
        return side_of(self.estimate.value, self.estimate.p_corrected)

    @property
    def shown(self) -> str:
        """What the DD shows, and which condition is the worst where that is not as expected.

        A DD above 0 says nothing of the order of conditions: both changes together may cost more
        than their sum, and one of them alone more than both.
        """
        return shown_by(self.side, self.worst)

    @property
    def size(self) -> str:
        """The number of items, and of their clusters: ``n 36, 9 clusters``."""
        return f"n {self.estimate.n}" + (f", {self.clusters} clusters" if self.clusters else "")
