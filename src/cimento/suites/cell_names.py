"""Names of the cells of a design, each of which joins a level of every factor.

*No isla, corta* is a heading, *no-isla/corta* a label, and *short_nonisland* the name of a
condition. What is between the levels is what parts all names so that the levels are crossed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from cimento.suites.design import N_FACTORS, N_LEVELS
from cimento.suites.formula import as_condition_name
from cimento.suites.level_words import UNNAMED_FACTORS
from cimento.suites.plain_levels import plain_first

Parts = tuple[str, ...]
"""The levels in a name."""

MOST_CELLS = 64
"""Most names that are looked at: more are not a design's cells."""
_CLEAR = (r"\s*[,;]\s*", r"\s*[/|×]\s*", r"\s+(?:[-–—+&:]|x)\s+|\s*:\s+", r"\s*[(\[]|[)\]]\s*$")
_UNCLEAR = (r"_", r"\s+", r"[-–—]", r"(?<=\w)\.(?=\w)")
_MARKS = tuple(
    tuple(re.compile(mark, re.IGNORECASE) for mark in marks)
    for marks in (*((mark,) for mark in _CLEAR), _UNCLEAR)
)
"""What may be between two levels, the clearest first: the last ones may be within a level."""
_SIGNS = {"+": "plus", "-": "minus", "–": "minus", "−": "minus"}


def cells_named(names: Sequence[str]) -> dict[str, Parts]:
    """The levels in each of some names, if these are the cells of one design; else empty.

    >>> cells_named(["no isla, sí", "no isla, no", "isla, sí", "isla, no"])["isla, no"]
    ('isla', 'no')

    Levels that differ in capitals are one. There are two factors, one of which has two levels, or
    three of two levels each.
    """
    return _told_by(names, least=len(names)) if len({*names}) == len(names) else {}


def cells_among(names: Sequence[str]) -> dict[str, Parts]:
    """The levels in those of some names that are the cells of one design; see `cells_named`.

    Others are without the mark that is between the levels, as *Nota* is.
    """
    return _told_by(names, least=N_LEVELS**N_FACTORS)


def _told_by(names: Sequence[str], *, least: int) -> dict[str, Parts]:
    """The levels in names between which one mark stands; empty where they are not crossed.

    Args:
        names: the names.
        least: the least number of them that have the mark.
    """
    for marks in _MARKS:
        having = [[name for name in names if mark.search(name.strip())] for mark in marks]
        ways = [
            cells
            for mark, some in zip(marks, having, strict=True)
            if max(least, N_LEVELS**N_FACTORS) <= len(some) <= MOST_CELLS
            and (cells := _parted(some, mark))
        ]
        if ways:
            return min(ways, key=_doubt)
    return {}


def condition_of(levels: Sequence[str]) -> str:
    """The name of the condition of a cell, from which the levels can be told again."""
    return "_".join(map(level_name, levels))


def level_name(level: str) -> str:
    """A level as a part of a condition's name: ``-gap`` is ``minus-gap``."""
    word = " ".join(level.replace("_", " ").split())
    if word[:1] in _SIGNS:
        word = f"{_SIGNS[word[0]]} {word[1:]}"
    return as_condition_name(word).replace("_", "-") or "-"


def _parted(names: Sequence[str], between: re.Pattern[str]) -> dict[str, Parts]:
    """The levels in names between which some marks stand; empty where they are not crossed."""
    parts = {name: tuple(filter(None, between.split(name.strip()))) for name in names}
    for n in (len(UNNAMED_FACTORS), N_FACTORS):
        if all(len(levels) == n for levels in parts.values()) and are_crossed([*parts.values()]):
            return _spelled_alike(parts)
    ways = [*_in_two(names, between)]
    return _spelled_alike(min(ways, key=_doubt)) if ways else {}


def are_crossed(cells: Sequence[Parts]) -> bool:
    """Whether the levels of two or three factors are crossed, each combination once."""
    folded = [tuple(map(_folded, levels)) for levels in cells]
    sizes = [len({*levels}) for levels in zip(*folded, strict=True)]
    is_known = sizes == [N_LEVELS] * len(sizes) or (
        len(sizes) == N_FACTORS and min(sizes) == N_LEVELS
    )
    n_named = len({tuple(map(level_name, levels)) for levels in folded})
    return is_known and len({*folded}) == n_named == len(folded) == prod(sizes)


def _in_two(names: Sequence[str], between: re.Pattern[str]) -> Iterator[dict[str, Parts]]:
    """The ways to part names at one of several marks each, so that the two parts are crossed."""
    splits = {
        name: [
            (first, second)
            for mark in between.finditer(name)
            if (first := name[: mark.start()].strip()) and (second := name[mark.end() :].strip())
        ]
        for name in map(str.strip, names)
    }
    for start, _ in splits[names[0].strip()]:
        ends = {
            _folded(second)
            for ways in splits.values()
            for first, second in ways
            if _folded(first) == _folded(start)
        }
        fitting = {
            name: [way for way in splits[name.strip()] if _folded(way[1]) in ends] for name in names
        }
        if all(fitting.values()):  # of several, the one of the longest second part
            made: dict[str, Parts] = {
                name: next((way for way in ways if _folded(way[0]) == _folded(start)), ways[0])
                for name, ways in fitting.items()
            }
            if are_crossed([*made.values()]):
                yield made


def _doubt(cells: Mapping[str, Parts]) -> tuple[int, int, int]:
    """How doubtful a way to part names is.

    Words that say the plain level of each factor show where the levels are; otherwise they are
    about as long as each other: *núcleo singular*, *distractor plural*.
    """
    _, unknown = plain_first(levels_of([*cells.values()]))
    lengths = [[len(level.split()) for level in levels] for levels in cells.values()]
    uneven = sum(max(words) - min(words) for words in lengths)
    return len(unknown), uneven, -sum(words[0] for words in lengths)


def levels_of(cells: Sequence[Parts]) -> dict[str, tuple[str, ...]]:
    """The levels of each factor, which has no name yet, in the order in which they come."""
    columns = (tuple(dict.fromkeys(levels)) for levels in zip(*cells, strict=True))
    return dict(zip(UNNAMED_FACTORS, columns, strict=False))


def _spelled_alike(cells: Mapping[str, Parts]) -> dict[str, Parts]:
    """Cells whose levels are all spelled as where they come first."""
    spelled: dict[tuple[int, str], str] = {}
    return {
        name: tuple(
            spelled.setdefault((place, _folded(level)), level) for place, level in enumerate(levels)
        )
        for name, levels in cells.items()
    }


def _folded(level: str) -> str:
    return " ".join(level.casefold().split())
