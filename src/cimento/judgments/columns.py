"""Which columns of a wide table may have answers to items, told by what stands in them.

Where no suite says what was asked, everything else in a table could pass for ratings: times, ages,
codes, comments. A column is an item if its cells could be answers on the scale of the others; each
other one is left out with the reason.
"""

from __future__ import annotations

import ipaddress
import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import InputError
from cimento.judgments import finite

_MOSTLY = 0.8
"""The share of cells of one kind that makes a column one of that kind."""
_USUAL_SCALE = 11.0
"""The highest number of usual scales (0 to 10, 1 to 11)."""
_FAR = 2.0
"""How far beyond the scale of the others numbers are those of something else."""
_MANY_ROWS = 6
_DIFFERENT_ROWS = 3
_LONG_HEADING = 4
_OLDEST, _BIRTHS = 120.0, (1900.0, 2100.0)

_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T, ]+\d{1,2}[:.]\d{2}.*)?|"
    r"\d{1,2}:\d{2}(:\d{2})?( ?[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_WEB = re.compile(r"(https?://\S+|Mozilla/\d.*)", re.IGNORECASE)
_AGE = re.compile(
    r"\b(age|how old|year of birth|birth ?year|years old|età|anni hai|anni ha|anno di nascita|edad|"
    r"años tienes?|año de nacimiento|idade|anos (você )?tem|ano de nascimento|возраст|"
    r"сколько (вам|тебе) лет|год рождения)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r".*\w.*[.!?…][\"'»”’)\]]*", re.DOTALL)
_COUNTING = frozenset({"id", "n", "n.", "no", "no.", "nr", "nr.", "nº", "n°", "№", "#", "row"})


@dataclass(frozen=True, slots=True)
class Profile:
    """What stands in a column.

    Attributes:
        cells: that are not empty.
        numbers: of those cells that are numbers, in order.
        kind: of most cells: ``time``, ``address``, ``number``, ``text`` or empty for no cells.
    """

    cells: tuple[str, ...]
    numbers: tuple[float, ...]
    kind: str

    @property
    def numeric(self) -> bool:
        """Whether half of the answers, or more, are numbers."""
        return bool(self.cells) and 2 * len(self.numbers) >= len(self.cells)


def profile_of(cells: Sequence[str]) -> Profile:
    """What stands in the cells of a column."""
    filled = tuple(cell.strip() for cell in cells if cell.strip())
    numbers = tuple(n for cell in filled if (n := finite(cell.replace(",", "."))) is not None)
    if not filled:
        return Profile(filled, numbers, "")
    if len(numbers) >= _MOSTLY * len(filled):
        return Profile(filled, numbers, "number")
    for kind, fits in (("time", is_time), ("address", is_address)):
        if sum(map(fits, filled)) >= _MOSTLY * len(filled):
            return Profile(filled, numbers, kind)
    return Profile(filled, numbers, "text")


def is_time(text: str) -> bool:
    """Whether a text is a date, a time, or both."""
    return _DATE.fullmatch(text) is not None


def is_address(text: str) -> bool:
    """Whether a text is an address: of a person's mail, of a machine, or of a page."""
    if _MAIL.fullmatch(text) or _WEB.fullmatch(text):
        return True
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def no_items(profiles: Mapping[str, Profile], *, where: str) -> dict[str, str]:
    """The columns that are no items, each with the reason.

    Args:
        profiles: of the columns that may be items, by what stands above them.
        where: name of the table, for messages.

    Raises:
        InputError: some of what look like items have numbers of another scale.
    """
    out = {name: why for name, profile in profiles.items() if (why := _by_itself(name, profile))}
    left = {name: profile for name, profile in profiles.items() if name not in out}
    out |= _off_scale(left, where=where)
    left = {name: profile for name, profile in profiles.items() if name not in out}
    return {**out, **dict(_other_words(left))}


def _by_itself(name: str, profile: Profile) -> str:
    """Why a column is no item, whatever the others are; empty for no reason."""
    kinds = {
        "": "it has no answers",
        "time": "it has dates or times",
        "address": "it has addresses",
        "text": "",
    }
    if profile.kind in kinds:
        return kinds[profile.kind]
    if _is_age(name, profile.numbers):
        return "it has ages or years of birth"
    return "it counts the rows" if _counts(name, profile.numbers) else ""


def _is_age(name: str, numbers: Sequence[float]) -> bool:
    """Whether numbers may be ages, or years of birth, under a heading that asks for them."""
    asks = len(name.split()) < _LONG_HEADING or name.rstrip().endswith("?")
    years = all(_BIRTHS[0] <= number <= _BIRTHS[1] for number in numbers)
    ages = max(numbers) > _USUAL_SCALE and all(1 <= number <= _OLDEST for number in numbers)
    return asks and (years or ages) and _AGE.search(name) is not None


def _counts(name: str, numbers: Sequence[float]) -> bool:
    """Whether numbers go up by one from row to row, in more rows than chance has."""
    named = name.casefold().strip() in _COUNTING
    return (named or len(numbers) >= _MANY_ROWS) and all(
        later - earlier == 1 for earlier, later in itertools.pairwise(numbers)
    )


def _off_scale(profiles: Mapping[str, Profile], *, where: str) -> dict[str, str]:
    """The columns whose numbers are all far beyond those of the others."""
    tops = {name: max(p.numbers) for name, p in profiles.items() if p.numeric}
    ordered = sorted(tops.values())
    out = {}
    for name, profile in profiles.items():
        if name not in tops:
            continue
        usual = _median_of_others(tops[name], ordered)
        if min(profile.numbers) > max(_USUAL_SCALE, _FAR * usual):
            low, high = min(profile.numbers), max(profile.numbers)
            out[name] = f"its numbers ({low:g} to {high:g}) are off the scale of the others"
    unclear = [name for name in out if _reads_as_item(name)]
    if unclear:
        shown = ", ".join(f"{name!r} ({out[name].partition('(')[2].partition(')')[0]})"
                          for name in unclear[:3])  # fmt: skip
        raise InputError(
            where=where,
            seen=f"the answers are not on one scale: those to {shown} are far beyond the others",
            todo="Say which columns are items: --suite or --design, or --items COLUMN for each.",
        )
    return out


def _median_of_others(value: float, ordered: Sequence[float]) -> float:
    """The higher median of sorted numbers without one of them; 0 where there are no others."""
    middle = (len(ordered) - 1) // 2
    if len(ordered) == 1:
        return 0.0
    return ordered[middle + (bisect_left(ordered, value) <= middle)]


def _reads_as_item(name: str) -> bool:
    return len(name.split()) >= _LONG_HEADING or _SENTENCE.fullmatch(name) is not None


def _other_words(profiles: Mapping[str, Profile]) -> Iterator[tuple[str, str]]:
    """The columns of words that are no answers to the questions of the others.

    Where most questions were answered in words, nothing but that all are different tells a comment
    from a rating: two people may agree on a word that no other sentence got.
    """
    worded = {name: {*p.cells} for name, p in profiles.items() if not p.numeric}
    columns = Counter(word for words in worded.values() for word in words)
    for name, words in worded.items():
        if any(columns[word] > 1 for word in words):
            continue
        cells = profiles[name].cells
        if len(cells) >= _DIFFERENT_ROWS and len(words) == len(cells):
            yield name, "its answers are all different"
        elif 2 * len(worded) < len(profiles):
            yield name, f"its answers ({cells[0]!r} ...) are words, and those to the others numbers"
