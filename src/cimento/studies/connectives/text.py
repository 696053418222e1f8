"""The connectives study as sections: printed tables, released data, a copy of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.studies.record import Cell, Section

if TYPE_CHECKING:
    from cimento.studies.connectives.checks import Check
    from cimento.studies.connectives.released import Compared, Released
    from cimento.suites.model import JsonValue

_EQUAL = {"right": True, "wrong": False, "open": None}


def printed_section(checks: Sequence[Check]) -> Section:
    """What adds up in the printed tables."""
    right, wrong, unclear = (
        sum(check.verdict == verdict for check in checks) for verdict in ("right", "wrong", "open")
    )
    return Section(
        name="printed",
        title="The printed tables against themselves",
        source=f"{right} of {len(checks)} figures follow from others, {wrong} do not, {unclear} can"
        " be read in two ways",
        cells=tuple(
            Cell(
                what=f"{check.where}: {check.what}",
                computed=check.computed,
                printed=check.printed,
                equal=_EQUAL[check.verdict],
                note=f"open: {check.note}" if check.verdict == "open" else check.note,
            )
            for check in checks
        ),
    )


def released_sections(found: Released) -> list[Section]:
    """Statistics of released data, a section for each."""
    return [
        Section(
            name=name,
            title=f"Statistics of {name}",
            source="Released data",
            cells=tuple(Cell(what=where, computed=value) for where, value in _leaves(values)),
        )
        for name, values in found.values.items()
    ]


def expected_section(compared: Sequence[Compared]) -> Section:
    """Statistics that somebody else computed and these are not equal to."""
    equal = sum(each.equal is True for each in compared)
    absent = sum(each.equal is None for each in compared)
    return Section(
        name="expected",
        title="Computed beside expected statistics: those that differ",
        source=f"{equal} equal within 1e-9, {len(compared) - equal - absent} not, {absent} without"
        " a computed value",
        cells=tuple(
            Cell(
                what=each.where,
                computed=_shown(each.computed),
                recomputed=_shown(each.expected),
                equal=False,
            )
            for each in compared
            if each.equal is False
        ),
    )


def _leaves(value: JsonValue, where: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, f"{where} {key}".strip())
    elif isinstance(value, list):
        yield where, ", ".join(_shown(each) for each in value)
    else:
        yield where, _shown(value)


def _shown(value: JsonValue) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "-" if value is None else str(value)
