"""Answers and items that a table tells in other cells than usual, by what is in them.

A list of one word is the word. A column of correct answers beside *grammatical* and *ungrammatical*
tells how a sentence was judged, if somebody says that it is about that. Without a column of items,
the one on which all others of the trial depend names them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cimento.intake.marks import sides_of
from cimento.intake.shapes import as_option
from cimento.intake.table import Table
from cimento.intake.words import NAMES, word_list
from cimento.io.parsing import parse_json
from cimento.judgments import TEXT, ColumnMap
from cimento.judgments.participants import ANNOTATOR, called_so, remark

_LEAST_TOLD = 0.95
"""Least proportion of answers that a person gave to an item for the first time."""
_FEWEST = 3
_MOST_COLUMNS = 200
_RIGHT = {*word_list("words.right")}
RIGHT = "right"
"""The role of a column that says whether sentences were judged rightly."""
ANSWER = "answer (2)"
"""The column of the answers that it tells."""


def unlisted(table: Table, names: Iterable[str]) -> tuple[Table, list[str]]:
    """A table in which answers that are lists of one text are these texts, and what is said.

    Args:
        table: of answers.
        names: the columns that may have the answers.
    """
    cells, notes = dict(table.cells), list[str]()
    for name in filter(table.cells.__contains__, names):
        texts = [_only_text(cell.strip()) for cell in table.cells[name]]
        if any(table.stripped(name)) and None not in texts:
            cells[name] = [text or "" for text in texts]
            notes.append(f"Each answer in {name!r} is a list of one text, which is the answer.")
    return (table.with_cells(cells), notes) if notes else (table, [])


def _only_text(cell: str) -> str | None:
    """The text in a list of one; nothing for an empty cell, and None for any other cell."""
    if not cell:
        return ""
    try:
        value = parse_json(cell) if cell[0] == "[" else None
    except ValueError:
        return None
    is_one = isinstance(value, list) and len(value) == 1 and isinstance(value[0], str)
    return value[0].strip() if is_one and isinstance(value, list) else None


@dataclass(frozen=True, slots=True)
class Told:
    """The answers that two columns tell together.

    Attributes:
        right: the column that says which answers were right, 1 or 0.
        side: the column that says which sentences are good.
        sides: ``good`` or ``bad`` for each of its cells.
    """

    right: str
    side: str
    sides: Mapping[str, str]

    def answers(self, table: Table) -> list[str]:
        """The answers: a bad sentence that somebody judged wrongly was called good."""
        rows = zip(table.stripped(self.side), table.stripped(self.right), strict=True)
        return [
            str(int((self.sides[kind] == "good") == (cell == "1"))) if cell in ("0", "1") else ""
            for kind, cell in rows
        ]

    def said(self, table: Table) -> str:
        """The sentence that says so."""
        return (
            f"The answers are told by {table.shown(self.right)!r} and {self.side!r}: 1 where a good"
            " sentence was judged rightly, or a bad one wrongly; 0 for the others."
        )


def told_by_two(table: Table, columns: ColumnMap) -> Told | None:
    """The two columns that tell the answers, where somebody has chosen the one of correct answers.

    Its name alone does not say it: comprehension questions have correct answers too.
    """
    right = next(iter(columns.columns.get(RIGHT, ())), "")
    return _told(table, right) if right and not columns.columns.get("value") else None


def told_advised(table: Table) -> str:
    """Advice on a table that may tell its answers so; empty for others."""
    names = [name for name in table.columns if name.casefold().strip() in _RIGHT]
    told = _told(table, names[0]) if len(names) == 1 else None
    if told is None:
        return ""
    return (
        f"If {told.right!r} says whether people judged rightly what {told.side!r} says of the"
        f" sentences, give {as_option({RIGHT: told.right})}. If it is about questions, the table"
        " has no judgments."
    )


def _told(table: Table, right: str) -> Told | None:
    sides = {
        name: two
        for name in table.columns
        if name != right and (two := sides_of("", table.profile(name).two))
    }
    if len(sides) != 1 or {*table.profile(right).two} != {"0", "1"}:
        return None
    [(side, known)] = sides.items()
    return Told(right, side, known) if {*table.stripped(side)} <= {*known} else None


def with_items_told(table: Table, columns: ColumnMap) -> tuple[ColumnMap, list[str]]:
    """Where fields stand, with the items in the column on which the others of a trial depend.

    Nearly everybody has answered once to each of its cells, several people to each, and it is the
    only such column on which most others depend that are no one's and no answer's.
    """
    fields = columns.columns
    if any(fields.get(name) or name in columns.fixed for name in ("item", TEXT)):
        return columns, []
    people = [*fields.get(ANNOTATOR, ()), *filter(called_so, table.columns)]
    answers = fields.get("value", ())
    if len({*people}) != 1 or not answers:
        return columns, []
    taken = {*people, *answers, *columns.taken}
    others = [name for name in table.columns[:_MOST_COLUMNS] if name not in taken]
    cells = {name: table.stripped(name) for name in (*others, people[0])}
    fitting = [name for name in others if _names_items(table, cells, name, people[0])]
    rest = {
        name: [
            other
            for other in others
            if other != name and not _depends(cells[other], cells[people[0]])
        ]
        for name in fitting
    }
    fitting = [
        name for name in fitting if all(_depends(cells[o], cells[name]) for o in rest[name])
    ]  # fmt: skip
    if len(fitting) != 1:
        return columns, []
    notes = [f"Column {fitting[0]!r} is read as that of the items, on which all others depend."]
    if not fields.get(ANNOTATOR):
        notes.append(remark(people[0]))
    told = {**fields, ANNOTATOR: (people[0],), "item": (fitting[0],)}
    return replace(columns, columns=told), notes


def with_shared_items(
    table: Table, columns: ColumnMap, *, is_of_suite: bool
) -> tuple[ColumnMap, list[str]]:
    """Where fields stand, with the items in a column that several conditions of sentences share.

    Each sentence has one cell of it. It is called as the items are; or it has numbers, each with
    one sentence in every condition, which is said.

    Args:
        table: of answers, one a row.
        columns: where the fields stand.
        is_of_suite: whether a suite or a design knows the sentences; its items have numbers too.
    """
    fields = columns.columns
    text, condition = (next(iter(fields.get(name, ())), "") for name in (TEXT, "condition"))
    if not text or any(fields.get(name) or name in columns.fixed for name in ("item", "candidate")):
        return columns, []
    cells = {name: table.stripped(name) for name in table.columns[:_MOST_COLUMNS]}
    rest = [
        name
        for name in cells
        if name not in columns.taken | columns.barred
        and all(cells[name])
        and _depends(cells[name], cells[text])
    ]
    called = [name for name in rest if name.casefold().strip() in NAMES["item"]]
    numbers = [
        name
        for name in (rest if condition and not (called or is_of_suite) else ())
        if table.profile(name).kind == "numbers"
        and _is_crossed(cells[name], cells[condition], cells[text])
    ]
    if len(fitting := called or numbers) != 1:
        return columns, []
    why = "each of its numbers has one sentence in several conditions"
    notes = [f"Column {numbers[0]!r} is read as that of the items: {why}."] if numbers else []
    return replace(columns, columns={**fields, "item": (fitting[0],)}), notes


def _is_crossed(items: Sequence[str], conditions: Sequence[str], sentences: Sequence[str]) -> bool:
    """Whether each of several items has one sentence in every one of two conditions or more."""
    cells = {*zip(items, conditions, strict=True)}
    n_items, n_conditions = len({*items}), len({*conditions})
    return (
        n_items >= _FEWEST
        and n_conditions > 1
        and len(cells) == n_items * n_conditions
        and len({*zip(items, conditions, sentences, strict=True)}) == len(cells)
    )


def with_names_below(table: Table, columns: ColumnMap) -> tuple[Table, list[str]]:
    """A table with each name in all rows of its block, where only the first has it; what is said.

    All blocks are of one length, and none asks the same twice.

    Args:
        table: of answers, one a row.
        columns: where the fields stand.
    """
    fields = columns.columns
    person = next(iter(fields.get(ANNOTATOR, ())), "")
    asked = [name for role in (TEXT, "item", "condition") for name in fields.get(role, ())[:1]]
    names = table.stripped(person) if person in table.cells else []
    starts = [row for row, name in enumerate(names) if name]
    if not asked or len(starts) < _FEWEST_BLOCKS or starts[0] or len(starts) == len(names):
        return table, []
    keys = [*zip(*(table.stripped(name) for name in asked), strict=True)]
    spans = [*itertools.pairwise([*starts, len(names)])]
    blocks = [keys[begin:end] for begin, end in spans]
    if len({*map(len, blocks)}) > 1 or any(len({*block}) < len(block) for block in blocks):
        return table, []
    filled = [names[begin] for begin, end in spans for _ in range(begin, end)]
    shown = table.shown(person)
    note = f"Each name in {shown!r} is that of its row and of those below it without one."
    return table.with_cells({**table.cells, person: filled}), [note]


_FEWEST_BLOCKS = 2


def coarse_items(table: Table, columns: ColumnMap) -> list[str]:
    """What is said where the column of the items seems to be one of groups of items.

    Most people then answered several times to one cell of it, but once to each cell of another
    column, on which it depends.

    Args:
        table: of answers, one a row.
        columns: where the fields stand.
    """
    fields = {
        role: [name for name in names if name in table.cells]
        for role, names in columns.columns.items()
    }
    taken, people = fields.get("item", [])[:1], fields.get(ANNOTATOR, [])[:1]
    if not (taken and people and len(table.numbers)):
        return []
    asked = [name for role in ("item", "condition", "question") for name in fields.get(role, [])]
    cells = {name: table.stripped(name) for name in table.columns}
    given = {*zip(*(cells[name] for name in (*people, *asked)), strict=True)}
    if len(given) > _MOST_COARSE * len(table.numbers):
        return []
    answers = {*people, *fields.get("value", []), *asked}
    finer = [
        name
        for name in table.columns[:_MOST_COLUMNS]
        if name not in answers
        and _is_answered_once(table, cells, name, people[0])
        and _depends(cells[taken[0]], cells[name])
    ]
    if not finer:
        return []
    # A column with a role of its own, such as the sentences, is the second choice.
    named = [name for name in finer if name not in columns.taken] or finer
    several = " or ".join(as_option({"item": name, "participant": people[0]}) for name in named)
    what = f"{taken[0]!r} probably has groups of items: people answered several times to one cell."
    return [f"Column {what} {several} chooses a column to whose cells they answered once."]


_MOST_COARSE = 0.67
"""Proportion of answers that are the first to their question, up to which items are coarse."""


def _is_answered_once(
    table: Table, cells: Mapping[str, Sequence[str]], name: str, person: str
) -> bool:
    """Whether nearly everybody answered once to each cell of a column, and several to each."""
    both = {*zip(cells[person], cells[name], strict=True)}
    n_distinct = table.profile(name).n_distinct
    is_shared = n_distinct >= _FEWEST and 2 * n_distinct <= len(both)
    return is_shared and all(cells[name]) and len(both) >= _LEAST_TOLD * len(table.numbers)


def _names_items(table: Table, cells: Mapping[str, Sequence[str]], name: str, person: str) -> bool:
    """Whether a column has names of items, to each of which nearly everybody answered once."""
    is_name = table.profile(name).kind in ("words", "codes", "sentences")
    return is_name and _is_answered_once(table, cells, name, person)


def _depends(cells: Sequence[str], on: Sequence[str]) -> bool:
    """Whether each cell of a column is beside one cell of another alone."""
    return len({*zip(on, cells, strict=True)}) == len({*on})
