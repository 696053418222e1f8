"""Values of measures: numbers or the reasons why there are none, sums in a fixed order, bits."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["bits", "nats"]

BITS_PER_NAT = 1 / math.log(2)


@dataclass(frozen=True, slots=True)
class Missing:
    """The reason in place of an undefined value."""

    reason: str


Value: TypeAlias = "float | Missing"


def surprisal_bits(logprob_nats: float) -> float:
    """Surprisal in bits of a log-probability in nats: ``-log2 P`` (Hale 2001)."""
    return (0.0 - logprob_nats) * BITS_PER_NAT


def total(values: Sequence[float]) -> float:
    """The float64 sum from left to right, each step rounded; 0 for no values.

    The order of additions decides which sentences tie. Python's `sum` (which compensates from 3.12
    on) and numpy's (which adds in pairs) round differently.
    """
    return functools.reduce(operator.add, values, 0.0)


Numbers: TypeAlias = tuple[float, ...]


class Undefined(Exception):  # noqa: N818  # it is no error that a measure is undefined
    """The signal that a measure has no value for a sentence, with the reason as its message."""
