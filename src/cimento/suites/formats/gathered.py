"""The common part of readers of one sentence, pair or word a row: JSON lines, gathered items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.table import Row
from cimento.io.parsing import parse_json
from cimento.suites import (
    PAIR_PREDICTION,
    Condition,
    Item,
    JoinRule,
    JsonValue,
    Meta,
    Prediction,
    Suite,
)
from cimento.suites.reading import Reading, name_from, sha256_of, strip_blanks


def json_lines(
    text: str, name: str, faults: list[Fault], *, todo: str | None = None
) -> Iterator[tuple[str, JsonValue]]:
    """The values of the lines that are not empty, each with its place.

    Args:
        text: the text of the file.
        name: its name.
        faults: gets a fault for each line that is not JSON.
        todo: advice for these.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name} line {number}"
        try:
            yield where, parse_json(line)
        except ValueError as error:
            faults.append(fault("CIM-S002", where=where, seen=f"Not JSON: {error}.", todo=todo))


def stripped_cells(row: Row, where: str, faults: list[Fault]) -> dict[str, str]:
    """The cells of a row without surrounding blanks, with a fault for each that had some."""
    return {
        column: strip_blanks(cell, what=column, where=where, faults=faults)
        for column, cell in row.cells.items()
    }


class Gathered:
    """Conditions gathered by item in order of first appearance, with the places of their rows."""

    def __init__(self) -> None:
        self._items: dict[str, tuple[str, list[tuple[Condition, str]]]] = {}

    def add(self, item: str, condition: Condition, where: str, *, key: str = "") -> None:
        """Add a condition.

        Args:
            item: the id of its item.
            condition: the condition.
            where: the place of its row.
            key: what its item's conditions share, if not the id: of two items with one id, which
                are an error, both are kept.
        """
        self._items.setdefault(key or item, (item, []))[1].append((condition, where))

    @property
    def items(self) -> tuple[Item, ...]:
        """The items."""
        return tuple(Item(id_, tuple(c for c, _ in rows)) for id_, rows in self._items.values())

    @property
    def places(self) -> tuple[str, ...]:
        """The place of each stimulus, item by item."""
        return tuple(where for _, rows in self._items.values() for _, where in rows)

    def reading(
        self,
        path: Path,
        data: bytes,
        faults: Sequence[Fault],
        *,
        meta: Meta | None = None,
        region_names: tuple[str, ...] = ("sentence",),
        predictions: tuple[Prediction, ...] = (PAIR_PREDICTION,),
        join: JoinRule = "blank",
        leading_blank: bool | None = None,
    ) -> Reading:
        """The reading of a file with these items, pairs of sentences unless it is said otherwise.

        Args:
            path: the file, after which the suite is named.
            data: its content.
            faults: the faults found while reading.
            meta: the metadata, if there is more than this name.
            region_names: names of the regions.
            predictions: the predictions.
            join: rule for making a sentence of regions.
            leading_blank: whether each text has a blank before it, if that is known.
        """
        suite = Suite(
            meta=meta or Meta(name=name_from(path)),
            region_names=region_names,
            predictions=predictions,
            items=self.items,
            join=join,
            leading_blank=leading_blank,
        )
        return Reading(suite, sha256_of(data), self.places, tuple(faults))
