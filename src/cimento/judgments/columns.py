"""Which columns of a wide table may have answers to items, told by what is in them.

Where no suite says what was asked, everything else in a table could pass for ratings: times, ages,
codes, means, comments. A column is an item if its cells could be answers on the scale of the
others; each other one is left out with the reason.
"""

from __future__ import annotations

import ipaddress
import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from cimento.errors import InputError
from cimento.intake.profile import is_moment, number_of, profile
from cimento.intake.words import pattern, word_list
from cimento.judgments import MISSING

_MOSTLY = 0.8
"""The proportion of cells of one kind that makes a column one of that kind."""
_USUAL_SCALE = 11.0
"""The highest number of usual scales (0 to 10, 1 to 11)."""
_FAR = 2.0
"""How far beyond the scale of the others numbers are those of something else."""
_MANY_ROWS = 6
_DIFFERENT_ROWS = 3
_LONG_HEADING = 4
_OLDEST, _BIRTHS = 120.0, (1900.0, 2100.0)

_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_WEB = re.compile(r"(https?://\S+|Mozilla/\d.*)", re.IGNORECASE)
_AGE = pattern("age")
_SENTENCE = re.compile(r".*\w.*[.!?…][\"'»”’)\]]*", re.DOTALL)
_COUNTING = frozenset(word_list("people.counting"))
_SUMS = frozenset(word_list("words.sums"))
_SHORT = 4
"""Letters of the longest codes that may be answers, such as *A1* and *AO03*."""
_NEVER = {
    "moments": "it has dates, times or durations",
    "objects": "it has lists or objects",
    "address": "it has addresses",
    "codes": "it has codes",
}
"""Kinds of columns that are not answers even if somebody asks for them, each with what is said."""


class Answers:
    """What may be the answers in a column.

    Args:
        cells: of the column.

    Attributes:
        cells: those that are not empty.
        numbers: those of them that are numbers, in order.
    """

    def __init__(self, cells: Sequence[str]) -> None:
        self.cells = [cell for cell in map(str.strip, cells) if cell and cell not in MISSING]
        self.numbers = [n for cell in self.cells if (n := number_of(cell)) is not None]
        self._kind = profile(cells).kind

    @property
    def never(self) -> str:
        """Why these are not answers to anything; empty for no reason."""
        kinds = {"moments": is_moment, "address": is_address}
        for kind, fits in kinds.items():
            if self.cells and sum(map(fits, self.cells)) >= _MOSTLY * len(self.cells):
                return _NEVER[kind]
        if self._kind == "codes" and min(map(len, self.cells), default=0) <= _SHORT:
            return ""
        return _NEVER.get(self._kind, "")

    @property
    def are_numbers(self) -> bool:
        """Whether half of the answers, or more, are numbers."""
        return bool(self.cells) and 2 * len(self.numbers) >= len(self.cells)

    @property
    def are_whole(self) -> bool:
        """Whether all numbers are whole."""
        return all(map(float.is_integer, self.numbers))


def is_address(text: str) -> bool:
    """Whether a text is an address: of a person's mail, of a machine, or of a page."""
    if _MAIL.fullmatch(text) or _WEB.fullmatch(text):
        return True
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def no_items(columns: Mapping[str, Answers], *, where: str) -> dict[str, str]:
    """The columns that are not items, each with the reason.

    Args:
        columns: the columns that may be items, by what is above them.
        where: name of the table, for messages.

    Raises:
        InputError: some of what look like items have numbers of another scale.
    """
    out = {name: why for name, cells in columns.items() if (why := by_itself(name, cells))}
    off_scale = partial(_off_scale, where=where)
    for other in (_means, off_scale, _texts, _comments, _other_words, _other_questions):
        left = {name: cells for name, cells in columns.items() if name not in out}
        out |= dict(other(left))
    return out


def by_itself(name: str, column: Answers) -> str:
    """Why a column is not an item, whatever the others are; empty for no reason.

    Args:
        name: what is above it.
        column: its answers.
    """
    if not column.cells:
        return "it has no answers"
    if column.never or len(column.numbers) < _MOSTLY * len(column.cells):
        return column.never
    if _is_age(name, column.numbers):
        return "it has ages or years of birth"
    words = name.casefold().split()
    if words and len(words) < _LONG_HEADING and words[0].strip(":.()") in _SUMS:
        return "it has sums or means"
    return "it counts the rows" if _counts(name, column.numbers) else ""


def _is_age(name: str, numbers: Sequence[float]) -> bool:
    """Whether numbers may be ages, or years of birth, under a heading that asks for them."""
    asks = len(name.split()) < _LONG_HEADING or name.rstrip().endswith("?")
    years = all(_BIRTHS[0] <= number <= _BIRTHS[1] for number in numbers)
    ages = max(numbers) > _USUAL_SCALE and all(1 <= number <= _OLDEST for number in numbers)
    return asks and (years or ages) and _AGE.search(name) is not None


