"""Tables for programs: CSV, JSON and Parquet, made from the values behind the cells.

A table that people read leaves out repeated labels, rounds numbers, and has estimates with their
intervals in one cell. Here every row has its labels, every number is as it was computed, every
column has a name of its own, and what is undefined is null.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from cimento.report.cells import HIGH, LOW, MARKS, REASON, CellValue, N, Shown, no_ends

if TYPE_CHECKING:
    import polars as pl

Kind: TypeAlias = Literal["text", "number", "integer", "boolean"]
UNIT, TEXT = "_unit", "_text"
"""Endings for the unit of each row, where rows differ in it, and for texts among numbers."""


class HasParts(Protocol):
    """A cell with values for several columns."""

    @property
    def parts(self) -> Mapping[str, CellValue]:
        """The values by the endings of their columns."""

    @property
    def unit(self) -> str:
        """Unit of the main value; or empty."""


Cell: TypeAlias = "str | HasParts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table for programs.

    Attributes:
        name: its name, which no other column of the table has.
        heading: what people read above it.
        kind: of its values.
        unit: of its values; empty if they have none or rows differ in it.
        values: one for each row; None is null.
    """

    name: str
    heading: str
    kind: Kind
    unit: str
    values: tuple[CellValue, ...]

    @property
    def schema(self) -> dict[str, object]:
        """What JSON Schema says of a value in the column."""
        types = {"text": "string"}.get(self.kind, self.kind)
        said: dict[str, object] = {"title": self.heading, "type": [types, "null"]}
        return {**said, "unit": self.unit} if self.unit else said


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidy:
    """A table for programs.

    Attributes:
        columns: columns in their order, each with as many values as there are rows.
    """

    columns: tuple[Column, ...]

    @classmethod
    def of(
        cls,
        headings: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        names: Mapping[str, str] | None = None,
    ) -> Tidy:
        """The columns behind the cells of a table.

        Args:
            headings: what people read above each column, with the name of its group.
            rows: the cells.
            names: headings, each mapped to the name of its column, where the words are not one.
        """
        columns: list[Column] = []
        left = ""
        for heading, *cells in zip(headings, *rows, strict=True):
            if left and _is_interval(cells):
                # An interval is that of the number to the left of it.
                made = _columns(left, heading, [_ends(cell) for cell in cells])
                columns += made
                left = "" if any(one.name == f"{left}{HIGH}" for one in made) else left
                continue
            name = (names or {}).get(heading) or name_of(heading)
            made = _columns(_with_unit(name, cells), heading, cells)
            is_number = made[0].kind in ("number", "integer")
            alone = not any(one.name == f"{made[0].name}{LOW}" for one in made)
            left = made[0].name if is_number and alone else ""
            columns += made
        return cls(columns=tuple(_apart(columns)))

    @property
    def rows(self) -> Iterator[dict[str, CellValue]]:
        """The rows by the names of the columns."""
        names = [column.name for column in self.columns]
        for row in zip(*(column.values for column in self.columns), strict=True):
            yield dict(zip(names, row, strict=True))

    @property
    def schema(self) -> dict[str, object]:
        """The JSON Schema (draft 2020-12) of a row."""
        properties = {column.name: column.schema for column in self.columns}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def frame(self) -> pl.DataFrame:
        """The table as a data frame, with the type of each column."""
        import polars as pl

        kinds: Mapping[Kind, type[pl.DataType]] = {
            "text": pl.String, "number": pl.Float64, "integer": pl.Int64, "boolean": pl.Boolean,
        }  # fmt: skip
        return pl.DataFrame(
            [pl.Series(one.name, one.values, dtype=kinds[one.kind]) for one in self.columns]
        )

    def csv(self, *, decimal_comma: bool = False) -> str:
        """The table as CSV (RFC 4180) with one header line; null is an empty field.

        Args:
            decimal_comma: whether numbers have commas, and fields are parted by semicolons.
        """
        file = io.StringIO()
        lines = csv.writer(file, delimiter=";" if decimal_comma else ",", lineterminator="\n")
        lines.writerow([column.name for column in self.columns])
        for row in self.rows:
            lines.writerow(
                _field(value).replace(".", ",")
                if decimal_comma and isinstance(value, float)
                else _field(value)
                for value in row.values()
            )
        return file.getvalue()

    def plain(self, *, title: str, notes: Sequence[str]) -> dict[str, object]:
        """The table as JSON has it: title, columns, the schema of a row, the rows, and notes.

        Args:
            title: what the table shows.
            notes: sentences below it.
        """
        return {
            "title": title,
            "columns": [column.name for column in self.columns],
            "schema": self.schema,
            "rows": list(self.rows),
            "notes": list(notes),
        }

    def json(self, *, title: str, notes: Sequence[str]) -> str:
        """The text of `plain`."""
        plain = self.plain(title=title, notes=notes)
        return json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


_AROUND = re.compile(r"(?<!\w)[^\w@+<>=-]+|[^\w@+<>=-]+(?!\w)")
"""Punctuation that is not inside a word: ``qwen2.5`` keeps its point, ``pred.`` does not."""


def name_of(heading: str) -> str:
    """The name of a column for a heading: its words with ``_`` between, ``percent`` for ``%``."""
    spelled = heading.replace("%", " percent ")
    return "_".join(_AROUND.sub(" ", spelled).split()) or "column"


