"""N-gram models in the ARPA text format, read and asked without any package.

A model says log10 P of n-grams and, for those that can be a context, a back-off weight. The
probability of a word is that of the longest n-gram that ends with it and is known, times the
back-off weights of the longer contexts (Katz 1987, doi:10.1109/TASSP.1987.1165125).
"""

from __future__ import annotations

import gzip
import math
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from cimento.errors import InputError
from cimento.io.parsing import MAX_GROWTH, SMALL_BYTES

UNKNOWN = "<unk>"
START = "<s>"
END = "</s>"

LONGEST_LINE = 100_000
"""Bytes; an n-gram has some words and two numbers."""

_COUNT = re.compile(rb"ngram\s+(\d{1,3})\s*=\s*(\d{1,18})")
_SECTION = re.compile(rb"\\(\d{1,3})-grams:")
_GZIP = b"\x1f\x8b"
_SINGLE = struct.Struct("f")


class ArpaModel:
    """An n-gram model held in dictionaries: good for some million n-grams.

    Numbers are single precision and are added in KenLM's order, so that both say the same.

    Args:
        path: the file, which may be compressed with gzip.

    Attributes:
        order: length of its longest n-grams, in words.

    Raises:
        InputError: the file cannot be read, or is no ARPA file; names the line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log10: dict[str, float] = {}
        self._backoff: dict[str, float] = {}
        try:
            with _open(path) as file:
                self.order = self._read(file)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(where=str(path), seen=f"cannot be read ({error})") from error

    @property
    def has_unknown(self) -> bool:
        """Whether words that are not in the vocabulary have a probability."""
        return UNKNOWN in self._log10

    def knows(self, word: str) -> bool:
        """Whether the word is in the vocabulary."""
        return word in self._log10

    def log10(self, words: Sequence[str], *, start: bool) -> list[float]:
        """log10 P of each word given the words before it; NaN where the model says nothing.

        Args:
            words: a text; those that are not in the vocabulary stand for ``<unk>``.
            start: whether ``<s>`` stands before the first of them.
        """
        known = [START] if start else []
        values = []
        for word in words:
            known.append(word if self.knows(word) else UNKNOWN)
            values.append(self._last(known[-self.order :]))
        return values

    def _last(self, words: Sequence[str]) -> float:
        """log10 P of the last of some words given the others."""
        context = words[:-1]
        for dropped in range(len(words)):
            value = self._log10.get(" ".join(words[dropped:]))
            if value is not None:
                for begin in reversed(range(dropped)):
                    value = _single(value + self._backoff.get(" ".join(context[begin:]), 0.0))
                return value
        return math.nan

    def _lines(self, file: gzip.GzipFile | IO[bytes]) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers, none of them so long that it fills the memory."""
        number = 0
        left = MAX_GROWTH * self._path.stat().st_size + SMALL_BYTES
        while line := file.readline(LONGEST_LINE):
            number += 1
            left -= len(line)
            if len(line) == LONGEST_LINE:
                raise self._fault(f"the line has {LONGEST_LINE:,} bytes or more", number)
            if left < 0:
                raise self._fault("the file grows as no model does when it is unpacked", number)
            yield number, line

    def _read(self, file: gzip.GzipFile | IO[bytes]) -> int:
        """Take all n-grams in; the order of the model."""
        said: Counter[int] = Counter()
        found: Counter[int] = Counter()
        order, ended = 0, False
        for number, line in self._lines(file):
            text = line.strip()
            if counted := _COUNT.fullmatch(text):
                said[int(counted[1])] = int(counted[2])
            elif section := _SECTION.fullmatch(text):
                order = int(section[1])
            elif text == b"\\end\\":
                ended = True
                break
            elif order and text:
                self._add(text.split(), order, number)
                found[order] += 1
        if not said:
            raise self._fault("it is no n-gram model in ARPA format (no line `ngram 1=...`)")
        if not ended or said != found:
            counts = ", ".join(f"{found[n]} of {said[n]} {n}-grams" for n in sorted(said | found))
            raise self._fault(f"it holds {counts}" + ("" if ended else ", and no line `\\end\\`"))
        return max(said)

    def _add(self, fields: Sequence[bytes], order: int, line: int) -> None:
        try:
            numbers = [float(fields[0]), *map(float, fields[order + 1 :])]
            words = b" ".join(fields[1 : order + 1]).decode()
        except ValueError as error:
            raise self._fault(f"not a {order}-gram with its numbers ({error})", line) from error
        if not order + 1 <= len(fields) <= order + 2 or not all(map(math.isfinite, numbers)):
            raise self._fault(f"not a {order}-gram between a number and at most one more", line)
        if numbers[0] > 0:
            raise self._fault(f"{numbers[0]} is no logarithm of a probability", line)
        words = UNKNOWN if words == "<UNK>" else words
        self._log10[words] = _single(numbers[0])
        if len(numbers) > 1 and numbers[1] != 0:
            self._backoff[words] = _single(numbers[1])

    def _fault(self, seen: str, line: int | None = None) -> InputError:
        where = str(self._path) if line is None else f"{self._path}, line {line}"
        return InputError(where=where, seen=seen, todo="Was the file cut short or edited?")


def _open(path: Path) -> gzip.GzipFile | IO[bytes]:
    with path.open("rb") as file:
        compressed = file.read(len(_GZIP)) == _GZIP
    return gzip.open(path, "rb") if compressed else path.open("rb")


def _single(value: float) -> float:
    """The nearest single-precision number."""
    rounded: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    return rounded
