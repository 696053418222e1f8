"""Tables with the ratings of single people: a row for each answer, or a column for each person."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.names import without_noun
from cimento.intake.profile import is_absent
from cimento.intake.roles import alone, fits
from cimento.intake.table import Table, place_of_row
from cimento.intake.words import PARTICIPANTS, PEOPLE, pattern, word_list
from cimento.io.values import group_by
from cimento.paradigms.ratings.columns import sentence_column
from cimento.paradigms.ratings.designs import design_of
from cimento.suites.crossed import CLUSTER

Roles: TypeAlias = Mapping[str, Sequence[str]]

_VERSION = "version"
"""The column that has the conditions of items of several sentences, each rated for itself."""

_ROUNDED = 0.051
"""Largest difference of a mean from one with a single decimal."""
_LEAST_ALIKE = 0.9
"""Least proportion of sentences whose mean is that of the columns beside it."""
_FEWEST = 2
_PARTS = pattern("parts")
"""Names of columns that part the rows, and name no person."""
_NUMBERED = {*PARTICIPANTS, *word_list("people.numbered")}
"""Words that, with a number behind them, name a person."""


def columns_of_people(table: Table) -> list[str]:
    """The columns with the ratings of one person each, such as P1 and P2, in a table without means.

    Empty for other tables, also for those with a column of conditions that are not of a design.
    """
    if chosen := [name for name in table.columns if name in table.chosen and _is_chosen(name)]:
        return chosen
    if any(map(table.find, ("rating", "ratings"))):
        return []
    names = [name for name in table.columns if is_person(name) and fits(table, name, "person")]
    if len(names) < _FEWEST or len({*map(_stem, names)}) > 1:
        return []
    return names if not table.find("condition") or design_of(table) else []


def is_person(name: str) -> bool:
    """Whether the name of a column is a person's: a word for people, or P, with a number."""
    return name.strip()[-1:].isdecimal() and _stem(name) in _NUMBERED


def _is_chosen(name: str) -> bool:
    """Whether a column that somebody chose a role for is one of the columns of people."""
    return alone(name) == "person"


def has_people(table: Table) -> bool:
    """Whether somebody has chosen the columns of people, or names say which they are."""
    return any(map(is_person, table.columns)) or any(map(_is_chosen, table.chosen))


def _stem(name: str) -> str:
    """The name of a column without the number that it ends in."""
    return re.sub(r"[\W_]*[0-9]+$", "", name.strip()).casefold()


def gathered_ratings(table: Table) -> tuple[Table, list[Fault], Roles]:
    """A table with the ratings of people in one row and one column, and a fault that says so.

    Other tables are unchanged.

    Returns:
        The table, the faults, and the columns of people or of their names, by their roles.
    """
    rating, sentence = table.find("rating"), sentence_column(table)
    if sentence and (people := columns_of_people(table)):
        return *_from_columns(table, people), {"people": people}
    if not (rating and sentence) or table.find("ratings"):
        return table, [], {}
    if people := _columns_of_people(table, rating):
        return *_from_columns(table, people, rating), {"people": people, "mean": [rating]}
    rows = _rows_of(table, sentence)
    groups = list(rows.values())
    if slip := _slip_of_people(table, groups, (rating, sentence)):
        return table, [slip], {}
    if person := _column_of_people(table, groups, (rating, sentence)):
        return *_from_rows(table, rows, person, rating), {"participant": [person]}
    return table, [], {}


def has_answers(table: Table) -> bool:
    """Whether a table has a row for each answer of a person to a sentence."""
    rating, sentence = table.find("rating"), sentence_column(table)
    if not (rating and sentence) or table.find("ratings"):
        return False
    groups = list(_rows_of(table, sentence).values())
    known = (rating, sentence)
    return bool(_slip_of_people(table, groups, known) or _column_of_people(table, groups, known))


