"""What measures are made of: values that may be missing, units, and a sum that does not wander."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from cimento.arrays import Integers

Unit: TypeAlias = Literal["bits", "nats"]

BITS_PER_NAT = 1 / math.log(2)


@dataclass(frozen=True, slots=True)
class Missing:
    """What stands where a value is undefined: why."""

    reason: str


Value: TypeAlias = "float | Missing"


def surprisal_bits(logprob_nats: float) -> float:
    """Surprisal in bits of a log-probability in nats: ``-log2 P`` (Hale 2001)."""
    return (0.0 - logprob_nats) * BITS_PER_NAT


def total(values: Sequence[float]) -> float:
    """The float64 sum from left to right, each step rounded; 0 for no values.

    Neither `sum` (which compensates from Python 3.12 on) nor numpy's (which adds in pairs) is
    that, and the order decides which sentences tie.
    """
    return functools.reduce(operator.add, values, 0.0)


class Reasons:
    """The reasons why there are no values, each known by its number; -1 is the number of none."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, reason: str) -> int:
        """The number of a reason, which may be a new one."""
        return self._numbers.setdefault(reason, len(self._numbers))

    def texts(self) -> tuple[str, ...]:
        """The reasons in the order of their numbers."""
        return tuple(self._numbers)

    def after(self, beginning: str, numbers: Integers) -> Integers:
        """The numbers of other reasons: the same ones after a beginning; -1 stays."""
        import numpy as np

        texts = self.texts()
        known, places = np.unique(numbers, return_inverse=True)
        longer = [n if n < 0 else self.number(beginning + texts[n]) for n in known.tolist()]
        return np.array(longer, dtype=np.int64)[places]
