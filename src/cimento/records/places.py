"""Rated sentences with their places among each other: by people's ratings, and in a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Rated(Protocol):
    """A sentence with a rating and a value of a measure."""

    @property
    def id(self) -> str:
        """Id of the sentence."""

    @property
    def rating(self) -> float:
        """Its mean rating, or its mean z-score."""

    @property
    def value(self) -> float:
        """Its value of the measure."""


RatedT = TypeVar("RatedT", bound=Rated)


@dataclass(frozen=True, slots=True)
class Places(Generic[RatedT]):
    """A sentence with its place among the others, by people and in a model.

    Attributes:
        row: the sentence with its rating and its value.
        people: its rank by people, 1 for the best; sentences that are level share their mean rank.
        model: its rank in the model, likewise.
        of: number of sentences.
    """

    row: RatedT
    people: float
    model: float
    of: int

    @property
    def gap(self) -> float:
        """By how many ranks the model likes it better, as a proportion of the most possible."""
        return (self.people - self.model) / (self.of - 1)


def ranked(rows: Sequence[RatedT], *, higher_is_better: bool) -> list[Places[RatedT]]:
    """Each sentence with its ranks. A single sentence has none.

    Args:
        rows: sentences with a rating and a value.
        higher_is_better: whether the better sentence has the higher value.
    """
    if len(rows) < 2:  # noqa: PLR2004  # one sentence has no rank
        return []
    people = _ranks([row.rating for row in rows])
    model = _ranks([row.value if higher_is_better else -row.value for row in rows])
    return [Places(row, p, m, len(rows)) for row, p, m in zip(rows, people, model, strict=True)]


def farthest_apart(rows: Sequence[RatedT], *, higher_is_better: bool) -> list[Places[RatedT]]:
    """The sentences by how far apart their ranks by rating and by value are, the farthest first.

    There are none if all ratings or all values are equal, since nothing is ranked then.

    Args:
        rows: sentences with a rating and a value.
        higher_is_better: whether the better sentence has the higher value.
    """
    if len({row.rating for row in rows}) < 2 or len({row.value for row in rows}) < 2:  # noqa: PLR2004  # two make an order
        return []
    places = ranked(rows, higher_is_better=higher_is_better)
    return sorted(places, key=lambda one: (-abs(one.gap), one.row.id))


def _ranks(values: Sequence[float]) -> list[float]:
    """Mid-ranks, 1 for the largest value."""
    import numpy as np

    from cimento.statistics.classification import mid_ranks

    return [float(rank) for rank in mid_ranks(-np.asarray(values, dtype=np.float64))]
