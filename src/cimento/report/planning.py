"""What suites of several sizes can show, as a table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cimento.report import wording
from cimento.report.grid import Grid

if TYPE_CHECKING:
    from cimento.statistics.planning import Pilot, SizePlan

_share = partial(wording.rate, absent="")


def plan_grid(found: SizePlan, pilot: Pilot, *, title: str, unit: str, own: bool) -> Grid:
    """The table of a plan, with what is needed below it.

    Args:
        found: the plan.
        pilot: that it was made from.
        title: what is tested.
        unit: of means; empty for shares.
        own: whether the difference is that of the pilot, as none was given.
    """
    rows = tuple(
        (
            str(size.items),
            str(size.clusters),
            _share(size.power),
            _share(size.low),
            _share(size.high),
        )
        for size in found.sizes
    )
    return Grid(
        title=title,
        header=("items", "clusters", "power", "low", "high"),
        rows=rows,
        labels=0,
        notes=(
            _needed(found),
            f"To be found: {_amount(found.difference, unit)}, alpha {found.alpha:g}, two-sided.",
            f"Test: {found.test}.",
            _pilot(pilot, unit),
            *((_OWN,) if own else ()),
            _drawn(found, pilot),
        ),
    )


_OWN = (
    "The difference is the pilot's own, which is often too large by chance: give the smallest one"
    " that matters with --difference."
)


def _needed(found: SizePlan) -> str:
    asked = f"A power of {found.power:g}"
    size = found.needed
    if size is None:
        return f"{asked} is not reached with {found.most} items, the most that were tried."
    clusters = f" in {size.clusters} clusters" if size.clusters < size.items else ""
    return f"{asked} needs {size.items} items{clusters}."


def _amount(difference: float, unit: str) -> str:
    return f"{difference:+.3f} {unit}".rstrip()


def _pilot(pilot: Pilot, unit: str) -> str:
    design = pilot.design
    size = f"{design.n} items" + (f" in {design.m} clusters" if design.clustered else "")
    effect = _amount(pilot.effect, unit)
    if pilot.kind == "difference":
        return f"Pilot: {size}, difference {effect}, discordant {_share(pilot.varying)}."
    if pilot.kind == "rate":
        chance = _share(pilot.null)
        return f"Pilot: {size}, right {_share(pilot.varying)}, tested against {chance}."
    return f"Pilot: {size}, mean {effect}."


def _drawn(found: SizePlan, pilot: Pilot) -> str:
    if not found.trials:
        return "The power is exact, for items that stand alone and are like those of the pilot."
    what = "clusters" if pilot.design.clustered else "items"
    return (
        f"Power: share of {found.trials} data sets of {what} drawn from the pilot in which the test"
        " finds the difference, with its 95 % interval."
    )
