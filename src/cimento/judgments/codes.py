"""Numbers for which a program wrote codes, or its user labels: ``AO03``, ``7 (perfect)``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cimento.intake.names import ends_sentence
from cimento.intake.table import Table

_LABELED = re.compile(r"([0-9]{1,2})\s*[-–—=:.)(\[]+\s*(?=[^\d\s])(.*)", re.DOTALL)
_BARE = re.compile(r"[0-9]{1,2}")
_MOST_WORDS = 4
"""Words of the longest label; longer ones are sentences to choose from."""
_SHOWN = 5


def decoded(
    table: Table, names: Sequence[str], values: Mapping[str, str], *, coded: str = ""
) -> tuple[Table, Iterator[str]]:
    """A table whose answers are numbers where codes or labels stand for them; and what is said.

    Args:
        table: of answers.
        names: the columns of answers.
        values: answers that somebody has given a meaning; with one of them, none is decoded.
        coded: the pattern of a program's codes, whose group is the number; empty for none.
    """
    answers = [{*filter(None, table.stripped(name))} for name in names]
    numbers = dict[str, str]()
    for known in () if any(map({*values}.intersection, answers)) else answers:
        found = {a: m[1] for a in known if coded and (m := re.fullmatch(coded, a))}
        numbers |= found if len(found) == len(known) else _labeled(known)
    if not _is_one_to_one(numbers):
        return table, iter(())
    cells = {
        name: [numbers.get(cell.strip(), cell) for cell in table.cells[name]] for name in names
    }
    return replace(table, cells={**table.cells, **cells}), _said(numbers)


def _labeled(answers: set[str]) -> dict[str, str]:
    """The numbers of labeled answers, if all answers are numbers, with labels or without."""
    found = {a: m[1] for a in answers if (m := _LABELED.fullmatch(a)) and _is_label(m[2])}
    others = answers - {*found}
    return found if all(map(_BARE.fullmatch, others)) else {}


def _is_label(text: str) -> bool:
    return len(text.split()) <= _MOST_WORDS and not ends_sentence(text)


def _is_one_to_one(numbers: Mapping[str, str]) -> bool:
    """Whether each number has one label, in all columns together."""
    return len({*numbers.values()}) == len(numbers)


def _said(numbers: Mapping[str, str]) -> Iterator[str]:
    if numbers:
        shown = ", ".join(f"{text!r} as {numbers[text]}" for text in sorted(numbers)[:_SHOWN])
        yield (
            f"Answers that are codes or numbers with words are read as numbers: {shown}. If they"
            " mean something else, say it with [values] in a --mapping."
        )
