"""Seeded chance: every choice of the grammars goes through here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Dice:
    """A stream of choices that a seed determines.

    Args:
        seed: any numbers; another seed is another stream.
    """

    def __init__(self, *seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._waiting: list[float] = []

    def number(self) -> float:
        """Uniform between 0 and 1; drawn by the thousand, because one by one is slow."""
        if not self._waiting:
            self._waiting = self._generator.random(4096).tolist()
        return self._waiting.pop()

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.number() < probability

    def pick(self, choices: Sequence[T]) -> T:
        """One of them, all equally probable."""
        return choices[int(self.number() * len(choices))]

    def weighted(self, choices: Sequence[T], weights: Sequence[float]) -> T:
        """One of them, with probability proportional to its weight."""
        point = self.number() * sum(weights)
        for choice, limit in zip(choices, accumulate(weights), strict=True):
            if point < limit:
                return choice
        return choices[-1]
