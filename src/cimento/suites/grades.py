"""Grades of sentences that their author has marked: an asterisk, question marks, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.intake.marks import numbers_for
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
        numbers: the grade of each mark, higher for better ones.
    """

    marks: tuple[str, ...]
    numbers: Mapping[str, int]


def grades_of(texts: Sequence[str]) -> Grades | None:
    """The grades of sentences that their marks tell; None without such marks, or where they pair.

    Args:
        texts: the sentences as they were written, without surrounding blanks.
    """
    found = [judgment_marks(text) for text in texts]
    written = {mark: mark.strip("()") for marks in found for mark in marks}
    if _HARD.isdisjoint("".join(written)) or pairs_in_list(texts):
        return None
    known = written if all(found) else {**written, "": _UNMARKED}
    grades = numbers_for(known.values())
    if not grades:
        return None
    numbers = {mark: grades[judgment] for mark, judgment in known.items()}
    worst = (min(marks, key=numbers.__getitem__) if marks else "" for marks in found)
    return Grades(tuple(worst), numbers)