def _counts(name: str, numbers: Sequence[float]) -> bool:
    """Whether numbers are ids: in steps of one in more rows than chance has, or called so."""
    if name.casefold().strip() in _COUNTING:
        return len({*numbers}) == len(numbers)
    return len(numbers) >= _MANY_ROWS and all(
        later - earlier == 1 for earlier, later in itertools.pairwise(numbers)
    )


def _means(columns: Mapping[str, Answers]) -> Iterator[tuple[str, str]]:
    """The columns of numbers that are not whole, where most questions have whole ones."""
    numeric = {name: column for name, column in columns.items() if column.are_numbers}
    others = [name for name, column in numeric.items() if not column.are_whole]
    if 2 * len(others) < len(numeric):
        for name in others:
            yield name, "its numbers are not whole, as means are, and those of the others are"


def _off_scale(columns: Mapping[str, Answers], *, where: str) -> Iterator[tuple[str, str]]:
    """The columns whose numbers are all far beyond those of the others."""
    tops = {name: max(c.numbers) for name, c in columns.items() if c.are_numbers}
    ordered = sorted(tops.values())
    out = {}
    for name, top in tops.items():
        low, usual = min(columns[name].numbers), _median_of_others(top, ordered)
        if low > max(_USUAL_SCALE, _FAR * usual):
            out[name] = f"{low:g} to {top:g}"
    unclear = [f"{name!r} ({out[name]})" for name in out if _reads_as_item(name)]
    if unclear:
        raise InputError(
            where=where,
            seen=f"the answers are not on one scale: those to {', '.join(unclear[:3])} are far"
            " beyond the others",
            todo="Say which columns are items: --suite or --design, or --items COLUMN for each.",
        )
    for name, ends in out.items():
        yield name, f"its numbers ({ends}) are off the scale of the others"


def _median_of_others(value: float, ordered: Sequence[float]) -> float:
    """The higher median of sorted numbers without one of them; 0 where there are no others."""
    middle = (len(ordered) - 1) // 2
    if len(ordered) == 1:
        return 0.0
    return ordered[middle + (bisect_left(ordered, value) <= middle)]


def _reads_as_item(name: str) -> bool:
    return len(name.split()) >= _LONG_HEADING or _SENTENCE.fullmatch(name) is not None


def _texts(columns: Mapping[str, Answers]) -> Iterator[tuple[str, str]]:
    """The columns of texts, where others have one word or mark a cell, as answers have."""
    n_words = {
        name: sum(len(cell.split()) for cell in column.cells) / len(column.cells)
        for name, column in columns.items()
    }
    if 3 * sum(mean <= _MOST_WORDS for mean in n_words.values()) >= len(n_words):
        for name, mean in n_words.items():
            if mean >= _FEWEST_WORDS and not columns[name].are_numbers:
                yield name, "its answers are texts, and those to others are words or marks"


_MOST_WORDS, _FEWEST_WORDS = 1.5, 3.0
"""Words of an answer in the mean: of marks, and of texts that somebody wrote."""


def _comments(columns: Mapping[str, Answers]) -> Iterator[tuple[str, str]]:
    """The columns in which everybody wrote something else, that no other column has.

    Where most questions were answered in words, nothing but that tells a comment from a rating: two
    people may agree on a word that no other sentence got.
    """
    worded = _worded(columns)
    times = Counter(word for words in worded.values() for word in words)
    for name, words in worded.items():
        n = len(columns[name].cells)
        if len(words) == n >= _DIFFERENT_ROWS and all(times[word] == 1 for word in words):
            yield name, "its answers are all different"


def _other_words(columns: Mapping[str, Answers]) -> Iterator[tuple[str, str]]:
    """The columns of words, that no other column has, where most questions have numbers."""
    worded = _worded(columns)
    times = Counter(word for words in worded.values() for word in words)
    if 2 * len(worded) < len(columns):
        for name, words in worded.items():
            if all(times[word] == 1 for word in words):
                first = columns[name].cells[0]
                yield (
                    name,
                    f"its answers ({first!r} ...) are words, and those to the others numbers",
                )


def _other_questions(columns: Mapping[str, Answers]) -> Iterator[tuple[str, str]]:
    """The questions whose words no other column has, where most columns share words.

    Everybody may say of one sentence what nobody says of the others, so that a heading without a
    question mark, such as the row of a grid, is that of an item all the same.
    """
    worded = _worded(columns)
    times = Counter(word for words in worded.values() for word in words)
    alone = [name for name, words in worded.items() if all(times[word] == 1 for word in words)]
    sharing, asking = [name for name in worded if name not in alone], [*filter(_asks, alone)]
    if any(map(_asks, sharing)) or len(sharing) <= len(asking):
        return
    for name in asking:
        first = columns[name].cells[0]
        yield name, f"its answers ({first!r} ...) are none of those to the others"


def _asks(name: str) -> bool:
    return name.rstrip().endswith("?")


def _worded(columns: Mapping[str, Answers]) -> dict[str, set[str]]:
    """The different answers in each column of words."""
    return {name: {*column.cells} for name, column in columns.items() if not column.are_numbers}
