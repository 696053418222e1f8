"""The one column of sentences in a table that calls none so: its cells propose it."""

from __future__ import annotations

from dataclasses import replace

from cimento.intake.names import is_translation
from cimento.intake.table import Table
from cimento.intake.words import pattern

_OTHER = pattern("beside")
"""Names of texts that are not the sentences."""
_LEAST_FILLED = 0.9
_FEWEST = 3
"""Number of different sentences from which a column may be that of the sentences."""


def with_sentence_named(table: Table) -> Table:
    """A table whose one column of sentences is called ``sentence``; others are unchanged.

    Where two columns hold sentences, or none is filled in nearly all rows, it is unchanged; so is a
    table with a word beside each context, which may be what was rated.
    """
    if table.find("sentence", "text") or any(map(table.find, ("good", "bad", "target"))):
        return table
    texts = [name for name in table.columns if table.profile(name).kind == "sentences"]
    name = texts[0] if len(texts) == 1 else ""
    if not name or is_translation(name) or _OTHER.search(name) or not _is_filled(table, name):
        return table
    called = {column: "sentence" if column == name else column for column in table.columns}
    return replace(
        table,
        columns=tuple(called.values()),
        cells={new: table.cells[old] for old, new in called.items()},
        origin={**table.origin, "sentence": table.shown(name)},
    )


def _is_filled(table: Table, name: str) -> bool:
    column = table.profile(name)
    return column.n >= _LEAST_FILLED * len(table.numbers) and column.n_distinct >= _FEWEST
