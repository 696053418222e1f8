"""The columns of a table of rated sentences: ratings, labels in place of them, their spread."""

from __future__ import annotations

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.labels import label_column
from cimento.intake.marks import sides_of
from cimento.intake.names import meaning
from cimento.intake.roles import summary_columns
from cimento.intake.table import Table
from cimento.suites import BAD, GOOD
from cimento.suites.cells import Cells
from cimento.suites.ratings import OWN_COLUMNS


def rating_column(table: Table) -> str:
    """The column of ratings, one or several in a cell; empty if there is none.

    One with two words for good and bad sentences is no such column, but a label, whatever its name.
    """
    name = table.find("rating") or table.find("ratings") or ""
    return "" if name and name not in table.chosen and _is_label(table, name) else name


def _is_label(table: Table, name: str) -> bool:
    two = table.profile(name).two
    is_words = len(two) == 2 and not any(map(str.isdigit, "".join(two)))  # noqa: PLR2004
    return is_words and {*map(meaning, two)} == {GOOD, BAD} and bool(sides_of(name, two))


def with_label(table: Table) -> tuple[Table, list[Fault]]:
    """A table with the ratings 1 and 0 of a label, and a fault that says so.

    Words of the label stay beside its ratings, so that what follows can be told by them.
    """
    name, sides = label_column(table)
    if not name:
        return table, []
    points = {cell: "1" if side == GOOD else "0" for cell, side in sides.items()}
    rated = [points.get(cell, "") for cell in table.stripped(name)]
    cells = {
        "rating" if column == name else column: table.cells[column] for column in table.columns
    }
    words = {} if _is_read(table, name) else {name: table.cells[name]}
    marks = {side: cell for cell, side in sides.items()}
    seen = (
        f"The column {name!r} is read as the label: {marks[GOOD]!r} is acceptable, and rated 1;"
        f" {marks[BAD]!r} is not, and rated 0."
    )
    todo = "If it is the other way round, exchange the two."
    message = fault("CIM-S065", where=table.name, seen=seen, todo=todo)
    return table.with_cells({**cells, "rating": rated, **words}), [message]


def _is_read(table: Table, name: str) -> bool:
    """Whether something is read from a column because of its name, or its cells are numbers."""
    own = Cells("", {name: ""})
    found = map(own.find, ("item", "id", "condition", "text", "sentence"))
    return name in (*OWN_COLUMNS, *found) or any(map(str.isdigit, table.stripped(name)))


def with_spread(table: Table) -> tuple[Table, list[Fault], dict[str, str]]:
    """A table of mean ratings whose standard deviations and numbers of ratings have our names.

    Returns:
        The table, faults that say how it was read, and the columns by their roles.
    """
    rating = table.find("rating")
    if not rating:
        return table, [], {}
    found = summary_columns(table)
    ours = {name: known for known, name in found.items() if known not in table.columns}
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