def _slip_of_people(
    table: Table, groups: Sequence[Sequence[int]], known: Sequence[str]
) -> Fault | None:
    """The fault of a row without a person, or of a person who rates a sentence twice.

    Only where a column is named after people, and tells the rows of nearly all sentences apart. No
    other column, such as that of ages, may take its place.
    """
    names = [name for name in table.columns if without_noun(name) in PARTICIPANTS]
    if len(names) != 1 or not _are_several(groups) or not _holds_numbers(table.cells[known[0]]):
        return None
    cells = [cell.strip() for cell in table.cells[names[0]]]
    wrong = [rows for rows in groups if len({cells[row] for row in rows} - {""}) < len(rows)]
    if not wrong or len(wrong) > (1 - _LEAST_ALIKE) * len(groups) + 1 or len(wrong) == len(groups):
        return None
    counts = Counter(cells[row] for row in wrong[0])
    cell = next(cell for cell, count in counts.items() if not cell or count > 1)
    rows = [row for row in wrong[0] if cells[row] == cell]
    places = [place_of_row(table.name, table.numbers[row]) for row in rows]
    if not cell:
        seen = f"Nothing in the column {names[0]!r} says who gave this rating."
        todo = "Fill in the cell, or delete the row."
        return fault("CIM-S003", where=places[0], seen=seen, todo=todo, places=places)
    numbers = ", ".join(str(table.numbers[row]) for row in rows)
    seen = f"In the column {names[0]!r}, {cell!r} rates the same sentence in rows {numbers}."
    todo = "Correct one of these cells, or delete a row that is there twice."
    return fault("CIM-S011", where=places[-1], seen=seen, todo=todo, places=places)


def _are_several(groups: Sequence[Sequence[int]]) -> bool:
    """Whether most sentences have several rows."""
    return sum(len(rows) >= _FEWEST for rows in groups) * 2 > len(groups)


def _columns_of_people(table: Table, rating: str) -> list[str]:
    """The columns of the ratings whose means are in another column; empty without such columns.

    Other columns of numbers may stand among them: those whose means fit are found by leaving out
    any one, or all on one side.
    """
    item = table.find("item", "id")
    names = [
        name for name in table.columns if name not in (rating, item) and fits(table, name, "person")
    ]
    runs = [names]
    runs += [names[:place] + names[place + 1 :] for place in range(len(names))]
    runs += [part for place in range(len(names)) for part in (names[:place], names[place:])]
    named = [name for name in names if is_person(name)]
    for people in (named, *runs[:_MOST_RUNS]):
        if len(people) >= _FEWEST and _are_means(table, people, rating):
            return people
    return []


_MOST_RUNS = 200
"""Limit on the selections of columns that are tried; tables made to exhaust have thousands."""


def _are_means(table: Table, people: Sequence[str], rating: str) -> bool:
    rows = zip(*(table.cells[name] for name in people), strict=True)
    pairs = zip(map(_numbers, rows), map(_number, table.cells[rating]), strict=True)
    known = [
        (math.fsum(values) / len(values), mean)
        for values, mean in pairs
        if values and mean is not None
    ]
    alike = sum(abs(ours - theirs) <= _ROUNDED for ours, theirs in known)
    return len(known) >= _FEWEST and alike >= _LEAST_ALIKE * len(known)


def _from_columns(
    table: Table, people: Sequence[str], rating: str = ""
) -> tuple[Table, list[Fault]]:
    cells: dict[str, Sequence[str]] = {
        name: table.cells[name] for name in table.columns if name not in (*people, rating)
    }
    rows = zip(*(table.cells[name] for name in people), strict=True)
    names = [table.shown(name) for name in people]
    answers = [list(zip(names, row, strict=True)) for row in rows]
    seen = (
        f"The columns {', '.join(names)} are read as the ratings of one person each, whose means"
        f" are in {rating!r}."
        if rating
        else f"The columns {', '.join(names)} are read as the ratings of one person each."
    )
    message = fault("CIM-S065", where=table.name, seen=seen)
    cells = cells if rating else _one_sentence_an_item(table, cells)
    return _joined(table, cells, answers, table.numbers), [message]


def _rows_of(table: Table, sentence: str) -> dict[tuple[str, ...], list[int]]:
    """The rows of each sentence, which may be a sentence of several items."""
    texts, item = table.stripped(sentence), table.find("item")
    if item:
        both = [*zip(table.stripped(item), texts, strict=True)]
        rows = group_by(range(len(both)), lambda row: tuple(both[row]))
        if _are_several(list(rows.values())):
            return rows
    return group_by(range(len(texts)), lambda row: (texts[row],))


