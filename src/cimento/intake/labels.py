"""Columns that label sentences as acceptable or not, by their names and their cells."""

from __future__ import annotations

from collections import Counter

from cimento.intake.known import forms_of
from cimento.intake.marks import names_judgments, sides_of
from cimento.intake.shapes import LABELED
from cimento.intake.table import Table
from cimento.intake.words import NAMES, pattern

LABEL = "label"
_LABELS = {LABEL, *NAMES[LABEL]}
"""Names of a column that labels sentences, beside those that ask for judgments."""
_ANSWER_WORDS = pattern("answers")


def label_column(table: Table) -> tuple[str, dict[str, str]]:
    """The one column that labels each sentence as good or bad, and what its cells stand for.

    It has exactly two values. Empty where there is no such column, or where two disagree.
    """
    named = labels_in(table)
    return next(iter(named.items())) if len(named) == 1 else ("", {})


def labels_in(table: Table) -> dict[str, dict[str, str]]:
    """The columns that may label sentences, of those that agree the first, with their sides.

    A column whose role somebody has chosen is the only one, and that of a published set too. Where
    no name proposes one, cells with words for good and bad do.
    """
    forms = forms_of(table, LABELED.name, needs=LABELED.needs)
    known = [form.column(table, "label") or "" for form in forms]
    chosen = [LABEL] if LABEL in table.chosen else known
    named: dict[str, dict[str, str]] = {}
    for name in chosen or filter(may_be_label, table.columns):
        asks = name if names_judgments(name) else "acceptable"
        if sides := sides_of(asks, table.profile(name).two):
            named[name] = sides
    named = named or _labels_by_cells(table)
    judged = {tuple(sides[cell] for cell in table.stripped(name) if cell in sides): name
              for name, sides in reversed(named.items())}  # fmt: skip
    return {name: named[name] for name in reversed(judged.values())}


def may_be_label(name: str) -> bool:
    """Whether a name is that of a column which may label sentences; *Correct answer* is none."""
    return name.casefold().replace("_", " ").strip(" ?¿:") in _LABELS or judges(name)


def judges(name: str) -> bool:
    """Whether a name says that its column judges sentences, and not answers to questions."""
    return names_judgments(name) and not _ANSWER_WORDS.search(name.replace("_", " "))


def _labels_by_cells(table: Table) -> dict[str, dict[str, str]]:
    """The columns whose two values are words for good and bad sentences, whatever they are called.

    Only in a table without items, in which each sentence stands once; *yes* and *no*, 1 and 0 may
    answer any question, and are no such words.

    Returns:
        For each column, what its cells stand for: ``good`` or ``bad``.
    """
    sentence = table.find("sentence") or table.find("text")
    if not sentence or table.find("item") or max(Counter(table.stripped(sentence)).values()) > 1:
        return {}
    named = {
        name: sides_of("", table.profile(name).two) for name in table.columns if name != sentence
    }
    return {name: sides for name, sides in named.items() if sides}
