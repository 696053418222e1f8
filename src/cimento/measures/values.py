"""What measures are made of: values that may be missing, units, and a sum that does not wander."""

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
