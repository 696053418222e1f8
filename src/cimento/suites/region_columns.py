"""Tables with a column for each region of their sentences, in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from cimento.errors import Fault
from cimento.suites.formats.items import escape
from cimento.suites.headers import ends_sentence, has_letter
from cimento.suites.reading import fault
from cimento.suites.tables import Table

_NUMBERED = re.compile(r"(.*?)\W*[0-9]+")
_FEWEST_WORDS = 3
_FEWEST_ROWS = 3


def region_columns(table: Table) -> tuple[str, ...]:
    """The columns whose cells, in order, are the regions of one sentence; empty for other tables.

    The table has a column of items and one of conditions, and none of sentences. A sentence begins
    with the first region and ends with the last; no other region does either.
    """
    item, condition = table.find("item"), table.find("condition")
    if not (item and condition) or table.find("sentence", "text", "good"):
        return ()
    known = {item, condition, table.find("phenomenon"), table.find("rating")}
    others = [name for name in table.columns if name not in known]
    texts = [name for name in others if table.is_mostly(name, has_letter)]
    stems = [match[1] for name in others if (match := _NUMBERED.fullmatch(name))]
    if len(stems) > 1 and len({*stems}) == 1:
        texts = [name for name in others if _NUMBERED.fullmatch(name)]
    places = [table.columns.index(name) for name in texts]
    if len(texts) <= 1 or places != [*range(places[0], places[-1] + 1)]:
        return ()
    first, second, *_ = texts
    joined = [" ".join(cells).strip() for cells in _rows(table, texts)]
    whole = [ends_sentence(text) and len(text.split()) >= _FEWEST_WORDS for text in joined]
    fits = (
        table.is_mostly(first, _is_capital)
        and not table.is_mostly(second, _is_capital)
        and 2 * sum(whole) > len(whole)
        and not any(table.is_mostly(name, ends_sentence) for name in texts[:-1])
    )
    return tuple(texts) if fits else ()


def with_sentences(table: Table, regions: tuple[str, ...]) -> tuple[Table, list[Fault]]:
    """The table with the regions in one column of sentences, and faults that say so.

    They also name cells that are empty in one row of a condition only.
    """
    cells = {name: table.cells[name] for name in table.columns if name not in regions}
    cells["sentence"] = [
        " | ".join(escape(cell.strip()).replace("|", "\\|") for cell in row).strip()
        if any(map(str.strip, row))
        else ""
        for row in _rows(table, regions)
    ]
    seen = f"These columns are read as the regions of one sentence: {', '.join(regions)}."
    faults = [fault("CIM-S065", where=table.name, seen=seen), *_left_empty(table, regions)]
    return table.with_cells(cells), faults


def _left_empty(table: Table, regions: Iterable[str]) -> list[Fault]:
    """The faults of regions that one row alone of a condition lacks."""
    conditions = table.stripped(table.find("condition") or "")
    counts = Counter(conditions)
    faults = list[Fault]()
    for name in regions:
        empty = [row for row, cell in enumerate(table.stripped(name)) if not cell]
        times = Counter(conditions[row] for row in empty)
        for row in empty:
            if times[conditions[row]] == 1 and counts[conditions[row]] >= _FEWEST_ROWS:
                seen = f"{name!r} is empty here, unlike in all other rows of its condition."
                todo, where = "Fill in the cell.", table.place(row)
                faults.append(fault("CIM-S065", where=where, seen=seen, todo=todo))
    return faults


def _rows(table: Table, names: Iterable[str]) -> list[tuple[str, ...]]:
    return list(zip(*(table.cells[name] for name in names), strict=True))


def _is_capital(cell: str) -> bool:
    return cell.lstrip("¿¡«“\"‘'—- ")[:1].isupper()
