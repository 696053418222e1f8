"""Judgments as linguists write them down, in marks and words, and numbers in place of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cimento.intake.names import abbreviated, is_negative, meaning
from cimento.intake.words import pattern, word_list

_FROM_BAD_TO_GOOD: Sequence[Sequence[str]] = word_list("judgments.from_bad_to_good")
NO_DEGREE = frozenset(word_list("judgments.no_degree"))
"""Marks of linguists that do not say how acceptable a sentence is."""
_WILDCARDS = "*?"
_MARKS = {*word_list("judgments.marks")}
"""Judgments in any column; words such as *yes* and *no* may be the levels of any factor."""
_TICKS = {*word_list("judgments.ticks")}
_YES = {"x", "1", "1.0", *_FROM_BAD_TO_GOOD[-1]} - _MARKS - _TICKS
_NO = {"0", "0.0", *_FROM_BAD_TO_GOOD[1]} - _MARKS - _TICKS
"""Answers to the question in the name of a column, which may be whether a sentence is bad."""
_PAIR_SIDES = {
    **dict.fromkeys(word_list("judgments.likelier"), "good"),
    **dict.fromkeys(word_list("judgments.unlikelier"), "bad"),
}
"""What says of the sentences of a pair which one should be likelier."""
_LEGEND = re.compile(r"([^\s(,;=]+)\s*[=:]\s*([^,;)=]+)")
_ZERO_OR_ONE = {"0": "bad", "0.0": "bad", "1": "good", "1.0": "good"}
_JUDGING_WORDS = pattern("judging")


def _place(judgment: str) -> int | None:
    """The place of a judgment from bad to good; None for an unknown one."""
    word = judgment.strip().casefold()
    side = meaning(word)
    known = {"bad": "*", "good": "ok"}.get(side, word)
    places = (place for place, words in enumerate(_FROM_BAD_TO_GOOD) if known in words)
    return next(places, None)


def numbers_for(judgments: Iterable[str], header: str = "") -> dict[str, int]:
    """A number for each of some judgments, higher for better ones; empty if one is not known.

    In a column that asks what is bad, no is better than yes.

    >>> numbers_for(["ok", "*", "??"])
    {'ok': 3, '??': 2, '*': 1}
    """
    if is_negative(header):
        sides = sides_of(header, judgments)
        return {
            mark: int(sides[mark] == "good") for mark in sorted(sides, key=sides.__getitem__)[::-1]
        }
    places = {judgment: _place(judgment) for judgment in judgments}
    ranks = sorted({place for place in places.values() if place is not None})
    if None in places.values() or len(ranks) < 2:  # noqa: PLR2004  # a scale has two ends
        return {}
    first = int(len(ranks) > 2)  # noqa: PLR2004  # of two, the worse is 0
    numbers = {
        judgment: ranks.index(place) + first
        for judgment, place in places.items()
        if place is not None
    }
    return dict(sorted(numbers.items(), key=lambda entry: -entry[1]))


def advice_on(judgments: Iterable[str], *, has_blanks: bool, header: str = "") -> str:
    """Advice on how to write judgments as numbers.

    Args:
        judgments: the distinct marks and words.
        header: the name of their column.
        has_blanks: whether some sentences have none.
    """
    known = dict.fromkeys(filter(None, map(str.strip, judgments)))
    others = [judgment for judgment in known if judgment in NO_DEGREE]
    numbers = numbers_for((judgment for judgment in known if judgment not in NO_DEGREE), header)
    if numbers:
        todo = f"Write numbers in their place, such as {_listed(numbers)}."
    elif has_blanks and {_place(judgment) for judgment in known} == {1}:
        todo = (
            f"Write 0 in place of {_quoted(known)}, and 1 where there is nothing if those sentences"
            " are acceptable."
        )
    else:
        todo = "Write a number in place of each, higher for better."
    if others:
        todo += f" Leave cells with {_quoted(others)} empty: that says nothing of a degree."
    if any(mark in judgment for judgment in known for mark in _WILDCARDS):
        todo += " In Excel, replace whole cells, with ~ before * and ?, which stand for any text."
    return todo


def is_judgments(cells: Iterable[str]) -> bool:
    """Whether the cells of a column are judgments in marks and words, of which at least two."""
    known = {cell.strip() for cell in cells if cell.strip()}
    return bool(numbers_for(known - NO_DEGREE))


def names_judgments(header: str) -> bool:
    """Whether the name of a column says that it judges sentences, such as *Gramaticalidad*."""
    return _JUDGING_WORDS.search(header) is not None or is_negative(header)


def sides_of(header: str, cells: Iterable[str], *, abbreviates: bool = False) -> dict[str, str]:
    """Good or bad for each of the two levels of a factor; empty where they are not judgments.

    >>> sides_of("Gramaticalidad", ["sí", "no"])
    {'sí': 'good', 'no': 'bad'}
    >>> sides_of("Island", ["yes", "no"])
    {}

    Args:
        header: the name of the column, which decides for *yes* and *no*, 1 and 0.
        cells: the levels, of which one may be empty beside an asterisk.
        abbreviates: whether any abbreviation counts, such as *G* and *U*.
    """
    levels, asks_bad = dict.fromkeys(map(str.strip, cells)), is_negative(header)
    if "" in levels:  # nothing stands for a good sentence only beside what marks the bad ones
        marks = {*levels} - {""}
        is_bad = marks in ({"*"}, {"✗"}) or (asks_bad and {m.casefold() for m in marks} <= _YES)
        return {"": "good", **dict.fromkeys(marks, "bad")} if is_bad and len(marks) == 1 else {}
    if len(levels) != 2:  # noqa: PLR2004  # good and bad
        return {}
    words = {level.casefold() for level in levels}
    if stated := _stated(header, levels):
        return stated
    if asks_bad and words <= _YES | _NO:
        sides = {level: "bad" if level.casefold() in _YES else "good" for level in levels}
    elif asks_bad and words <= _TICKS:
        return {}  # a tick may stand for yes or for a good sentence
    else:
        sides = _sides(header, levels, abbreviates=abbreviates)
    return sides if sorted(sides.values()) == ["bad", "good"] else {}


def _sides(header: str, levels: Iterable[str], *, abbreviates: bool) -> dict[str, str]:
    """Good or bad for two levels, as far as they are known."""
    levels, is_judged = list(levels), names_judgments(header)
    sides = {level: _PAIR_SIDES.get(level.casefold(), meaning(level)) for level in levels}
    if {*sides.values()} != {"good", "bad"}:
        sides = {level: abbreviated(level) for level in levels}
        if not (is_judged or abbreviates) and min(map(len, levels)) < _SHORTEST:
            sides = {}
    if is_judged or _MARKS & {level.casefold() for level in levels}:
        numbers = numbers_for(levels)
        sides = {level: "good" if number else "bad" for level, number in numbers.items()} or sides
        if {*levels} <= {*_ZERO_OR_ONE}:
            sides = {level: _ZERO_OR_ONE[level] for level in levels}
    return {level: sides[level] for level in levels} if sides else {}


def _stated(header: str, levels: Iterable[str]) -> dict[str, str]:
    """The sides that the name of a column gives: ``Judgment (1 = bad)``; empty without them."""
    legend = {mark: meaning(word.strip()) for mark, word in _LEGEND.findall(header)}
    known = {mark: side for mark, side in legend.items() if side in ("good", "bad")}
    (rest,) = {"good", "bad"} - {*known.values()} if len({*known.values()}) == 1 else ("",)
    sides = {level: known.get(level, rest) for level in levels}
    return sides if sorted(sides.values()) == ["bad", "good"] else {}


_SHORTEST = 4
"""Letters of an abbreviation, such as *gramm*, that is clear in any column."""


def _quoted(judgments: Iterable[str]) -> str:
    return " or ".join(map(repr, judgments))


def _listed(numbers: dict[str, int]) -> str:
    """Numbers and what they stand for, such as ``1 for 'ok' and 0 for '*'``."""
    texts = [
        f"{number} for {_quoted(name for name, other in numbers.items() if other == number)}"
        for number in dict.fromkeys(numbers.values())
    ]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


_FORMULA_ERROR = re.compile(r"#(?:[NН]/[ADД]|[¡¿]?[A-ZÚ]+(?:/0)?[!?]|[А-Я]+(?:/0)?[!?])")


def is_formula_error(text: str) -> bool:
    """Whether a cell is what a formula gives that fails, such as ``#N/A`` or ``#RIF!``."""
    return text[:1] == "#" and _FORMULA_ERROR.fullmatch(text) is not None
