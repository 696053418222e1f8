"""How often 95% intervals hold the truth, and how often tests find what is not there.

::

    python benchmarks/coverage.py                       prints the tables
    python benchmarks/coverage.py docs/data/coverage    writes them into a folder

Data are simulated with a known truth; where all outcomes can be counted (proportions of independent
items) the numbers are exact. Cells outside 93 to 97% (tests: 3 to 7%) are bold. The seed is
fixed. Coefficients, regressions and the other tests are in `coverage_associations`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence

import coverage_associations
import numpy as np
from publishing import Table, publish
from scipy import stats
from simulating import (
    COVERED,
    DESIGNS,
    REJECTED,
    SEED,
    SHAPES,
    Tally,
    design_of,
    holds,
    percent,
    rejects,
)

from cimento.statistics.design import Design
from cimento.statistics.differences import share_difference, share_test
from cimento.statistics.intervals import counted_interval, share_interval
from cimento.statistics.means import mean_of
from cimento.statistics.power import mcnemar_power

SIZES = (8, 12, 24, 60)
TRUTHS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
SOME_TRUTHS = (0.5, 0.8, 0.9, 0.95, 0.98)
MCNEMAR = ("exact", "mid-p", "chi-square", "chi-square-corrected")


def spread(passed: int, n: int) -> list[bool]:
    """So many passes among n verdicts."""
    return [True] * passed + [False] * (n - passed)


def independent_shares() -> Table:
    """Proportions of independent items: exact."""
    rows = []
    for n in (*SIZES, 120, 180):
        intervals = [share_interval(spread(k, n), Design.independent(n)) for k in range(n + 1)]
        cells = []
        for truth in TRUTHS:
            held = [holds(interval.low, interval.high, truth) for interval in intervals]
            share = float(stats.binom.pmf(range(n + 1), n, truth) @ held)
            cells.append(percent(share, COVERED))
        rows.append((n, *cells))
    names = ("items", *(f"truth {truth}" for truth in TRUTHS))
    return Table(
        "Proportions of independent items (`share_interval`): coverage in %, exact", names, rows
    )


def beta(
    generator: np.random.Generator, truth: float, correlation: float, size: tuple[int, ...]
) -> np.ndarray:
    """The clusters' own shares, so that verdicts of one cluster correlate so much."""
    if correlation == 0:
        return np.full(size, truth)
    shape = 1 / correlation - 1
    return generator.beta(truth * shape, (1 - truth) * shape, size)


def clustered_shares(trials: int = 2000) -> Table:
    """Proportions of items in clusters: simulated."""
    generator = np.random.default_rng(SEED)
    rows = []
    for name, sizes in DESIGNS.items():
        for correlation in (0.0, 0.1, 0.3, 0.6):
            cells = []
            for truth in SOME_TRUTHS:
                shares = beta(generator, truth, correlation, (trials, len(sizes)))
                tally = Tally()
                for counts in generator.binomial(sizes, shares).tolist():
                    interval = counted_interval(Counter(zip(counts, sizes, strict=True)))
                    tally.count(holds(interval.low, interval.high, truth))
                cells.append(tally.cell(COVERED))
            rows.append((name, correlation, *cells))
    names = ("clusters", "correlation", *(f"truth {truth}" for truth in SOME_TRUTHS))
    return Table("Proportions of items in clusters (`share_interval`): coverage in %", names, rows)


def means(trials: int = 2000) -> Table:
    """Means of independent margins and DD scores: simulated."""
    generator = np.random.default_rng(SEED)
    rows = []
    for n in SIZES:
        cells = []
        for draw in SHAPES.values():
            samples = draw(generator, (trials, n))
            cells.append(_coverage_of_means(samples, Design.independent(n)).cell(COVERED))
        rows.append((n, *cells))
    return Table("Means (`mean_of`): coverage in %", ("items", *SHAPES), rows)


def _coverage_of_means(samples: np.ndarray, design: Design) -> Tally:
    tally = Tally()
    for seed, values in enumerate(samples):
        mean = mean_of(values, design, seed=SEED + seed, draws=499)
        tally.count(holds(mean.low, mean.high, 0.0))
    return tally


def clustered_means(trials: int = 1000) -> Table:
    """Means of items in clusters: simulated."""
    generator = np.random.default_rng(SEED)
    rows = []
    for name, sizes in DESIGNS.items():
        design = design_of(sizes)
        labels = np.array(design.clusters)
        for correlation in (0.0, 0.4):
            cells = []
            for draw in SHAPES.values():
                common = draw(generator, (trials, len(sizes)))[:, labels]
                individual = draw(generator, (trials, labels.size))
                samples = correlation**0.5 * common + (1 - correlation) ** 0.5 * individual
                cells.append(_coverage_of_means(samples, design).cell(COVERED))
            rows.append((name, correlation, *cells))
    names = ("clusters", "correlation", *SHAPES)
    return Table("Means of items in clusters (`mean_of`): coverage in %", names, rows)


