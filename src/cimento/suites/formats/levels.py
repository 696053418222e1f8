"""The factors of conditions in rows: by columns of levels, or by the names of the conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.numbered import in_twos_and_threes
from cimento.intake.profile import profile
from cimento.intake.table import Table
from cimento.suites.crossed import GROUP_COLUMNS, ID_COLUMNS, crossed_columns
from cimento.suites.design import ISLAND_FACTORS, N_LEVELS
from cimento.suites.level_words import island_factors

Cells: TypeAlias = Mapping[str, str]
"""The cells of a row, by the names of these modules."""

TAKEN = ("condition", "sentence")
"""The columns that are not levels of factors."""


def factors_of(
    placed: Sequence[tuple[Cells, str]], faults: list[Fault]
) -> dict[str, tuple[str, ...]]:
    """The factors: columns ``distance`` and ``structure``, two or three others, or name parts.

    A cell with another level than most cells of its condition adds a fault.

    Args:
        placed: the cells of each row, and its place.
        faults: gets these faults.
    """
    rows = [row for row, _ in placed]
    if all(name in rows[0] for name in ISLAND_FACTORS):
        levels = {name: {row[name] for row in rows} for name in ISLAND_FACTORS}
        if all(set(known) == levels[name] for name, known in ISLAND_FACTORS.items()):
            return dict(ISLAND_FACTORS)
    conditions = tuple(dict.fromkeys(row["condition"] for row in rows))
    usual = {name: common for name in rows[0] if (common := _usual_levels(rows, name))}
    named = island_factors(conditions)
    # Levels are mostly words: where the names of conditions have them, no column of numbers has.
    words = [name for name in usual if profile(row.get(name, "") for row in rows).may_be_levels]
    others = [] if named else [name for name in usual if name not in words]
    for these in in_twos_and_threes([*words, *others]):
        cells = {tuple(usual[name][condition] for name in these) for condition in conditions}
        if len(cells) == len(conditions) == N_LEVELS ** len(these):
            for row, where in placed:
                condition = row["condition"]
                for name in these:
                    if (cell := row.get(name, "")) != (due := usual[name][condition]):
                        seen = f"{name} is {cell!r} in {condition}, and {due!r} elsewhere."
                        faults.append(fault("CIM-S031", where=where, seen=seen))
            return {name: tuple(dict.fromkeys(usual[name].values())) for name in these}
    return named


LEAST_USUAL = 0.75
"""Least proportion of the cells of a condition for their value to count as its level."""


def _usual_levels(rows: Sequence[Cells], column: str) -> dict[str, str]:
    """The level of each condition in a column; empty where it is not a factor of two levels."""
    if column in (*TAKEN, *ID_COLUMNS, *GROUP_COLUMNS):
        return {}
    cells: dict[str, Counter[str]] = {}
    for row in rows:
        cells.setdefault(row["condition"], Counter())[row.get(column, "")] += 1
    levels = {}
    for condition, counts in cells.items():
        level, count = counts.most_common(1)[0]
        if not level or count < LEAST_USUAL * counts.total():
            return {}
        levels[condition] = level
    return levels if len(set(levels.values())) == N_LEVELS else {}


def phenomenon_of(row: Cells, *, several: bool) -> str:
    """The phenomenon of a row, with that of its suite before it in a table of several suites."""
    named = row.get("phenomenon") or "_".join(
        row[column] for column in ("dependency", "island") if row.get(column)
    )
    parts = (row.get("suite", "") if several else "", named)
    return " ".join(part for part in parts if part)


_NO_ISLAND = {
    "no", "n", "-", "–", "−", "0", "false", "none", "absent", "control", "nonisland", "non-island",
    "non island", "no island", "not island",
}  # fmt: skip


def with_island_factor(table: Table) -> Table:
    """The table with the factor ``structure`` in place of a column ``island`` that is a factor.

    Its two levels are an island and none, or they are crossed with another column in every item;
    other such columns name the islands of which each has items of its own.
    """
    column = table.find("island")
    if not column or table.find("structure"):
        return table
    cells = table.stripped(column)
    without = {cell for cell in cells if cell.casefold() in _NO_ISLAND}
    if len({*cells}) == N_LEVELS and len(without) == 1:
        cells = ["nonisland" if cell in without else "island" for cell in cells]
    elif column not in crossed_columns(table):
        return table
    renamed = {"structure" if name == column else name: table.cells[name] for name in table.columns}
    renamed["structure"] = cells
    return table.with_cells(renamed)


_ROWS_PER_LABEL = 2


def with_plain_levels(table: Table) -> Table:
    """The table with labels in one spelling that it has with blanks around them and without.

    Nobody sees a blank behind a level, which would else be one more level.
    """
    plain = {name: table.stripped(name) for name in table.columns if _has_blanks(table.cells[name])}
    return table.with_cells({**table.cells, **plain}) if plain else table


def _has_blanks(cells: Sequence[str]) -> bool:
    """Whether cells are labels, of two rows or more on average, some with blanks around them."""
    given = {*cells}
    plain = {cell.strip() for cell in given}
    return len(plain) < len(given) and _ROWS_PER_LABEL * len(plain) <= len(cells)
