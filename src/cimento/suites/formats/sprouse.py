"""The materials of Sprouse, Caponigro, Greco and Cecchetto 2016 as a table, as they were released.

doi:10.1007/s11049-015-9286-8; one sentence a row, with the level of each factor.
"""

from __future__ import annotations

from collections.abc import Mapping

from cimento.suites.tables import Table

COLUMNS: Mapping[str, str] = {
    "Island Type": "island", "Clause type": "dependency", "Condition 1": "distance",
    "Condition 2": "structure", "item number": "item_number", "sentence": "sentence",
}  # fmt: skip
"""Columns of the materials of Sprouse et al. 2016 as they were released, and what we call them."""


def is_of_sprouse(table: Table) -> bool:
    """Whether a table has the columns of these materials."""
    return set(COLUMNS) <= set(table.columns)


def from_sprouse(table: Table) -> Table:
    """The materials of Sprouse et al. 2016 with our names of columns, levels and phenomena."""
    cells = {ours: table.cells[theirs] for theirs, ours in COLUMNS.items()}
    for name in ("distance", "structure", "dependency", "island"):
        values = (cell.strip().lower().replace("non-island", "nonisland") for cell in cells[name])
        cells[name] = list(values)
    names = (cell.removesuffix(" island").replace(" ", "_") for cell in cells["island"])
    cells["island"] = list(names)
    pairs = zip(cells["distance"], cells["structure"], strict=True)
    cells["condition"] = ["_".join(pair) for pair in pairs]
    return Table(table.name, tuple(cells), table.numbers, cells)
