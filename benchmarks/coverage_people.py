"""Do intervals for other people hold the value of the population of people and items?

Raters with biases of their own, and 12 items. Beside each interval for other people stands
the one for these people, whose target is another one: what it misses is what it does not claim.
Prints Markdown tables, or writes them with tabs into a folder, in some minutes::

    python benchmarks/coverage_people.py docs/data/coverage
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from numpy.typing import NDArray
from publishing import Table, publish
from simulating import COVERED, Tally, holds

from cimento.statistics.agreement import alpha_for_others, krippendorff_alpha
from cimento.statistics.correlation import correlate
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.statistics.raters import correlation_for_others, for_others

Floats = NDArray[np.float64]

SEED = 20261130
TRIALS = 500
ITEMS = 12
RATERS = (5, 8, 12)
SPREADS = {
    "no biases": (0.0, 0.0),
    "biases": (0.5, 0.0),
    "large biases": (1.0, 0.0),
    "biases and tastes": (0.5, 0.7),
}
"""The sd of a rater's mean, and of a rater's slope on a property of items; items have sd 1."""
MANY = 1500
TITLE = (
    "Intervals for other people (`alpha_for_others`, `correlation_for_others`, `for_others` with"
    f" `share_interval`), {ITEMS} items: coverage in %"
)
NAMES = (
    "raters", "alpha", "r", "share", "alpha, these people", "alpha, others",
    "r, these people", "r, others", "share, these people", "share, others",
)  # fmt: skip


def ratings(
    people: int, items: int, spread: tuple[float, float], generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """The values that a model gives to items, and their ratings, one column a rater."""
    value, rest = generator.normal(size=(2, items))
    truth = 0.7 * value + 0.51**0.5 * rest
    bias, taste = generator.normal(size=(2, people)) * np.array(spread)[:, None]
    noise = generator.normal(0, 0.8, size=(items, people))
    # A taste is for what the model's value has no part in.
    return value, truth[:, None] + bias + taste * rest[:, None] + noise


def scale(values: Floats, points: int) -> Floats:
    """Ratings on a scale."""
    middle = (points + 1) / 2
    return np.clip(np.round(middle + values * points / 6), 1, points)


def truths(spread: tuple[float, float]) -> tuple[float, float]:
    """Alpha and the proportion of yes, in very many people and items."""
    generator = np.random.default_rng(SEED)
    _, given = ratings(400, MANY, spread, generator)
    seven = scale(given, 7)
    alpha = krippendorff_alpha(seven.tolist(), scale="interval").value
    return float(alpha or 0), float((given > 0).mean())


def expected_correlation(spread: tuple[float, float], people: int) -> float:
    """The expected correlation of values with the means of this many people, in very many items."""
    generator = np.random.default_rng(SEED + people)
    found = []
    for _ in range(200):
        value, given = ratings(people, MANY, spread, generator)
        found.append(np.corrcoef(value, scale(given, 7).mean(axis=1))[0, 1])
    return float(np.mean(found))


def main() -> int:
    """Print the tables, or write them into a folder."""
    generator, rows = np.random.default_rng(SEED), []
    for name, spread in SPREADS.items():
        alpha, share = truths(spread)
        for people in RATERS:
            r = expected_correlation(spread, people)
            design, who = Design.independent(ITEMS), [list(range(people))] * ITEMS
            items = Design(
                tuple(range(ITEMS * people)), tuple(i for i in range(ITEMS) for _ in range(people))
            )
            tallies = [Tally() for _ in range(6)]
            for _ in range(TRIALS):
                value, given = ratings(people, ITEMS, spread, generator)
                table, answers = scale(given, 7), given > 0
                rated = table.tolist()
                of_people = krippendorff_alpha(rated, scale="interval", design=design)
                ends = alpha_for_others(rated, who, scale="interval", design=design)
                pearson = correlate(value, table.mean(axis=1), kind="pearson", design=design)
                other = correlation_for_others(value, rated, who, design=design, kind="pearson")
                over = partial(share_interval, answers.ravel().tolist())
                mine, shared = over(items), for_others(over, items, [*range(people)] * ITEMS)
                results = (
                    (of_people.low, of_people.high, alpha),
                    (ends.low, ends.high, alpha),
                    (pearson.low, pearson.high, r),
                    (other.low, other.high, r),
                    (mine.low, mine.high, share),
                    (shared.low, shared.high, share),
                )
                for tally, (low, high, truth) in zip(tallies, results, strict=True):
                    tally.count(holds(low, high, truth))
            cells = [tally.cell(COVERED) for tally in tallies]
            targets = (f"{value:.2f}" for value in (alpha, r, share))
            rows.append((f"{people}, {name}", *targets, *cells))
    return publish([Table(TITLE, NAMES, rows)])


if __name__ == "__main__":
    sys.exit(main())
