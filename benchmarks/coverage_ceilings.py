"""Do intervals of noise ceilings and of mean kappas for other people hold the population's value?

Raters and items as in `coverage_people.py`. The target of a ceiling is that of as many raters in
very many items, expected over raters; that of the mean kappa is the one of very many of both.
Prints Markdown tables, or writes them with tabs into a folder, in some minutes::

    python benchmarks/coverage_ceilings.py docs/data/coverage
"""

from __future__ import annotations

import sys

import numpy as np
from coverage_other_people import ITEMS, RATERS, TRIALS
from coverage_people import MANY, SPREADS, ratings, scale
from publishing import Table, publish
from simulating import COVERED, Tally, holds

from cimento.statistics.design import Design
from cimento.statistics.pairs_of_raters import mean_kappa
from cimento.statistics.reliability import ceiling_for_others, split_half

SEED = 20261203
HALVINGS = 100
CEILINGS = f"Noise ceilings for other people (`ceiling_for_others`), {ITEMS} items: coverage in %"
KAPPAS = f"Mean kappas for other people (`mean_kappa`), {ITEMS} items: coverage in %"


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
    """The mean kappa of very many people and items, from means and covariances."""
    generator, found = np.random.default_rng(SEED), []
    for _ in range(5):
        given = scale(ratings(400, MANY, spread, generator)[1], 7)
        covariances, means = np.cov(given.T, ddof=0), given.mean(axis=0)
        variances = np.diag(covariances)
        apart = (means[:, None] - means) ** 2
        kappas = 2 * covariances / (variances[:, None] + variances + apart)
        found.append(kappas[np.triu_indices(400, k=1)].mean())
    return float(np.mean(found))


def ceiling_rows() -> list[tuple[object, ...]]:
    """The coverage of the interval of the ceiling."""
    generator, rows = np.random.default_rng(SEED), []
    design = Design.independent(ITEMS)
    for name, spread in SPREADS.items():
        for people in RATERS:
            truth, tally, who = (
                expected_ceiling(spread, people),
                Tally(),
                [[*range(people)]] * ITEMS,
            )
            for _ in range(TRIALS):
                given = scale(ratings(people, ITEMS, spread, generator)[1], 7).tolist()
                halves = split_half(given, seed=SEED, draws=HALVINGS, kind="spearman")
                ends = ceiling_for_others(given, who, halves, design=design)
                tally.count(holds(ends.low, ends.high, truth))
            rows.append((f"{people}, {name}", f"{truth:.2f}", tally.cell(COVERED)))
    return rows


def kappa_rows() -> list[tuple[object, ...]]:
    """The coverage of the interval of the mean kappa."""
    generator, rows = np.random.default_rng(SEED), []
    design = Design.independent(ITEMS)
    for name, spread in SPREADS.items():
        truth = kappa_of_many(spread)
        for people in RATERS:
            tally, who = Tally(), [[*range(people)]] * ITEMS
            for _ in range(TRIALS):
                given = scale(ratings(people, ITEMS, spread, generator)[1], 7).tolist()
                ends = mean_kappa(given, who, design=design).others
                tally.count(holds(ends.low, ends.high, truth))
            rows.append((f"{people}, {name}", f"{truth:.2f}", tally.cell(COVERED)))
    return rows


def main() -> int:
    """Print the tables, or write them into a folder."""
    return publish(
        [
            Table(CEILINGS, ("raters", "ceiling", "others"), ceiling_rows()),
            Table(KAPPAS, ("raters", "mean kappa", "others"), kappa_rows()),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
