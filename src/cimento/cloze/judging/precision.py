"""How many of the candidates fit: P@1 and P@k, pooled or averaged, always with counts.

P@k is the share of candidates that fit among all those at ranks 1 to k, not the share of items
with one that fits. **micro** pools the candidates of all items; **macro** is the unweighted mean
of the micro values of groups (templates, say). Candidates that nobody has judged count in neither
part of the share (Wilkens, Zilio and Villavicencio 2023,
doi:10.1007/s10579-023-09664-1, whose tables use both).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from cimento.cloze.judging.candidates import Candidate

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a number.

    Attributes:
        correct: how many.
        n: of how many.
    """

    correct: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None where there is nothing to divide by."""
        return self.correct / self.n if self.n else None

    @property
    def percent(self) -> float | None:
        """In per cent with two decimals, rounded half up; None as for `value`."""
        return percent(Fraction(self.correct, self.n)) if self.n else None


@dataclass(frozen=True, slots=True)
class Mean:
    """An unweighted mean of the shares of groups.

    Attributes:
        groups: how many there are.
        exact: the mean; None where no group has a share.
    """

    groups: int
    exact: Fraction | None

    @property
    def value(self) -> float | None:
        """The mean; None where no group has a share."""
        return None if self.exact is None else float(self.exact)

    @property
    def percent(self) -> float | None:
        """In per cent with two decimals, rounded half up; None as for `value`."""
        return None if self.exact is None else percent(self.exact)


def percent(share: Fraction, *, decimals: int = 2) -> float:
    """A share in per cent, rounded half up as in print; exact, so that a tie is a tie."""
    scale: int = 10**decimals
    return math.floor(share * 100 * scale + Fraction(1, 2)) / scale


def among_top(candidates: Iterable[Candidate], k: int) -> list[Candidate]:
    """The candidates at ranks 1 to k."""
    return [each for each in candidates if each.rank <= k]


def micro(candidates: Iterable[Candidate]) -> Share:
    """The share of candidates that fit, all pooled."""
    judged = [each.fits for each in candidates if each.fits is not None]
    return Share(sum(judged), len(judged))


def macro(groups: Iterable[Share]) -> Mean:
    """The unweighted mean of shares; groups in which nothing was judged do not count."""
    shares = [Fraction(each.correct, each.n) for each in groups if each.n]
    if not shares:
        return Mean(0, None)
    return Mean(len(shares), sum(shares, Fraction(0)) / len(shares))


@dataclass(frozen=True, slots=True)
class NotExpected:
    """Candidates that fit and are not what the item asks for.

    Attributes:
        of_judged: their share of all that were judged.
        of_fitting: their share of those that fit.
        above: how many of them are more probable than a threshold.
        threshold: that probability.
    """

    of_judged: Share
    of_fitting: Share
    above: int
    threshold: float


def not_expected(
    candidates: Iterable[Candidate], *, remarks: Collection[str], threshold: float = 0.5
) -> NotExpected:
    """How many candidates fit without being what was asked for, as remarks say.

    Args:
        candidates: judged.
        remarks: those that say so (``not a verb``); one of them is enough.
        threshold: probability above which such candidates are counted apart.
    """
    judged = [each for each in candidates if each.fits is not None]
    found = [each for each in judged if each.fits and set(each.remarks) & set(remarks)]
    above = sum(each.probability is not None and each.probability > threshold for each in found)
    fitting = micro(judged).correct
    return NotExpected(Share(len(found), len(judged)), Share(len(found), fitting), above, threshold)
