"""One list of sentences, in which each is followed by the one that linguists mark: (1a), (1b) *.

Handouts and papers list their examples this way. The mark says which sentence is the bad one, never
its place; marks and numbers are not part of the sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import counted
from cimento.faults import fault
from cimento.intake.decoding import unusable
from cimento.io.files import read_bytes
from cimento.suites import Condition, Region
from cimento.suites.checks.asides import cleaned, judgment_mark, lead
from cimento.suites.formats.gathered import Gathered
from cimento.suites.reading import Reading
from cimento.suites.sentence_list import ListRow, may_be_list, read_list

SIDES = ("good", "bad")
FORMAT = "examples"
_MARKS = r"[*?#%✓✔√]*"
_LABEL = re.compile(
    rf"(?P<before>{_MARKS})\s*[(\[]?(?P<number>\d{{1,4}})[-.]?(?P<letter>[a-zа-я]?)['′’]*[)\].:]*\s*"
    rf"(?P<after>{_MARKS})"
)
"""A cell with nothing but the number of an example, and perhaps a mark: (1b), 12., (3a) *."""


_LEAST_ALIKE = 0.5
"""Least proportion of words that a sentence shares with the marked one that is its version."""


@dataclass(frozen=True, slots=True)
class ExamplePair:
    """A sentence and the one with a mark below it.

    Attributes:
        item: the number that the two share; empty without one.
        good: the sentence.
        bad: the other one, without its mark.
    """

    item: str
    good: str
    bad: str


def is_label(cell: str) -> bool:
    """Whether a cell has nothing but the number of an example, and perhaps a mark."""
    return _LABEL.fullmatch(cell.strip()) is not None


def pairs_in_list(texts: Sequence[str], labels: Sequence[str] = ()) -> list[ExamplePair]:
    """Each sentence with the marked one below it; none if one has no other.

    >>> pairs_in_list(["(1a) The boys sleep.", "(1b) *The boys sleeps."])
    [ExamplePair(item='1', good='The boys sleep.', bad='The boys sleeps.')]

    Args:
        texts: the sentences without surrounding blanks.
        labels: the cell beside each, such as ``(1b) *``; none where there is no such column.
    """
    beside = list(labels) or ["" for _ in texts]
    if not texts or len(texts) != len(beside) or len(texts) % 2:
        return []
    is_marked = [
        bool(judgment_mark(text) or _marks_in(label))
        for text, label in zip(texts, beside, strict=True)
    ]
    if is_marked != [False, True] * (len(texts) // 2):
        return []
    # The second sentence of an example often has no number of its own.
    have_numbers = [all(lead(text).number for text in texts[side::2]) for side in range(2)]
    clean = [cleaned(text, doubtful=have_numbers[n % 2]) for n, text in enumerate(texts)]
    numbers = [
        _number_in(label or lead(text).number) for text, label in zip(texts, beside, strict=True)
    ]
    both = list(zip(numbers[::2], numbers[1::2], strict=True))
    is_shared = all(one != "" and other in (one, "") for one, other in both)
    if not is_shared and any(beside) and len({*beside}) < len(beside):
        return []
    items = [one for one, _ in both]
    keeps = is_shared and len({*items}) == len(items)
    return [
        ExamplePair(item if keeps else "", good, bad)
        for item, good, bad in zip(items, clean[::2], clean[1::2], strict=True)
    ]


def pairs_below(texts: Sequence[str]) -> list[ExamplePair]:
    """Each marked sentence with the nearest one above it that has no mark and is much like it.

    None if some sentence, marked or not, is left without another: such a list grades sentences.

    >>> pairs_below(["The boys sleep.", "*The boys sleeps.", "??The boys is sleep."])
    [ExamplePair(item='', good='The boys sleep.', bad='The boys sleeps.'), \
ExamplePair(item='', good='The boys sleep.', bad='The boys is sleep.')]

    Args:
        texts: the sentences without surrounding blanks.
    """
    pairs, good, used = list[ExamplePair](), "", True
    are_numbered = all(lead(text).number for text in texts)
    for text in texts:
        clean = cleaned(text, doubtful=are_numbered)
        if not judgment_mark(text):
            if not used:
                return []
            good, used = clean, False
        elif not good or _likeness(good, clean) < _LEAST_ALIKE:
            return []
        else:
            pairs.append(ExamplePair("", good, clean))
            used = True
    return pairs if used else []


def _likeness(one: str, other: str) -> float:
    """The proportion of the words of two sentences that both have, in any order."""
    words, others = (Counter(re.findall(r"\w+", text.casefold())) for text in (one, other))
    return 2 * (words & others).total() / max((words + others).total(), 1)


def _marks_in(label: str) -> str:
    match = _LABEL.fullmatch(label)
    return match["before"] + match["after"] if match else ""


def _number_in(label: str) -> str:
    """The number of an example without its letter; empty where there is none."""
    match = re.search(r"\d+", label)
    return match[0] if match else ""


def examples_in(rows: Sequence[ListRow]) -> tuple[list[ExamplePair], list[int]]:
    """The pairs of a list, with or without a name above its column, and the row of each good one.

    Args:
        rows: the rows of the list.

    Returns:
        The pairs, none where it is no such list; row numbers from 1.
    """
    for start in (0, 1):  # the first row may name the columns
        listed = [row for row in rows[start:] if row.text]
        texts, labels = [row.text for row in listed], [row.label for row in listed]
        is_beside = any(labels)
        if is_beside and not all(map(is_label, labels)):
            continue
        if pairs := pairs_in_list(texts, labels if is_beside else ()):
            return pairs, [row.number for row in listed][::2]
    return [], []


def examples_advised(data: bytes, path: Path) -> str:
    """Advice on a list of examples that can be read as pairs; empty for other files."""
    if not may_be_list(data, path):
        return ""
    pairs, _ = examples_in(read_list(data, path)[0])
    if not pairs:
        return ""
    first = pairs[0]
    return (
        "Each sentence is followed by one with a mark. If the marked ones are the bad ones of"
        f" pairs: `cimento suites convert {path.name} --from {FORMAT} -o NAME.xlsx` reads"
        f" {counted(len(pairs), 'pair')}, the first of them {first.good!r} and {first.bad!r}."
    )


def read_examples(path: Path) -> Reading:
    """Read a list of examples, in which each sentence is followed by the marked one.

    Raises:
        InputError: the file may not be read.
        SuiteError: the sentences without and with a mark do not alternate.
    """
    data = read_bytes(path)
    rows, faults = read_list(data, path)
    pairs, numbers = examples_in(rows)
    if not pairs:
        seen = "The sentences without and with a mark such as * do not alternate."
        raise unusable(path, faults or [fault("CIM-S004", where=path.name, seen=seen)])
    gathered = Gathered()
    for count, (pair, row) in enumerate(zip(pairs, numbers, strict=True), start=1):
        for side, text in zip(SIDES, (pair.good, pair.bad), strict=True):
            condition = Condition(side, (Region(text),))
            gathered.add(pair.item or str(count), condition, f"{path.name} row {row}")
    return gathered.reading(path, data, faults)