def _column_of_people(table: Table, groups: Sequence[Sequence[int]], known: Sequence[str]) -> str:
    """The column that says who gave each rating; empty where most sentences have one row.

    It tells the rows of each sentence apart, and its cells come back in several sentences.
    """
    if not _are_several(groups):
        return ""
    distinct = {
        name: len({*cells})
        for name, cells in table.cells.items()
        if name not in (*known, table.find("item")) and fits(table, name, "participant")
        and (_is_of_people(name) or not _PARTS.search(name))
        and all(len({cells[row].strip() for row in rows} - {""}) == len(rows) for rows in groups)
    }  # fmt: skip
    fewest = min(distinct, key=lambda name: (not _is_of_people(name), distinct[name]), default="")
    is_person = bool(fewest) and distinct[fewest] * 2 <= len(table.numbers)
    return fewest if is_person and _holds_numbers(table.cells[known[0]]) else ""


def _is_of_people(name: str) -> bool:
    """Whether a name is a word for people, alone or in a longer name such as *subject_id*."""
    words = re.split(r"[\W_]+", without_noun(name))
    return bool({*words} & (PEOPLE | {*PARTICIPANTS}))


def _from_rows(
    table: Table, rows: dict[tuple[str, ...], list[int]], person: str, rating: str
) -> tuple[Table, list[Fault]]:
    item = table.find("item")
    cells: dict[str, Sequence[str]] = {}
    for name in table.columns:
        column = table.cells[name]
        is_shared = all(len({column[row].strip() for row in group}) == 1 for group in rows.values())
        if name not in (person, rating) and (is_shared or name == item):
            cells[name] = [column[group[0]] for group in rows.values()]
    answers = [
        [(table.cells[person][row], table.cells[rating][row]) for row in group]
        for group in rows.values()
    ]
    seen = (
        f"The rows of one sentence are read as the ratings of one person each, named in {person!r}:"
        f" there are {len(rows)} sentences."
    )
    faults = [fault("CIM-S065", where=table.name, seen=seen)]
    numbers = [table.numbers[group[0]] for group in rows.values()]
    cells = _one_sentence_an_item(table, cells)
    return _joined(table, cells, answers, numbers), faults


def _one_sentence_an_item(
    table: Table, cells: dict[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Columns in which the versions of an item are items of their own, in one cluster.

    Those of a design stay in their items.
    """
    if design_of(table.with_cells(cells, range(len(next(iter(cells.values())))))):
        return cells
    item, condition = table.find("item"), table.find("condition") or ""
    versions = cells.get(condition)
    named = {_VERSION if name == condition else name: column for name, column in cells.items()}
    ids = cells[item] if item else ()
    if not item or len({*ids}) == len(ids):
        return named
    if not versions or len({*zip(ids, versions, strict=True)}) < len(ids):
        counts: Counter[str] = Counter()
        versions = []
        for id_ in ids:
            counts[id_] += 1
            versions.append(str(counts[id_]))
    named[CLUSTER] = ids
    named[item] = [f"{id_}-{version}" for id_, version in zip(ids, versions, strict=True)]
    return named


def _joined(
    table: Table,
    cells: dict[str, Sequence[str]],
    answers: Sequence[Sequence[tuple[str, str]]],
    numbers: Sequence[int],
) -> Table:
    """A table with the answers to each sentence, each of a person, in two columns."""
    given = [[(who, text) for who, text in both if not is_absent(text)] for both in answers]
    # In a cell of one rating, a decimal comma would separate two.
    cells["ratings"] = ["; ".join(text.replace(",", ".") for _, text in both) for both in given]
    cells["participants"] = ["; ".join(_name(who) for who, _ in both) for both in given]
    return table.with_cells(cells, numbers)


def _name(person: str) -> str:
    return " ".join(person.replace(";", " ").replace(",", " ").split())


def _numbers(cells: Sequence[str]) -> list[float]:
    return [value for value in map(_number, cells) if value is not None]


def _number(cell: str) -> float | None:
    try:
        value = float(cell.strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _holds_numbers(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if not is_absent(cell)]
    return 2 * len(_numbers(filled)) > len(filled)
