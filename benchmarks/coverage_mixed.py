"""How often the mixed models of designs find an interaction that is not there, items in clusters.

Prints a Markdown table, or writes it with tabs into a folder, in some twenty minutes::

    python benchmarks/coverage_mixed.py docs/data/coverage
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from publishing import Table, publish

from cimento.paradigms.regions.factorial import BY_CLUSTER, INTERCEPTS, SLOPES
from cimento.statistics.mixed import mixed_model

SEED = 20261121
TRIALS = 300
ALPHA = 0.05
UNEQUAL = [1, 1, 1, 2, 2, 3, 4, 5, 6, 8]
DESIGNS: dict[str, Sequence[int]] = {
    "6 clusters of 2": [2] * 6,
    "6 clusters of 8": [8] * 6,
    "6 clusters of 1 to 8": [1, 2, 3, 5, 7, 8],
    "8 clusters of 5": [5] * 8,
    "10 clusters of 1 to 8": UNEQUAL,
    "20 clusters of 1 to 8": UNEQUAL * 2,
    "40 clusters of 1 to 8": UNEQUAL * 4,
}
CORRELATIONS = (0.0, 0.1, 0.3, 0.6)
FORMULAS = {
    "intercepts": f"{INTERCEPTS} + {BY_CLUSTER}",
    "slopes": f"{SLOPES} + {BY_CLUSTER}",
    "slopes, clusters ignored": SLOPES,
}


def null_design(
    generator: np.random.Generator, sizes: Sequence[int], correlation: float
) -> dict[str, list[float]]:
    """Scores of a 2 x 2 design whose DD is zero on average.

    Intercepts and both factors' effects vary by item and by cluster with variance 1. DD varies by
    item with variance 4, from residuals of variance 1, and by cluster so that two items of one
    cluster correlate as asked for.
    """
    n, m = sum(sizes), len(sizes)
    item = np.repeat(range(n), 4)
    cluster = np.repeat(range(m), sizes)[item]
    first, second = np.tile([-0.5, -0.5, 0.5, 0.5], n), np.tile([-0.5, 0.5], 2 * n)
    score = generator.normal(size=4 * n)
    for effect in (np.ones(4 * n), first, second):
        score += (generator.normal(size=n)[item] + generator.normal(size=m)[cluster]) * effect
    sd = 2 * (correlation / (1 - correlation)) ** 0.5
    score += sd * generator.normal(size=m)[cluster] * first * second
    columns = {"score": score, "first": first, "second": second, "item": item, "cluster": cluster}
    return {name: column.tolist() for name, column in columns.items()}


def level(name: str, sizes: Sequence[int], correlation: float) -> list[float]:
    """The proportion of simulated designs in which each formula finds an interaction."""
    generator = np.random.default_rng([SEED, *name.encode(), int(100 * correlation)])
    rejected = dict.fromkeys(FORMULAS, 0)
    for _ in range(TRIALS):
        columns = null_design(generator, sizes, correlation)
        for key, formula in FORMULAS.items():
            rejected[key] += mixed_model(formula, columns).effect("second:first").p <= ALPHA
    return [count / TRIALS for count in rejected.values()]


def main() -> int:
    """Print the table, or write it into a folder."""
    rows = [
        (
            name,
            correlation,
            *(f"{share:.1%}" for share in level(name, sizes, correlation)),
        )
        for name, sizes in DESIGNS.items()
        for correlation in CORRELATIONS
    ]
    names = ("design", "correlation of DD", *FORMULAS)
    title = "Interaction of mixed models, items in clusters, level asked for 5%: simulated"
    return publish([Table(title, names, rows)])


if __name__ == "__main__":
    sys.exit(main())
