"""Do intervals of AUC and balanced accuracy hold the truth?

Prints a Markdown table, or writes it with tabs into a folder::

    python benchmarks/coverage_separation.py docs/data/coverage

Scores are normal, those of the true class higher; half of their variance lies between clusters,
which have one observation of the true class each, as triples of stories and pairs of sentences do.
"""

from __future__ import annotations

import sys

import numpy as np
from publishing import Table, publish
from scipy import stats
from simulating import COVERED, Tally, design_of, holds

from cimento.statistics.classification import auc_interval, balanced_interval

SEED = 20261123
TRIALS = 600
DISTANCES = (0.5, 1.0, 2.0)
"""Between the means of the two classes, in standard deviations."""
DESIGNS: dict[str, list[int] | None] = {
    "8 triples": [3] * 8,
    "12 pairs": [2] * 12,
    "24 triples": [3] * 24,
    "60 triples": [3] * 60,
    "60 observations, a third true": None,
}


def main() -> int:
    """Print the table, or write it into a folder."""
    generator = np.random.default_rng(SEED)
    rows: list[tuple[object, ...]] = []
    for name, sizes in DESIGNS.items():
        design = design_of(sizes or [1] * 60)
        numbers, m = design.codes()
        first = np.concatenate([[True], numbers[1:] != numbers[:-1]])
        true = (first if sizes else np.arange(60) % 3 == 0).tolist()
        for distance in DISTANCES:
            area, balanced = Tally(), Tally()
            truths = stats.norm.cdf(distance / np.sqrt(2)), stats.norm.cdf(distance / 2)
            for _ in range(TRIALS):
                between = generator.normal(size=m)[numbers] if sizes else 0.0
                within = generator.normal(size=design.n) * (1.0 if not sizes else np.sqrt(0.5))
                scores = distance * np.array(true) + np.sqrt(0.5) * between + within
                interval = auc_interval(scores, true, design)
                area.count(holds(interval.low, interval.high, truths[0]))
                interval = balanced_interval((scores > distance / 2).tolist(), true, design)
                balanced.count(holds(interval.low, interval.high, truths[1]))
            rows.append(
                (
                    name, f"{truths[0]:.3f}", area.cell(COVERED), f"{truths[1]:.3f}",
                    balanced.cell(COVERED),
                )
            )  # fmt: skip
    header = ("design", "AUC", "`auc_interval`", "balanced accuracy", "`balanced_interval`")
    return publish([Table("AUC and balanced accuracy: coverage in %", header, rows)])


if __name__ == "__main__":
    sys.exit(main())
