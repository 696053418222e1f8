"""The columns of a table of rated sentences: ratings, labels in place of them, their spread."""

from __future__ import annotations

from cimento.errors import Fault
from cimento.intake.marks import names_judgments, sides_of
from cimento.intake.table import Table
from cimento.intake.words import NAMES, pattern
from cimento.suites import BAD, GOOD
from cimento.suites.faults import fault


def rating_column(table: Table) -> str:
    """The column of ratings, one or several in a cell; empty if there is none."""
    return table.find("rating") or table.find("ratings") or ""


_LABELS = {*NAMES["label"]}
"""Names of a column that labels sentences, beside those that ask for judgments."""


def label_column(table: Table) -> tuple[str, dict[str, str]]:
    """The one column that labels each sentence as good or bad, and what its cells stand for.

    It has exactly two values. Empty where there is no such column, or where two disagree.
    """
    named: dict[str, dict[str, str]] = {}
    for name in filter(may_be_label, table.columns):
        asks = name if names_judgments(name) else "acceptable"
        if sides := sides_of(asks, table.profile(name).two):
            named[name] = sides
    judged = {tuple(sides[cell] for cell in table.stripped(name) if cell in sides): name
              for name, sides in reversed(named.items())}  # fmt: skip
    if len(judged) != 1:
        return "", {}
    [name] = judged.values()
    return name, named[name]


def may_be_label(name: str) -> bool:
    """Whether a name is that of a column which may label sentences."""
    return name.casefold().replace("_", " ").strip(" ?¿:") in _LABELS or names_judgments(name)


def with_label(table: Table) -> tuple[Table, list[Fault]]:
    """A table with the ratings 1 and 0 in place of a label, and a fault that says so."""
    name, sides = label_column(table)
    if not name:
        return table, []
    points = {cell: "1" if side == GOOD else "0" for cell, side in sides.items()}
    rated = [points.get(cell, "") for cell in table.stripped(name)]
    cells = {
        "rating" if column == name else column: table.cells[column] for column in table.columns
    }
    marks = {side: cell for cell, side in sides.items()}
    seen = (
        f"The column {name!r} is read as the label: {marks[GOOD]!r} is acceptable, and rated 1;"
        f" {marks[BAD]!r} is not, and rated 0."
    )
    todo = "If it is the other way round, exchange the two."
    message = fault("CIM-S065", where=table.name, seen=seen, todo=todo)
    return table.with_cells({**cells, "rating": rated}), [message]


_SPREAD, _COUNT = pattern("spread"), pattern("count")


def with_spread(table: Table) -> tuple[Table, list[Fault]]:
    """A table of mean ratings whose standard deviations and numbers of ratings have our names.

    The name proposes them; the cells of a standard deviation are not below 0 nor above the highest
    rating, and numbers of ratings are whole and not the numbers of the rows.
    """
    rating = table.find("rating")
    if not rating:
        return table, []
    highest = table.profile(rating).high
    names = dict[str, str]()
    for name in table.columns:
        of_column = table.profile(name)
        is_numeric = of_column.kind == "numbers" and name != rating
        if is_numeric and _SPREAD.fullmatch(name.strip()) and of_column.low >= 0:
            names.setdefault("rating_sd", name if of_column.high <= highest else "")
        is_count = is_numeric and of_column.whole and of_column.low >= 1
        if is_count and _COUNT.fullmatch(name.strip()) and not of_column.numbers_rows:
            names.setdefault("rating_n", name)
    ours = {name: known for known, name in names.items() if name and known not in table.columns}
    if not ours:
        return table, []
    cells = {ours.get(name, name): table.cells[name] for name in table.columns}
    messages = []
    for name, known in ours.items():
        seen = (
            f"The column {name!r} is read as the standard deviations of {rating!r}."
            if known == "rating_sd"
            else f"The column {name!r} is read as the numbers of ratings behind {rating!r}."
        )
        messages.append(fault("CIM-S065", where=table.name, seen=seen))
    return table.with_cells(cells), messages


def sentence_column(table: Table) -> str:
    """The column of sentences; empty if there is none."""
    return table.find("sentence") or table.find("text") or ""
