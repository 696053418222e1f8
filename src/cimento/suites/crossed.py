"""Tables in which two factors are crossed: a design, or pairs for each level of one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from cimento.errors import Fault
from cimento.suites.design import N_LEVELS, island_factors
from cimento.suites.marks import sides_of
from cimento.suites.reading import fault
from cimento.suites.tables import Table

CLUSTER = "cluster"
"""The column that groups the pairs of one row, or of one item."""

_SIGNS = {"+": "plus", "-": "minus", "–": "minus", "−": "minus"}


def condition_columns(table: Table) -> dict[str, str]:
    """The columns of sentences named after the cells of a design, and the conditions that they are.

    The names join the levels of two factors: ``short_nonisland``, ``Short non-island`` and so on.
    """
    named = {}
    for name in table.columns:
        first, _, second = re.sub(r"[_ ]", "\0", name.strip(), count=1).partition("\0")
        if first and second.strip() and "_" not in second:
            named[name] = "_".join("-".join(level.split()) for level in (first, second))
    names = list(named.values())
    is_design = len(set(names)) == len(names) >= N_LEVELS**2 and island_factors(names)
    return named if is_design else {}


def crossed_columns(table: Table) -> tuple[str, str] | None:
    """The two columns of a table whose levels are crossed in every item; None without such two.

    Each has two levels, and each item has every combination of them in one row.
    """
    item = table.find("item")
    if item is None or not table.cells[item]:
        return None
    columns = {
        name: cells
        for name, cells in table.cells.items()
        if name != item and all(cells) and len(set(cells)) == N_LEVELS
    }
    for first, second in combinations(columns, 2):
        rows: dict[str, list[tuple[str, str]]] = {}
        for id_, *levels in zip(table.cells[item], columns[first], columns[second], strict=True):
            rows.setdefault(id_, []).append((levels[0], levels[1]))
        if all(len(cells) == len(set(cells)) == N_LEVELS**2 for cells in rows.values()):
            return first, second
    return None


def paired_by_level(table: Table, factors: tuple[str, str]) -> tuple[Table, Fault] | None:
    """A table in which one of two crossed factors says good or bad, with a pair for each level.

    Returns:
        The table with the level in the items' ids, and a fault that says so; None for a table with
        other factors.
    """
    cells = {name: [cell.strip() for cell in table.cells[name]] for name in factors}
    sides = {name: sides_of(name, cells[name]) for name in factors}
    judged = [name for name in factors if sides[name]]
    if len(judged) != 1:
        return None
    (other,) = {*factors} - {*judged}
    item = table.find("item") or ""
    ids, levels = table.cells[item], cells[other]
    made: dict[str, Sequence[str]] = {
        **table.cells,
        "condition": [sides[judged[0]][cell] for cell in cells[judged[0]]],
        CLUSTER: ids,
    }
    if table.find("phenomenon"):
        made[item] = [f"{level}-{id_}" for level, id_ in zip(levels, ids, strict=True)]
    else:  # the phenomenon is part of an item's name
        made["phenomenon"] = levels
    words = {other: cells[other][0], judged[0]: made["condition"][0]}
    if cells[judged[0]][0].isalpha():
        words = {name: cells[name][0] for name in factors}
    first = "_".join(words[name] for name in factors)
    todo = (
        "If the interaction of the two counts, add a column condition that names the four"
        f" conditions, such as {first}."
    )
    message = pairs_by_level(dict.fromkeys(levels), where=table.name, todo=todo)
    return Table(table.name, tuple(made), table.numbers, made), message


def pairs_by_level(levels: Iterable[str], *, where: str, todo: str) -> Fault:
    """The fault that says that an item has a pair for each of some levels."""
    seen = (
        "Each item is read as one pair of a good and a bad sentence for each of"
        f" {', '.join(levels)}, by which results are broken down."
    )
    return fault("CIM-S063", where=where, seen=seen, todo=todo)


def named_by_levels(table: Table, factors: tuple[str, str]) -> Table:
    """The table with a column ``condition`` that joins the levels of two factors."""
    names = [
        "_".join(
            re.sub(r"[\W_]+", "-", _SIGNS.get(level.strip(), level.strip())) for level in levels
        )
        for levels in zip(*(table.cells[factor] for factor in factors), strict=True)
    ]
    cells = {**table.cells, "condition": names}
    return Table(table.name, tuple(cells), table.numbers, cells)


def filled_down(table: Table) -> Table:
    """The table with the number of the item above in rows of a sentence without a number.

    These are rows with a condition, or those of two factors that are crossed once they are filled.
    """
    item, condition = table.find("item") or "", table.find("condition") or ""
    with_cells = condition or table.find("sentence") or ""
    if not (item and with_cells and "" in table.cells[item]):
        return table
    ids = list[str]()
    for id_, name in zip(table.cells[item], table.cells[with_cells], strict=True):
        ids.append(ids[-1] if ids and name.strip() and not id_.strip() else id_)
    filled = replace(table, cells={**table.cells, item: ids})
    return filled if condition or crossed_columns(filled) else table
