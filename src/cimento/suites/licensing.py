"""Licensing designs of suites: a filler, a gap, and perhaps an island."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import InputError, did_you_mean
from cimento.suites import JsonValue, Suite

KEY = "licensing"
"""The table of suite.toml that declares the design."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Licensing:
    """The licensing design that a suite declares.

    Attributes:
        filler: factor whose first level has the wh-word and whose second does not.
        gap: factor whose first level has a gap and whose second does not.
        island: factor whose first level is not an island; empty without this factor.
        levels: the levels of each of these factors.
        windows: for each window, the regions that are summed, by level of the gap factor.
    """

    filler: str
    gap: str
    island: str
    levels: Mapping[str, tuple[str, ...]]
    windows: Mapping[str, Mapping[str, tuple[int, ...]]]

    @property
    def factors(self) -> tuple[str, ...]:
        """The factors, in the order of a cell."""
        return tuple(name for name in (self.filler, self.gap, self.island) if name)

    @property
    def islands(self) -> tuple[str, ...]:
        """The levels of the island factor; one empty name where there is no such factor."""
        return self.levels[self.island] if self.island else ("",)


def licensing_of(suite: Suite) -> Licensing | None:
    """The licensing design that a suite declares; None where it declares none.

    Raises:
        InputError: the declaration cannot be used.
    """
    declared = suite.extra.get(KEY)
    if declared is None:
        return None
    where = f"suite {suite.name!r}, [{KEY}]"
    if not isinstance(declared, dict):
        raise InputError(where=where, seen="is not a table", todo=f"Write [{KEY}] and its keys.")
    names = {key: str(declared.get(key, "")) for key in ("filler", "gap", "island")}
    for key, name in names.items():
        if name and name not in suite.factors:
            todo = did_you_mean(name, tuple(suite.factors))
            raise InputError(
                where=where, seen=f"{key} is {name!r}, which is not a factor", todo=todo
            )
        if not name and key != "island":
            todo = f"Name the factor: {key} = ..."
            raise InputError(where=where, seen=f"{key} is missing", todo=todo)
    levels = {name: suite.factors[name] for name in names.values() if name}
    return Licensing(
        **names,
        levels=levels,
        windows=_windows(declared.get("windows"), levels[names["gap"]], where),
    )


def _windows(
    declared: JsonValue, gaps: Sequence[str], where: str
) -> dict[str, dict[str, tuple[int, ...]]]:
    todo = 'Write [licensing.windows] with lines such as "after" = { gap = [5], nogap = [4] }.'
    if not isinstance(declared, dict) or not declared:
        raise InputError(where=where, seen="windows are missing", todo=todo)
    windows: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, regions in declared.items():
        if not isinstance(regions, dict) or set(regions) != set(gaps):
            seen = f"the window {name!r} does not give regions for {' and '.join(gaps)}"
            raise InputError(where=where, seen=seen, todo=todo)
        windows[name] = {}
        for gap, numbers in regions.items():
            listed = numbers if isinstance(numbers, list) else [numbers]
            whole = tuple(number for number in listed if isinstance(number, int) and number > 0)
            if len(whole) != len(listed) or not whole:
                seen = f"the window {name!r} has {numbers!r} for {gap}"
                raise InputError(where=where, seen=seen, todo="Regions are counted from 1.")
            windows[name][gap] = whole
    return windows


def regions_measured(suite: Suite) -> dict[str, frozenset[int]]:
    """The regions that the suite's licensing windows sum, by condition; empty without windows.

    A faulty declaration gives no regions; the checks of the suite report it.
    """
    try:
        design = licensing_of(suite)
    except InputError:
        return {}
    if design is None:
        return {}
    return {
        condition.name: frozenset(
            number
            for regions in design.windows.values()
            for number in regions.get(condition.columns.get(design.gap, ""), ())
        )
        for _, condition in suite.stimuli()
    }
