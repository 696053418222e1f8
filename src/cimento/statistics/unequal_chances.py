"""The exact test of a number of correct answers where each has a chance of its own."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

UNEQUAL_CHANCES = "exact, by the chance of each item (Poisson binomial)"
"""The name of the test."""
_EQUAL = 1 + 1e-7
"""Relative difference up to which two probabilities count as equal, as in R's binom.test."""


def unequal_chances_p(right: int, chances: Sequence[float]) -> float:
    """The two-sided p-value of a number of correct answers, each of which has its own chance.

    The number is a sum of independent Bernoulli variables, whose distribution is the Poisson
    binomial one (Hodges and Le Cam 1960, doi:10.1214/aoms/1177705799). It is computed by
    convolution, one variable after the other (Hong 2013, doi:10.1016/j.csda.2012.10.006). The
    p-value is the probability of all numbers that are at most as probable as the one observed, as
    in the exact binomial test.

    Args:
        right: number of correct answers.
        chances: the chance of each answer, between 0 and 1.

    Raises:
        ValueError: there are fewer answers than correct ones, or a chance is not a probability.
    """
    if not 0 <= right <= len(chances) or not all(0 <= chance <= 1 for chance in chances):
        raise ValueError(right, chances)
    return _p(right, tuple(sorted(chances)))


@functools.lru_cache(maxsize=1024)
def _p(right: int, chances: tuple[float, ...]) -> float:
    import numpy as np

    mass = np.ones(1)
    for chance in chances:
        mass = np.convolve(mass, (1 - chance, chance))
    at_most = mass[mass <= mass[right] * _EQUAL]
    return min(1.0, math.fsum(map(float, at_most)))
