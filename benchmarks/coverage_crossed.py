"""Do intervals over crossed clusters, such as templates and verbs, hold the truth?

Prints Markdown tables, or writes them with tabs into a folder, in some minutes::

    python benchmarks/coverage_crossed.py docs/data/coverage
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from publishing import Table, publish

from cimento.io.clusters import Crossing
from cimento.statistics.design import Design
from cimento.statistics.differences import share_test
from cimento.statistics.intervals import share_interval
from cimento.statistics.means import mean_of

Floats = NDArray[np.float64]

SEED = 20261129
TRIALS = 1_000
SIZES = ((5, 5), (5, 12), (8, 10), (6, 40), (20, 20), (12, 40))
SPLITS = ((0.0, 0.0), (0.08, 0.08), (0.3, 0.3), (0.04, 0.55), (0.55, 0.04), (0.8, 0.0))
"""Proportion of the variance between the levels of the first factor, and of the second."""
TRUTHS = (0.5, 0.75, 0.95)
TARGET = (93, 97)
ALPHA = 0.05


def crossed(sizes: tuple[int, int], kind: str, generator: np.random.Generator) -> Design:
    """A design with all pairs of levels, with half of them, or with levels of unequal use."""
    first, second = sizes
    pairs = [(a, b) for a in range(first) for b in range(second)]
    if kind == "half":
        pairs = [pairs[place] for place in generator.permutation(len(pairs))[: len(pairs) // 2]]
    elif kind == "unequal":
        n = max(len(pairs) // 2, 20)
        drawn = [generator.choice(size, n, p=_zipf(size)) for size in sizes]
        pairs = list(zip(*(column.tolist() for column in drawn), strict=True))
    return Design(tuple(range(len(pairs))), tuple(map(Crossing, pairs)))


def _zipf(size: int) -> Floats:
    weights = 1 / np.arange(1, size + 1)
    return weights / weights.sum()


def latent(design: Design, split: tuple[float, float], generator: np.random.Generator) -> Floats:
    """Values of mean 0 and variance 1 of the items of each sample."""
    parts = [
        share**0.5 * generator.normal(size=(TRIALS, factor.m))[:, factor.codes()[0]]
        for share, factor in zip(split, design.factors(), strict=True)
    ]
    rest = (1 - sum(split)) ** 0.5 * generator.normal(size=(TRIALS, design.n))
    return sum(parts, start=rest)


def covered(values: Floats, truth: float, design: Design) -> str:
    """The percentage of samples whose interval of the proportion holds the truth."""
    intervals = [share_interval(row.tolist(), design) for row in values]
    return percent([one.low <= truth <= one.high for one in intervals if one.low is not None])  # type: ignore[operator]  # both ends or none


def mean_covered(values: Floats, design: Design) -> str:
    """The percentage of samples whose interval of the mean holds 0."""
    means = [mean_of(row, design, seed=0) for row in values]
    return percent([one.low <= 0 <= one.high for one in means if one.low is not None])  # type: ignore[operator]  # both ends or none


def percent(held: Sequence[bool], target: tuple[float, float] = TARGET) -> str:
    """A percentage, bold outside of its target; ``none`` if no sample has an interval."""
    if not held:
        return "none"
    rate = 100 * float(np.mean(held))
    return f"{rate:.1f}" if target[0] <= rate <= target[1] else f"**{rate:.1f}**"


def main() -> int:
    """Print the tables, or write them into a folder."""
    generator = np.random.default_rng(SEED)
    rows, tests = [], []
    for kind in ("all pairs", "half", "unequal"):
        for sizes in SIZES:
            design = crossed(sizes, kind, generator)
            name = f"{sizes[0]} x {sizes[1]}, {kind}"
            for split in SPLITS:
                values = latent(design, split, generator)
                shares = [
                    covered(values < NormalDist().inv_cdf(truth), truth, design) for truth in TRUTHS
                ]
                rows.append((name, design.n, *split, mean_covered(values, design), *shares))
                both = values, latent(design, split, generator)
                bars = NormalDist().inv_cdf(0.75)
                found = [
                    share_test((a < bars).tolist(), (b < bars).tolist(), design)
                    for a, b in zip(*both, strict=True)
                ]
                tests.append(
                    (name, design.n, *split,
                     percent([t.p <= ALPHA for t in found if t.p is not None], (3, 7)))
                )  # fmt: skip
    head = ("levels", "items", "variance between first", "between second")
    return publish(
        [
            Table(
                "Crossed clusters (`mean_of`, `share_interval`): coverage in %",
                (*head, "mean", *(f"proportion {truth}" for truth in TRUTHS)),
                rows,
            ),
            Table(
                "Test of two proportions over crossed clusters (`share_test`), 5% asked for:"
                " rejected in %",
                (*head, "two models, both 0.75"),
                tests,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
