"""When a computed number equals a printed one: within half a unit of the last printed digit."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

ROUNDING_OF_SUMS = Decimal("1e-12")
"""Share of a number by which sums of floats in another order may differ from it.

Without it a number that was released with all digits of the machine would never be equal.
"""


def equals_printed(computed: float, printed: str) -> bool:
    """Whether a number, rounded to the digits that were printed, is the printed one.

    A tie (2.25 beside 2.2 or 2.3) equals either.

    Args:
        computed: in the unit of the printed number, unrounded.
        printed: with all its digits: ``0.940`` is narrower than ``0.94``.
    """
    known = Decimal(printed)
    half = Decimal(5).scaleb(_exponent(known) - 1)
    return abs(Decimal(computed) - known) <= half + ROUNDING_OF_SUMS * abs(known)


def as_long_as(computed: float, printed: str) -> str:
    """A computed number with one digit more than the printed one, to stand beside it."""
    known = Decimal(printed)
    if "e" in printed.lower():
        return f"{computed:.{len(known.as_tuple().digits)}e}"
    return f"{computed:.{max(0, -_exponent(known)) + 1}f}"


def same_decimals(cells: Iterable[str]) -> list[str]:
    """The cells of a column, all with as many decimals as the longest.

    Spreadsheets and data files drop zeros at the end of a number; a column was computed and
    printed with one number of decimals. What is no number stays as it is.
    """
    texts = list(cells)
    numbers = [_decimal(text) for text in texts]
    least = min((_exponent(each) for each in numbers if each is not None), default=0)
    unit = Decimal(1).scaleb(min(least, 0))
    return [_padded(*each, unit) for each in zip(texts, numbers, strict=True)]


def _padded(text: str, value: Decimal | None, unit: Decimal) -> str:
    try:
        return text if value is None else f"{value.quantize(unit):f}"
    except InvalidOperation:  # more digits than a Decimal holds
        return text


_MOST_DIGITS = 50
"""Of a printed number, on either side of its point: more are a damaged file."""


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and abs(_exponent(value)) <= _MOST_DIGITS else None


def _exponent(number: Decimal) -> int:
    """The power of ten of the last digit of a finite number."""
    return int(number.as_tuple().exponent)
