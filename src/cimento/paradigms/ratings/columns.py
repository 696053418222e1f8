"""The columns of a table of rated sentences: ratings, labels in place of them, their spread."""

from __future__ import annotations

from cimento.errors import Fault
from cimento.intake.alone import labels_by_cells
from cimento.intake.known import forms_of
from cimento.intake.marks import names_judgments, sides_of
from cimento.intake.roles import fits
from cimento.intake.shapes import LABELED
from cimento.intake.table import Table
from cimento.intake.words import NAMES, pattern
from cimento.suites import BAD, GOOD
from cimento.suites.faults import fault


def rating_column(table: Table) -> str:
    """The column of ratings, one or several in a cell; empty if there is none."""
    return table.find("rating") or table.find("ratings") or ""


LABEL = "label"
_LABELS = {LABEL, *NAMES[LABEL]}
"""Names of a column that labels sentences, beside those that ask for judgments."""


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
    named = named or labels_by_cells(table, sentence_column(table))
    judged = {tuple(sides[cell] for cell in table.stripped(name) if cell in sides): name
              for name, sides in reversed(named.items())}  # fmt: skip
    return {name: named[name] for name in reversed(judged.values())}


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


def with_spread(table: Table) -> tuple[Table, list[Fault], dict[str, str]]:
    """A table of mean ratings whose standard deviations and numbers of ratings have our names.

    The name proposes them; the cells of a standard deviation are not below 0 nor above the highest
    rating, and numbers of ratings are whole and not the numbers of the rows.

    Returns:
        The table, faults that say how it was read, and the columns by their roles.
    """
    rating = table.find("rating")
    if not rating:
        return table, [], {}
    highest = table.profile(rating).high
    names = dict[str, str]()
    for name in table.columns:
        if name == rating or not table.profile(name).n:
            continue
        if _SPREAD.fullmatch(name.strip()) and fits(table, name, "rating_sd"):
            names.setdefault("rating_sd", name if table.profile(name).high <= highest else "")
        if _COUNT.fullmatch(name.strip()) and fits(table, name, "rating_n"):
            names.setdefault("rating_n", name)
    ours = {name: known for known, name in names.items() if name and known not in table.columns}
    if not ours:
        return table, [], {}
    cells = {ours.get(name, name): table.cells[name] for name in table.columns}
    messages = []
    for name, known in ours.items():
        seen = (
            f"The column {name!r} is read as the standard deviations of {rating!r}."
            if known == "rating_sd"
            else f"The column {name!r} is read as the numbers of ratings behind {rating!r}."
        )
        messages.append(fault("CIM-S065", where=table.name, seen=seen))
    return table.with_cells(cells), messages, {known: name for name, known in ours.items()}


def sentence_column(table: Table) -> str:
    """The column of sentences; empty if there is none."""
    return table.find("sentence") or table.find("text") or ""
