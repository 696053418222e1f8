"""Do intervals of partial correlations and kappa for other people hold the population's value?

As `coverage_people.py`. Of partial correlations, the length of items is held constant, on which
values and ratings both depend; kappa is of answers of yes and no. Prints Markdown tables, or writes
them with tabs into a folder, in some minutes::

    python benchmarks/coverage_other_people.py docs/data/coverage
"""

from __future__ import annotations

import sys

import numpy as np
from coverage_people import MANY, SPREADS, ratings, scale
from numpy.typing import NDArray
from publishing import Table, publish
from simulating import COVERED, Tally, holds

from cimento.statistics.agreement import fleiss_for_others, fleiss_kappa
from cimento.statistics.correlation import partial_correlation
from cimento.statistics.design import Design
from cimento.statistics.raters import correlation_for_others

Floats = NDArray[np.float64]

SEED = 20261202
TRIALS = 300
ITEMS = 40
RATERS = (5, 10, 20)
SHOWN = ("biases", "biases and tastes")
BY_LENGTH = 0.6
"""What a standard deviation of length adds to values and ratings, which have others of 1."""
TITLE = (
    "Partial correlations for other people (`correlation_for_others` with a covariate),"
    f" {ITEMS} items: coverage in %"
)
NAMES = ("raters", "partial r", "these people", "others")
OF_KAPPA = f"Fleiss kappa for other people (`fleiss_for_others`), {ITEMS} items: coverage in %"


def drawn(
    people: int, items: int, spread: tuple[float, float], generator: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Values, ratings on a scale of seven points, and lengths."""
    value, given = ratings(people, items, spread, generator)
    length = generator.normal(size=items)
    return value + BY_LENGTH * length, scale(given + BY_LENGTH * length[:, None], 7), length


def expected(spread: tuple[float, float], people: int) -> float:
    """The expected coefficient with the means of this many people, in very many items."""
    generator = np.random.default_rng(SEED + people)
    found = []
    for _ in range(200):
        value, given, length = drawn(people, MANY, spread, generator)
        both = np.array([value, given.mean(axis=1)])
        of = np.column_stack([np.ones(MANY), length])
        left = both.T - of @ np.linalg.lstsq(of, both.T, rcond=None)[0]
        found.append(np.corrcoef(left.T)[0, 1])
    return float(np.mean(found))


def row_of(name: str, people: int, generator: np.random.Generator) -> tuple[object, ...]:
    """The coverage of both intervals."""
    design, who = Design.independent(ITEMS), [list(range(people))] * ITEMS
    r, tallies = expected(SPREADS[name], people), (Tally(), Tally())
    for _ in range(TRIALS):
        value, given, length = drawn(people, ITEMS, SPREADS[name], generator)
        these = partial_correlation(
            value, given.mean(axis=1), length, design=design, kind="pearson"
        )
        others = correlation_for_others(
            value, given.tolist(), who, design=design, covariates=length, kind="pearson"
        )
        for tally, ends in zip(tallies, (these, others), strict=True):
            tally.count(holds(ends.low, ends.high, r))
    cells = [tally.cell(COVERED) for tally in tallies]
    return (f"{people}, {name}", f"{r:.2f}", *cells)


def kappa_row(name: str, people: int, generator: np.random.Generator) -> tuple[object, ...]:
    """The coverage of both intervals of kappa."""
    design, who = Design.independent(ITEMS), [list(range(people))] * ITEMS
    _, many = ratings(400, MANY, SPREADS[name], np.random.default_rng(SEED))
    truth = float(fleiss_kappa((many > 0).tolist()).value or 0)
    tallies = (Tally(), Tally())
    for _ in range(TRIALS):
        _, given = ratings(people, ITEMS, SPREADS[name], generator)
        answers = (given > 0).tolist()
        these = fleiss_kappa(answers, design=design)
        others = fleiss_for_others(answers, who, design=design)
        for tally, ends in zip(tallies, (these, others), strict=True):
            tally.count(holds(ends.low, ends.high, truth))
    return (f"{people}, {name}", f"{truth:.2f}", *(tally.cell(COVERED) for tally in tallies))


def main() -> int:
    """Print the tables, or write them into a folder."""
    generator = np.random.default_rng(SEED)
    cells = [(name, people) for name in SHOWN for people in RATERS]
    partial = [row_of(*cell, generator) for cell in cells]
    kappa = [kappa_row(*cell, generator) for cell in cells]
    names = ("raters", "kappa", *NAMES[2:])
    return publish([Table(TITLE, NAMES, partial), Table(OF_KAPPA, names, kappa)])


if __name__ == "__main__":
    sys.exit(main())
