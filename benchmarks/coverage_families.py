"""Do intervals of abilities and difficulties hold where models of a family answer alike?

Prints a Markdown table, or writes it with tabs into a folder, in about eight minutes of one core::

    python benchmarks/coverage_families.py docs/data/coverage
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray
from publishing import Table, publish

from cimento.statistics.item_response import item_response
from cimento.statistics.response_estimates import Locations

Floats = NDArray[np.float64]

SEED = 20261201
TABLES = 40
ITEMS, PHENOMENA = 64, 4
FAMILIES = {"8, 1 and 1": (8, 1, 1), "4, 3 and 3": (4, 3, 3)}
SDS = (1.0, 2.0)
"""Spreads of what the models of a family share on an item, in logits."""
TARGET = (93, 97)


def row_of(name: str, sd: float, generator: np.random.Generator) -> tuple[object, ...]:
    """Coverage of abilities and difficulties, without and with the effect."""
    family = np.repeat(np.arange(len(FAMILIES[name])), FAMILIES[name])
    phenomenon = np.repeat(np.arange(PHENOMENA), ITEMS // PHENOMENA)
    held: dict[tuple[bool, str], list[float]] = {}
    spreads = []
    for _ in range(TABLES):
        ability = generator.normal(0, 0.5, family.max() + 1)[family]
        ability += generator.normal(0, 0.8, family.size)
        difficulty = generator.normal(0, 1.2, ITEMS) + generator.normal(0, 1, PHENOMENA)[phenomenon]
        shared = generator.normal(0, sd, (ITEMS, family.max() + 1))
        logits = ability - difficulty[:, None] + shared[:, family]
        right = (generator.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
        for has_effect in (False, True):
            fit = item_response(right, phenomenon=phenomenon, family=family if has_effect else None)
            if fit.ability is None or fit.difficulty is None:
                continue
            center = ability.mean()
            for what, located, truth in (
                ("ability", fit.ability, ability - center),
                ("difficulty", fit.difficulty, difficulty - center),
            ):
                held.setdefault((has_effect, what), []).append(covered(located, truth))
            if has_effect:
                spreads.append(fit.spreads["testlet"].sd)
    keys = [(effect, what) for what in ("ability", "difficulty") for effect in (False, True)]
    return (name, sd, *(cell(held[key]) for key in keys), f"{np.mean(spreads):.2f}")


def covered(located: Locations, truth: Floats) -> float:
    """The proportion of intervals that hold their truth."""
    return float(((located.low <= truth) & (truth <= located.high)).mean())


def cell(shares: list[float]) -> str:
    """A percentage, bold outside of its target."""
    rate = round(100 * float(np.mean(shares)), 1)
    return f"{rate:.1f}" if TARGET[0] <= rate <= TARGET[1] else f"**{rate:.1f}**"


def main() -> int:
    """Print the table, or write it into a folder."""
    generator = np.random.default_rng(SEED)
    rows = [row_of(name, sd, generator) for name in FAMILIES for sd in SDS]
    title = (
        f"Item-response models of families (`item_response`, Rasch, {ITEMS} items in"
        f" {PHENOMENA} phenomena): coverage in %"
    )
    names = (
        "models of families", "item by family, sd in logits",
        "ability, families not known", "ability", "difficulty in general, families not known",
        "difficulty in general", "estimated sd, mean",
    )  # fmt: skip
    return publish([Table(title, names, rows)])


if __name__ == "__main__":
    sys.exit(main())
