"""How often 95 % intervals hold the truth, and how often tests find what is not there.

::

    python benchmarks/coverage.py                       prints the tables
    python benchmarks/coverage.py docs/statistics.md    writes them into the page

Data are simulated in the designs of the starter suites with a known truth. Where all outcomes can
be counted (independent items) the coverage is exact; elsewhere it is the share of simulated data
sets. Shares are looked at for every truth from 0.50 to 0.99. The seed is fixed.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import publishing
from scipy import stats

from cimento.statistics.differences import share_difference
from cimento.statistics.intervals import (
    clopper_pearson,
    mean_interval,
    share_interval,
    wilson,
)
from cimento.statistics.mixed import mixed_model
from cimento.statistics.paired import cochran_q, one_sample_t
from cimento.statistics.permutation import sign_flip
from cimento.statistics.power import mcnemar_power
from cimento.statistics.resampling import bootstrap_mean

SEED = 20261121
TRUTHS = [round(0.5 + step / 100, 2) for step in range(50)]
SOME = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99]
TRIALS = 1000
ALPHA = 0.05

Ends = tuple[float | None, float | None]
# Sizes of clusters: connectives with their pairs, islands with three pairs an item, templates with
# their seeds, compounds with two sentences, triples of stories.
DESIGNS: dict[str, list[int]] = {
    "18 clusters of 5": [5] * 18,
    "40 clusters of 3": [3] * 40,
    "25 clusters of 2": [2] * 25,
    "60 clusters of 3": [3] * 60,
    "30 clusters of 6 to 24": [8, 20, 13, 6, 16, 10, 24, 13, 9, 17] * 3,
}
CORRELATIONS = (0.1, 0.3, 0.6)
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "normal": lambda generator, size: generator.normal(size=size),
    "heavy tails (t, 3 df)": lambda generator, size: generator.standard_t(3, size),
    "skewed (exponential)": lambda generator, size: generator.exponential(size=size) - 1,
}


@dataclass
class Tally:
    """Coverages over truths, and whether any interval was missing or without width."""

    coverages: list[float]
    faults: int = 0

    def cell(self) -> str:
        """Average, least and faults, for a table."""
        none = f" ({self.faults} without)" if self.faults else ""
        return f"{np.mean(self.coverages):.1%}, {min(self.coverages):.1%}{none}"


def line(*cells: object) -> None:
    """Print one row of a table."""
    print(publishing.line(cells))


def head(title: str, *names: str) -> None:
    """Print the head of a table."""
    print(f"\n**{title}**\n")
    line(*names)
    line(*["---"] * len(names))


def held(ends: Ends, truth: float) -> bool:
    """Whether an interval holds the truth; one that is missing does not."""
    return ends[0] is not None and ends[1] is not None and ends[0] <= truth <= ends[1]


def faulty(ends: Ends) -> bool:
    """Whether an interval is missing or has no width."""
    return ends[0] is None or ends[1] is None or ends[0] >= ends[1]


def spread(passed: int, n: int) -> list[bool]:
    """So many passes among n verdicts."""
    return [True] * passed + [False] * (n - passed)


def of_share(passed: int, n: int) -> Ends:
    """What cimento gives for independent items."""
    interval = share_interval(spread(passed, n), range(n))
    return interval.low, interval.high


def resampled(passed: int, n: int, *, method: str) -> Ends:
    """The bootstrap's interval for the same."""
    found = bootstrap_mean(spread(passed, n), seed=SEED, draws=4000, method=method)
    return found.low, found.high


def independent_shares() -> None:
    """Shares of independent items: exact."""
    methods: dict[str, Callable[[int, int], Ends]] = {
        "Wilson (`share_interval`)": of_share,
        "Clopper-Pearson": clopper_pearson,
        "percentile bootstrap": functools.partial(resampled, method="percentile"),
        "BCa bootstrap": functools.partial(resampled, method="bca"),
    }
    head("Shares of independent items: average and least coverage, exact", "items", *methods)
    for n in (20, 24, 40, 60, 120, 180):
        cells = []
        for method in methods.values():
            ends = [method(passed, n) for passed in range(n + 1)]
            covered = []
            for truth in TRUTHS:
                chances = stats.binom.pmf(range(n + 1), n, truth)
                covered.append(float(chances[[held(each, truth) for each in ends]].sum()))
            cells.append(Tally(covered, sum(map(faulty, ends))).cell())
        line(n, *cells)


def beta_shares(
    generator: np.random.Generator, truth: float, correlation: float, clusters: int
) -> np.ndarray:
    """The clusters' own shares, so that verdicts of one cluster correlate so much."""
    shape = 1 / correlation - 1
    return generator.beta(truth * shape, (1 - truth) * shape, clusters)


