"""Advice on columns of words beside sentences, for tables of blanks in which no name tells them."""

from __future__ import annotations

import re

from cimento.intake.blanks import has_blank, with_blank
from cimento.intake.shapes import as_option
from cimento.intake.table import Table

_N_WORDS = 2
"""Columns of words: one of those that fit, and one of those that do not."""
_LEAST_WORDS = 3
"""Number of words in a cell from which on it may be a sentence."""


def words_advised(table: Table) -> str:
    """Advice on the columns of right and of wrong words beside sentences; empty for other tables.

    The right words are those that are in their sentences; beside sentences with blanks either may
    be.

    Args:
        table: in no known format.
    """
    sentences = [
        name
        for name in table.columns
        if table.is_mostly(name, lambda cell: len(cell.split()) >= _LEAST_WORDS)
        and _are_different(table, name)
    ]
    words = [
        name
        for name in table.columns
        if name not in (*sentences, table.find("item"), table.find("phenomenon"))
        and table.profile(name).kind == "words"
        and _are_different(table, name)
    ]
    if len(sentences) != 1 or len(words) != _N_WORDS:
        return ""
    text = sentences[0]
    right = [name for name in words if _are_within(table, name, text)]
    if table.is_mostly(text, lambda cell: has_blank(with_blank(cell))):
        due, other = words
        what, whose = "words that are due in the blanks", ", or the other way round"
    elif len(right) == 1:
        due, other = sorted(words, key=lambda name: name not in right)
        what, whose = "a word of each sentence", ""
    else:
        return ""
    text, due, other = map(table.shown, (text, due, other))
    option = as_option({"sentence": text, "target": due, "implausible": other})
    return f"If {due!r} has {what} and {other!r} words that do not fit there: {option}{whose}."


def _are_different(table: Table, name: str) -> bool:
    """Whether most cells of a column are unlike, as no labels are."""
    return 2 * table.profile(name).n_distinct > len(table.numbers) > 1


def _are_within(table: Table, name: str, text: str) -> bool:
    """Whether most cells of a column are words of the sentences beside them."""
    rows = zip(table.stripped(name), table.stripped(text), strict=True)
    found = [
        bool(word and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence, re.IGNORECASE))
        for word, sentence in rows
    ]
    return 2 * sum(found) > len(found)