def trinomial(n: int, p: float, q: float) -> np.ndarray:
    """The chance of each count of items that only the first, and only the second, gets right."""
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    rest = n - b - c
    counts = np.stack([b, c, np.maximum(rest, 0)], axis=-1)
    return np.where(rest >= 0, stats.multinomial.pmf(counts, n, [p, q, 1 - p - q]), 0)


def differences() -> Table:
    """Differences of two models' proportions of the same items: exact."""
    rows = []
    parts = {"equal": 0.5, "3 : 1": 0.75, "all one way": 1.0}
    for n in SIZES:
        ends = {}
        for b in range(n + 1):
            for c in range(n + 1 - b):
                first, second = spread(b, n), [False] * b + spread(c, n - b)
                difference = share_difference(first, second, Design.independent(n))
                ends[b, c] = difference.low, difference.high
        for share in (0.05, 0.1, 0.3, 0.5):
            cells = []
            for part in parts.values():
                chances = trinomial(n, share * part, share * (1 - part))
                truth = share * (2 * part - 1)
                held = sum(
                    chances[key] for key, interval in ends.items() if holds(*interval, truth)
                )
                cells.append(percent(float(held), COVERED))
            rows.append((n, share, *cells))
    names = ("items", "proportion of discordant items", *parts)
    title = (
        "Differences of proportions of the same items (`share_difference`): coverage in %, exact"
    )
    return Table(title, names, rows)


PAIRS = ((0.5, 0.5), (0.7, 0.7), (0.9, 0.9), (0.95, 0.95), (0.8, 0.7), (0.95, 0.9))


def clustered_differences(trials: int = 800) -> list[Table]:
    """The same with clusters, both models of one cluster being drawn apart: simulated."""
    generator = np.random.default_rng(SEED)
    covered, rejected = [], []
    for name, sizes in DESIGNS.items():
        design = design_of(sizes)
        for correlation in (0.1, 0.4):
            cells, levels = [], []
            for truths in PAIRS:
                inside, rejections = _clustered_difference(
                    generator, design, truths, correlation, trials
                )
                cells.append(inside.cell(COVERED))
                levels.append(rejections.cell(REJECTED))
            covered.append((name, correlation, *cells))
            rejected.append((name, correlation, *levels[:4]))
    names = ["clusters", "correlation", *(f"truths {a} and {b}" for a, b in PAIRS)]
    return [
        Table(
            "Differences of proportions of items in clusters (`share_difference`): coverage in %",
            names,
            covered,
        ),
        Table(
            "Test of two proportions of items in clusters (`share_test`), 5% asked for: rejected"
            " in %",
            names[:6],
            rejected,
        ),
    ]


def _clustered_difference(
    generator: np.random.Generator,
    design: Design,
    truths: tuple[float, float],
    correlation: float,
    trials: int,
) -> tuple[Tally, Tally]:
    labels = np.array(design.clusters)
    columns = [
        generator.random((trials, labels.size))
        < beta(generator, truth, correlation, (trials, design.m))[:, labels]
        for truth in truths
    ]
    inside, rejected = Tally(), Tally()
    for first, second in zip(*(column.tolist() for column in columns), strict=True):
        difference = share_difference(first, second, design)
        inside.count(holds(difference.low, difference.high, truths[0] - truths[1]))
        rejected.count(rejects(share_test(first, second, design).p))
    return inside, rejected


def mcnemar_levels() -> Table:
    """McNemar's test, where two models are equal: exact."""
    rows = []
    for n in (*SIZES, 120):
        for share in (0.1, 0.3, 0.5):
            half = share / 2
            powers = (
                mcnemar_power(n, only_first=half, only_second=half, variant=variant)
                for variant in MCNEMAR
            )
            rows.append((n, share, *(percent(level, REJECTED) for level in powers)))
    names = ("items", "proportion of discordant items", *MCNEMAR)
    return Table("McNemar's test, 5% asked for: rejected in %, exact", names, rows)


Part = Callable[[], Table | list[Table]]
PARTS: Sequence[Part] = (
    independent_shares,
    clustered_shares,
    means,
    clustered_means,
    differences,
    clustered_differences,
    mcnemar_levels,
    *coverage_associations.PARTS,
)


def main() -> int:
    """Print every table, or write them into a folder."""
    made = (part() for part in PARTS)
    return publish(
        [table for part in made for table in (part if isinstance(part, list) else [part])]
    )


if __name__ == "__main__":
    sys.exit(main())