def clustered_shares() -> None:
    """Shares of items in clusters: simulated."""
    generator = np.random.default_rng(SEED)
    names = ("design", "correlation", "effective number (`share_interval`)", "as if independent")
    head("Shares of items in clusters: average and least coverage, simulated", *names)
    for design, sizes in DESIGNS.items():
        labels = np.repeat(np.arange(len(sizes)), sizes).tolist()
        for correlation in CORRELATIONS:
            ours, naive = Tally([]), Tally([])
            for truth in SOME:
                hits = [0, 0]
                for _ in range(TRIALS):
                    shares = beta_shares(generator, truth, correlation, len(sizes))
                    counts = generator.binomial(sizes, shares).tolist()
                    passed = [
                        each for k, n in zip(counts, sizes, strict=True) for each in spread(k, n)
                    ]
                    interval = share_interval(passed, labels)
                    ends = interval.low, interval.high
                    ours.faults += faulty(ends)
                    hits[0] += held(ends, truth)
                    hits[1] += held(wilson(sum(passed) / len(passed), len(passed)), truth)
                ours.coverages.append(hits[0] / TRIALS)
                naive.coverages.append(hits[1] / TRIALS)
            line(design, correlation, ours.cell(), naive.cell())


def means() -> None:
    """Means of margins and DD scores: simulated."""
    generator = np.random.default_rng(SEED)
    names = ("items", "distribution", "Student's t (`mean_interval`)", "percentile", "BCa")
    head("Means: coverage, simulated", *names)
    for n in (8, 24, 40):
        for name, draw in SHAPES.items():
            samples = draw(generator, (TRIALS, n))
            student = [mean_interval(row, range(n)) for row in samples.tolist()]
            cells = [np.mean([held((each.low, each.high), 0.0) for each in student])]
            for method in ("percentile", "bca"):
                found = [
                    bootstrap_mean(row, seed=SEED, draws=1000, method=method) for row in samples
                ]
                cells.append(np.mean([held((each.low, each.high), 0.0) for each in found]))
            line(n, name, *(f"{cell:.1%}" for cell in cells))
    names = ("design", "correlation", "t over clusters (`mean_interval`)", "plain t")
    head("Means of items in clusters: coverage, simulated", *names)
    for design, sizes in DESIGNS.items():
        labels = np.repeat(np.arange(len(sizes)), sizes)
        for correlation in CORRELATIONS:
            hits = [0, 0]
            for _ in range(TRIALS):
                common = generator.normal(0, correlation**0.5, len(sizes))[labels]
                values = common + generator.normal(0, (1 - correlation) ** 0.5, labels.size)
                for place, groups in enumerate((labels.tolist(), range(labels.size))):
                    found = mean_interval(values.tolist(), groups)
                    hits[place] += held((found.low, found.high), 0.0)
            line(design, correlation, *(f"{hit / TRIALS:.1%}" for hit in hits))


def trinomial(n: int, p: float, q: float) -> np.ndarray:
    """The chance of each count of items that only the first, and only the second, gets right."""
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    rest = n - b - c
    counts = np.stack([b, c, np.maximum(rest, 0)], axis=-1)
    return np.where(rest >= 0, stats.multinomial.pmf(counts, n, [p, q, 1 - p - q]), 0)


def differences() -> None:
    """Differences of two models' shares of the same items."""
    names = ("items", "share only one gets right", "average and least coverage")
    head("Differences of shares of the same items (`share_difference`), exact", *names)
    for n in (24, 40, 120):
        ends = {}
        for b in range(n + 1):
            for c in range(n + 1 - b):
                first, second = spread(b, n), [False] * b + spread(c, n - b)
                found = share_difference(first, second, range(n))
                ends[b, c] = found.low, found.high
        for share in (0.05, 0.1, 0.3, 0.5):
            covered = []
            for part in np.linspace(0.5, 1, 11):
                truth = share * (2 * part - 1)
                chances = trinomial(n, share * part, share * (1 - part))
                covered.append(sum(chances[key] for key, each in ends.items() if held(each, truth)))
            line(n, share, Tally(covered, sum(map(faulty, ends.values()))).cell())
    clustered_differences()


