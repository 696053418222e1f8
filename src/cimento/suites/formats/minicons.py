"""Tables of prefixes and stimuli, the arguments of minicons' ``conditional_score``.

minicons itself reads no files: its users keep stimuli in tables and pass it the columns. Two forms
are common: a row for each condition (item, condition, prefix, stimulus), and a row for each pair,
with two columns for either the prefix or the stimulus (``prefix_acceptable`` and
``prefix_unacceptable`` with one ``property_phrase`` in COMPS, Misra, Rayz and Ettinger 2023,
doi:10.18653/v1/2023.eacl-main.213). A column ``suffix`` may hold the text after the stimulus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import Fault, InputError
from cimento.io.files import read_bytes, write_text
from cimento.suites.formula import parse, references
from cimento.suites.model import Condition, Item, Meta, Prediction, Region, Suite, sentence
from cimento.suites.reading import Reading, fault, sha256_of, strip_blanks, unusable
from cimento.suites.tables import Row, Table, read_table

PREFIX, SUFFIX = "prefix", "suffix"
STIMULUS = ("stimulus", "continuation", "query", "property_phrase")
ITEM, CONDITION = ("item", "id"), "condition"
SIDES = (("good", "bad"), ("acceptable", "unacceptable"), ("grammatical", "ungrammatical"))
"""Names of the two sides of a pair, in columns and as conditions."""

REGIONS = (PREFIX, "stimulus", SUFFIX)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a table by their roles; empty for a role without a column."""

    item: str
    prefix: tuple[str, ...]
    stimulus: tuple[str, ...]
    suffix: str
    condition: str
    sides: tuple[str, ...]

    @property
    def taken(self) -> set[str]:
        """The columns that do not become free columns."""
        return {self.item, *self.prefix, *self.stimulus, self.suffix, self.condition}


def is_minicons(table: Table) -> bool:
    """Whether a table has prefixes and stimuli, in one of the two forms."""
    return _columns(table) is not None


