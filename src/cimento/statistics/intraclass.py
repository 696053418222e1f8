"""Intraclass correlations: how much of the spread of ratings lies between items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.statistics.values import Estimate, floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats

KINDS: Sequence[str] = ("one-way", "agreement", "consistency")


def intraclass(ratings: ArrayLike, *, kind: str = "agreement", mean: bool = False) -> Estimate:
    """The intraclass correlation of Shrout and Fleiss (1979, doi:10.1037/0033-2909.86.2.420).

    From the mean squares of items B, raters J, error E, and within items W, n items, k raters:
    ``one-way`` (each item had raters of its own; ICC(1)) ``(B - W) / (B + (k - 1) W)``;
    ``agreement`` (raters are a sample; ICC(2)) ``(B - E) / (B + (k - 1) E + k (J - E) / n)``;
    ``consistency`` (rater means do not matter; ICC(3)) ``(B - E) / (B + (k - 1) E)``.

    Args:
        ratings: one row an item, one column a rater, no rating missing.
        kind: ``one-way``, ``agreement`` or ``consistency``.
        mean: of the mean of all k ratings of an item, rather than of one rating.

    Raises:
        UsageError: an unknown kind, or a table that is none.
    """
    table = floats(ratings, name="ratings")
    if kind not in KINDS:
        raise UsageError(
            where="intraclass correlation",
            seen=f"no kind is called {kind!r}",
            todo=did_you_mean(kind, KINDS),
        )
    if table.ndim != 2 or table.shape[1] < 2:  # noqa: PLR2004  # two raters
        raise UsageError(
            where="intraclass correlation",
            seen=f"a table of shape {table.shape}",
            todo="Give one row an item and one column for each of two or more raters.",
        )
    if len(table) < 2:  # noqa: PLR2004  # a spread needs two
        return Estimate(None, "fewer than two items")
    if (table == table[0, 0]).all():
        return Estimate(None, "all ratings are equal")
    between, noise, raters = _mean_squares(table, kind)
    k = table.shape[1]
    extra = (raters - noise) / len(table) if kind == "agreement" else 0.0
    below = between + extra if mean else between + (k - 1) * noise + k * extra
    return Estimate((between - noise) / below) if below else Estimate(None, "nothing varies")


def _mean_squares(table: Floats, kind: str) -> tuple[float, float, float]:
    """Of items, of what counts as error, and of raters."""
    n, k = table.shape
    items = table.mean(axis=1, keepdims=True)
    raters = table.mean(axis=0, keepdims=True)
    between = k * float(((items - table.mean()) ** 2).sum()) / (n - 1)
    across = n * float(((raters - table.mean()) ** 2).sum()) / (k - 1)
    if kind == "one-way":
        return between, float(((table - items) ** 2).sum()) / (n * (k - 1)), across
    left = table - items - raters + table.mean()
    return between, float((left**2).sum()) / ((n - 1) * (k - 1)), across
