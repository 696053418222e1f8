"""Computed statistics beside expected ones, number by number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.suites.model import JsonValue

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
    """A JSON file of expected statistics, of the shape that `released` computes.

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
    mine = dict(_leaves(computed))
    return [
        Compared(where, mine.get(where), value, _equal(mine[where], value))
        if where in mine
        else Compared(where, None, value, None)
        for where, value in _leaves(expected)
    ]


def _leaves(value: JsonValue, where: str = "") -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        children = [(str(key), each) for key, each in value.items()]
    elif isinstance(value, list):
        children = [(str(number), each) for number, each in enumerate(value)]
    else:
        yield where, value
        return
    for key, each in children:
        yield from _leaves(each, f"{where}.{key}" if where else key)


def _equal(first: JsonValue, second: JsonValue) -> bool:
    numbers = (int, float)
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, numbers) and isinstance(second, numbers):
        return abs(first - second) <= TOLERANCE * max(1.0, abs(second))
    return first == second
