"""One target after two contexts, of which people continue one with it more often.

ROLE-88 (Ettinger 2020, doi:10.1162/tacl_a_00298) reverses the roles of two nouns, so that the verb
of the one context is less expected in the other; rows *61-a* and *61-b* are one item.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from cimento.errors import Fault
from cimento.faults import errors, fault
from cimento.intake.decoding import unusable
from cimento.intake.known import Known, forms_of
from cimento.intake.profile import number_of
from cimento.intake.reading import reading_of
from cimento.intake.shapes import TWO_CONTEXTS
from cimento.intake.sheets import tabulated
from cimento.intake.table import Row, Table
from cimento.suites import Condition, Meta, Prediction, Region
from cimento.suites.formats.gathered import Gathered, stripped_cells
from cimento.suites.reading import Reading, name_from

REGIONS = ("context", "target")
CONDITIONS = ("expected", "reversed")
PREDICTION = Prediction(
    f"(2;%{CONDITIONS[0]}%) < (2;%{CONDITIONS[1]}%)",
    comment="The target is less surprising in the context that people continue with it more often.",
    name=CONDITIONS[0],
)
_NUMBERED = re.compile(r"(?P<item>.*\d)[ ._-]?[a-z]", re.IGNORECASE)


def form_of_table(table: Table) -> Known | None:
    """The published set in whose form a table is; None for other tables."""
    return next(iter(forms_of(table, TWO_CONTEXTS.name, needs=TWO_CONTEXTS.needs)), None)


def read_two_contexts(path: Path) -> Reading:
    """Read targets after two contexts each; the file's name becomes the suite's.

    The context in which the target has the higher proportion of people's continuations is
    ``expected``, whichever row is the first.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table, or the two rows of an item do not belong together.
    """
    data, table, faults = tabulated(path)
    if (form := form_of_table(table)) is None:
        seen = f"The columns are those of no known table: {', '.join(table.columns)}."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    names = {role: form.column(table, role) or "" for role in TWO_CONTEXTS.needs}
    rows: dict[str, list[Row]] = {}
    for row in table.rows:
        id_ = row.cells[names["item"]].strip()
        match = _NUMBERED.fullmatch(id_)
        rows.setdefault(match["item"] if match else id_, []).append(row)
    gathered = Gathered()
    for id_, both in rows.items():
        if wrong := _unlike(table, names, id_, both):
            faults.append(wrong)
            continue
        both.sort(key=lambda row: -(number_of(row.cells[names["cloze"]].strip()) or 0))
        for condition, row in zip(CONDITIONS, both, strict=True):
            where = table.where(row)
            cells = stripped_cells(row, where, faults)
            regions = (Region(cells[names["context"]]), Region(cells[names["target"]]))
            free = {name: cell for name, cell in cells.items() if name not in names.values()}
            kept = {**{k: v for k, v in free.items() if v}, "cloze": cells[names["cloze"]]}
            gathered.add(id_, Condition(condition, regions, kept), where)
    if errors(faults):
        raise unusable(path, faults)
    meta = Meta(name=name_from(path), language=form.language)
    reading = gathered.reading(
        path, data, faults, meta=meta, region_names=REGIONS, predictions=(PREDICTION,)
    )  # fmt: skip
    read = reading_of(
        table, TWO_CONTEXTS, names, n_items=len(reading.suite.items), known=form.title
    )  # fmt: skip
    return replace(reading, table=read)


def _unlike(table: Table, names: dict[str, str], id_: str, rows: list[Row]) -> Fault | None:
    """The fault of rows that are not two contexts of one target; None for those that are."""
    targets = {row.cells[names["target"]].strip() for row in rows}
    shares = {number_of(row.cells[names["cloze"]].strip()) for row in rows}
    if len(rows) == len(CONDITIONS) == len(shares) and len(targets) == 1 and None not in shares:
        return None
    seen = f"Item {id_!r} has no two contexts of one target with different shares."
    todo = f"Correct its rows: one {names['target']}, and two numbers in {names['cloze']}."
    places = list(map(table.where, rows))
    return fault("CIM-S012", where=places[0], seen=seen, todo=todo, places=places)
