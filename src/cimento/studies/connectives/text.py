"""The connectives study as sections: printed tables, and released data beside what is expected.

Computed statistics can be compared with expected ones, number by number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.studies.record import Cell, Section
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    from cimento.studies.connectives.checks import Check
    from cimento.studies.connectives.released import Released

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Compared:
    """One number, computed and expected.

    Attributes:
        where: the keys that lead to it, with dots between.
        computed: None where nothing was computed.
        expected: as the file has it.
        equal: within 1e-9; None where nothing was computed.
    """

    where: str
    computed: JsonValue
    expected: JsonValue
    equal: bool | None


def read_expected(path: Path) -> dict[str, JsonValue]:
    """A JSON file of expected statistics, of the shape that `released.released` computes.

    Raises:
        InputError: it cannot be read or is no JSON object.
    """
    try:
        found: JsonValue = parse_json(read_bytes(path))
    except ValueError as error:
        raise InputError(where=str(path), seen=f"is not JSON ({error})") from error
    if not isinstance(found, dict):
        raise InputError(where=str(path), seen="is not a JSON object", todo="Give one.")
    return found


def compare(computed: JsonValue, expected: JsonValue) -> list[Compared]:
    """Every number and text of the expected statistics beside the computed one."""
    mine = dict(_numbered(computed))
    return [
        Compared(where, mine.get(where), value, _equal(mine[where], value))
        if where in mine
        else Compared(where, None, value, None)
        for where, value in _numbered(expected)
    ]


def _numbered(value: JsonValue, where: str = "") -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        children = [(str(key), each) for key, each in value.items()]
    elif isinstance(value, list):
        children = [(str(number), each) for number, each in enumerate(value)]
    else:
        yield where, value
        return
    for key, each in children:
        yield from _numbered(each, f"{where}.{key}" if where else key)


def _equal(first: JsonValue, second: JsonValue) -> bool:
    numbers = (int, float)
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, numbers) and isinstance(second, numbers):
        return abs(first - second) <= TOLERANCE * max(1.0, abs(second))
    return first == second


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
