"""Invented sentences of two island designs, and what invented people think of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

ITEMS = (
    ("Marta", "venduto", "la moto"),
    ("Paolo", "perso", "le chiavi"),
    ("Irene", "scritto", "la lettera"),
    ("Luca", "rotto", "il vaso"),
    ("Sara", "trovato", "un anello"),
    ("Dario", "dipinto", "la porta"),
)
PEOPLE = ("anna", "bruno", "carla", "dino", "elsa", "fabio")
LEVELS = {"distance": ("short", "long"), "structure": ("nonisland", "island")}
_MATRIX = {
    ("whether", "short", "nonisland"): "Chi crede che",
    ("whether", "long", "nonisland"): "Che cosa credi che",
    ("whether", "short", "island"): "Chi si chiede se",
    ("whether", "long", "island"): "Che cosa ti chiedi se",
    ("adjunct", "short", "nonisland"): "Chi pensa che",
    ("adjunct", "long", "nonisland"): "Che cosa pensi che",
    ("adjunct", "short", "island"): "Chi si lamenta siccome",
    ("adjunct", "long", "island"): "Che cosa ti lamenti siccome",
}
PHENOMENA = ("whether", "adjunct")

Row = dict[str, str]


def sentences(*, phenomena: Sequence[str] = PHENOMENA, anew: bool = False) -> Iterator[Row]:
    """A row for each sentence; numbers of items begin anew in each phenomenon, or ids are whole."""
    for phenomenon, (number, (name, verb, thing)) in product(phenomena, enumerate(ITEMS, start=1)):
        for distance, structure in product(*LEVELS.values()):
            verbal = "ha" if _is_adjunct_island(phenomenon, structure) else "abbia"
            matrix = _MATRIX[phenomenon, distance, structure]
            end = f" {thing}" if distance == "short" else ""
            yield {
                "phenomenon": phenomenon,
                "item": str(number) if anew else f"{phenomenon[0].upper()}{number:02}",
                "distance": distance,
                "structure": structure,
                "sentence": f"{matrix} {name} {verbal} {verb}{end}?",
            }


def _is_adjunct_island(phenomenon: str, structure: str) -> bool:
    return (phenomenon, structure) == ("adjunct", "island")


def rating(row: Row, person: int, item: int) -> int:
    """From 1 to 7: long sentences and islands cost a point each, both two more, people differ."""
    far, island = row["distance"] == "long", row["structure"] == "island"
    cost = far + island + (2 + (row["phenomenon"] == "whether")) * (far and island)
    noise = (3 * person + 5 * item + 7 * far + 2 * island) % 3 - 1
    return max(1, min(7, 7 - cost - person % 2 + noise))


def answers(rows: Sequence[Row]) -> Iterator[Row]:
    """A row for each answer of each person."""
    numbers = {id_: number for number, id_ in enumerate(dict.fromkeys(row["item"] for row in rows))}
    for person, name in enumerate(PEOPLE):
        for row in rows:
            given = rating(row, person, numbers[row["item"]])
            yield {"participant": name, **row, "rating": str(given)}


def write_rows(rows: Sequence[Row], path: Path) -> Path:
    """A file with comma-separated values."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path
