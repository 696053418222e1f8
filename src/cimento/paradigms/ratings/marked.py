"""A list of sentences some of which their author has marked: each mark is a grade.

In linguists' lists what is not acceptable has an asterisk before it, what is less so has question
marks, and what is good has nothing. A ``#`` marks what does not fit its meaning or its context, and
``%`` what only some speakers accept: neither is a degree, and gives no grade. A list in which each
sentence is followed by the marked one is a list of pairs, and none of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from cimento.errors import Fault, counted
from cimento.faults import fault
from cimento.intake.decoding import unusable
from cimento.intake.reading import TableReading
from cimento.intake.shapes import LABELED, RATINGS
from cimento.intake.table import place_of_row
from cimento.io.files import read_bytes
from cimento.suites import Condition, Item, JsonValue, Meta, Region, Suite
from cimento.suites.builtin import RATED
from cimento.suites.checks.asides import cleaned, lead
from cimento.suites.formats.examples import pairs_below
from cimento.suites.grades import Grades, grades_of
from cimento.suites.reading import Reading, name_from, sha256_of
from cimento.suites.sentence_list import listed_sentences

MARK = "original mark"
"""The column that keeps the mark of each sentence."""


def is_marked_list(path: Path) -> bool:
    """Whether a file is a list of sentences that their author has graded by marks."""
    listed = listed_sentences(path)
    return listed is not None and grades_of(listed.texts) is not None


def read_marked(path: Path) -> Reading:
    """A list of marked sentences as rated ones, without the marks.

    Raises:
        InputError: the file is not readable.
        SuiteError: it is no such list.
    """
    data, listed = read_bytes(path), listed_sentences(path)
    grades = None if listed is None else grades_of(listed.texts)
    if listed is None or grades is None:
        seen = "No sentences are marked with * or ? in different degrees."
        raise unusable(path, [fault("CIM-S004", where=path.name, seen=seen)])
    are_numbered = all(lead(text).number for text in listed.texts)
    items = tuple(
        Item(id_, (_graded(cleaned(text, doubtful=are_numbered), mark, grades),))
        for id_, text, mark in zip(listed.ids, listed.texts, grades.marks, strict=True)
    )
    ends: dict[str, JsonValue] = {
        "low": min(grades.numbers.values()),
        "high": max(grades.numbers.values()),
    }
    suite = Suite(
        meta=Meta(name=name_from(path)), region_names=("sentence",), predictions=(), items=items,
        extra={"kind": RATED, "ratings": ends},
    )  # fmt: skip
    places = tuple(place_of_row(path.name, row.number) for row in listed.rows)
    shape = RATINGS if len({*grades.numbers.values()}) > 2 else LABELED  # noqa: PLR2004
    read = TableReading(
        shape=shape.name,
        roles={"sentence": (listed.heading,)} if listed.heading else {},
        n_items=len(items),
    )
    faults = (_said(listed.texts, grades, path.name), *_without_grade(grades, path.name))
    return Reading(suite, sha256_of(data), places, faults, read)


def _graded(text: str, mark: str, grades: Grades) -> Condition:
    """A sentence with its grade, if its mark is one of degree, and its mark, if it has one."""
    grade = {"rating": str(grades.numbers[mark])} if mark in grades.numbers else {}
    columns = grade | ({MARK: mark} if mark else {})
    return Condition("sentence", (Region(text),), columns)


def _said(texts: Sequence[str], grades: Grades, name: str) -> Fault:
    """What is said of marks that are read as grades.

    Args:
        texts: the sentences as they were written.
        grades: their grades.
        name: name of the file.
    """
    counts = Counter(grades.marks)
    order = sorted(filter(None, {*counts} & {*grades.numbers}), key=grades.numbers.__getitem__)
    shown = ", ".join(f"{mark} is {grades.numbers[mark]} ({counts[mark]})" for mark in order)
    if "" in counts:
        shown += f"; without a mark it is {grades.numbers['']} ({counts['']})"
    seen = f"Marks are read as the author's grades, and not as part of the text: {shown}."
    todo = (
        "If each marked sentence is to be compared with the one above it, write both in one row,"
        " under the names good and bad."
        if pairs_below(texts)
        else "Delete marks that mean something else."
    )
    return fault("CIM-S065", where=name, seen=seen, todo=todo)


_MEANT = {
    "#": "that a sentence does not fit its meaning or its context",
    "%": "that only some speakers accept a sentence",
}
"""What the marks say that are not of degree."""


def _without_grade(grades: Grades, name: str) -> Iterator[Fault]:
    """What is said of each mark that gives sentences no grade.

    Args:
        grades: of the sentences.
        name: name of the file.
    """
    counts = Counter(mark for mark in grades.marks if mark and mark not in grades.numbers)
    for mark, count in counts.items():
        seen = (
            f"The mark {mark} says {_MEANT[mark.strip('()')]}, and not how acceptable it is:"
            f" {counted(count, 'sentence')} with it {'has' if count == 1 else 'have'} no grade."
        )
        todo = "Write a grade in the column rating, or leave it: no grade, no correlation."
        yield fault("CIM-S065", where=name, seen=seen, todo=todo)
