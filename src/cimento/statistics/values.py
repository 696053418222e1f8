"""The values that statistics return, and the checks of the columns that they take."""

from __future__ import annotations

import functools
import operator
from collections.abc import Hashable, Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ArrayLike: TypeAlias = "npt.ArrayLike"
Floats: TypeAlias = "npt.NDArray[np.float64]"
Integers: TypeAlias = "npt.NDArray[np.int64]"
Booleans: TypeAlias = "npt.NDArray[np.bool_]"

TOO_FEW = "fewer than two observations"
ALL_EQUAL = "all values are equal"
NO_OBSERVATIONS = "no observations"
_MOST_CELLS = 2_000_000

# Here and not in `sequential`, which loads numpy: reports of stored runs name it.
SEQUENCE = "confidence sequence, by betting without replacement"
"""The method of intervals of runs that stop by themselves, as estimates have it."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """One number, or the reason why there is none.

    Attributes:
        value: the number; None where it is undefined.
        reason: why it is undefined.
    """

    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Significance:
    """The result of a test of significance.

    Attributes:
        statistic: the test statistic, where the test has one.
        p: two-sided unless the method says otherwise; None where the test is undefined.
        method: the test, by its name.
        freedom: degrees of freedom, where the test has them.
        reason: why there is no p.
    """

    statistic: float | None
    p: float | None
    method: str
    freedom: float | None = None
    reason: str | None = None


def floats(values: ArrayLike | Sequence[object], *, name: str) -> Floats:
    """The values as float64, refused where one of them is no finite number.

    Raises:
        UsageError: not numbers, or NaN or infinity among them.
    """
    import numpy as np

    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise UsageError(
            where=name, seen="not all values are numbers", todo="Leave out what has no value."
        ) from fault
    if not np.isfinite(array).all():
        raise UsageError(
            where=name,
            seen=f"{int((~np.isfinite(array)).sum())} of {array.size} values are NaN or infinite",
            todo="Leave out what has no value, and say how many were left out.",
        )
    return array


def same_length(**columns: Sized) -> int:
    """The number of rows of the columns.

    Raises:
        UsageError: they are not equally long.
    """
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(
            where="columns",
            seen=", ".join(f"{name} has {length} values" for name, length in lengths.items()),
            todo="Give one value a row to each.",
        )
    return next(iter(lengths.values()))


def sum_in_order(values: Iterable[float]) -> float:
    """The float64 sum from left to right, each step rounded.

    `sum` compensates from Python 3.12 on, so that its last digit depends on the interpreter.
    """
    return functools.reduce(operator.add, values, 0.0)


def draws_at_once(n: int, *, most: int) -> int:
    """The number of draws held at a time, so that large samples do not fill the memory.

    Args:
        n: values of the sample.
        most: draws, however few values there are.
    """
    return max(1, min(most, _MOST_CELLS // max(n, 1)))


def codes(labels: Sequence[Hashable]) -> tuple[Integers, int]:
    """Labels as whole numbers in order of first appearance, and how many there are."""
    import numpy as np

    seen: dict[Hashable, int] = {}
    numbers = [seen.setdefault(label, len(seen)) for label in labels]
    return np.asarray(numbers, dtype=np.int64), len(seen)