def _with_unit(name: str, cells: Sequence[Cell]) -> str:
    """The name of a column, with the unit of its numbers if they share one."""
    units = _units(cells)
    unit = units.pop() if len(units) == 1 else ""
    return name if not unit or unit in name.split("_") else f"{name}_{unit}".strip("_")


def _units(cells: Sequence[Cell]) -> set[str]:
    """The units of the numbers in a column; empty for those that have none."""
    return {
        typed.unit
        for cell in cells
        if (typed := _typed(cell)) is not None and isinstance(_parts(cell)[""], float | int)
    }


def _parts(cell: Cell) -> dict[str, CellValue]:
    """The values behind a cell; a number that is not finite is null with a reason."""
    typed = _typed(cell)
    if typed is None:
        return {"": str(cell) or None}
    parts = {ending: _finite(value) for ending, value in typed.parts.items()}
    parts.setdefault("", None)
    if isinstance(value := typed.parts.get(""), float) and parts[""] is None:
        parts[REASON] = f"not finite ({value})"
    return parts


def _typed(cell: Cell) -> HasParts | None:
    """The cell if it has values of its own; None for a plain text."""
    return None if isinstance(cell, str) and not isinstance(cell, Shown) else cell


def _finite(value: CellValue) -> CellValue:
    """The value without a sign of zero; None for a number that is not finite, and no text."""
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    return None if value == "" else value


def _is_interval(cells: Sequence[Cell]) -> bool:
    """Whether a column has only intervals, and texts where there are none."""
    known = [typed.parts for cell in cells if (typed := _typed(cell)) is not None]
    return bool(known) and all(
        "" not in parts and (LOW in parts or HIGH in parts) for parts in known
    )


def _ends(cell: Cell) -> Cell:
    """The cell of an interval, in which a text in the place of one is its reason."""
    return no_ends(str(cell)) if _typed(cell) is None else cell


def _columns(name: str, heading: str, cells: Sequence[Cell]) -> list[Column]:
    """The columns behind one that people read: for its values, and for what belongs to them."""
    spread = [_parts(cell) for cell in cells]
    units = _units(cells)
    unit = next(iter(units)) if len(units) == 1 else ""
    columns = []
    for ending in _endings(cells):
        values = [parts.get(ending) for parts in spread]
        numbers = [value for value in values if isinstance(value, float | int)]
        texts = [value if isinstance(value, str) else None for value in values]
        own = unit if ending in ("", LOW, HIGH) else ""
        if numbers:
            values = [None if isinstance(value, str) else value for value in values]
            texts = [None if text in MARKS else text for text in texts]
        kind = _kind(numbers, texts, ending=ending, cells=cells)
        columns.append(_column(f"{name}{ending}", heading, kind, values, unit=own))
        if numbers and any(texts):
            columns.append(_column(f"{name}{ending}{TEXT}", heading, "text", texts))
    if len(units) > 1:
        each = [
            None if isinstance(cell, str) and not isinstance(cell, Shown) else cell.unit or None
            for cell in cells
        ]
        columns.append(_column(f"{name}{UNIT}", heading, "text", each))
    return columns


_ORDER = ("", LOW, HIGH, N)


def _endings(cells: Sequence[Cell]) -> list[str]:
    """The endings of a column in their order: the value, its interval, n, others, the reason."""
    typed = [known for cell in cells if (known := _typed(cell)) is not None]
    seen = dict.fromkeys(ending for cell in typed for ending in cell.parts)
    seen |= dict.fromkeys(ending for cell in typed for ending in _parts(cell) if ending)
    if len(typed) < len(cells) or not cells:
        seen[""] = None
    first = [ending for ending in _ORDER if ending in seen]
    last = [REASON] if REASON in seen else []
    return [*first, *(one for one in seen if one not in (*_ORDER, REASON)), *last]


def _kind(
    numbers: Sequence[float], texts: Sequence[str | None], *, ending: str, cells: Sequence[Cell]
) -> Kind:
    """The kind of the values in a column; without any, a number where numbers belong."""
    if numbers:
        if all(isinstance(value, bool) for value in numbers):
            return "boolean"
        return "integer" if all(isinstance(value, int) for value in numbers) else "number"
    if ending == N:
        return "integer"
    typed = any(_typed(cell) is not None for cell in cells)
    is_number = ending in (LOW, HIGH) or (ending == "" and typed)
    return "number" if is_number and not any(texts) else "text"


def _column(
    name: str, heading: str, kind: Kind, values: Sequence[CellValue], *, unit: str = ""
) -> Column:
    if kind == "number":
        values = [None if value is None else float(value) for value in values]
    return Column(name=name, heading=heading, kind=kind, unit=unit, values=tuple(values))


def _apart(columns: Sequence[Column]) -> Iterator[Column]:
    """The columns with a number after the second and further ones of a name."""
    seen: Counter[str] = Counter()
    for column in columns:
        seen[column.name] += 1
        again = seen[column.name]
        yield column if again == 1 else replace(column, name=f"{column.name}_{again}")


def _field(value: CellValue) -> str:
    """A value as a field of CSV, with all its digits."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
