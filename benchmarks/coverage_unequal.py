"""Do intervals and tests hold where a few clusters have most items, and of two correlations?

Prints Markdown tables, or writes them with tabs into a folder, in some minutes::

    python benchmarks/coverage_unequal.py docs/data/coverage
"""

from __future__ import annotations

import sys
from math import asin, pi, sqrt

import numpy as np
from coverage import beta
from publishing import Table, publish
from simulating import COVERED, REJECTED, SEED, Tally, design_of, holds, rejects

from cimento.statistics.correlation import correlation_difference
from cimento.statistics.design import Design
from cimento.statistics.differences import share_difference, share_test
from cimento.statistics.intervals import share_interval
from cimento.statistics.means import bounded_mean

TRIALS = 1000
MEANS = 300
SIZES = {
    "2 of 10, 4 of 1": [10] * 2 + [1] * 4,
    "3 of 10, 7 of 1": [10] * 3 + [1] * 7,
    "7 of 10, 13 of 1": [10] * 7 + [1] * 13,
    "1 of 20, 5 of 2": [20] + [2] * 5,
}
CORRELATIONS = (0.1, 0.3, 0.8)
PAIRS = ((0.5, 0.5), (0.9, 0.9), (0.8, 0.5))
ROWS = (12, 24, 40)
COEFFICIENTS = ((0.0, 0.0, 0.0), (0.5, 0.5, 0.8), (0.8, 0.8, 0.8), (0.3, 0.7, 0.5), (0.6, 0.9, 0.6))
"""Correlation of either model with the reference, and of the two with each other."""
FEW_CLUSTERS = ((5, 4), (6, 4), (8, 4), (12, 4))
CLUSTERED = ((0.0, 0.3), (0.5, 0.3), (0.5, 0.7))
"""Correlation of both models with the reference, and of the sentences of one item."""


def unequal(generator: np.random.Generator) -> Table:
    """A few clusters with most items: proportions, their differences and tests, bounded means."""
    rows = []
    for name, sizes in SIZES.items():
        design = design_of(sizes)
        labels = np.array(design.clusters)
        for correlation in CORRELATIONS:
            cells = [
                _shares(generator, design, labels, truth, correlation).cell(COVERED)
                for truth in (0.5, 0.8)
            ]
            for truths in PAIRS:
                inside, rejected = _changes(generator, design, labels, truths, correlation)
                cells.append(inside.cell(COVERED))
                if truths[0] == truths[1]:
                    cells.append(rejected.cell(REJECTED))
            cells += [
                _bounded(generator, design, labels, truth, correlation).cell(COVERED)
                for truth in (0.5, 0.8)
            ]
            rows.append((name, correlation, *cells))
    names = ("clusters", "correlation", "share 0.5", "share 0.8", "change 0.5 0.5", "test",
             "change 0.9 0.9", "test", "change 0.8 0.5", "mean 0.5", "mean 0.8")  # fmt: skip
    return Table(
        "Very unequal clusters (`share_interval`, `share_difference`, `share_test`, `bounded_mean`)"
        ": coverage, and rejected by the test, in %",
        names,
        rows,
    )


def _shares(
    generator: np.random.Generator,
    design: Design,
    labels: np.ndarray,
    truth: float,
    correlation: float,
) -> Tally:
    tally = Tally()
    chances = beta(generator, truth, correlation, (TRIALS, design.m))[:, labels]
    for row in (generator.random(chances.shape) < chances).tolist():
        interval = share_interval(row, design)
        tally.count(holds(interval.low, interval.high, truth))
    return tally


def _changes(
    generator: np.random.Generator,
    design: Design,
    labels: np.ndarray,
    truths: tuple[float, float],
    correlation: float,
) -> tuple[Tally, Tally]:
    inside, rejected = Tally(), Tally()
    columns = []
    for truth in truths:
        chances = beta(generator, truth, correlation, (TRIALS, design.m))[:, labels]
        columns.append((generator.random(chances.shape) < chances).tolist())
    for first, second in zip(*columns, strict=True):
        change = share_difference(first, second, design)
        inside.count(holds(change.low, change.high, truths[0] - truths[1]))
        rejected.count(rejects(share_test(first, second, design).p))
    return inside, rejected


def _bounded(
    generator: np.random.Generator,
    design: Design,
    labels: np.ndarray,
    truth: float,
    correlation: float,
) -> Tally:
    tally = Tally()
    common = beta(generator, truth, correlation, (MEANS, design.m))[:, labels].clip(1e-9, 1 - 1e-9)
    values = generator.beta(np.maximum(common / 2, 1e-3), np.maximum((1 - common) / 2, 1e-3))
    for seed, row in enumerate(values):
        interval = bounded_mean(row, design, seed=seed, draws=999)
        tally.count(holds(interval.low, interval.high, truth))
    return tally


def correlations(generator: np.random.Generator) -> Table:
    """Differences of two correlations with one reference, of normal columns."""
    rows = []
    for n in ROWS:
        for first, second, between in COEFFICIENTS:
            square = np.array([[1, between, first], [between, 1, second], [first, second, 1]])
            root = np.linalg.cholesky(square).T
            cells = []
            for kind in ("pearson", "spearman"):
                truth = second - first
                if kind == "spearman":
                    truth = 6 / pi * (asin(second / 2) - asin(first / 2))
                inside, rejected = Tally(), Tally()
                for sample in generator.normal(size=(MEANS, n, 3)) @ root:
                    change = correlation_difference(
                        *sample.T, kind=kind, design=Design.independent(n)
                    )
                    inside.count(holds(change.low, change.high, truth))
                    rejected.count(rejects(change.p))
                cells += [inside.cell(COVERED)]
                target = REJECTED if first == second else (0.0, 1.0)
                cells += [rejected.cell(target)]
            rows.append((n, first, second, between, *cells))
    names = ("rows", "first", "second", "between", "Pearson", "rejected", "Spearman", "rejected")
    return Table(
        "Differences of two correlations (`correlation_difference`): coverage, and rejected by the"
        " test, in %",
        names,
        rows,
    )


def clustered_correlations() -> Table:
    """Equal correlations of two models with ratings of few items, each of several sentences."""
    generator = np.random.default_rng(SEED)
    rows = []
    for m, of in FEW_CLUSTERS:
        design = design_of([of] * m)
        labels = np.array(design.clusters)
        for rho, within in CLUSTERED:
            square = np.array([[1, 0.5, rho], [0.5, 1, rho], [rho, rho, 1]])
            root = np.linalg.cholesky(square).T
            cells = []
            for kind in ("pearson", "spearman"):
                rejected = Tally()
                common = (generator.normal(size=(MEANS, m, 3)) @ root)[:, labels]
                alone = generator.normal(size=(MEANS, m * of, 3)) @ root
                for sample in sqrt(within) * common + sqrt(1 - within) * alone:
                    change = correlation_difference(*sample.T, kind=kind, design=design)
                    rejected.count(rejects(change.p))
                cells.append(rejected.cell(REJECTED))
            rows.append((f"{m} of {of}", rho, within, *cells))
    names = ("clusters", "both coefficients", "correlation within", "Pearson", "Spearman")
    title = "Equal correlations over few clusters (`correlation_difference`): rejected by the test"
    return Table(f"{title}, in %", names, rows)


def main() -> int:
    """Print the tables, or write them into a folder."""
    generator = np.random.default_rng(SEED)
    return publish([unequal(generator), correlations(generator), clustered_correlations()])


if __name__ == "__main__":
    sys.exit(main())
