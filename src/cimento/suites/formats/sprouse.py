"""The materials of Sprouse, Caponigro, Greco and Cecchetto 2016 as they were released.

doi:10.1007/s11049-015-9286-8; a sentence in each row, with the level of each factor.
"""

from __future__ import annotations

from collections.abc import Mapping

from cimento.intake.table import Table

COLUMNS: Mapping[str, str] = {
    "island": "Island Type", "dependency": "Clause type", "distance": "Condition 1",
    "structure": "Condition 2", "item_number": "item number", "sentence": "sentence",
}  # fmt: skip
"""Our names for the columns of the materials of Sprouse et al. 2016 as they were released."""


def is_of_sprouse(table: Table) -> bool:
    """Whether a table has the columns of these materials."""
    return {*COLUMNS.values()} <= {*table.columns}


def from_sprouse(table: Table) -> Table:
    """The materials of Sprouse et al. 2016 with our names of columns, levels and phenomena."""
    cells = {ours: table.cells[theirs] for ours, theirs in COLUMNS.items()}
    for name in ("distance", "structure", "dependency", "island"):
        values = map(str.lower, table.stripped(COLUMNS[name]))
        cells[name] = [value.replace("non-island", "nonisland") for value in values]
    cells["island"] = [c.removesuffix(" island").replace(" ", "_") for c in cells["island"]]
    pairs = zip(cells["distance"], cells["structure"], strict=True)
    cells["condition"] = ["_".join(pair) for pair in pairs]
    return table.with_cells(cells)
