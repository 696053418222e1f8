"""What items belong to: one cluster, or one of each of several factors that are crossed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

CROSSED = "\x1f"
"""Between the labels of crossed clusters in one cell: a character that no table of text has."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """What a unit belongs to in a crossed design, such as its template and its verb.

    Attributes:
        labels: one for each factor, two or more, in the same order for all units.
    """

    labels: tuple[Hashable, ...]


def cluster_cells(columns: Sequence[Sequence[str | None]], n: int) -> list[str | None]:
    """The cluster of each item in one cell; None for an item that stands alone.

    Args:
        columns: the cells of each cluster column; labels of several are joined by `CROSSED`.
        n: number of items.
    """
    if not columns:
        return [None] * n
    if len(columns) == 1:
        return [label or None for label in columns[0]]
    return [CROSSED.join(label or "" for label in row) for row in zip(*columns, strict=True)]


def cluster_label(item: str, cell: Hashable) -> Hashable:
    """What an item belongs to, from its cell: a cluster, a `Crossing`, or itself alone.

    Args:
        item: its id, which is also its label of a factor in which it has none.
        cell: as `cluster_cells` makes it.
    """
    if cell is None:
        return "item", item
    if not isinstance(cell, str) or CROSSED not in cell:
        return "cluster", cell
    labels = tuple(("cluster", label) if label else ("item", item) for label in cell.split(CROSSED))
    return Crossing(labels)


def cluster_shown(cell: str) -> str:
    """A cell for people: the labels of crossed clusters with a cross between them."""
    if CROSSED not in cell:
        return cell
    return " × ".join(label or "-" for label in cell.split(CROSSED))


def columns_named(said: str | Sequence[str] | None) -> tuple[str, ...]:
    """The cluster columns that a setting names: one name, several, or none."""
    return ((said,) if said else ()) if isinstance(said, str) else tuple(said or ())


def columns_said(names: Sequence[str]) -> str | list[str]:
    """Cluster columns as a setting has them: empty, one name alone, or a list."""
    return list(names) if len(names) > 1 else "".join(names)
