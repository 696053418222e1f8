"""Grades of sentences that their author has marked: an asterisk, question marks, or nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.intake.marks import NO_DEGREE, numbers_for
from cimento.suites.checks.asides import judgment_marks
from cimento.suites.formats.examples import pairs_in_list

_UNMARKED = "ok"
_HARD = frozenset("*?")
"""Marks of which a list has one at least: others begin comments and hashtags too."""


@dataclass(frozen=True, slots=True)
class Grades:
    """What the marks of a list of sentences say of them.

    Attributes:
        marks: the mark of each sentence, of several the worst; empty without one.
        numbers: the grade of each mark that is one of degree, higher for better ones.
    """

    marks: tuple[str, ...]
    numbers: Mapping[str, int]


def grades_of(texts: Sequence[str]) -> Grades | None:
    """The grades of sentences that their marks tell; None without such marks, or where they pair.

    Args:
        texts: the sentences as they were written, without surrounding blanks.
    """
    found = [judgment_marks(text) for text in texts]
    written = {mark: _degree(mark) for marks in found for mark in marks}
    if _HARD.isdisjoint("".join(written)) or pairs_in_list(texts):
        return None
    of_degree = {mark: word for mark, word in written.items() if word}
    known = of_degree if all(found) else {**of_degree, "": _UNMARKED}
    grades = numbers_for(known.values())
    if not grades:
        return None
    numbers = {mark: grades[judgment] for mark, judgment in known.items()}

    def grade(mark: str) -> float:
        return numbers.get(mark, math.inf)

    # One without a degree counts only where there is no other.
    return Grades(tuple(min(marks, key=grade, default="") for marks in found), numbers)


def _degree(mark: str) -> str:
    """The mark of degree in a mark such as ``(?)`` or ``#*``; empty without one."""
    return "".join(sign for sign in mark.strip("()") if sign not in NO_DEGREE)
