"""Where the answers to a suite are: found once, by who divides its requests into shards."""

from __future__ import annotations

import json
import sys
from array import array
from dataclasses import dataclass
from pathlib import Path

from cimento.engine.sealed import read_sealed
from cimento.errors import StorageError, TableError
from cimento.outline import Numbering
from cimento.parsing import parse_json

_BYTES = array("i").itemsize


@dataclass(frozen=True, slots=True)
class Directions:
    """Where the answers to a suite are; numbers only, four bytes each.

    Attributes:
        numbering: which request each stimulus is.
        places: for each request, in order, number of its answer among those of all shards that
            the suite needs.
        partial: numbers of the requests for which a shard holds more tokens than are wanted.
    """

    numbering: Numbering
    places: array[int]
    partial: array[int]

    def pack(self) -> bytes:
        """As they are written down: how long each list is, as JSON, then all numbers."""
        lists = (self.numbering.requests, self.numbering.several, self.places, self.partial)
        numbers = b"".join(_little(each).tobytes() for each in lists)
        return json.dumps([len(each) for each in lists]).encode() + b"\n" + numbers


def read_directions(path: Path) -> Directions:
    """Directions that were written.

    Raises:
        StorageError: they are not there, or damaged.
    """
    try:
        first, _, numbers = read_sealed(path).partition(b"\n")
        lists, begin = [], 0
        for length in parse_json(first):
            end = begin + length * _BYTES
            lists.append(_little(array("i", numbers[begin:end])))
            begin = end
        requests, several, places, partial = lists
    except (TableError, ValueError, TypeError) as error:
        raise StorageError(
            where=str(path),
            seen=f"what says where answers are cannot be read ({error})",
            todo="Run again: it is written anew.",
        ) from error
    return Directions(Numbering(requests, several), places, partial)


def _little(numbers: array[int]) -> array[int]:
    """The numbers with their lowest bytes first, whichever machine reads or writes them."""
    if sys.byteorder == "little":
        return numbers
    swapped = array("i", numbers)
    swapped.byteswap()
    return swapped
