"""Does the interval of people's DD for other people hold the DD of all people and all items?

Everybody rates all sentences, or each item in one condition only (a Latin square). Beside it stands
the interval over items, for these people, whose target is another one. Prints a Markdown table, or
writes it with tabs into a folder, in some minutes::

    python benchmarks/coverage_contrasts.py docs/data/coverage
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
from numpy.typing import NDArray
from publishing import Table, publish
from simulating import COVERED, Tally, holds

from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.statistics.raters import contrast_for_others

Floats = NDArray[np.float64]

SEED = 20261203
TRIALS = 500
SIZES = ((8, 8), (8, 16), (8, 40), (16, 16), (16, 40), (24, 24))
SIGNS = (-1.0, 1.0, 1.0, -1.0)
TRUTH = 1.0
OF_CELLS = 0.3
"""The sd of each condition between items, and between people; DD has twice that."""
SPREADS = ((0.0, 0.0), (0.4, 0.6))
"""The sd of DD between items, and between people, beyond that; ratings have a residual sd of 1."""


def ratings(
    sizes: tuple[int, int], spread: tuple[float, float], generator: np.random.Generator
) -> Floats:
    """Ratings of each item, by each person, in each condition; items and people differ in level."""
    items, people = sizes
    drawn = generator.normal(size=(items, people, 4))
    drawn += generator.normal(size=(items, 1, 1)) + generator.normal(size=(1, people, 1))
    drawn += OF_CELLS * generator.normal(size=(items, 1, 4)) + OF_CELLS * generator.normal(
        size=(1, people, 4)
    )
    of_items, of_people = spread
    dd = TRUTH + of_items * generator.normal(size=(items, 1, 1))
    dd = dd + of_people * generator.normal(size=(1, people, 1))
    return drawn - dd * np.array([0, 0, 0, 1])


def row_of(
    sizes: tuple[int, int],
    spread: tuple[float, float],
    *,
    whole: bool,
    generator: np.random.Generator,
) -> tuple[object, ...]:
    """The coverage of both intervals in one design."""
    items, people = sizes
    tallies = Tally(), Tally()
    design = Design.independent(items)
    who = np.arange(people)
    asked = [
        [who if whole else who[(item + who) % 4 == cell] for cell in range(4)]
        for item in range(items)
    ]
    names = [[one.tolist() for one in cells] for cells in asked]
    for _ in range(TRIALS):
        table = ratings(sizes, spread, generator)
        given = [
            [table[item, asked[item][cell], cell].tolist() for cell in range(4)]
            for item in range(items)
        ]
        means = np.array([[np.mean(one) for one in cells] for cells in given])
        these = mean_of(means @ np.array(SIGNS), design, seed=0)
        others = contrast_for_others(given, names, SIGNS, design=design, seed=0)
        for tally, made in zip(tallies, (these, others), strict=True):
            tally.count(holds(made.low, made.high, TRUTH))
    form = "all sentences" if whole else "one condition of each item"
    sds = (f"{np.hypot(2 * OF_CELLS, sd):.2f}" for sd in spread)
    return (f"{items} x {people}", form, *sds, *(tally.cell(COVERED) for tally in tallies))


def main() -> int:
    """Print the table, or write it into a folder."""
    generator = np.random.default_rng(SEED)
    rows = [
        row_of(sizes, spread, whole=whole, generator=generator)
        for whole, spread, sizes in itertools.product((True, False), SPREADS, SIZES)
    ]
    title = "DD of people for other people (`contrast_for_others`): coverage in %"
    between = ("sd of DD between items", "between people")
    head = ("items x people", "each rates", *between, "these people", "others")
    return publish([Table(title, head, rows)])


if __name__ == "__main__":
    sys.exit(main())
