"""How often the interval of a mean holds the truth where one item in ten carries the whole effect.

::

    python benchmarks/coverage_rare.py

Items are normal (sd 0.3) around 0, and with a probability of 0.1 around 8, so that the mean is 0.8.
For each number of items it prints the coverage of `mean_of` and how many samples lack such an item
(expected: 0.9 to the power of n). 600 samples of each size, 999 draws, seed 47.
"""

from __future__ import annotations

import numpy as np

from cimento.statistics.design import Design
from cimento.statistics.means import mean_of

SAMPLES, DRAWS, SEED = 600, 999, 47
RARE, EFFECT, SD = 0.1, 8.0, 0.3


def main() -> None:
    """Print a line for each number of items."""
    rng = np.random.default_rng(SEED)
    for n in (8, 24):
        held = lacking = 0
        for seed in range(SAMPLES):
            rare = rng.random(n) < RARE
            values = rng.normal(0, SD, n) + np.where(rare, EFFECT, 0.0)
            mean = mean_of(values, Design.independent(n), seed=seed, draws=DRAWS)
            truth = RARE * EFFECT
            held += (
                mean.low is not None and mean.high is not None and mean.low <= truth <= mean.high
            )
            lacking += not rare.any()
        print(
            f"{n} items: coverage {held / SAMPLES:.3f}, without the effect {lacking / SAMPLES:.3f}"
        )


if __name__ == "__main__":
    main()
