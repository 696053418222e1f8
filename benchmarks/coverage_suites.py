"""Do intervals of means over suites hold the mean over other phenomena, and over other items?

Prints Markdown tables, or writes them with tabs into a folder, in a few minutes::

    python benchmarks/coverage_suites.py docs/data/coverage
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
from numpy.typing import NDArray
from publishing import Table, publish
from simulating import ALPHA, COVERED, REJECTED, Tally, holds, rejects

from cimento.statistics.design import Design
from cimento.statistics.intervals import wilson
from cimento.statistics.means import mean_of
from cimento.statistics.suite_means import SuiteValue, mean_over_suites
from cimento.suites.published_results import blimp_datasets

Floats = NDArray[np.float64]

SEED = 20261130
TRIALS = 500
ITEMS = 1_000
CENTER, SD, GAP_SD = 0.8, 0.12, 0.1
CORRELATIONS = (0.0, 0.15, 0.3, 0.5)
"""Correlations of two suites of one phenomenon (ICC)."""
SIZES = {
    "67 in 12, as BLiMP": tuple(
        Counter(one.phenomenon for one in blimp_datasets().values()).values()
    ),
    "24 in 12": (2,) * 12,
    "20 in 6": (1, 1, 2, 3, 5, 8),
    "12 in 12": (1,) * 12,
}


def drawn(sizes: tuple[int, ...], icc: float, sd: float, generator: np.random.Generator) -> Floats:
    """Deviations of the suites of each sample from the mean over phenomena."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    between = generator.normal(size=(TRIALS, len(sizes)))[:, groups]
    return sd * (icc**0.5 * between + (1 - icc) ** 0.5 * generator.normal(size=between.shape))


def row_of(name: str, icc: float, generator: np.random.Generator) -> tuple[object, ...]:
    """Coverage of a mean and of a difference of two models, with the level of its test."""
    sizes = SIZES[name]
    labels = np.repeat(np.arange(len(sizes)), sizes).tolist()
    truths = np.clip(CENTER + drawn(sizes, icc, SD, generator), 0.02, 0.995)
    gaps = drawn(sizes, icc, GAP_SD, generator)
    # What the mean over all phenomena would be, after rates are cut at the ends.
    center = float(truths.mean())
    counts = generator.binomial(ITEMS, truths)
    sampled, clustered, for_items, difference, test = (Tally() for _ in range(5))
    for right, truth, gap in zip(counts, truths, gaps, strict=True):
        values = [
            _value(k, label, int(n)) for k, (label, n) in enumerate(zip(labels, right, strict=True))
        ]
        over = mean_over_suites(values)
        rates = [value.value for value in values]
        alone = mean_of(rates, Design.independent(len(rates)), seed=0, draws=0)
        sampled.count(holds(alone.low, alone.high, center))
        clustered.count(holds(over.mean.low, over.mean.high, center))
        for_items.count(holds(over.items.low, over.items.high, float(truth.mean())))
        noise = generator.normal(0, (0.15 / ITEMS) ** 0.5, gap.size)
        changes = [
            SuiteValue(str(k), str(k), frozenset({str(label)}), float(one), None, None)
            for k, (label, one) in enumerate(zip(labels, gap + noise, strict=True))
        ]
        mean = mean_over_suites(changes).mean
        difference.count(holds(mean.low, mean.high, 0.0))
        test.count(rejects(mean.p))
    cells = (tally.cell(COVERED) for tally in (sampled, clustered, difference))
    return (name, icc, *cells, test.cell(REJECTED), for_items.cell(COVERED))


def _value(number: int, label: int, right: int) -> SuiteValue:
    rate = right / ITEMS
    low, high = wilson(rate, ITEMS)
    return SuiteValue(str(number), str(number), frozenset({str(label)}), rate, low, high)


def main() -> int:
    """Print the table, or write it into a folder."""
    generator = np.random.default_rng(SEED)
    rows = [row_of(name, icc, generator) for name in SIZES for icc in CORRELATIONS]
    return publish(
        [
            Table(
                f"Means over suites (`mean_over_suites`): coverage in %, and level of the test at"
                f" {ALPHA:.0%}",
                (
                    "suites in phenomena", "correlation within",
                    "mean, as a random sample of suites", "mean, by phenomenon",
                    "difference of two models, by phenomenon", "its test: rejected",
                    "these suites, other items",
                ),
                rows,
            )
        ]
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
