"""Tables of rated sentences that cross two factors: each item has a sentence in every cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cimento.errors import Fault, InputError
from cimento.faults import errors
from cimento.intake.table import Table
from cimento.paradigms.ratings.columns import rating_column, sentence_column
from cimento.suites import Suite
from cimento.suites.crossed import GROUP_COLUMNS, arranged, paired
from cimento.suites.design import squares
from cimento.suites.formats.levels import with_island_factor
from cimento.suites.formats.sentence_rows import id_columns, rows_of, suite_of_rows
from cimento.suites.plain_levels import with_known_design
from cimento.suites.ratings import OWN_COLUMNS
from cimento.suites.repeated import with_joined_levels


class RatedDesign(NamedTuple):
    """The items of a design with the ratings of their sentences.

    Attributes:
        suite: their suite, with the predictions of the design and columns of ratings.
        places: the place of each sentence.
        faults: what is to be said of the items and factors.
        columns: those of items, conditions, factors and phenomena, by their roles.
    """

    suite: Suite
    places: Sequence[str]
    faults: Sequence[Fault]
    columns: Mapping[str, Sequence[str]]


def design_of(table: Table) -> RatedDesign | None:
    """The design of a table with a rated sentence in each row; None for other tables.

    Two columns are crossed in the items, or the names of conditions have two levels; most items
    have a sentence in every cell. Columns of ratings are not looked at, nor are pairs a design.

    Args:
        table: all ratings of a sentence are in one row.
    """
    rating, sentence = rating_column(table), sentence_column(table)
    if not (table.find("item") and sentence):
        return None
    cells = {"sentence" if name == sentence else name: table.cells[name] for name in table.columns}
    known = filter(None, (rating, *map(table.find, OWN_COLUMNS)))
    rated = {*known} & {*cells}
    bare = table.with_cells({name: cells[name] for name in cells if name not in rated})
    if paired(bare):
        return None
    made = with_joined_levels(bare) or arranged(with_island_factor(bare))
    if errors(made.faults) or not made.table.find("condition"):
        return None
    whole = made.table.with_cells({**made.table.cells, **{name: cells[name] for name in rated}})
    faults = [*made.faults]
    rows = rows_of(whole, faults)
    suite, places = suite_of_rows(rows, whole, faults)
    if not _is_crossed(suite):
        return None
    item, _ = id_columns([row for row, _ in rows])
    named: dict[str, Sequence[str | None]] = {
        "item": [table.find(item)],
        "condition": made.makers,
        "factors": [name for name in map(table.find, suite.factors) if name not in made.makers],
        "phenomenon": [*map(table.find, GROUP_COLUMNS)],
    }
    suite, unknown = with_known_design(suite, where=table.name)
    columns = {role: [*filter(None, names)] for role, names in named.items()}
    return RatedDesign(suite, places, [*faults, *unknown], columns)


def _is_crossed(suite: Suite) -> bool:
    """Whether a suite crosses two factors, and most of its items have all conditions."""
    try:
        known = squares(suite)
    except InputError:
        return False
    n_cells = len(suite.condition_names)
    whole = sum(len(item.conditions) == n_cells for item in suite.items)
    return bool(known) and 2 * whole > len(suite.items)
