"""Many tests at once: p-values that keep the error of the whole family."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.errors import UsageError

P_VALUES = Sequence[float | None]


def holm(p_values: P_VALUES) -> list[float | None]:
    """Holm's step-down p-values, which hold the family-wise error rate.

    The i-th smallest of m is ``max over j <= i of min(1, (m - j + 1) p_j)`` (Holm 1979,
    Scandinavian Journal of Statistics 6, 65-70).

    Args:
        p_values: one a test; None where a test is undefined, which counts as no test.

    Returns:
        Adjusted values in the order given, None where None was given.

    Raises:
        UsageError: a value is not between 0 and 1.
    """
    order = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: P_VALUES) -> list[float | None]:
    """Benjamini and Hochberg's step-up p-values, which hold the false discovery rate.

    The i-th smallest of m is ``min over j >= i of min(1, m p_j / j)`` (Benjamini and Hochberg
    1995, doi:10.1111/j.2517-6161.1995.tb02031.x); for independent or positively dependent tests.

    Args:
        p_values: one a test; None where a test is undefined, which counts as no test.

    Returns:
        Adjusted values in the order given, None where None was given.

    Raises:
        UsageError: a value is not between 0 and 1.
    """
    order = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 1.0
    for rank, (p, place) in reversed(list(enumerate(order, start=1))):
        smallest = min(smallest, len(order) / rank * p)
        adjusted[place] = smallest
    return adjusted


def _ascending(p_values: P_VALUES) -> list[tuple[float, int]]:
    for p in p_values:
        if p is not None and not 0 <= p <= 1:
            raise UsageError(
                where="p-values", seen=f"{p} is not between 0 and 1", todo="Give p, not its log."
            )
    return sorted((p, place) for place, p in enumerate(p_values) if p is not None)
