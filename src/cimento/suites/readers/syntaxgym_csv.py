"""The flat CSV of SyntaxGym suites: a row for each region; no predictions, no metadata."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cimento.errors import Fault
from cimento.files import read_bytes
from cimento.suites.faults import fault
from cimento.suites.model import Condition, Item, Meta, Region, Suite
from cimento.suites.reading import Reading, sha256_of, strip_blanks, unusable
from cimento.suites.tables import Table, read_table

COLUMNS = ("item_number", "condition_name", "region_number", "content")
NAME_COLUMN = "region_name"


def read_syntaxgym_csv(path: Path) -> Reading:
    """Read the flat CSV; the file's name becomes the suite's.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is no such table.
    """
    data = read_bytes(path)
    table, faults = read_table(data, path)
    missing = [name for name in COLUMNS if table is None or name not in table.columns]
    if table is not None and missing:
        seen = f"The column {', '.join(missing)} is missing; there are {', '.join(table.columns)}."
        faults.append(fault("CIM-S004", where=path.name, seen=seen))
    if table is None or missing:
        raise unusable(path, faults)
    stimuli = _Stimuli()
    for row in table.rows:
        stimuli.add({**row.cells}, where=table.where(row))
    items = stimuli.items()
    suite = Suite(
        meta=Meta(name=path.stem),
        region_names=_region_names(table, items),
        predictions=(),
        items=items,
    )
    return Reading(suite, sha256_of(data), stimuli.places(), (*faults, *stimuli.faults))


class _Stimuli:
    """Regions gathered by item and condition, in order of first appearance."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._regions: dict[str, dict[str, list[Region]]] = {}
        self._places: dict[tuple[str, str], str] = {}

    def add(self, cells: dict[str, str], *, where: str) -> None:
        """Add the region of one row; its number must be the next one."""
        item, condition, number = (
            strip_blanks(cells[column], what=column, where=where, faults=self.faults)
            for column in COLUMNS[:3]
        )
        content = strip_blanks(
            cells["content"], what=f"Region {number}", where=where, faults=self.faults
        )
        regions = self._regions.setdefault(item, {}).setdefault(condition, [])
        self._places.setdefault((item, condition), where)
        regions.append(Region(content))
        if number != str(len(regions)):
            seen = f"Region {number!r} stands where region {len(regions)} is due."
            self.faults.append(fault("CIM-S014", where=where, seen=seen))

    def items(self) -> tuple[Item, ...]:
        """The items."""
        return tuple(
            Item(
                id=item,
                conditions=tuple(
                    Condition(name, tuple(regions)) for name, regions in conditions.items()
                ),
            )
            for item, conditions in self._regions.items()
        )

    def places(self) -> tuple[str, ...]:
        """Where each stimulus begins."""
        return tuple(
            self._places[item, condition]
            for item, conditions in self._regions.items()
            for condition in conditions
        )


def _region_names(table: Table, items: Sequence[Item]) -> tuple[str, ...]:
    """The names of the regions by number; the number where there is no name."""
    names: dict[str, str] = {}
    for row in table.rows:
        name = row.cells.get(NAME_COLUMN, "").strip()
        if name:
            names.setdefault(row.cells["region_number"].strip(), name)
    longest = max(
        (len(condition.regions) for item in items for condition in item.conditions), default=0
    )
    return tuple(names.get(str(number), str(number)) for number in range(1, longest + 1))
