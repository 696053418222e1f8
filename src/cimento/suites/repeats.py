"""Which of many things are there more than once, at eight bytes for each thing."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator

_AT_ONCE = 2_000
_MOST_PARTS = 32


class Hashes:
    """Hashes of things in the order they came in.

    Equal things have equal hashes, and different ones nearly always different hashes: who looks
    for repetitions looks at those whose hash is there again, and compares the things themselves.

    Attributes:
        values: the hashes.
    """

    def __init__(self) -> None:
        self.values = array("q")

    def __len__(self) -> int:
        return len(self.values)

    def add(self, thing: Hashable) -> None:
        """Keep the hash of a thing."""
        self.values.append(hash(thing))

    def any_repeated(self) -> bool:
        """Whether a hash is there more than once."""
        return next(self._again(), None) is not None

    def repeated(self) -> Iterator[int]:
        """The numbers, from 0, of the things whose hash is there more than once."""
        again = set(self._again())
        return (number for number, each in enumerate(self.values) if each in again)

    def shared(self, other: Hashes) -> int:
        """How many different hashes are here and there."""
        parts = _parts(max(len(self), len(other)))
        return sum(
            len({each for each in self.values if each % parts == part}.intersection(other.values))
            for part in range(parts)
        )

    def _again(self) -> Iterator[int]:
        """The hashes that are there again, each time that they are."""
        parts = _parts(len(self))
        # A set of all would take more room than what the hashes are of: a part at a time.
        for part in range(parts):
            once: set[int] = set()
            for each in self.values:
                if each % parts == part:
                    if each in once:
                        yield each
                    once.add(each)


def _parts(count: int) -> int:
    return min(count // _AT_ONCE + 1, _MOST_PARTS)
