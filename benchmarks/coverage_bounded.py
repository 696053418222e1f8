"""Do intervals of mean probability ratios hold the truth?

Prints a Markdown table, or writes it with tabs into a folder::

    python benchmarks/coverage_bounded.py docs/data/coverage
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from publishing import Table, publish
from scipy import optimize

from cimento.statistics.design import Design
from cimento.statistics.means import bounded_mean, mean_of

Floats = NDArray[np.float64]

SEED = 20261122
TRIALS = 500
DRAWS = 999
SIZES = (8, 12, 24, 40)
TRUTHS = (0.65, 0.915, 0.98)
OF_CLUSTERS = 0.5
"""Proportion of the variance of margins that lies between clusters."""

SHAPES: dict[str, tuple[float, Callable[[Floats], Floats]]] = {
    "margins normal, sd 2 bits": (2, lambda z: z),
    "margins normal, sd 8 bits": (8, lambda z: z),
    "margins with a long tail below, sd 4 bits": (
        4,
        lambda z: (1 - np.exp(z - 0.5)) / (np.e - 1) ** 0.5,
    ),
}
"""Name to the spread of margins and to what makes their shape from normal numbers."""


def ratios(margins: Floats) -> Floats:
    """The probability ratios of margins in bits."""
    return 1 / (1 + 2.0**-margins)


def center_of(truth: float, spread: float, shape: Callable[[Floats], Floats]) -> float:
    """The shift of margins at which their ratios have a mean."""
    shaped = spread * shape(np.random.default_rng(SEED).normal(size=400_000))
    return float(optimize.brentq(lambda shift: ratios(shift + shaped).mean() - truth, -90, 90))


def held(truth: float, samples: Floats, design: Design) -> tuple[str, str]:
    """How often two intervals hold the truth, in percent."""
    covered = {"bounded": 0, "mean": 0}
    for trial, sample in enumerate(samples):
        bounded = bounded_mean(sample, design, seed=trial, draws=DRAWS)
        plain = mean_of(sample, design, seed=trial, draws=DRAWS)
        for name, interval in (("bounded", bounded), ("mean", plain)):
            if interval.low is not None and interval.high is not None:
                covered[name] += interval.low <= truth <= interval.high
    return tuple(f"{100 * count / len(samples):.1f}%" for count in covered.values())  # type: ignore[return-value]  # two methods


def main() -> int:
    """Print the table, or write it into a folder."""
    generator = np.random.default_rng(SEED)
    rows: list[tuple[object, ...]] = []
    sizes = generator.integers(1, 9, 12)
    clusters = np.repeat(range(12), sizes)
    unequal = Design(tuple(range(clusters.size)), tuple(clusters.tolist()))
    for name, (spread, shape) in SHAPES.items():
        for truth in TRUTHS:
            center = center_of(truth, spread, shape)
            for n in SIZES:
                samples = ratios(center + spread * shape(generator.normal(size=(TRIALS, n))))
                rows.append((name, truth, n, *held(truth, samples, Design.independent(n))))
            between = generator.normal(size=(TRIALS, 12))[:, clusters]
            within = generator.normal(size=(TRIALS, clusters.size))
            mixed = OF_CLUSTERS**0.5 * between + (1 - OF_CLUSTERS) ** 0.5 * within
            samples = ratios(center + spread * shape(mixed))
            rows.append((name, truth, "12 clusters of 1 to 8", *held(truth, samples, unequal)))
    names = ("items", "mean ratio", "n", "`bounded_mean`", "`mean_of`")
    title = "Means of probability ratios: coverage, simulated"
    return publish([Table(title, names, rows)])


if __name__ == "__main__":
    sys.exit(main())
