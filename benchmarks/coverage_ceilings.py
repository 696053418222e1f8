"""Do intervals of noise ceilings and of mean kappas for other people hold the population's value?

Raters and items as in `coverage_people.py`. The target of a ceiling is that of as many raters in
very many items, expected over raters; that of the mean kappa is the one of very many of both.
Prints a Markdown table, or writes it with tabs into a folder, in some minutes::

    python benchmarks/coverage_ceilings.py docs/data/coverage
"""

from __future__ import annotations

import sys

import numpy as np
from coverage_people import ITEMS, MANY, RATERS, SPREADS, TRIALS, ratings, scale
from publishing import Table, publish
from simulating import COVERED, Tally, holds

from cimento.statistics.design import Design
from cimento.statistics.pairs_of_raters import mean_kappa
from cimento.statistics.reliability import ceiling_for_others, split_half

SEED = 20261203
HALVINGS = 100
TITLE = (
    "Noise ceilings and mean kappas for other people (`ceiling_for_others`, `mean_kappa`),"
    f" {ITEMS} items: coverage in %"
)
NAMES = ("raters", "ceiling", "mean kappa", "ceiling, others", "mean kappa, others")


def expected_ceiling(spread: tuple[float, float], people: int) -> float:
    """The expected ceiling of this many people, in very many items."""
    generator = np.random.default_rng(SEED + people)
    found = []
    for _ in range(60):
        _, given = ratings(people, MANY, spread, generator)
        halves = split_half(scale(given, 7).tolist(), seed=SEED, draws=10, kind="spearman")
        found.append(halves.ceiling or 0.0)
    return float(np.mean(found))


def kappa_of_many(spread: tuple[float, float]) -> float:
    """The mean kappa of many people and very many items."""
    _, given = ratings(100, MANY, spread, np.random.default_rng(SEED))
    who = [list(range(100))] * MANY
    return mean_kappa(scale(given, 7).tolist(), who, design=Design.independent(MANY)).value or 0.0


def row_of(
    name: str, people: int, kappa: float, generator: np.random.Generator
) -> tuple[object, ...]:
    """The coverage of both intervals."""
    design, who = Design.independent(ITEMS), [list(range(people))] * ITEMS
    ceiling, tallies = expected_ceiling(SPREADS[name], people), (Tally(), Tally())
    for _ in range(TRIALS):
        given = scale(ratings(people, ITEMS, SPREADS[name], generator)[1], 7).tolist()
        halves = split_half(given, seed=SEED, draws=HALVINGS, kind="spearman")
        of_ceiling = ceiling_for_others(given, who, halves, design=design)
        of_kappa = mean_kappa(given, who, design=design).others
        tallies[0].count(holds(of_ceiling.low, of_ceiling.high, ceiling))
        tallies[1].count(holds(of_kappa.low, of_kappa.high, kappa))
    cells = [tally.cell(COVERED) for tally in tallies]
    return (f"{people}, {name}", f"{ceiling:.2f}", f"{kappa:.2f}", *cells)


def main() -> int:
    """Print the table, or write it into a folder."""
    generator = np.random.default_rng(SEED)
    rows = []
    for name, spread in SPREADS.items():
        kappa = kappa_of_many(spread)
        rows += [row_of(name, people, kappa, generator) for people in RATERS]
    return publish([Table(TITLE, NAMES, rows)])


if __name__ == "__main__":
    sys.exit(main())
