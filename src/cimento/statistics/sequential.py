"""Intervals of a proportion that hold while items are still being asked.

An interval for a fixed number of items is too narrow if one looks at it again and again and stops
when it pleases. A confidence sequence holds at all times at once: with a probability of 95% the
proportion is in every one of its intervals, so also in the one at which asking stopped.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.design import Booleans, Floats

if TYPE_CHECKING:
    from collections.abc import Iterable

_STEPS = 2_000
_MOST_OF_STAKE = 0.9
_FIRST_VARIANCE = 0.25


class ShareSequence:
    """A confidence sequence for the proportion correct of a finite suite, asked in random order.

    For every possible share m, two gamblers bet on the next answer X being above and below its
    expectation m_t, given the answers so far and that the proportion of all N items is m::

        m_t = (N m - sum of earlier X) / (N - t + 1)
        K_t = 1/2 prod (1 + l_i (X_i - m_i)) + 1/2 prod (1 - l_i (X_i - m_i))

    If m is the share, the game is fair, and K ever reaches 1 / alpha with a probability of alpha at
    most (Ville's inequality); every m where it has is excluded (Waudby-Smith and Ramdas 2024,
    doi:10.1093/jrsssb/qkad009, sections 4 and 5). The stake l is the one that suits the precision
    that is looked for, ``precision / variance * N / (N - t + 1)``, with the variance of the earlier
    answers; any stake that looks at these only is valid. An item that counts neither way has
    X = m: the share is that among the items that count, however many these are.

    Nothing is assumed about the items, such as that they are independent; only that each order of
    them was equally likely.

    Args:
        items: number N of items of the suite.
        precision: half the width of the interval that is looked for, such as 0.1.
        level: the probability that all intervals hold.

    Attributes:
        asked: number of items so far.

    Raises:
        UsageError: there is no item, or precision or level is not between 0 and 1.
    """

    def __init__(self, items: int, *, precision: float, level: float = 0.95) -> None:
        import numpy as np

        if items < 1 or not 0 < precision < 1 or not 0 < level < 1:
            raise UsageError(
                where="confidence sequence",
                seen=f"{items} items, precision {precision:g}, level {level:g}",
                todo="Give items, and a precision and a level between 0 and 1.",
            )
        self.asked = 0
        self._items, self._precision, self._log_bar = items, precision, -math.log(1 - level)
        self._shares: Floats = np.linspace(0.0, 1.0, _STEPS + 1)
        self._above, self._below = np.zeros(_STEPS + 1), np.zeros(_STEPS + 1)
        self._possible: Booleans = np.ones(_STEPS + 1, dtype=bool)
        self._right = self._neither = 0
        self._squares = _FIRST_VARIANCE
        self._interval = (0.0, 1.0)

    def add(self, answers: Iterable[bool | None]) -> None:
        """Take the next answers, in the order of asking.

        Args:
            answers: whether each item is right; None where it counts neither way.

        Raises:
            UsageError: there are more answers than items.
        """
        for right in answers:
            if self.asked == self._items:
                raise UsageError(
                    where="confidence sequence",
                    seen=f"more answers than the {self._items} items",
                    todo="Give each item once.",
                )
            self._bet(right)

    def _bet(self, right: bool | None) -> None:  # noqa: FBT001  # an answer, as `add` takes it
        import numpy as np

        left = self._items - self.asked
        expected = np.clip(self._to_come / left, 1e-9, 1 - 1e-9)
        value = self._shares if right is None else float(right)
        scored = self.asked - self._neither
        stake = self._precision / (self._squares / (scored + 1)) * self._items / left
        away = value - expected
        self._above += np.log1p(np.minimum(stake, _MOST_OF_STAKE / expected) * away)
        self._below += np.log1p(-np.minimum(stake, _MOST_OF_STAKE / (1 - expected)) * away)
        self.asked += 1
        if right is None:
            self._neither += 1
        else:
            self._right += right
            mean = (self._right + 0.5) / (scored + 2)
            self._squares += (right - mean) ** 2
        # Shares that the items left cannot make are excluded for good; a step is for rounding.
        step = self._items / _STEPS
        self._possible &= (self._to_come >= -step) & (self._to_come <= left - 1 + step)

    @property
    def _to_come(self) -> Floats:
        """The sum of the values of the items left, for every share."""
        return self._items * self._shares - (self._right + self._neither * self._shares)

    @property
    def interval(self) -> tuple[float, float]:
        """The shares that are not excluded, rounded outwards to 1/2000."""
        import numpy as np

        capital = np.logaddexp(self._above, self._below) - math.log(2)
        left = np.flatnonzero(self._possible & (capital < self._log_bar))
        if left.size:
            low, high = int(left[0]) - 1, int(left[-1]) + 1
            self._interval = max(low, 0) / _STEPS, min(high, _STEPS) / _STEPS
        return self._interval

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        low, high = self.interval
        return (high - low) / 2

    @property
    def is_reached(self) -> bool:
        """Whether the interval is as narrow as was looked for."""
        return self.half_width <= self._precision + 1e-12

    def more(self) -> int:
        """The number of items to ask before looking again; 0 once the precision is reached.

        A third of those that seem to be missing, as widths shrink with the square root of their
        number, but at least 8 and no more than were asked before: so few are asked in vain, in few
        rounds.
        """
        left = self._items - self.asked
        if not self.asked or self.is_reached or not left:
            return min(left, 0 if self.asked else _FIRST)
        missing = self.asked * ((self.half_width / self._precision) ** 2 - 1)
        return min(left, max(_LEAST, min(math.ceil(missing / 3), self.asked)))


_FIRST, _LEAST = 16, 8
