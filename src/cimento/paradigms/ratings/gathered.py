"""Tables with the ratings of single people: a row for each answer, or a column for each person."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from cimento.errors import Fault
from cimento.suites.crossed import CLUSTER
from cimento.suites.reading import fault
from cimento.suites.tables import Table

VERSION = "version"
"""The column that has the conditions of items of several sentences, each rated for itself."""

_ROUNDED = 0.051
"""Largest difference of a mean from one with a single decimal."""
_LEAST_ALIKE = 0.9
"""Least share of sentences whose mean is that of the columns beside it."""
_FEWEST = 2


def gathered(table: Table) -> tuple[Table, list[Fault]]:
    """A table with the ratings of people in one row and one column, and a fault that says so.

    Other tables are unchanged.
    """
    rating = table.find("rating")
    sentence = table.find("sentence") or table.find("text")
    if not (rating and sentence) or table.find("ratings"):
        return table, []
    if people := _columns_of_people(table, rating):
        return _from_columns(table, people, rating)
    rows = _rows_of(table.cells[sentence])
    person = _column_of_people(table, list(rows.values()), (rating, sentence))
    return _from_rows(table, rows, person, rating) if person else (table, [])


def has_answers(table: Table) -> bool:
    """Whether a table has a row for each answer of a person to a sentence."""
    rating, sentence = table.find("rating"), table.find("sentence") or table.find("text")
    if not (rating and sentence) or table.find("ratings"):
        return False
    groups = list(_rows_of(table.cells[sentence]).values())
    return bool(_column_of_people(table, groups, (rating, sentence)))


def _columns_of_people(table: Table, rating: str) -> list[str]:
    """The columns of numbers beside one that has their means; empty without such columns."""
    place = table.columns.index(rating)
    for names in (table.columns[:place][::-1], table.columns[place + 1 :]):
        people: list[str] = []
        for name in names:
            if name == table.find("item") or not _holds_numbers(table.cells[name]):
                break
            people.append(name)
        people.sort(key=table.columns.index)
        if len(people) >= _FEWEST and _are_means(table, people, rating):
            return people
    return []


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


def _from_columns(table: Table, people: Sequence[str], rating: str) -> tuple[Table, list[Fault]]:
    cells = {name: table.cells[name] for name in table.columns if name not in (*people, rating)}
    rows = zip(*(table.cells[name] for name in people), strict=True)
    answers = [list(zip(people, row, strict=True)) for row in rows]
    seen = (
        f"The columns {', '.join(people)} are read as the ratings of one person each, whose means"
        f" are in {rating!r}."
    )
    message = fault("CIM-S065", where=table.name, seen=seen)
    return _joined(table, cells, answers, table.numbers), [message]


def _rows_of(sentences: Sequence[str]) -> dict[str, list[int]]:
    """The rows of each sentence."""
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(sentences):
        rows.setdefault(text.strip(), []).append(row)
    return rows


def _column_of_people(table: Table, groups: Sequence[Sequence[int]], known: Sequence[str]) -> str:
    """The column that says who gave each rating; empty where most sentences have one row.

    It tells the rows of each sentence apart, and its cells come back in several sentences.
    """
    several = [rows for rows in groups if len(rows) >= _FEWEST]
    if len(several) * 2 <= len(groups):
        return ""
    distinct = {
        name: len({*cells})
        for name, cells in table.cells.items()
        if name not in (*known, table.find("item"))
        and all(len({cells[row].strip() for row in rows} - {""}) == len(rows) for rows in groups)
    }
    fewest = min(distinct, key=lambda name: distinct[name], default="")
    is_person = bool(fewest) and distinct[fewest] * 2 <= len(table.numbers)
    return fewest if is_person and _holds_numbers(table.cells[known[0]]) else ""


def _from_rows(
    table: Table, rows: dict[str, list[int]], person: str, rating: str
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
    message = fault("CIM-S065", where=table.name, seen=seen)
    numbers = [table.numbers[group[0]] for group in rows.values()]
    cells = _one_sentence_an_item(table, cells)
    return _joined(table, cells, answers, numbers), [message]


def _one_sentence_an_item(
    table: Table, cells: dict[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Columns in which the versions of an item are items of their own, in one cluster."""
    item, condition = table.find("item"), table.find("condition") or ""
    versions = cells.get(condition)
    named = {VERSION if name == condition else name: column for name, column in cells.items()}
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
    given = [[(who, text) for who, text in both if text.strip()] for both in answers]
    # In a cell of one rating, a decimal comma would separate two.
    cells["ratings"] = ["; ".join(text.replace(",", ".") for _, text in both) for both in given]
    cells["participants"] = ["; ".join(_name(who) for who, _ in both) for both in given]
    return Table(table.name, tuple(cells), numbers, cells)


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
    filled = [cell for cell in cells if cell.strip()]
    return 2 * len(_numbers(filled)) > len(filled)