def clustered_differences() -> None:
    """The same with clusters, both models of one cluster being drawn apart: simulated."""
    generator = np.random.default_rng(SEED)
    names = ("design", "correlation", "average and least coverage")
    head("Differences of shares of items in clusters (`share_difference`), simulated", *names)
    for design, sizes in DESIGNS.items():
        labels = np.repeat(np.arange(len(sizes)), sizes).tolist()
        for correlation in CORRELATIONS:
            tally = Tally([])
            for first, second in ((0.5, 0.5), (0.8, 0.7), (0.95, 0.9), (0.99, 0.95)):
                hits = 0
                for _ in range(TRIALS // 2):
                    columns = []
                    for truth in (first, second):
                        shares = beta_shares(generator, truth, correlation, len(sizes))
                        each = generator.random(len(labels)) < np.repeat(shares, sizes)
                        columns.append(each.tolist())
                    found = share_difference(columns[0], columns[1], labels)
                    tally.faults += faulty((found.low, found.high))
                    hits += held((found.low, found.high), first - second)
                tally.coverages.append(hits / (TRIALS // 2))
            line(design, correlation, tally.cell())


def levels() -> None:
    """How often tests at 0.05 reject where nothing is to be found."""
    head(
        "McNemar's test, level asked for 5 %: exact", "items", "share only one gets right", *MCNEMAR
    )
    for n in (24, 40, 120):
        for share in (0.05, 0.1, 0.3, 0.5):
            found = [
                mcnemar_power(n, only_first=share / 2, only_second=share / 2, variant=each)
                for each in MCNEMAR
            ]
            line(n, share, *(f"{each:.1%}" for each in found))
    generator = np.random.default_rng(SEED)
    head(
        "Tests of a mean, level asked for 5 %: simulated",
        "items",
        "distribution",
        "t",
        "sign flips",
    )
    for n in (8, 24, 40):
        for name, draw in SHAPES.items():
            samples = draw(generator, (TRIALS, n))
            student = rejected([one_sample_t(row).p for row in samples])
            # Beyond 20 values counting every pattern takes long; drawing 500 is as fair.
            flips = rejected(
                [
                    sign_flip(row, seed=SEED + i, exact_up_to=10, draws=499).p
                    for i, row in enumerate(samples)
                ]
            )
            line(n, name, student, flips)
    head("Other tests, level asked for 5 %: simulated", "test", "design", "rejected")
    table = generator.random((TRIALS, 40, 4)) < generator.beta(2, 1, (TRIALS, 40, 1))
    line(
        "Cochran's Q",
        "4 models, 40 items",
        rejected([cochran_q(rows).p for rows in table.tolist()]),
    )
    for design, formula, slope in (
        ("24 items, intercepts", "y ~ a*b + (1 | item)", 0.0),
        ("24 items that differ in the effect, intercepts only", "y ~ a*b + (1 | item)", 1.0),
        ("24 items that differ in the effect, slopes", "y ~ a*b + (1 + a | item)", 1.0),
    ):
        line("mixed model, t by Satterthwaite", design, rejected(simulated_models(formula, slope)))


def clustered_levels() -> None:
    """Sign flips of values in clusters, flipped with their cluster or each for itself."""
    generator = np.random.default_rng(SEED)
    names = ("design", "correlation", "flips of clusters", "as if independent")
    head("Sign flips of items in clusters, level asked for 5 %: simulated", *names)
    for design, sizes in DESIGNS.items():
        labels = np.repeat(np.arange(len(sizes)), sizes)
        common = generator.normal(0, 0.3**0.5, (TRIALS, len(sizes)))[:, labels]
        values = common + generator.normal(0, 0.7**0.5, (TRIALS, labels.size))
        cells = [
            rejected(
                [
                    sign_flip(row, seed=SEED + i, clusters=groups, exact_up_to=10, draws=499).p
                    for i, row in enumerate(values)
                ]
            )
            for groups in (labels.tolist(), None)
        ]
        line(design, 0.3, *cells)


MCNEMAR = ("exact", "mid-p", "chi-square", "chi-square-corrected")


def rejected(found: Sequence[float | None]) -> str:
    """The share of tests below 0.05; undefined ones do not reject."""
    return f"{np.mean([p is not None and p <= ALPHA for p in found]):.1%}"


def simulated_models(formula: str, slope: float, *, trials: int = 300) -> list[float | None]:
    """The p of an effect that is zero on average, of 24 items in a 2 x 2 design."""
    generator = np.random.default_rng(SEED)
    a, b, item = (
        np.tile([-0.5, -0.5, 0.5, 0.5], 24),
        np.tile([-0.5, 0.5], 48),
        np.repeat(range(24), 4),
    )
    columns = {"a": a.tolist(), "b": b.tolist(), "item": item.tolist()}
    found: list[float | None] = []
    for _ in range(trials):
        effects = generator.normal(size=(24, 2))[item]
        y = effects[:, 0] + slope * effects[:, 1] * a + generator.normal(0, 0.5, item.size)
        fit = mixed_model(formula, {**columns, "y": y.tolist()})
        found.append(fit.effect("a").p if fit.fixed else None)
    return found


PARTS = (independent_shares, clustered_shares, means, differences, levels, clustered_levels)


def main() -> int:
    """Print every table, or write them between the marks of a page."""
    made = io.StringIO()
    with contextlib.redirect_stdout(made):
        for part in PARTS:
            part()
    return publishing.publish(made.getvalue(), "coverage")


if __name__ == "__main__":
    sys.exit(main())
