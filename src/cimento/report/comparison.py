"""Tables of two runs compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.report.grid import BLANK, Grid

if TYPE_CHECKING:
    from cimento.statistics.resampling import Bootstrap
    from cimento.verdicts.comparing import Flips, Paired

SHOWN = 12
"""Flipped items that are named; the table of items has them all."""


def flips_grid(flips: Sequence[Flips]) -> Grid:
    """Accuracy before and after, McNemar's test, and the items that flipped."""
    rows = tuple(
        (
            "all together" if each.prediction is None else f"prediction {each.prediction}",
            str(each.n),
            _share(each.first),
            _share(each.second),
            _signed(each.difference.estimate),
            _interval(each.difference),
            str(len(each.gained)),
            str(len(each.lost)),
            _p(each.mcnemar.p),
            _signed(each.margins.difference.estimate),
            _p(each.margins.sign_flip.p),
        )
        for each in flips
    )
    notes = []
    for each in flips:
        name = "all together" if each.prediction is None else f"prediction {each.prediction}"
        for what, items in (("gained", each.gained), ("lost", each.lost)):
            if items:
                more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else BLANK
                notes.append(f"{name}, {what}: {', '.join(items[:SHOWN])}{more}.")
    return Grid(
        title="Accuracy before and after, over the items scored in both.",
        header=(
            "prediction", "items", "first", "second", "change", "95 %", "gained", "lost",
            "p (McNemar)", "margin, bits", "p (sign flip)",
        ),
        rows=rows,
        notes=tuple(notes),
    )  # fmt: skip


def paired_grid(values: Sequence[Paired], *, title: str) -> Grid:
    """Means before and after, with the tests of their difference.

    Args:
        values: conditions, or phenomena.
        title: what they are.
    """
    rows = tuple(
        (
            each.name,
            str(each.n),
            _number(each.first),
            _number(each.second),
            _signed(each.difference.estimate),
            _interval(each.difference),
            _number(each.t.statistic),
            _p(each.t.p),
            _p(each.sign_flip.p),
            each.reason or each.t.reason or BLANK,
        )
        for each in values
    )
    return Grid(
        title=title,
        header=(
            "of", "items", "first", "second", "change", "95 %", "t", "p (t)", "p (sign flip)",
            "reason",
        ),
        rows=rows,
        remarks=1,
    )  # fmt: skip


def changes_grid(values: Sequence[Paired]) -> Grid:
    """Second minus first for every item, the largest fall first."""
    rows = [
        (each.name, item, _signed(change))
        for each in values
        for item, change in sorted(each.items.items(), key=lambda pair: pair[1])
    ]
    return Grid(
        title="Change of every item, second minus first.",
        header=("of", "item", "change"),
        rows=tuple(rows),
        labels=2,
    )


def _share(value: float | None) -> str:
    return BLANK if value is None else f"{value:.3f}"


def _number(value: float | None) -> str:
    return BLANK if value is None else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return BLANK if value is None else f"{value:+.4f}"


def _interval(found: Bootstrap) -> str:
    if found.low is None or found.high is None:
        return BLANK
    return f"[{found.low:.3f}, {found.high:.3f}]"


def _p(value: float | None) -> str:
    return BLANK if value is None else f"{value:.2g}"
