"""Factors in the names of conditions, called as the words of their levels say, in that language.

*Corta* and *larga* are levels of *distancia*, *isla* and *no isla* of *estructura*; *atrator
singular* and *atrator plural* are called after the word that they share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from cimento.intake.names import meaning
from cimento.intake.words import FACTORS, word_list
from cimento.suites.design import ISLAND_CONDITIONS, ISLAND_FACTORS, N_FACTORS, N_LEVELS

UNNAMED_FACTORS = ("first_factor", "second_factor", "third_factor")
"""What factors are called whose levels, in the names of conditions alone, do not say it."""
_NUMBER, _ISLAND = "number", "structure"
_NEGATIONS = ("non", "no")


def island_factors(conditions: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The factors in condition names such as ``short_island``; empty for other names.

    Names of three parts, such as ``wh_gap_island``, are those of three factors of two levels.
    """
    if set(conditions) == set(ISLAND_CONDITIONS):
        return dict(ISLAND_FACTORS)
    for n in (len(UNNAMED_FACTORS), N_FACTORS):
        parts = [name.rsplit("_", n - 1) for name in conditions]
        if any(len(part) != n for part in parts):
            continue
        levels = [tuple(dict.fromkeys(column)) for column in zip(*parts, strict=True)]
        sizes = [*map(len, levels)]
        whole = len(set(conditions)) == prod(sizes)
        if whole and (sizes == [N_LEVELS] * n or (n == N_FACTORS and min(sizes) == N_LEVELS)):
            return dict(zip(factors_called(levels, UNNAMED_FACTORS), levels, strict=True))
    return {}


def level_columns(condition: str, factors: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The levels in the name of a condition, by factor."""
    parts = condition.rsplit("_", len(factors) - 1)
    return dict(zip(factors, parts, strict=True)) if len(parts) == len(factors) else {}


def factors_called(columns: Sequence[Sequence[str]], unnamed: Sequence[str]) -> list[str]:
    """A name for each factor: what its levels say, else the name that it has without that.

    >>> factors_called([["sem-ilha", "ilha"], ["A", "B"]], ["first_factor", "second_factor"])
    ['estrutura', 'second_factor']

    Args:
        columns: the levels of each factor.
        unnamed: what factors are called whose levels say nothing.
    """
    kinds = [_kind(levels) for levels in columns]
    words = {word for levels in columns for word in _words(" ".join(levels))}
    language = max(FACTORS, key=lambda code: _n_known(code, words))
    names = [
        _shared(levels) if kind == _NUMBER and _shared(levels) else FACTORS[language]["names"][kind]
        if kind
        else unnamed[place]
        for place, (levels, kind) in enumerate(zip(columns, kinds, strict=True))
    ]  # fmt: skip
    is_told = len({*map(str.casefold, names)}) == len(names)
    return names if is_told else [*unnamed[: len(columns)]]


def _kind(levels: Sequence[str]) -> str:
    """What levels are levels of, under a name of `FACTORS`; empty for others."""
    if {*map(meaning, levels)} == {"good", "bad"} and not {*_NEGATIONS}.intersection(levels):
        return "grammaticality"
    if any({*_bases(level)} & _known(_ISLAND) for level in levels):
        return _ISLAND
    for kind, known in (("distance", _known("distance")), (_NUMBER, {*word_list("words.numbers")})):
        if all({*_words(level)} & known for level in levels):
            return kind
    return ""


def _known(kind: str) -> set[str]:
    """The words of levels of a kind, in all languages."""
    return {word for table in FACTORS.values() for word in table["words"][kind].split()}


def _n_known(code: str, words: set[str]) -> int:
    """How many of some words are words for levels in a language."""
    known = {word for text in FACTORS[code]["words"].values() for word in text.split()}
    return sum(not known.isdisjoint(_bases(word)) for word in words)


def _shared(levels: Sequence[str]) -> str:
    """The words that all levels have, beside those of their kind."""
    numbers = {*word_list("words.numbers")}
    common = {*_words(levels[0])}.intersection(*map(_words, levels[1:])) - numbers
    return "_".join(word for word in _words(levels[0]) if word in common)


def _words(level: str) -> list[str]:
    return re.findall(r"[^\W_]+", level.casefold())


def _bases(level: str) -> Iterator[str]:
    """The words of a level, with and without a negation that they begin with: *nonisland*."""
    for word in _words(level):
        yield word
        yield from (word.removeprefix(no) for no in _NEGATIONS)
