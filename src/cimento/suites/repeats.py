"""Which of many things are there more than once, at eight bytes for each thing."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterator


class Hashes:
    """Hashes of things in the order they came in.

    Equal things have equal hashes, and different ones nearly always different hashes: who looks
    for repetitions looks at those whose hash is there again, and compares the things themselves.
    """

    def __init__(self) -> None:
        self._values = array("q")

    def __len__(self) -> int:
        return len(self._values)

    def add(self, thing: Hashable) -> None:
        """Keep the hash of a thing."""
        self._values.append(hash(thing))

    def repeated(self) -> Iterator[int]:
        """The numbers, from 0, of the things whose hash is there more than once."""
        times = Counter(self._values)
        return (number for number, value in enumerate(self._values) if times[value] > 1)