def read_minicons(path: Path) -> Reading:
    """Read a table of prefixes and stimuli; the file's name becomes the suite's.

    The regions are prefix, stimulus and suffix. If the conditions are good and bad (or acceptable,
    grammatical and their opposites), the prediction is that the stimulus is less surprising in the
    good one; otherwise the suite has no prediction.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    data = read_bytes(path)
    table, faults = read_table(data, path)
    columns = _columns(table) if table else None
    if table is None or columns is None:
        names = ", ".join(table.columns) if table else "none"
        seen = f"The columns prefix, stimulus and condition are missing; there are {names}."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    items: dict[str, list[Condition]] = {}
    places: dict[str, list[str]] = {}
    for number, row in enumerate(table.rows, start=1):
        where = table.where(row)
        for name, condition in _conditions(row, columns, number, where, faults):
            items.setdefault(name, []).append(condition)
            places.setdefault(name, []).append(where)
    found = {condition.name for own in items.values() for condition in own}
    suite = Suite(
        meta=Meta(name=path.stem),
        region_names=REGIONS,
        predictions=_predictions(found),
        items=tuple(Item(name, tuple(own)) for name, own in items.items()),
    )
    told = tuple(place for own in places.values() for place in own)
    return Reading(suite, sha256_of(data), told, tuple(faults))


def _columns(table: Table) -> _Columns | None:
    item = next(filter(None, map(table.find, ITEM)), "")
    stimulus = next(filter(None, map(table.find, STIMULUS)), "")
    prefix, suffix = table.find(PREFIX) or "", table.find(SUFFIX) or ""
    condition = table.find(CONDITION) or ""
    if prefix and stimulus and condition and item:
        return _Columns(item, (prefix,), (stimulus,), suffix, condition, ())
    for sides in SIDES:
        prefixes = _two(table, (PREFIX,), sides)
        if prefixes and stimulus:
            return _Columns(item, prefixes, (stimulus,), suffix, "", sides)
        stimuli = _two(table, STIMULUS, sides)
        if prefix and stimuli:
            return _Columns(item, (prefix,), stimuli, suffix, "", sides)
    return None


def _two(table: Table, names: Sequence[str], sides: Sequence[str]) -> tuple[str, ...]:
    """The columns of both sides, such as ``prefix_good`` and ``prefix_bad``; none without both."""
    for name in names:
        found = [table.find(f"{name}_{side}") for side in sides]
        if all(found):
            return tuple(filter(None, found))
    return ()


def _conditions(
    row: Row, columns: _Columns, number: int, where: str, faults: list[Fault]
) -> Iterator[tuple[str, Condition]]:
    """The conditions of a row, each with the id of its item."""
    cells = {
        name: strip_blanks(cell, what=name, where=where, faults=faults)
        for name, cell in row.cells.items()
    }
    item = cells[columns.item] if columns.item else str(number)
    free = {name: cell for name, cell in cells.items() if cell and name not in columns.taken}
    sides = columns.sides or (cells[columns.condition],)
    for index, side in enumerate(sides):
        texts = [
            cells[columns.prefix[min(index, len(columns.prefix) - 1)]],
            cells[columns.stimulus[min(index, len(columns.stimulus) - 1)]],
            cells[columns.suffix] if columns.suffix else "",
        ]
        yield item, Condition(side, tuple(map(Region, texts)), free)


def _predictions(conditions: set[str]) -> tuple[Prediction, ...]:
    """The prediction that the stimulus is less surprising in the good condition, if known."""
    return tuple(
        Prediction(f"(2;%{good}%) < (2;%{bad}%)", comment="As minicons' conditional scores.")
        for good, bad in SIDES
        if {good, bad} <= conditions
    )


HEADER = ("item", "condition", PREFIX, "stimulus", SUFFIX)


def write_minicons(suite: Suite, path: Path) -> Path:
    """Write a row for each stimulus, with columns for minicons' ``conditional_score``.

    The stimulus is the region that every prediction names. The text before it is the prefix, the
    text after it the suffix, which only masked models are given. If predictions are about whole
    sentences or name several regions, the stimulus is the whole sentence, for ``sequence_score``.

    Raises:
        InputError: a target is glued to what precedes it, or a text holds a tab.
        FormulaError: a prediction cannot be read.
        StorageError: the file cannot be written.
    """
    columns = [name for name in suite.column_names if name not in HEADER]
    lines = [[*HEADER, *columns], *_rows(suite, target_region(suite), columns)]
    return write_text("".join("\t".join(line) + "\n" for line in lines), path)


def minicons_losses(suite: Suite) -> list[str]:
    """The parts of a suite that a table for minicons cannot hold, as phrases; may be empty."""
    target = target_region(suite)
    kept = 1 if target is None else 3
    losses = [
        f"{key}, in the metadata"
        for key in ("version", "language", "licence", "citation", "author", "reference")
        if getattr(suite.meta, key)
    ]
    if len(suite.region_names) > kept:
        losses.append(f"the division into {len(suite.region_names)} regions")
    pairs = {f"({target or '*'};%{good}%) < ({target or '*'};%{bad}%)" for good, bad in SIDES}
    if [prediction.formula for prediction in suite.predictions if prediction.formula not in pairs]:
        losses.append("predictions other than that the good condition is less surprising")
    losses += [f"the {name}" for name in ("cluster", "factors", "extra") if getattr(suite, name)]
    if suite.metric != "sum":
        losses.append(f"the metric {suite.metric}")
    return losses


def target_region(suite: Suite) -> int | None:
    """The region that all predictions name; None if they name several, or whole sentences.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    named = {
        reference.region
        for prediction in suite.predictions
        for reference in references(parse(prediction.formula))
    }
    found = named.pop() if len(named) == 1 else "*"
    return None if found == "*" or len(suite.region_names) == 1 else found


def _rows(suite: Suite, target: int | None, columns: list[str]) -> Iterator[list[str]]:
    for item, condition in suite.stimuli():
        where = f"item {item.id!r}, condition {condition.name!r}"
        parts = _parts(condition, target, suite, where)
        row = [item.id, condition.name, *parts]
        row += [condition.columns.get(name, "") for name in columns]
        if any("\t" in cell or "\n" in cell for cell in row):
            raise InputError(
                where=where, seen="a text holds a tab or a line end", todo="Remove it."
            )
        yield row


def _parts(condition: Condition, target: int | None, suite: Suite, where: str) -> tuple[str, ...]:
    """The prefix, stimulus and suffix of a condition."""
    if target is None:
        return ("", sentence(condition, rule=suite.join), "")
    before, after = condition.regions[: target - 1], condition.regions[target:]
    own = condition.regions[target - 1]
    if own.glued and any(region.text for region in before):
        raise InputError(
            where=where,
            seen="the target is written together with what precedes it",
            todo="minicons puts a blank between prefix and stimulus; put both into one region.",
        )
    return tuple(
        sentence(Condition(condition.name, regions), rule=suite.join)
        for regions in (before, (own,), after)
    )
