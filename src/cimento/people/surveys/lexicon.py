"""The words from which distractors are taken, with their frequencies where a source counts them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cimento.corpus.treebanks import SAMPLE, SUFFIXES, open_treebanks
from cimento.errors import InputError
from cimento.intake.decoding import open_text
from cimento.intake.tables import open_table
from cimento.intake.words import NAMES
from cimento.people.reading_times import without_marks
from cimento.suites.letters import one_spelling

COUNTS = ("count", "frequency", "freq", "n")
"""Columns of a word list in which occurrences are counted."""

_BILLION = 1e9


@dataclass(frozen=True)
class Lexicon:
    """Words in small letters, and how often they occur.

    Attributes:
        counts: word to its number of occurrences.
        has_frequencies: whether that tells words apart; if not, words are matched in length only.
    """

    counts: Mapping[str, int]
    has_frequencies: bool

    @cached_property
    def _total(self) -> int:
        return sum(self.counts.values()) + len(self.counts)

    def zipf(self, word: str) -> float | None:
        """The Zipf frequency of a word; None where words are not counted.

        log10 of occurrences in a billion words, with one added to each count (van Heuven et al.
        2014, doi:10.1080/17470218.2013.850521).

        Args:
            word: in any case, without marks.
        """
        if not self.has_frequencies:
            return None
        count = self.counts.get(one_spelling(word).casefold(), 0)
        return math.log10((count + 1) / self._total * _BILLION)


def lexicon_of(texts: Iterable[str]) -> Lexicon:
    """The words of some sentences, such as those of a suite: a source without frequencies."""
    counts = _counted(word for text in texts for word in text.split())
    return Lexicon(counts, has_frequencies=False)


def read_lexicon(path: Path) -> Lexicon:
    """The words in a treebank, in a text, or in a list.

    Args:
        path: ``.conllu``, a folder of treebanks or ``it_sample``; ``.txt`` with running text; or a
            table with a column of words and one of `COUNTS`.

    Raises:
        InputError: it does not exist, holds no words, or a count is not a number.
        SuiteError: the table is damaged.
    """
    if str(path) == SAMPLE or path.is_dir() or path.name.endswith(SUFFIXES):
        sentences = (each for file in open_treebanks([path]) for each in file.sentences())
        counts = _counted(word for sentence in sentences for word in sentence.text.split())
    elif path.suffix.lower() == ".txt":
        counts = _counted(open_text(path).split())
    else:
        counts = _listed(path)
    if not counts:
        raise InputError(where=str(path), seen="there are no words in it", todo="Is it the file?")
    return Lexicon(counts, has_frequencies=len({*counts.values()}) > 1)


def _counted(words: Iterable[str]) -> Counter[str]:
    """The number of occurrences of words, names left out: those that are mostly capitalized."""
    plain = (without_marks(one_spelling(word)) for word in words)
    forms = Counter(word for word in plain if word.isalpha())
    small = Counter[str]()
    for word, count in forms.items():
        small[word.casefold()] += count
    return Counter({word: n for word, n in small.items() if 2 * forms[word] >= n})


def _listed(path: Path) -> Counter[str]:
    """The words of a list, with their counts if it has any."""
    table = open_table(path)
    column = table.find("word", *NAMES["word"], "form", "forma")
    if column is None:
        raise InputError(
            where=str(path), seen="it has no column of words", todo="Head the column: word."
        )
    counted_in = table.find(*COUNTS)
    counts = Counter[str]()
    for row in table.rows:
        word = one_spelling(row.cells.get(column, "").strip())
        cell = row.cells.get(counted_in, "").strip() if counted_in else "1"
        try:
            count = round(float(cell.replace(",", ".")))
        except (ValueError, OverflowError):
            raise InputError(
                where=table.where(row), seen=f"the count is {cell!r}", todo="Write a number."
            ) from None
        if word.isalpha() and word == word.casefold():
            counts[word] += max(count, 0)
    return counts
